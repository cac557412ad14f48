"""Nearest neighbors: a tree of boxes over points, searched within a bound; points can leave it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.kernels.compiled import compiled

_LEAF = 12
_STACK = 256


class Tree(NamedTuple):
    """Points in boxes: every node holds the points ``order[low:high]``; a node without a child is a leaf."""

    points: Any
    order: Any
    low: Any
    high: Any
    child: Any
    parent: Any
    alive: Any
    floor: Any
    ceiling: Any
    leaf_of: Any


def tree_of(points: Any) -> Tree:
    """Build a balanced tree over points; points are in the order of the leaves."""
    points = np.ascontiguousarray(points, np.float64)
    order = np.arange(len(points), dtype=np.int64)
    nodes = _built(points, order, _LEAF)
    return Tree(points[order], order, *nodes)


def nearest(points: Any, queries: Any) -> Any:
    """Find the nearest point of each query: its number and the distance to it."""
    everyone = np.ones(len(points), np.int64)
    return _nearest_of_all(tree_of(points), np.ascontiguousarray(queries, np.float64), everyone)


def spacing(points: Any, chosen: Any) -> Any:
    """Return the distance of chosen points to the nearest other one; infinite where there is none."""
    points = np.ascontiguousarray(points, np.float64)
    return _spacing(tree_of(points), points, np.ascontiguousarray(chosen, np.int64))


def groups_by_distance(points: Any, seeds: Any, k: int) -> Any:
    """Group each seed still free with its k − 1 nearest free points, in the order of the seeds.

    Returns a group for every point; the fewer than k points that are left have none (−1).
    """
    return _nearest_groups(tree_of(points), np.ascontiguousarray(seeds, np.int64), k)


# A k-d tree with tight boxes (Friedman, Bentley and Finkel 1977), cut at the median of the widest column;
# nodes are in breadth-first order, siblings side by side. O(n d log n). A leaf has at least half of ``leaf``
# points, hence at most 4n / leaf nodes. Depth is below log2 n, and a search stacks one node a level: 256 are
# plenty.
@compiled
def _built(points, order, leaf):
    n, d = points.shape
    most = 4 * (n // leaf + 1) + 8
    low = np.empty(most, np.int64)
    high = np.empty(most, np.int64)
    child = np.full(most, -1, np.int64)
    parent = np.full(most, -1, np.int64)
    floor = np.empty((most, d))
    ceiling = np.empty((most, d))
    leaf_of = np.empty(n, np.int64)
    keys = np.empty(n)
    low[0], high[0] = 0, n
    count, node = 1, 0
    while node < count:
        start, stop = low[node], high[node]
        widest, width = 0, -1.0
        for j in range(d):
            least = np.inf
            most_of = -np.inf
            for i in range(start, stop):
                value = points[order[i], j]
                least = min(least, value)
                most_of = max(most_of, value)
            floor[node, j] = least
            ceiling[node, j] = most_of
            if most_of - least > width:
                widest, width = j, most_of - least
        if stop - start <= leaf:
            for i in range(start, stop):
                leaf_of[order[i]] = node
            node += 1
            continue
        middle = (start + stop) // 2
        for i in range(start, stop):
            keys[i] = points[order[i], widest]
        select(keys, order, start, stop, middle)
        child[node] = count
        low[count], high[count], parent[count] = start, middle, node
        low[count + 1], high[count + 1], parent[count + 1] = middle, stop, node
        count += 2
        node += 1
    alive = high[:count] - low[:count]
    return (
        low[:count].copy(),
        high[:count].copy(),
        child[:count].copy(),
        parent[:count].copy(),
        alive,
        floor[:count].copy(),
        ceiling[:count].copy(),
        leaf_of,
    )


# Hoare's selection: O(stop - start) on average. Both scans stop at keys equal to the pivot, so that many
# equal keys are split evenly and do not make it quadratic.
@compiled
def select(keys, order, start, stop, rank):
    """Put the key that belongs at a place there, smaller ones before it; the order goes along."""
    left, right = start, stop - 1
    while right > left:
        pivot = keys[(left + right) >> 1]
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if rank <= j:
            right = j
        elif rank >= i:
            left = i
        else:
            break


@compiled
def _outside(tree, node, point):
    """Return the squared distance of a point to a node's box."""
    apart = 0.0
    for j in range(point.size):
        if point[j] < tree.floor[node, j]:
            apart += (tree.floor[node, j] - point[j]) ** 2
        elif point[j] > tree.ceiling[node, j]:
            apart += (point[j] - tree.ceiling[node, j]) ** 2
    return apart


# Branch and bound: a box no nearer than the best point is passed over, and the nearer child is visited
# first, as its box was pushed last. O(log n) for few columns, O(n) at worst. Of equally near points the
# first visited stays.
@compiled
def nearest_within(tree, point, bound, sizes, least, stack, reach):
    """Find the nearest point of at least some size within a squared bound: (its number or −1, squared distance)."""
    best, nearest_point = bound, -1
    stack[0], reach[0] = 0, _outside(tree, 0, point)
    depth = 1
    while depth > 0:
        depth -= 1
        if reach[depth] >= best:
            continue
        node = stack[depth]
        below = tree.child[node]
        if below < 0:
            for position in range(tree.low[node], tree.high[node]):
                apart = 0.0
                for j in range(point.size):
                    apart += (tree.points[position, j] - point[j]) ** 2
                if apart < best and sizes[tree.order[position]] >= least:
                    best, nearest_point = apart, tree.order[position]
            continue
        first, second = _outside(tree, below, point), _outside(tree, below + 1, point)
        swap = first <= second
        stack[depth], reach[depth] = (below + 1, second) if swap else (below, first)
        stack[depth + 1], reach[depth + 1] = (below, first) if swap else (below + 1, second)
        depth += 2
    return nearest_point, best


@compiled
def _nearest_of_all(tree, queries, sizes):
    nearest_points = np.empty(len(queries), np.int64)
    apart = np.empty(len(queries))
    stack, reach = np.empty(_STACK, np.int64), np.empty(_STACK)
    for i in range(len(queries)):
        nearest_points[i], apart[i] = nearest_within(tree, queries[i], np.inf, sizes, 1, stack, reach)
    return nearest_points, np.sqrt(apart)


# A search of the tree for each chosen point, which is left out of it. O(log points) for each, where points are spread
# out.
@compiled
def _spacing(tree, points, chosen):
    sizes = np.ones(len(points), np.int64)
    apart = np.empty(chosen.size)
    stack, reach = np.empty(_STACK, np.int64), np.empty(_STACK)
    for i in range(chosen.size):
        # Size 0 takes the point itself out of the search, and it alone: its duplicates are others.
        sizes[chosen[i]] = 0
        _, near = nearest_within(tree, points[chosen[i]], np.inf, sizes, 1, stack, reach)
        apart[i] = np.sqrt(near)
        sizes[chosen[i]] = 1
    return apart


# A binary heap in two arrays, the farthest at 0: O(log k). When full, the caller has checked that the item
# is nearer.
@compiled
def keep_nearest(heap, items, count, k, apart, item):
    """Keep an item among the k nearest, the farthest of them on top of the heap; return how many are kept."""
    if count < k:
        slot = count
        heap[slot], items[slot] = apart, item
        while slot > 0:
            above = (slot - 1) >> 1
            if heap[above] >= heap[slot]:
                break
            heap[above], heap[slot] = heap[slot], heap[above]
            items[above], items[slot] = items[slot], items[above]
            slot = above
        return count + 1
    heap[0], items[0] = apart, item
    slot = 0
    while True:
        below = 2 * slot + 1
        if below >= k:
            break
        if below + 1 < k and heap[below + 1] > heap[below]:
            below += 1
        if heap[below] <= heap[slot]:
            break
        heap[below], heap[slot] = heap[slot], heap[below]
        items[below], items[slot] = items[slot], items[below]
        slot = below
    return count


# Points that are grouped stay in the tree; ``alive`` counts the free ones below each node, up to the root,
# so that emptied subtrees are passed over. O(k log n) for each group while many are free.
@compiled
def _nearest_groups(tree, seeds, k):
    n, d = tree.points.shape
    position_of = np.empty(n, np.int64)
    for position in range(n):
        position_of[tree.order[position]] = position
    label = np.full(n, -1, np.int64)
    heap, items = np.empty(k), np.empty(k, np.int64)
    stack, reach = np.empty(_STACK, np.int64), np.empty(_STACK)
    group, left = 0, n
    for seed in seeds:
        if label[seed] >= 0:
            continue
        if left < k:
            break
        point = tree.points[position_of[seed]]
        count = 0
        stack[0], reach[0] = 0, 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if tree.alive[node] == 0 or (count == k and reach[depth] >= heap[0]):
                continue
            below = tree.child[node]
            if below < 0:
                for position in range(tree.low[node], tree.high[node]):
                    if label[tree.order[position]] >= 0:
                        continue
                    apart = 0.0
                    for j in range(d):
                        apart += (tree.points[position, j] - point[j]) ** 2
                    if count < k or apart < heap[0]:
                        count = keep_nearest(heap, items, count, k, apart, tree.order[position])
                continue
            first, second = _outside(tree, below, point), _outside(tree, below + 1, point)
            swap = first <= second
            stack[depth], reach[depth] = (below + 1, second) if swap else (below, first)
            stack[depth + 1], reach[depth + 1] = (below, first) if swap else (below + 1, second)
            depth += 2
        for item in items[:k]:
            label[item] = group
            node = tree.leaf_of[item]
            while node >= 0:
                tree.alive[node] -= 1
                node = tree.parent[node]
        left -= k
        group += 1
    return label
