"""k-variance: how long sketches may be, pair by pair, and the longest sketches that keep every pair's limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

_PARALLEL = 1e-12
"""Cosines nearer to 1 than this belong to parallel rows."""


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


def longest_lengths(neighbors: Any, limits: Any, order: Any, most: Any) -> tuple[Any, int]:
    """Return lengths of which none can be raised alone, and the number of passes.

    ``limits`` are whole caps per pair, ``most`` is the longest there is, one number for all rows or one for each.

    Rows are taken in the given order, pass after pass, and each gets the largest length that all its pairs allow: of
    every pair of neighbors one length must be within the limit. Both rows of a pair look at it, so that every pair is
    kept from the first pass on; later passes only raise lengths, and end when none rises.
    """
    begin, partners, held = _pairs(neighbors, limits)
    longest = np.full(neighbors.shape[0], most, np.int32)
    lengths = longest.copy()
    passes = 0
    while _pass(begin, partners, held, order, longest, lengths):
        passes += 1
    return lengths, passes + 1


@compiled
def _caps(indptr, items, values, n_items, neighbors, signed, sizes, caps, start, stop):
    own = np.zeros(n_items)
    norms = np.zeros(indptr.size - 1)
    for row in range(norms.size):
        for entry in range(indptr[row], indptr[row + 1]):
            norms[row] += values[entry] * values[entry]
        norms[row] = np.sqrt(norms[row])
    for row in range(start, stop):
        for entry in range(indptr[row], indptr[row + 1]):
            own[items[entry]] = values[entry] / norms[row]
        for place in range(neighbors.shape[1]):
            other = neighbors[row, place]
            cosine, common = 0.0, 0.0
            for entry in range(indptr[other], indptr[other + 1]):
                product = own[items[entry]] * (values[entry] / norms[other])
                cosine += product
                common += product * product
            gap = 1.0 - abs(cosine)
            if gap <= _PARALLEL:
                caps[row, place] = np.inf
            else:
                if signed[row] or signed[other]:
                    over_gap = max(1.0 + cosine * cosine - 2.0 * common, 0.0) / gap
                else:
                    over_gap = 1.0 + cosine
                caps[row, place] = over_gap * sizes[row] * sizes[other] if sizes.size else over_gap / gap
        for entry in range(indptr[row], indptr[row + 1]):
            own[items[entry]] = 0.0


@compiled
def _pairs(neighbors, limits):
    """Return, for every row, its partners in all pairs that it is in, and the limits of these."""
    n, k = neighbors.shape
    begin = np.zeros(n + 1, np.int64)
    for row in range(n):
        begin[row + 1] += k
        for place in range(k):
            begin[neighbors[row, place] + 1] += 1
    for row in range(n):
        begin[row + 1] += begin[row]
    at = begin[:-1].copy()
    partners = np.empty(begin[n], np.int32)
    held = np.empty(begin[n], np.int32)
    for row in range(n):
        for place in range(k):
            other = neighbors[row, place]
            partners[at[row]] = other
            held[at[row]] = limits[row, place]
            at[row] += 1
            partners[at[other]] = row
            held[at[other]] = limits[row, place]
            at[other] += 1
    return begin, partners, held


@compiled
def _pass(begin, partners, held, order, longest, lengths):
    """Set every row in turn to its largest admissible length; return whether any length changed."""
    changed = False
    for row in order:
        best = longest[row]
        for place in range(begin[row], begin[row + 1]):
            if lengths[partners[place]] > held[place] and held[place] < best:
                best = held[place]
        if best != lengths[row]:
            lengths[row] = best
            changed = True
    return changed
