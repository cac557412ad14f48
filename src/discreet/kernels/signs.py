"""Signs that are 4-wise independent, from cubic polynomials over a Mersenne field, and sketches of rows with them.

Component j has a polynomial c0 + c1·x + c2·x² + c3·x³ over the field of 2^61 − 1 elements. The sign of an item at the
point x is +1 where the polynomial's value is even and −1 where it is odd. For coefficients drawn evenly, the values
at four different points are independent and even over the field, so the signs are 4-wise independent; one more value
is even than odd, which makes the mean of a sign 2^−61 and not 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numba
import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

FIELD_BITS = 61
"""The field of the signs has 2^61 − 1 elements."""
MOST_ONES = 2**15 - 1
"""The most ones of a row whose sketch fits two bytes a component."""
_TABLE_BYTES = 64_000_000
_WORD = 64
_SPREAD = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").view(np.uint64)[
    :, 0
]
"""The eight bits of a byte, each in a byte of its own, in the order of memory."""


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


def count_rows(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    table: NDArray[np.uint64],
    bounds: NDArray[np.int64],
) -> NDArray[np.int16]:
    """Sketch compressed rows of ones, at most ``MOST_ONES`` of them each.

    Row i gets components ``bounds[i]`` to ``bounds[i + 1]`` of the answer. ``items`` are numbers of rows of the table
    of signs, which :func:`tabulate` gave.
    """
    out = np.empty(int(bounds[-1]), np.int16)
    in_threads(partial(_count, indptr, items, table, _SPREAD, bounds, out), indptr.size - 1)
    return out


def weigh_rows(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.float64],
    table: NDArray[np.uint64],
    bounds: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Sketch compressed rows of items with weights, as :func:`count_rows` does rows of ones."""
    out = np.empty(int(bounds[-1]), np.float64)
    for first, signs in _blocks(table, bounds):
        in_threads(partial(_weigh, indptr, items, weights, signs, bounds, first, out), indptr.size - 1)
    return out


def _blocks(table: NDArray[np.uint64], bounds: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int8]]]:
    """Give the signs of so many components at a time as fit the memory: of each item, in words of 64."""
    words = -(-int(np.diff(bounds).max(initial=0)) // _WORD)
    step = max(1, _TABLE_BYTES // max(table.shape[0] * _WORD, 1))
    for first in range(0, words, step):
        last = min(first + step, words)
        signs = expand(table, first * _WORD, last * _WORD)
        yield first * _WORD, signs.reshape(table.shape[0], last - first, _WORD)


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
            signs[at, j] = np.int8(1) - np.int8(2) * np.int8(bit)


@numba.njit(inline="always")
def _full_added(a, b, c):
    """Add three bits in each of 64 places: the sums and the carries."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@compiled
def _planes(table, word, items, begin, end):
    """Count set bits in each of 64 places, over at most 255 items: the counts' bits, the lowest first."""
    p0 = p1 = p2 = p3 = p4 = p5 = p6 = p7 = np.uint64(0)
    at = begin
    while at < end:
        if at + np.uint64(4) <= end:
            total, low = _full_added(
                table[np.uint64(items[at]), word], table[np.uint64(items[at + np.uint64(1)]), word], p0
            )
            p0, high = _full_added(
                table[np.uint64(items[at + np.uint64(2)]), word],
                table[np.uint64(items[at + np.uint64(3)]), word],
                total,
            )
            p1, carry = _full_added(low, high, p1)
            at += np.uint64(4)
        else:
            one = table[np.uint64(items[at]), word]
            p0, one = p0 ^ one, p0 & one
            p1, carry = p1 ^ one, p1 & one
            at += np.uint64(1)
        p2, carry = p2 ^ carry, p2 & carry
        p3, carry = p3 ^ carry, p3 & carry
        p4, carry = p4 ^ carry, p4 & carry
        p5, carry = p5 ^ carry, p5 & carry
        p6, carry = p6 ^ carry, p6 & carry
        p7 ^= carry
    return p0, p1, p2, p3, p4, p5, p6, p7


@compiled
def _count(indptr, items, table, spread, bounds, out, start, stop):
    """Count the minus signs of each component in bit planes, 255 items at a time, 64 components at a time."""
    eight = np.empty(8, np.uint64)
    minus = eight.view(np.uint8)
    byte = np.uint64(255)
    for row in range(start, stop):
        begin, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        ones = np.int16(end - begin)
        for word in range(table.shape[1]):
            base = bounds[row] + word * _WORD
            width = min(bounds[row + 1] - base, _WORD)
            if width <= 0:
                break
            sums = out[base : base + width]
            for j in range(width):
                sums[j] = ones
            while begin < end:
                until = min(begin + byte, end)
                p0, p1, p2, p3, p4, p5, p6, p7 = _planes(table, np.uint64(word), items, begin, until)
                large = p5 | p6 | p7
                for k in range(8):
                    by = np.uint64(8 * k)
                    count = spread[(p0 >> by) & byte] + (spread[(p1 >> by) & byte] << np.uint64(1))
                    count += spread[(p2 >> by) & byte] << np.uint64(2)
                    count += spread[(p3 >> by) & byte] << np.uint64(3)
                    count += spread[(p4 >> by) & byte] << np.uint64(4)
                    if large:
                        count += spread[(p5 >> by) & byte] << np.uint64(5)
                        count += spread[(p6 >> by) & byte] << np.uint64(6)
                        count += spread[(p7 >> by) & byte] << np.uint64(7)
                    eight[k] = count
                for j in range(width):
                    sums[j] -= np.int16(2) * np.int16(minus[j])
                begin = until
            begin = np.uint64(indptr[row])


@compiled
def _weigh(indptr, items, weights, signs, bounds, first, out, start, stop):
    sums = np.empty(_WORD, np.float64)
    for row in range(start, stop):
        base = bounds[row] + first
        for word in range(signs.shape[1]):
            width = min(bounds[row + 1] - base, _WORD)
            if width <= 0:
                break
            for j in range(_WORD):
                sums[j] = 0.0
            for at in range(indptr[row], indptr[row + 1]):
                item, weight = items[at], weights[at]
                for j in range(_WORD):
                    sums[j] += weight * signs[item, word, j]
            for j in range(width):
                out[base + j] = sums[j]
            base += _WORD
