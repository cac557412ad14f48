"""Strict Mondrian depth first: a segment is cut to its end while it is in the cache, and rows move as whole words."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from discreet.kernels.compiled import compiled, compiled_step
from discreet.kernels.copies import grown
from discreet.kernels.tables.class_rules import judge_class, shares_of
from discreet.kernels.tables.cuts import code_room, even_cut, present_codes, width_of

BLOCK = 32
"""The bytes that are compared at once; the words of a row, a power of two of them, divide it."""


# A loop over the rows of a matrix keeps a minimum for each column in memory; a vector holds those of several rows.
# On processors with narrower vectors, LLVM takes several for one.
@intrinsic
def block_bounds(context, first, n_blocks, last, bounds, code):
    """Write the least and the largest code in each place of some blocks, and of one more at ``last``; by addresses."""
    bits = code.bitwidth

    def codegen(context, builder, signature, arguments):
        first, n_blocks, last, bounds, _ = arguments
        vector = ir.VectorType(ir.IntType(bits), BLOCK * 8 // bits)
        word = ir.IntType(64)

        def block_at(address):
            block = builder.load(builder.inttoptr(address, vector.as_pointer()))
            block.align = 1
            return block

        def put(block, address):
            builder.store(block, builder.inttoptr(address, vector.as_pointer())).align = 1

        begin = block_at(last)
        least, most = (cgutils.alloca_once_value(builder, begin) for _ in range(2))
        with cgutils.for_range(builder, n_blocks, intp=word) as loop:
            block = block_at(builder.add(first, builder.mul(loop.index, ir.Constant(word, BLOCK))))
            for extreme, relation in ((least, "<"), (most, ">")):
                so_far = builder.load(extreme)
                is_further = builder.icmp_unsigned(relation, block, so_far)
                builder.store(builder.select(is_further, block, so_far), extreme)
        put(builder.load(least), bounds)
        put(builder.load(most), builder.add(bounds, ir.Constant(word, BLOCK)))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64, code), codegen


# Codes are row-major, padded to whole words; ``words`` is the same memory. A segment's weight comes from the cut
# that made it, its bounds from vectors, and its right half waits on a stack while the left is cut, so that
# segments end in the order of their rows. Each row is read some times on each of the O(log n) levels.
@compiled
def divide(codes, words, weights, rows, total, smallest, geometry, sensitive, first_cell, overall, rules):
    """Cut rows into segments, in place; return where each begins, and whether sensitive values refused a cut.

    ``sensitive`` are the columns that the rules look at, and ``first_cell`` where the cells of each begin.
    """
    n_columns = geometry.start.size
    share = shares_of(overall, total, rules)
    halves = np.zeros((2, overall.size), np.int32)
    extremes = np.empty((2, BLOCK // (words.shape[1] * 8), codes.shape[1]), codes.dtype)
    at_codes, at_extremes = np.int64(codes.ctypes.data), np.int64(extremes.ctypes.data)
    least = np.empty(n_columns, np.int64)
    most = np.empty(n_columns, np.int64)
    widths = np.empty(n_columns, np.float64)
    room = code_room(geometry)
    ends = np.empty(1024, np.int64)
    ends[0] = rows.size
    totals = np.empty(1024, np.int64)
    totals[0] = total
    n_waiting = 1
    begins = np.empty(1024, np.int32)
    n_segments = 0
    refused = False
    low = np.int64(0)
    while n_waiting > 0:
        high, size = ends[n_waiting - 1], totals[n_waiting - 1]
        column = np.int64(-1)
        code_left, left = np.int64(-1), np.int64(0)
        if size >= 2 * smallest and high - low > 1:
            _bounds(codes, at_codes, low, high, extremes, at_extremes, least, most)
            for j in range(n_columns):
                widths[j] = width_of(least[j], most[j], j, geometry)
            while True:
                column = np.int64(0)
                for j in range(1, n_columns):
                    if widths[j] > widths[column]:
                        column = np.int64(j)
                if widths[column] <= 0.0:
                    break
                n_present = present_codes(
                    codes, weights, low, high, column, least[column], most[column], room
                )
                code_left, left = even_cut(
                    room, n_present, column, least[column], most[column], size, smallest, geometry
                )
                if code_left >= 0 and sensitive.size:
                    _count_halves(codes, weights, low, high, column, code_left, sensitive, first_cell, halves)
                    if not (
                        judge_class(halves[0], left, share, rules)[0]
                        and judge_class(halves[1], size - left, share, rules)[0]
                    ):
                        code_left = np.int64(-1)
                        refused = True
                if code_left >= 0:
                    break
                widths[column] = 0.0
        if code_left < 0:
            if n_segments == begins.size:
                begins = grown(begins, 2 * n_segments)
            begins[n_segments] = low
            n_segments += 1
            n_waiting -= 1
            low = high
            continue
        if n_waiting == ends.size:
            ends, totals = grown(ends, 2 * n_waiting), grown(totals, 2 * n_waiting)
        totals[n_waiting - 1] = size - left
        ends[n_waiting] = _bring_left(codes, words, weights, rows, low, high, column, code_left)
        totals[n_waiting] = left
        n_waiting += 1
    return begins[:n_segments].copy(), refused


@compiled_step
def _bounds(codes, at_codes, low, high, extremes, at_extremes, least, most):
    """Find the least and the largest code of each column; the last block may overlap the one before."""
    per_block = extremes.shape[1]
    if high - low < per_block:
        for j in range(least.size):
            least[j] = most[j] = codes[low, j]
            for row in range(low + 1, high):
                least[j] = min(least[j], codes[row, j])
                most[j] = max(most[j], codes[row, j])
        return
    bytes_of_row = BLOCK // per_block
    block_bounds(
        at_codes + low * bytes_of_row,
        (high - low) // per_block,
        at_codes + high * bytes_of_row - BLOCK,
        at_extremes,
        codes[0, 0],
    )
    for j in range(least.size):
        least[j] = extremes[0, 0, j]
        most[j] = extremes[1, 0, j]
        for row in range(1, per_block):
            least[j] = min(least[j], extremes[0, row, j])
            most[j] = max(most[j], extremes[1, row, j])


@compiled_step
def _count_halves(codes, weights, low, high, column, code_left, sensitive, first_cell, halves):
    """Count the sensitive values on both sides of a cut. O(rows + cells)."""
    for cell in range(halves.shape[1]):
        halves[0, cell] = 0
        halves[1, cell] = 0
    for row in range(low, high):
        half = np.int64(codes[row, column] > code_left)
        for number in range(sensitive.size):
            halves[half, first_cell[number] + codes[row, sensitive[number]]] += weights[row]


# No branch depends on a row: each changes places with the first that is not known to go left, which is itself
# until one stays behind.
@compiled_step
def _bring_left(codes, words, weights, rows, low, high, column, code_left):
    """Bring the rows with codes up to a cut to the front; return where the others begin."""
    at = low
    if words.shape[1] == 1:
        for row in range(low, high):
            goes_left = np.int64(codes[row, column] <= code_left)
            word = words[row, 0]
            words[row, 0] = words[at, 0]
            words[at, 0] = word
            weight, number = weights[row], rows[row]
            weights[row], rows[row] = weights[at], rows[at]
            weights[at], rows[at] = weight, number
            at += goes_left
        return at
    for row in range(low, high):
        goes_left = np.int64(codes[row, column] <= code_left)
        for part in range(words.shape[1]):
            word = words[row, part]
            words[row, part] = words[at, part]
            words[at, part] = word
        weight, number = weights[row], rows[row]
        weights[row], rows[row] = weights[at], rows[at]
        weights[at], rows[at] = weight, number
        at += goes_left
    return at
