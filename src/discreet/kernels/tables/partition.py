"""Mondrian's kernels: propose a cut for every segment of coded rows, split segments in place, count their values.

Rows are row-major codes with weights; a segment is a range of rows. Columns are on a line (numbers, dates, ordered
and plain categories) or under a tree; code 0 is the null, which is on no line and never mixes well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled

_NARROWEST = 1e-12
"""The width of codes that differ by less than a float can represent; they may still be split."""


@dataclass(frozen=True)
class Geometry:
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

    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """Return the arrays in the order the kernels take them."""
        return (
            self.position, self.start, self.node, self.width, self.tree, self.height, self.card, self.weight
        )  # fmt: skip


@compiled
def propose_cuts(
    codes,
    weights,
    low,
    high,
    tried,
    smallest,
    relaxed,
    position,
    start,
    node,
    width,
    tree,
    height,
    card,
    weight,
):
    """Propose for each segment the widest column that has a cut with enough rows on both sides.

    Returns the column (-1: none), the last code on the left, and for a relaxed cut how much weight of the rows with
    that very code goes left (-1: all of it). ``tried`` marks columns, one bit each, that are not to be proposed.
    """
    n_columns = start.size
    column = np.full(low.size, -1, np.int32)
    cut = np.zeros(low.size, np.int32)
    quota = np.full(low.size, -1, np.int64)
    least = np.empty(n_columns, np.int64)
    most = np.empty(n_columns, np.int64)
    widths = np.empty(n_columns, np.float64)
    histogram = np.zeros(max(np.max(card), 1), np.int64)
    for segment in range(low.size):
        total = np.int64(0)
        for j in range(n_columns):
            least[j] = codes[low[segment], j]
            most[j] = least[j]
        for row in range(low[segment], high[segment]):
            total += weights[row]
            for j in range(n_columns):
                code = codes[row, j]
                if code < least[j]:
                    least[j] = code
                elif code > most[j]:
                    most[j] = code
        if total < 2 * smallest:
            continue
        for j in range(n_columns):
            if (tried[segment] >> np.uint64(j)) & np.uint64(1):
                widths[j] = 0.0
            else:
                widths[j] = weight[j] * _width(
                    least[j], most[j], j, position, start, width, node, tree, height, card
                )
        for _ in range(n_columns):
            widest = 0
            for j in range(1, n_columns):
                if widths[j] > widths[widest]:
                    widest = j
            if widths[widest] <= 0.0:
                break
            code_left, share = _cut(
                codes, weights, low[segment], high[segment], widest, least[widest], most[widest], total, smallest,
                relaxed, histogram, node, tree, height, card,
            )  # fmt: skip
            if code_left >= 0:
                column[segment] = widest
                cut[segment] = code_left
                quota[segment] = share
                break
            widths[widest] = 0.0
    return column, cut, quota


@compiled
def _width(least, most, j, position, start, width, node, tree, height, card):
    if least == most:
        return 0.0
    if height[j] == 0:
        if least == 0:
            return 1.0
        return max(position[start[j] + most] - position[start[j] + least], _NARROWEST)
    level = _shared(least, most, j, node, tree, height, card)
    return max(width[tree[j] + level * card[j] + most], _NARROWEST)


@compiled
def _shared(least, most, j, node, tree, height, card):
    for level in range(height[j]):
        at = tree[j] + level * card[j]
        if node[at + least] == node[at + most]:
            return level
    return height[j]


@compiled
def _distinct(codes, low, high, j):
    """Return the codes of a segment in a column, ascending, each once."""
    present = np.empty(high - low, np.int32)
    for position in range(present.size):
        present[position] = codes[low + position, j]
    present.sort()
    n = 0
    for code in present:
        if n == 0 or code != present[n - 1]:
            present[n] = code
            n += 1
    return present[:n].astype(np.int64)


@compiled
def _cut(
    codes, weights, low, high, j, least, most, total, smallest, relaxed, histogram, node, tree, height, card
):
    """Find the most even cut of a segment along a column, or -1; for a relaxed cut also the quota of the tied code."""
    span = most - least + 1
    if span > 8 * (high - low):
        present = _distinct(codes, low, high, j)
        counts = np.zeros(present.size, np.int64)
        for row in range(low, high):
            counts[np.searchsorted(present, codes[row, j])] += weights[row]
    else:
        for row in range(low, high):
            histogram[codes[row, j] - least] += weights[row]
        n_present = 0
        for offset in range(span):
            if histogram[offset]:
                n_present += 1
        present = np.empty(n_present, np.int64)
        counts = np.empty(n_present, np.int64)
        n_present = 0
        for offset in range(span):
            if histogram[offset]:
                present[n_present] = least + offset
                counts[n_present] = histogram[offset]
                histogram[offset] = 0
                n_present += 1
    if height[j] == 0:
        if least == 0 and counts[0] >= smallest and total - counts[0] >= smallest:
            return np.int64(0), np.int64(-1)
        if relaxed and least > 0:
            return _even_share(present, counts, total)
        at = np.int64(-1)
    else:
        at = tree[j] + (_shared(least, most, j, node, tree, height, card) - 1) * card[j]
    best = np.int64(-1)
    evenness = np.int64(-1)
    left = np.int64(0)
    for position in range(present.size - 1):
        left += counts[position]
        if at >= 0 and node[at + present[position]] == node[at + present[position + 1]]:
            continue
        if left >= smallest and total - left >= smallest:
            uneven = abs(2 * left - total)
            if evenness < 0 or uneven < evenness:
                evenness = uneven
                best = present[position]
        if 2 * left > total and evenness >= 0:
            break
    return best, np.int64(-1)


@compiled
def _even_share(present, counts, total):
    left = np.int64(0)
    for position in range(present.size):
        if left + counts[position] >= total // 2:
            return present[position], total // 2 - left
        left += counts[position]
    return np.int64(-1), np.int64(-1)


@compiled
def split(codes, weights, rows, low, high, column, cut, quota, draws):
    """Bring each segment's left rows to its front, in place; return where the right rows begin.

    Where only a quota of the tied rows goes left, each set of so many of them is equally likely: ``draws`` holds a
    random word for each row of the quotas, and no word is used twice. The cost is that of a partition.
    """
    middle = np.empty(low.size, low.dtype)
    drawn = 0
    for segment in range(low.size):
        j = column[segment]
        left = low[segment]
        right = high[segment] - 1
        limit = cut[segment] if quota[segment] < 0 else cut[segment] - 1
        left = _gather(codes, weights, rows, left, right, j, limit)
        if quota[segment] >= 0:
            tied = _gather(codes, weights, rows, left, right, j, cut[segment])
            end = min(left + quota[segment], tied)
            if end < tied:
                _draw(codes, weights, rows, left, end, tied, draws[drawn : drawn + quota[segment]])
            drawn += quota[segment]
            left = end
        middle[segment] = left
    return middle


@compiled
def _draw(codes, weights, rows, first, end, last, draws):
    """Bring rows drawn at random out of a range to its front, up to an end, as the first steps of a shuffle do.

    The words have 64 bits, so the remainder favors no row by more than the number of rows over 2 to the 64.
    """
    for position in range(first, end):
        chosen = position + np.int64(draws[position - first] % np.uint64(last - position))
        if chosen != position:
            _swap(codes, weights, rows, position, chosen)


@compiled
def _gather(codes, weights, rows, left, right, j, limit):
    """Bring the rows whose code is at most the limit to the front; return where the others begin."""
    while True:
        while left <= right and codes[left, j] <= limit:
            left += 1
        while right >= left and codes[right, j] > limit:
            right -= 1
        if left >= right:
            return left
        _swap(codes, weights, rows, left, right)
        left += 1
        right -= 1


@compiled
def _swap(codes, weights, rows, first, second):
    for column in range(codes.shape[1]):
        code = codes[first, column]
        codes[first, column] = codes[second, column]
        codes[second, column] = code
    row = rows[first]
    rows[first] = rows[second]
    rows[second] = row
    weight = weights[first]
    weights[first] = weights[second]
    weights[second] = weight


@compiled
def sizes_of(weights, low, high):
    """Sum the weights of each segment."""
    sizes = np.zeros(low.size, np.int64)
    for segment in range(low.size):
        for row in range(low[segment], high[segment]):
            sizes[segment] += weights[row]
    return sizes


@compiled
def values_of(codes, weights, low, high, column, card):
    """Count the values of one column in each segment, as CSR arrays with ascending values."""
    indptr = np.zeros(low.size + 1, np.int64)
    room = np.int64(0)
    for segment in range(low.size):
        room += min(high[segment] - low[segment], card)
    values = np.empty(room, np.int32)
    counts = np.empty(room, np.int64)
    histogram = np.zeros(card, np.int64)
    end = np.int64(0)
    for segment in range(low.size):
        begin = end
        for row in range(low[segment], high[segment]):
            code = codes[row, column]
            if histogram[code] == 0:
                values[end] = code
                end += 1
            histogram[code] += weights[row]
        values[begin:end].sort()
        for position in range(begin, end):
            counts[position] = histogram[values[position]]
            histogram[values[position]] = 0
        indptr[segment + 1] = end
    return indptr, values[:end].copy(), counts[:end].copy()


@compiled
def bounds_of(codes, low, high, n_columns):
    """Return the least and the largest code of each column in each segment."""
    least = np.empty((low.size, n_columns), np.int32)
    most = np.empty((low.size, n_columns), np.int32)
    for segment in range(low.size):
        for j in range(n_columns):
            least[segment, j] = codes[low[segment], j]
            most[segment, j] = least[segment, j]
        for row in range(low[segment] + 1, high[segment]):
            for j in range(n_columns):
                code = codes[row, j]
                if code < least[segment, j]:
                    least[segment, j] = code
                elif code > most[segment, j]:
                    most[segment, j] = code
    return least, most
