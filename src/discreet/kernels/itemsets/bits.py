"""Bit columns: one bit per basket and item, block-major, so that a block of every column fits the cache.

Block b holds the baskets from ``b * 8192`` on: for each item 128 words of 64 bits, basket t in bit ``t % 64`` of word
``t // 64`` of its block.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

WORDS = 128
"""The words of one column in one block."""
BASKETS = WORDS * 64
"""The baskets of one block."""
_PART = 8
"""The words that are filled at a time."""


# Numba has no population count of its own; LLVM's becomes one instruction, and vectors of them in a loop.
@intrinsic
def ones(context, word):
    """Count the ones of a word, in one instruction."""

    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen


def columns_of(
    indptr: NDArray[np.int64], items: NDArray[np.int32], column: NDArray[np.int32], n_columns: int
) -> NDArray[np.uint64]:
    """Set the bit of every item of every basket; ``column`` is an item's column, -1 for none."""
    n_blocks = -(-(indptr.size - 1) // BASKETS)
    blocks = np.zeros((n_blocks, n_columns, WORDS), np.uint64)
    placed = np.where(column < 0, np.int32(n_columns), column)
    in_threads(lambda start, stop: _set_bits(indptr, items, placed, blocks, start, stop), n_blocks)
    return blocks


def counts_of(blocks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Count the baskets of every column."""
    parts = in_threads(lambda start, stop: _count(blocks[start:stop]), blocks.shape[0])
    counts: NDArray[np.int64] = np.sum(parts, axis=0, dtype=np.int64)
    return counts


def rows_of(blocks: NDArray[np.uint64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the items of every basket again, ascending, as CSR arrays."""
    lengths = np.zeros(n, np.int64)
    in_threads(lambda start, stop: _lengths(blocks, lengths, start, stop), blocks.shape[0])
    indptr = ragged.bounds(lengths)
    items = np.empty(indptr[-1], np.int32)
    in_threads(lambda start, stop: _fill(blocks, indptr, items, start, stop), blocks.shape[0])
    return indptr, items


# Writes are scattered over all columns. A part has 8 words, one line of the cache, for each item, so that it
# stays near while 512 baskets are set; written to the block, columns are a kilobyte apart.
# O(entries + words).
@compiled
def _set_bits(indptr, items, column, blocks, start, stop):
    """Set bits in a small part of the columns at a time; items without a column go to one more, which is left."""
    n_columns = blocks.shape[1]
    part = np.zeros((n_columns + 1, _PART), np.uint64)
    for block in range(start, stop):
        for first_word in range(0, WORDS, _PART):
            first = block * BASKETS + first_word * 64
            last = min(first + _PART * 64, indptr.size - 1)
            if first >= last:
                break
            for basket in range(first, last):
                word = (basket - first) >> 6
                bit = np.uint64(1) << np.uint64(basket & 63)
                for entry in range(indptr[basket], indptr[basket + 1]):
                    # Items without a column have the number of the last one: cheaper than a branch at every
                    # entry.
                    part[column[items[entry]], word] |= bit
            for position in range(n_columns):
                for word in range(_PART):
                    blocks[block, position, first_word + word] = part[position, word]
            part[:] = 0


@compiled
def _count(blocks):
    counts = np.zeros(blocks.shape[1], np.int64)
    for block in range(blocks.shape[0]):
        for item in range(blocks.shape[1]):
            words = blocks[block, item]
            total = np.uint64(0)
            for word in range(WORDS):
                total += ones(words[word])
            counts[item] += np.int64(total)
    return counts


# O(words + ones): the lowest bit is split off, and the ones below it count its position.
@compiled
def _lengths(blocks, lengths, start, stop):
    for block in range(start, stop):
        for item in range(blocks.shape[1]):
            for word in range(WORDS):
                rest = blocks[block, item, word]
                first = block * BASKETS + word * 64
                while rest != 0:
                    low = rest & (~rest + np.uint64(1))
                    lengths[first + np.int64(ones(low - np.uint64(1)))] += 1
                    rest ^= low


# Columns are visited in ascending order, so that the items of every basket are too, without a sort.
@compiled
def _fill(blocks, indptr, items, start, stop):
    for block in range(start, stop):
        first = block * BASKETS
        n_here = min(BASKETS, indptr.size - 1 - first)
        position = indptr[first : first + n_here].copy()
        for item in range(blocks.shape[1]):
            for word in range(WORDS):
                rest = blocks[block, item, word]
                while rest != 0:
                    low = rest & (~rest + np.uint64(1))
                    basket = word * 64 + np.int64(ones(low - np.uint64(1)))
                    items[position[basket]] = item
                    position[basket] += 1
                    rest ^= low
