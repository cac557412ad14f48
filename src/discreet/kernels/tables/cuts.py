"""Cuts of a segment along one column: how wide the segment is there, which codes it has, and where its middle is.

Columns are on a line (numbers, dates, ordered and plain categories) or under a tree; code 0 is the null, which is on no
line and never mixes well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled, compiled_step
from discreet.kernels.copies import ascend

_NARROWEST = 1e-12
"""The width of codes that differ by less than a float can represent; they may still be split."""
_FEW = 32
"""Rows up to which inserting one after the other is quicker than counting."""


class Geometry(NamedTuple):
    """Distances between codes: for lines a position in [0, 1] per code, for trees a node and a width per level.

    The arrays of all columns are joined end to end; ``start[j]`` is where column j's codes begin in ``position``,
    ``tree[j]`` where its nodes begin in ``node`` and ``width`` (level by level), ``height[j]`` its number of levels
    above the leaves (0: a line), ``card[j]`` its number of codes, ``weight[j]`` its weight.
    """

    position: NDArray[np.float64]
    start: NDArray[np.int64]
    node: NDArray[np.int32]
    width: NDArray[np.float64]
    tree: NDArray[np.int64]
    height: NDArray[np.int64]
    card: NDArray[np.int64]
    weight: NDArray[np.float64]


class CodeRoom(NamedTuple):
    """The codes of a segment in a column, ascending, with their weights; and room to count in, zero between uses."""

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    histogram: NDArray[np.int64]


@compiled
def code_room(geometry):
    """Return room for the codes of any column."""
    size = np.int64(_FEW)
    for card in geometry.card:
        size = max(size, card)
    return CodeRoom(np.empty(size, np.int64), np.empty(size, np.int64), np.zeros(size, np.int64))


@compiled_step
def width_of(least, most, j, geometry):
    """Return the weighted width of column j between two codes; 0 where they are equal."""
    if least == most:
        return 0.0
    if geometry.height[j] > 0:
        level = _shared(least, most, j, geometry)
        width = geometry.width[geometry.tree[j] + level * geometry.card[j] + most]
    elif least == 0:
        return geometry.weight[j]
    else:
        position = geometry.position[geometry.start[j] :]
        width = position[most] - position[least]
    return geometry.weight[j] * max(width, _NARROWEST)


@compiled_step
def _shared(least, most, j, geometry):
    """Return the lowest level at which two codes are under one node."""
    for level in range(geometry.height[j]):
        at = geometry.tree[j] + level * geometry.card[j]
        if geometry.node[at + least] == geometry.node[at + most]:
            return level
    return geometry.height[j]


# A few rows are inserted one after the other, many counted by code, and rows with far fewer codes than the span
# of those sorted: O(rows^2) up to 32, O(rows + span) up to a span of 8 times the rows, O(rows log rows) above.
@compiled_step
def present_codes(codes, weights, low, high, j, least, most, room):
    """Fill in which codes a segment has in column j, ascending, with their weights; return how many."""
    n_present = 0
    if high - low <= _FEW:
        for row in range(low, high):
            code = np.int64(codes[row, j])
            at = n_present
            while at > 0 and room.codes[at - 1] > code:
                at -= 1
            if at > 0 and room.codes[at - 1] == code:
                room.counts[at - 1] += weights[row]
                continue
            for behind in range(n_present, at, -1):
                room.codes[behind] = room.codes[behind - 1]
                room.counts[behind] = room.counts[behind - 1]
            room.codes[at] = code
            room.counts[at] = weights[row]
            n_present += 1
        return n_present
    if most - least + 1 > 8 * (high - low):
        return _sorted_codes(codes, weights, low, high, j, room)
    for row in range(low, high):
        room.histogram[codes[row, j]] += weights[row]
    for code in range(least, most + 1):
        if room.histogram[code]:
            room.codes[n_present] = code
            room.counts[n_present] = room.histogram[code]
            room.histogram[code] = 0
            n_present += 1
    return n_present


# For few rows over a wide range of codes: the codes are sorted and each row's is found by bisection. O(rows x log
# rows), whatever the range.
@compiled
def _sorted_codes(codes, weights, low, high, j, room):
    some = np.empty(high - low, np.int64)
    for row in range(low, high):
        some[row - low] = codes[row, j]
    ascend(some)
    n_present = 0
    for code in some:
        if n_present == 0 or code != room.codes[n_present - 1]:
            room.codes[n_present] = code
            room.counts[n_present] = 0
            n_present += 1
    for row in range(low, high):
        first, last = 0, n_present - 1
        while first < last:
            middle = (first + last) // 2
            if room.codes[middle] < codes[row, j]:
                first = middle + 1
            else:
                last = middle
        room.counts[first] += weights[row]
    return n_present


# Cuts lie between neighboring codes; under a tree only between those below different children of the lowest
# node that holds all. Behind the middle cuts only get less even. O(codes).
@compiled_step
def even_cut(room, n_present, j, least, most, total, smallest, geometry):
    """Return the last code left of the most even cut with enough on both sides, and the weight there; -1 for none.

    Nulls on a line are cut off first, where both sides are large enough.
    """
    at = np.int64(-1)
    if geometry.height[j] > 0:
        at = geometry.tree[j] + (_shared(least, most, j, geometry) - 1) * geometry.card[j]
    elif least == 0 and room.counts[0] >= smallest and total - room.counts[0] >= smallest:
        return np.int64(0), room.counts[0]
    best = np.int64(-1)
    best_left = np.int64(0)
    evenness = np.int64(-1)
    left = np.int64(0)
    for position in range(n_present - 1):
        left += room.counts[position]
        if at >= 0:
            node, next_node = at + room.codes[position], at + room.codes[position + 1]
            if geometry.node[node] == geometry.node[next_node]:
                continue
        if left >= smallest and total - left >= smallest:
            uneven = abs(2 * left - total)
            if evenness < 0 or uneven < evenness:
                evenness = uneven
                best = room.codes[position]
                best_left = left
        if 2 * left > total and evenness >= 0:
            break
    return best, best_left
