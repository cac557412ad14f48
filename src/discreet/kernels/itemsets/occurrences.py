"""Delivering occurrences: from the places behind a set's last item to what follows, depth-first.

Baskets are stored one after the other, the items of each ascending, then -1. A node of the search stands for a
set: its last item, its depth, and where the places behind that item begin and end. Nodes are on a stack, places too.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import grown, put


# A counting sort of the places by item, O(entries) besides the sorts inside baskets. The -1 behind each
# basket ends the scans over it, which therefore need neither its number nor its length.
@compiled
def arrange(indptr, items, rank, n_ranks, with_baskets):
    """Write the baskets' ranks in ascending order, -1 after each basket, and the places behind each rank's entries.

    ``rank`` is -1 for an item left out. Returns the entries, the basket of each place (empty unless they are wanted),
    where the places of each rank begin, and the places.
    """
    starts = np.zeros(n_ranks + 1, np.int64)
    n_kept = 0
    for item in items:
        if rank[item] >= 0:
            starts[rank[item] + 1] += 1
            n_kept += 1
    for number in range(n_ranks):
        starts[number + 1] += starts[number]
    fill = starts[:-1].copy()
    entries = np.empty(n_kept + indptr.size - 1, np.int32)
    basket = np.zeros(entries.size + 1 if with_baskets else 0, np.int32)
    places = np.empty(n_kept, np.int64)
    position = 0
    for row in range(indptr.size - 1):
        begin = position
        for entry in range(indptr[row], indptr[row + 1]):
            number = rank[items[entry]]
            if number >= 0:
                entries[position] = number
                position += 1
        entries[begin:position].sort()
        for at in range(begin, position):
            places[fill[entries[at]]] = at + 1
            fill[entries[at]] += 1
            if with_baskets:
                basket[at + 1] = row
        entries[position] = -1
        position += 1
    return entries, basket, starts, places


# Doubling: appending n entries copies fewer than 2n in all.
@compiled
def room(array, needed):
    """Return the array, or a copy with more room."""
    if needed <= array.size:
        return array
    return grown(array, max(needed, 2 * array.size))


@compiled
def append_set(sizes, items, counts, n_sets, n_entries, path, count):
    """Write a set behind those found, and return the arrays, which may have grown."""
    sizes, counts = room(sizes, n_sets + 1), room(counts, n_sets + 1)
    items = room(items, n_entries + path.size)
    sizes[n_sets], counts[n_sets] = path.size, count
    put(items, n_entries, path)
    return sizes, items, counts


# Only items that occur are listed, and only their tallies are cleared afterwards: a node costs what follows
# it, not the number of all items.
@compiled
def tally_behind(entries, occurrences, begin, end, tally, touched):
    """Count the items behind the places, and list them."""
    n_touched = 0
    for position in range(begin, end):
        at = occurrences[position]
        while entries[at] >= 0:
            number = entries[at]
            if tally[number] == 0:
                touched[n_touched] = number
                n_touched += 1
            tally[number] += 1
            at += 1
    return n_touched


# A counting sort of the places by the item that follows: tallies become slots, and the places are written to
# them, above those of the node itself, which is the last on the stack. ``least`` prunes: supersets are no
# more frequent.
@compiled
def branch(entries, nodes, n_nodes, occurrences, begin, top, depth, touched, tally, slot, least):
    """Go deeper: a node for every item that follows often enough, and its places; the tallies are cleared.

    Returns the stacks, which may have grown, and the number of nodes.
    """
    nodes = room(nodes, 4 * (n_nodes + touched.size))
    n_before, end = n_nodes, top
    for item in touched:
        slot[item] = -1
        if tally[item] >= least:
            at = 4 * n_nodes
            slot[item] = end
            nodes[at], nodes[at + 1], nodes[at + 2] = item, depth, end
            end += tally[item]
            nodes[at + 3] = end
            n_nodes += 1
        tally[item] = 0
    if n_nodes > n_before:
        occurrences = room(occurrences, end)
        scatter_places(entries, occurrences, begin, top, slot)
    return nodes, n_nodes, occurrences


@compiled
def scatter_places(entries, occurrences, begin, end, slot):
    """Write the places behind each item that follows the given places, from its slot on; -1 is no slot."""
    for position in range(begin, end):
        at = occurrences[position]
        while entries[at] >= 0:
            target = slot[entries[at]]
            if target >= 0:
                occurrences[target] = at + 1
                slot[entries[at]] = target + 1
            at += 1
