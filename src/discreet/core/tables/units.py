"""Units: whose rows they are. Classes count distinct people, households or sites instead of rows.

Counts of units do not add up when classes are joined, since a unit may be in both. So a table with units has, beside
its sensitive columns, coded columns of whole numbers that are never published: the unit of each tuple, and for each
sensitive column the pair of unit and value. Searches count these like sensitive values; what counts of units follow
from them is worked out for each class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.tables.encoding import Codebook, ColumnType
from discreet.core.tables.groups import Groups, SensitiveCounts

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy


@dataclass(frozen=True, repr=False)
class UnitPairs:
    """The pairs of unit and value of one sensitive column, by the value of each pair's code.

    Code 0 is no pair, as it is the null of other columns. ``codes`` gives the pair of each tuple.
    """

    name: str
    codes: CodeArray
    value_of: CodeArray
    n_values: int
    hierarchy: Hierarchy | None

    def book(self, name: str) -> Codebook:
        """Return a code book with as many codes; the pairs have no values of their own."""
        return Codebook(name, ColumnType.CATEGORY, pa.null(), pa.nulls(self.value_of.size - 1))

    def counted(self, pairs: SensitiveCounts, units: IntArray, n_units: int) -> SensitiveCounts:
        """Return how many units of each class have each value, given how many units there are."""
        from discreet.kernels.tables.grouping import count_values

        group = pairs.group.astype(np.int32)
        # A pair counts once in a class, however many rows have it.
        counted = count_values(
            group, self.value_of[pairs.values], np.ones(group.size, np.int64), pairs.n_groups, self.n_values
        )
        overall = np.bincount(self.value_of[np.flatnonzero(pairs.overall)], minlength=self.n_values)
        return SensitiveCounts(
            self.name, *counted, overall.astype(np.int64), self.hierarchy, units=units, n_units=n_units
        )


@dataclass(frozen=True, repr=False)
class Units:
    """The units of a table: the column that names them, and their pairs with sensitive values.

    ``pairs`` are by the names of the hidden columns, which no column of the table has.
    """

    column: str
    pairs: Mapping[str, UnitPairs]

    def hidden(self, sensitive: tuple[str, ...]) -> tuple[str, ...]:
        """Return the coded columns from which the units, and their values in some sensitive columns, follow."""
        return (self.column, *(name for name, pairs in self.pairs.items() if pairs.name in sensitive))

    def counted(self, groups: Groups, sensitive: tuple[str, ...]) -> Groups:
        """Return the same classes with units counted instead of rows, and their values in some sensitive columns.

        A unit counts once in a class, and once for each value it has there.
        """
        units = groups.sensitive[self.column]
        sizes = np.diff(units.indptr).astype(np.int64)
        n_units = int(np.count_nonzero(units.overall))
        counted = {
            pairs.name: pairs.counted(groups.sensitive[name], sizes, n_units)
            for name, pairs in self.pairs.items()
            if pairs.name in sensitive
        }
        return Groups(sizes, counted, groups.suppressed, groups.cover)


def units_of(
    column: str, units: NDArray[Any], sensitive: Mapping[str, tuple[NDArray[Any], Codebook]], names: set[str]
) -> Units:
    """Return the units of coded tuples, given the codes of the units and of each sensitive column."""
    from discreet.kernels.tables.grouping import distinct

    pairs = {}
    for name, (codes, book) in sensitive.items():
        first, numbers, _ = distinct(units.astype(np.int64) * book.n_codes + codes)
        pairs[_free_name(name, names)] = UnitPairs(
            name,
            numbers.astype(np.int32) + np.int32(1),
            np.concatenate([[0], codes[first]]).astype(np.int32),
            book.n_codes,
            book.hierarchy,
        )
    return Units(column, pairs)


def _free_name(name: str, names: set[str]) -> str:
    """Return a name that no column has."""
    free = f"units of {name}"
    while free in names:
        free += "_"
    names.add(free)
    return free
