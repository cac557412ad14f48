"""Mining long thin data by projections: for each item, a small bit table of the baskets that hold it.

Items are ranks from the rarest on, and a basket is projected on each of its items: what is kept of it are the items of
higher ranks that are frequent together with this one and with each other. Rows end with a rank of 0, which no walk goes
on to.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.itemsets.bits import ones
from discreet.kernels.itemsets.eclat import Sets, meet
from discreet.kernels.itemsets.occurrences import append_set, room
from discreet.kernels.threads import in_threads, processors

MOST_ITEMS = 8192
"""More items would need a table of pairs above 128 MB."""
_MOST_PAIRS = 1 << 26
_MOST_ENTRIES = 1 << 26
_MOST_WORDS = 1 << 24
_LAST = np.uint16(1 << 15)
"""Marks the last item of a projected basket; ranks are lower."""


def mine_projections(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    rank: NDArray[np.int32],
    counts: NDArray[np.int64],
    least: int,
    longest: int,
) -> Sets | None:
    """Find the sets in at least ``least`` baskets, in any order; None where a bit table would be too large.

    ``counts`` are those of the ranks, at most `MOST_ITEMS` of them; ``longest`` is at least 2.
    """
    n_items = counts.size
    rows, starts = _ranked(indptr, items, rank)
    base = _base(n_items)
    threads = max(1, min(processors(), _MOST_PAIRS // max(base.size**2, 1)))
    parts = in_threads(
        lambda start, stop: (start, stop, _count_pairs(rows, starts, start, stop, base)),
        starts.size - 1,
        threads=threads,
    )
    pairs = np.sum([table for _, _, table in parts], axis=0, dtype=np.int32)
    flags = _flags(pairs, base, least)
    if longest > 2 and _widest(flags, counts) > _MOST_WORDS:
        return None
    entries = np.stack([_entries(table, base, flags) for _, _, table in parts])
    bounds = [(start, stop) for start, stop, _ in parts]
    del parts
    results: list[Sets] = []
    for low, high in _batches(entries.sum(axis=0)):
        streams = _streams(entries, low, high)
        if longest > 2:
            project = partial(_project_part, rows, starts, bounds, flags, low, high, streams)
            in_threads(project, len(bounds), threads=len(bounds))
        mine = partial(_mine_part, streams, pairs, base, counts, (least, longest, low, high, threads))
        results += in_threads(mine, threads, threads=threads)
    sizes = np.concatenate([sizes for sizes, _, _ in results])
    return (
        ragged.bounds(sizes),
        np.concatenate([codes for _, codes, _ in results]),
        np.concatenate([numbers for _, _, numbers in results]),
    )


class _Streams(NamedTuple):
    """The projections of some ranks, each basket's items one after the other: by part of the rows, and by rank."""

    items: NDArray[np.uint16]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    baskets: NDArray[np.int64]


def _streams(entries: NDArray[np.int64], low: int, high: int) -> _Streams:
    """Return empty streams with room for as many entries as there can be."""
    begin = np.zeros(entries.shape, np.int64)
    begin[:, low:high] = ragged.bounds(entries[:, low:high].ravel())[:-1].reshape(len(entries), high - low)
    room_for = int(entries[:, low:high].sum())
    return _Streams(np.empty(room_for, np.uint16), begin, begin.copy(), np.zeros_like(begin))


def _project_part(
    rows: Any, starts: Any, bounds: Any, flags: Any, low: int, high: int, streams: _Streams, part: int, _: int
) -> None:
    end, baskets = streams.end[part], streams.baskets[part]
    _project(rows, starts, *bounds[part], flags, low, high, streams.items, end, baskets)


def _mine_part(streams: _Streams, pairs: Any, base: Any, counts: Any, limits: Any, part: int, _: int) -> Any:
    least, longest, low, high, step = limits
    return _mine(*streams, pairs, base, counts, least, longest, low + part, high, step)


def _base(n_items: int) -> NDArray[np.int64]:
    """Return where the pairs of each rank begin in a triangle, less the rank of the first partner."""
    rank = np.arange(n_items)
    return rank * n_items - rank * (rank + 1) // 2 - rank - 1


def _widest(flags: NDArray[np.uint64], counts: NDArray[np.int64]) -> int:
    """Return the words of the largest bit table there can be: partners times baskets."""
    partners = np.bitwise_count(flags).sum(axis=1, dtype=np.int64)
    return int((partners * ((counts + 63) // 64)).max(initial=0))


def _batches(entries: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Divide the ranks so that the projections of each part fit into memory, at least one rank at a time."""
    batches, low, total = [], 0, 0
    for rank, more in enumerate(entries.tolist()):
        if rank > low and total + more > _MOST_ENTRIES:
            batches.append((low, rank))
            low, total = rank, 0
        total += more
    return [*batches, (low, entries.size)]


# Insertion sort: baskets are short. Baskets with fewer than two items take no part. O(entries x length).
@compiled
def _ranked(indptr, items, rank):
    """Return the ranks of each basket's items, ascending, and where each basket begins; a 0 ends it."""
    n_baskets = indptr.size - 1
    rows = np.empty(items.size + n_baskets, np.uint16)
    starts = np.empty(n_baskets + 1, np.int64)
    end = np.int64(0)
    n_rows = 0
    starts[0] = 0
    for basket in range(n_baskets):
        first = end
        for entry in range(indptr[basket], indptr[basket + 1]):
            number = rank[items[entry]]
            if number < 0:
                continue
            at = end
            while at > first and rows[at - 1] > number:
                rows[at] = rows[at - 1]
                at -= 1
            rows[at] = number
            end += 1
        if end - first < 2:
            end = first
        else:
            rows[end] = 0
            end += 1
            n_rows += 1
            starts[n_rows] = end
    return rows[:end], starts[: n_rows + 1]


# One increment for each pair of a basket; the triangle of a thousand items fits the second cache.
@compiled
def _count_pairs(rows, starts, begin, stop, base):
    pairs = np.zeros(base.size * (base.size - 1) // 2, np.int32)
    for row in range(begin, stop):
        end = starts[row + 1] - 1
        for first in range(starts[row], end - 1):
            offset = base[rows[first]]
            for second in range(first + 1, end):
                pairs[offset + rows[second]] += 1
    return pairs


@compiled
def _flags(pairs, base, least):
    """Return a bit for every pair of ranks, the lower first, that is frequent."""
    flags = np.zeros((base.size, (base.size + 63) // 64), np.uint64)
    for first in range(base.size):
        for second in range(first + 1, base.size):
            if pairs[base[first] + second] >= least:
                flags[first, second >> 6] |= np.uint64(1) << np.uint64(second & 63)
    return flags


@compiled
def _entries(pairs, base, flags):
    """Return how many entries the projections on each rank can have at most."""
    entries = np.zeros(base.size, np.int64)
    for first in range(base.size):
        for second in range(first + 1, base.size):
            if (flags[first, second >> 6] >> np.uint64(second & 63)) & np.uint64(1):
                entries[first] += pairs[base[first] + second]
    return entries


# For each item of a basket one word says which of the items behind it are frequent with it. Of these, an item is
# kept where it has a frequent partner among them, before it or behind it: no set of three has any other.
# Baskets of more than 64 items keep all that are frequent with the first. O(baskets x length^2).
@compiled
def _project(rows, starts, begin, stop, flags, low, high, stream, end, baskets):
    """Append the projections of some baskets on the ranks from low to high to their streams."""
    with_it = np.zeros(64, np.uint64)
    for row in range(begin, stop):
        first, last = starts[row], starts[row + 1] - 1
        while first < last and rows[first] < low:
            first += 1
        length = last - first
        if length < 3 or rows[first] >= high:
            continue
        if length > 64:
            _project_long(rows, first, last, flags, high, stream, end, baskets)
            continue
        for at in range(length):
            partners = flags[rows[first + at]]
            word = np.uint64(0)
            for other in range(at + 1, length):
                rank = np.uint64(rows[first + other])
                bit = (partners[rank >> np.uint64(6)] >> (rank & np.uint64(63))) & np.uint64(1)
                word |= bit << np.uint64(other)
            with_it[at] = word
        for at in range(length - 2):
            rank = rows[first + at]
            if rank >= high:
                break
            word = with_it[at]
            partnered = np.uint64(0)
            rest = word
            while rest != 0:
                lowest = rest & (~rest + np.uint64(1))
                both = with_it[np.int64(ones(lowest - np.uint64(1)))] & word
                partnered |= both
                if both != 0:
                    partnered |= lowest
                rest ^= lowest
            if partnered == 0:
                continue
            place = end[rank]
            while partnered != 0:
                lowest = partnered & (~partnered + np.uint64(1))
                stream[place] = rows[first + np.int64(ones(lowest - np.uint64(1)))]
                place += 1
                partnered ^= lowest
            stream[place - 1] |= _LAST
            end[rank] = place
            baskets[rank] += 1


# Behind each item of a basket, the later items that a bit of ``flags`` has as frequent with it; the last is marked.
# With fewer than two nothing is kept, since ``end`` stays. O(items squared).
@compiled
def _project_long(rows, first, last, flags, high, stream, end, baskets):
    for at in range(first, last - 2):
        rank = rows[at]
        if rank >= high:
            return
        place = end[rank]
        for other in range(at + 1, last):
            partner = np.uint64(rows[other])
            if (flags[rank, partner >> np.uint64(6)] >> (partner & np.uint64(63))) & np.uint64(1):
                stream[place] = rows[other]
                place += 1
        if place > end[rank] + 1:
            stream[place - 1] |= _LAST
            end[rank] = place
            baskets[rank] += 1


# Eclat on a table for each first item: a column of bits, one for each projected basket, for each of its partners.
# See ``_search_columns`` of ``eclat`` for the invariant; a pair of siblings that is not frequent in the
# whole data is passed over. O(pairs of siblings x words of the table).
@compiled
def _mine(stream, begin, end, baskets, pairs, base, counts, least, longest, low, high, step):
    """Find the sets whose lowest rank is one of every ``step``-th from low to high."""
    n_items = base.size
    column = np.empty(n_items, np.int64)
    path = np.empty(n_items + 1, np.int32)
    cursor, stop = np.empty(n_items + 1, np.int64), np.empty(n_items + 1, np.int64)
    item, count = np.empty(n_items + 64, np.int32), np.empty(n_items + 64, np.int64)
    stack = np.empty(4096, np.uint64)
    sizes, items, numbers = np.empty(1024, np.int32), np.empty(4096, np.int32), np.empty(1024, np.int64)
    n_sets = n_entries = 0
    for first in range(low, high, step):
        path[0] = first
        sizes, items, numbers = append_set(sizes, items, numbers, n_sets, n_entries, path[:1], counts[first])
        n_sets += 1
        n_entries += 1
        n_partners = 0
        for second in range(first + 1, n_items):
            if pairs[base[first] + second] >= least:
                item[n_partners], count[n_partners] = second, pairs[base[first] + second]
                column[second] = n_partners
                n_partners += 1
        words = (baskets[:, first].sum() + 63) >> 6
        stack = room(stack, (n_partners + 1) * words)
        stack[: n_partners * words] = 0
        _set_bits(stream, begin[:, first], end[:, first], column, words, stack)
        cursor[1], stop[1] = 0, n_partners
        depth = 1
        while depth >= 1:
            node = cursor[depth]
            if node >= stop[depth]:
                depth -= 1
                continue
            cursor[depth] += 1
            path[depth] = item[node]
            sizes, items, numbers = append_set(
                sizes, items, numbers, n_sets, n_entries, path[: depth + 1], count[node]
            )
            n_sets += 1
            n_entries += depth + 1
            if depth + 1 == longest:
                continue
            top = stop[depth]
            offset = base[item[node]]
            for other in range(node + 1, stop[depth]):
                if pairs[offset + item[other]] < least:
                    continue
                stack = room(stack, (top + 1) * words)
                item, count = room(item, top + 1), room(count, top + 1)
                both = meet(stack, node * words, other * words, top * words, words)
                if both >= least:
                    item[top], count[top] = item[other], both
                    top += 1
            if top > stop[depth]:
                cursor[depth + 1], stop[depth + 1] = stop[depth], top
                depth += 1
    return sizes[:n_sets].copy(), items[:n_entries].copy(), numbers[:n_sets].copy()


@compiled
def _set_bits(stream, begin, end, column, words, table):
    """Set the bits of the projected baskets, in the order of the streams."""
    basket = np.int64(0)
    for part in range(begin.size):
        for at in range(begin[part], end[part]):
            rank = stream[at] & ~_LAST
            table[column[rank] * words + (basket >> 6)] |= np.uint64(1) << np.uint64(basket & 63)
            basket += np.int64(stream[at] >> np.uint16(15))
