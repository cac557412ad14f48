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


@compiled
def _transpose(columns, rows):
    block = np.empty(64, np.uint64)
    for group in range(rows.shape[1]):
        for word in range(columns.shape[1]):
            for row in range(64):
                block[row] = columns[64 * group + row, word]
            width = 32
            mask = np.uint64(0x00000000FFFFFFFF)
            while width:
                first = 0
                while first < 64:
                    for row in range(first, first + width):
                        moved = ((block[row] >> np.uint64(width)) ^ block[row + width]) & mask
                        block[row + width] ^= moved
                        block[row] ^= moved << np.uint64(width)
                    first += 2 * width
                width >>= 1
                mask ^= mask << np.uint64(width)
            for row in range(64):
                rows[64 * word + row, group] = block[row]


@compiled
def _add_tweaks(blocks, start, high, target):
    for row in range(blocks.shape[0]):
        target[row, 0] = blocks[row, 0] ^ (start + np.uint64(row))
        target[row, 1] = blocks[row, 1] ^ high
