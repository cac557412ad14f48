"""A table that finds sets by their items; the sets are CSR arrays, the items of each ascending."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


# Linear probing in a table of at least twice as many slots as sets, a power of two, so that a probe always
# meets a free slot and a mask replaces the remainder. Slots hold numbers alone; the items are compared where
# they are.
@compiled
def table_of(indptr, items):
    """Make an open-addressed table of the numbers of the sets."""
    size = 16
    while size < 2 * indptr.size:
        size *= 2
    table = np.full(size, -1, np.int64)
    for number in range(indptr.size - 1):
        members = items[indptr[number] : indptr[number + 1]]
        slot = np.int64(_hashed(members, -1) & np.uint64(size - 1))
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = number
    return table


# O(items of the set) on average, as the table is at most half full.
@compiled
def find_without(indptr, items, table, members, skipped):
    """Find the set of the members without the one at a place; -1 where it is not among the sets, or is empty."""
    size = members.size - 1
    mask = table.size - 1
    slot = np.int64(_hashed(members, skipped) & np.uint64(mask))
    while size > 0 and table[slot] >= 0:
        number = table[slot]
        if indptr[number + 1] - indptr[number] == size:
            same = True
            for at in range(size):
                if items[indptr[number] + at] != members[at + (at >= skipped)]:
                    same = False
                    break
            if same:
                return number
        slot = (slot + 1) & mask
    return -1


# One place is skipped instead of copying the rest; the items are ascending, so that equal sets hash alike.
@compiled
def _hashed(items, skipped):
    """Hash the items of a set, one place left out."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for position in range(items.size):
        if position != skipped:
            state = (state ^ np.uint64(items[position])) * np.uint64(0xBF58476D1CE4E5B9)
            state ^= state >> np.uint64(29)
    return state
