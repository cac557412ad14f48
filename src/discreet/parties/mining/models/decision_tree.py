"""Decision trees over rows that are split between parties: secure sums of histograms, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.tree_growing import Node
from discreet.parties.mining.models.columns import codes, own_columns
from discreet.parties.mining.models.horizontal import HorizontalProtocol
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.totals import TotalFrames, Totals
from discreet.parties.mining.models.tree_protocol import Table, TreeProtocol, places_of
from discreet.parties.mining.models.tree_splits import grown
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.coarse_tables import CoarseTable, n_opened
from discreet.parties.transcript import FrameShape


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalTree(TreeProtocol, HorizontalProtocol):
    """A decision tree learned from the rows of all parties, as CART or ID3 learn it from histograms.

    At every level one secure sum opens, for each node that may still split, the counts of every column's places and
    the classes. Splits are compared exactly, so that all parties choose the same. Classes with fewer than
    ``min_count`` rows are left out, and neighboring places are joined until no class has fewer rows of them in a node
    or in its sibling, but for none at all; the tree equals the one of the pooled rows by these places. The output has
    an estimator with ``predict``, ``predict_proba`` and ``describe``.

    Parameters
    ----------
    columns : tuple of str
        The columns to learn from.
    target : str
        The column of classes.
    classes : tuple of str or int
        The public list of classes.
    categories : mapping of str to list
        The public categories of columns of categories.
    ranges : mapping of str to pair of float
        The public range of the other columns, which is cut into ``bins`` intervals; values beyond it count as the ends.
    bins : int
        The intervals of a column of numbers.
    criterion : {"gini", "entropy"}
        The impurity that splits lower: that of CART, or of ID3.
    max_depth : int
        The most questions on the way to a leaf.
    min_leaf : int
        The least rows of a leaf.
    epsilon, min_honest, threshold, min_count, two_parties_see_each_other
        As in every protocol of sums.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalTree(
    ...     columns=("age",), target="ill", classes=("no", "yes"), ranges={"age": (0, 100)}, bins=10, max_depth=1,
    ...     min_count=2)
    >>> run = simulate(protocol, {
    ...     "clinic": {"age": [20, 70], "ill": ["no", "yes"]}, "practice": {"age": [35, 90], "ill": ["no", "yes"]},
    ...     "surgery": {"age": [], "ill": []}})
    >>> print(run.outputs["clinic"].model.describe())
    age < 50: no (100.0% of 2)
    age ≥ 50: yes (100.0% of 2)
    """

    name: ClassVar[str] = "decision-tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_tree(self.columns)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the model."""
        return (
            (
                "Every party learns the counts of classes by place of every column, at each node that may split"
                f"{' and at its sibling' if self.holds_back else ''}."
            ),
            *self._sum_leaks,
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run, by the number of nodes that may split at each level."""
        facts = {"open_nodes": [1], "opened counts": [0], **(revealed or {})}
        sizes, n = [column.n_places for column in self.tree_columns(self.columns)], len(self.classes)
        frames = TotalFrames(names, self)
        if not self.holds_back:
            for n_open in facts["open_nodes"]:
                yield from frames.add(sum(sizes) * n * n_open)
            return
        yield from frames.counts(n)
        for level, (n_groups, n_counts) in enumerate(
            zip(facts["open_nodes"], facts["opened counts"], strict=True)
        ):
            shapes = [(size, n * min(2, level + 1)) for size in sizes]
            yield from frames.tables(shapes * n_groups, n_counts)

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its rows."""
        self.check_parties(party.names)
        columns = self.tree_columns(self.columns)
        places, labels = self.read(data)
        totals = Totals(party, self)
        if self.holds_back:
            return self._run_coarse(party, totals, places, labels)
        nodes, at = [Node(np.zeros(len(self.classes)))], np.zeros(len(labels), np.int64)
        opened: list[int] = [0]
        n_open: list[int] = []
        while opened and len(n_open) < self.max_depth:
            n_open.append(len(opened))
            tables = self._tables(totals, columns, places, labels, at, opened)
            opened = self._split_level(nodes, columns, opened, tables, places, at)
        party.reveal("open_nodes", n_open)
        return totals.fitted(grown(nodes, columns, self.classes), self.count_cautions())

    def _run_coarse(
        self, party: Party, totals: Totals, places: list[NDArray[np.int64]], labels: NDArray[np.int64]
    ) -> Fitted:
        """Grow the tree from coarse tables, whose places two siblings join alike, and their children no less.

        The table of a node less that of one child is that of the other one, so neither may have a small count; and
        less those of one child's children, if places were apart in these that the children have joined.
        """
        columns, n = self.tree_columns(self.columns), len(self.classes)
        counts = totals.counts(np.bincount(labels, minlength=n))
        here = np.array(counts)[labels] > 0
        places, labels = [placed[here] for placed in places], labels[here]
        nodes, at = [Node(np.array(counts, np.float64))], np.zeros(len(labels), np.int64)
        groups: list[tuple[int, ...]] = [(0,)] if self.worth_splitting(nodes[0]) else []
        facts: dict[str, list[int]] = {"open_nodes": [], "opened counts": []}
        tables: list[CoarseTable] = []
        within: list[CoarseTable] | None = None
        while groups and len(facts["open_nodes"]) < self.max_depth:
            cells = [_cells(columns, places, labels, at, group, n) for group in groups]
            tables = totals.tables([table for listed in cells for table in listed], within=within)
            facts["open_nodes"].append(len(groups))
            facts["opened counts"].append(n_opened(tables))
            d, split, within = len(columns), [], []
            for number, group in enumerate(groups):
                own = tables[number * d : (number + 1) * d]
                sides = self.split_coarse(nodes, columns, group, own)
                for parent, left in sides.items():
                    node, inside = nodes[parent], at == parent
                    at[inside] = np.where(left[places[node.column][inside]], *node.children)
                    if any(self.worth_splitting(nodes[child]) for child in node.children):
                        split.append(tuple(node.children))
                        within += own
            groups = split
        for fact, value in facts.items():
            party.reveal(fact, value)
        joined = self.joined_caution(tables, "places of the last level")
        cautions = self.count_cautions(self.class_caution(counts), joined)
        return totals.fitted(grown(nodes, columns, self.classes), cautions)

    def read(self, data: Any) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """Return the place of every own row in every column, and its class."""
        *held, target = own_columns(data, self.names_read)
        labels = codes(target, self.target, self.classes)
        return places_of(self.tree_columns(self.columns), held), labels

    def _tables(
        self,
        totals: Totals,
        columns: Sequence[NoisyColumn],
        places: Sequence[NDArray[np.int64]],
        labels: NDArray[np.int64],
        at: NDArray[np.int64],
        opened: Sequence[int],
    ) -> list[list[NDArray[np.int64]]]:
        """Return the counts of every open node, by column."""
        n, own, ends = len(self.classes), [], [0]
        for node in opened:
            here = at == node
            for column, placed in zip(columns, places, strict=True):
                cells = placed[here] * n + labels[here]
                own.append(np.bincount(cells, minlength=column.n_places * n))
                ends.append(ends[-1] + column.n_places * n)
        d = len(columns)
        share = Fraction(1, self.max_depth)
        found = totals.add(np.concatenate(own), share=share, sensitivity=d, touched=d)
        counts = np.maximum(np.array(found, np.int64), 0)
        parts = [counts[ends[i] : ends[i + 1]].reshape(-1, n) for i in range(len(ends) - 1)]
        return [parts[start : start + d] for start in range(0, len(parts), d)]

    def _split_level(
        self,
        nodes: list[Node],
        columns: Sequence[NoisyColumn],
        opened: Sequence[int],
        tables: Sequence[Sequence[NDArray[np.int64]]],
        places: Sequence[NDArray[np.int64]],
        at: NDArray[np.int64],
    ) -> list[int]:
        """Split the open nodes where that helps, move the own rows down, and return the nodes to open next."""
        found = []
        for number, own in zip(opened, tables, strict=True):
            left = self.split(nodes, columns, number, own)
            if left is not None:
                node, here = nodes[number], at == number
                at[here] = np.where(left[places[node.column][here]], *node.children)
                found += node.children
        return [number for number in found if self.worth_splitting(nodes[number])]


def _cells(
    columns: Sequence[NoisyColumn],
    places: Sequence[NDArray[np.int64]],
    labels: NDArray[np.int64],
    at: NDArray[np.int64],
    group: Sequence[int],
    n_classes: int,
) -> list[Table]:
    """Return the own counts by place, of the classes of each node of a group in turn, for every column."""
    found = []
    for column, placed in zip(columns, places, strict=True):
        table = np.zeros((column.n_places, len(group) * n_classes), np.int64)
        for number, node in enumerate(group):
            inside = at == node
            np.add.at(table, (placed[inside], number * n_classes + labels[inside]), 1)
        found.append(table)
    return found
