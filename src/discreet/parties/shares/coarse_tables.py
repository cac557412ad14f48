"""Coarse tables: neighboring places of shared counts are joined until no count between 1 and a least one is left.

A table has counts by place and column. Its places are halved again and again; a block of places is cut in two only if
that leaves no small count in either half, nor in the halves of the blocks around it. So no small count is opened, and
none follows by subtraction: a block that is known is a sum of blocks that are known and not small.

Tables of a group of rows and of its parts must be nested as well: a part is cut only where the whole was. Else a block
of the whole, less the same block of some parts, could be a small count of the others.

That this suffices for a tree whose siblings are cut alike: let t be the number of rows of a node w that have a class k
and a place of a set B, and suppose that t is the same in all tables of rows with the same opened counts. Then t is zero
or not small. Take a block C of w, and of its places only those that the questions on the way to w admit.

1. If w has rows (of k) both in C ∩ B, at p, and in C ∖ B, at q, then its sibling has none in C. For if it had one at r,
   that row and the one of w at q, if r lies in B, or else at p, could exchange their places. All counts of the parent
   and above stay, as each place has as many rows there as before. All counts of w, its sibling and below stay, as these
   join all places of C; every split below sends them the same way. But t has changed.
2. Then the rows of w in C are those of its parent, and the argument goes on with the parent and its finer blocks in
   place of w and C. At the root a row at p can move to q alone, so there no block has rows both in B and outside.
3. So B takes, of the rows of w, whole blocks of w or of its ancestors, each of them opened: zero or not small. Their
   sum t is so too. Where a node was split by the column itself, its child has all rows of the places it admits, which
   is what step 2 needs; a child that was not opened is a single block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.parties.shares.thresholds import NestedGroups, Words

Counts = NDArray[np.int64]
Integer = TypeVar("Integer", np.int64, np.uint64)
TableShape = tuple[int, int]
"""The places and the columns of a table."""


class CountComparer(Protocol):
    """Whoever compares and opens shared counts."""

    def none_small(
        self, share: Words, groups: NestedGroups, least: int, *, largest: int
    ) -> NDArray[np.bool_]:
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

    @classmethod
    def whole(cls, counts: Counts) -> CoarseTable:
        """Return a table none of whose places are joined."""
        return cls(counts, np.arange(len(counts)))

    @property
    def spread(self) -> NDArray[np.float64]:
        """The counts with those of a block divided evenly among its places."""
        sizes = np.bincount(self.last, minlength=len(self.last))
        evenly: NDArray[np.float64] = self.counts[self.last] / sizes[self.last][:, None]
        return evenly

    @property
    def n_blocks(self) -> int:
        """The blocks that were opened."""
        return np.unique(self.last).size


class _Cut(NamedTuple):
    """A block of places from ``low`` to before ``high`` that can be cut before ``middle``.

    ``parent`` is the number of the cut that made the block, or −1.
    """

    low: int
    middle: int
    high: int
    parent: int


def coarse_tables(
    comparer: CountComparer,
    tables: Sequence[Words],
    least: int,
    *,
    largest: int,
    within: Sequence[CoarseTable] | None = None,
) -> list[CoarseTable]:
    """Return coarse tables from shares of their counts; the columns of a table as a whole must not be small.

    ``within`` has, for each table, the coarse table of more rows that it is a part of; only its cuts are tried.
    """
    cuts = [list(_cuts(len(table))) for table in tables]
    tried = [
        [within is None or _is_end(within[number], cut.middle) for cut in listed]
        for number, listed in enumerate(cuts)
    ]
    # Zeros stand for a cut that is not tried: they are not small, so the bit that is opened says nothing, and the
    # frames have the same size whatever was joined before.
    halves = [
        half if admitted else np.zeros_like(half)
        for table, listed, admits in zip(tables, cuts, tried, strict=True)
        for cut, admitted in zip(listed, admits, strict=True)
        for half in (_total(table[cut.low : cut.middle]), _total(table[cut.middle : cut.high]))
    ]
    # The halves stand in the order in which ``cut_groups`` numbers the counts of each cut.
    groups = cut_groups([(len(table), table.shape[1]) for table in tables])
    share = np.concatenate([np.zeros(0, np.uint64), *halves])
    none_small = iter(comparer.none_small(share, groups, least, largest=largest).tolist())
    last = [
        # ``next`` stands first: a cut that is not tried has an answer
        # as well, which must not be left to the cut behind it.
        _last_places(len(table), listed, [next(none_small) and admitted for admitted in admits])
        for table, listed, admits in zip(tables, cuts, tried, strict=True)
    ]
    return _opened(comparer, tables, last)


def cut_groups(shapes: Sequence[TableShape]) -> NestedGroups:
    """Return which counts decide on each cut: those of its halves, and those that decide on the cuts around it."""
    of: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    parents: list[int] = []
    for n_places, n_columns in shapes:
        start = len(parents)
        listed = list(_cuts(n_places))
        of.append(np.repeat(np.arange(start, start + len(listed)), 2 * n_columns))
        parents += [cut.parent if cut.parent < 0 else start + cut.parent for cut in listed]
    return NestedGroups(np.concatenate(of), tuple(parents))


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
    cuts = list(_cuts(len(table)))
    may_cut: list[bool] = []
    for low, middle, high, parent in cuts:
        halves = np.concatenate([table[low:middle].sum(axis=0), table[middle:high].sum(axis=0)])
        none_small = not ((halves > 0) & (halves < least)).any()
        # A cut comes after the one around it, so the decision about the parent is made by now.
        may_cut.append(none_small and (parent < 0 or may_cut[parent]))
    last = _last_places(len(table), cuts, may_cut)
    return CoarseTable(_by_block(table, last), last)


def _cuts(n_places: int) -> Iterator[_Cut]:
    """Return every block that can be cut, the larger ones first, so that a cut comes after the one around it."""
    blocks, number = [(0, n_places, -1)], 0
    while blocks:
        # A queue: breadth first, so that the numbers of cuts grow from the outside to the inside.
        low, high, parent = blocks.pop(0)
        if high - low > 1:
            middle = (low + high) // 2
            yield _Cut(low, middle, high, parent)
            blocks += [(low, middle, number), (middle, high, number)]
            number += 1


def _is_end(table: CoarseTable, middle: int) -> bool:
    """Whether a block of a table ends before a place; each place is the middle of at most one cut."""
    return bool(table.last[middle - 1] == middle - 1)


def _last_places(n_places: int, cuts: Sequence[_Cut], may_cut: Sequence[bool]) -> NDArray[np.int64]:
    """Return the last place of the block of each place, by the cuts that are made."""
    # A middle says all about a cut that is made: those around it
    # are made as well, so blocks begin there and nowhere else.
    starts = {cut.middle for cut, allowed in zip(cuts, may_cut, strict=True) if allowed}
    last, end = np.zeros(n_places, np.int64), n_places
    for position in range(n_places - 1, -1, -1):
        end = position + 1 if position + 1 in starts else end
        last[position] = end - 1
    return last


def _opened(
    comparer: CountComparer, tables: Sequence[Words], last: Sequence[NDArray[np.int64]]
) -> list[CoarseTable]:
    """Return the tables with the counts of all their blocks, which are opened together."""
    # Only the words at the ends of blocks are opened. The words within a block stay shared.
    ends = [np.unique(places) for places in last]
    blocks = [_by_block(table, places)[end] for table, places, end in zip(tables, last, ends, strict=True)]
    values = comparer.opened(np.concatenate([np.zeros(0, np.uint64), *(part.reshape(-1) for part in blocks)]))
    starts = np.cumsum([part.size for part in blocks])[:-1]
    coarse = []
    for part, places, end in zip(np.split(values, starts), last, ends, strict=True):
        counts = np.zeros((places.size, part.size // end.size), np.int64)
        counts[end] = part.reshape(end.size, -1)
        coarse.append(CoarseTable(counts, places))
    return coarse


def _by_block(table: NDArray[Integer], last: NDArray[np.int64]) -> NDArray[Integer]:
    """Return the sums of blocks, each at its last place; shares wrap around modulo 2^64."""
    sums = np.zeros_like(table)
    np.add.at(sums, last, table)
    return sums


def _total(part: Words) -> Words:
    total: Words = part.sum(axis=0, dtype=np.uint64)
    return total
