"""Copies between arrays, in loops: numba's own assignment of slices adds two seconds to whatever compiles first."""

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
