"""CAHD's groups: every sensitive basket with those near it that share most items, no sensitive item twice.

Places are numbers in the order of the baskets. Ungrouped places form a linked list; beside it, the places of every
sensitive item and the places without any can be searched for the next one that is ungrouped, so that a long run of
conflicting baskets is stepped over, not through.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.baskets.cuthill_mckee import permuted, transposed_rows
from discreet.kernels.compiled import compiled
from discreet.kernels.copies import put

_LOOKS = 8
"""How many times as many baskets as are wanted are looked at on one side, before conflicts are stepped over."""
_TRIES = 32
"""How many baskets of one sensitive item are tried when conflicts are stepped over."""


def cahd_groups(
    order: NDArray[np.int32],
    ordinary: tuple[NDArray[np.int64], NDArray[np.int32], int],
    sensitive: tuple[NDArray[np.int64], NDArray[np.int32], int],
    *,
    p: int,
    alpha: int,
    visits: NDArray[np.int64] | None = None,
    turns: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int32], int]:
    """Return the group of every basket, the rest together in the last one, and how many groups were rolled back.

    ``ordinary`` and ``sensitive`` are row pointers, item codes and the number of items. ``visits`` are the places in
    the order in which their groups are formed, by default ascending. With ``turns``, a number below p for each place,
    a group is not of the most similar ones: that many of the nearest before it, and the rest from those after it.
    """
    indptr, items, n_items = ordinary
    start, codes = permuted(sensitive[0], sensitive[1], order)
    free = np.flatnonzero(np.diff(start) == 0).astype(np.int32)
    item_start, item_places = transposed_rows(start, codes, sensitive[2])
    places = np.arange(order.size) if visits is None else visits
    turned = np.empty(0, np.int64) if turns is None else turns
    by_place, n_groups, rolled_back = _form(
        order, indptr, items, n_items, start, codes, item_start, item_places, free, p, alpha, places, turned
    )
    group = np.empty(order.size, np.int32)
    by_place[by_place < 0] = n_groups
    group[order] = by_place
    return group, rolled_back


# CAHD (Ghinita, Tao and Kalnis 2008): each sensitive basket in turn takes its p - 1 most similar of the
# candidates around it, alpha p on each side, that share no sensitive item with each other. Invariant: no
# sensitive item is in more than 1/p of the ungrouped baskets, so that these are a valid last group at any
# time. O(n alpha p) looks and counts.
@compiled
def _form(
    order, indptr, items, n_items, start, codes, item_start, item_places, free, p, alpha, visits, turns
):
    n, m, window = order.size, item_start.size - 1, alpha * p
    links = np.empty((2, n + 2), np.int32)
    # A doubly linked list in two arrays: place i is entry i + 1, and entries 0 and n + 1 end it on either
    # side.
    links[0], links[1] = np.arange(-1, n + 1), np.arange(1, n + 3)
    group = np.full(n, -1, np.int32)
    left = np.diff(item_start)
    is_held, used = np.zeros(n_items, np.bool_), np.zeros(m, np.int32)
    before, after = np.empty(window, np.int32), np.empty(window + m + p, np.int32)
    chosen = np.empty(p, np.int32)
    jumps = (np.arange(1, item_places.size + 1), np.arange(1, free.size + 1))
    n_groups, rolled_back, remaining, stamp = 0, 0, n, np.int32(0)
    for position in visits:
        if group[position] >= 0 or start[position] == start[position + 1]:
            continue
        turn = turns[position] if turns.size else -1
        n_before, n_after, stamp = _neighbors(
            position, links, before, after, window, p, turn, start, codes, used, stamp
        )
        if n_before + n_after < p - 1:
            n_after = _step_over(
                position, after, n_after, p - 1 - n_before,
                group, start, codes, used, stamp, item_start, item_places, free, jumps,
            )  # fmt: skip
        if n_before + n_after < p - 1:
            continue
        chosen[0] = position
        if turns.size:
            put(chosen, 1, before[:n_before])
            put(chosen, n_before + 1, after[: p - 1 - n_before])
        else:
            _most_alike(before[:n_before], after[:n_after], order, indptr, items, is_held, chosen)
        if not _take(chosen, start, codes, left, remaining):
            rolled_back += 1
            continue
        remaining -= p
        for member in chosen:
            group[member] = n_groups
            links[1, links[0, member + 1]] = links[1, member + 1]
            links[0, links[1, member + 1]] = links[0, member + 1]
        n_groups += 1
    return group, n_groups, rolled_back


# A new stamp clears all marks at once: a sensitive item is used where its mark equals the stamp.
@compiled
def _neighbors(position, links, before, after, window, p, turn, start, codes, used, stamp):
    """Collect the neighbors of a place on both sides; return how many there are, and the stamp of what they use.

    With a turn, that many before it and the rest after it; where one side has too few, more on the other.
    """
    stamp += 1
    use(position, start, codes, used, stamp)
    if turn < 0:
        n_before = _walk(position, links[0], before, window, window, start, codes, used, stamp)
        n_after = _walk(position, links[1], after, window, window, start, codes, used, stamp)
        return n_before, n_after, stamp
    n_before = _walk(position, links[0], before, turn, window, start, codes, used, stamp)
    n_after = _walk(position, links[1], after, p - 1 - n_before, window, start, codes, used, stamp)
    if n_before + n_after < p - 1:
        stamp += 1
        use(position, start, codes, used, stamp)
        n_after = _walk(position, links[1], after, p - 1 - turn, window, start, codes, used, stamp)
        n_before = _walk(position, links[0], before, p - 1 - n_after, window, start, codes, used, stamp)
    return n_before, n_after, stamp


@compiled
def use(position, start, codes, used, stamp):
    """Stamp the sensitive values of a place as used."""
    for entry in range(start[position], start[position + 1]):
        used[codes[entry]] = stamp


@compiled
def conflicts(position, start, codes, used, stamp):
    """Return whether a place holds a sensitive value with the stamp."""
    for entry in range(start[position], start[position + 1]):  # noqa: SIM110  # compiled
        if used[codes[entry]] == stamp:
            return True
    return False


@compiled
def _walk(position, link, neighbors, most, window, start, codes, used, stamp):
    """Collect the nearest ungrouped places on one side that conflict with nothing collected; return their number."""
    size, looks, at = 0, 0, link[position + 1]
    while size < most and 0 < at < link.size - 1 and looks < _LOOKS * window:
        looks += 1
        if not conflicts(at - 1, start, codes, used, stamp):
            use(at - 1, start, codes, used, stamp)
            neighbors[size] = at - 1
            size += 1
        at = link[at]
    return size


# Deviation: the paper walks on until it has enough candidates; here a walk ends after _LOOKS windows, and
# what is missing is looked up. Places without sensitive items never conflict, and those up to ``last`` are
# collected already; then one of each item is tried. Already collected places are not taken again, as their
# own items are stamped.
@compiled
def _step_over(
    position, after, size, enough, group, start, codes, used, stamp, item_start, item_places, free, jumps
):
    """Go on behind a long run of conflicting places: with places without sensitive items, then one of each item."""
    last = after[size - 1] if size else position
    at = _ungrouped(_behind(free, 0, free.size, position), free.size, free, group, jumps[1])
    while size < enough and at < free.size:
        if free[at] > last:
            after[size] = free[at]
            size += 1
        at = _ungrouped(at + 1, free.size, free, group, jumps[1])
    for item in range(item_start.size - 1):
        if size >= enough:
            break
        end = item_start[item + 1]
        first = _behind(item_places, item_start[item], end, position)
        at, tries = _ungrouped(first, end, item_places, group, jumps[0]), 0
        while used[item] != stamp and at < end and tries < _TRIES:
            tries += 1
            if not conflicts(item_places[at], start, codes, used, stamp):
                use(item_places[at], start, codes, used, stamp)
                after[size] = item_places[at]
                size += 1
            at = _ungrouped(at + 1, end, item_places, group, jumps[0])
    return size


@compiled
def _behind(places, low, high, position):
    """Find the first entry, of those from low to high, whose place comes after a place."""
    while low < high:
        middle = (low + high) // 2
        if places[middle] <= position:
            low = middle + 1
        else:
            high = middle
    return low


# Union-find with path compression: ``jump`` points past grouped entries, which never become free again, and
# the entries on the way are pointed to the end of it. Amortized O(log n).
@compiled
def _ungrouped(at, end, places, group, jump):
    """Find the first ungrouped place from an entry on, and remember the way."""
    first = at
    while at < end and group[places[at]] >= 0:
        at = jump[at]
    while first < at:
        step = jump[first]
        jump[first] = at
        first = step
    return at


@compiled
def _most_alike(before, after, order, indptr, items, is_held, chosen):
    """Fill all but the first place of a group with those most similar to the first."""
    basket = order[chosen[0]]
    for entry in range(indptr[basket], indptr[basket + 1]):
        is_held[items[entry]] = True
    like_before = _likeness(before, order, indptr, items, is_held)
    like_after = _likeness(after, order, indptr, items, is_held)
    for entry in range(indptr[basket], indptr[basket + 1]):
        is_held[items[entry]] = False
    _choose(before, like_before, after, like_after, indptr[basket + 1] - indptr[basket], chosen)


@compiled
def _likeness(places, order, indptr, items, is_held):
    """Count the wanted items of the basket at every place."""
    likeness = np.zeros(places.size, np.int32)
    for at in range(places.size):
        basket = order[places[at]]
        for entry in range(indptr[basket], indptr[basket + 1]):
            likeness[at] += is_held[items[entry]]
    return likeness


# Selection by counting: the likeness at which the p - 1 best end, then all above it and the first of those
# at it. Both sides are read outward in turn, so that of ties the nearest come first, and of two as near the
# one before the basket. O(candidates + items of the basket).
@compiled
def _choose(before, like_before, after, like_after, highest, chosen):
    """Fill all but the first place of a group with the most similar; of equally similar ones the nearest."""
    frequency = np.zeros(highest + 2, np.int64)
    for likeness in like_before:
        frequency[likeness] += 1
    for likeness in like_after:
        frequency[likeness] += 1
    level, above = highest + 1, 0
    while above + frequency[level] < chosen.size - 1:
        above += frequency[level]
        level -= 1
    ties, size = chosen.size - 1 - above, 1
    for at in range(max(like_before.size, like_after.size)):
        for side in range(2):
            places, alike = (before, like_before) if side == 0 else (after, like_after)
            if at >= alike.size or alike[at] < level or (alike[at] == level and ties == 0):
                continue
            ties -= alike[at] == level
            chosen[size] = places[at]
            size += 1


# The test of the paper's one-occurrence histogram: afterwards every sensitive item must still be in at most
# 1/p of what is left. In products of whole numbers, exact. O(items).
@compiled
def _take(chosen, start, codes, left, remaining):
    """Take a group's sensitive items out of what is left, unless the rest could then keep the degree no more."""
    p = chosen.size
    for position in chosen:
        for entry in range(start[position], start[position + 1]):
            left[codes[entry]] -= 1
    if left.size == 0 or left.max() * p <= remaining - p:
        return True
    for position in chosen:
        for entry in range(start[position], start[position + 1]):
            left[codes[entry]] += 1
    return False
