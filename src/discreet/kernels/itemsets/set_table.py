"""A table that finds sets by their items; the sets are CSR arrays, the items of each ascending."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


@compiled
def table_of(indptr, items):
    """Make an open-addressed table of the numbers of the sets."""
    size = 16
    while size < 2 * indptr.size:
        size *= 2
    table = np.full(size, -1, np.int64)
    for number in range(indptr.size - 1):
        members = items[indptr[number] : indptr[number + 1]]
        place = np.int64(_hashed(members, -1) & np.uint64(size - 1))
        while table[place] >= 0:
            place = (place + 1) & (size - 1)
        table[place] = number
    return table


@compiled
def find_without(indptr, items, table, members, skipped):
    """Find the set of the members without the one at a place; -1 where it is not among the sets, or is empty."""
    size = members.size - 1
    mask = table.size - 1
    place = np.int64(_hashed(members, skipped) & np.uint64(mask))
    while size > 0 and table[place] >= 0:
        number = table[place]
        if indptr[number + 1] - indptr[number] == size:
            same = True
            for at in range(size):
                if items[indptr[number] + at] != members[at + (at >= skipped)]:
                    same = False
                    break
            if same:
                return number
        place = (place + 1) & mask
    return -1


@compiled
def _hashed(items, skipped):
    """Hash the items of a set, one place left out."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for place in range(items.size):
        if place != skipped:
            state = (state ^ np.uint64(items[place])) * np.uint64(0xBF58476D1CE4E5B9)
            state ^= state >> np.uint64(29)
    return state
