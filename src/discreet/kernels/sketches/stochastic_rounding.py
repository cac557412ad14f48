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
    :func:`discreet.publish.sketches.client.rounded_sketch`.
    """
    coarse = sums.copy()
    words = values.view(np.uint64)
    in_threads(
        lambda start, stop: _round(indptr, points, values, words, coarse, bounds, salts, start, stop),
        indptr.size - 1,
    )
    return coarse


# floor(x / u + U) with U uniform on [0, 1) is x / u on average. U comes from a keyed hash of the record and
# not from a generator: who sees the same record sketched again learns nothing more. The words are added, and
# a sum has no order, so neither has the record.
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
        for component in range(bounds[row], bounds[row + 1]):
            fraction = (_mixed(record + salts[component - bounds[row]]) >> _TO_53_BITS) * _BIT
            sums[component] = math.floor(sums[component] / unit + fraction) * unit


@compiled
def _unit(sizes):
    """Return the power of two that is about half of the length of a record; 0 where its values are counts."""
    # Brown's criterion: where no value exceeds the sum of the smaller ones by more than 1, every whole
    # number up to the total is a sum of some of them.
    reach = 0.0
    for size in sizes:
        if size != math.floor(size) or size > reach + 1:
            break
        reach += size
    else:
        return 0.0
    _, exponent = math.frexp(sizes[-1])
    # In whole numbers of 15 bits, not floats: client and server must arrive at the same unit, to the bit,
    # whatever the order; the squares have 30 bits, and 2^33 of them fit.
    squares = 0
    for size in sizes:
        digits = math.floor(math.ldexp(size, _DIGITS - exponent))
        squares += digits * digits
    bits = 0
    while squares > 0:
        squares >>= 1
        bits += 1
    return math.ldexp(1.0, (bits - 2) // 2 + exponent - _DIGITS)


# The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection in which every bit depends on all.
@compiled
def _mixed(word):
    word = (word ^ (word >> _FIRST)) * _TIMES
    word = (word ^ (word >> _SECOND)) * _AGAIN
    return word ^ (word >> _THIRD)
