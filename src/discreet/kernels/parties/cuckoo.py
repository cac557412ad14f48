"""Cuckoo hashing with three places for each item: a table in which every item has a bin of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled

_MAX_MOVES = 10_000


def cuckoo_table(places: NDArray[np.int64], n_bins: int, seed: int) -> NDArray[np.int64] | None:
    """Return the item in each bin, -1 for none, where item i is at one of ``places[i]``; None if there is no way.

    ``seed`` starts the walk that moves items; it does not matter which one it is.

    >>> cuckoo_table(np.array([[0, 1, 2], [0, 1, 2]]), 3, 7).tolist()
    [0, 1, -1]
    """
    table = np.full(n_bins, -1, np.int64)
    done: bool = _insert(places, table, np.uint64(seed), _MAX_MOVES)
    return table if done else None


# Random walk insertion (Pagh and Rodler 2004; Fotakis et al. 2005 for three places): an item without a free
# bin evicts a random one, which looks for another. O(1) expected moves below the load threshold of 0.91; a
# walk of max_moves means that there is most likely no way, and the caller takes other places.
@compiled
def _insert(places, table, state, max_moves):
    n_places = places.shape[1]
    for item in range(places.shape[0]):
        moved = item
        for _ in range(max_moves):
            free = -1
            for choice in range(n_places):
                if table[places[moved, choice]] < 0:
                    free = places[moved, choice]
                    break
            if free >= 0:
                table[free] = moved
                moved = -1
                break
            # Knuth's linear congruential generator; its low bits are poor, hence the shift. Nothing secret
            # hangs on it.
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            choice = np.int64((state >> np.uint64(33)) % np.uint64(n_places))
            target = places[moved, choice]
            other = table[target]
            table[target] = moved
            moved = other
        if moved >= 0:
            return False
    return True
