"""Signs that are 4-wise independent, from cubic polynomials over a Mersenne field.

Component j has a polynomial c0 + c1·x + c2·x² + c3·x³ over the field of 2^61 − 1 elements. The sign of an item at the
point x is +1 where the polynomial's value is even and −1 where it is odd. For coefficients drawn evenly, the values
at four different points are independent and even over the field, so the signs are 4-wise independent; one more value
is even than odd, which makes the mean of a sign 2^−61 and not 0.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

FIELD_BITS = 61
"""The field of the signs has 2^61 − 1 elements."""
_WORD = 64


def tabulate(
    points: NDArray[np.uint64], coefficients: NDArray[np.uint64], *, field_bits: int = FIELD_BITS
) -> NDArray[np.uint64]:
    """Tabulate signs: a row of bits for each point, set where the sign of that component is −1.

    ``coefficients`` has a row of four for each component, the constant first. ``field_bits`` names another
    Mersenne field, of 2^field_bits − 1 elements, at most 2^61 − 1.
    """
    table = np.zeros((points.size, -(-coefficients.shape[0] // _WORD)), np.uint64)
    in_threads(
        lambda start, stop: _tabulate(points, coefficients, np.uint64(field_bits), table, start, stop),
        points.size,
    )
    return table


def expand(table: NDArray[np.uint64], first: int, stop: int) -> NDArray[np.int8]:
    """Write some components of a table of bits as signs of one byte each."""
    signs = np.empty((table.shape[0], stop - first), np.int8)
    in_threads(lambda begin, end: _expand(table, first, signs, begin, end), table.shape[0])
    return signs


# With a, b < 2^61 no part overflows: the high halves have 29 bits, so ``middle`` stays below 2^62, and only
# the sum with its lower half can carry. 2^bits is 1 in the field, so bits above the lowest ``bits`` are
# added to them: one fold leaves at most bits + 1 bits, a second one and a subtraction the remainder. No
# division.
@numba.njit(inline="always")
def _multiplied(a, b, bits):
    """Multiply in the field of 2^bits − 1 elements, the product taken in halves of 32 bits."""
    half, prime = np.uint64(0xFFFFFFFF), (np.uint64(1) << bits) - np.uint64(1)
    low_a, high_a = a & half, a >> np.uint64(32)
    low_b, high_b = b & half, b >> np.uint64(32)
    low = low_a * low_b
    middle = high_a * low_b + low_a * high_b
    total = low + (middle << np.uint64(32))
    carry = np.uint64(1) if total < low else np.uint64(0)
    high = high_a * high_b + (middle >> np.uint64(32)) + carry
    folded = (total & prime) + ((total >> bits) | (high << (np.uint64(64) - bits)))
    folded = (folded & prime) + (folded >> bits)
    return folded - prime if folded >= prime else folded


@numba.njit(inline="always")
def _added(a, b, bits):
    prime = (np.uint64(1) << bits) - np.uint64(1)
    total = a + b
    return total - prime if total >= prime else total


# Horner's rule: three products and sums for each point and component.
@compiled
def _tabulate(points, coefficients, bits, table, start, stop):
    for at in range(start, stop):
        x = points[at]
        for j in range(coefficients.shape[0]):
            value = _added(_multiplied(coefficients[j, 3], x, bits), coefficients[j, 2], bits)
            value = _added(_multiplied(value, x, bits), coefficients[j, 1], bits)
            value = _added(_multiplied(value, x, bits), coefficients[j, 0], bits)
            table[at, j >> 6] |= (value & np.uint64(1)) << np.uint64(j & 63)


@compiled
def _expand(table, first, signs, start, stop):
    for at in range(start, stop):
        for j in range(signs.shape[1]):
            bit = (table[at, (first + j) >> 6] >> np.uint64((first + j) & 63)) & np.uint64(1)
            # 1 - 2 bit instead of a branch: vectorized.
            signs[at, j] = np.int8(1) - np.int8(2) * np.int8(bit)
