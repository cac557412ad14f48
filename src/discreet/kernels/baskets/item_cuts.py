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
    found: tuple[NDArray[np.int64], NDArray[np.int32]] = _holders(indptr, leaves, parent)
    return found


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
    found: tuple[NDArray[np.int64], NDArray[np.int32]] = _under(indptr, leaves, rows, cut, n_nodes)
    return found


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


@compiled
def raise_cut(sets, k, starts, rows, parent, low, high, price, weight, loss, cut):
    """Make every set's image under the cut occur in at least k baskets; return how often the cut was raised.

    ``price`` is each node's loss for one occurrence, ``weight`` the occurrences below it, ``loss`` what the cut costs
    below it; ``loss`` and ``cut`` are changed. An image of fewer nodes than its set occurs often enough already.
    """
    m = sets.shape[1]
    image, best = np.empty(m, np.int32), np.empty(m, np.int32)
    known = np.full((_KNOWN, m), -1, np.int32)
    raised = 0
    for number in range(sets.shape[0]):
        for place in range(m):
            image[place] = cut[low[sets[number, place]]]
        if _is_known(image, known) or _tops(image, low, high, best) < m:
            continue
        if _enough(image, m, k, starts, rows):
            continue
        n_best = _cheapest(image, k, starts, rows, parent, low, high, price, weight, loss, best)
        for place in range(n_best):
            raised += _lift(best[place], parent, low, high, price, weight, loss, cut)
    return raised


@compiled
def _is_known(image, known):
    """Return whether an image was looked at before, as far as remembered; it occurs often enough then, or is gone."""
    slot = 0
    for node in image:
        slot = (slot * 1_000_003 + node) % _KNOWN
    same = True
    for place in range(image.size):
        same &= known[slot, place] == image[place]
        known[slot, place] = image[place]
    return same


@compiled
def _cheapest(image, k, starts, rows, parent, low, high, price, weight, loss, best):
    """Try all ancestors of all nodes, write those that cost least and occur together often enough, and count them."""
    m = image.size
    chosen, depth, step = np.empty(m, np.int32), np.zeros(m, np.int64), np.zeros(m, np.int64)
    for place in range(m):
        node = image[place]
        while node >= 0:
            depth[place] += 1
            node = parent[node]
    least, n_best = np.inf, 0
    place = 0
    while place >= 0:
        n_chosen, cost = _choose(image, step, parent, low, high, price, weight, loss, chosen)
        if cost < least and _enough(chosen, n_chosen, k, starts, rows):
            least, n_best = cost, n_chosen
            put(best, 0, chosen[:n_chosen])
        place = m - 1
        while place >= 0 and step[place] + 1 == depth[place]:
            step[place] = 0
            place -= 1
        if place >= 0:
            step[place] += 1
    return n_best


@compiled
def _choose(image, step, parent, low, high, price, weight, loss, chosen):
    """Return the topmost ancestors that many steps above each node, and what raising the cut to them would cost."""
    above = image.copy()
    for place in range(image.size):
        for _ in range(step[place]):
            above[place] = parent[above[place]]
    n_chosen = _tops(above, low, high, chosen)
    cost = 0.0
    for place in range(n_chosen):
        node = chosen[place]
        cost += weight[node] * price[node] - loss[node]
    return n_chosen, cost


@compiled
def _tops(nodes, low, high, tops):
    """Write the nodes that are below no other of them, each once, and count them."""
    n_tops = 0
    for place in range(nodes.size):
        node = nodes[place]
        covered = False
        for other in range(nodes.size):
            same = nodes[other] == node
            wider = low[nodes[other]] <= low[node] and high[node] <= high[nodes[other]]
            if (wider and not same) or (same and other < place):
                covered = True
                break
        if not covered:
            tops[n_tops] = node
            n_tops += 1
    return n_tops


@compiled
def _enough(nodes, n_nodes, k, starts, rows):
    """Return whether at least k baskets hold something below each of the nodes."""
    rarest = 0
    for place in range(n_nodes):
        here = starts[nodes[place] + 1] - starts[nodes[place]]
        if here < k:
            return False
        if here < starts[nodes[rarest] + 1] - starts[nodes[rarest]]:
            rarest = place
    count = 0
    for entry in range(starts[nodes[rarest]], starts[nodes[rarest] + 1]):
        held = True
        for place in range(n_nodes):
            if place == rarest:
                continue
            among = rows[starts[nodes[place]] : starts[nodes[place] + 1]]
            at = np.searchsorted(among, rows[entry])
            if at == among.size or among[at] != rows[entry]:
                held = False
                break
        count += held
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
    while node >= 0:
        loss[node] += dearer
        node = parent[node]
    return 1
