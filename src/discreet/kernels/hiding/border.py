"""Greedy deletions that spare the border: one (class of baskets, item) after another until a rule is hidden."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled

BBA, MAXMIN2 = 0, 1
_LAMBDA = 1e6
_FAR = 2**62


# Products of whole numbers, not quotients: both / left < p / q is decided exactly.
@compiled
def _hidden(both, left, least, p, q):
    """Whether a rule with these counts is hidden; q is 0 where its confidence does not matter."""
    return both < least or (q > 0 and both * q < p * left)


@compiled
def _weight(first, now, min_count):
    """Return the weight of a border itemset: the larger the nearer it is to being lost (Sun & Yu)."""
    if now > min_count:
        return (first - now + 1) / (first - min_count)
    return _LAMBDA + min_count - now


# Border-based hiding: BBA (Sun and Yu 2005) and Max-Min 2 (Moustakides and Verykios 2006). Baskets that hold
# the same border itemsets are one class, so that a deletion is chosen among classes x items and not among
# baskets. Costs are kept up to date and only the changed ones worked out again:
# O(classes x items x border hit) for each deletion.
@compiled
def spare_border(method, sizes, inside, columns, is_left, first, support, counts, min_count):
    """Choose deletions one by one, each the cheapest for the border; returns how many of each class lose each item.

    ``inside[c, v]`` is whether the baskets of class c hold border itemset v, ``columns[v, j]`` whether v holds the
    rule's item j. ``support`` holds the border's supports and is updated; ``counts`` are the rule's support, that of
    its left-hand side, the support below which it is hidden, and its confidence as p / q.
    """
    n_classes, n_items = sizes.size, is_left.size
    both, left, least, p, q = counts[0], counts[1], counts[2], counts[3], counts[4]
    cost = np.zeros((n_classes, n_items))
    lowest = np.full((n_classes, n_items), _FAR, np.int64)
    n_hit = np.zeros((n_classes, n_items), np.int64)
    for c in range(n_classes):
        for j in range(n_items):
            _score(method, inside[c], columns, j, first, support, min_count, cost, lowest, n_hit, c)
    rest = sizes.copy()
    plan = np.zeros((n_classes, n_items), np.int64)
    while not _hidden(both, left, least, p, q):
        c, j = _cheapest(method, rest, cost, lowest, n_hit)
        if c < 0:
            break
        plan[c, j] += 1
        rest[c] -= 1
        both -= 1
        if is_left[j]:
            left -= 1
        _lose(method, c, j, inside, columns, first, support, min_count, rest, cost, lowest, n_hit)
    return plan


# BBA adds up weights. Max-Min 2 counts the itemsets at the minimum, which one more deletion loses, and then
# prefers the highest least support; those lost already cost nothing more.
@compiled
def _score(method, inside, columns, j, first, support, min_count, cost, lowest, n_hit, c):
    """Compute what deleting item j from a basket of class c would cost."""
    total, least, hits = 0.0, _FAR, 0
    for v in range(support.size):
        if inside[v] and columns[v, j]:
            hits += 1
            if method == BBA:
                total += _weight(first[v], support[v], min_count)
            elif support[v] >= min_count:
                least = min(least, support[v])
                if support[v] == min_count:
                    total += 1.0
    cost[c, j], lowest[c, j], n_hit[c, j] = total, least, hits


# A full scan, O(classes x items), in a fixed order: of full ties the first class and item stay.
@compiled
def _cheapest(method, rest, cost, lowest, n_hit):
    """Find the class and the item with the least cost; ties by the highest minimum, then by the fewest hit."""
    best_c, best_j = -1, -1
    for c in range(rest.size):
        if rest[c] == 0:
            continue
        for j in range(cost.shape[1]):
            if best_c < 0:
                best_c, best_j = c, j
                continue
            if cost[c, j] != cost[best_c, best_j]:
                better = cost[c, j] < cost[best_c, best_j]
            elif lowest[c, j] != lowest[best_c, best_j]:
                better = lowest[c, j] > lowest[best_c, best_j]
            else:
                better = n_hit[c, j] < n_hit[best_c, best_j]
            if better:
                best_c, best_j = c, j
    return best_c, best_j


# The costs of all classes and items stay what they would be if computed afresh, by what the deletion changed alone.
# O(border itemsets that are hit x classes x items), and a new look at a class where a lost itemset may have set its
# minimum.
@compiled
def _lose(method, c, j, inside, columns, first, support, min_count, rest, cost, lowest, n_hit):
    """Take one supporter from the border itemsets that are hit, and bring the costs up to date."""
    for v in range(support.size):
        if not (inside[c, v] and columns[v, j]):
            continue
        before = support[v]
        support[v] -= 1
        change = _weight(first[v], support[v], min_count) - _weight(first[v], before, min_count)
        for other in range(rest.size):
            if rest[other] == 0 or not inside[other, v]:
                continue
            for item in range(columns.shape[1]):
                if not columns[v, item]:
                    continue
                if method == BBA:
                    cost[other, item] += change
                elif before > min_count:
                    lowest[other, item] = min(lowest[other, item], support[v])
                    if support[v] == min_count:
                        cost[other, item] += 1.0
                # The itemset is lost and leaves the minimum it may have set, which only a new look at all
                # can replace.
                elif before == min_count:
                    _score(
                        method,
                        inside[other],
                        columns,
                        item,
                        first,
                        support,
                        min_count,
                        cost,
                        lowest,
                        n_hit,
                        other,
                    )


# O(supporters x items x border). Strict comparisons: ties go to the first item of the rule.
@compiled
def maximum_minimum(rows, inside, columns, is_left, support, counts, min_count):
    """Delete from one supporter after another the item whose rarest border itemset is the most frequent (Max-Min 1).

    ``rows`` is the class of each supporter, in their order. Returns the item each loses, -1 for none.
    """
    both, left, least, p, q = counts[0], counts[1], counts[2], counts[3], counts[4]
    victims = np.full(rows.size, -1, np.int64)
    for at in range(rows.size):
        if _hidden(both, left, least, p, q):
            break
        best, highest = 0, np.int64(-1)
        for j in range(is_left.size):
            lowest = np.int64(_FAR)
            for v in range(support.size):
                if columns[v, j] and support[v] >= min_count:
                    lowest = min(lowest, support[v])
            if lowest > highest:
                best, highest = j, lowest
        victims[at] = best
        both -= 1
        if is_left[best]:
            left -= 1
        for v in range(support.size):
            if inside[rows[at], v] and columns[v, best]:
                support[v] -= 1
    return victims
