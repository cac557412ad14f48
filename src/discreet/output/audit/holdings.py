"""One version of the data in memory: elements, public columns over them, and exact sums of the sensitive ones."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.errors import SchemaError
from discreet.output.audit.gate.columns import (
    Nulls,
    PublicColumn,
    SecretColumn,
    elements_of,
    in_units,
    secret_values,
)


@dataclass(frozen=True)
class Layout:
    """Which element every row belongs to, how large the elements are for each column, and where they came from.

    ``origins`` holds for each sensitive column the earlier element that an element's records came from, -1 for new
    values; it is None for the first version. ``gone`` holds digests of the keys of those who left.
    """

    rows: IntArray
    sizes: Mapping[str, IntArray]
    origins: Mapping[str, IntArray] | None = None
    gone: frozenset[str] = frozenset()

    def pack(self) -> bytes:
        """Return the layout as bytes for the log."""
        names = list(self.sizes)
        arrays: dict[str, Any] = {"rows": self.rows.astype(np.int32), "names": np.array(names)}
        arrays["sizes"] = np.stack([self.sizes[name] for name in names]).astype(np.int64)
        if self.origins is not None:
            arrays["origins"] = np.stack([self.origins[name] for name in names]).astype(np.int64)
            arrays["gone"] = np.array(sorted(self.gone), "U64")
        stream = io.BytesIO()
        np.savez_compressed(stream, **arrays)
        return stream.getvalue()

    @classmethod
    def unpack(cls, raw: bytes) -> Layout:
        """Return the layout that ``pack`` wrote."""
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
            names = [str(name) for name in arrays["names"]]
            sizes = dict(zip(names, arrays["sizes"], strict=True))
            origins = dict(zip(names, arrays["origins"], strict=True)) if "origins" in arrays else None
            gone = frozenset(str(digest) for digest in arrays["gone"]) if "gone" in arrays else frozenset()
            return cls(arrays["rows"].astype(np.int64), sizes, origins, gone)


@dataclass(frozen=True)
class Holdings:
    """The columns of one version of the data."""

    layout: Layout
    public: tuple[PublicColumn, ...]
    secret: Mapping[str, SecretColumn]

    @property
    def n_elements(self) -> int:
        """The number of distinct combinations of public values (and, after updates, of origins)."""
        return len(next(iter(self.layout.sizes.values())))

    @property
    def n_records(self) -> int:
        """The number of rows."""
        return self.layout.rows.size

    def groups(
        self, members: BoolArray, names: Sequence[str], *, most: int
    ) -> tuple[list[tuple[Any, ...]], list[BoolArray]]:
        """Return the groups among some elements: their values, and, unless there are too many, their members."""
        by_name = {column.name: column for column in self.public}
        chosen = [by_name[name] for name in names]
        elements = np.flatnonzero(members)
        codes = np.stack([column.codes[elements] for column in chosen], axis=1)
        combinations, label = np.unique(codes, axis=0, return_inverse=True)
        keys = [
            tuple(column.values[code] for column, code in zip(chosen, row, strict=True))
            for row in combinations
        ]
        label = label.ravel()
        sets: list[BoolArray] = []
        if len(keys) > most:
            return keys, sets
        for position in sorted(range(len(keys)), key=lambda at: _sortable(keys[at])):
            group = np.zeros(members.size, np.bool_)
            group[elements[label == position]] = True
            sets.append(group)
        return sorted(keys, key=_sortable), sets

    def counts(self, members: BoolArray) -> int:
        """Return how many rows some elements have."""
        return int(np.bincount(self.layout.rows, minlength=members.size)[members].sum())


def first_version(
    table: pa.Table, public: Sequence[str], sensitive: Sequence[str], *, nulls: Nulls, step: Fraction | None
) -> Holdings:
    """Return the columns of the first version of the data."""
    if public:
        rows, columns = elements_of({name: table[name] for name in public})
    else:
        rows, columns = np.zeros(table.num_rows, np.int64), []
    secret = {name: _secret(table, name, rows, nulls, step) for name in sensitive}
    layout = Layout(rows, {name: column.sizes for name, column in secret.items()})
    return Holdings(layout, tuple(columns), secret)


def loaded(
    table: pa.Table,
    layout: Layout,
    public: Sequence[str],
    sensitive: Sequence[str],
    *,
    nulls: Nulls,
    step: Fraction | None,
) -> Holdings:
    """Return the columns of data whose layout is in the log."""
    if layout.rows.size != table.num_rows:
        raise SchemaError("The data does not have the rows of the log.")
    _, first = np.unique(layout.rows, return_index=True)
    columns = []
    for name in public:
        distinct, [column] = elements_of({name: table[name]})
        columns.append(
            PublicColumn(name, column.kind, column.type, column.values, column.codes[distinct[first]])
        )
    secret = {name: _secret(table, name, layout.rows, nulls, step) for name in sensitive}
    return Holdings(layout, tuple(columns), secret)


def _secret(table: pa.Table, name: str, rows: IntArray, nulls: Nulls, step: Fraction | None) -> SecretColumn:
    return SecretColumn.of(secret_values(name, table[name], nulls=nulls), rows, step=step)


def next_version(
    old: Holdings,
    before: pa.Table,
    after: pa.Table,
    public: Sequence[str],
    sensitive: Sequence[str],
    *,
    key: str,
    nulls: Nulls,
    step: Fraction | None,
) -> Holdings:
    """Return the columns of changed data; a record keeps its origin in a column if key and value are the same."""
    require_unique(after, key)
    keys = after[key].to_pylist()
    rows_by_key = {key_value: row for row, key_value in enumerate(before[key].to_pylist())}
    matched = np.array([rows_by_key.get(key_value, -1) for key_value in keys], np.int64)
    # Under the same key a person would begin as a new record, and earlier answers about them would not count.
    if any(_key_digest(key_value) in old.layout.gone for key_value in keys):
        raise SchemaError(
            "The new data has someone who had left. Earlier answers about them would no longer count, so it is refused."
        )
    gone = old.layout.gone | {_key_digest(key_value) for key_value in rows_by_key.keys() - set(keys)}
    origins = {}
    for name in sensitive:
        was = in_units(secret_values(name, before[name], nulls=nulls), step)
        now = in_units(secret_values(name, after[name], nulls=nulls), step)
        if was.unit != now.unit:
            raise SchemaError(f"The column {name!r} has another number of decimal places than before.")
        same = np.array(
            [at >= 0 and was.values[at] == units for at, units in zip(matched, now.values, strict=True)],
            np.bool_,
        )
        origins[name] = np.where(same, old.layout.rows[np.maximum(matched, 0)], -1)
    rows = (
        elements_of({name: after[name] for name in public})[0]
        if public
        else np.zeros(after.num_rows, np.int64)
    )
    # Elements are split until all records of one come from the same earlier element in every column, since an
    # atom is followed by one origin.
    for origin in origins.values():
        _, rows = np.unique(rows * (old.n_elements + 1) + origin + 1, return_inverse=True)
    _, first = np.unique(rows, return_index=True)
    sizes = {name: _secret(after, name, rows, nulls, step).sizes for name in sensitive}
    layout = Layout(
        rows.astype(np.int64), sizes, {name: key_value[first] for name, key_value in origins.items()}, gone
    )
    return loaded(after, layout, public, sensitive, nulls=nulls, step=step)


def _key_digest(key: Any) -> str:
    return hashlib.sha256(f"{type(key).__name__}:{key}".encode("utf-8", "surrogatepass")).hexdigest()


def require_unique(table: pa.Table, key: str) -> None:
    """Refuse a key column with missing or repeated values."""
    values = table[key].to_pylist()
    if any(value is None for value in values) or len(set(values)) < len(values):
        raise SchemaError(
            f"The key column {key!r} has missing or repeated values. A vault takes one row for each person: "
            "add up or average a person's rows first."
        )


def pack_sets(sets: Sequence[BoolArray]) -> bytes:
    """Return disjoint query sets as bytes for the log."""
    if len(sets) == 1:
        return zlib.compress(np.packbits(sets[0]).tobytes(), 1)
    labels = np.full(sets[0].size if sets else 0, -1, np.int32)
    for label, members in enumerate(sets):
        labels[members] = label
    return zlib.compress(labels.tobytes(), 1)


def unpack_sets(raw: bytes, n_sets: int, n_elements: int) -> tuple[BoolArray, ...]:
    """Return the query sets that ``pack_sets`` wrote."""
    packed = zlib.decompress(raw)
    if n_sets == 1:
        return (np.unpackbits(np.frombuffer(packed, np.uint8), count=n_elements).astype(np.bool_),)
    labels = np.frombuffer(packed, np.int32)
    if labels.size != (n_elements if n_sets else 0):
        raise ValueError("the sets do not fit the data")
    return tuple(labels == label for label in range(n_sets))


def _sortable(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((part is not None, "" if part is None else part) for part in key)
