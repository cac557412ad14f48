"""Counting of itemsets over bit columns, block by block: all pairs as a triangle, longer sets by classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.itemsets.bits import WORDS, ones
from discreet.kernels.threads import in_threads, processors

TILE = 16
"""The columns of a tile of the triangle: half of a usual first cache."""


def item_counts(items: NDArray[np.int32], n_items: int) -> NDArray[np.int64]:
    """Count the entries of each item, in several threads and without a wider copy."""
    parts = in_threads(lambda start, stop: _tally(items[start:stop], n_items), items.size)
    return np.sum(parts, axis=0, dtype=np.int64) if parts else np.zeros(n_items, np.int64)


def pair_counts(blocks: NDArray[np.uint64], start: int, stop: int) -> NDArray[np.int32]:
    """Count the baskets that hold both items: ``[i - start, j]`` for i from start to stop and j > i, 0 elsewhere."""
    parts = in_threads(lambda first, last: _pairs(blocks[first:last], start, stop), blocks.shape[0])
    return _sum(parts, (stop - start, blocks.shape[1]))


def set_counts(blocks: NDArray[np.uint64], sets: NDArray[np.int32]) -> NDArray[np.int32]:
    """Count the baskets that hold all items of each set; the sets, one a row, must be in lexicographic order."""
    bounds = class_bounds(sets)
    n_blocks = blocks.shape[0]
    if n_blocks >= processors():
        parts = in_threads(
            lambda first, last: _sets(blocks[first:last], sets, bounds, 0, bounds.size - 1), n_blocks
        )
    else:
        parts = in_threads(lambda first, last: _sets(blocks, sets, bounds, first, last), bounds.size - 1)
    return _sum(parts, (len(sets),))


def class_bounds(sets: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where the classes of sets with the same items but the last begin, and the end of the last class."""
    return np.append(_starts(sets), len(sets))


def _sum(parts: list[NDArray[np.int32]], shape: tuple[int, ...]) -> NDArray[np.int32]:
    total = parts[0] if parts else np.zeros(shape, np.int32)
    for part in parts[1:]:
        total += part
    return total


@compiled
def _tally(items, n_items):
    counts = np.zeros(n_items, np.int64)
    for item in items:
        counts[item] += 1
    return counts


# Where runs of sets with the same items but the last begin; the sets are in order. O(sets x length).
@compiled
def _starts(sets):
    starts = np.empty(len(sets), np.int64)
    size = 0
    for row in range(len(sets)):
        fresh = row == 0
        for position in range(sets.shape[1] - 1):
            if not fresh and sets[row, position] != sets[row - 1, position]:
                fresh = True
        if fresh:
            starts[size] = row
            size += 1
    return starts[:size].copy()


# O(items squared x n / 64). Sums are of 32 bits: a block adds at most 8,192, and there are fewer than 2^31
# baskets.
@compiled
def _pairs(blocks, start, stop):
    """Count the triangle by tiles of columns that stay in the first cache, two rows by four columns at a time."""
    n_items = blocks.shape[1]
    counts = np.zeros((stop - start, n_items), np.int32)
    for block in range(blocks.shape[0]):
        columns = blocks[block]
        for left in range(start // TILE * TILE, n_items, TILE):
            right = min(left + TILE, n_items)
            i = start
            # Both rows lie left of the tile, so that no cell is on or below the diagonal; the rest goes one
            # by one.
            while i + 1 < min(stop, left) and right - left == TILE:
                for j in range(left, right, 4):
                    _two_by_four(columns, i, j, counts[i - start], counts[i + 1 - start])
                i += 2
            while i < min(stop, right):
                for j in range(max(left, i + 1), right):
                    counts[i - start, j] += _both(columns[i], columns[j])
                i += 1
    return counts


# Blocking by registers: six words are loaded for eight counts, where single pairs would load sixteen.
@compiled
def _two_by_four(columns, i, j, of_i, of_next):
    x, y = columns[i], columns[i + 1]
    a, b, c, d = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
    xa = xb = xc = xd = ya = yb = yc = yd = np.uint64(0)
    for word in range(WORDS):
        in_x, in_y = x[word], y[word]
        in_a, in_b, in_c, in_d = a[word], b[word], c[word], d[word]
        xa += ones(in_x & in_a)
        xb += ones(in_x & in_b)
        xc += ones(in_x & in_c)
        xd += ones(in_x & in_d)
        ya += ones(in_y & in_a)
        yb += ones(in_y & in_b)
        yc += ones(in_y & in_c)
        yd += ones(in_y & in_d)
    of_i[j] += np.int32(xa)
    of_i[j + 1] += np.int32(xb)
    of_i[j + 2] += np.int32(xc)
    of_i[j + 3] += np.int32(xd)
    of_next[j] += np.int32(ya)
    of_next[j + 1] += np.int32(yb)
    of_next[j + 2] += np.int32(yc)
    of_next[j + 3] += np.int32(yd)


@compiled
def _both(x, y):
    both = np.uint64(0)
    for word in range(WORDS):
        both += ones(x[word] & y[word])
    return np.int32(both)


# Rows are in lexicographic order, so a class shares a prefix with the one before it, whose ANDs are still on
# the stack. Invariant: ``stack[d]`` is the AND of the current prefix's first d + 1 columns, where it is
# alive. O(new prefix items + sets) x 128 words for each block.
@compiled
def _sets(blocks, sets, bounds, first_class, last_class):
    """Count by classes: the AND of a class's common items is kept on a stack and shared with the class before."""
    size = sets.shape[1]
    counts = np.zeros(len(sets), np.int32)
    stack = np.empty((size, WORDS), np.uint64)
    alive = np.empty(size, np.bool_)
    for block in range(blocks.shape[0]):
        columns = blocks[block]
        for number in range(first_class, last_class):
            row = bounds[number]
            shared = 0
            # The first class of a block finds the ANDs of another block: nothing is shared.
            if number > first_class:
                before = bounds[number - 1]
                while shared < size - 1 and sets[before, shared] == sets[row, shared]:
                    shared += 1
            for depth in range(shared, size - 1):
                _push(stack, alive, depth, columns[sets[row, depth]])
            if alive[size - 2]:
                prefix = stack[size - 2]
                for member in range(row, bounds[number + 1]):
                    counts[member] += _both(prefix, columns[sets[member, size - 1]])
    return counts


@compiled
def _push(stack, alive, depth, column):
    """Add an item to the stack of ANDs; an AND without any basket of this block is marked and not worked out on."""
    top = stack[depth]
    if depth == 0:
        put(top, 0, column)
        alive[0] = True
        return
    alive[depth] = alive[depth - 1]
    if alive[depth]:
        below = stack[depth - 1]
        some = np.uint64(0)
        for word in range(WORDS):
            bits = below[word] & column[word]
            top[word] = bits
            some |= bits
        alive[depth] = some != 0
