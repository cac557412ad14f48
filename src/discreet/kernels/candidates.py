"""The candidate join of Apriori: sets of k items all of whose subsets of k - 1 items are among those given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.itemsets import class_bounds
from discreet.kernels.threads import in_threads

_FEW = 1 << 14
"""The sets that one thread joins as fast as several."""


def join(sets: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Join sets of the same size, rows in lexicographic order, to candidates with one item more.

    Gives the candidates in lexicographic order, and for each the rows of its subsets: column d is the row of the set
    without item d.

    >>> join(np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]], np.int32))
    (array([[0, 1, 2], [0, 1, 3]], dtype=int32), array([[3, 1, 0], [4, 2, 0]], dtype=int32))
    """
    bounds = class_bounds(sets)
    table = _table(sets, bounds)
    parts = in_threads(
        lambda start, stop: _join(sets, bounds, table, start, stop),
        bounds.size - 1,
        threads=1 if len(sets) < _FEW else None,
    )
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


@compiled
def hashed(items, size, skipped):
    """Hash the first items of a set, one place left out."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for place in range(size):
        if place != skipped:
            state = (state ^ np.uint64(items[place])) * np.uint64(0xBF58476D1CE4E5B9)
            state ^= state >> np.uint64(29)
    return state


@compiled
def _table(sets, bounds):
    """Make an open-addressed table that finds a class by its common items."""
    size = 16
    while size < 2 * bounds.size:
        size *= 2
    table = np.full(size, -1, np.int64)
    for number in range(bounds.size - 1):
        place = np.int64(hashed(sets[bounds[number]], sets.shape[1] - 1, -1) & np.uint64(size - 1))
        while table[place] >= 0:
            place = (place + 1) & (size - 1)
        table[place] = number
    return table


@compiled
def _class_of(sets, bounds, table, items, skipped):
    """Find the class whose common items are the items given, one place left out; -1 when there is none."""
    width = sets.shape[1]
    mask = table.size - 1
    place = np.int64(hashed(items, width, skipped) & np.uint64(mask))
    while table[place] >= 0:
        number = table[place]
        row = sets[bounds[number]]
        same = True
        for at in range(width - 1):
            if row[at] != items[at + (at >= skipped)]:
                same = False
                break
        if same:
            return number
        place = (place + 1) & mask
    return -1


@compiled
def _join(sets, bounds, table, start, stop):
    """Join the classes of a range: the last items of a candidate's subsets lie in sorted lists, which are merged."""
    width = sets.shape[1]
    joined = np.empty((1024, width + 1), np.int32)
    subsets = np.empty((1024, width + 1), np.int32)
    size = 0
    at = np.empty(width, np.int64)
    end = np.empty(width, np.int64)
    for number in range(start, stop):
        for row in range(bounds[number], bounds[number + 1] - 1):
            if not _open(sets, bounds, table, sets[row], at, end):
                continue
            for other in range(row + 1, bounds[number + 1]):
                met = _advance(sets, at, end, sets[other, width - 1])
                if met < 0:
                    break
                if met == 0:
                    continue
                if size == len(joined):
                    joined = np.concatenate((joined, np.empty_like(joined)))
                    subsets = np.concatenate((subsets, np.empty_like(subsets)))
                joined[size, :width] = sets[row]
                joined[size, width] = sets[other, width - 1]
                subsets[size, : width - 1] = at[: width - 1]
                subsets[size, width - 1] = other
                subsets[size, width] = row
                size += 1
    return joined[:size].copy(), subsets[:size].copy()


@compiled
def _open(sets, bounds, table, row, at, end):
    """Set the pointers to the classes of the row's items without each one but the last; tells whether all are there."""
    for skipped in range(row.size - 1):
        number = _class_of(sets, bounds, table, row, skipped)
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
        place = at[skipped]
        while place < end[skipped] and sets[place, last] < item:
            place += 1
        at[skipped] = place
        if place == end[skipped]:
            return -1
        if sets[place, last] != item:
            met = 0
    return met
