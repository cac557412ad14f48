"""Decision trees over rows that are split between parties: secure sums of histograms, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.tree_growing import Node
from discreet.parties.mining.models.columns import (
    codes,
    numbers,
    own_columns,
    require_categories,
    require_ranges,
    sort_classes,
)
from discreet.parties.mining.models.model_protocol import Fitted, ModelProtocol
from discreet.parties.mining.models.totals import HorizontalProtocol, Totals
from discreet.parties.mining.models.tree_splits import best_split, grown, tree_columns, worth_splitting
from discreet.parties.protocol import Facts, Party
from discreet.parties.sums.sum_rounds import round_frames
from discreet.parties.transcript import FrameShape

Bits = NDArray[np.bool_]
Table = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class TreeProtocol(ModelProtocol):
    """A protocol that learns a decision tree; its parameters are described at :class:`HorizontalTree`."""

    target: str
    classes: tuple[Any, ...]
    categories: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    bins: int = 32
    criterion: str = "gini"
    max_depth: int = 4
    min_leaf: int = 1

    def require_tree(self, columns: Sequence[str]) -> None:
        """Raise a ParameterError unless the parameters fit together."""
        sort_classes(self)
        for listed in self.categories.values():
            require_categories(self, "categories", listed)
        unknown = [name for name in self.categories if name not in columns]
        if unknown:
            raise ParameterError(f"The 'categories' parameter names '{unknown[0]}', which is no column.")
        rest = tuple(name for name in columns if name not in self.categories)
        require_ranges(self, self.ranges, rest, all_of=True)
        require(self, "bins", self.bins, IntIn(2, 256))
        require(self, "criterion", self.criterion, OneOf(("gini", "entropy")))
        require(self, "max_depth", self.max_depth, IntIn(1, 32))
        require(self, "min_leaf", self.min_leaf, IntIn(1))

    def tree_columns(self, names: Sequence[str]) -> list[NoisyColumn]:
        """Return columns with their places: categories, or intervals of the public range."""
        return tree_columns(names, self.categories, self.ranges, self.bins)

    def worth_splitting(self, node: Node) -> bool:
        """Whether a node has two classes and rows enough for two leaves."""
        return worth_splitting(node.counts.tolist(), min_leaf=self.min_leaf)

    def split(
        self, nodes: list[Node], columns: Sequence[NoisyColumn], number: int, tables: Sequence[Table]
    ) -> Bits | None:
        """Split a node where that helps, and return which places of its column lead to the first child.

        ``tables`` are the counts of the node by place and class, of every column.
        """
        node = nodes[number]
        if number == 0:
            node.counts = tables[0].sum(axis=0).astype(np.float64)
        if not self.worth_splitting(node):
            return None
        found = best_split(tables, columns, criterion=self.criterion, min_leaf=self.min_leaf)
        if found is None:
            return None
        node.column, node.left = found
        left = node.left[: columns[node.column].n_places]
        node.children = [len(nodes), len(nodes) + 1]
        counts = tables[node.column]
        nodes += [Node(counts[side].sum(axis=0).astype(np.float64)) for side in (left, ~left)]
        return left


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalTree(TreeProtocol, HorizontalProtocol):
    """A decision tree learned from the rows of all parties, as CART or ID3 learn it from histograms.

    At every level one secure sum opens, for each node that may still split, the counts of every column's places and the
    classes. Splits are compared exactly, so that all parties choose the same. The tree equals the one of the pooled
    rows. The output has an estimator with ``predict``, ``predict_proba`` and ``describe``.

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
    epsilon, min_honest, threshold
        As in every protocol of sums.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalTree(
    ...     columns=("age",), target="ill", classes=("no", "yes"), ranges={"age": (0, 100)}, bins=10, max_depth=1)
    >>> run = simulate(protocol, {
    ...     "clinic": {"age": [20, 70], "ill": ["no", "yes"]}, "practice": {"age": [35, 90], "ill": ["no", "yes"]}})
    >>> print(run.outputs["clinic"].model.describe())
    age < 40: no (100.0% of 2)
    age ≥ 40: yes (100.0% of 2)
    """

    name: ClassVar[str] = "decision-tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_tree(self.columns)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the model."""
        return (
            "Every party learns the counts of classes by place of every column, at each node that may split.",
            *self._sum_leaks,
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run, by the number of nodes that may split at each level."""
        places = sum(column.n_places for column in self.tree_columns(self.columns))
        cells = places * len(self.classes)
        return round_frames(names, [cells * n for n in (revealed or {}).get("open_nodes", [1])])

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its rows."""
        self.check_parties(party.names)
        columns = self.tree_columns(self.columns)
        places, labels = self.read(data)
        totals = Totals(party, self)
        nodes, at = [Node(np.zeros(len(self.classes)))], np.zeros(len(labels), np.int64)
        opened: list[int] = [0]
        n_open: list[int] = []
        while opened and len(n_open) < self.max_depth:
            n_open.append(len(opened))
            tables = self._tables(totals, columns, places, labels, at, opened)
            opened = self._split_level(nodes, columns, opened, tables, places, at)
        party.reveal("open_nodes", n_open)
        return Fitted(grown(nodes, columns, self.classes), totals.parties)

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


def places_of(columns: Sequence[NoisyColumn], held: Sequence[NDArray[Any]]) -> list[NDArray[np.int64]]:
    """Return the place of every row in every column."""
    found = []
    for column, values in zip(columns, held, strict=True):
        if column.edges is None:
            found.append(codes(values, column.name, column.categories))
        else:
            found.append(column.places(numbers(values, column.name)).astype(np.int64))
    return found
