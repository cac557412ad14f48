"""Stochastic rounding of components to a coarse grid, so that sums do not show which values went into them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

_DIGITS = 15
_FIRST, _SECOND, _THIRD = np.uint64(30), np.uint64(27), np.uint64(31)
_TIMES, _AGAIN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_TO_53_BITS, _BIT = np.uint64(11), 2.0**-53


def rounded_rows(
    indptr: NDArray[np.int64],
    points: NDArray[np.uint64],
    values: NDArray[np.float64],
    sums: NDArray[np.float64],
    bounds: NDArray[np.int64],
    salts: NDArray[np.uint64],
) -> NDArray[np.float64]:
    """Round the components of rows whose values are not counts.

    Row i holds ``values[indptr[i]:indptr[i + 1]]`` at the points of its items, and has the components
    ``sums[bounds[i]:bounds[i + 1]]``. ``salts`` has a number for each component. The definition, in plain Python, is
    :func:`discreet.publish.sketches.client.rounded`.
    """
    coarse = sums.copy()
    words = values.view(np.uint64)
    in_threads(
        lambda start, stop: _round(indptr, points, values, words, coarse, bounds, salts, start, stop),
        indptr.size - 1,
    )
    return coarse


@compiled
def _round(indptr, points, values, words, sums, bounds, salts, start, stop):
    for row in range(start, stop):
        low, high = indptr[row], indptr[row + 1]
        unit = _unit(np.sort(np.abs(values[low:high])))
        if unit == 0.0:
            continue
        record = np.uint64(0)
        for at in range(low, high):
            record += _mixed(points[at] ^ _mixed(words[at]))
        for place in range(bounds[row], bounds[row + 1]):
            fraction = (_mixed(record + salts[place - bounds[row]]) >> _TO_53_BITS) * _BIT
            sums[place] = math.floor(sums[place] / unit + fraction) * unit


@compiled
def _unit(sizes):
    """Return the power of two that is about half of the length of a record; 0 where its values are counts."""
    reach = 0.0
    for size in sizes:
        if size != math.floor(size) or size > reach + 1:
            break
        reach += size
    else:
        return 0.0
    _, exponent = math.frexp(sizes[-1])
    squares = 0
    for size in sizes:
        whole = math.floor(math.ldexp(size, _DIGITS - exponent))
        squares += whole * whole
    bits = 0
    while squares > 0:
        squares >>= 1
        bits += 1
    return math.ldexp(1.0, (bits - 2) // 2 + exponent - _DIGITS)


@compiled
def _mixed(word):
    word = (word ^ (word >> _FIRST)) * _TIMES
    word = (word ^ (word >> _SECOND)) * _AGAIN
    return word ^ (word >> _THIRD)
