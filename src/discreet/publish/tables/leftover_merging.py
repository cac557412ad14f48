"""Merging of leftovers: rows that no round could publish join the nearest group that keeps the guarantee with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.recoding_rounds import Recoded, Rounds, Spelling, label_cover

_N_NEAREST = 6
"""How many groups each leftover is tried with at a time."""
_MOST_LEFTOVERS = 20_000
"""How many leftovers are merged one by one; where there are more, those of the same coarser class go together."""
_MOST_PAIRS = 20_000_000
"""How many pairs of a leftover and a group are compared in a pass; where there are more, each sees a part."""


@dataclass(frozen=True, repr=False)
class Trees:
    """The trees of all columns laid end to end for the kernels: the node and weighted loss of a code at a level."""

    node: CodeArray
    loss: FloatArray
    start: IntArray
    card: IntArray
    top: IntArray
    star: IntArray

    @classmethod
    def of(cls, lattice: Lattice, weights: FloatArray, *, cells: bool) -> Trees:
        """Lay out a lattice's trees; ``cells`` allows stars above the highest levels."""
        trees = lattice.trees
        cards = np.array([tree.levels[0].size for tree in trees], np.int64)
        lengths = cards * [tree.height + 1 for tree in trees]
        losses = [
            weight * tree.losses(level)[nodes]
            for weight, tree in zip(weights, trees, strict=True)
            for level, nodes in enumerate(tree.levels)
        ]
        return cls(
            node=np.concatenate([nodes for tree in trees for nodes in tree.levels]).astype(np.int32),
            loss=np.concatenate(losses),
            start=(np.cumsum(lengths) - lengths).astype(np.int64),
            card=cards,
            top=np.array(lattice.top, np.int64),
            star=np.array(
                [
                    tree.height if cells or tree.height <= top else -1
                    for tree, top in zip(trees, lattice.top, strict=True)
                ],
                np.int64,
            ),
        )

    def loss_of(self, codes: CodeArray, levels: CodeArray) -> FloatArray:
        """Return the loss of each row of codes at levels, summed over the columns."""
        return np.asarray(self.loss[self.start + levels * self.card + codes].sum(axis=1))


@dataclass(frozen=True, repr=False)
class Mergeable:
    """Groups and leftovers alike: a member's codes, the levels, the rows, and the entries of sensitive columns."""

    codes: CodeArray
    levels: CodeArray
    sizes: IntArray
    sensitive: Mapping[str, SensitiveCounts]

    @property
    def n_pieces(self) -> int:
        """The number of pieces."""
        return int(self.sizes.size)


class Merging:
    """Merges leftovers into the groups of a recoding, in passes of the cheapest mergers that keep the guarantee."""

    def __init__(self, rounds: Rounds, weights: FloatArray, *, cells: bool) -> None:
        self.rounds = rounds
        self.lattice = rounds.lattice
        self.guarantee = rounds.guarantee
        self.trees = Trees.of(rounds.lattice, weights, cells=cells)
        self._spelling = [Spelling.of(self.lattice, column) for column in range(len(self.lattice.names))]

    def run(self, recoded: Recoded) -> Recoded:
        """Merge leftovers until none is left or no group takes any of them."""
        n_groups = len(recoded.levels)
        if not n_groups or not recoded.rest.size:
            return recoded
        piece_of, pieces = self._pieces(recoded)
        open_ = np.ones(n_groups, np.bool_)
        left = np.arange(n_groups, pieces.n_pieces, dtype=np.int32)
        target = np.arange(pieces.n_pieces, dtype=np.int32)
        # Each pass merges a leftover or closes a group that took none of those nearest to it, so that there
        # is an end.
        while left.size and open_.any():
            merged, into, refused = self._pass(pieces, left, np.flatnonzero(open_).astype(np.int32))
            if not merged.size and not refused.size:
                break
            target[merged] = into
            if merged.size:
                pieces = self._merged(pieces, merged, into)
            left = left[~np.isin(left, merged)]
            open_[refused] = False
        target[left] = -1
        return Recoded(target[piece_of], pieces.levels[:n_groups].astype(np.int64))

    def _pieces(self, recoded: Recoded) -> tuple[CodeArray, Mergeable]:
        """Return the piece of each tuple and the pieces: the groups, then the classes of what is left."""
        table, n_groups = self.lattice.table, len(recoded.levels)
        piece_of, rest = recoded.group_of.copy(), recoded.rest
        labels = self._classes(rest)
        piece_of[rest] = labels + n_groups
        codes = table.tuples.codes[:, : len(self.lattice.names)].astype(np.int32)
        # Any member will do: a group shows what its levels make of each of them.
        member = np.zeros(n_groups, np.int64)
        member[recoded.group_of[recoded.group_of >= 0]] = np.flatnonzero(recoded.group_of >= 0)
        low, levels = self._box(codes[rest], np.full(codes[rest].shape, self.lattice.bottom), labels)
        groups = Groups.of(piece_of, table.tuples.counts, n_groups + len(low), self.rounds.sensitive)
        return piece_of, Mergeable(
            np.concatenate([codes[member], low]),
            np.concatenate([recoded.levels, levels]).astype(np.int32),
            groups.sizes,
            groups.sensitive,
        )

    def _classes(self, tuples: CodeArray) -> CodeArray:
        """Return the class of each tuple; where there are too many, all columns go up a level together."""
        from discreet.kernels.tables.grouping import distinct

        lattice = self.lattice
        first, labels, _ = distinct(lattice.table.classes[0][tuples].astype(np.int64))
        for up in range(1, max(lattice.dims)):
            if first.size <= _MOST_LEFTOVERS:
                break
            node = tuple(min(low + up, top) for low, top in zip(lattice.bottom, lattice.top, strict=True))
            first, labels, _ = distinct(self.rounds.keys(node, tuples))
        return labels

    def _pass(
        self, pieces: Mergeable, left: CodeArray, groups: CodeArray
    ) -> tuple[CodeArray, CodeArray, CodeArray]:
        """Find the mergers of a pass: the leftovers, the group each joins, and the groups that take nothing more."""
        nearest, added = self._nearest(pieces, left, groups)
        row, rank = np.nonzero(nearest >= 0)
        group = nearest[row, rank]
        pairs = np.arange(row.size, dtype=np.int32)
        holds = self._holds(pieces, np.concatenate([left[row], group]), np.concatenate([pairs, pairs]))
        row, group, cost = row[holds], group[holds], added[row, rank][holds]
        refused = np.setdiff1d(nearest[nearest >= 0], group)
        if not row.size:
            return row.astype(np.int32), row.astype(np.int32), refused
        # Ranks rise with the cost, so that the first that holds is the cheapest.
        best = np.unique(row, return_index=True)[1]
        merged, into = self._together(pieces, left[row[best]], group[best], cost[best])
        return merged, into, refused

    def _together(
        self, pieces: Mergeable, leftovers: CodeArray, group: CodeArray, cost: FloatArray
    ) -> tuple[CodeArray, CodeArray]:
        """Let each group take as many of its leftovers, the cheapest first, as cost no more together than alone."""
        order = np.lexsort((cost, group))
        leftovers, group, cost = leftovers[order], group[order], cost[order]
        groups, starts, into, n_wanted = np.unique(
            group, return_index=True, return_inverse=True, return_counts=True
        )
        rank = np.arange(group.size) - starts[into]
        most = n_wanted.copy()
        numbers = np.arange(groups.size, dtype=np.int32)
        while True:
            first_ones = rank < most[into]
            members = np.concatenate([groups, leftovers[first_ones]])
            labels = np.concatenate([numbers, into[first_ones]]).astype(np.int32)
            alone = np.bincount(into[first_ones], weights=cost[first_ones])
            # The tolerance is that of sums of floats.
            fine = self._holds(pieces, members, labels) & (
                self._added(pieces, members, labels) <= alone * (1 + 1e-9) + 1e-9
            )
            # One leftover alone was judged before.
            fine |= most == 1
            if fine.all():
                return leftovers[first_ones], group[first_ones]
            most[~fine] = (most[~fine] + 1) // 2

    def _nearest(self, pieces: Mergeable, left: CodeArray, groups: CodeArray) -> tuple[CodeArray, FloatArray]:
        from discreet.kernels.tables.nearest_groups import nearest_groups

        groups = groups[np.lexsort(pieces.codes[groups].T[::-1])]
        width = min(max(_MOST_PAIRS // left.size, _N_NEAREST), groups.size)
        # Leftovers and groups in one order of codes: each leftover sees the groups around its own place, and
        # begins with those next to it.
        order = np.lexsort(np.concatenate([pieces.codes[groups], pieces.codes[left]]).T[::-1])
        position = np.empty(order.size, np.int64)
        position[order] = np.cumsum(order < groups.size)
        middle = position[groups.size :]
        first = np.clip(middle - width // 2, 0, groups.size - width)
        start = np.clip(middle - _N_NEAREST // 2, first, first + width - 1)
        trees = self.trees
        found: tuple[CodeArray, FloatArray] = nearest_groups(
            pieces.codes,
            pieces.levels,
            pieces.sizes,
            left,
            groups,
            first,
            first + width,
            start,
            _N_NEAREST,
            trees.node,
            trees.loss,
            trees.start,
            trees.card,
            trees.top,
            trees.star,
        )
        return found

    def _holds(self, pieces: Mergeable, members: CodeArray, labels: CodeArray) -> BoolArray:
        """Judge unions of pieces: the piece of each member, and the number of its union."""
        codes, levels = self._box(pieces.codes[members], pieces.levels[members], labels)
        n_unions = len(codes)
        sensitive = {
            name: _union(counts, members, labels, n_unions) for name, counts in pieces.sensitive.items()
        }
        sizes = np.bincount(labels, weights=pieces.sizes[members], minlength=n_unions).astype(np.int64)
        return self.guarantee.holds(
            Groups(sizes, sensitive, cover=_UnionCover(self._spelling, codes, levels))
        )

    def _added(self, pieces: Mergeable, members: CodeArray, labels: CodeArray) -> FloatArray:
        """Return what unions add to the summed loss of their members."""
        codes, levels = self._box(pieces.codes[members], pieces.levels[members], labels)
        sizes = np.bincount(labels, weights=pieces.sizes[members], minlength=len(codes))
        before = pieces.sizes[members] * self.trees.loss_of(pieces.codes[members], pieces.levels[members])
        return np.asarray(sizes * self.trees.loss_of(codes, levels) - np.bincount(labels, weights=before))

    def _box(self, codes: CodeArray, levels: CodeArray, labels: CodeArray) -> tuple[CodeArray, CodeArray]:
        """Return a code and the levels of unions: the lowest at which their members meet, or stars above the top."""
        order = np.argsort(labels, kind="stable")
        starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
        codes = codes[order]
        low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        levels = np.maximum.reduceat(levels[order], starts)
        for column, tree in enumerate(self.lattice.trees):
            meeting, _ = tree.lowest_common(low[:, column], high[:, column])
            levels[:, column] = np.maximum(levels[:, column], meeting)
        return low, np.where(levels > self.trees.top, self.trees.star, levels).astype(np.int32)

    def _merged(self, pieces: Mergeable, merged: CodeArray, into: CodeArray) -> Mergeable:
        """Return the pieces after mergers; what a group took stays behind as an empty piece of its own."""
        labels = np.arange(pieces.n_pieces, dtype=np.int32)
        labels[merged] = into
        groups = np.unique(into)
        touched = np.concatenate([groups, merged])
        codes, levels = pieces.codes.copy(), pieces.levels.copy()
        codes[groups], levels[groups] = self._box(
            pieces.codes[touched], pieces.levels[touched], np.searchsorted(groups, labels[touched])
        )
        sizes = np.bincount(labels, weights=pieces.sizes, minlength=pieces.n_pieces).astype(np.int64)
        every = np.arange(pieces.n_pieces)
        sensitive = {
            name: _union(counts, every, labels, pieces.n_pieces) for name, counts in pieces.sensitive.items()
        }
        return Mergeable(codes, levels, sizes, sensitive)


@dataclass(frozen=True, repr=False)
class _UnionCover:
    """What unions of pieces would show, worked out only when a guarantee looks at a population."""

    spelling: list[Spelling]
    codes: CodeArray
    levels: CodeArray

    def matches(self, population: object) -> IntArray:
        """Count the people of a population that each union may describe."""
        labels = []
        for column in self.spelling:
            nodes = column.levels[self.levels[:, column.column], self.codes[:, column.column]]
            labels.append(column.labels_at(nodes))
        return label_cover(self.spelling, labels, np.arange(len(self.codes))).matches(population)


def _union(counts: SensitiveCounts, members: Any, labels: CodeArray, n_unions: int) -> SensitiveCounts:
    """Add up the counts of the members of unions."""
    from discreet.kernels.tables.grouping import count_values

    widths = np.diff(counts.indptr)[members]
    ends = np.cumsum(widths)
    # The entries of all members, row by row of the compressed counts, without a loop.
    entries = np.arange(ends[-1]) - np.repeat(ends - widths - counts.indptr[members], widths)
    entries_of_unions = count_values(
        np.repeat(labels, widths),
        counts.values[entries],
        counts.counts[entries],
        n_unions,
        counts.overall.size,
    )
    return SensitiveCounts(counts.name, *entries_of_unions, counts.overall, counts.hierarchy)
