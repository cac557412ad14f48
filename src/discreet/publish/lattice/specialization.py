"""Specialization: a node of the lattice is opened branch by branch, so that each column gets a cut through its tree."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.tables.groups import Groups
from discreet.core.tables.label_coverage import LabelCover
from discreet.guarantees import Guarantee
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.publisher import kept_groups
from discreet.publish.tables.recoding_rounds import Spelling

_DUST = 1e-9
"""What rounding may add to the loss of a row."""


@dataclass(frozen=True, order=True)
class Branch:
    """A node of a column's tree that may be replaced by its children: less than another where it saves more loss.

    ``low`` and ``high`` bound the codes under it. Ties are broken by names and numbers that the order of rows and
    columns does not change.
    """

    rank: float
    name: str
    low: int
    high: int
    level: int
    column: int = field(compare=False)


class Opened(NamedTuple):
    """What a branch's children make of its tuples: the new classes, which tuples are left out, and what that saves."""

    tuples: IntArray
    labels: CodeArray
    n_classes: int
    dropped: BoolArray
    """Of all tuples of the table."""
    saved: float
    certain: bool
    """Whether too many rows fail, however finely the classes are divided."""


class Specialization:
    """Begins at a node and replaces branches by their children, where the guarantee stays and no loss is added.

    The branch that saves most loss comes first, rows left out not counted. One that cannot be opened is tried again
    after others were, unless no finer classes could keep the guarantee either. A branch is not opened where a child's
    label stands for other values elsewhere in the tree, since a reader could not tell which are meant.

    Parameters
    ----------
    lattice
        The lattice; no branch goes below its bottom.
    node
        Where to begin; it must keep the guarantee.
    guarantee
        What every class must keep.
    weights
        The weight of each column in the loss.
    limit
        How many rows may be left out.

    Attributes
    ----------
    levels
        The level of each code of each column. Null is at level 0 wherever it has a node of its own.
    dropped
        Which tuples are left out.
    steps
        The branches opened, in order.
    """

    def __init__(
        self, lattice: Lattice, node: Node, guarantee: Guarantee, weights: FloatArray, limit: int
    ) -> None:
        self.lattice, self.guarantee, self.weights, self.limit = lattice, guarantee, weights, limit
        self.spelling = [Spelling.of(lattice, column) for column in range(len(lattice.names))]
        self._counts = lattice.table.tuples.counts
        judged = guarantee.columns(lattice.table.schema.sensitive)
        self._sensitive = {name: lattice.table.sensitive_codes()[name] for name in judged}
        self._unclear = [_unclear(column) for column in self.spelling]
        self.levels = [
            np.full(tree.levels[0].size, level, np.int32)
            for tree, level in zip(lattice.trees, node, strict=True)
        ]
        for levels, tree in zip(self.levels, lattice.trees, strict=True):
            levels[0] = tree.height if levels[0] == tree.height else 0
        groups, labels, _ = lattice.groups(node)
        self._class_of, self._n_classes = labels.astype(np.int64), groups.n_groups
        self.dropped = ~kept_groups(guarantee, groups)[labels]
        self._loss = np.zeros(self._counts.size)
        for weight, column, levels in zip(weights, self.spelling, self.levels, strict=True):
            self._loss += weight * column.loss[_nodes(column, levels)][column.codes]
        self.steps: list[tuple[str, int, int, int]] = []

    @property
    def loss(self) -> float:
        """The weighted mean loss of the columns; a row left out counts 1 in each."""
        total = self._counts @ np.where(self.dropped, self.weights.sum(), self._loss)
        return float(total / (self._counts.sum() * self.weights.size))

    def run(self) -> None:
        """Open branches until none can be."""
        branches: list[Branch] = []
        for column, levels in enumerate(self.levels):
            for low, high in _runs(_nodes(self.spelling[column], levels)):
                branches += self._branch(column, low, high)
        heapq.heapify(branches)
        waiting: list[Branch] = []
        while branches:
            branch = heapq.heappop(branches)
            opened = self._open(branch)
            if opened.saved >= -_DUST and self._left_out(opened) <= self.limit:
                self._take(branch, opened)
                for more in (*self._children(branch), *waiting):
                    heapq.heappush(branches, more)
                waiting = []
            elif not opened.certain:
                waiting.append(branch)

    def cells(self, column: int) -> CodeArray:
        """Return the node that each code of a column shows, as its spelling numbers them."""
        return _nodes(self.spelling[column], self.levels[column])

    def labels(self, column: int, codes: IntArray | None = None) -> dict[int, list[str]]:
        """Return the labels that stand at each level of a column, for some codes or for all; null has none."""
        spelling, levels = self.spelling[column], self.levels[column]
        text = spelling.text[self.cells(column)]
        written = spelling.labels.to_pylist()
        by_level: dict[int, dict[str, None]] = {}
        for code in range(levels.size) if codes is None else codes.tolist():
            if written[text[code]] is not None:
                by_level.setdefault(int(levels[code]), {})[written[text[code]]] = None
        return {level: list(labels) for level, labels in by_level.items()}

    def classes(self) -> CodeArray:
        """Return the class of each tuple."""
        return np.unique(self._class_of, return_inverse=True)[1].astype(np.int32)

    def _branch(self, column: int, low: int, high: int) -> Iterator[Branch]:
        """Return the branch of a run of codes, where there is one to open."""
        spelling, level = self.spelling[column], int(self.levels[column][low])
        rows = self.lattice.table.overall(spelling.name)[low:high]
        # Code 0 alone is the null, which has nothing below it.
        if level <= self.lattice.bottom[column] or (low, high) == (0, 1) or not rows.any():
            return
        below = spelling.levels[level - 1, low:high]
        if self._unclear[column][below].any():
            return
        saved = rows @ (spelling.loss[spelling.levels[level, low]] - spelling.loss[below])
        yield Branch(-float(self.weights[column] * saved), spelling.name, low, high, level, column)

    def _children(self, branch: Branch) -> Iterator[Branch]:
        below = self.spelling[branch.column].levels[branch.level - 1, branch.low : branch.high]
        for low, high in _runs(below):
            yield from self._branch(branch.column, branch.low + low, branch.low + high)

    def _open(self, branch: Branch) -> Opened:
        """Divide the classes of a branch by its children, and judge them."""
        from discreet.kernels.tables.grouping import distinct, pack

        spelling = self.spelling[branch.column]
        tuples = np.flatnonzero((spelling.codes >= branch.low) & (spelling.codes < branch.high))
        below = spelling.levels[branch.level - 1][spelling.codes[tuples]]
        keys = pack([self._class_of[tuples], below - below.min()], [self._n_classes, int(np.ptp(below)) + 1])
        first, labels, sizes = distinct(keys, self._counts[tuples])
        groups = self._groups(branch, tuples, labels, first, sizes)
        failing = float(self.guarantee.failing_at_least(groups, moved=self.limit / self._counts.sum()).sum())
        dropped = self._failing(branch, tuples, labels, groups)
        # Where finer classes can only fail more often, what fails now fails for good.
        if self.guarantee.monotone:
            failing = float(self._counts[dropped].sum())
        gone = self.weights.sum()
        before = np.where(self.dropped, gone, self._loss)
        loss = self._loss.copy()
        loss[tuples] = self._loss_below(branch, tuples, below)
        saved = float(self._counts @ (before - np.where(dropped, gone, loss))) / self._counts.sum()
        certain = failing > self.limit + _DUST * max(int(self._counts.sum()), 1000)
        return Opened(tuples, labels, first.size, dropped, saved, certain)

    def _failing(self, branch: Branch, tuples: IntArray, labels: CodeArray, groups: Groups) -> BoolArray:
        """Return which tuples of the table are left out, the branch being opened.

        Where classes are compared with the whole table and rows may be left out of it, all classes are judged anew.
        """
        dropped = self.dropped.copy()
        if not ((self.guarantee.relative and self.limit) or self.guarantee.table_wide):
            dropped[tuples] = ~self.guarantee.holds(groups)[labels]
            return dropped
        class_of = self._class_of.copy()
        class_of[tuples] = self._n_classes + labels
        first, every = np.unique(class_of, return_index=True, return_inverse=True)[1:]
        cover = _CutCover(self, branch, first)
        whole = Groups.of(every.astype(np.int32), self._counts, first.size, self._sensitive, cover=cover)
        return np.asarray(~kept_groups(self.guarantee, whole)[every])

    def _left_out(self, opened: Opened) -> int:
        """Count the rows left out; all of them are too many."""
        n_rows = int(self._counts[opened.dropped].sum())
        return n_rows if not opened.dropped.all() else self.limit + 1

    def _take(self, branch: Branch, opened: Opened) -> None:
        spelling = self.spelling[branch.column]
        below = spelling.levels[branch.level - 1][spelling.codes[opened.tuples]]
        self._loss[opened.tuples] = self._loss_below(branch, opened.tuples, below)
        self._class_of[opened.tuples] = self._n_classes + opened.labels
        self._n_classes += opened.n_classes
        self.dropped = opened.dropped
        self.levels[branch.column][branch.low : branch.high] = branch.level - 1
        # A branch that begins at code 0 holds the null, which has its own node below.
        if branch.low == 0:
            self.levels[branch.column][0] = 0
        self.steps.append((branch.name, branch.low, branch.high, branch.level))

    def _loss_below(self, branch: Branch, tuples: IntArray, below: CodeArray) -> FloatArray:
        """Return the loss of tuples with a branch opened."""
        spelling = self.spelling[branch.column]
        node = spelling.levels[branch.level, branch.low]
        change = spelling.loss[below] - spelling.loss[node]
        return np.asarray(self._loss[tuples] + self.weights[branch.column] * change)

    def _groups(
        self, branch: Branch, tuples: IntArray, labels: CodeArray, first: IntArray, sizes: IntArray
    ) -> Groups:
        """Return the classes that the children of a branch make, beside the whole table."""
        if self.guarantee.by_size:
            return Groups(sizes)
        sensitive = {
            name: (codes[tuples], overall, tree) for name, (codes, overall, tree) in self._sensitive.items()
        }
        cover = _CutCover(self, branch, tuples[first])
        return Groups.of(labels, self._counts[tuples], first.size, sensitive, cover=cover)


@dataclass(frozen=True)
class _CutCover:
    """What classes describe with a branch opened, worked out only when a guarantee looks at a population."""

    cut: Specialization
    branch: Branch
    tuples: IntArray

    def matches(self, population: object) -> IntArray:
        """Count, for each class, the population rows it may describe."""
        columns = []
        for column, spelling in enumerate(self.cut.spelling):
            codes = spelling.codes[self.tuples]
            nodes = self.cut.cells(column)[codes]
            if column == self.branch.column:
                inside = (codes >= self.branch.low) & (codes < self.branch.high)
                nodes = np.where(inside, spelling.levels[self.branch.level - 1][codes], nodes)
            columns.append((spelling.name, spelling.labels, spelling.text[nodes]))
        return LabelCover.of(columns).matches(population)


def _nodes(spelling: Spelling, levels: CodeArray) -> CodeArray:
    """Return the node of each code at the code's own level."""
    nodes: CodeArray = spelling.levels[levels, np.arange(levels.size)]
    return nodes


def _runs(nodes: CodeArray) -> Iterator[tuple[int, int]]:
    """Return where each run of equal nodes begins and ends; nodes cover contiguous codes."""
    starts = np.flatnonzero(np.concatenate([[True], nodes[1:] != nodes[:-1]]))
    yield from zip(starts.tolist(), [*starts[1:].tolist(), nodes.size], strict=True)


def _unclear(spelling: Spelling) -> BoolArray:
    """Return which nodes of a column have a label that another node has too, over other values."""
    size, codes = spelling.text.size, np.arange(spelling.levels.shape[1])
    low, high = np.full(size, codes.size), np.zeros(size, np.int64)
    for level in spelling.levels:
        np.minimum.at(low, level[1:], codes[1:])
        np.maximum.at(high, level[1:], codes[1:])
    unclear = np.zeros(size, np.bool_)
    # A label is clear only where all nodes that bear it span the same codes.
    for end in (low, high):
        least, most = np.full(size, codes.size), np.zeros(size, np.int64)
        np.minimum.at(least, spelling.text, end)
        np.maximum.at(most, spelling.text, end)
        unclear |= (least != most)[spelling.text]
    return unclear
