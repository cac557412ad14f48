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
from discreet.core.tables.encoding import Codebook, Kind
from discreet.core.tables.groups import Groups, SensitiveCounts

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy


@dataclass(frozen=True, repr=False)
class UnitPairs:
    """The pairs of unit and value of one sensitive column: the unit and the value of each pair's code.

    Code 0 is no pair, as it is the null of other columns. ``codes`` gives the pair of each tuple.
    """

    name: str
    codes: CodeArray
    unit_of: CodeArray
    value_of: CodeArray
    n_values: int
    hierarchy: Hierarchy | None

    def book(self, name: str) -> Codebook:
        """Return a code book with as many codes; the pairs have no values of their own."""
        return Codebook(name, Kind.CATEGORY, pa.null(), pa.nulls(self.unit_of.size - 1))

    def counted(self, pairs: SensitiveCounts) -> tuple[SensitiveCounts, IntArray]:
        """Return how many units of each class have each value, and how many units each class has."""
        from discreet.kernels.tables.grouping import count_values

        group = pairs.group.astype(np.int32)
        overall = np.flatnonzero(pairs.overall)
        found = count_values(
            group, self.value_of[pairs.values], np.ones(group.size, np.int64), pairs.n_groups, self.n_values
        )
        units = distinct_units(group, self.unit_of[pairs.values], pairs.n_groups)
        counts = SensitiveCounts(
            self.name,
            *found,
            np.bincount(self.value_of[overall], minlength=self.n_values).astype(np.int64),
            self.hierarchy,
            units=units,
            n_units=np.unique(self.unit_of[overall]).size,
        )
        return counts, units


@dataclass(frozen=True, repr=False)
class Units:
    """The units of a table: the column that names them, and their pairs with sensitive values.

    ``pairs`` are by the names of the hidden columns, which no column of the table has.
    """

    column: str
    pairs: Mapping[str, UnitPairs]

    def hidden(self, sensitive: tuple[str, ...]) -> tuple[str, ...]:
        """Return the coded columns from which the units, and their values in some sensitive columns, follow."""
        if not sensitive:
            return (self.column,)
        return tuple(name for name, pairs in self.pairs.items() if pairs.name in sensitive)

    def counted(self, groups: Groups) -> Groups:
        """Return the same classes with units counted instead of rows; a unit counts once per class and value."""
        sensitive: dict[str, SensitiveCounts] = {}
        sizes: IntArray | None = None
        if self.column in groups.sensitive:
            sizes = np.diff(groups.sensitive[self.column].indptr).astype(np.int64)
        for name, pairs in self.pairs.items():
            if name in groups.sensitive:
                sensitive[pairs.name], sizes = pairs.counted(groups.sensitive[name])
        if sizes is None:
            raise TypeError("the classes do not count units")
        return Groups(sizes, sensitive, groups.suppressed, groups.cover)


def units_of(
    column: str, units: NDArray[Any], sensitive: Mapping[str, tuple[NDArray[Any], Codebook]], taken: set[str]
) -> Units:
    """Return the units of coded tuples, given the codes of the units and of each sensitive column."""
    from discreet.kernels.tables.grouping import distinct

    found = {}
    for name, (codes, book) in sensitive.items():
        first, place, _ = distinct(units.astype(np.int64) * book.n_codes + codes)
        found[_free_name(name, taken)] = UnitPairs(
            name,
            place.astype(np.int32) + np.int32(1),
            np.concatenate([[0], units[first]]).astype(np.int32),
            np.concatenate([[0], codes[first]]).astype(np.int32),
            book.n_codes,
            book.hierarchy,
        )
    return Units(column, found)


def distinct_units(group: CodeArray, unit: CodeArray, n_groups: int) -> IntArray:
    """Count the distinct units of each group, given the group and the unit of each entry.

    >>> distinct_units(np.array([0, 0, 1]), np.array([7, 7, 7]), 2).tolist()
    [1, 1]
    """
    keys = np.unique(group.astype(np.int64) * (int(unit.max(initial=0)) + 1) + unit)
    return np.bincount(keys // (int(unit.max(initial=0)) + 1), minlength=n_groups).astype(np.int64)


def _free_name(name: str, taken: set[str]) -> str:
    """Return a name that no column has."""
    made = f"units of {name}"
    while made in taken:
        made += "_"
    taken.add(made)
    return made
