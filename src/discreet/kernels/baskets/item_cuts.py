"""Cuts through a tree of items: raise the nodes of combinations that are in too few baskets, at the least loss.

A tree has each node's parent (-1 for the root) and the run of leaves below it. A cut maps each leaf to its node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put

_KNOWN = 1 << 16
"""The images remembered as frequent enough."""


def holders_of(
    indptr: NDArray[np.int64], leaves: NDArray[np.int32], parent: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the baskets that hold a leaf below each node, in ascending order, as CSR arrays."""
    holders: tuple[NDArray[np.int64], NDArray[np.int32]] = _holders(indptr, leaves, parent)
    return holders


# Two passes, counting and writing. A climb ends at the first ancestor that this basket has marked, since all
# above are marked too: O(pairs of basket and node), not O(entries x height).
@compiled
def _holders(indptr, leaves, parent):
    starts = np.zeros(parent.size + 1, np.int64)
    fill = np.zeros(parent.size, np.int64)
    rows = np.empty(0, np.int32)
    for writing in range(2):
        last = np.full(parent.size, -1, np.int64)
        for basket in range(indptr.size - 1):
            for entry in range(indptr[basket], indptr[basket + 1]):
                node = leaves[entry]
                while node >= 0 and last[node] != basket:
                    last[node] = basket
                    if writing:
                        rows[fill[node]] = basket
                        fill[node] += 1
                    else:
                        starts[node + 1] += 1
                    node = parent[node]
        if not writing:
            put(starts, 0, np.cumsum(starts))
            put(fill, 0, starts[:-1])
            rows = np.empty(starts[-1], np.int32)
    return starts, rows


def baskets_under(
    indptr: NDArray[np.int64],
    leaves: NDArray[np.int32],
    rows: NDArray[np.int32],
    cut: NDArray[np.int32],
    n_nodes: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the nodes of some baskets under a cut, each node once a basket, as CSR arrays."""
    nodes: tuple[NDArray[np.int64], NDArray[np.int32]] = _under(indptr, leaves, rows, cut, n_nodes)
    return nodes


# Each row's nodes of the cut, each once: ``last`` holds the row that met a node last, so that nothing is emptied
# between rows. O(entries + nodes).
@compiled
def _under(indptr, leaves, rows, cut, n_nodes):
    last = np.full(n_nodes, -1, np.int64)
    starts = np.zeros(rows.size + 1, np.int64)
    room = 0
    for row in rows:
        room += indptr[row + 1] - indptr[row]
    nodes = np.empty(room, np.int32)
    n_kept = 0
    for number in range(rows.size):
        for entry in range(indptr[rows[number]], indptr[rows[number] + 1]):
            node = cut[leaves[entry]]
            if last[node] != number:
                last[node] = number
                nodes[n_kept] = node
                n_kept += 1
        starts[number + 1] = n_kept
    return starts, nodes[:n_kept].copy()


# The search of Apriori anonymization (Terrovitis, Mamoulis and Kalnis 2008) for one size of sets. Cuts only
# rise, and a raised image is in no fewer baskets, so that a set once frequent enough stays so.
@compiled
def raise_cut(sets, k, starts, rows, parent, low, high, price, weight, loss, cut):
    """Make every set's image under the cut occur in at least k baskets; return how often the cut was raised.

    ``price`` is each node's loss for one occurrence, ``weight`` the occurrences below it, ``loss`` what the cut costs
    below it; ``loss`` and ``cut`` are changed. An image of fewer nodes than its set occurs often enough already.
    """
    m = sets.shape[1]
    image, best = np.empty(m, np.int32), np.empty(m, np.int32)
    checked = np.full((_KNOWN, m), -1, np.int32)
    raised = 0
    for number in range(sets.shape[0]):
        for position in range(m):
            image[position] = cut[low[sets[number, position]]]
        if _is_known(image, checked) or _tops(image, low, high, best) < m:
            continue
        if _enough(image, m, k, starts, rows):
            continue
        n_best = _cheapest(image, k, starts, rows, parent, low, high, price, weight, loss, best)
        for position in range(n_best):
            raised += _lift(best[position], parent, low, high, price, weight, loss, cut)
    return raised


# A cache with one entry a slot, overwritten on collision: it spares repeated counting and decides nothing
# else.
@compiled
def _is_known(image, checked):
    """Return whether an image was looked at before, as far as remembered; it occurs often enough then, or is gone."""
    slot = 0
    for node in image:
        slot = (slot * 1_000_003 + node) % _KNOWN
    same = True
    for position in range(image.size):
        same &= checked[slot, position] == image[position]
        checked[slot, position] = image[position]
    return same


# All combinations of ancestors, counted through like an odometer: O(product of the depths). The price, which
# is cheap to work out, is compared before baskets are counted; of equal prices the first stays.
@compiled
def _cheapest(image, k, starts, rows, parent, low, high, price, weight, loss, best):
    """Try all ancestors of all nodes, write those that cost least and occur together often enough, and count them."""
    m = image.size
    chosen, depth, step = np.empty(m, np.int32), np.zeros(m, np.int64), np.zeros(m, np.int64)
    for position in range(m):
        node = image[position]
        while node >= 0:
            depth[position] += 1
            node = parent[node]
    least, n_best = np.inf, 0
    position = 0
    while position >= 0:
        n_chosen, cost = _choose(image, step, parent, low, high, price, weight, loss, chosen)
        if cost < least and _enough(chosen, n_chosen, k, starts, rows):
            least, n_best = cost, n_chosen
            put(best, 0, chosen[:n_chosen])
        position = m - 1
        while position >= 0 and step[position] + 1 == depth[position]:
            step[position] = 0
            position -= 1
        if position >= 0:
            step[position] += 1
    return n_best


@compiled
def _choose(image, step, parent, low, high, price, weight, loss, chosen):
    """Return the topmost ancestors that many steps above each node, and what raising the cut to them would cost."""
    above = image.copy()
    for position in range(image.size):
        for _ in range(step[position]):
            above[position] = parent[above[position]]
    n_chosen = _tops(above, low, high, chosen)
    cost = 0.0
    for position in range(n_chosen):
        node = chosen[position]
        cost += weight[node] * price[node] - loss[node]
    return n_chosen, cost


# A node lies below another where its run of leaves lies within the other's. O(nodes squared), of the few of one
# combination.
@compiled
def _tops(nodes, low, high, tops):
    """Write the nodes that are below no other of them, each once, and count them."""
    n_tops = 0
    for position in range(nodes.size):
        node = nodes[position]
        covered = False
        for other in range(nodes.size):
            same = nodes[other] == node
            wider = low[nodes[other]] <= low[node] and high[node] <= high[nodes[other]]
            if (wider and not same) or (same and other < position):
                covered = True
                break
        if not covered:
            tops[n_tops] = node
            n_tops += 1
    return n_tops


# Walk the shortest list, search the others, stop at k: O(shortest x m log n).
@compiled
def _enough(nodes, n_nodes, k, starts, rows):
    """Return whether at least k baskets hold something below each of the nodes."""
    rarest = 0
    for position in range(n_nodes):
        here = starts[nodes[position] + 1] - starts[nodes[position]]
        if here < k:
            return False
        if here < starts[nodes[rarest] + 1] - starts[nodes[rarest]]:
            rarest = position
    count = 0
    for entry in range(starts[nodes[rarest]], starts[nodes[rarest] + 1]):
        contained = True
        for position in range(n_nodes):
            if position == rarest:
                continue
            among = rows[starts[nodes[position]] : starts[nodes[position] + 1]]
            at = np.searchsorted(among, rows[entry])
            if at == among.size or among[at] != rows[entry]:
                contained = False
                break
        count += contained
        if count >= k:
            return True
    return False


@compiled
def _lift(node, parent, low, high, price, weight, loss, cut):
    """Raise the cut to a node, and return whether that changed it."""
    if cut[low[node]] == node:
        return 0
    cut[low[node] : high[node]] = node
    dearer = weight[node] * price[node] - loss[node]
    # Losses below the node are left stale: the cut never sinks, so nobody reads them again.
    while node >= 0:
        loss[node] += dearer
        node = parent[node]
    return 1
