"""Combinations of items: how many baskets hold each one that occurs, by delivering occurrences depth-first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.itemsets.occurrences import arrange, branch, room, tally_behind
from discreet.kernels.threads import in_threads, processors

_NEVER = 2**62


class BasketLayout(NamedTuple):
    """Baskets arranged for counting: the items of each in ascending order, then -1.

    ``places[starts[i]:starts[i + 1]]`` are the places behind the entries of item i; ``basket`` is the basket of each
    place, that of the entry before it.
    """

    entries: NDArray[np.int32]
    basket: NDArray[np.int32]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    n_baskets: int


class Counted(NamedTuple):
    """The result of counting.

    ``least`` is the least count of a combination, None where there is none; ``n_rare`` of the ``n_sets`` combinations
    are in fewer than k baskets, ``rare`` holds those of m items where they were kept, and ``marked`` marks which
    baskets hold a rare one.
    """

    least: int | None
    n_sets: int
    n_rare: int
    rare: NDArray[np.int32]
    marked: NDArray[np.bool_]


def laid_out(indptr: NDArray[np.int64], items: NDArray[np.int32], rank: NDArray[np.int32]) -> BasketLayout:
    """Write the ranks of every basket's items in ascending order; ``rank`` is -1 for an item left out."""
    entries, basket, starts, places = arrange(indptr, items, rank, int(rank.max(initial=-1)) + 1, True)
    return BasketLayout(entries, basket, starts, places, indptr.size - 1)


def count_combinations(
    layout: BasketLayout,
    k: int,
    m: int,
    *,
    first: int = 0,
    stop: int | None = None,
    keep: bool = False,
    hasty: bool = False,
) -> Counted:
    """Count every combination of at most m items that occurs and whose lowest item is in ``range(first, stop)``.

    With ``keep`` the rare combinations of m items are returned in ascending order. With ``hasty`` the counting ends
    soon after a rare one is found; then only whether there is one is known.
    """
    marked = np.zeros(layout.n_baskets, np.bool_)
    end = layout.starts.size - 1 if stop is None else stop
    parts = min(processors(), max(end - first, 1))
    results = in_threads(
        lambda part, _: _deliver(*layout[:4], k, m, first + part, end, parts, keep, hasty, marked),
        parts,
        threads=parts,
    )
    least = min(result[0] for result in results)
    rare = np.concatenate([result[3] for result in results]).reshape(-1, m)
    return Counted(
        None if least == _NEVER else int(least),
        sum(int(result[1]) for result in results),
        sum(int(result[2]) for result in results),
        rare[np.lexsort(rare.T[::-1])],
        marked,
    )


# Occurrence delivery, as in LCM (Uno, Kiyomi and Arimura 2004). Nothing can be pruned: a rare set has rare
# supersets only, but these count as well. Time is that of reading, for every set visited, its baskets behind
# its last item. Invariant: the places of the nodes on the stack lie in the same order, those of the last one
# on top; what lies behind them is free for its children. Memory: the places along one path and those of the
# siblings.
@compiled
def _deliver(entries, basket, starts, places, k, m, first, stop, step, keep, hasty, marked):
    """Visit every combination of fewer than m items and tally what follows it.

    The nodes still to be visited are on a stack, and so are the places behind their last items.
    """
    n_items = starts.size - 1
    tally, slot = np.zeros(n_items, np.int64), np.empty(n_items, np.int64)
    touched, path = np.empty(n_items, np.int32), np.empty(m, np.int32)
    occurrences, nodes = np.empty(4096, np.int64), np.empty(4096, np.int64)
    rare = np.empty(1024, np.int32)
    least, n_sets, n_rare, n_kept = np.int64(_NEVER), 0, 0, 0
    for lowest in range(first, stop, step):
        size = starts[lowest + 1] - starts[lowest]
        if size == 0:
            continue
        occurrences = room(occurrences, size)
        put(occurrences, 0, places[starts[lowest] : starts[lowest + 1]])
        path[0] = lowest
        n_sets, least = n_sets + 1, min(least, size)
        if size < k:
            n_rare += 1
            for position in range(size):
                # Threads share the marks without a lock: they only ever write True.
                marked[basket[occurrences[position]]] = True
            if keep and m == 1:
                rare = _append_set(rare, n_kept, path)
                n_kept += 1
        nodes[0], nodes[1], nodes[2], nodes[3] = lowest, 0, 0, size
        n_nodes = 1 if m > 1 else 0
        while n_nodes > 0 and not (hasty and n_rare > 0):
            n_nodes -= 1
            depth, begin, top = nodes[4 * n_nodes + 1], nodes[4 * n_nodes + 2], nodes[4 * n_nodes + 3]
            path[depth] = nodes[4 * n_nodes]
            n_touched = tally_behind(entries, occurrences, begin, top, tally, touched)
            fewest, n_few = _few(tally, touched[:n_touched], k)
            n_sets, least, n_rare = n_sets + n_touched, min(least, fewest), n_rare + n_few
            if n_few > 0:
                _mark(entries, basket, occurrences, begin, top, tally, k, marked)
            # At the last level the tallies are the counts, and no place need be handed on.
            if depth + 2 == m:
                for number in range(n_touched):
                    if keep and tally[touched[number]] < k:
                        path[m - 1] = touched[number]
                        rare = _append_set(rare, n_kept, path)
                        n_kept += m
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
    return least, n_sets, n_rare, rare[:n_kept].copy()


@compiled
def _append_set(rare, n_kept, path):
    rare = room(rare, n_kept + path.size)
    put(rare, n_kept, path)
    return rare


@compiled
def _few(tally, touched, k):
    """Return the least of the tallies, and how many are below k."""
    least, n_few = np.int64(_NEVER), 0
    for number in touched:
        least = min(least, tally[number])
        n_few += tally[number] < k
    return least, n_few


@compiled
def _mark(entries, basket, occurrences, begin, end, tally, k, marked):
    for position in range(begin, end):
        at = occurrences[position]
        while entries[at] >= 0:
            if tally[entries[at]] < k:
                marked[basket[occurrences[position]]] = True
                break
            at += 1
