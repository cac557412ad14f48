"""Decision trees between parties: sums of histograms over rows; products of indicators over columns.

The form over columns is that of Vaidya & Clifton (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.tree_growing import Node
from discreet.parties.mining.models.columns import codes, own_columns
from discreet.parties.mining.models.horizontal import HorizontalProtocol, TotalFrames, Totals
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.tree_protocol import Bits, Table, TreeProtocol, grown, places_of
from discreet.parties.mining.models.vertical import (
    PairProducts,
    VerticalClassifier,
    agree_on_rows,
    coarse_frames,
    opened_frames,
    row_frames,
    shared_frames,
)
from discreet.parties.ot.extension import setup_frames
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.bit_products import pair_frames
from discreet.parties.shares.coarse_tables import CoarseTable, coarse_tables, n_opened
from discreet.parties.shares.scalar_product import ScalarProduct
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

    def _run(self, party: Party, rows: tuple[list[NDArray[np.int64]], NDArray[np.int64]]) -> Fitted:
        columns, (places, labels) = self.tree_columns(self.columns), rows
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
                by_column = tables[number * d : (number + 1) * d]
                sides = self.split_coarse(nodes, columns, group, by_column)
                for parent, left in sides.items():
                    node, inside = nodes[parent], at == parent
                    at[inside] = np.where(left[places[node.column][inside]], *node.children)
                    if any(self.worth_splitting(nodes[child]) for child in node.children):
                        split.append(tuple(node.children))
                        within += by_column
            groups = split
        for fact, value in facts.items():
            party.reveal(fact, value)
        joined = self.joined_caution(tables, "places of the last level")
        cautions = self.count_cautions(self.class_caution(counts), joined)
        return totals.fitted(grown(nodes, columns, self.classes), cautions)

    def read(self, data: Any) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """Return the place of every row of the party in every column, and its class."""
        *values, target = own_columns(data, self.names_read)
        labels = codes(target, self.target, self.classes)
        return places_of(self.tree_columns(self.columns), values), labels

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
        n, histograms, ends = len(self.classes), [], [0]
        for node in opened:
            here = at == node
            for column, placed in zip(columns, places, strict=True):
                cells = placed[here] * n + labels[here]
                histograms.append(np.bincount(cells, minlength=column.n_places * n))
                ends.append(ends[-1] + column.n_places * n)
        d = len(columns)
        share = Fraction(1, self.max_depth)
        sums = totals.add(np.concatenate(histograms), share=share, sensitivity=d, touched=d)
        counts = np.maximum(np.array(sums, np.int64), 0)
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
        """Split the open nodes where that helps, move the party's rows down, and return the nodes to open next."""
        children = []
        for number, counts in zip(opened, tables, strict=True):
            left = self.split(nodes, columns, number, counts)
            if left is not None:
                node, here = nodes[number], at == number
                at[here] = np.where(left[places[node.column][here]], *node.children)
                children += node.children
        return [number for number in children if self.worth_splitting(nodes[number])]


def _cells(
    columns: Sequence[NoisyColumn],
    places: Sequence[NDArray[np.int64]],
    labels: NDArray[np.int64],
    at: NDArray[np.int64],
    group: Sequence[int],
    n_classes: int,
) -> list[Table]:
    """Return the party's counts by place, of the classes of each node of a group in turn, for every column."""
    tables = []
    for column, placed in zip(columns, places, strict=True):
        table = np.zeros((column.n_places, len(group) * n_classes), np.int64)
        for number, node in enumerate(group):
            inside = at == node
            np.add.at(table, (placed[inside], number * n_classes + labels[inside]), 1)
        tables.append(table)
    return tables


@public
@dataclass(frozen=True, kw_only=True)
class VerticalTree(TreeProtocol, VerticalClassifier):
    """A decision tree on columns of the same people at two parties, one of which holds the classes.

    A party knows which rows meet the questions about its own columns on the way to a node. The counts of a node are
    scalar products of such indicators, and are opened for every column at every node that may split. The holder leaves
    out classes as in :class:`VerticalNaiveBayes`, and places are joined as in :class:`HorizontalTree`. The tree
    equals the one of the joined rows by these places. The output has the same estimator as :class:`HorizontalTree`.

    Parameters
    ----------
    columns : mapping of str to list of str
        The columns of each party, by its name, without the target.
    target, holder : str
        The column of classes, and the party that has it.
    classes, categories, ranges, bins, criterion, max_depth, min_leaf, min_count
        As in :class:`HorizontalTree`.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = VerticalTree(
    ...     columns={"shop": ("age",), "bank": ("income",)}, target="default", holder="bank", classes=("no", "yes"),
    ...     ranges={"age": (0, 100), "income": (0, 100)}, bins=4, max_depth=2, min_count=1)
    >>> run = simulate(protocol, {
    ...     "shop": {"age": [20, 30, 60, 70]},
    ...     "bank": {"income": [20, 60, 20, 90], "default": ["no", "no", "yes", "no"]}})
    >>> print(run.outputs["shop"].model.describe())
    age < 50: no (100.0% of 2)
    age ≥ 50
      income < 25: yes (100.0% of 1)
      income ≥ 25: no (100.0% of 1)
    """

    name: ClassVar[str] = "vertical-decision-tree"
    max_parties: ClassVar[int | None] = 2

    bins: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_tree(self.all_names())

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the model."""
        return (
            "Every party learns the number of rows.",
            *self._class_leaks,
            (
                "Every party learns the counts of classes by place of every column, at each node that may split"
                f"{' and at its sibling' if self.holds_back else ''}."
            ),
            (
                "A party whose own questions leave few rows of a node learns the others' places and classes of these "
                "rows from the counts."
                if self.min_count == 1
                else f"Every party learns which places are joined because a count is below {self.min_count}. What it "
                "knows of its own columns it can add to the counts: where these are zero, the places and classes of "
                "fewer rows, or of one, may follow."
            ),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run by its rows, and the nodes or counts that were opened."""
        facts = {"rows": 1, "open_nodes": 1, "opened counts": [], **(revealed or {})}
        pair, n = self._pair(names), facts["rows"]
        products = self._products(pair, n)
        yield from row_frames(names)
        yield from setup_frames(*pair)
        if not self.holds_back:
            for product in products * facts["open_nodes"]:
                yield from opened_frames(pair, product)
            return
        yield from pair_frames(pair)
        widths = [width for listed in self._widths(pair) for width in listed]
        for number, n_counts in enumerate(facts["opened counts"]):
            n_nodes = min(2, number + 1)
            for product in products * n_nodes:
                yield from shared_frames(pair, product)
            shapes = [(width, n_nodes * len(self.classes)) for width in widths]
            yield from coarse_frames(pair, shapes, n_counts, n)

    def read(self, data: Any, name: str) -> tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]:
        """Return the places of a party's rows in its columns, and their classes at the holder of them."""
        values, labels = self.read_classes(data, name)
        return places_of(self.tree_columns(self.names_of(name)), values), labels

    def _run(self, party: Party, data: tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]) -> Fitted:
        places, labels = data
        n = len(places[0]) if labels is None else len(labels)
        agree_on_rows(party, n, self.min_count)
        pair = self._pair(party.names)
        ends = PairProducts(party, pair, label="counts of nodes")
        columns = self.tree_columns(self.all_names(pair))
        first = len(self.columns[pair[0]])
        offset = 0 if party.name == pair[0] else first
        mine = dict(enumerate(places, start=offset))
        if self.holds_back:
            return self._run_coarse(party, ends, places, labels, mine, n)
        nodes, n_opened = [Node(np.zeros(len(self.classes)))], 0
        waiting: list[tuple[int, int, Bits]] = [(0, 0, np.ones(n, np.bool_))]
        while waiting:
            number, depth, here = waiting.pop(0)
            node = nodes[number]
            if number and not (depth < self.max_depth and self.worth_splitting(node)):
                continue
            tables = self._tables(ends.opened, ends.party.index, pair, n, here, places, labels)
            left = self.split(nodes, columns, number, tables)
            n_opened += 1
            if left is not None:
                for child, side in zip(node.children, (left, ~left), strict=True):
                    met = side[mine[node.column]] if node.column in mine else True
                    waiting.append((child, depth + 1, here & met))
        party.reveal("open_nodes", n_opened)
        return Fitted(grown(nodes, columns, self.classes), party.names, cautions=self.count_cautions())

    def _run_coarse(
        self,
        party: Party,
        ends: PairProducts,
        places: Sequence[NDArray[np.int64]],
        labels: NDArray[np.int64] | None,
        mine: Mapping[int, NDArray[np.int64]],
        n: int,
    ) -> Fitted:
        """Grow the tree from coarse tables, as :class:`HorizontalTree` does, a node and its sibling at a time."""
        pair, judge = self._pair(party.names), ends.judge()
        columns = self.tree_columns(self.all_names(pair))
        everyone = np.ones(n, np.bool_)
        if labels is not None:
            everyone = self.learned_classes(labels)[labels]
        nodes = [Node(np.zeros(len(self.classes)))]
        waiting: list[tuple[tuple[int, ...], int, list[Bits], list[CoarseTable] | None]]
        waiting = [((0,), 0, [everyone], None)]
        opened: list[int] = []
        while waiting:
            group, depth, inside, within = waiting.pop(0)
            shares = [
                self._tables(ends.shares, ends.party.index, pair, n, here, places, labels) for here in inside
            ]
            joined = [np.concatenate(parts, axis=1) for parts in zip(*shares, strict=True)]
            tables = coarse_tables(judge, joined, self.min_count, largest=n, within=within)
            opened.append(n_opened(tables))
            for number, left in self.split_coarse(nodes, columns, group, tables).items():
                node, here = nodes[number], inside[group.index(number)]
                children = tuple(node.children)
                if depth + 1 < self.max_depth and any(
                    self.worth_splitting(nodes[child]) for child in children
                ):
                    met = [
                        side[mine[node.column]] if node.column in mine else everyone for side in (left, ~left)
                    ]
                    waiting.append((children, depth + 1, [here & side for side in met], tables))
        party.reveal("opened counts", opened)
        model = grown(nodes, columns, self.classes)
        cautions = (
            self.class_caution(nodes[0].counts.tolist()),
            self.joined_caution(tables, "places of the last nodes"),
        )
        return Fitted(model, party.names, cautions=self.count_cautions(*cautions))

    def _pair(self, names: Sequence[str]) -> tuple[str, str]:
        """Return the party without the classes, and the one with them."""
        return next(name for name in names if name != self.holder), self.holder

    def _widths(self, pair: tuple[str, str]) -> list[list[int]]:
        return [[column.n_places for column in self.tree_columns(self.names_of(name))] for name in pair]

    def _products(self, pair: tuple[str, str], n: int) -> list[ScalarProduct]:
        """Return the products of one node: the first party's places with the classes, its rows with the second's."""
        widths, n_classes = self._widths(pair), len(self.classes)
        products = [ScalarProduct(n=n, first_bits=1, n_first=1 + sum(widths[0]), n_second=n_classes)]
        if widths[1]:
            products.append(ScalarProduct(n=n, first_bits=1, n_second=n_classes * sum(widths[1])))
        return products

    def _tables(
        self,
        multiplied: Callable[[ScalarProduct, NDArray[Any]], NDArray[Any]],
        index: int,
        pair: tuple[str, str],
        n: int,
        here: Bits,
        places: Sequence[NDArray[np.int64]],
        labels: NDArray[np.int64] | None,
    ) -> list[NDArray[Any]]:
        """Return the counts of a node by place and class, of the first party's columns and then the second's.

        ``multiplied`` opens products, or returns this party's shares of them. ``here`` are the rows that meet this
        party's own questions on the way to the node.
        """
        widths, n_classes = self._widths(pair), len(self.classes)
        indicators = [
            (np.eye(width, dtype=np.int64)[placed] * here[:, None])
            for width, placed in zip(widths[index], places, strict=True)
        ]
        if labels is None:
            factors = [np.concatenate([here[:, None].astype(np.int64), *indicators], axis=1), here[:, None]]
        else:
            classes = np.eye(n_classes, dtype=np.int64)[labels] * here[:, None]
            joint = [(column[:, :, None] * classes[:, None, :]).reshape(n, -1) for column in indicators]
            factors = [classes, np.concatenate([np.zeros((n, 0), np.int64), *joint], axis=1)]
        products = self._products(pair, n)
        counts = [
            multiplied(product, values.astype(np.int64))
            for product, values in zip(products, factors, strict=False)
        ]
        tables = np.split(counts[0][1:], np.cumsum(widths[0])[:-1]) if widths[0] else []
        if widths[1]:
            tables += np.split(counts[1].reshape(-1, n_classes), np.cumsum(widths[1])[:-1])
        return list(tables)
