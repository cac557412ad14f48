"""Mondrian's kernels: propose a cut for every segment of coded rows, split segments in place, count their values.

Rows are row-major codes with weights; a segment is a range of rows.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import ascend
from discreet.kernels.tables.cuts import code_room, even_cut, present_codes, width_of


# One pass over a segment's rows for the bounds and the weight, and one for each column that is tried.
@compiled
def propose_cuts(codes, weights, low, high, tried, smallest, relaxed, geometry):
    """Propose for each segment the widest column that has a cut with enough rows on both sides.

    Returns the column (-1: none), the last code on the left, and for a relaxed cut how much weight of the rows with
    that very code goes left (-1: all of it). ``tried`` marks columns, one bit each, that are not to be proposed.
    """
    n_columns = geometry.start.size
    column = np.full(low.size, -1, np.int32)
    cut = np.zeros(low.size, np.int32)
    quota = np.full(low.size, -1, np.int64)
    least = np.empty(n_columns, np.int64)
    most = np.empty(n_columns, np.int64)
    widths = np.empty(n_columns, np.float64)
    room = code_room(geometry)
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
            widths[j] = 0.0
            if not (tried[segment] >> np.uint64(j)) & np.uint64(1):
                widths[j] = width_of(least[j], most[j], j, geometry)
        for _ in range(n_columns):
            widest = np.argmax(widths)
            if widths[widest] <= 0.0:
                break
            n_present = present_codes(
                codes, weights, low[segment], high[segment], widest, least[widest], most[widest], room
            )
            if relaxed and geometry.height[widest] == 0 and least[widest] > 0:
                code_left, share = _even_share(room, n_present, total)
            else:
                code_left, _ = even_cut(
                    room, n_present, widest, least[widest], most[widest], total, smallest, geometry
                )
                share = np.int64(-1)
            if code_left >= 0:
                column[segment] = widest
                cut[segment] = code_left
                quota[segment] = share
                break
            widths[widest] = 0.0
    return column, cut, quota


@compiled
def _even_share(room, n_present, total):
    left = np.int64(0)
    for position in range(n_present):
        if left + room.counts[position] >= total // 2:
            return room.codes[position], total // 2 - left
        left += room.counts[position]
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


# Hoare's partition: two places move towards each other and swap what is on the wrong side. Rows before ``left`` are
# within the limit, those behind ``right`` above it. O(rows).
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


# One histogram over the column's codes, emptied through the values that occurred: its size is paid for once, not by
# segment. O(rows + values x log values + codes).
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
        ascend(values[begin:end])
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
