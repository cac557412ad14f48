"""A visit of every lattice node: depth first over sorted keys, all levels of the innermost column in one scan.

Keys hold one field of bits per column, the outermost column in the highest bits, and are sorted. Raising a column by
one level keeps the blocks of equal outer fields together, so that within each block only the runs of codes that
became equal are merged. The innermost column is never raised: one scan of the sorted keys sees the classes of all its
levels. Nothing is kept but one buffer of keys per column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put

# Merging reads a block once for every run; with more of them a sort is faster.
_FEW_RUNS = 6


class Fields(NamedTuple):
    """The columns, outermost first: where each is in a key, its levels, and its tables end to end.

    ``parents[start[j, l] + code]`` is the code one level up from level l of column j; ``losses`` has the weighted loss
    of each code at the same place. ``nodes[l, code]`` is the innermost column's code at level l of its code at the
    bottom. ``strides`` is what one level of a column adds to a node's number.
    """

    shift: NDArray[np.int64]
    bits: NDArray[np.int64]
    dims: NDArray[np.int64]
    strides: NDArray[np.int64]
    start: NDArray[np.int64]
    parents: NDArray[np.int64]
    losses: NDArray[np.float64]
    nodes: NDArray[np.int64]


class Found(NamedTuple):
    """For every node: rows in classes too small, their loss, the sum of squared kept sizes, the classes kept."""

    suppressed: NDArray[np.int64]
    suppressed_loss: NDArray[np.float64]
    squares: NDArray[np.int64]
    kept: NDArray[np.int64]


def visit(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    fields: Fields,
    outermost: int,
    smallest: int,
    limit: int,
    results: Found,
) -> None:
    """Visit every node whose outermost column is at one level, writing what is found at the nodes' numbers.

    ``keys`` are sorted, with every column at its bottom level.
    """
    _visit(keys, counts, *fields, outermost, smallest, limit, *results)


# Depth-first, the levels counted through like an odometer. ``key[d]`` has the columns up to d raised and
# those behind at the bottom, so that a step of column d starts from its level before, not from the table.
# Memory O(keys x columns); time O(keys) a step, and there is one step for all levels of the innermost
# column.
@compiled
def _visit(
    keys,
    counts,
    shift,
    bits,
    dims,
    strides,
    start,
    parents,
    losses,
    nodes,
    outermost,
    smallest,
    limit,
    *results,
):
    last = dims.size - 1
    width = keys.size
    key = np.empty((max(last, 1), width), np.int64)
    count = np.empty((max(last, 1), width), np.int64)
    spare_key = np.empty(width, np.int64)
    spare_count = np.empty(width, np.int64)
    size = np.zeros(max(last, 1), np.int64)
    level = np.zeros(dims.size, np.int64)
    put(key[0], 0, keys)
    put(count[0], 0, counts)
    size[0] = width
    if last == 0:
        _scan(
            key[0],
            count[0],
            width,
            level,
            shift,
            bits,
            start,
            losses,
            nodes,
            strides,
            smallest,
            limit,
            *results,
        )
        return
    for low in range(outermost):
        size[0] = _raise(
            key[0], count[0], size[0], shift[0], bits[0], parents[start[0, low] :], spare_key, spare_count
        )
    level[0] = outermost
    depth = 0
    while True:
        for inner in range(depth + 1, last):
            size[inner] = size[inner - 1]
            for row in range(size[inner]):
                key[inner, row] = key[inner - 1, row]
                count[inner, row] = count[inner - 1, row]
            level[inner] = 0
        depth = last - 1
        _scan(
            key[depth], count[depth], size[depth], level, shift, bits, start, losses, nodes, strides, smallest,
            limit, *results,
        )  # fmt: skip
        while depth > 0 and level[depth] == dims[depth] - 1:
            depth -= 1
        if depth == 0:
            return
        size[depth] = _raise(
            key[depth], count[depth], size[depth], shift[depth], bits[depth],
            parents[start[depth, level[depth]] :], spare_key, spare_count,
        )  # fmt: skip
        level[depth] += 1


# Codes ascend from parent to parent, so that after mapping equal outer fields are still neighbors; inside
# such a block every old code contributes an ascending run. ``written`` never passes what is read, since
# merging only shortens.
@compiled
def _raise(key, count, size, shift, bits, parents, spare_key, spare_count):
    """Raise one field by a level, in place: map its codes, merge the runs of each block; return the new size."""
    mask = (np.int64(1) << bits) - 1
    for row in range(size):
        code = (key[row] >> shift) & mask
        key[row] += (parents[code] - code) << shift
    written = np.int64(0)
    begin = np.int64(0)
    while begin < size:
        block = key[begin] >> shift
        end = begin + 1
        runs = 1
        while end < size and key[end] >> shift == block:
            if key[end] <= key[end - 1]:
                runs += 1
            end += 1
        if runs == 1:
            for row in range(begin, end):
                key[written] = key[row]
                count[written] = count[row]
                written += 1
        elif runs <= _FEW_RUNS:
            written = _merge_runs(key, count, begin, end, written, spare_key, spare_count)
        else:
            written = _sort_block(key, count, begin, end, written, spare_key, spare_count)
        begin = end
    return written


# Invariant: the spare arrays hold the merger of all runs before ``first``. Rows up to ``stop`` are copied
# before they are overwritten.
@compiled
def _merge_runs(key, count, begin, end, written, spare_key, spare_count):
    """Merge a block's ascending runs one after the other, adding up equal keys."""
    merged = np.int64(0)
    first = begin
    while first < end:
        stop = first + 1
        while stop < end and key[stop] > key[stop - 1]:
            stop += 1
        left = np.int64(0)
        right = first
        at = written
        if merged == 0:
            for row in range(first, stop):
                spare_key[row - first] = key[row]
                spare_count[row - first] = count[row]
            merged = stop - first
            first = stop
            continue
        total = np.int64(0)
        n_merged = merged
        for row in range(first, stop):
            spare_key[n_merged + row - first] = key[row]
            spare_count[n_merged + row - first] = count[row]
        right = n_merged
        limit = n_merged + stop - first
        while left < n_merged or right < limit:
            if right >= limit or (left < n_merged and spare_key[left] < spare_key[right]):
                key[at + total] = spare_key[left]
                count[at + total] = spare_count[left]
                left += 1
            elif left >= n_merged or spare_key[right] < spare_key[left]:
                key[at + total] = spare_key[right]
                count[at + total] = spare_count[right]
                right += 1
            else:
                key[at + total] = spare_key[left]
                count[at + total] = spare_count[left] + spare_count[right]
                left += 1
                right += 1
            total += 1
        if stop < end:
            for row in range(total):
                spare_key[row] = key[at + row]
                spare_count[row] = count[at + row]
        merged = total
        first = stop
    return written + merged


@compiled
def _sort_block(key, count, begin, end, written, spare_key, spare_count):
    """Sort a block of many runs, adding up equal keys."""
    order = np.argsort(key[begin:end])
    n_rows = end - begin
    for row in range(n_rows):
        spare_key[row] = key[begin + order[row]]
        spare_count[row] = count[begin + order[row]]
    at = written
    key[at] = spare_key[0]
    count[at] = spare_count[0]
    for row in range(1, n_rows):
        if spare_key[row] == key[at]:
            count[at] += spare_count[row]
        else:
            at += 1
            key[at] = spare_key[row]
            count[at] = spare_count[row]
    return at + 1


# A class of level l ends where the outer fields or the node of level l change. Where a level's node stays,
# so do all above it, so that closing stops there. One more turn behind the last row closes what is open.
# O(rows x levels).
@compiled
def _scan(
    key,
    count,
    size,
    level,
    shift,
    bits,
    start,
    losses,
    nodes,
    strides,
    smallest,
    limit,
    suppressed,
    loss,
    squares,
    kept,
):
    """Find the classes of all levels of the innermost column, and write what they do."""
    last = shift.size - 1
    n_levels = nodes.shape[0]
    number = np.int64(0)
    for column in range(last):
        number += level[column] * strides[column]
    mask = (np.int64(1) << bits[last]) - 1
    running = np.zeros(n_levels, np.int64)
    current = np.zeros(n_levels, np.int64)
    few = np.zeros(n_levels, np.int64)
    lost = np.zeros(n_levels, np.float64)
    square = np.zeros(n_levels, np.int64)
    classes = np.zeros(n_levels, np.int64)
    outer = np.int64(-1)
    outer_loss = 0.0
    for row in range(size + 1):
        ended = row == size
        here = np.int64(-2) if ended else key[row] >> bits[last]
        code = np.int64(0) if ended else key[row] & mask
        new_outer = here != outer
        for at in range(n_levels):
            node = nodes[at, code]
            if not new_outer and node == current[at]:
                break
            if row > 0:
                total = running[at]
                if total < smallest:
                    few[at] += total
                    lost[at] += total * (outer_loss + losses[start[last, at] + current[at]])
                else:
                    square[at] += total * total
                    classes[at] += 1
                running[at] = 0
            current[at] = node
        if ended:
            break
        for at in range(n_levels):
            running[at] += count[row]
        if new_outer:
            outer = here
            if limit > 0:
                outer_loss = 0.0
                for column in range(last):
                    field = (key[row] >> shift[column]) & ((np.int64(1) << bits[column]) - 1)
                    outer_loss += losses[start[column, level[column]] + field]
    for at in range(n_levels):
        node_number = number + at * strides[last]
        suppressed[node_number] = few[at]
        loss[node_number] = lost[at] if few[at] <= limit else 0.0
        squares[node_number] = square[at]
        kept[node_number] = classes[at]
