"""Tables whose distinct tuples exceed memory: classes by their shape, and tuples at given levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.tables.encoding import Codebook
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.tables.source import ClassShapes, Tuples
from discreet.core.tables.table import Table
from discreet.kernels.ragged import bounds

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy


def shape_groups(table: Table, shapes: ClassShapes) -> Groups:
    """Return the classes of a table, one for all small classes of a kind."""
    names = table.schema.sensitive
    counts = [
        _small_counts(name, table, shapes.sizes, shapes.ends[:, 2 * at : 2 * at + 2])
        for at, name in enumerate(names)
    ]
    large = None
    if shapes.tuples.counts.size:
        large = table.with_tuples(shapes.tuples).groups()
    if large is None:
        return Groups(shapes.sizes, dict(zip(names, counts, strict=True)), repeats=shapes.repeats)
    sensitive = {
        name: _joined(large.sensitive[name], small) for name, small in zip(names, counts, strict=True)
    }
    starred = np.zeros(shapes.sizes.size, np.bool_)
    return Groups(
        np.concatenate([large.sizes, shapes.sizes]),
        sensitive,
        None if large.suppressed is None else np.concatenate([large.suppressed, starred]),
        repeats=np.concatenate([np.ones(large.n_groups, np.int64), shapes.repeats]),
    )


def _small_counts(name: str, table: Table, sizes: IntArray, ends: IntArray) -> SensitiveCounts:
    """Return the values of classes of one and two rows: the lowest, and the highest where it is another."""
    low, high = ends.T
    entries = np.where(low == high, 1, 2)
    values = np.empty(entries.sum(), np.int32)
    counts = np.ones(values.size, np.int64)
    indptr = bounds(entries)
    values[indptr[:-1]] = low
    counts[indptr[:-1]] = np.where(low == high, sizes, 1)
    values[indptr[1:][entries == 2] - 1] = high[entries == 2]
    book = table.encoded[name]
    return SensitiveCounts(name, indptr, values, counts, table.overall(name), book.hierarchy, book=book)


def _joined(large: SensitiveCounts, small: SensitiveCounts) -> SensitiveCounts:
    return SensitiveCounts(
        small.name,
        np.concatenate([large.indptr, small.indptr[1:] + large.indptr[-1]]),
        np.concatenate([large.values, small.values]),
        np.concatenate([large.counts, small.counts]),
        small.overall,
        small.hierarchy,
        book=small.book,
    )


class RolledUpTable(Table):
    """A table whose tuples are counted at given levels; what concerns its rows is that of the table itself.

    The code of a value is that of the first leaf below its node. So a node is found by any code below it as before, and
    all values below one node are one.
    """

    def __init__(self, origin: Table, nodes: Mapping[str, tuple[Hierarchy, int]]) -> None:
        self.__dict__.update(
            {name: value for name, value in vars(origin).items() if not isinstance(value, Tuples)}
        )
        self.origin, self._nodes = origin, nodes
        for cached in ("_books", "encoded", "_shapes", "_groups", "_starts", "classes", "counted"):
            self.__dict__.pop(cached, None)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.origin.n_rows

    @property
    def exceeds_memory(self) -> bool:
        """Whether the distinct tuples of the table itself are more than may be held in memory."""
        return True

    @cached_property
    def _books(self) -> dict[str, Codebook]:
        return {
            name: replace(book, coarse=_first_leaves(*self._nodes[name])) if name in self._nodes else book
            for name, book in self.origin._books.items()
        }

    def overall(self, name: str) -> IntArray:
        """Count each code of one column in the whole table."""
        return self.origin.overall(name)

    def groups(self) -> Groups:
        """Return the classes of rows with the same quasi-identifiers."""
        return self.origin.groups()

    @property
    def counted(self) -> Groups:
        """The classes."""
        return self.origin.counted


def _first_leaves(tree: Hierarchy, level: int) -> CodeArray:
    """Return the first code of the node of each code at a level."""
    _, first, nodes = np.unique(tree.levels[level], return_index=True, return_inverse=True)
    return first[nodes].astype(np.int32)
