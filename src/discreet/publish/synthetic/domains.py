"""Public domains: the categories or bins that a column may have, declared and never taken from the data."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.hierarchy.trees import Rows
from discreet.core.schema import Column
from discreet.core.tables.encoding import ColumnType, cleaned, column_type, type_name

Domain: TypeAlias = str | Sequence[Any]
"""Bins as LOW:HIGH:WIDTH, every value that a column may have, or ``tree`` for the leaves of its hierarchy."""
TREE = "tree"
_MOST_BINS = 100_000
_FINER = 3
"""How many decimals more than the width of its bins a drawn number has."""


@dataclass(frozen=True, repr=False)
class ColumnDomain:
    """The cells of one column: its categories, or bins between edges; the last cell is null where it may be null.

    ``edges`` are whole for whole numbers and for dates, which are counted in days.
    """

    name: str
    type: pa.DataType
    categories: pa.Array | None = None
    edges: FloatArray | None = None
    nullable: bool = False

    @property
    def n_values(self) -> int:
        """The number of cells besides null."""
        return len(self.categories or ()) if self.edges is None else len(self.edges) - 1

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return self.n_values + self.nullable

    def encode(self, array: pa.Array) -> IntArray:
        """Return the cell of every value; numbers beyond the bins are in the outermost ones."""
        array = cleaned(array, self.name)
        missing = np.asarray(pc.is_null(array).to_numpy(zero_copy_only=False))
        if missing.any() and not self.nullable:
            raise SchemaError(
                f"Column '{self.name}' has nulls ({int(missing.sum())} rows), which its domain does not have: name it "
                "as one that may be null.",
                fix={"nullable": self.name},
            )
        if self.edges is None:
            codes = pc.fill_null(pc.index_in(array, value_set=self.categories), -1)
            cells = np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)
            n_other = int(((cells < 0) & ~missing).sum())
            if n_other:
                raise SchemaError(
                    f"Column '{self.name}': {n_other} of {len(array)} values are not in its domain of "
                    f"{self.n_values} categories."
                )
        else:
            numbers = np.nan_to_num(_numbers(array))
            cells = np.clip(np.searchsorted(self.edges, numbers, side="right") - 1, 0, self.n_values - 1)
        return np.where(missing, self.n_values, cells)

    def decode(self, cells: IntArray, rng: np.random.Generator) -> pa.Array:
        """Return a value of every cell; numbers and dates are drawn evenly from their bin."""
        missing = cells >= self.n_values
        cells = np.where(missing, 0, cells)
        if self.edges is None:
            assert self.categories is not None
            return self.categories.take(pa.array(cells, mask=missing))
        low, high = self.edges[cells], self.edges[cells + 1]
        if _is_whole(self.type):
            # The last bin holds its upper end, where numbers beyond the bins were counted too.
            last = np.where(cells == self.n_values - 1, high, high - 1)
            days = (low + np.floor(rng.random(cells.size) * (last - low + 1))).astype(np.int64)
            plain = pa.int32() if pa.types.is_date(self.type) else pa.int64()
            return pa.array(days, mask=missing).cast(plain).cast(self.type)
        width = float(self.edges[1] - self.edges[0])
        decimals = max(_FINER - math.floor(math.log10(width)), 0)
        # Rounding may lead out of the bin.
        drawn = np.clip(np.round(low + rng.random(cells.size) * (high - low), decimals), low, high)
        return pa.array(drawn, mask=missing).cast(self.type, safe=False)


def domains_of(
    columns: Mapping[str, pa.Array],
    schema: Mapping[str, Column],
    declared: Mapping[str, Domain],
    nullable: Sequence[str],
) -> list[ColumnDomain]:
    """Return the declared domain of each column; that of truth values is known.

    A hierarchy may have been made from the data, so its leaves are a domain only where that is said.
    """
    for name in (*declared, *nullable):
        if name not in columns:
            raise SchemaError(f"A domain is declared for column '{name}', which is not published.")
    domains, missing = [], []
    for name, array in columns.items():
        type_ = cleaned(array.slice(0, 0), name).type
        domain = declared.get(name, [False, True] if pa.types.is_boolean(type_) else None)
        may_be_null = name in nullable
        if domain is None:
            missing.append(name)
        elif isinstance(domain, str) and domain != TREE:
            domains.append(ColumnDomain(name, type_, edges=_edges(name, type_, domain), nullable=may_be_null))
        else:
            values = _leaves(name, type_, schema[name]) if isinstance(domain, str) else list(domain)
            domains.append(ColumnDomain(name, type_, _categories(name, type_, values), nullable=may_be_null))
    if missing:
        named = ", ".join(f"'{name}'" for name in missing)
        raise SchemaError(
            f"No domain is declared for {named}. What a column may hold must be public: taken from the data, it would "
            "show that somebody has a value.",
            fix={"domains": ", ".join(missing)},
        )
    return domains


def _leaves(name: str, type_: pa.DataType, column: Column) -> list[Any]:
    """Return the leaves of a hierarchy that does not depend on the data."""
    tree = column.hierarchy
    if isinstance(tree, Rows):
        tree = tree.bind(pa.array([], type_), column=name)
    if not isinstance(tree, Hierarchy):
        raise SchemaError(
            f"Column '{name}' has no tree that names its leaves, such as a hierarchy file; declare its domain."
        )
    return list(tree.leaves.to_pylist())


def _categories(name: str, type_: pa.DataType, values: list[Any]) -> pa.Array:
    """Return declared categories in the type of the column."""
    _require_cells(name, len(values))
    try:
        categories = pa.array(values).cast(type_) if values else pa.array(values, type_)
    except (pa.ArrowException, TypeError, ValueError):
        raise SchemaError(
            f"The domain of column '{name}' is not of the column's type ({type_name(type_)})."
        ) from None
    if categories.null_count or len(pc.unique(categories)) < len(categories):
        raise SchemaError(f"The domain of column '{name}' names a value twice, or null.")
    return categories


def _edges(name: str, type_: pa.DataType, bins: str) -> FloatArray:
    """Read LOW:HIGH:WIDTH; of dates, days and a width in days."""
    if column_type(type_, name) is ColumnType.CATEGORY or (
        pa.types.is_temporal(type_) and not pa.types.is_date(type_)
    ):
        raise SchemaError(f"Column '{name}' ({type_name(type_)}) has no bins; declare its categories.")
    dated = pa.types.is_date(type_)
    try:
        low, high, width = (
            float(dt.date.fromisoformat(part.strip()).toordinal() - _EPOCH)
            if dated and at < 2
            else float(part)
            for at, part in enumerate(bins.split(":"))
        )
    except ValueError:
        example = "1930-01-01:2010-12-31:365" if dated else "0:100:5"
        raise SchemaError(f"Bins of column '{name}' are LOW:HIGH:WIDTH, such as {example}.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high and 0 < width < math.inf):
        raise SchemaError(f"Bins of column '{name}' need a lower and a higher end, and a width above 0.")
    if _is_whole(type_) and not (low.is_integer() and high.is_integer() and width.is_integer()):
        raise SchemaError(
            f"Column '{name}' holds whole numbers, so the ends and the width of its bins are whole."
        )
    _require_cells(name, (high - low) / width)
    # Where the width divides the range but for rounding, no bin of almost nothing is left at the end.
    edges = low + width * np.arange(math.ceil((high - low) / width - 1e-9) + 1)
    edges[-1] = high
    return np.asarray(edges)


def _require_cells(name: str, count: float) -> None:
    if not 1 <= math.ceil(count) <= _MOST_BINS:
        raise SchemaError(f"The domain of column '{name}' must have 1 to {_MOST_BINS:,} cells.")


def _is_whole(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_date(type_))


def _numbers(array: pa.Array) -> FloatArray:
    """Return numbers, or days, as floats; nulls are NaN."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.int32())
    return np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


_EPOCH = dt.date(1970, 1, 1).toordinal()
