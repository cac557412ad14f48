"""Lexicographic order of baskets: by their most common item, then the next, so that similar baskets are neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put


def lexicographic_order(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> NDArray[np.int32]:
    """Order baskets as words whose letters are their items, the most common first; those without items come last."""
    counts = np.bincount(items, minlength=n_items)
    rank = np.empty(n_items, np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(n_items, dtype=np.int32)
    letters = _ranked(indptr, rank[items])
    width = max(int(n_items).bit_length(), 1)
    keys = _keys(indptr, letters, np.uint64(width), 64 // width)
    order = np.argsort(keys, kind="stable").astype(np.int32)
    _refine(order, keys, indptr, letters, 64 // width)
    return order


@compiled
def _ranked(indptr, letters):
    """Sort the letters of every basket."""
    for row in range(indptr.size - 1):
        letters[indptr[row] : indptr[row + 1]].sort()
    return letters


# As many letters as fit 64 bits, compared in one operation. Letters count from 1, so that a basket that
# ends, padded with 0, comes before its continuations; the highest key cannot occur otherwise, as no basket
# holds an item twice.
@compiled
def _keys(indptr, letters, width, most):
    """Pack the first letters of every basket into one number; a basket without any gets the highest."""
    keys = np.empty(indptr.size - 1, np.uint64)
    for row in range(keys.size):
        first, last = indptr[row], indptr[row + 1]
        if first == last:
            keys[row] = ~np.uint64(0)
            continue
        key = np.uint64(0)
        for position in range(most):
            letter = np.uint64(letters[first + position] + 1) if first + position < last else np.uint64(0)
            key = (key << width) | letter
        keys[row] = key
    return keys


# Only runs with equal keys, in which some basket goes on, are sorted by comparing: few, as a key has several
# letters.
@compiled
def _refine(order, keys, indptr, letters, most):
    """Sort the runs of baskets whose first letters are the same by the rest of them."""
    spare = np.empty_like(order)
    begin = 0
    while begin < order.size:
        end, longest = begin, 0
        while end < order.size and keys[order[end]] == keys[order[begin]]:
            longest = max(longest, indptr[order[end] + 1] - indptr[order[end]])
            end += 1
        if end - begin > 1 and longest > most:
            _merge_sort(order, spare, begin, end, indptr, letters, most)
        begin = end


# Bottom-up and stable, so that equal baskets stay in the order of their numbers. O(n log n) comparisons.
@compiled
def _merge_sort(order, spare, begin, end, indptr, letters, skipped):
    width = 1
    while width < end - begin:
        for low in range(begin, end, 2 * width):
            middle, high = min(low + width, end), min(low + 2 * width, end)
            left, right = low, middle
            for position in range(low, high):
                take_left = right >= high or (
                    left < middle and not _comes_before(order[right], order[left], indptr, letters, skipped)
                )
                if take_left:
                    spare[position] = order[left]
                    left += 1
                else:
                    spare[position] = order[right]
                    right += 1
        put(order, begin, spare[begin:end])
        width *= 2


@compiled
def _comes_before(basket, other, indptr, letters, skipped):
    """Return whether a basket comes strictly before another, their first letters being the same."""
    here, there = indptr[basket] + skipped, indptr[other] + skipped
    while here < indptr[basket + 1] and there < indptr[other + 1]:
        if letters[here] != letters[there]:
            return letters[here] < letters[there]
        here += 1
        there += 1
    return here >= indptr[basket + 1] and there < indptr[other + 1]
