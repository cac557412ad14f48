"""The inner loop of the Quest generator: patterns, corrupted, are put into baskets until these are full."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.threads import in_threads

_BLOCK = 1 << 13
"""The baskets that share a seed; fixed, so that the number of threads does not matter."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


def n_seeds(n_baskets: int) -> int:
    """Return the number of seeds for ``n_baskets`` baskets."""
    return -(-n_baskets // _BLOCK)


def fill_baskets(
    seeds: NDArray[np.uint64],
    n_baskets: int,
    n_items: int,
    lengths: NDArray[np.float64],
    patterns: tuple[NDArray[np.int64], NDArray[np.int32]],
    weights: NDArray[np.float64],
    corruption: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Make baskets, as CSR arrays.

    ``lengths`` are the cumulative probabilities of the lengths from 1 on, ``weights`` those of the patterns, which
    come as CSR arrays too.
    """
    most = lengths.size + int(np.diff(patterns[0]).max())
    model = (n_items, most, lengths, *patterns, weights, corruption)

    def blocks(start: int, stop: int) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        sizes = [min(_BLOCK, n_baskets - block * _BLOCK) for block in range(start, stop)]
        return [_fill(seed, size, *model) for seed, size in zip(seeds[start:stop], sizes, strict=True)]

    parts = [block for part in in_threads(blocks, seeds.size) for block in part]
    sizes = np.concatenate([np.zeros(1, np.int64), *(counts for counts, _ in parts)])
    return np.cumsum(sizes), np.concatenate([items for _, items in parts])


@compiled
def _random(state):
    """Draw from [0, 1), by SplitMix64: the next state and the draw."""
    state = state + _STEP
    mixed = (state ^ (state >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    mixed = mixed ^ (mixed >> np.uint64(31))
    return state, np.float64(mixed >> np.uint64(11)) * _UNIT


# The generator of Agrawal and Srikant 1994. A pattern that does not fit goes in anyway in half of the cases
# and waits for the next basket in the others. Deviation: the first always goes in, so that none waits for
# ever. O(items drawn), and the insertions.
@compiled
def _fill(state, n_baskets, n_items, most, lengths, bounds, members, weights, corruption):
    items = np.empty(n_baskets * most, np.int32)
    counts = np.zeros(n_baskets, np.int64)
    holder = np.full(n_items, -1, np.int64)
    hand = np.empty(most, np.int32)
    waiting = 0
    end = 0
    for basket in range(n_baskets):
        state, draw = _random(state)
        room = 1 + np.searchsorted(lengths, draw, side="right")
        first = end
        used = 0
        while used < room:
            size = waiting
            moved = waiting > 0
            waiting = 0
            if not moved:
                state, draw = _random(state)
                pattern = min(np.searchsorted(weights, draw, side="right"), weights.size - 1)
                size = bounds[pattern + 1] - bounds[pattern]
                put(hand, 0, members[bounds[pattern] : bounds[pattern + 1]])
                state, size = _corrupt(state, hand, size, corruption[pattern])
            if used > 0 and used + size > room:
                state, draw = _random(state)
                if draw < 0.5:
                    waiting = size
                    break
            for position in range(size):
                # Stamped with the basket, so that nothing is cleared between baskets.
                if holder[hand[position]] != basket:
                    holder[hand[position]] = basket
                    _insert(items, first, end, hand[position])
                    end += 1
            used += size
        counts[basket] = end - first
    return counts, items[:end].copy()


@compiled
def _corrupt(state, hand, size, level):
    """Drop items one by one while draws stay below the pattern's level of corruption."""
    state, draw = _random(state)
    while size > 0 and draw < level:
        state, draw = _random(state)
        size -= 1
        hand[int(draw * (size + 1))] = hand[size]
        state, draw = _random(state)
    return state, size


@compiled
def _insert(items, first, end, item):
    """Put an item into its place among those of a basket."""
    position = end
    while position > first and items[position - 1] > item:
        items[position] = items[position - 1]
        position -= 1
    items[position] = item
