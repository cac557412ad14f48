"""Exact nearest neighbors of sets by cosine: common items counted for 64 rows in a word, in bit-sliced counters.

Rows are ordered by their length and cut into blocks of 8,192, each a bit column for every item. A query adds up the
columns of its items with carry-save adders: plane p of the counters holds bit p of every row's count. Whole blocks
fall away where no row of theirs can be near enough, and rows are looked at only where their count reaches a threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled
from discreet.kernels.itemsets.bits import ones
from discreet.kernels.threads import in_threads, processors

WORDS = 128
ROWS = WORDS * 64
"""The rows of one block."""
_FIRST = 16
"""The columns that are counted at once to begin with."""
# A threshold that rounding made too low costs a look at a few more rows; one too high would lose a neighbor.
_ROUNDING = 1e-9


def bytes_of_blocks(n: int, n_items: int) -> int:
    """Return the bytes of the bit columns of n rows."""
    return -(-n // ROWS) * (n_items + 1) * WORDS * 8


def nearest_sets(corpus: Any, queries: Any, k: int, *, same: bool) -> tuple[Any, Any]:
    """Find the k rows nearest to every query; return their numbers and squared cosines times the query's length.

    ``corpus`` and ``queries`` are (indptr, items, n_items); ``same`` says that they are the same rows, so that none is
    its own neighbor. Where rows are equally near, the one with the lower number goes first. Where fewer than k rows
    share an item with the query, the rest is -1.
    """
    indptr, items, n_items = corpus
    lengths = np.diff(indptr)
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    blocks = np.zeros((-(-order.size // ROWS), n_items + 1, WORDS), np.uint64)
    in_threads(lambda start, stop: _pack(indptr, items, order, blocks, start, stop), blocks.shape[0])
    query_lengths = np.diff(queries[0])
    turns = np.argsort(query_lengths, kind="stable").astype(np.int32)
    neighbors = np.full((query_lengths.size, k), -1, np.int32)
    keys = np.full((query_lengths.size, k), -1.0)
    by_length, lists = (order, lengths[order]), queries[:2]
    threads = processors()
    in_threads(
        lambda start, stop: _search(*lists, turns, by_length, blocks, same, neighbors, keys, start, threads),
        threads,
        threads=threads,
    )  # fmt: skip
    return neighbors, keys


@compiled
def _pack(indptr, items, order, blocks, start, stop):
    for block in range(start, stop):
        for position in range(block * ROWS, min((block + 1) * ROWS, order.size)):
            word = (position >> 6) - block * WORDS
            bit = np.uint64(1) << np.uint64(position & 63)
            row = order[position]
            for entry in range(indptr[row], indptr[row + 1]):
                blocks[block, items[entry], word] |= bit


# A full adder in five operations, for 64 rows at once: the bit of the sum, and the carry.
@compiled
def _sum_of_three(a, b, c):
    both = a ^ b
    return both ^ c, (a & b) | (both & c)


# A carry-save tree, as in Harley and Seal's population count: s, k and m stand for the weights 1, 2 and 4.
# It costs 26 operations for eight columns, where adding them to the planes one at a time would ripple a
# carry each.
@compiled
def _sum_of_eight(x0, x1, x2, x3, x4, x5, x6, x7):
    """Add eight bits; return the four bits of the sum, the lowest first."""
    s0, k0 = _sum_of_three(x0, x1, x2)
    s1, k1 = _sum_of_three(x3, x4, x5)
    s2, k2 = _sum_of_three(s0, s1, x6)
    k3 = s2 & x7
    t0, m0 = _sum_of_three(k0, k1, k2)
    m1 = t0 & k3
    return s2 ^ x7, t0 ^ k3, m0 ^ m1, m0 & m1


# The first sixteen columns set the planes, so that these need not be cleared or read. Up to sixteen items
# end here. Written out, without inner loops: the sums of a word stay in registers.
@compiled
def _begin(columns, ids, planes):
    """Count the first sixteen columns: 0 to 16, in five planes."""
    x0, x1, x2, x3 = columns[ids[0]], columns[ids[1]], columns[ids[2]], columns[ids[3]]
    x4, x5, x6, x7 = columns[ids[4]], columns[ids[5]], columns[ids[6]], columns[ids[7]]
    y0, y1, y2, y3 = columns[ids[8]], columns[ids[9]], columns[ids[10]], columns[ids[11]]
    y4, y5, y6, y7 = columns[ids[12]], columns[ids[13]], columns[ids[14]], columns[ids[15]]
    p0, p1, p2, p3, p4 = planes[0], planes[1], planes[2], planes[3], planes[4]
    for w in range(WORDS):
        a0, a1, a2, a3 = _sum_of_eight(x0[w], x1[w], x2[w], x3[w], x4[w], x5[w], x6[w], x7[w])
        b0, b1, b2, b3 = _sum_of_eight(y0[w], y1[w], y2[w], y3[w], y4[w], y5[w], y6[w], y7[w])
        p0[w] = a0 ^ b0
        p1[w], over = _sum_of_three(a1, b1, a0 & b0)
        p2[w], over = _sum_of_three(a2, b2, over)
        p3[w], p4[w] = _sum_of_three(a3, b3, over)


# Ripple-carry addition of a sum of four bits. The lowest five planes are written out; beyond them the carry
# goes through memory, plane by plane, only as far as the count can reach by now.
@compiled
def _add(columns, ids, at, planes, n_planes, carry):
    """Add eight columns more; the counts stay below 2 to the number of planes."""
    x0, x1, x2, x3 = columns[ids[at]], columns[ids[at + 1]], columns[ids[at + 2]], columns[ids[at + 3]]
    x4, x5, x6, x7 = columns[ids[at + 4]], columns[ids[at + 5]], columns[ids[at + 6]], columns[ids[at + 7]]
    p0, p1, p2, p3, p4 = planes[0], planes[1], planes[2], planes[3], planes[4]
    for w in range(WORDS):
        a0, a1, a2, a3 = _sum_of_eight(x0[w], x1[w], x2[w], x3[w], x4[w], x5[w], x6[w], x7[w])
        over = p0[w] & a0
        p0[w] ^= a0
        p1[w], over = _sum_of_three(p1[w], a1, over)
        p2[w], over = _sum_of_three(p2[w], a2, over)
        p3[w], over = _sum_of_three(p3[w], a3, over)
        carry[w] = p4[w] & over
        p4[w] ^= over
    for plane in range(5, n_planes):
        line = planes[plane]
        for w in range(WORDS):
            over = line[w] & carry[w]
            line[w] ^= carry[w]
            carry[w] = over


# The bits of the largest possible count, at least the five that are written out.
@compiled
def _planes_for(count):
    planes = 5
    while count >> planes:
        planes += 1
    return planes


@compiled
def _count(columns, ids, n_ids, planes, carry):
    """Count for every row of a block how many of the columns it has; return the number of planes."""
    _begin(columns, ids, planes)
    n_planes = _planes_for(n_ids)
    for plane in range(5, n_planes):
        line = planes[plane]
        for w in range(WORDS):
            line[w] = 0
    for at in range(_FIRST, n_ids, 8):
        _add(columns, ids, at, planes, _planes_for(at + 8), carry)
    return n_planes


@compiled
def _spread(number, bit):
    """Return a word full of one bit of a number."""
    # 0 - 1 wraps round to all ones.
    return np.uint64(0) - np.uint64((number >> bit) & 1)


# Compare 64 counts at once with ``least - 1``, from the lowest bit up. Invariant: ``above`` marks the rows
# whose bits so far exceed those of the number. A higher bit overrules it: where the number has 0, either of
# both suffices, where it has 1, both are needed. O(planes x words), whatever the counts.
@compiled
def _reaching(planes, n_planes, least, mask):
    """Mark the rows whose count is at least ``least`` (1 or more); return whether there is one."""
    below = least - 1
    if below >> n_planes:
        return False
    f0, f1, f2 = _spread(below, 0), _spread(below, 1), _spread(below, 2)
    f3, f4 = _spread(below, 3), _spread(below, 4)
    p0, p1, p2, p3, p4 = planes[0], planes[1], planes[2], planes[3], planes[4]
    for w in range(WORDS):
        above = p0[w] & ~f0
        above = (p1[w] & above) | ((p1[w] | above) & ~f1)
        above = (p2[w] & above) | ((p2[w] | above) & ~f2)
        above = (p3[w] & above) | ((p3[w] | above) & ~f3)
        mask[w] = (p4[w] & above) | ((p4[w] | above) & ~f4)
    for plane in range(5, n_planes):
        line, flag = planes[plane], _spread(below, plane)
        for w in range(WORDS):
            mask[w] = (line[w] & mask[w]) | ((line[w] | mask[w]) & ~flag)
    some = np.uint64(0)
    for w in range(WORDS):
        some |= mask[w]
    return some != 0


@compiled
def _marked(mask):
    total = np.uint64(0)
    for w in range(WORDS):
        total += ones(mask[w])
    return np.int64(total)


@compiled
def keep(keys, neighbors, key, row):
    """Put a row among the nearest, the largest key first, and the lower number first among equal keys."""
    rank = keys.size - 1
    while rank > 0 and (keys[rank - 1] < key or (keys[rank - 1] == key and neighbors[rank - 1] > row)):
        keys[rank] = keys[rank - 1]
        neighbors[rank] = neighbors[rank - 1]
        rank -= 1
    keys[rank] = key
    neighbors[rank] = row


@compiled
def _look(planes, n_planes, mask, before, first, by_length, query, neighbors, keys):
    """Keep the marked rows whose count is below ``before`` and that are near enough."""
    order, lengths = by_length
    last = keys.size - 1
    for w in range(WORDS):
        rest = mask[w]
        while rest != 0:
            # The lowest set bit; the number of ones below it is its position.
            low = rest & (~rest + np.uint64(1))
            rest ^= low
            position = first + w * 64 + np.int64(ones(low - np.uint64(1)))
            count = 0
            for plane in range(n_planes):
                if planes[plane, w] & low:
                    count += 1 << plane
            # Seen in the round before, with the higher threshold.
            if count >= before:
                continue
            key = count * count / lengths[position]
            row = order[position]
            if row != query and (key > keys[last] or (key == keys[last] and row < neighbors[last])):
                keep(keys, neighbors, key, row)


@compiled
def _least(key, length):
    """Return the smallest count with which a row of that length comes as near as a key."""
    # From count^2 / length >= key.
    return max(1, np.int64(np.ceil(np.sqrt(key * length) - _ROUNDING)))


@compiled
def _begin_least(planes, n_planes, length, k, mask):
    """Return the largest count that at least k rows besides the query itself may reach; 1 where there are fewer."""
    # More than k: the query may be among them.
    least = 1
    while least < length and _reaching(planes, n_planes, least + 1, mask) and _marked(mask) > k:
        least += 1
    return least


# Invariant: all rows of the block with ``least`` or more common items have been looked at. The k-th key then
# says how few may still be enough, for the block's shortest row, where a count weighs most; the threshold
# falls to that, until nothing is left below it. O(items of the query x words), and the rows looked at.
@compiled
def _visit(columns, first, shortest, ids, n_ids, query, query_row, by_length, room, neighbors, keys):
    """Look for the nearest of a query in a block: the most items in common first, down to what is near enough."""
    planes, carry, mask = room
    last = keys.shape[1] - 1
    n_planes = _count(columns, ids, n_ids, planes, carry)
    if keys[query, last] < 0:
        least = _begin_least(planes, n_planes, n_ids, last + 1, mask)
    else:
        least = _least(keys[query, last], shortest)
    before = n_ids + 1
    while True:
        if _reaching(planes, n_planes, least, mask):
            _look(planes, n_planes, mask, before, first, by_length, query_row, neighbors[query], keys[query])
        lower = _least(max(keys[query, last], 0.0), shortest)
        if lower >= least:
            break
        before, least = least, lower


@compiled
def _room(indptr):
    """Return room for the items of a query, the planes of the counters, a carry and a mask."""
    longest = _FIRST
    for query in range(indptr.size - 1):
        longest = max(longest, indptr[query + 1] - indptr[query])
    planes = np.empty((_planes_for(longest + 8), WORDS), np.uint64)
    return np.empty(longest + 8, np.int64), (planes, np.empty(WORDS, np.uint64), np.empty(WORDS, np.uint64))


@compiled
def _items_of(indptr, items, query, empty, ids):
    """List the items of a query, filled up with an empty column to a multiple of eight; return how many there are."""
    n_ids = 0
    for entry in range(indptr[query], indptr[query + 1]):
        ids[n_ids] = items[entry]
        n_ids += 1
    # The last column of a block has no bits, so that padding changes no count.
    while n_ids < _FIRST or n_ids & 7:
        ids[n_ids] = empty
        n_ids += 1
    return n_ids


# A block stays in the cache while 8,192 queries visit it. Like lengths come first because cosines can be
# highest there: then the k-th key is high early, and a block falls away where even min(query, longest row)
# common items, with the shortest length, do not reach it.
# Worst case O(queries x blocks x items of a query x words).
@compiled
def _search(indptr, items, turns, by_length, blocks, same, neighbors, keys, start, step):
    """Go through groups of queries of like length, and for each through the blocks, those of like length first."""
    order, lengths = by_length
    ids, room = _room(indptr)
    n_blocks, empty, last = blocks.shape[0], blocks.shape[1] - 1, keys.shape[1] - 1
    for begin in range(start * ROWS, turns.size, step * ROWS):
        end = min(begin + ROWS, turns.size)
        middle = turns[(begin + end) // 2]
        near = np.searchsorted(lengths, indptr[middle + 1] - indptr[middle]) // ROWS
        for turn in range(2 * n_blocks + 1):
            # near, near + 1, near - 1, near + 2 ...; numbers past either end are skipped.
            block = near + (turn + 1) // 2 if turn & 1 else near - turn // 2
            if block < 0 or block >= n_blocks:
                continue
            first = block * ROWS
            shortest, tallest = lengths[first], lengths[min(first + ROWS, order.size) - 1]
            columns = blocks[block]
            for position in range(begin, end):
                query = turns[position]
                length = indptr[query + 1] - indptr[query]
                if _least(max(keys[query, last], 0.0), shortest) > min(length, tallest):
                    continue
                n_ids = _items_of(indptr, items, query, empty, ids)
                query_row = query if same else -1
                _visit(
                    columns, first, shortest, ids, n_ids, query, query_row, by_length, room, neighbors, keys
                )
