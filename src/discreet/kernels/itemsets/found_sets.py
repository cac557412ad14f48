"""Found itemsets: put in order, and tied to their subsets with one item less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.itemsets.set_table import find_without, table_of
from discreet.kernels.threads import in_threads


def in_order(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Sort sets by length and then by their items.

    Returns the items of the sorted sets, ascending within each set, and the place each set had before.
    """
    lengths = np.diff(indptr)
    codes, places = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        sets = _gather(indptr, items, rows, length)
        order = _sorted(sets, n_items)
        codes.append(sets[order].ravel())
        places.append(rows[order])
    return np.concatenate(codes), np.concatenate(places)


def immediate_subsets(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return, for every item of every set, the number of the set without that item; -1 where it is not among them."""
    table = table_of(indptr, items)
    subsets = np.empty(items.size, np.int64)
    in_threads(lambda start, stop: _find_subsets(indptr, items, table, subsets, start, stop), indptr.size - 1)
    return subsets


# Insertion sort: sets are short, and mostly sorted already.
@compiled
def _gather(indptr, items, rows, length):
    """Write sets of one length as rows, each sorted."""
    sets = np.empty((rows.size, length), np.int32)
    for number in range(rows.size):
        row = sets[number]
        for position in range(length):
            item = items[indptr[rows[number]] + position]
            at = position
            while at > 0 and row[at - 1] > item:
                row[at] = row[at - 1]
                at -= 1
            row[at] = item
    return sets


# Least significant digit radix sort: each pass is stable, so that earlier columns overrule later ones.
# O(length x (sets + n_items)).
@compiled
def _sorted(sets, n_items):
    """Order rows by a counting sort of each column, from the last to the first."""
    order = np.arange(len(sets))
    target = np.empty_like(order)
    for column in range(sets.shape[1] - 1, -1, -1):
        starts = np.zeros(n_items + 1, np.int64)
        for row in range(len(sets)):
            starts[sets[row, column] + 1] += 1
        for item in range(n_items):
            starts[item + 1] += starts[item]
        for number in range(order.size):
            item = sets[order[number], column]
            target[starts[item]] = order[number]
            starts[item] += 1
        order, target = target, order
    return order


@compiled
def _find_subsets(indptr, items, table, subsets, start, stop):
    for number in range(start, stop):
        members = items[indptr[number] : indptr[number + 1]]
        for skipped in range(members.size):
            subsets[indptr[number] + skipped] = find_without(indptr, items, table, members, skipped)
