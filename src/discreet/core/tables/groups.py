"""Groups: who is indistinguishable from whom, and which sensitive values each group holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.kernels.ragged import bounds

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy
    from discreet.core.tables.encoding import Codebook


@dataclass(frozen=True, repr=False)
class SensitiveCounts:
    """How often each value of one sensitive column occurs in each group, as CSR arrays.

    Value codes follow the column's order; code 0 is the null, a value like any other. ``overall`` counts each
    code in the whole table, also codes that do not occur (a hierarchy may know more leaves than the data shows).
    Where units are counted, one may have several values: ``units`` is their number in each group, ``n_units`` in the
    whole table. ``book`` has the values of the codes where a table was read; in a search, the codes are those of the
    table that is searched.
    """

    name: str
    indptr: IntArray
    values: CodeArray
    counts: IntArray
    overall: IntArray
    hierarchy: Hierarchy | None = None
    units: IntArray | None = None
    n_units: int | None = None
    book: Codebook | None = None

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return self.indptr.size - 1

    @property
    def group(self) -> IntArray:
        """The group of each entry of ``values`` and ``counts``."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.indptr))

    @property
    def share(self) -> FloatArray:
        """The share of each entry in its group."""
        return self.counts / np.add.reduceat(self.counts, self.indptr[:-1])[self.group]

    @property
    def prevalence(self) -> FloatArray:
        """The share of its group that has the value of each entry; more than 1 in all where units have several."""
        return self.share if self.units is None else self.counts / self.units[self.group]

    @property
    def overall_prevalence(self) -> FloatArray:
        """The share of the whole table that has the value of each entry."""
        total = self.overall.sum() if self.n_units is None else self.n_units
        return np.asarray(self.overall[self.values] / total)

    def only(self, chosen: BoolArray) -> SensitiveCounts:
        """Return the counts of some groups, in a table of those groups alone."""
        entries = chosen[self.group]
        values, counts = self.values[entries], self.counts[entries]
        indptr = bounds(np.diff(self.indptr)[chosen])
        overall = np.bincount(values, weights=counts, minlength=self.overall.size).astype(np.int64)
        return replace(
            self, indptr=indptr, values=values, counts=counts, overall=overall, units=None, n_units=None
        )

    def joined(self, chosen: BoolArray) -> SensitiveCounts:
        """Return the counts of some groups as one, in the same table."""
        entries = chosen[self.group]
        totals = np.bincount(self.values[entries], weights=self.counts[entries], minlength=self.overall.size)
        values = np.flatnonzero(totals).astype(np.int32)
        indptr, counts = np.array([0, values.size]), totals[values].astype(np.int64)
        return replace(self, indptr=indptr, values=values, counts=counts, units=None, n_units=None)

    def __repr__(self) -> str:
        return f"SensitiveCounts({self.name!r}, {self.n_groups} groups, {self.overall.size} value codes)"


class Cover(Protocol):
    """What part of the world each group's published cells describe."""

    def matches(self, population: object) -> IntArray:
        """Count, for each group, the people of a population table its published cells may describe."""
        ...


@runtime_checkable
class SharedCover(Cover, Protocol):
    """A cover of all classes of a table, which knows whether they share people."""

    def shared(self, population: object) -> tuple[BoolArray, int]:
        """Return which groups cover a person that another covers too, and how many people no group covers."""
        ...


@runtime_checkable
class NestedCover(Cover, Protocol):
    """A cover of the classes of a node, which knows whether finer nodes describe fewer people."""

    def is_nested(self, population: object) -> bool:
        """Return whether each level's labels cover whom the finer ones cover."""
        ...


@dataclass(frozen=True, repr=False)
class _CoverOf:
    """The cover of some groups."""

    whole: Cover
    kept: BoolArray

    def matches(self, population: object) -> IntArray:
        """Count the people of a population that each of the groups may describe."""
        return self.whole.matches(population)[self.kept]


class _AnyCover:
    """The cover of one class that says nothing of its rows."""

    def matches(self, population: Any) -> IntArray:
        """Count all people of a population."""
        return np.array([population.n_rows])


@dataclass(frozen=True, repr=False)
class Groups:
    """The classes of a table: their sizes, their sensitive values, and what their cells cover.

    Groups of baskets have ``items`` instead: how many of a group's baskets hold each sensitive item. A basket may hold
    several or none, so these counts do not add up to the sizes. ``effective_sizes`` are by how many baskets a group
    hides them, where that is not its size. Where classes exceed memory, one stands for all that are alike: ``repeats``
    is how many they are.
    """

    sizes: IntArray
    sensitive: Mapping[str, SensitiveCounts] = field(default_factory=lambda: MappingProxyType({}))
    suppressed: BoolArray | None = None
    cover: Cover | None = None
    items: SensitiveCounts | None = None
    effective_sizes: FloatArray | None = None
    repeats: IntArray | None = None

    @classmethod
    def of(
        cls,
        labels: CodeArray,
        weights: IntArray,
        n_groups: int,
        sensitive: Mapping[str, tuple[CodeArray, IntArray, Hierarchy | None]],
        *,
        suppressed: BoolArray | None = None,
        cover: Cover | None = None,
    ) -> Groups:
        """Count groups from a label and a weight per tuple, and (codes, overall, hierarchy) per sensitive column."""
        from discreet.kernels.tables.grouping import count_values

        sizes = np.bincount(labels, weights=weights, minlength=n_groups).astype(np.int64)
        counted = {
            name: SensitiveCounts(
                name, *count_values(labels, codes, weights, n_groups, overall.size), overall, hierarchy
            )
            for name, (codes, overall, hierarchy) in sensitive.items()
        }
        return cls(sizes, counted, suppressed, cover)

    def only(self, chosen: BoolArray) -> Groups:
        """Return some of the groups, as if the rows of the others were not in the table."""
        sensitive = {name: counts.only(chosen) for name, counts in self.sensitive.items()}
        suppressed = None if self.suppressed is None else self.suppressed[chosen]
        cover = None if self.cover is None else _CoverOf(self.cover, chosen)
        items = None if self.items is None else self.items.only(chosen)
        effective = None if self.effective_sizes is None else self.effective_sizes[chosen]
        repeats = None if self.repeats is None else self.repeats[chosen]
        return Groups(self.sizes[chosen], sensitive, suppressed, cover, items, effective, repeats)

    def joined(self, chosen: BoolArray) -> Groups:
        """Return some of the groups as one, of which nothing is known but its sensitive values."""
        sensitive = {name: counts.joined(chosen) for name, counts in self.sensitive.items()}
        starred = np.ones(1, np.bool_)
        return Groups(self.sizes[chosen].sum(keepdims=True), sensitive, starred, _AnyCover())

    @property
    def n_groups(self) -> int:
        """The number of groups, those that are alike counted once where ``repeats`` says how many they are."""
        return int(self.sizes.size)

    def counted(self, chosen: BoolArray | slice = slice(None)) -> tuple[int, int]:
        """Return how many groups some of these are, and how many rows they have."""
        sizes = self.sizes[chosen]
        if self.repeats is None:
            return int(sizes.size), int(sizes.sum())
        return int(self.repeats[chosen].sum()), int(sizes @ self.repeats[chosen])

    @property
    def rows(self) -> IntArray:
        """The number of rows that each entry stands for."""
        return self.sizes if self.repeats is None else self.sizes * self.repeats

    @property
    def n_rows(self) -> int:
        """The number of rows in all groups."""
        return self.counted()[1]

    def __repr__(self) -> str:
        smallest = int(self.sizes.min()) if self.sizes.size else 0
        return f"Groups({self.counted()[0]} groups, {self.n_rows} rows, smallest {smallest})"
