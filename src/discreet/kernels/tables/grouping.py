"""Grouping of integer keys: distinct keys with their weights, and value counts per group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import grown
from discreet.kernels.ragged import bounds

_LARGEST_KEY = 1 << 62
_MANY = 1 << 19
_SAMPLE = 1 << 14


def pack(columns: Iterable[NDArray[Any]], cards: Sequence[int]) -> NDArray[np.int64]:
    """Return every row one int64 key, equal exactly where all its codes are equal.

    The keys sort like the rows do (first column first). Where the product of the cards outgrows 62 bits, the
    keys so far are replaced by their ranks.
    """
    keys: NDArray[np.int64] | None = None
    size = 1
    for codes, card in zip(columns, cards, strict=True):
        width = max(card, 1)
        if keys is None:
            keys = codes.astype(np.int64)
            size = width
            continue
        if size > _LARGEST_KEY // width:
            ranked, keys = np.unique(keys, return_inverse=True)
            size = ranked.size
        keys *= width
        keys += codes
        size *= width
    if keys is None:
        raise ValueError("no column to pack")
    return keys


def distinct(
    keys: NDArray[np.int64], weights: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Find the distinct keys: (a row of each, the key's number for every row, the summed weights).

    Keys are numbered in ascending order, so the result does not depend on the order of the rows.
    """
    if keys.size > _MANY and _mostly_different(keys):
        return _sorted_distinct(keys, weights)
    first, number, counts, n_groups = _distinct(keys, np.empty(0, np.int64) if weights is None else weights)
    first, counts = first[:n_groups], counts[:n_groups]
    order = np.argsort(keys[first], kind="stable")
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return first[order], rank[number], counts[order]


def count_values(
    labels: NDArray[np.int32], values: NDArray[Any], weights: NDArray[np.int64], n_groups: int, n_values: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Count each value in each group, as CSR arrays (indptr, values, counts), values ascending inside a group."""
    keys = labels.astype(np.int64) * n_values + values
    first, _, counts = distinct(keys, weights)
    pairs = keys[first]
    indptr = np.searchsorted(pairs, np.arange(n_groups + 1, dtype=np.int64) * n_values)
    return indptr.astype(np.int64), (pairs % n_values).astype(np.int32), counts


def distinct_lists(
    indptr: NDArray[np.int64], values: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Find the distinct ones of lists stored end to end: (the first of each, the number of every list).

    They are numbered as they first appear. No list is empty. O(values) in all rounds together.

    >>> distinct_lists(np.array([0, 2, 3, 5]), np.array([4, 7, 4, 4, 7]))
    (array([0, 1]), array([0, 1, 0], dtype=int32))
    """
    # Each round replaces pairs of neighbors by their number among all pairs, and a last value by that of itself and
    # nothing, so that equal lists stay equal and different ones different, until one number stands for each list.
    symbols, begins, lengths = values.astype(np.int64), indptr[:-1], np.diff(indptr)
    while lengths.max(initial=0) > 1:
        halves = (lengths + 1) // 2
        ends = bounds(halves)
        left = np.arange(ends[-1]) * 2 + np.repeat(begins - 2 * ends[:-1], halves)
        right = np.where(
            left + 1 < np.repeat(begins + lengths, halves), np.append(symbols, 0)[left + 1] + 1, 0
        )
        pairs = distinct(pack([symbols[left], right], [int(symbols.max()) + 1, int(right.max()) + 1]))[1]
        symbols, begins, lengths = pairs.astype(np.int64), ends[:-1], halves
    first, number, _ = distinct(symbols)
    if first.size == 0:
        return first, number
    leading = np.full(first.size, symbols.size, np.int64)
    np.minimum.at(leading, number, np.arange(symbols.size))
    order = np.argsort(leading)
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return leading[order], rank[number]


def _mostly_different(keys: NDArray[np.int64]) -> bool:
    sample = keys[:: keys.size // _SAMPLE]
    return np.unique(sample).size > sample.size // 2


def _sorted_distinct(
    keys: NDArray[np.int64], weights: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Sort instead of hashing: many different keys would fall out of every cache."""
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    del ordered
    number = np.empty(keys.size, np.int32)
    widths = np.diff(np.append(starts, keys.size))
    number[order] = np.repeat(np.arange(starts.size, dtype=np.int32), widths)
    counts = widths if weights is None else np.add.reduceat(weights[order], starts)
    return order[starts], number, counts


# Fibonacci hashing: the multiplier is 2^64 over the golden ratio; the shift brings its well mixed high bits
# down to the mask.
@compiled
def _mixed(key):
    mixed = np.uint64(key)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


# Open addressing with linear probing, at most half full. Slots hold group numbers plus one, 4 bytes each, or 0; the
# keys are read where their first row is. Growing inserts each group once, and doubles, so that all of it is O(n);
# memory O(distinct keys).
@compiled
def _distinct(keys, weights):
    size = np.int64(1024)
    slots = np.zeros(size, np.int32)
    first = np.empty(512, np.int64)
    counts = np.empty(512, np.int64)
    number = np.empty(keys.size, np.int32)
    n_groups = 0
    for row in range(keys.size):
        weight = weights[row] if weights.size else np.int64(1)
        mask = np.uint64(size - 1)
        slot = np.int64(_mixed(keys[row]) & mask)
        while slots[slot] and keys[first[slots[slot] - 1]] != keys[row]:
            slot = (slot + 1) & np.int64(mask)
        if slots[slot]:
            counts[slots[slot] - 1] += weight
            number[row] = slots[slot] - 1
            continue
        # The slot found above is of the old table: it is looked up again after growing.
        if n_groups == first.size:
            size *= 2
            first, counts = grown(first, size // 2), grown(counts, size // 2)
            slots = np.zeros(size, np.int32)
            mask = np.uint64(size - 1)
            for group in range(n_groups):
                slot = np.int64(_mixed(keys[first[group]]) & mask)
                while slots[slot]:
                    slot = (slot + 1) & np.int64(mask)
                slots[slot] = group + 1
            slot = np.int64(_mixed(keys[row]) & mask)
            while slots[slot]:
                slot = (slot + 1) & np.int64(mask)
        slots[slot] = n_groups + 1
        first[n_groups] = row
        counts[n_groups] = weight
        number[row] = n_groups
        n_groups += 1
    return first, number, counts, n_groups
