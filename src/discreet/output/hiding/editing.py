"""Editing: the entries of the sensitive items, in a form in which they are deleted and added quickly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.kernels.ragged import bounds


class Editing:
    """The entries of a few items of baskets, one truth value for each item and basket.

    Parameters
    ----------
    baskets
        The original baskets, which stay as they are.
    codes
        The items whose entries may change, ascending; item ``codes[i]`` is column i.
    """

    def __init__(self, baskets: Baskets, codes: CodeArray) -> None:
        self.original = baskets
        self.codes = codes
        column = np.full(max(baskets.n_items, 1), -1, np.int32)
        column[codes] = np.arange(codes.size, dtype=np.int32)
        self._column = column[baskets.items]
        self._fixed = self._column < 0
        self._rows = baskets.rows()
        mine = ~self._fixed
        self.held: BoolArray = np.zeros((codes.size, len(baskets)), np.bool_)
        self.held[self._column[mine], self._rows[mine]] = True
        self.before = self.held.copy()
        self.kept: BoolArray = np.ones(len(baskets), np.bool_)
        self.lengths: IntArray = baskets.lengths.copy()

    @property
    def n(self) -> int:
        """The number of baskets that are left."""
        return int(np.count_nonzero(self.kept))

    def holding(self, columns: Sequence[int]) -> BoolArray:
        """Return which baskets hold all of some items."""
        return np.asarray(np.logical_and.reduce(self.held[list(columns)], axis=0))

    def holding_at(self, columns: Sequence[int], rows: IntArray) -> BoolArray:
        """Return which of some baskets hold all of some items."""
        return np.asarray(
            np.logical_and.reduce(self.held[np.ix_(np.asarray(columns, np.int64), rows)], axis=0)
        )

    def supporters(self, columns: Sequence[int]) -> IntArray:
        """Return the numbers of the baskets that hold all of some items."""
        return np.flatnonzero(self.holding(columns))

    def count(self, columns: Sequence[int]) -> int:
        """Return how many baskets hold all of some items."""
        return int(np.count_nonzero(self.holding(columns)))

    def totals(self) -> IntArray:
        """Return how many baskets hold each item."""
        return np.asarray(self.held.sum(axis=1, dtype=np.int64))

    def remove(self, rows: IntArray, columns: int | IntArray) -> None:
        """Delete an item, or one item for each, from some baskets that hold it."""
        self.held[columns, rows] = False
        # A row may occur more than once, where several of its
        # items go: subtraction by index would count it once.
        np.subtract.at(self.lengths, rows, 1)

    def add(self, rows: IntArray, column: int) -> None:
        """Add an item to some baskets that lack it."""
        self.held[column, rows] = True
        self.lengths[rows] += 1

    def drop(self, rows: IntArray) -> None:
        """Leave whole baskets out."""
        self.held[:, rows] = False
        self.kept[rows] = False

    @property
    def changed(self) -> BoolArray:
        """Which baskets are no longer what they were."""
        return np.asarray((self.held != self.before).any(axis=0) | ~self.kept)

    def baskets(self) -> Baskets:
        """Return the baskets as they are now, in their order, those that were dropped left out."""
        stays = self._fixed & self.kept[self._rows]
        mine = np.flatnonzero(~self._fixed)
        stays[mine] = self.held[self._column[mine], self._rows[mine]]
        number = np.cumsum(self.kept) - 1
        rows, items = number[self._rows[stays]], self.original.items[stays]
        column, row = np.nonzero(self.held & ~self.before)
        if row.size:
            width = np.int64(max(self.original.n_items, 1))
            # Items of a basket must be ascending, so what was added is sorted in.
            keys = np.concatenate([rows * width + items, number[row] * width + self.codes[column]])
            rows, items = np.divmod(np.sort(keys), width)
        indptr = bounds(np.bincount(rows, minlength=self.n))
        return Baskets(indptr, items.astype(np.int32), self.original.names)
