"""Subsets of columns: how rows group by each of them, and which rows each singles out that no smaller one does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled

_DENSE = 1 << 16
"""A key space up to this size, or four times the rows, is counted in an array; a larger one by hashing."""


class Subsets(NamedTuple):
    """Subsets of columns in an order in which every subset comes after all of its own.

    ``columns`` has the columns of each, ascending, filled up with -1; ``sizes`` how many; ``below`` the numbers of
    those with one column less, filled up with -1.
    """

    columns: NDArray[np.int64]
    sizes: NDArray[np.int64]
    below: NDArray[np.int64]


class SubsetCounts(NamedTuple):
    """What rows do by each subset, and each row's minimal uniques.

    ``classes``, ``singletons`` and ``pairs`` count, for each subset, the classes, the rows alone in theirs and the
    pairs of rows that share one. ``minimal`` counts, for each row, the subsets of each size that single it out while no
    part of them does; ``by_column`` those that hold a column, over all rows.
    """

    classes: NDArray[np.int64]
    singletons: NDArray[np.int64]
    pairs: NDArray[np.float64]
    minimal: NDArray[np.int32]
    by_column: NDArray[np.int64]


def subsets_of(n_columns: int, max_size: int) -> Subsets:
    """Return all subsets of columns up to a size.

    >>> subsets_of(3, 2).columns.tolist()
    [[2, -1], [1, -1], [1, 2], [0, -1], [0, 2], [0, 1]]
    """
    listed = list(_descending(n_columns, max_size))
    number = {subset: at for at, subset in enumerate(listed)}
    columns = np.full((len(listed), max_size), -1, np.int64)
    below = np.full((len(listed), max_size), -1, np.int64)
    for at, subset in enumerate(listed):
        columns[at, : len(subset)] = subset
        if len(subset) > 1:
            below[at, : len(subset)] = [number[part] for part in combinations(subset, len(subset) - 1)]
    return Subsets(columns, np.array([len(subset) for subset in listed], np.int64), below)


def _descending(n_columns: int, max_size: int, prefix: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Iterate depth first with the last column first, so that every part of a subset comes before it."""
    for column in reversed(range(prefix[-1] + 1 if prefix else 0, n_columns)):
        subset = (*prefix, column)
        yield subset
        if len(subset) < max_size:
            yield from _descending(n_columns, max_size, subset)


def count_subsets(
    codes: NDArray[Any], cards: NDArray[np.int64], counts: NDArray[np.int64], subsets: Subsets
) -> SubsetCounts:
    """Count the rows by every subset; ``codes`` has a row for each distinct tuple, ``counts`` how many have it."""
    by_column = np.ascontiguousarray(codes.T.astype(np.int32))
    return SubsetCounts(*_count_subsets(by_column, cards, counts.astype(np.int64), *subsets, _DENSE))


# One pass over the tuples for each subset. A subset's classes refine those of its prefix, whose labels lie on a stack,
# so that a key is (label, code) whatever the number of columns, and never outgrows 64 bits. A row that is alone in a
# class is a minimal unique where no bit of the subsets with one column less is set for it: every smaller part is in one
# of those, and what singles out stays single. O(subsets x tuples) time, a bit for each of these in memory.
@compiled
def _count_subsets(codes, cards, counts, columns, sizes, below, dense):
    n_columns, n = codes.shape
    n_subsets, depth = columns.shape
    labels = np.zeros((depth + 1, n), np.int32)
    n_labels = np.ones(depth + 1, np.int64)
    singled = np.zeros((n_subsets, (n + 7) // 8), np.uint8)
    limit = max(dense, 4 * n)
    slots = np.empty(limit, np.int32)
    width = 1
    while width < 2 * n:
        width *= 2
    hashed, keys = np.full(width, -1, np.int32), np.empty(width, np.int64)
    members = np.empty(n, np.int64)
    n_classes, singletons = np.zeros(n_subsets, np.int64), np.zeros(n_subsets, np.int64)
    pairs = np.zeros(n_subsets, np.float64)
    minimal = np.zeros((n, depth), np.int32)
    held_by = np.zeros((n_columns, depth), np.int64)
    for subset in range(n_subsets):
        size = sizes[subset]
        column = columns[subset, size - 1]
        card = cards[column]
        above, label = labels[size - 1], labels[size]
        if n_labels[size - 1] * card <= limit:
            n_new = _label_dense(
                above, codes[column], card, n_labels[size - 1], slots, counts, label, members
            )
        else:
            n_new = _label_hashed(above, codes[column], card, hashed, keys, counts, label, members)
        n_labels[size] = n_new
        n_classes[subset] = n_new
        for number in range(n_new):
            pairs[subset] += members[number] * (members[number] - 1.0) / 2.0
        for row in range(n):
            if members[label[row]] != 1:
                continue
            singletons[subset] += 1
            bit = np.uint8(1 << (row & 7))
            singled[subset, row >> 3] |= bit
            is_minimal = True
            for part in range(size if size > 1 else 0):
                if singled[below[subset, part], row >> 3] & bit:
                    is_minimal = False
                    break
            if is_minimal:
                minimal[row, size - 1] += 1
                for part in range(size):
                    held_by[columns[subset, part], size - 1] += 1
    return n_classes, singletons, pairs, minimal, held_by


# By a table of all pairs, for subsets with few. O(pairs + rows).
@compiled
def _label_dense(above, code, card, n_above, slots, counts, label, members):
    """Label the rows by their pair of label and code, in the order in which these come; gives how many there are."""
    for key in range(n_above * card):
        slots[key] = -1
    n_new = 0
    for row in range(code.size):
        key = above[row] * card + code[row]
        number = slots[key]
        if number < 0:
            number = n_new
            slots[key] = number
            members[number] = 0
            n_new += 1
        members[number] += counts[row]
        label[row] = number
    return n_new


# Linear probing. A key is multiplied by 2^64 over the golden ratio, whose high bits depend on all of the key. O(slots
# + rows) on average.
@compiled
def _label_hashed(above, code, card, hashed, keys, counts, label, members):
    """Label the rows by open addressing, for pairs too many to list."""
    mask = hashed.size - 1
    hashed[:] = -1
    n_new = 0
    for row in range(code.size):
        key = np.int64(above[row]) * card + code[row]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        at = np.int64(mixed >> np.uint64(20)) & mask
        while hashed[at] >= 0 and keys[at] != key:
            at = (at + 1) & mask
        number = hashed[at]
        if number < 0:
            number = n_new
            hashed[at] = number
            keys[at] = key
            members[number] = 0
            n_new += 1
        members[number] += counts[row]
        label[row] = number
    return n_new
