"""Depth-first mining of frequent itemsets: over bit columns for dense data, over occurrences for long thin data.

Both return the sets in any order, as CSR arrays: where each set begins, its items, and its count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put
from discreet.kernels.itemsets.bits import ones
from discreet.kernels.itemsets.occurrences import append_set, arrange, branch, room, tally_behind
from discreet.kernels.threads import in_threads, processors

Sets = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]


def mine_columns(blocks: NDArray[np.uint64], n: int, least: int, longest: int) -> Sets:
    """Find the sets in at least ``least`` of n baskets; fastest with items in ascending order of their counts."""
    words = -(-n // 64)
    columns = np.ascontiguousarray(blocks.transpose(1, 0, 2).reshape(blocks.shape[1], -1)[:, :words])
    return _all(lambda part, parts: _search_columns(columns, least, longest, part, parts))


def mine_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rank: NDArray[np.int32], least: int, longest: int
) -> Sets:
    """Find the sets in at least ``least`` baskets.

    ``rank`` is each item's number from the rarest on, -1 for none; the items of the sets are such numbers.
    """
    entries, _, starts, places = arrange(indptr, items, rank, int(rank.max(initial=-1)) + 1, False)
    small = places.astype(np.int32) if entries.size < 2**31 else places
    del places
    return _all(lambda part, parts: _deliver(entries, starts, small, least, longest, part, parts))


def _all(mine: Callable[[int, int], Any]) -> Sets:
    """Share the first items out among the threads, and put what they find together."""
    parts = processors()
    results = in_threads(lambda part, _: mine(part, parts), parts)
    sizes = np.concatenate([sizes for sizes, _, _ in results])
    indptr = ragged.bounds(sizes)
    return (
        indptr,
        np.concatenate([items for _, items, _ in results]),
        np.concatenate([n for _, _, n in results]),
    )


@compiled
def squared_lengths(indptr, items, looked_at):
    """Sum the squared lengths of the baskets, only the items looked at counted."""
    total = 0.0
    for basket in range(indptr.size - 1):
        length = 0
        for entry in range(indptr[basket], indptr[basket + 1]):
            length += looked_at[items[entry]]
        total += length * length
    return total


# Eclat (Zaki 2000) over bit columns. Invariant: ``stack[end[d - 1]:end[d]]`` are the columns of the class at
# depth d, each the AND of the path and one item; a node is extended by its right siblings only, so every set
# comes once. O(pairs of siblings x words); memory: the classes along one path.
@compiled
def _search_columns(columns, least, longest, part, parts):
    """Intersect the columns of a class pairwise; the columns of all classes above are on one stack."""
    n_items, words = columns.shape
    stack = np.empty((n_items + 64) * words, np.uint64)
    item = np.empty(n_items + 64, np.int32)
    count = np.empty(n_items + 64, np.int64)
    for column in range(n_items):
        put(stack, column * words, columns[column])
        item[column] = column
        count[column] = _ones_of(columns[column])
    cursor = np.empty(n_items + 1, np.int64)
    end = np.empty(n_items + 1, np.int64)
    cursor[0], end[0] = part, n_items
    path = np.empty(n_items + 1, np.int32)
    sizes, items, counts = np.empty(1024, np.int32), np.empty(4096, np.int32), np.empty(1024, np.int64)
    n_sets = n_entries = depth = 0
    while depth >= 0:
        node = cursor[depth]
        if node >= end[depth]:
            depth -= 1
            continue
        # Threads take every parts-th first item: neighbors in the order have subtrees of like size.
        cursor[depth] += parts if depth == 0 else 1
        path[depth] = item[node]
        sizes, items, counts = append_set(
            sizes, items, counts, n_sets, n_entries, path[: depth + 1], count[node]
        )
        n_sets += 1
        n_entries += depth + 1
        if depth + 1 == longest:
            continue
        top = end[depth]
        for other in range(node + 1, end[depth]):
            stack = room(stack, (top + 1) * words)
            item, count = room(item, top + 1), room(count, top + 1)
            # Written to the top before it is known to be frequent; one that is not is overwritten by the
            # next.
            both = meet(stack, node * words, other * words, top * words, words)
            if both >= least:
                item[top], count[top] = item[other], both
                top += 1
        if top > end[depth]:
            cursor[depth + 1], end[depth + 1] = end[depth], top
            depth += 1
    return sizes[:n_sets].copy(), items[:n_entries].copy(), counts[:n_sets].copy()


@compiled
def _ones_of(column):
    total = np.uint64(0)
    for word in range(column.size):
        total += ones(column[word])
    return np.int64(total)


@compiled
def meet(stack, first, second, target, words):
    """Write the AND of two columns of the stack on its top, and count it."""
    x, y = stack[first : first + words], stack[second : second + words]
    top = stack[target : target + words]
    total = np.uint64(0)
    for word in range(words):
        bits = x[word] & y[word]
        top[word] = bits
        total += ones(bits)
    return np.int64(total)


# Occurrence delivery, as in LCM (Uno, Kiyomi and Arimura 2004): the support of a set is the number of its
# places. Ranks ascend from the rarest item: where much follows in a basket, few baskets are read.
# Time: the entries behind the places of every frequent set; see ``occurrences`` for the stacks.
@compiled
def _deliver(entries, starts, places, least, longest, part, parts):
    """Deliver occurrences: from the places behind a set's last item, count what follows, and hand the places on.

    The nodes to be visited are on a stack (item, depth, where its places begin and end), and so are the places.
    """
    n_items = starts.size - 1
    tally, slot = np.zeros(n_items, np.int64), np.empty(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    occurrences = np.empty(4096, places.dtype)
    nodes = np.empty(4096, np.int64)
    path = np.empty(n_items + 1, np.int32)
    sizes, items, counts = np.empty(1024, np.int32), np.empty(4096, np.int32), np.empty(1024, np.int64)
    n_sets = n_entries = 0
    for first in range(part, n_items, parts):
        here = places[starts[first] : starts[first + 1]]
        occurrences = room(occurrences, here.size)
        put(occurrences, 0, here)
        nodes[0], nodes[1], nodes[2], nodes[3] = first, 0, 0, here.size
        n_nodes = 1
        while n_nodes > 0:
            n_nodes -= 1
            item, depth, begin, top = nodes[4 * n_nodes : 4 * n_nodes + 4].copy()
            path[depth] = item
            sizes, items, counts = append_set(
                sizes, items, counts, n_sets, n_entries, path[: depth + 1], top - begin
            )
            n_sets += 1
            n_entries += depth + 1
            if depth + 1 == longest:
                continue
            n_touched = tally_behind(entries, occurrences, begin, top, tally, touched)
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
                least,
            )
    return sizes[:n_sets].copy(), items[:n_entries].copy(), counts[:n_sets].copy()
