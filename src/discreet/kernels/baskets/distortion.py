"""Distorting baskets bit by bit: ones kept with probability p, zeros with q, skipping from one false item to the next.

The baskets are cut into blocks of 8192. Each block draws from a stream of its own, so the result depends on the key
alone, however many threads share the work. A gap between false items is looked up in a table of the geometric
distribution's tail, in whole numbers of 2^-64: no logarithm, and no rounding beyond the last of 64 bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.itemsets.bits import BASKETS, WORDS
from discreet.kernels.random.chacha import DRAWS, LANES, fill
from discreet.kernels.threads import in_threads

# A guide table (Chen and Asau 1974): the draw's first 12 bits lead to where the search for its gap begins.
_GUIDES = 4096
_ONE = 2.0**64
Rows = tuple[NDArray[np.int64], NDArray[np.int32]]


def distort_rows(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_items: int,
    p: float,
    q: float,
    key: NDArray[np.uint32],
    *,
    threads: int | None = None,
) -> Rows:
    """Distort baskets in CSR arrays into baskets of the same form."""
    n_blocks = -(-(indptr.size - 1) // BASKETS)
    chances = _chances(n_items, p, q)
    lengths = np.zeros(indptr.size, np.int64)
    ends = _ends(indptr, n_items, p, q, n_blocks)

    def work(start: int, stop: int) -> tuple[int, int]:
        used = _distort_rows(
            indptr,
            items,
            n_items,
            p == 1,
            *chances,
            key,
            start,
            stop,
            room[ends[start] : ends[stop]],
            lengths[1:],
        )
        return int(ends[start]), used

    while True:
        room = np.empty(ends[-1], np.int32)
        parts = in_threads(work, n_blocks, threads=threads)
        if all(used >= 0 for _, used in parts):
            return np.cumsum(lengths), _joined(room, parts)
        # The streams begin anew with the key, so that the second attempt draws the same baskets.
        ends *= 2


def distort_bits(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_items: int,
    p: float,
    q: float,
    key: NDArray[np.uint32],
    *,
    threads: int | None = None,
) -> NDArray[np.uint64]:
    """Distort baskets in CSR arrays into bit columns; the same baskets as ``distort_rows`` returns."""
    n_blocks = -(-(indptr.size - 1) // BASKETS)
    blocks = np.zeros((n_blocks, n_items, WORDS), np.uint64)
    chances = _chances(n_items, p, q)

    def work(start: int, stop: int) -> None:
        _distort_bits(indptr, items, n_items, p == 1, *chances, key, start, stop, blocks)

    in_threads(work, n_blocks, threads=threads)
    return blocks


def distort_each(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_items: int,
    p: float,
    q: float,
    keys: NDArray[np.uint32],
) -> Rows:
    """Distort baskets in CSR arrays, each from a key of its own, so that it does not matter which others there are."""
    lengths = np.zeros(indptr.size, np.int64)
    ends = _ends(indptr, n_items, p, q, 1)
    chances = _chances(n_items, p, q)
    while True:
        room = np.empty(ends[-1], np.int32)
        used = _distort_each(indptr, items, n_items, p == 1, *chances, keys, room, lengths[1:])
        if used >= 0:
            return np.cumsum(lengths), room[:used]
        ends *= 2


def _chances(n_items: int, p: float, q: float) -> tuple[np.uint64, NDArray[np.uint64], NDArray[np.int32]]:
    """Return p, the tail of the gaps, and where to start looking in it by a draw's first 12 bits.

    A gap is longer than g where the draw is below ``tail[g]``, with probability q^(g + 1). Where q is 1 there is no
    false item and the tail is empty; so is the guide.
    """
    threshold = np.uint64(0 if p == 1 else p * _ONE)
    if q == 1:
        return threshold, np.empty(0, np.uint64), np.empty(0, np.int32)
    tail = (q ** np.arange(1.0, n_items + 1) * _ONE).astype(np.uint64)
    highest = (np.arange(1, _GUIDES + 1, dtype=np.uint64) << np.uint64(52)) - np.uint64(1)
    longer = n_items - np.searchsorted(tail[::-1], highest, side="right")
    return threshold, tail, longer.astype(np.int32)


def _ends(indptr: NDArray[np.int64], n_items: int, p: float, q: float, n_blocks: int) -> NDArray[np.int64]:
    """Return where each block may begin to write, with room for all of it but for one chance in 10^20."""
    last = np.minimum(np.arange(n_blocks + 1) * BASKETS, indptr.size - 1)
    n_ones = np.diff(indptr[last]).astype(np.float64)
    zeros = np.diff(last) * float(n_items) - n_ones
    spread = np.sqrt(n_ones * p * (1 - p) + zeros * q * (1 - q))
    room = n_ones * p + zeros * (1 - q) + 10 * spread + 100
    return ragged.bounds(room.astype(np.int64))


def _joined(room: NDArray[np.int32], parts: list[tuple[int, int]]) -> NDArray[np.int32]:
    """Close the gaps between what the threads wrote."""
    position = 0
    for first, used in parts:
        if first > position:
            room[position : position + used] = room[first : first + used]
        position += used
    return room[:position]


@compiled
def _distort_rows(indptr, items, n_items, keep_all, threshold, tail, guide, key, start, stop, room, lengths):
    """Distort blocks; return the room used, or -1 where there was not enough."""
    words, draws, gaps, state, basket = _space(n_items)
    position = 0
    for block in range(start, stop):
        state[0], state[1] = DRAWS, 0
        for row in range(block * BASKETS, min((block + 1) * BASKETS, indptr.size - 1)):
            true = items[indptr[row] : indptr[row + 1]]
            count = _distort(
                true, n_items, keep_all, threshold, tail, guide, key, block, words, draws, gaps, state, basket
            )
            if position + count > room.size:
                return -1
            for at in range(count):
                room[position + at] = basket[at]
            position += count
            lengths[row] = count
    return position


# As `_distort_rows`, with a column of bits for each item: every block has words of its own, so that threads share
# none.
@compiled
def _distort_each(indptr, items, n_items, keep_all, threshold, tail, guide, keys, room, lengths):
    """Distort baskets from the beginning of streams of their own; return the room used, or -1 without enough."""
    words, draws, gaps, state, basket = _space(n_items)
    position = 0
    for row in range(indptr.size - 1):
        state[0], state[1] = DRAWS, 0
        true = items[indptr[row] : indptr[row + 1]]
        count = _distort(
            true, n_items, keep_all, threshold, tail, guide, keys[row], 0, words, draws, gaps, state, basket
        )
        if position + count > room.size:
            return -1
        for at in range(count):
            room[position + at] = basket[at]
        position += count
        lengths[row] = count
    return position


@compiled
def _distort_bits(indptr, items, n_items, keep_all, threshold, tail, guide, key, start, stop, blocks):
    words, draws, gaps, state, basket = _space(n_items)
    for block in range(start, stop):
        state[0], state[1] = DRAWS, 0
        first = block * BASKETS
        for row in range(first, min(first + BASKETS, indptr.size - 1)):
            true = items[indptr[row] : indptr[row + 1]]
            count = _distort(
                true, n_items, keep_all, threshold, tail, guide, key, block, words, draws, gaps, state, basket
            )
            word = (row - first) >> 6
            bit = np.uint64(1) << np.uint64(row & 63)
            for at in range(count):
                blocks[block, basket[at], word] |= bit


@compiled
def _space(n_items):
    """Make room for draws, as words of 32 and of 64 bits, for gaps, for the state of the stream, and for a basket."""
    words = np.empty((16, LANES), np.uint32)
    draws = words.reshape(16 * LANES).view(np.uint64)
    gaps, state = np.empty(DRAWS, np.int64), np.empty(2, np.int64)
    return words, draws, gaps, state, np.empty(n_items + 1, np.int32)


# Every position has a chance of its own to be false, 1 - q; the gaps run over all positions, and one that
# falls on a true item has no effect, as that is decided by p alone. O(true + false items), not O(n_items).
@compiled
def _distort(true, n_items, keep_all, threshold, tail, guide, key, stream, words, draws, gaps, state, basket):
    """Write the items of one distorted basket, ascending; return their number.

    ``state`` holds how many of the draws at hand are used, and which of the stream's blocks comes next.
    """
    used = state[0]
    if used >= DRAWS - 1:
        used = _supply(key, stream, tail, guide, words, draws, gaps, state)
    count = 0
    at = 0
    false = np.int64(n_items)
    if tail.size > 0:
        false = gaps[used]
        used += 1
    while at < true.size or false < n_items:
        # A step uses up to two draws. No draw serves twice, as a gap and as a chance.
        if used >= DRAWS - 1:
            used = _supply(key, stream, tail, guide, words, draws, gaps, state)
        item = false
        if at < true.size and true[at] <= false:
            item = np.int64(true[at])
            at += 1
            basket[count] = item
            # Written in any case and counted where it stays: no branch on a random bit, which nothing
            # predicts.
            count += np.int64(keep_all or draws[used] < threshold)
            used += 1
        else:
            basket[count] = item
            count += 1
        if item == false:
            false += 1 + gaps[used]
            used += 1
    state[0] = used
    return count


@compiled
def _supply(key, stream, tail, guide, words, draws, gaps, state):
    """Make new draws, and the gaps they stand for; none of them is used."""
    fill(key, np.uint64(stream), np.uint64(state[1]), words)
    state[1] += LANES
    if tail.size > 0:
        for at in range(DRAWS):
            gaps[at] = _gap(draws[at], tail, guide)
    return 0


# Inversion: the first g with draw >= tail[g]. The guide is at or before it, on average by no more than
# n_items / 4096.
@compiled
def _gap(draw, tail, guide):
    """Return the number of zeros that stay before the next false item; all there are, if it is beyond them."""
    gap = np.int64(guide[draw >> np.uint64(52)])
    while gap < tail.size and draw < tail[gap]:
        gap += 1
    return gap
