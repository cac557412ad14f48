"""Band order: Reverse Cuthill–McKee on baskets, without the matrix of who shares an item with whom.

Two baskets are neighbors where they share an item. Nobody writes the neighbors down: a breadth-first search goes
from a basket to its items and from each item, once, to its baskets. So its time is in proportion to the entries.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.itemsets.bits import BASKETS, WORDS, columns_of, ones
from discreet.kernels.threads import in_threads

EXACT = 1 << 17
"""The most baskets among which every neighbor is counted."""
SAMPLE = 1 << 16
"""How many baskets, evenly spaced, neighbors are counted among where there are more."""
_FEW = 4096
"""Up to how many baskets are sorted by comparing; more are marked in a bit string and read off."""


def band_order(indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int) -> NDArray[np.int32]:
    """Order baskets by Reverse Cuthill–McKee, component by component; baskets without items come last."""
    degree = degrees(indptr, items, n_items)
    ranked = np.argsort(degree, kind="stable").astype(np.int32)
    row_start, row_items = permuted(indptr, items, ranked)
    item_start, item_rows = transposed_rows(row_start, row_items, n_items)
    order: NDArray[np.int32] = ranked[_reverse_cuthill_mckee(row_start, row_items, item_start, item_rows)]
    return order


def degrees(indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int) -> NDArray[np.int32]:
    """Count the baskets that share an item with each basket, itself included; none for a basket without items.

    The bit columns of a basket's items are united and their ones counted. That takes time in proportion to the square
    of the number of baskets, so beyond ``EXACT`` of them neighbors are counted among a sample.
    """
    n = indptr.size - 1
    among_start, among_items = indptr, items
    if n > EXACT:
        chosen = (np.arange(SAMPLE) * n // SAMPLE).astype(np.int32)
        among_start, among_items = permuted(indptr, items, chosen)
    counts = np.bincount(among_items, minlength=n_items).astype(np.int32)
    degree: NDArray[np.int32] = _of_one_item(indptr, items, counts)
    columns = np.arange(n_items, dtype=np.int32)
    for first in range(0, among_start.size - 1, BASKETS):
        start = among_start[first : first + BASKETS + 1]
        block = columns_of(start - start[0], among_items[start[0] : start[-1]], columns, n_items)[0]
        in_threads(partial(_add_united, block, indptr, items, degree), n)
    return degree


def permuted(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return some rows, in the given order."""
    start = ragged.bounds(np.diff(indptr)[rows])
    chosen = np.empty(start[-1], np.int32)
    _permute(indptr, items, rows, start, chosen)
    return start, chosen


def transposed_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the rows of every item, ascending."""
    start = ragged.bounds(np.bincount(items, minlength=n_items))
    rows = np.empty(items.size, np.int32)
    _transpose(indptr, items, start[:-1].copy(), rows)
    return start, rows


@compiled
def _permute(indptr, items, rows, start, chosen):
    for at in range(rows.size):
        first = indptr[rows[at]]
        for entry in range(start[at + 1] - start[at]):
            chosen[start[at] + entry] = items[first + entry]


@compiled
def _transpose(indptr, items, position, rows):
    for row in range(indptr.size - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            item = items[entry]
            rows[position[item]] = row
            position[item] += 1


@compiled
def _of_one_item(indptr, items, counts):
    """Return the degree of every basket with a single item; the others start at 0."""
    degree = np.zeros(indptr.size - 1, np.int32)
    for row in range(degree.size):
        if indptr[row + 1] - indptr[row] == 1:
            degree[row] = counts[items[indptr[row]]]
    return degree


# The union of bit columns counts each neighbor once, however many items are shared. O(entries x 128 words)
# for each block.
@compiled
def _add_united(block, indptr, items, degree, start, stop):
    """Add a block's baskets that share an item to the degree of every basket with several items."""
    united = np.empty(WORDS, np.uint64)
    for row in range(start, stop):
        first, last = indptr[row], indptr[row + 1]
        if last - first < 2:
            continue
        column_a, column_b = block[items[first]], block[items[first + 1]]
        for word in range(WORDS):
            united[word] = column_a[word] | column_b[word]
        for entry in range(first + 2, last):
            column = block[items[entry]]
            for word in range(WORDS):
                united[word] |= column[word]
        total = np.uint64(0)
        for word in range(WORDS):
            total += ones(united[word])
        degree[row] += np.int32(total)


# Cuthill and McKee 1969, reversed as George 1971. Rows are numbered by degree beforehand, so that sorting
# neighbors by degree is sorting numbers, ties by position. Each component costs a few searches, O(entries)
# each.
@compiled
def _reverse_cuthill_mckee(row_start, row_items, item_start, item_rows):
    """Order rows that are numbered by ascending degree, so that the least number has the least degree."""
    n = row_start.size - 1
    visited = np.zeros(n, np.int32)
    used = np.zeros(item_start.size - 1, np.int32)
    order, tried = np.empty(n, np.int32), np.empty(n, np.int32)
    marks = np.zeros(n // 64 + 1, np.uint64)
    done = np.zeros(n, np.bool_)
    stamp, size = 0, 0
    for first in range(n):
        if done[first] or row_start[first + 1] == row_start[first]:
            continue
        start, stamp = _peripheral(
            first, row_start, row_items, item_start, item_rows, visited, used, stamp, tried, marks
        )
        stamp += 1
        end, _, _ = _search(
            start, row_start, row_items, item_start, item_rows, visited, used, stamp, order, size, marks
        )
        for at in range(size, end):
            done[order[at]] = True
        size = end
    put(order, 0, order[:size][::-1].copy())
    for row in range(n):
        if not done[row]:
            order[size] = row
            size += 1
    return order


# The depth grows with each search but the last. O(entries) for each search, of which few are needed.
@compiled
def _peripheral(row, row_start, row_items, item_start, item_rows, visited, used, stamp, tried, marks):
    """Find a row from which the component is deep (George & Liu): go to the farthest level while that goes deeper."""
    stamp += 1
    end, level, depth = _search(
        row, row_start, row_items, item_start, item_rows, visited, used, stamp, tried, 0, marks
    )
    while True:
        far = tried[level:end].min()
        stamp += 1
        end, level, deeper = _search(
            far, row_start, row_items, item_start, item_rows, visited, used, stamp, tried, 0, marks
        )
        if deeper <= depth:
            return row, stamp
        row, depth = far, deeper


@compiled
def _search(start, row_start, row_items, item_start, item_rows, visited, used, stamp, order, size, marks):
    """Write the Cuthill–McKee order of a component from ``size`` on; return its end, its last level and its depth."""
    visited[start] = stamp
    order[size] = start
    head, tail, level, depth = size, size + 1, size, 0
    level_end = tail
    while head < tail:
        if head == level_end:
            level, level_end, depth = head, tail, depth + 1
        row = order[head]
        head += 1
        begin = tail
        for entry in range(row_start[row], row_start[row + 1]):
            item = row_items[entry]
            if used[item] == stamp:
                continue
            # An item's list is read once a search: whoever is in it has been seen then. This avoids the
            # matrix.
            used[item] = stamp
            for position in range(item_start[item], item_start[item + 1]):
                other = item_rows[position]
                if visited[other] != stamp:
                    visited[other] = stamp
                    order[tail] = other
                    tail += 1
        _sort(order[begin:tail], marks)
    return tail, level, depth


# Insertion for a handful, comparisons for some; for very many a bit for each number, read off in order:
# O(n / 64 + rows).
@compiled
def _sort(rows, marks):
    """Sort different row numbers; the marks are all zero before and after."""
    if rows.size <= 16:
        for at in range(1, rows.size):
            row, position = rows[at], at
            while position > 0 and rows[position - 1] > row:
                rows[position] = rows[position - 1]
                position -= 1
            rows[position] = row
    elif rows.size <= _FEW:
        rows.sort()
    else:
        for row in rows:
            marks[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        size = 0
        for word in range(marks.size):
            rest = marks[word]
            marks[word] = np.uint64(0)
            while rest != 0:
                low = rest & (~rest + np.uint64(1))
                rows[size] = word * 64 + np.int64(ones(low - np.uint64(1)))
                size += 1
                rest ^= low
