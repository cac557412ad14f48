"""The candidate join of Apriori: sets of k items all of whose subsets of k - 1 items are present."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.itemsets.counting import class_bounds
from discreet.kernels.itemsets.set_table import find_without, table_of
from discreet.kernels.threads import in_threads

_FEW = 1 << 14
"""The sets that one thread joins as fast as several."""


def join(sets: NDArray[np.int32], *, most: int = 2**62) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Join sets of the same size, rows in lexicographic order, to candidates with one item more.

    Returns the candidates in lexicographic order, and for each the rows of its subsets: column d is the row of the set
    without item d. Where there are more than ``most``, some are left out, but more than that many are returned.

    >>> join(np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]], np.int32))
    (array([[0, 1, 2], [0, 1, 3]], dtype=int32), array([[3, 1, 0], [4, 2, 0]], dtype=int32))
    """
    bounds = class_bounds(sets)
    indptr, items = _heads(sets, bounds)
    table = table_of(indptr, items)
    parts = in_threads(
        lambda start, stop: _join(sets, bounds, indptr, items, table, most, start, stop),
        bounds.size - 1,
        threads=1 if len(sets) < _FEW else None,
    )
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


@compiled
def _heads(sets, bounds):
    """Return the items that the sets of each class have in common, as CSR arrays."""
    width = sets.shape[1] - 1
    indptr = np.arange(bounds.size) * width
    items = np.empty(indptr[-1], np.int32)
    for number in range(bounds.size - 1):
        for position in range(width):
            items[indptr[number] + position] = sets[bounds[number], position]
    return indptr, items


# The join and the pruning of Apriori (Agrawal and Srikant 1994) in one. A candidate is a row and one item x
# more; without the row's item d it is (row without d) and x, a set of the class of that head. The items x
# ascend, and so do the last items of every class, so that pointers into the classes only move forward: a
# merge, without a search for each subset. O(lengths of the classes of a row), for each row.
@compiled
def _join(sets, bounds, indptr, items, table, most, start, stop):
    """Join the classes of a range: the last items of a candidate's subsets are in sorted lists, which are merged."""
    width = sets.shape[1]
    joined = np.empty((1024, width + 1), np.int32)
    subsets = np.empty((1024, width + 1), np.int32)
    size = 0
    at = np.empty(width, np.int64)
    end = np.empty(width, np.int64)
    for number in range(start, stop):
        for row in range(bounds[number], bounds[number + 1] - 1):
            if size > most:
                break
            if not _open(bounds, indptr, items, table, sets[row], at, end):
                continue
            for other in range(row + 1, bounds[number + 1]):
                met = _advance(sets, at, end, sets[other, width - 1])
                # A list is at its end, and later items are larger still: no more candidates from this row.
                if met < 0:
                    break
                if met == 0:
                    continue
                if size == len(joined):
                    joined = np.concatenate((joined, np.empty_like(joined)))
                    subsets = np.concatenate((subsets, np.empty_like(subsets)))
                put(joined[size], 0, sets[row])
                joined[size, width] = sets[other, width - 1]
                put(subsets[size], 0, at[: width - 1])
                subsets[size, width - 1] = other
                subsets[size, width] = row
                size += 1
    return joined[:size].copy(), subsets[:size].copy()


@compiled
def _open(bounds, indptr, items, table, row, at, end):
    """Set the pointers to the classes of the row's items without each one but the last; return whether all exist."""
    for skipped in range(row.size - 1):
        number = find_without(indptr, items, table, row, skipped)
        if number < 0:
            return False
        at[skipped] = bounds[number]
        end[skipped] = bounds[number + 1]
    return True


@compiled
def _advance(sets, at, end, item):
    """Move the pointers up to an item: 1 when every list holds it, 0 when one does not, -1 when one is at its end."""
    last = sets.shape[1] - 1
    met = 1
    for skipped in range(last):
        position = at[skipped]
        while position < end[skipped] and sets[position, last] < item:
            position += 1
        at[skipped] = position
        if position == end[skipped]:
            return -1
        if sets[position, last] != item:
            met = 0
    return met
