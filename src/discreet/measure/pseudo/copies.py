"""Copies: drawn rows that equal a person's record, above all one that nobody else has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.core.schema import Schema
from discreet.core.tables.publication import defused
from discreet.core.tables.table import Table


@public
@dataclass(frozen=True)
class Copies:
    """How many released rows equal a record of the original. The figures look at the original: they are private.

    Attributes
    ----------
    n_rows
        The released rows.
    equal
        Rows that equal a record in every released column.
    unique
        Rows that equal a record that is unique in the original, in every released column.
    people
        The unique records that at least one released row equals.
    singled_out
        Rows with the quasi-identifiers of a record that is unique in the original by these alone; a label that was
        condensed apart is not compared.
    """

    n_rows: int
    equal: int
    unique: int
    people: int
    singled_out: int

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class RecordIndex:
    """The distinct records of a table, in which rows of other tables can be found.

    Nulls are values like any other; 0.0 and −0.0 are one. ``counts`` has how many rows are each record, ``places`` the
    record of each row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> index = RecordIndex.of({"age": pa.array([30, 30, 41]), "town": pa.array(["Rome", "Rome", None])})
    >>> found = index.find({"age": pa.array([41, 30, 30]), "town": pa.array([None, "Rome", "Oslo"])})
    >>> found.tolist(), index.counts[found[:2]].tolist()
    ([1, 0, -1], [1, 2])
    """

    counts: IntArray
    places: IntArray
    _values: Mapping[str, pa.Array]
    _pairs: Mapping[str, IntArray]

    @classmethod
    def of(cls, columns: Mapping[str, pa.Array]) -> RecordIndex:
        """Collect the distinct records of columns, and count the rows of each."""
        values, pairs = {}, {}
        places = np.zeros(len(next(iter(columns.values()))), np.int64)
        for name, column in columns.items():
            values[name] = _plain(column).unique()
            codes = _codes(_plain(column), values[name])
            # Numbered anew after each column, so that keys stay below rows times values.
            pairs[name], places = np.unique(places * len(values[name]) + codes, return_inverse=True)
        return cls(np.bincount(places), places, values, pairs)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are compared."""
        return tuple(self._values)

    def find(self, columns: Mapping[str, pa.Array]) -> IntArray:
        """Return the number of the record that each row equals; −1 where there is none."""
        places = np.zeros(len(next(iter(columns.values()))), np.int64)
        matches = np.ones(places.size, np.bool_)
        for name, values in self._values.items():
            codes = _codes(_cast(columns[name], values.type, name), values)
            matches &= codes >= 0
            keys = places * len(values) + codes
            pairs = self._pairs[name]
            # A key behind the last is clipped, and the comparison rules it out.
            places = np.minimum(np.searchsorted(pairs, keys), pairs.size - 1)
            matches &= pairs[places] == keys
        return np.where(matches, places, -1)


@public
def copies(release: Release) -> Copies:
    """Count the rows of a release that equal a record of the original.

    A stream has no original any more, so nothing can be counted for one.

    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.publish import Condensation
    >>> table = Table(pa.table({"age": [20, 20, 35]}), {"age": quasi()})
    >>> copies(Condensation(1).release(table))
    Copies(n_rows=3, equal=3, unique=1, people=1, singled_out=1)
    """
    require("copies", "release", release, InstanceOf((Release,), "a Release"))
    if release.original is None:
        raise SchemaError("The release has no original, as that of a stream, so copies cannot be counted.")
    parameters = release.recipe.get("parameters", {})
    return copies_between(release.original, release.table, label=parameters.get("label"))


@public
def copies_between(original: Table, released: Table, *, label: str | None = None) -> Copies:
    """Count the rows of a released table that equal a record of the original, in the released columns.

    Parameters
    ----------
    original, released
        The two tables.
    label
        A column that does not count as a quasi-identifier.
    """
    names = [name for name in released.schema if name in original.schema]
    if not names:
        raise SchemaError("The tables have no column in common that could be compared.")
    index, records = _found(original, released, names)
    alone = records[(records >= 0) & (index.counts[records] == 1)]
    n_singled_out = 0
    if quasi := [name for name in compared_columns(original.schema, label) if name in names]:
        by_quasi, placed = _found(original, released, quasi)
        n_singled_out = int(((placed >= 0) & (by_quasi.counts[placed] == 1)).sum())
    return Copies(len(records), int((records >= 0).sum()), alone.size, np.unique(alone).size, n_singled_out)


def compared_columns(schema: Schema, label: str | None) -> list[str]:
    """Return the columns by which a row can single a person out: quasi-identifiers, but not a label."""
    return [name for name in schema.quasi if name != label]


def _found(original: Table, released: Table, names: Sequence[str]) -> tuple[RecordIndex, IntArray]:
    """Return the records of the original, and which of them each released row equals."""
    columns = original.source.columns(names)
    if original.spreadsheet_safe:
        columns = {name: defused(column) for name, column in columns.items()}
    index = RecordIndex.of(columns)
    return index, index.find(released.source.columns(names))


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column without dictionary and chunks, with one zero."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))
    return column


def _cast(column: pa.Array, type_: pa.DataType, name: str) -> pa.Array:
    try:
        return _plain(_plain(column).cast(type_, safe=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError(f"Column '{name}' has another type in another table.") from None


def _codes(column: pa.Array, values: pa.Array) -> IntArray:
    """Return the place of each cell among the values; −1 where it is not among them."""
    places = pc.index_in(column, value_set=values).fill_null(-1)
    return np.asarray(places.to_numpy(zero_copy_only=False), np.int64)
