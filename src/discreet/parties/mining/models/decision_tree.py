"""Decision trees between parties: sums of histograms over rows; products of indicators over columns.

The form over columns is that of Vaidya & Clifton (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from discreet.parties.mining.models.tree_protocol import Bits, Table, TreeProtocol, grown_tree, places_of
from discreet.parties.mining.models.vertical import (
    PairProducts,
    VerticalClassifier,
    agree_on_rows,
    coarse_frames,
    opened_frames,
    row_frames,
    shared_frames,
)
from discreet.parties.ot.extension import transfer_setup_frames
from discreet.parties.protocol import Facts, Party, several_runs_leak
from discreet.parties.shares.coarse_tables import CoarseTable, coarse_tables, n_opened
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.shares.thresholds import ThresholdFrames, Thresholds
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
            *self.joined_leaks(self.columns),
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
            # The root is opened alone, and below it siblings in pairs, their classes side by side.
            shapes = [(size, n * min(2, level + 1)) for size in sizes]
            yield from frames.tables(shapes * n_groups, n_counts)

    def _run(self, party: Party, rows: tuple[list[NDArray[np.int64]], NDArray[np.int64]]) -> Fitted:
        columns, (places, labels) = self.tree_columns(self.columns), rows
        totals, n = Totals(party, self), len(self.classes)
        nodes = [Node(np.zeros(n))]
        if self.holds_back:
            counts = np.array(totals.counts(np.bincount(labels, minlength=n)))
            nodes[0].counts, large = counts.astype(np.float64), counts[labels] > 0
            places, labels = [placed[large] for placed in places], labels[large]
        at = np.zeros(len(labels), np.int64)
        groups: list[tuple[int, ...]] = [(0,)]
        if self.holds_back and not self.worth_splitting(nodes[0]):
            groups = []
        n_open: list[int] = []
        n_counts: list[int] = []
        tables: list[CoarseTable] = []
        within: list[CoarseTable] | None = None
        while groups and len(n_open) < self.max_depth:
            cells = [table for group in groups for table in _cells(columns, places, labels, at, group, n)]
            tables = self._opened(totals, cells, within)
            n_open.append(len(groups))
            n_counts.append(n_opened(tables))
            groups, within = self._split_level(nodes, columns, groups, tables, places, at)
        party.reveal("open_nodes", n_open)
        if self.holds_back:
            party.reveal("opened counts", n_counts)
        joined = self.joined_caution(tables, "places of the last level")
        dependent = self.dependent_caution(np.column_stack(rows[0]), self.columns)
        cautions = self.count_cautions(self.class_caution(nodes[0].counts.tolist()), joined, dependent)
        return totals.fitted(grown_tree(nodes, columns, self.classes), cautions)

    def read(self, data: Any) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """Return the place of every row of the party in every column, and its class."""
        *values, target = own_columns(data, self.names_read)
        labels = codes(target, self.target, self.classes)
        return places_of(self.tree_columns(self.columns), values), labels

    def _opened(
        self, totals: Totals, cells: Sequence[Table], within: Sequence[CoarseTable] | None
    ) -> list[CoarseTable]:
        """Return the tables of all parties, opened in one sum, or joined until no count is small."""
        if self.holds_back:
            return totals.tables(cells, within=within)
        d, ends = len(self.columns), np.cumsum([table.size for table in cells])[:-1]
        values = np.concatenate([table.reshape(-1) for table in cells])
        # A row is in one node of a level, and in one place of each column there; the levels share ε.
        sums = totals.add(values, share=Fraction(1, self.max_depth), sensitivity=d, touched=d)
        parts = np.split(np.maximum(np.array(sums, np.int64), 0), ends)
        return [CoarseTable.whole(part.reshape(-1, len(self.classes))) for part in parts]

    def _split_level(
        self,
        nodes: list[Node],
        columns: Sequence[NoisyColumn],
        groups: Sequence[tuple[int, ...]],
        tables: list[CoarseTable],
        places: Sequence[NDArray[np.int64]],
        at: NDArray[np.int64],
    ) -> tuple[list[tuple[int, ...]], list[CoarseTable]]:
        """Split nodes where that helps, and move the party's rows down.

        Returns the groups of nodes to open next, and the tables that theirs are a part of.
        """
        d = len(columns)
        below: list[tuple[int, ...]] = []
        within: list[CoarseTable] = []
        for number, group in enumerate(groups):
            by_column = tables[number * d : (number + 1) * d]
            for parent, left in self.split_coarse(nodes, columns, group, by_column).items():
                node, inside = nodes[parent], at == parent
                at[inside] = np.where(left[places[node.column][inside]], *node.children)
                opened = self.groups_below(nodes, node)
                below += opened
                within += by_column * len(opened)
        return below, within


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
            *self.joined_leaks(self.all_names()),
            several_runs_leak(self.min_count),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run by its rows, and the nodes or counts that were opened."""
        facts = {"rows": 1, "open_nodes": 1, "opened counts": [], **(revealed or {})}
        pair, n = self._pair(names), facts["rows"]
        products = self._products(pair, n)
        yield from row_frames(names)
        yield from transfer_setup_frames(*pair)
        if not self.holds_back:
            for product in products * facts["open_nodes"]:
                yield from opened_frames(pair, product)
            return
        thresholds = ThresholdFrames(pair)
        yield from thresholds.setup()
        widths = [width for listed in self._widths(pair) for width in listed]
        for number, n_counts in enumerate(facts["opened counts"]):
            n_nodes = min(2, number + 1)
            for product in products * n_nodes:
                yield from shared_frames(pair, product)
            shapes = [(width, n_nodes * len(self.classes)) for width in widths]
            yield from coarse_frames(thresholds, shapes, n_counts, n)

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
        mine = dict(enumerate(places, start=0 if party.name == pair[0] else len(self.columns[pair[0]])))
        comparer = ends.judge() if self.holds_back else None
        everyone = np.ones(n, np.bool_)
        if labels is not None and self.holds_back:
            everyone = self.learned_classes(labels)[labels]
        nodes, opened = [Node(np.zeros(len(self.classes)))], []
        waiting: list[tuple[tuple[int, ...], int, list[Bits], list[CoarseTable] | None]]
        waiting = [((0,), 0, [everyone], None)]
        while waiting:
            # Breadth first, in an order that both parties derive from
            # what is opened: their products must be of the same group.
            group, depth, inside, within = waiting.pop(0)
            multiplied = ends.shares if self.holds_back else ends.opened
            counts = [
                self._tables(multiplied, ends.party.index, pair, here, places, labels) for here in inside
            ]
            tables = self._opened(comparer, counts, n, within)
            opened.append(n_opened(tables))
            for number, left in self.split_coarse(nodes, columns, group, tables).items():
                node, here = nodes[number], inside[group.index(number)]
                sides = dict(zip(node.children, (left, ~left), strict=True))
                for children in self.groups_below(nodes, node) if depth + 1 < self.max_depth else ():
                    # The other party alone knows the rows that meet a question about its column.
                    met = [
                        here & sides[child][mine[node.column]] if node.column in mine else here
                        for child in children
                    ]
                    waiting.append((children, depth + 1, met, tables))
        if self.holds_back:
            party.reveal("opened counts", opened)
        else:
            party.reveal("open_nodes", len(opened))
        joined = self.joined_caution(tables, "places of the last nodes")
        cautions = self.count_cautions(self.class_caution(nodes[0].counts.tolist()), joined)
        return Fitted(grown_tree(nodes, columns, self.classes), party.names, cautions=cautions)

    def _opened(
        self,
        comparer: Thresholds | None,
        counts: Sequence[Sequence[NDArray[Any]]],
        n: int,
        within: Sequence[CoarseTable] | None,
    ) -> list[CoarseTable]:
        """Return tables with the classes of a group's nodes in turn; shared ones are joined until none is small."""
        joined = [np.concatenate(parts, axis=1) for parts in zip(*counts, strict=True)]
        if comparer is None:
            return [CoarseTable.whole(table) for table in joined]
        return coarse_tables(comparer, joined, self.min_count, largest=n, within=within)

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
        here: Bits,
        places: Sequence[NDArray[np.int64]],
        labels: NDArray[np.int64] | None,
    ) -> list[NDArray[Any]]:
        """Return the counts of a node by place and class, of the first party's columns and then the second's.

        ``multiplied`` opens products, or returns this party's shares of them. ``here`` are the rows that meet this
        party's own questions on the way to the node.
        """
        widths, n_classes, n = self._widths(pair), len(self.classes), here.size
        indicators = [
            (np.eye(width, dtype=np.int64)[placed] * here[:, None])
            for width, placed in zip(widths[index], places, strict=True)
        ]
        if labels is None:
            factors = [np.concatenate([here[:, None].astype(np.int64), *indicators], axis=1), here[:, None]]
        else:
            classes = np.eye(n_classes, dtype=np.int64)[labels] * here[:, None]
            joint = [(column[:, :, None] * classes[:, None, :]).reshape(n, -1) for column in indicators]
            # The first factors are multiplied with each other, and so are the second ones: a row counts where
            # both parties' questions are met, as each has zeros for the rows that do not meet its own.
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
