"""Values on a grid: rounded just enough that their sums are exact, in any order and with any signs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads


def on_grid(indptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round the values of each row, none of them zero, to multiples of a power of two.

    A row of n values below 2^e in size gets the unit 2^(e + ⌈log2 n⌉ − 53), so that any sum of them fits 53 bits.
    """
    rounded = np.empty_like(values)
    in_threads(lambda start, stop: _on_grid(indptr, values, rounded, start, stop), indptr.size - 1)
    return rounded


def spare_squares(indptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the squares of each row but the largest.

    Nothing is subtracted, and what an addition rounds off is added up too, so that the error does not grow with n.
    """
    sums = np.empty(indptr.size - 1, np.float64)
    in_threads(lambda start, stop: _spare_squares(indptr, values, sums, start, stop), sums.size)
    return sums


def inspect(
    indptr: NDArray[np.int64],
    columns: NDArray[Any],
    values: NDArray[np.float64],
    n_columns: int,
    marked: NDArray[np.bool_],
    low: float,
    high: float,
) -> tuple[int, int, int, int, int]:
    """Look at rows once: mark the columns that occur in values other than zero, if there is room for all columns.

    Counts the values that are zero, those that are not one, those that are not finite, the rows whose largest value
    is not between low and high, and the entries whose column is none of the n.
    """
    counts = in_threads(
        lambda start, stop: _inspect(indptr, columns, values, n_columns, marked, low, high, start, stop),
        indptr.size - 1,
    )
    zeros, others, bad, beyond, outside = (sum(part) for part in zip(*counts, strict=True))
    return zeros, others, bad, beyond, outside


# One pass that counts all that spoils a sum (columns out of range, values that are not finite, rows too large or too
# small for the grid) and marks the columns that occur. O(entries).
@compiled
def _inspect(indptr, columns, values, n_columns, marked, low, high, start, stop):
    zeros = others = bad = beyond = outside = 0
    for row in range(start, stop):
        largest = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            value = values[at]
            size = abs(value)
            if columns[at] < 0 or columns[at] >= n_columns:
                outside += 1
                continue
            if value != 1.0:
                others += 1
                if value == 0.0:
                    zeros += 1
                    continue
                # Written so that NaN, which compares false, counts as not finite.
                if not size < np.inf:
                    bad += 1
                    continue
            largest = max(largest, size)
            if marked.size:
                marked[columns[at]] = True
        if largest > high or 0.0 < largest < low:
            beyond += 1
    return zeros, others, bad, beyond, outside


# n values below 2^e add up to at most 2^(e + c) with c = ceil(log2 n): at most 2^53 units, which a float
# holds exactly. Only the rounding itself loses anything; scaling by powers of two is exact. O(entries).
@compiled
def _on_grid(indptr, values, rounded, start, stop):
    for row in range(start, stop):
        largest = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            largest = max(largest, abs(values[at]))
        _, exponent = math.frexp(largest)
        room = 1
        while room < indptr[row + 1] - indptr[row]:
            room *= 2
            exponent += 1
        unit = math.ldexp(1.0, exponent - 53)
        parts = math.ldexp(1.0, 53 - exponent)
        for at in range(indptr[row], indptr[row + 1]):
            rounded[at] = np.rint(values[at] * parts) * unit


# Kahan's compensated summation. Of each square and the largest so far, the smaller goes into the sum: the
# largest is left out at the end without a subtraction, which would cancel digits where it dominates the row.
@compiled
def _spare_squares(indptr, values, sums, start, stop):
    for row in range(start, stop):
        largest, total, lost = 0.0, 0.0, 0.0
        for at in range(indptr[row], indptr[row + 1]):
            square = values[at] * values[at]
            more = min(square, largest) + lost
            before = total
            total += more
            lost = more - (total - before)
            largest = max(square, largest)
        sums[row] = total
