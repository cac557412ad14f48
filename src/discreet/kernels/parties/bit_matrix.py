"""Bit matrices: transposing, and the loops of oblivious transfer over rows of 128 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled


def transposed(columns: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the transpose of a matrix of bits with 64·a rows and 64·b columns, packed with the lowest bit first.

    >>> bits = np.zeros((64, 1), np.uint64)
    >>> bits[3] = 1 << 5
    >>> transposed(bits)[5]
    array([8], dtype=uint64)
    """
    rows = np.empty((64 * columns.shape[1], columns.shape[0] // 64), np.uint64)
    _transpose(columns, rows)
    return rows


def add_tweaks(blocks: NDArray[np.uint64], start: int, high: int, target: NDArray[np.uint64]) -> None:
    """Write blocks of 128 bits XOR their tweaks: (start + row) in the low word, ``high`` in the other."""
    _add_tweaks(blocks, np.uint64(start), np.uint64(high), target)


def shifted(rows: NDArray[np.uint64], by: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return every row XOR one and the same row."""
    target = np.empty_like(rows)
    _shift(rows, by, target)
    return target


def add_blocks(first: NDArray[np.uint64], other: NDArray[np.uint64], target: NDArray[np.uint64]) -> None:
    """Write the XOR of two arrays of blocks of 128 bits to a part of a larger array."""
    _add_blocks(first, other, target)


_LANES = 8
"""The words that are transposed side by side, as many as a vector of the processor holds."""


# 64 x 64 blocks, eight side by side: one step of the exchange then fills a vector. O(bits / 64 x log 64)
# operations.
@compiled
def _transpose(columns, rows):
    n_words = columns.shape[1]
    block = np.empty((64, _LANES), np.uint64)
    for group in range(rows.shape[1]):
        for word in range(0, n_words, _LANES):
            lanes = min(_LANES, n_words - word)
            for row in range(64):
                for lane in range(lanes):
                    block[row, lane] = columns[64 * group + row, word + lane]
            _transpose_blocks(block)
            for lane in range(lanes):
                for row in range(64):
                    rows[64 * (word + lane) + row, group] = block[row, lane]


# Recursive block transposition (Warren, Hacker's Delight 7-3): round r exchanges the off-diagonal quarters
# of blocks of 2 x width, the high half of a word with the low half of the one ``width`` below, by three
# XORs. Six rounds of 32 exchanges, where bit by bit it would be 4,096 moves.
@compiled
def _transpose_blocks(block):
    """Transpose blocks of 64 × 64 bits side by side, by exchanging ever smaller halves."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        for first in range(0, 64, 2 * width):
            for row in range(first, first + width):
                for lane in range(_LANES):
                    moved = ((block[row, lane] >> shift) ^ block[row + width, lane]) & mask
                    block[row + width, lane] ^= moved
                    block[row, lane] ^= moved << shift
        width >>= 1
        # The mask of the lower half of every 2 x width bits, halved: 00FF00FF from 0000FFFF.
        mask ^= mask << np.uint64(width)


@compiled
def _add_tweaks(blocks, start, high, target):
    for row in range(blocks.shape[0]):
        target[row, 0] = blocks[row, 0] ^ (start + np.uint64(row))
        target[row, 1] = blocks[row, 1] ^ high


@compiled
def _shift(rows, by, target):
    for row in range(rows.shape[0]):
        for word in range(rows.shape[1]):
            target[row, word] = rows[row, word] ^ by[word]


@compiled
def _add_blocks(left, right, target):
    for row in range(left.shape[0]):
        target[row, 0] = left[row, 0] ^ right[row, 0]
        target[row, 1] = left[row, 1] ^ right[row, 1]
