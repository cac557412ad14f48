"""Copies and sorts in loops: numba's own add two seconds, and one, to whatever compiles first."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


@compiled
def put(target, at, source):
    """Copy an array into another one, from a place on; where they overlap, toward the front only."""
    # Unsigned indices: Numba need not check for negative ones, which count from the end, and the loop is
    # vectorized.
    begin = np.uint64(at)
    for entry in range(np.uint64(source.size)):
        target[begin + entry] = source[entry]


@compiled
def grown(array, size):
    """Return a copy with room for ``size`` entries."""
    larger = np.empty(size, array.dtype)
    put(larger, 0, array)
    return larger


# Shell's sort with Knuth's steps: a few lines to compile, for short arrays. O(n^1.5) at worst.
@compiled
def ascend(values):
    """Sort an array in place."""
    step = 1
    while step < values.size // 3:
        step = 3 * step + 1
    while step > 0:
        for entry in range(step, values.size):
            value, at = values[entry], entry
            while at >= step and values[at - step] > value:
                values[at] = values[at - step]
                at -= step
            values[at] = value
        step //= 3
