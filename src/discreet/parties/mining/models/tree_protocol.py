"""Decision trees from counts alone: parameters, places of values, and splits that all parties choose alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.decision_tree import ReconstructedTree
from discreet.mine.noisy.grown_tree import GrownTree
from discreet.mine.noisy.tree_growing import Node
from discreet.parties.mining.models.columns import (
    codes,
    finite_numbers,
    require_categories,
    require_ranges,
    sort_classes,
)
from discreet.parties.mining.models.model_protocol import ModelProtocol
from discreet.parties.shares.coarse_tables import CoarseTable

Counts = NDArray[np.int64]
"""Counts by place of a column and class."""
_EXACT = Context(prec=40)


def tree_columns(
    names: Sequence[str], categories: Mapping[str, Any], ranges: Mapping[str, Any], bins: int
) -> list[NoisyColumn]:
    """Return the columns of a tree: categories, or intervals of equal width in a public range, open at both ends.

    >>> [column.n_places for column in tree_columns(("a", "b"), {"a": ["x", "y"]}, {"b": (0, 10)}, 5)]
    [2, 5]
    """
    columns = []
    for name in names:
        if name in categories:
            columns.append(NoisyColumn(name, None, tuple(categories[name])))
            continue
        low, high = ranges[name]
        cuts = np.linspace(low, high, bins + 1)[1:-1]
        columns.append(NoisyColumn(name, np.concatenate([[-np.inf], cuts, [np.inf]])))
    return columns


def best_split(
    tables: Sequence[Counts], columns: Sequence[NoisyColumn], *, criterion: str, min_leaf: int
) -> tuple[int, NDArray[np.bool_]] | None:
    """Return the column and the places that go left, of the split that lowers the impurity most; None if none does.

    Numbers are cut between intervals. Categories are ordered by their share of each class and cut there. The first of
    equal splits wins, in the order of columns, classes and cuts.
    """
    best, chosen = None, None
    for number, (table, column) in enumerate(zip(tables, columns, strict=True)):
        total = table.sum(axis=0)
        bound = _purity([total.tolist()], criterion)
        best = bound if best is None or bound > best else best
        for order in _orders(table, numbers=column.edges is not None):
            before = np.cumsum(table[order], axis=0)
            for cut in range(len(order) - 1):
                left = before[cut].tolist()
                right = (total - before[cut]).tolist()
                # An empty side is no split, even where ``min_leaf`` would allow it.
                if min(sum(left), sum(right)) < max(min_leaf, 1):
                    continue
                purity = _purity([left, right], criterion)
                # Compared as fractions or long decimals, never as
                # floats: all parties must choose the same split.
                if purity > best:
                    best, chosen = purity, (number, order[: cut + 1])
    if chosen is None:
        return None
    number, first = chosen
    return number, _sides(columns, number, first, tables[number])


def grown_tree(
    nodes: Sequence[Node], columns: Sequence[NoisyColumn], classes: Sequence[Any]
) -> ReconstructedTree:
    """Return the tree as an estimator."""
    if not nodes[0].counts.sum() > 0:
        raise InputError(
            "No party has a row, or too few for 'min_count' or the noise; there is nothing to learn from."
        )
    model = ReconstructedTree([None] * len(columns))
    model.classes_, model.columns_ = np.array(classes), list(columns)
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
    return model.keep(GrownTree.of(nodes, columns))


def worth_splitting(counts: Sequence[int], *, min_leaf: int) -> bool:
    """Whether a node has two classes and rows enough for two leaves."""
    return sum(counts) >= 2 * min_leaf and sum(count > 0 for count in counts) > 1


def _purity(groups: Sequence[Sequence[int]], criterion: str) -> Fraction | Decimal:
    """Return what a good split makes large: Σ c²/n, or Σ c·ln c − n·ln n, over the groups."""
    if criterion == "gini":
        return sum(
            (Fraction(sum(count * count for count in group), sum(group)) for group in groups if sum(group)),
            Fraction(0),
        )
    purity = Decimal(0)
    for group in groups:
        for count in group:
            purity = _EXACT.add(purity, _times_log(count))
        purity = _EXACT.subtract(purity, _times_log(sum(group)))
    # Logarithms are rounded, so the last digits are dropped: equal splits must be equal at all parties.
    return purity.quantize(Decimal(1).scaleb(-25), context=_EXACT)


@lru_cache(maxsize=1 << 16)
def _times_log(n: int) -> Decimal:
    return _EXACT.multiply(Decimal(n), _EXACT.ln(Decimal(n))) if n > 0 else Decimal(0)


def _orders(table: Counts, *, numbers: bool) -> list[list[int]]:
    """Return the orders of places to cut; for categories by the share of a class, of all classes if there are three."""
    if numbers:
        return [list(range(len(table)))]
    sizes = table.sum(axis=1).tolist()
    here = [position for position, size in enumerate(sizes) if size > 0]
    # Of two classes the order by one of them contains the best split (Breiman et al. 1984); of more it need
    # not, and trying all subsets would take too long.
    tried = range(1 if table.shape[1] == 2 else table.shape[1])
    return [
        sorted(here, key=lambda position: (Fraction(int(table[position, label]), sizes[position]), position))
        for label in tried
    ]


def _sides(
    columns: Sequence[NoisyColumn], number: int, first: Sequence[int], table: Counts
) -> NDArray[np.bool_]:
    """Return which places go left; categories that no row here has go where more rows go."""
    left = np.zeros(max(column.n_places for column in columns), np.bool_)
    left[list(first)] = True
    if columns[number].edges is None:
        sizes = table.sum(axis=1)
        left[: sizes.size][sizes == 0] = 2 * sizes[list(first)].sum() >= sizes.sum()
    return left


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

    def groups_below(self, nodes: Sequence[Node], node: Node) -> list[tuple[int, ...]]:
        """Return which children of a node are opened next, those of a group in one table.

        The table of a node less that of one child is that of the other one. So where small counts are held back, both
        children are opened, and join their places alike.
        """
        worth = [child for child in node.children if self.worth_splitting(nodes[child])]
        if not self.holds_back:
            return [(child,) for child in worth]
        return [tuple(node.children)] if worth else []

    def split_coarse(
        self,
        nodes: list[Node],
        columns: Sequence[NoisyColumn],
        group: Sequence[int],
        tables: Sequence[CoarseTable],
    ) -> dict[int, Bits]:
        """Split the nodes of a group where that helps, by tables whose columns are the classes of all nodes in turn.

        A cut between intervals falls between two blocks, as all counts of a block lie at its last place and the first
        of equal cuts wins. Categories of a block go the way of its last one.
        """
        n, sides = len(self.classes), {}
        for at, number in enumerate(group):
            left = self.split(
                nodes, columns, number, [table.counts[:, at * n : (at + 1) * n] for table in tables]
            )
            if left is not None:
                node = nodes[number]
                left = left[tables[node.column].last] if columns[node.column].edges is None else left
                assert node.left is not None
                node.left[: left.size] = left
                sides[number] = left
        return sides

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
        best = best_split(tables, columns, criterion=self.criterion, min_leaf=self.min_leaf)
        if best is None:
            return None
        node.column, node.left = best
        left = node.left[: columns[node.column].n_places]
        node.children = [len(nodes), len(nodes) + 1]
        counts = tables[node.column]
        nodes += [Node(counts[side].sum(axis=0).astype(np.float64)) for side in (left, ~left)]
        return left


def places_of(columns: Sequence[NoisyColumn], values: Sequence[NDArray[Any]]) -> list[NDArray[np.int64]]:
    """Return the place of every row in every column."""
    return [
        codes(data, column.name, column.categories)
        if column.edges is None
        else column.places(finite_numbers(data, column.name)).astype(np.int64)
        for column, data in zip(columns, values, strict=True)
    ]
