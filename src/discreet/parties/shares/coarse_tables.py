"""Coarse tables: neighboring places of shared counts are joined until no count between 1 and a least one is left.

A table has counts by place and column. Its places are halved again and again; a block of places is cut in two only if
that leaves no small count in either half, nor in the halves of the blocks around it. So no small count is opened, and
none follows by subtraction: a block that is known is a sum of blocks that are known and not small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.parties.shares.thresholds import Groups, Words

Counts = NDArray[np.int64]
Shape = tuple[int, int]
"""The places and the columns of a table."""


class Judge(Protocol):
    """Whoever compares and opens shared counts."""

    def none_small(self, share: Words, groups: Groups, least: int, *, largest: int) -> NDArray[np.bool_]:
        """Return in which groups no count lies between 1 and the least one."""

    def opened(self, share: Words) -> Counts:
        """Return the counts."""


@dataclass(frozen=True)
class CoarseTable:
    """The counts of a table by block of places.

    ``last`` has, for each place, the last place of its block; there are the counts of the block, and zeros elsewhere.
    """

    counts: Counts
    last: NDArray[np.int64]

    @property
    def spread(self) -> NDArray[np.float64]:
        """The counts with those of a block divided evenly among its places."""
        sizes = np.bincount(self.last, minlength=len(self.last))
        found: NDArray[np.float64] = self.counts[self.last] / sizes[self.last][:, None]
        return found

    @property
    def n_blocks(self) -> int:
        """The blocks that were opened."""
        return np.unique(self.last).size


def coarse_tables(judge: Judge, tables: Sequence[Words], least: int, *, largest: int) -> list[CoarseTable]:
    """Return coarse tables from shares of their counts; the columns of a table as a whole must not be small."""
    cuts = [list(_cuts(len(table))) for table in tables]
    halves = [
        half
        for table, listed in zip(tables, cuts, strict=True)
        for low, middle, high, _ in listed
        for half in (_total(table[low:middle]), _total(table[middle:high]))
    ]
    groups = cut_groups([(len(table), table.shape[1]) for table in tables])
    share = np.concatenate([np.zeros(0, np.uint64), *halves])
    may_cut = judge.none_small(share, groups, least, largest=largest).tolist()
    last, at = [], 0
    for table, listed in zip(tables, cuts, strict=True):
        last.append(_last_places(len(table), listed, may_cut[at : at + len(listed)]))
        at += len(listed)
    return _opened(judge, tables, last)


def cut_groups(shapes: Sequence[Shape]) -> Groups:
    """Return which counts decide on each cut: those of its halves, and those that decide on the cuts around it."""
    of: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    parents: list[int] = []
    for n_places, n_columns in shapes:
        start = len(parents)
        listed = list(_cuts(n_places))
        of.append(np.repeat(np.arange(start, start + len(listed)), 2 * n_columns))
        parents += [parent if parent < 0 else start + parent for *_, parent in listed]
    return Groups(np.concatenate(of), tuple(parents))


def n_opened(tables: Sequence[CoarseTable]) -> int:
    """Return how many counts of coarse tables were opened."""
    return sum(table.n_blocks * table.counts.shape[1] for table in tables)


def n_joined(tables: Sequence[CoarseTable]) -> int:
    """Return how many places of coarse tables lie in a block with others."""
    return sum(int((np.bincount(table.last)[table.last] > 1).sum()) for table in tables)


def coarse_local(table: Counts, least: int) -> CoarseTable:
    """Return the coarse table of counts that one party holds alone.

    >>> coarse_local(np.array([[9], [1], [0], [7]]), 5).counts.tolist()
    [[0], [10], [0], [7]]
    >>> coarse_local(np.array([[9], [6], [0], [7]]), 5).counts.tolist()
    [[9], [6], [0], [7]]
    """
    listed = list(_cuts(len(table)))
    may_cut: list[bool] = []
    for low, middle, high, parent in listed:
        halves = np.concatenate([table[low:middle].sum(axis=0), table[middle:high].sum(axis=0)])
        none_small = not ((halves > 0) & (halves < least)).any()
        may_cut.append(none_small and (parent < 0 or may_cut[parent]))
    last = _last_places(len(table), listed, may_cut)
    counts = np.zeros_like(table)
    np.add.at(counts, last, table)
    return CoarseTable(counts, last)


def _cuts(n_places: int) -> Iterator[tuple[int, int, int, int]]:
    """Return low, middle and high end of every block that can be cut, and the number of the cut around it, or −1."""
    blocks, number = [(0, n_places, -1)], 0
    while blocks:
        low, high, parent = blocks.pop(0)
        if high - low > 1:
            middle = (low + high) // 2
            yield low, middle, high, parent
            blocks += [(low, middle, number), (middle, high, number)]
            number += 1


def _last_places(
    n_places: int, cuts: Sequence[tuple[int, int, int, int]], may_cut: Sequence[bool]
) -> NDArray[np.int64]:
    ends = {middle for (_, middle, _, _), allowed in zip(cuts, may_cut, strict=True) if allowed}
    last, end = np.zeros(n_places, np.int64), n_places
    for place in range(n_places - 1, -1, -1):
        end = place + 1 if place + 1 in ends else end
        last[place] = end - 1
    return last


def _opened(judge: Judge, tables: Sequence[Words], last: Sequence[NDArray[np.int64]]) -> list[CoarseTable]:
    sums = []
    for table, ends in zip(tables, last, strict=True):
        blocks = np.zeros_like(table)
        np.add.at(blocks, ends, table)
        sums.append(blocks)
    known = [np.unique(ends) for ends in last]
    share = np.concatenate(
        [np.zeros(0, np.uint64), *(s[k].reshape(-1) for s, k in zip(sums, known, strict=True))]
    )
    values, at, found = judge.opened(share), 0, []
    for table, ends, here in zip(tables, last, known, strict=True):
        counts, n = np.zeros(table.shape, np.int64), here.size * table.shape[1]
        counts[here] = values[at : at + n].reshape(-1, table.shape[1])
        found.append(CoarseTable(counts, ends))
        at += n
    return found


def _total(part: Words) -> Words:
    total: Words = part.sum(axis=0, dtype=np.uint64)
    return total
