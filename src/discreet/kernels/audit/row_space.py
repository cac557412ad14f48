"""Row reduction modulo a prime below 2**26, whose products are exact in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled

LARGEST_PRIME = 1 << 26


def reduced(vector: Any, rows: Any, pivots: Any, prime: int) -> Any:
    """Return a vector of zeros and ones less its part in the space of the rows, modulo the prime.

    Every row is 1 at its own pivot and 0 at the others', so its coefficient is the vector's entry there.
    """
    return _reduced(vector, rows, pivots, prime)


def eliminate(rows: Any, vector: Any, pivot: int, prime: int) -> None:
    """Subtract from every row the multiple of the vector that leaves 0 at its pivot, in place.

    The vector is 1 at the pivot.
    """
    _eliminate(rows, vector, pivot, prime)


def lightest(rows: Any, sizes: Any, enough: int) -> Any:
    """Return how many records each row involves, counted no further than ``enough``."""
    return _lightest(rows, sizes, enough)


def independent(columns: Any, prime: int) -> Any:
    """Return the first of some columns (given as rows of an array) that are independent, until they span everything.

    Every column is reduced by those taken before; cost: columns looked at times the square of their length.
    """
    return _independent(columns, prime)


# The coefficients are 0 or 1, as the vector's entries are, so that rows are only added; one remainder at the
# end. O(rank x n).
@compiled
def _reduced(vector, rows, pivots, prime):
    n = vector.size
    total = np.zeros(n, np.int64)
    for i in range(pivots.size):
        if vector[pivots[i]] != 0:
            for j in range(n):
                total[j] += rows[i, j]
    out = np.empty(n, np.int32)
    for j in range(n):
        out[j] = (vector[j] - total[j]) % prime
    return out


# One step of Gauss and Jordan, O(rank x n). Below 2^26 + 2^52 every value is exact in a double, where the
# loop is vectorized, which a remainder of integers is not. The rounded quotient can be off by one, which the
# two lines after it mend.
@compiled
def _eliminate(rows, vector, pivot, prime):
    n = vector.size
    p = float(prime)
    inverse = 1.0 / p
    for i in range(rows.shape[0]):
        if rows[i, pivot] == 0:
            continue
        factor = p - rows[i, pivot]
        for j in range(n):
            value = rows[i, j] + factor * vector[j]
            value -= np.floor(value * inverse) * p
            value += p if value < 0.0 else 0.0
            value -= p if value >= p else 0.0
            rows[i, j] = np.int32(value)


# How many records each row is about, counted only until there are enough: whoever calls compares with that bound.
# O(rows x columns).
@compiled
def _lightest(rows, sizes, enough):
    out = np.zeros(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        weight = 0
        for j in range(sizes.size):
            if rows[i, j] != 0:
                weight += sizes[j]
                if weight >= enough:
                    break
        out[i] = weight
    return out


# Gaussian elimination, a row at a time: a row is chosen where it is no combination of those before it. A basis row is
# 1 at its pivot and 0 at the pivots of earlier ones, so one pass in order reduces a row. O(rows x rank x width).
@compiled
def _independent(columns, prime):
    n, width = columns.shape
    basis = np.zeros((width, width), np.int64)
    pivots = np.zeros(width, np.int64)
    chosen = np.zeros(width, np.int64)
    vector = np.zeros(width, np.int64)
    count = 0
    for i in range(n):
        if count == width:
            break
        for j in range(width):
            vector[j] = columns[i, j]
        added = 0
        for k in range(count):
            factor = vector[pivots[k]] % prime
            if factor == 0:
                continue
            for j in range(width):
                vector[j] += (prime - factor) * basis[k, j]
            added += 1
            if added == 1024:  # so many products below 2**52 fit into 63 bits
                added = 0
                for j in range(width):
                    vector[j] %= prime
        pivot = -1
        for j in range(width):
            vector[j] %= prime
            if pivot < 0 and vector[j] != 0:
                pivot = j
        if pivot < 0:
            continue
        inverse, power, exponent = 1, vector[pivot], prime - 2
        while exponent > 0:  # Fermat: the power prime - 2 is the inverse
            if exponent & 1:
                inverse = inverse * power % prime
            power = power * power % prime
            exponent >>= 1
        for j in range(width):
            basis[count, j] = vector[j] * inverse % prime
        pivots[count], chosen[count] = pivot, i
        count += 1
    return chosen[:count]
