"""Nearest groups: for each piece of a recoded table, the groups that it costs least to be published with."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


@compiled
def nearest_groups(
    codes, levels, sizes, pieces, groups, first, last, start, n_best, node, loss, tree, card, top, star
):
    """Find for each piece the cheapest groups to merge with, and what each merger adds to the summed loss.

    A piece or a group is a row of ``codes`` (of one of its members), ``levels`` and ``sizes``. Piece i looks at
    ``groups[first[i]:last[i]]``, from ``start[i]`` on and around. ``node`` and ``loss`` hold, column by column from
    ``tree``, level by level, the node of each code and its weighted loss; ``card`` counts the codes of a column.
    Levels above ``top`` become ``star``; a negative one forbids the merger. Returns -1 where there are fewer groups.
    """
    n_columns = tree.size
    found = np.full((pieces.size, n_best), -1, np.int32)
    added = np.full((pieces.size, n_best), np.inf, np.float64)
    for i in range(pieces.size):
        piece = pieces[i]
        width = last[i] - first[i]
        for step in range(width):
            place = start[i] + step
            if place >= last[i]:
                place -= width
            group = groups[place]
            limit = added[i, n_best - 1]
            cost = 0.0
            for j in range(n_columns):
                at = tree[j]
                mine = at + levels[piece, j] * card[j] + codes[piece, j]
                theirs = at + levels[group, j] * card[j] + codes[group, j]
                level = _meeting(
                    codes[piece, j],
                    codes[group, j],
                    max(levels[piece, j], levels[group, j]),
                    at,
                    card[j],
                    node,
                )
                if level > top[j]:
                    level = star[j]
                    if level < 0:
                        cost = np.inf
                        break
                both = at + level * card[j] + codes[piece, j]
                cost += sizes[piece] * (loss[both] - loss[mine]) + sizes[group] * (loss[both] - loss[theirs])
                if cost >= limit:
                    break
            if cost < limit:
                rank = n_best - 1
                while rank > 0 and added[i, rank - 1] > cost:
                    added[i, rank] = added[i, rank - 1]
                    found[i, rank] = found[i, rank - 1]
                    rank -= 1
                added[i, rank] = cost
                found[i, rank] = group
    return found, added


@compiled
def _meeting(one, other, level, at, card, node):
    """Return the lowest level, from ``level`` up, at which two codes have the same node."""
    if one == other:
        return level
    while node[at + level * card + one] != node[at + level * card + other]:
        level += 1
    return level
