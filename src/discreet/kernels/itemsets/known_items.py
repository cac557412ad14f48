"""Known items: how many baskets hold the r items that somebody knows of a basket, for all r-sets or for drawn ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.itemsets.combinations import BasketLayout
from discreet.kernels.itemsets.occurrences import branch, room, tally_behind


def match_sums(layout: BasketLayout, r: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each basket, sum 1/matches over all sets of r of its items, and count the sets only this basket holds."""
    sums: tuple[NDArray[np.float64], NDArray[np.int64]] = _sums(
        layout.entries, layout.basket, layout.starts, layout.places, r, layout.n_baskets
    )
    return sums


# The search of ``combinations``, without counts on the way: at the last level each r-set adds 1 / matches to
# every basket that holds it, the chance that somebody who knows these r items picks it.
# O(r-sets of all baskets).
@compiled
def _sums(entries, basket, starts, places, r, n_baskets):
    n_items = starts.size - 1
    inverse, alone = np.zeros(n_baskets), np.zeros(n_baskets, np.int64)
    tally, slot = np.zeros(n_items, np.int64), np.empty(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    occurrences, nodes = np.empty(4096, np.int64), np.empty(4096, np.int64)
    for lowest in range(n_items):
        size = starts[lowest + 1] - starts[lowest]
        occurrences = room(occurrences, size)
        put(occurrences, 0, places[starts[lowest] : starts[lowest + 1]])
        if r == 1:
            for position in range(size):
                inverse[basket[occurrences[position]]] += 1 / size
                alone[basket[occurrences[position]]] += size == 1
        nodes[0], nodes[1], nodes[2], nodes[3] = lowest, 0, 0, size
        n_nodes = 1 if r > 1 else 0
        while n_nodes > 0:
            n_nodes -= 1
            depth, begin, top = nodes[4 * n_nodes + 1], nodes[4 * n_nodes + 2], nodes[4 * n_nodes + 3]
            n_touched = tally_behind(entries, occurrences, begin, top, tally, touched)
            if depth + 2 == r:
                _add(entries, basket, occurrences, begin, top, tally, inverse, alone)
                for number in range(n_touched):
                    tally[touched[number]] = 0
            else:
                nodes, n_nodes, occurrences = branch(
                    entries,
                    nodes,
                    n_nodes,
                    occurrences,
                    begin,
                    top,
                    depth + 1,
                    touched[:n_touched],
                    tally,
                    slot,
                    1,
                )
    return inverse, alone


@compiled
def _add(entries, basket, occurrences, begin, end, tally, inverse, alone):
    for position in range(begin, end):
        at = occurrences[position]
        row = basket[at]
        while entries[at] >= 0:
            inverse[row] += 1 / tally[entries[at]]
            alone[row] += tally[entries[at]] == 1
            at += 1


# Walk the shortest of the lists and search the others: O(length of the shortest x r log n) for each set.
@compiled
def matches_of(itemsets, starts, rows):
    """Count the baskets that hold all items of each row of ``itemsets``; CSR arrays list the baskets of each item."""
    counts = np.zeros(itemsets.shape[0], np.int64)
    for number in range(itemsets.shape[0]):
        items = itemsets[number]
        rarest = items[0]
        for item in items:
            if starts[item + 1] - starts[item] < starts[rarest + 1] - starts[rarest]:
                rarest = item
        for entry in range(starts[rarest], starts[rarest + 1]):
            contained = True
            for item in items:
                among = rows[starts[item] : starts[item + 1]]
                at = np.searchsorted(among, rows[entry])
                if at == among.size or among[at] != rows[entry]:
                    contained = False
                    break
            counts[number] += contained
    return counts
