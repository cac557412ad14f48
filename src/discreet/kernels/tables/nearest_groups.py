"""Nearest groups: for each piece of a recoded table, the groups that it costs least to be published with."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


# A linear scan with early abandoning: losses rise with the level, so each column adds at least 0, and a
# merger is left when it costs as much as the worst of the best. The caller starts at the groups whose codes
# sort next to the piece's, so that this bound is low early; of ties the first visited stays.
# O(pieces x groups x columns) at worst.
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
    nearest = np.full((pieces.size, n_best), -1, np.int32)
    added = np.full((pieces.size, n_best), np.inf, np.float64)
    for i in range(pieces.size):
        piece = pieces[i]
        width = last[i] - first[i]
        for step in range(width):
            position = start[i] + step
            if position >= last[i]:
                position -= width
            group = groups[position]
            limit = added[i, n_best - 1]
            cost = 0.0
            for j in range(n_columns):
                at = tree[j]
                mine = at + levels[piece, j] * card[j] + codes[piece, j]
                of_group = at + levels[group, j] * card[j] + codes[group, j]
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
                cost += sizes[piece] * (loss[both] - loss[mine]) + sizes[group] * (
                    loss[both] - loss[of_group]
                )
                if cost >= limit:
                    break
            if cost < limit:
                rank = n_best - 1
                while rank > 0 and added[i, rank - 1] > cost:
                    added[i, rank] = added[i, rank - 1]
                    nearest[i, rank] = nearest[i, rank - 1]
                    rank -= 1
                added[i, rank] = cost
                nearest[i, rank] = group
    return nearest, added


@compiled
def _meeting(code, other_code, level, at, card, node):
    """Return the lowest level, from ``level`` up, at which two codes have the same node."""
    if code == other_code:
        return level
    while node[at + level * card + code] != node[at + level * card + other_code]:
        level += 1
    return level
