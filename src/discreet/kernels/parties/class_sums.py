"""Sums and sums of squares by class in one pass, exact in integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled

_LIMB = 20
_BLOCK = 1 << 22
"""The rows whose products of limbs are surely summed in 64 bits."""


def class_sums(
    rows: NDArray[np.int64], labels: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Return the rows, the sums and the sums of squares of each class; values must lie within ±2^39.

    >>> counts, sums, squares = class_sums(np.array([[3], [-4], [1 << 38]]), np.array([0, 0, 1]), 2)
    >>> counts.tolist(), sums.tolist(), squares == [25, 1 << 76]
    ([2, 1], [[-1], [274877906944]], True)
    """
    counts = np.zeros(n_classes, np.int64)
    sums = np.zeros((n_classes, rows.shape[1]), np.int64)
    squares = [0] * sums.size
    for start in range(0, rows.shape[0], _BLOCK):
        block = slice(start, start + _BLOCK)
        parts = np.zeros((3, n_classes, rows.shape[1]), np.int64)
        _add(np.ascontiguousarray(rows[block]), labels[block], counts, sums, parts)
        low, crossed, high = (part.reshape(-1).tolist() for part in parts)
        for at, (a, b, c) in enumerate(zip(low, crossed, high, strict=True)):
            squares[at] += a + (b << _LIMB + 1) + (c << 2 * _LIMB)
    return counts, sums, squares


# A square has up to 78 bits. In limbs of 20 bits, v = high 2^20 + low, its three products stay below 2^40,
# and those of a block fit 64 bits; the caller joins blocks in Python's integers. The shift rounds down and
# the mask is of two's complement, so that this holds for negative values too. O(rows x columns).
@compiled
def _add(rows, labels, counts, sums, parts):
    for i in range(rows.shape[0]):
        label = labels[i]
        counts[label] += 1
        for c in range(rows.shape[1]):
            value = rows[i, c]
            low, high = value & 1048575, value >> 20
            sums[label, c] += value
            parts[0, label, c] += low * low
            parts[1, label, c] += low * high
            parts[2, label, c] += high * high
