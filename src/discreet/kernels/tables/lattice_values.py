"""The search of a lattice under rules about sensitive values, on classes with dense counts.

A class is a packed key, as in ``lattice``, beside its size and a row of counts, as in ``class_rules``: rolling it up is
one probe of a hash table and one sum of vectors. A code at any level is written as the lowest code of the bottom under
the same node, so that one table for each level serves every way up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.tables.class_rules import LINE, judge_class, shares_of
from discreet.kernels.tables.lattice import slot_of

OUT, UNKNOWN, OPEN = -1, 0, 1
"""What is known of a node: ruled out with all below it, nothing, or that it is not ruled out."""


class Space(NamedTuple):
    """The columns: levels, what one adds to a node's number, the field in a key, and tables by level and bottom code.

    ``steps[start[j, l] + code]`` is what a key changes by when a code of column j becomes the lowest code under its
    node of level l; ``losses`` has the weighted loss of that node at the same place.
    """

    dims: NDArray[np.int64]
    strides: NDArray[np.int64]
    shift: NDArray[np.int64]
    bits: NDArray[np.int64]
    start: NDArray[np.int64]
    steps: NDArray[np.int64]
    losses: NDArray[np.float64]


class Pool(NamedTuple):
    """The classes of nodes from which others start, end to end: the levels of each node, and where its classes lie.

    ``taken`` counts the nodes, their classes, and all classes that were ever rolled.
    """

    keys: NDArray[np.int64]
    sizes: NDArray[np.int64]
    cells: NDArray[np.int32]
    levels: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    taken: NDArray[np.int64]
    slot: NDArray[np.int64]
    passing: NDArray[np.bool_]


class Suppression(NamedTuple):
    """What may be suppressed: rows in all, and what rounding may add; classes below a size; and the whole's counts."""

    n_rows: int
    limit: int
    certain: float
    smallest: int
    overall: NDArray[np.int64]
    relative: bool


class Judged(NamedTuple):
    """What was learned of the nodes that were judged, in order.

    Where a node is ruled out, as many rows are suppressed at least, and as many classes kept at most. See ``Stats`` for
    the last two.
    """

    node: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    kept: NDArray[np.int64]
    feasible: NDArray[np.bool_]
    suppressed_loss: NDArray[np.float64]
    squares: NDArray[np.int64]


@compiled
def bottom_classes(keys, counts, codes, first, cells):
    """Count the lowest node's cells; ``keys`` numbers the class of each tuple, ``first`` are the columns' cells."""
    for row in range(keys.size):
        for column in range(first.size):
            cells[keys[row], first[column] + codes[column, row]] += counts[row]


# From each node in the order of its floor, if nothing is known of it: the cheapest path up through nodes that are not
# open is halved, until the highest node is found that is ruled out with all below it. Stops behind a path on
# which a feasible node was found, so that its cost may end the search, where floors reach the best cost, and
# where enough was done for the clock to be looked at.
@compiled
def search(order, at, best, halve, floors, ruled, space, pool, rules, suppression, most_rolled, judged):
    """Return how far in the order it came, and how many nodes were judged."""
    path = np.empty(space.dims.sum() + 1, np.int64)
    share = shares_of(suppression.overall, suppression.n_rows, rules)
    n_judged = 0
    rolled = 0
    is_feasible = False
    while not is_feasible and at < order.size and floors[order[at]] < best and rolled < most_rolled:
        node = order[at]
        if judged.node.size - n_judged < path.size:
            break
        at += 1
        if ruled[node] != UNKNOWN:
            continue
        path[0] = node
        length = _path_up(node, floors, ruled, space, path) if halve else 1
        low, high = 0, length - 1
        while low <= high:
            middle = (low + high) // 2
            node = path[middle]
            if ruled[node] == UNKNOWN:
                rolled += _judge_node(node, ruled, share, space, pool, rules, suppression, judged, n_judged)
                is_feasible = is_feasible or (judged.feasible[n_judged] and floors[node] < best)
                n_judged += 1
            if ruled[node] == OUT:
                low = middle + 1
            else:
                high = middle - 1
    return at, n_judged


# A greedy way up through nodes that were not judged yet, each time to the one with the least floor. O(columns x
# levels).
@compiled
def _path_up(node, floors, ruled, space, path):
    length = 1
    while True:
        cheapest = np.int64(-1)
        for column in range(space.dims.size):
            up = node + space.strides[column]
            at_top = (node // space.strides[column]) % space.dims[column] + 1 == space.dims[column]
            if at_top or ruled[up] == OPEN:
                continue
            if cheapest < 0 or floors[up] < floors[cheapest]:
                cheapest = up
        if cheapest < 0:
            return length
        node = cheapest
        path[length] = node
        length += 1


# The first stored node is the bottom, which lies below all. A node is stored where an eighth of the classes that it
# was rolled up from became one with others: with fewer, the ways up from it cost as much as from there. O(classes
# rolled up x (columns + counts)).
@compiled
def _judge_node(node, ruled, share, space, pool, rules, suppression, judged, at):
    """Roll a node up from the smallest known one below it and judge it; return how many classes were rolled."""
    level = (node // space.strides) % space.dims
    nearest = np.int64(0)
    for stored in range(pool.taken[0]):
        n_there = pool.end[stored] - pool.begin[stored]
        if n_there < pool.end[nearest] - pool.begin[nearest] and (pool.levels[stored] <= level).all():
            nearest = stored
    used = pool.taken[1]
    n_rolled = pool.end[nearest] - pool.begin[nearest]
    n_classes = _roll(nearest, level, space, pool)
    keys = pool.keys[used : used + n_classes]
    sizes = pool.sizes[used : used + n_classes]
    cells = pool.cells[used : used + n_classes]
    suppressed, out = _judge_classes(sizes, cells, share, pool.passing, rules, suppression)
    judged.node[at] = node
    judged.suppressed[at] = suppressed
    judged.feasible[at] = not out and suppressed <= suppression.limit and suppressed < suppression.n_rows
    _summarize(keys, sizes, pool.passing, level, space, judged, at)
    ruled[node] = OPEN
    if out:
        _rule_out(level, ruled, space)
    room = used + n_classes + pool.end[0] <= pool.keys.size and pool.taken[0] < pool.begin.size
    if room and 8 * n_classes <= 7 * n_rolled:
        stored = pool.taken[0]
        pool.levels[stored] = level
        pool.begin[stored] = used
        pool.end[stored] = used + n_classes
        pool.taken[0] += 1
        pool.taken[1] += n_classes
    return n_rolled


# As ``_roll`` of ``lattice``, with a row of counts in place of one. The classes are written behind all that
# are kept in the pool, where there is always room for the lowest node's. A slot holds a class's number and
# that of all classes rolled before this turn, so that lower numbers are of earlier turns, and free.
# O(classes x (columns + cells)).
@compiled
def _roll(nearest, level, space, pool):
    begin, end, used = pool.begin[nearest], pool.end[nearest], pool.taken[1]
    turn = pool.taken[2]
    changed = np.flatnonzero(pool.levels[nearest] != level)
    shift = space.shift[changed]
    field = (np.int64(1) << space.bits[changed]) - 1
    start = np.empty(changed.size, np.int64)
    for number in range(changed.size):
        start[number] = space.start[changed[number], level[changed[number]]]
    size = np.int64(16)
    while size < 2 * (end - begin):
        size *= 2
    mask = np.uint64(size - 1)
    slot = pool.slot
    keys, sizes, cells = pool.keys[used:], pool.sizes[used:], pool.cells[used:]
    width = cells.shape[1]
    n_classes = np.int64(0)
    for row in range(begin, end):
        below = pool.keys[row]
        key = below
        for number in range(changed.size):
            key += space.steps[start[number] + ((below >> shift[number]) & field[number])]
        at = slot_of(key, mask)
        into = slot[at] - turn
        while into >= 0 and keys[into] != key:
            at = (at + 1) & np.int64(mask)
            into = slot[at] - turn
        if into >= 0:
            sizes[into] += pool.sizes[row]
            for line in range(0, width, LINE):
                for cell in range(LINE):
                    cells[into, line + cell] += pool.cells[row, line + cell]
        else:
            slot[at] = turn + n_classes
            keys[n_classes] = key
            sizes[n_classes] = pool.sizes[row]
            for line in range(0, width, LINE):
                for cell in range(LINE):
                    cells[n_classes, line + cell] = pool.cells[row, line + cell]
            n_classes += 1
    pool.taken[2] += n_classes
    return n_classes


# Sizes are looked at first, since they alone may settle a node. As soon as too many rows must fail in whatever
# lies below, the rest is not judged, and counts as kept. Where classes are compared with the whole table,
# leaving some out moves it, so that the rest is judged again until all pass, or until too many are left out.
@compiled
def _judge_classes(sizes, cells, share, passing, rules, suppression):
    """Fill which classes are kept; return the rows suppressed, and whether too many must be in any node below."""
    suppressed = np.int64(0)
    for row in range(sizes.size):
        passing[row] = sizes[row] >= suppression.smallest
        if not passing[row]:
            suppressed += sizes[row]
    certain = float(suppressed)
    for row in range(sizes.size):
        if certain > suppression.certain:
            return suppressed, True
        if passing[row]:
            passing[row], failing = judge_class(cells[row], sizes[row], share, rules)
            certain += failing
            if not passing[row]:
                suppressed += sizes[row]
    while suppression.relative and 0 < suppressed <= suppression.limit and suppressed < suppression.n_rows:
        counts = np.zeros(cells.shape[1], np.int64)
        for row in range(sizes.size):
            if passing[row]:
                for cell in range(counts.size):
                    counts[cell] += cells[row, cell]
        rest = shares_of(counts, suppression.n_rows - suppressed, rules)
        before = suppressed
        for row in range(sizes.size):
            if passing[row] and not judge_class(cells[row], sizes[row], rest, rules)[0]:
                passing[row] = False
                suppressed += sizes[row]
        if suppressed == before:
            break
    return suppressed, certain > suppression.certain


# What the passing classes of a node are, and the loss of the others, only where the node may be released. O(classes +
# failing classes x columns).
@compiled
def _summarize(keys, sizes, passing, level, space, judged, at):
    n_kept = np.int64(0)
    squares = np.int64(0)
    loss = 0.0
    for row in range(keys.size):
        if passing[row]:
            n_kept += 1
            squares += sizes[row] * sizes[row]
        elif judged.feasible[at]:
            class_loss = 0.0
            for column in range(level.size):
                code = (keys[row] >> space.shift[column]) & ((np.int64(1) << space.bits[column]) - 1)
                class_loss += space.losses[space.start[column, level[column]] + code]
            loss += class_loss * sizes[row]
    judged.kept[at] = n_kept
    judged.squares[at] = squares
    judged.suppressed_loss[at] = loss


# All numbers below a node, counted through like an odometer.
@compiled
def _rule_out(level, ruled, space):
    below = np.zeros(level.size, np.int64)
    number = np.int64(0)
    while True:
        ruled[number] = OUT
        column = level.size - 1
        while column >= 0 and below[column] == level[column]:
            number -= below[column] * space.strides[column]
            below[column] = 0
            column -= 1
        if column < 0:
            return
        below[column] += 1
        number += space.strides[column]
