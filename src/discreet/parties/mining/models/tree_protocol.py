"""What decision trees over rows and over columns have in common: parameters, places of values, and splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.tree_growing import Node
from discreet.parties.mining.models.columns import (
    codes,
    numbers,
    require_categories,
    require_ranges,
    sort_classes,
)
from discreet.parties.mining.models.model_protocol import ModelProtocol
from discreet.parties.mining.models.tree_splits import best_split, tree_columns, worth_splitting
from discreet.parties.shares.coarse_tables import CoarseTable

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
            own = [table.counts[:, at * n : (at + 1) * n] for table in tables]
            left = self.split(nodes, columns, number, own)
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
        found = best_split(tables, columns, criterion=self.criterion, min_leaf=self.min_leaf)
        if found is None:
            return None
        node.column, node.left = found
        left = node.left[: columns[node.column].n_places]
        node.children = [len(nodes), len(nodes) + 1]
        counts = tables[node.column]
        nodes += [Node(counts[side].sum(axis=0).astype(np.float64)) for side in (left, ~left)]
        return left


def places_of(columns: Sequence[NoisyColumn], held: Sequence[NDArray[Any]]) -> list[NDArray[np.int64]]:
    """Return the place of every row in every column."""
    found = []
    for column, values in zip(columns, held, strict=True):
        if column.edges is None:
            found.append(codes(values, column.name, column.categories))
        else:
            found.append(column.places(numbers(values, column.name)).astype(np.int64))
    return found
