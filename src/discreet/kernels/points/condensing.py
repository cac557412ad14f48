"""Condensation's loops: MDAV, blocks of near records, and moves between groups that lower the squared error."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.points.neighbors import Tree, keep_nearest, nearest_within, select
from discreet.kernels.threads import in_threads

_STACK = 256
_LOOKED_AT = 1024
"""How many rows of a block decide which column to cut it along."""


def mdav(values: Any, k: int) -> Any:
    """Group rows by MDAV: the rows farthest out first, each with its k − 1 nearest; return a group for every row."""
    return blocked_mdav(values, k, max(len(values), 1))


def blocked_mdav(values: Any, k: int, block: int) -> Any:
    """Cut rows into blocks along their widest columns, and group each block by MDAV; there are at least k rows.

    A block has at least ``block`` rows and fewer than twice as many; what comes out does not depend on threads.
    """
    values = np.ascontiguousarray(values, np.float64)
    size = max(block // k, 1) * k
    order = np.arange(len(values), dtype=np.int64)
    start = np.append(np.sort(_blocks(np.ascontiguousarray(values.T), order, size)), len(values))
    first = ragged.bounds(np.diff(start) // k)
    labels = np.full(len(values), -1, np.int64)
    in_threads(
        lambda low, high: _mdav_of_blocks(values, order, start, first, k, labels, low, high), start.size - 1
    )
    return labels


def cannibalize(
    values: Any, rows: Any, indptr: Any, groups: Any, tree: Tree, into: Any, forced: bool, state: Any
) -> int:
    """Dissolve groups into those of a tree where that lowers the squared error, or (forced) in any case.

    ``rows[indptr[i]:indptr[i + 1]]`` are the rows of ``groups[i]``; ``into`` names the tree's groups; ``state`` is
    (labels, n, mean) of all groups and is changed. Returns the number of groups dissolved.
    """
    labels, n, mean = state
    return int(_cannibalize(values, rows, indptr, groups, tree, into, forced, labels, n, mean))


def attrition(
    values: Any, levels: Any, rows: Any, indptr: Any, groups: Any, p: int, tree: Tree, into: Any, state: Any
) -> int:
    """Move rows of groups larger than p to a lower group that is nearer and has room for their level.

    ``state`` is (labels, n, mean, largest) of all groups and is changed. Returns the number of rows moved.
    """
    labels, n, mean, largest = state
    return int(_attrition(values, levels, rows, indptr, groups, p, tree, into, labels, n, mean, largest))


def squared_error(values: Any, labels: Any, mean: Any) -> float:
    """Sum the squared distances of rows to the means of their groups; rows without a group (−1) are left out."""
    return float(_squared_error(values, labels, mean))


# Recursive bisection at the median of the widest column, on a stack. Cuts are at multiples of ``size``,
# itself a multiple of k, so that only one block has a remainder. The spread is that of a sample, about a row
# of it, which keeps digits. O(n log(n / size)) besides the samples.
@compiled
def _blocks(columns, order, size):
    d, n = columns.shape
    low, high = np.empty(_STACK, np.int64), np.empty(_STACK, np.int64)
    start = np.empty(n // size + 2, np.int64)
    keys = np.empty(n)
    low[0], high[0] = 0, n
    depth, n_blocks = 1, 0
    while depth > 0:
        depth -= 1
        begin, end = low[depth], high[depth]
        if end - begin < 2 * size:
            start[n_blocks] = begin
            n_blocks += 1
            continue
        step = max((end - begin) // _LOOKED_AT, 1)
        widest, width = 0, -1.0
        for j in range(d):
            origin = columns[j, order[begin]]
            total, squares, count = 0.0, 0.0, 0
            for i in range(begin, end, step):
                value = columns[j, order[i]] - origin
                total += value
                squares += value * value
                count += 1
            spread = squares / count - (total / count) ** 2
            if spread > width:
                widest, width = j, spread
        middle = begin + ((end - begin) // size // 2) * size
        for i in range(begin, end):
            keys[i] = columns[widest, order[i]]
        select(keys, order, begin, end, middle)
        low[depth], high[depth] = begin, middle
        low[depth + 1], high[depth + 1] = middle, end
        depth += 2
    return start[:n_blocks].copy()


# MDAV forms floor(rows / k) groups whatever the values, so that every block's first group number is known in
# advance and blocks need not wait for each other.
@compiled
def _mdav_of_blocks(values, order, start, first, k, labels, low, high):
    for block in range(low, high):
        rows = order[start[block] : start[block + 1]].copy()
        _mdav(values, rows, k, labels, first[block])


@compiled
def _apart(turned, left, point, apart):
    """Return the squared distance of every row that is left to a point; column by column, so that it runs in lanes."""
    for t in range(left):
        apart[t] = 0.0
    for j in range(point.size):
        line = turned[j]
        value = point[j]
        for t in range(left):
            apart[t] += (line[t] - value) * (line[t] - value)


@compiled
def _farthest(apart, left):
    far, row = -1.0, 0
    for t in range(left):
        if apart[t] > far:
            far, row = apart[t], t
    return row


# A heap of k keeps the nearest: O(left log k) at worst. Rows leave from the highest position down, so that
# the last row, which fills the gap, is never one that has still to leave.
@compiled
def _take(turned, rows, left, apart, k, labels, group, total, heap, nearest):
    """Group the k rows nearest by ``apart``, and close the gaps they leave; return how many rows are left."""
    count = 0
    for t in range(left):
        if count < k or apart[t] < heap[0]:
            count = keep_nearest(heap, nearest, count, k, apart[t], t)
    for t in np.sort(nearest[:count])[::-1]:
        labels[rows[t]] = group
        left -= 1
        rows[t] = rows[left]
        apart[t] = apart[left]
        for j in range(turned.shape[0]):
            total[j] -= turned[j, t]
            turned[j, t] = turned[j, left]
    return left


# MDAV (Domingo-Ferrer and Torra 2005): a group around the row farthest from the mean of those left, and one
# around the row farthest from that. The paper chooses the second before the first group leaves; it is the
# same row but for ties, as the farthest is not among the k nearest. The total is updated, not summed anew.
# O(n^2 d / k).
@compiled
def _mdav(values, rows, k, labels, group):
    d = values.shape[1]
    left = rows.size
    turned = np.empty((d, left))
    total = np.zeros(d)
    for j in range(d):
        for t in range(left):
            turned[j, t] = values[rows[t], j]
            total[j] += turned[j, t]
    apart = np.empty(left)
    heap, nearest = np.empty(k), np.empty(k, np.int64)
    while left >= 2 * k:
        _apart(turned, left, total / left, apart)
        outer = turned[:, _farthest(apart, left)].copy()
        _apart(turned, left, outer, apart)
        # With fewer than 3k left a second group would leave fewer than k. What remains has k to 2k - 1 rows.
        twice = left >= 3 * k
        left = _take(turned, rows, left, apart, k, labels, group, total, heap, nearest)
        group += 1
        if twice:
            outer = turned[:, _farthest(apart, left)].copy()
            _apart(turned, left, outer, apart)
            left = _take(turned, rows, left, apart, k, labels, group, total, heap, nearest)
            group += 1
    for t in range(left):
        labels[rows[t]] = group


@compiled
def _join(n, mean, group, point):
    """Let a point join a group; return by how much that raises the squared error."""
    apart = 0.0
    n[group] += 1
    for j in range(point.size):
        away = point[j] - mean[group, j]
        apart += away * away
        mean[group, j] += away / n[group]
    # Welford's update: the sum of squares grows by the product of the deviations from the old and the new
    # mean.
    return apart * (n[group] - 1) / n[group]


@compiled
def _leave(n, mean, group, point):
    """Let a point leave a group of at least two."""
    n[group] -= 1
    for j in range(point.size):
        mean[group, j] -= (point[j] - mean[group, j]) / n[group]


@compiled
def _distance(mean, group, point):
    apart = 0.0
    for j in range(point.size):
        apart += (point[j] - mean[group, j]) ** 2
    return apart


# The step of that name of Aggarwal and Yu's ConstructGroups. Joining a group of n - 1 costs apart (n - 1) /
# n, at least half of the squared distance: a center at twice what is left to spend, or farther, cannot pay,
# which bounds the search. The tree has the centers as they were before any row of this call joined; the
# costs are those of the moved ones.
@compiled
def _cannibalize(values, rows, indptr, groups, tree, into, forced, labels, n, mean):
    stack, reach = np.empty(_STACK, np.int64), np.empty(_STACK)
    longest = 0
    for i in range(groups.size):
        longest = max(longest, indptr[i + 1] - indptr[i])
    target = np.empty(longest, np.int64)
    before = np.empty((longest, values.shape[1]))
    everyone = np.ones(into.size, np.int64)
    dissolved = 0
    for i in range(groups.size):
        source = groups[i]
        start, stop = indptr[i], indptr[i + 1]
        saved = 0.0
        for position in range(start, stop):
            saved += _distance(mean, source, values[rows[position]])
        if saved == 0.0 and not forced:
            continue
        spent, moved = 0.0, 0
        for position in range(start, stop):
            point = values[rows[position]]
            bound = np.inf if forced else 2 * (saved - spent)
            near, _ = nearest_within(tree, point, bound, everyone, 1, stack, reach)
            if near < 0:
                spent = np.inf
                break
            target[moved] = into[near]
            # Copies, to undo a failed attempt to the bit; subtracting would leave rounding behind.
            before[moved] = mean[target[moved]]
            spent += _join(n, mean, target[moved], point)
            moved += 1
            if spent >= saved and not forced:
                break
        if spent < saved or forced:
            for position in range(start, stop):
                labels[rows[position]] = target[position - start]
            n[source] = 0
            dissolved += 1
            continue
        for step in range(moved - 1, -1, -1):
            n[target[step]] -= 1
            mean[target[step]] = before[step]
    return dissolved


# A row may go to a group that has, with it, as many rows as its level: hence size >= level - 1. Gains are
# worked out first and taken in descending order; as centers move, each is checked again before it is used.
@compiled
def _attrition(values, levels, rows, indptr, groups, p, tree, into, labels, n, mean, largest):
    stack, reach = np.empty(_STACK, np.int64), np.empty(_STACK)
    sizes = n[into].copy()
    moved = 0
    for i in range(groups.size):
        source = groups[i]
        if n[source] <= p:
            continue
        start, stop = indptr[i], indptr[i + 1]
        improve = np.zeros(stop - start)
        target = np.empty(stop - start, np.int64)
        for position in range(start, stop):
            point = values[rows[position]]
            here = _distance(mean, source, point)
            near, apart = nearest_within(tree, point, here, sizes, levels[rows[position]] - 1, stack, reach)
            target[position - start] = near
            if near >= 0:
                improve[position - start] = np.sqrt(here) - np.sqrt(apart)
        for best in np.argsort(-improve):
            if n[source] <= p or improve[best] <= 0.0:
                break
            row = rows[start + best]
            other = into[target[best]]
            if _distance(mean, source, values[row]) <= _distance(mean, other, values[row]):
                continue
            _leave(n, mean, source, values[row])
            _join(n, mean, other, values[row])
            sizes[target[best]] += 1
            largest[other] = max(largest[other], levels[row])
            labels[row] = other
            moved += 1
    return moved


@compiled
def _squared_error(values, labels, mean):
    total = 0.0
    for i in range(labels.size):
        if labels[i] >= 0:
            total += _distance(mean, labels[i], values[i])
    return total
