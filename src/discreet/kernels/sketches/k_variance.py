"""k-variance: how long sketches may be, pair by pair, and the longest sketches that keep every pair's limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

_PARALLEL = 1e-12
"""Cosines nearer to 1 than this belong to parallel rows."""
_SURE = 1e-5
"""A variance of this share of (‖X‖² + ‖Y‖²)², times the entries, lost less than 1e-9 of itself by subtraction."""


def caps_of(
    indptr: Any, items: Any, values: Any, n_items: int, neighbors: Any, *, signed: Any, sizes: Any = None
) -> Any:
    """Return the variance of one component's product over the squared gap, for every row and each of its neighbors.

    Parallel rows have no cap: theirs is infinite. ``signed`` is whether a row has a negative value; a
    pair with such a row takes the exact variance, all others ‖X‖²‖Y‖² − (X·Y)², which is never larger. Neither changes
    when rows are multiplied. With ``sizes``, the true length of every row, it is the variance over the gap itself.
    """
    caps = np.empty(neighbors.shape)
    true = np.empty(0) if sizes is None else sizes
    in_threads(
        lambda start, stop: _caps(indptr, items, values, n_items, neighbors, signed, true, caps, start, stop),
        neighbors.shape[0],
    )
    return caps


def caps_by_distance(
    indptr: Any, items: Any, values: Any, n_items: int, neighbors: Any, *, exponents: Any
) -> Any:
    """Return the variance of one component's squared difference over the squared distance, for every row and neighbor.

    The values of a row, at most 1 in size, are its true ones divided by 2 to the power of its exponent; caps are those
    of the true values. Equal rows have no cap: theirs is infinite.
    """
    caps = np.empty(neighbors.shape)
    in_threads(
        lambda start, stop: _distance_caps(
            indptr, items, values, n_items, neighbors, exponents, caps, start, stop
        ),
        neighbors.shape[0],
    )
    return caps


def longest_lengths(neighbors: Any, limits: Any, order: Any, most: Any) -> tuple[Any, int]:
    """Return lengths of which none can be raised alone, and the number of passes.

    ``limits`` are whole caps per pair, ``most`` is the longest there is, one number for all rows or one for each.

    Rows are taken in the given order, pass after pass, and each gets the largest length that all its pairs allow: of
    every pair of neighbors one length must be within the limit. Both rows of a pair look at it, so that every pair is
    kept from the first pass on; later passes only raise lengths, and end when none rises.
    """
    begin, partners, pair_limits = _pairs(neighbors, limits)
    longest = np.full(neighbors.shape[0], most, np.int32)
    lengths = longest.copy()
    passes = 0
    while _pass(begin, partners, pair_limits, order, longest, lengths):
        passes += 1
    return lengths, passes + 1


# For 4-wise independent signs the product of two components has the variance |X|^2|Y|^2 + (X.Y)^2 - 2
# sum(x^2 y^2); here rows have length 1. Without negative values sum(x^2 y^2) <= (X.Y)^2, so 1 - cos^2 is a
# lower bound of it, and over the gap 1 - cos it is 1 + cos. O(entries of all neighbors); a dense row of
# n_items per thread.
@compiled
def _caps(indptr, items, values, n_items, neighbors, signed, sizes, caps, start, stop):
    row_values = np.zeros(n_items)
    norms = np.zeros(indptr.size - 1)
    for row in range(norms.size):
        for entry in range(indptr[row], indptr[row + 1]):
            norms[row] += values[entry] * values[entry]
        norms[row] = np.sqrt(norms[row])
    for row in range(start, stop):
        for entry in range(indptr[row], indptr[row + 1]):
            row_values[items[entry]] = values[entry] / norms[row]
        for rank in range(neighbors.shape[1]):
            other = neighbors[row, rank]
            cosine, common = 0.0, 0.0
            for entry in range(indptr[other], indptr[other + 1]):
                product = row_values[items[entry]] * (values[entry] / norms[other])
                cosine += product
                common += product * product
            gap = 1.0 - abs(cosine)
            if gap <= _PARALLEL:
                caps[row, rank] = np.inf
            else:
                if signed[row] or signed[other]:
                    over_gap = max(1.0 + cosine * cosine - 2.0 * common, 0.0) / gap
                else:
                    over_gap = 1.0 + cosine
                caps[row, rank] = over_gap * sizes[row] * sizes[other] if sizes.size else over_gap / gap
        for entry in range(indptr[row], indptr[row + 1]):
            # Clear what this row set, not the whole array: rows are far shorter than n_items.
            row_values[items[entry]] = 0.0


# For Z = X - Y and D = |Z|^2 a component's (s - t)^2 has the variance 2(D^2 - sum z^4). Items of X alone are
# not visited: D and sum z^4 are those of X, changed at the items of Y. Where that subtraction may have cost
# the cap more than 1e-9 of itself, the pair is added up again without one. O(entries of all neighbors).
@compiled
def _distance_caps(indptr, items, values, n_items, neighbors, exponents, caps, start, stop):
    row_values = np.zeros(n_items)
    squares = np.zeros(indptr.size - 1)
    for row in range(squares.size):
        for entry in range(indptr[row], indptr[row + 1]):
            squares[row] += values[entry] * values[entry]
    for row in range(start, stop):
        fourth = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            row_values[items[entry]] = values[entry]
            fourth += values[entry] ** 4
        for rank in range(neighbors.shape[1]):
            other = neighbors[row, rank]
            top = max(exponents[row], exponents[other])
            scale, other_scale = 2.0 ** (exponents[row] - top), 2.0 ** (exponents[other] - top)
            distance, fourths = squares[row] * scale**2, fourth * scale**4
            for entry in range(indptr[other], indptr[other + 1]):
                value = row_values[items[entry]] * scale
                before = value * value
                difference = value - values[entry] * other_scale
                after = difference * difference
                distance += after - before
                fourths += after * after - before * before
            variance = distance * distance - fourths
            largest = squares[row] * scale**2 + squares[other] * other_scale**2
            n_entries = indptr[row + 1] - indptr[row] + indptr[other + 1] - indptr[other]
            if variance < _SURE * n_entries * largest * largest:
                distance, variance = _added_up(
                    indptr, items, values, row_values, row, other, scale, other_scale
                )
            caps[row, rank] = 2.0 * variance / distance * 4.0**top if distance > 0.0 else np.inf
        for entry in range(indptr[row], indptr[row + 1]):
            row_values[items[entry]] = 0.0


# D^2 - sum z^4 is twice the sum of z_i^2 z_j^2 over the pairs i < j: each square times those before it, nothing
# subtracted. ``row_values`` holds the row, and is left so.
@compiled
def _added_up(indptr, items, values, row_values, row, other, scale, other_scale):
    """Return the squared distance of two rows, and half the variance of one component."""
    distance = pairs = 0.0
    for entry in range(indptr[other], indptr[other + 1]):
        difference = row_values[items[entry]] * scale - values[entry] * other_scale
        pairs += difference * difference * distance
        distance += difference * difference
        row_values[items[entry]] = 0.0
    for entry in range(indptr[row], indptr[row + 1]):
        # Zero where the other row has the item too: that difference is in the sums already.
        value = row_values[items[entry]] * scale
        pairs += value * value * distance
        distance += value * value
        row_values[items[entry]] = values[entry]
    return distance, 2.0 * pairs


# Pairs as CSR lists, each under both of its rows; one that is mutual appears twice, which does no harm.
# O(n k).
@compiled
def _pairs(neighbors, limits):
    """Return, for every row, its partners in all pairs that it is in, and the limits of these."""
    n, k = neighbors.shape
    begin = np.zeros(n + 1, np.int64)
    for row in range(n):
        begin[row + 1] += k
        for rank in range(k):
            begin[neighbors[row, rank] + 1] += 1
    for row in range(n):
        begin[row + 1] += begin[row]
    at = begin[:-1].copy()
    partners = np.empty(begin[n], np.int32)
    pair_limits = np.empty(begin[n], np.int32)
    for row in range(n):
        for rank in range(k):
            other = neighbors[row, rank]
            partners[at[row]] = other
            pair_limits[at[row]] = limits[row, rank]
            at[row] += 1
            partners[at[other]] = row
            pair_limits[at[other]] = limits[row, rank]
            at[other] += 1
    return begin, partners, pair_limits


# A Gauss-Seidel sweep, O(n k). Invariant once a row has been visited: of each of its pairs one length is
# within the limit. A partner exceeds a limit only while this row is within it, so a later sweep never has to
# lower a length; lengths are bounded whole numbers, hence the sweeps end, at lengths of which none can be
# raised alone.
@compiled
def _pass(begin, partners, pair_limits, order, longest, lengths):
    """Set every row in turn to its largest admissible length; return whether any length changed."""
    changed = False
    for row in order:
        best = longest[row]
        for pair in range(begin[row], begin[row + 1]):
            if lengths[partners[pair]] > pair_limits[pair] and pair_limits[pair] < best:
                best = pair_limits[pair]
        if best != lengths[row]:
            lengths[row] = best
            changed = True
    return changed
