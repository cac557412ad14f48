"""Itemsets of baskets that count by a weight each: depth-first, by delivering occurrences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.itemsets.combinations import BasketLayout
from discreet.kernels.itemsets.occurrences import append_set, room, scatter_places

Sets = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def mine_weighted(layout: BasketLayout, weights: NDArray[np.float64], least: float, longest: int) -> Sets:
    """Find the sets of up to ``longest`` items whose baskets weigh enough: CSR arrays and weights, in any order."""
    sizes, items, set_weights = _deliver(
        layout.entries, layout.basket, layout.starts, layout.places, weights, least, longest
    )
    return ragged.bounds(sizes), items, set_weights


# Occurrence delivery, as in ``eclat``, with weights for counts: they are not negative, so a superset weighs
# no more and what is too light is cut off. Time: the entries behind the places of every set found.
@compiled
def _deliver(entries, basket, starts, places, weights, least, longest):
    """Go from the places behind a set's last item to what follows; nodes and places are on stacks."""
    n_items = starts.size - 1
    tally, slot = np.zeros(n_items), np.empty(n_items, np.int64)
    count, touched = np.zeros(n_items, np.int64), np.empty(n_items, np.int32)
    occurrences, nodes, heavy = np.empty(4096, np.int64), np.empty(4096, np.int64), np.empty(1024)
    sizes, items, set_weights = np.empty(1024, np.int64), np.empty(4096, np.int32), np.empty(1024)
    path = np.empty(n_items + 1, np.int32)
    n_sets = n_entries = 0
    for lowest in range(n_items):
        size = starts[lowest + 1] - starts[lowest]
        occurrences = room(occurrences, size)
        put(occurrences, 0, places[starts[lowest] : starts[lowest + 1]])
        heavy[0] = 0.0
        for position in range(size):
            heavy[0] += weights[basket[occurrences[position]]]
        nodes[0], nodes[1], nodes[2], nodes[3] = lowest, 0, 0, size
        n_nodes = 1 if size > 0 and heavy[0] >= least and longest > 0 else 0
        while n_nodes > 0:
            n_nodes -= 1
            depth, begin, top = nodes[4 * n_nodes + 1], nodes[4 * n_nodes + 2], nodes[4 * n_nodes + 3]
            path[depth] = nodes[4 * n_nodes]
            sizes, items, set_weights = append_set(
                sizes, items, set_weights, n_sets, n_entries, path[: depth + 1], heavy[n_nodes]
            )
            n_sets, n_entries = n_sets + 1, n_entries + depth + 1
            if depth + 1 == longest:
                continue
            n_touched = _tally(entries, basket, occurrences, begin, top, weights, tally, count, touched)
            end = top
            nodes, heavy = room(nodes, 4 * (n_nodes + n_touched)), room(heavy, n_nodes + n_touched)
            for number in range(n_touched):
                item = touched[number]
                slot[item] = -1
                if tally[item] >= least:
                    at = 4 * n_nodes
                    nodes[at], nodes[at + 1], nodes[at + 2] = item, depth + 1, end
                    slot[item], heavy[n_nodes] = end, tally[item]
                    end += count[item]
                    nodes[at + 3] = end
                    n_nodes += 1
                tally[item], count[item] = 0.0, 0
            occurrences = room(occurrences, end)
            scatter_places(entries, occurrences, begin, top, slot)
    return sizes[:n_sets].copy(), items[:n_entries].copy(), set_weights[:n_sets].copy()


# Occurrence delivery: what follows each occurrence in its basket, up to the end mark below 0, gets the basket's
# weight. O(entries behind the occurrences).
@compiled
def _tally(entries, basket, occurrences, begin, end, weights, tally, count, touched):
    n_touched = 0
    for position in range(begin, end):
        at = occurrences[position]
        weight = weights[basket[at]]
        while entries[at] >= 0:
            item = entries[at]
            # The count, not the tally: a sum of weights may be 0 for an item that was met.
            if count[item] == 0:
                touched[n_touched] = item
                n_touched += 1
            count[item] += 1
            tally[item] += weight
            at += 1
    return n_touched
