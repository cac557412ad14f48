"""Rounds: the nodes of a lattice one after the other, each publishing what it can of the rows still left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.tables.groups import Groups
from discreet.core.tables.label_coverage import LabelCover
from discreet.core.tables.source import Replacement
from discreet.guarantees import Guarantee
from discreet.publish.lattice.lattice import Lattice, Node, NodeCover

_PATIENCE = 8
"""So many nodes in a row may publish nothing before the next ones are taken in longer strides."""


@dataclass(frozen=True, repr=False)
class Steps:
    """A way up in some columns: the levels above the bottom of each step (a row per step), and what each costs."""

    levels: IntArray
    cost: FloatArray

    @classmethod
    def of(cls, column: int, n_columns: int, levels: Sequence[int], cost: FloatArray) -> Steps:
        """Return the way up of one column alone."""
        rows = np.zeros((len(levels), n_columns), np.int64)
        rows[:, column] = levels
        return cls(rows, cost - cost[0])

    def tied(self, other: Steps) -> Steps:
        """Go up both ways by turns, the cheaper step first."""
        rises = np.concatenate([np.diff(self.levels, axis=0), np.diff(other.levels, axis=0)])
        more = np.concatenate([np.diff(self.cost), np.diff(other.cost)])
        order = np.argsort(np.concatenate([self.cost[1:], other.cost[1:]]), kind="stable")
        start = np.zeros((1, rises.shape[1]), np.int64)
        cost = np.concatenate([[0.0], np.cumsum(more[order])])
        return Steps(np.concatenate([start, np.cumsum(rises[order], axis=0)]), cost)

    def crossed(self, other: Steps) -> Steps:
        """Return every combination of the two."""
        levels = (self.levels[:, None] + other.levels[None]).reshape(-1, self.levels.shape[1])
        return Steps(levels, np.add.outer(self.cost, other.cost).reshape(-1))


def ladder(bottom: Node, ways: Sequence[Steps], most: int) -> list[Node]:
    """Return the nodes above a bottom in the order of what they cost, at most so many.

    Where there are too many combinations, the shortest ways are tied together until there are not; the last node is
    always the top.
    """
    ways = sorted(ways, key=lambda way: way.cost.size)
    while len(ways) > 1 and np.prod([float(way.cost.size) for way in ways]) > most:
        ways = sorted([ways[0].tied(ways[1]), *ways[2:]], key=lambda way: way.cost.size)
    every = reduce(Steps.crossed, ways)
    # Ties by the sum of levels and then by the levels, whatever the order in which ways were tied.
    nodes = every.levels[np.lexsort([*every.levels.T, every.levels.sum(axis=1), every.cost])] + bottom
    if len(nodes) > most:
        # Counted from the top, which is the only node of a ladder of one.
        nodes = nodes[np.linspace(len(nodes) - 1, 0, most).astype(np.int64)[::-1]]
    return [tuple(node) for node in nodes.tolist()]


@dataclass(frozen=True, repr=False)
class Recoded:
    """Groups of tuples that are published alike: the group of each tuple (-1: none), the levels of each group."""

    group_of: CodeArray
    levels: IntArray

    @classmethod
    def nothing(cls, lattice: Lattice) -> Recoded:
        """Return the start: every tuple is still left."""
        n_tuples = lattice.table.tuples.counts.size
        return cls(np.full(n_tuples, -1, np.int32), np.zeros((0, len(lattice.names)), np.int64))

    @property
    def rest(self) -> CodeArray:
        """The tuples in no group."""
        return np.flatnonzero(self.group_of < 0).astype(np.int32)

    def sizes(self, counts: IntArray) -> IntArray:
        """Count the rows of each group."""
        inside = self.group_of >= 0
        sizes = np.bincount(self.group_of[inside], weights=counts[inside], minlength=len(self.levels))
        return sizes.astype(np.int64)

    def only(self, kept: BoolArray) -> Recoded:
        """Return some of the groups; the tuples of the others are left."""
        # The entry behind the last is for tuples in no group, whose index is -1.
        number = np.append(np.cumsum(kept) - 1, -1).astype(np.int32)
        number[:-1][~kept] = -1
        return Recoded(number[self.group_of], self.levels[kept])


@dataclass(frozen=True, repr=False)
class Spelling:
    """How one column is written: the nodes of all levels of its tree in one list, with their labels and losses.

    ``levels`` gives the node of each code at each level, ``text`` the label of each node, ``codes`` those of tuples.
    """

    name: str
    codes: CodeArray
    levels: CodeArray
    column: int
    labels: pa.Array
    text: CodeArray
    loss: FloatArray
    covered: IntArray

    @classmethod
    def of(cls, lattice: Lattice, column: int) -> Spelling:
        """Write down a column's tree."""
        tree, name = lattice.trees[column], lattice.names[column]
        starts = np.cumsum([0, *[len(labels) for labels in tree.labels[:-1]]])
        nodes = np.stack([level + start for level, start in zip(tree.levels, starts, strict=True)])
        labels = pa.array([label for level in tree.labels for label in level], pa.string())
        encoded = labels.dictionary_encode(null_encoding="encode")
        return cls(
            name=name,
            codes=lattice.table.codes(name),
            levels=nodes.astype(np.int32),
            column=column,
            labels=encoded.dictionary,
            text=np.asarray(encoded.indices).astype(np.int32),
            loss=np.concatenate([tree.losses(level) for level in range(tree.height + 1)]),
            covered=np.bincount(
                nodes.reshape(-1), np.tile(lattice.table.overall(name), len(nodes)), len(labels)
            ).astype(np.int64),
        )

    def cells(self, recoded: Recoded) -> CodeArray:
        """Return the node that each group shows."""
        member = np.zeros(len(recoded.levels), np.int64)
        inside = np.flatnonzero(recoded.group_of >= 0)
        member[recoded.group_of[inside]] = inside
        cells: CodeArray = self.levels[recoded.levels[:, self.column], self.codes[member]]
        return cells

    def labels_at(self, cells: CodeArray) -> Replacement:
        """Return the labels of nodes, each label once."""
        used, index = np.unique(self.text[cells], return_inverse=True)
        return Replacement(index.astype(np.int32), self.labels.take(pa.array(used)))


def label_cover(spelling: Sequence[Spelling], labels: Sequence[Replacement], groups: IntArray) -> LabelCover:
    """Return what some groups describe, by the labels that each column shows."""
    columns = zip(spelling, labels, strict=True)
    return LabelCover.of((column.name, cells.labels, cells.index[groups]) for column, cells in columns)


class Rounds:
    """Publishes the rows still left at one node after the other."""

    def __init__(self, lattice: Lattice, guarantee: Guarantee, *, deadline: float | None = None) -> None:
        self.lattice = lattice
        self.guarantee = guarantee
        self.deadline = deadline
        self._counts = lattice.table.tuples.counts
        judged = guarantee.columns(lattice.table.schema.sensitive)
        sensitive = lattice.table.sensitive_codes()
        self.sensitive = {name: sensitive[name] for name in judged}
        self._codes: dict[tuple[int, int], CodeArray] = {}

    def run(self, nodes: Sequence[Node], start: Recoded) -> Recoded:
        """Go through nodes, each taking the classes of the rows left that keep the guarantee.

        The longer nothing is found, the more nodes are passed over, and after the deadline all of them; never the
        last.
        """
        from discreet.kernels.tables.grouping import distinct

        group_of, levels = start.group_of.copy(), [start.levels]
        rest, n_groups = start.rest, len(start.levels)
        self._codes.clear()
        at, idle, last = 0, 0, len(nodes) - 1
        while at <= last and rest.size:
            first, labels, sizes = distinct(self._keys(nodes[at], rest), self._counts[rest])
            kept = self._kept(nodes[at], rest, first, labels, sizes)
            idle += 1
            if kept.any():
                numbers = (np.cumsum(kept) - 1 + n_groups).astype(np.int32)
                published = kept[labels]
                group_of[rest[published]] = numbers[labels[published]]
                levels.append(np.tile(np.array(nodes[at], np.int64), (int(kept.sum()), 1)))
                n_groups, rest = n_groups + int(kept.sum()), rest[~published]
                self._codes.clear()
                idle = 0
            late = self.deadline is not None and time.monotonic() > self.deadline
            step = last if late else 1 + idle // _PATIENCE
            at = min(at + step, last) if at < last else last + 1
        return Recoded(group_of, np.concatenate(levels))

    def judged(self, tuples: CodeArray, node: Node) -> bool:
        """Return whether tuples that one class of a node holds keep the guarantee together."""
        labels = np.zeros(tuples.size, np.int32)
        return bool(self.guarantee.holds(self._groups(node, tuples, labels, tuples[:1]))[0])

    def keys(self, node: Node, tuples: CodeArray) -> IntArray:
        """Return a key for each tuple, equal where tuples are alike at a node."""
        self._codes.clear()
        return self._keys(node, tuples)

    def _keys(self, node: Node, rest: CodeArray) -> IntArray:
        from discreet.kernels.tables.grouping import pack

        # The column of zeros stays where every column is at a level of one node: all tuples are alike then.
        columns, cards = [np.zeros(rest.size, np.int32)], [1]
        for column, level in enumerate(node):
            card = self.lattice.card(column, level)
            if card == 1:
                continue
            if (column, level) not in self._codes:
                self._codes[column, level] = self._nodes(column, level, rest)
            columns.append(self._codes[column, level])
            cards.append(card)
        return pack(columns[1:] or columns, cards[1:] or cards)

    def _nodes(self, column: int, level: int, tuples: CodeArray) -> CodeArray:
        codes = self.lattice.table.codes(self.lattice.names[column])[tuples]
        nodes: CodeArray = self.lattice.trees[column].levels[level][codes]
        return nodes

    def _kept(
        self, node: Node, rest: CodeArray, first: IntArray, labels: CodeArray, sizes: IntArray
    ) -> BoolArray:
        """Find the classes that keep the guarantee, next to the whole table; those too small are not looked at."""
        kept: BoolArray = sizes >= max(self.guarantee.smallest, 1)
        if self.guarantee.by_size or not kept.any():
            return kept
        inside = kept[labels]
        numbers = (np.cumsum(kept) - 1).astype(np.int32)[labels[inside]]
        groups = self._groups(node, rest[inside], numbers, rest[first[kept]])
        kept[kept] = self.guarantee.holds(groups)
        return kept

    def _groups(self, node: Node, tuples: CodeArray, labels: CodeArray, first: CodeArray) -> Groups:
        sensitive = {
            name: (codes[tuples], overall, tree) for name, (codes, overall, tree) in self.sensitive.items()
        }
        cover = NodeCover(self.lattice, node, lambda column: self._nodes(column, node[column], first))
        return Groups.of(labels, self._counts[tuples], first.size, sensitive, cover=cover)


def starred(rounds: Rounds, recoded: Recoded, weights: FloatArray, most: int) -> Recoded:
    """Publish what is left in rounds at nodes with some columns starred, beyond the highest levels of the lattice."""
    from discreet.publish.lattice.measures import LossMeasure

    lattice = rounds.lattice
    limited = [tree.height > top for tree, top in zip(lattice.trees, lattice.top, strict=True)]
    if not any(limited) or not recoded.rest.size:
        return recoded
    ways = []
    for column, loss in enumerate(LossMeasure(lattice, weights, "mean").columns):
        # Empty where the column is not limited.
        star = [lattice.trees[column].height - lattice.bottom[column]] * limited[column]
        cost = weights[column] * np.concatenate([loss, np.ones(len(star))])
        ways.append(Steps.of(column, len(limited), [*range(lattice.dims[column]), *star], cost))
    nodes = ladder(lattice.bottom, ways, most)
    beyond = [
        node for node in nodes if any(level > top for level, top in zip(node, lattice.top, strict=True))
    ]
    return rounds.run(beyond, recoded)


def joined(rounds: Rounds, recoded: Recoded, *, cells: bool) -> Recoded | None:
    """Publish what is left together with the last groups, at the lowest node that holds them all.

    As few groups are opened again as needed: none, one, two, four and so on, until the rows together keep the
    guarantee. Returns None where they never do, or where some cell would have to be starred and may not be.
    """
    rest = recoded.rest
    n_groups = len(recoded.levels)
    n_opened = 0
    while rest.size:
        first = n_groups - n_opened
        together = np.flatnonzero((recoded.group_of < 0) | (recoded.group_of >= first)).astype(np.int32)
        node = _lowest_common(rounds.lattice, together, cells=cells)
        if node is None:
            return None
        if rounds.judged(together, node):
            group_of = recoded.group_of.copy()
            group_of[together] = first
            return Recoded(group_of, np.concatenate([recoded.levels[:first], [node]]))
        if first == 0:
            return None
        n_opened = min(max(2 * n_opened, 1), n_groups)
    return recoded


def _lowest_common(lattice: Lattice, tuples: CodeArray, *, cells: bool) -> Node | None:
    """Return the lowest node within the lattice's limits at which tuples are one class, or starred beyond them."""
    node = []
    for column, (name, tree) in enumerate(zip(lattice.names, lattice.trees, strict=True)):
        codes = lattice.table.codes(name)[tuples]
        level = int(tree.lowest_common(codes.min(keepdims=True), codes.max(keepdims=True))[0][0])
        if level > lattice.top[column]:
            if not cells:
                return None
            level = tree.height
        node.append(max(level, lattice.bottom[column]))
    return tuple(node)
