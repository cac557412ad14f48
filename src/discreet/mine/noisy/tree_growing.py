"""Growing a decision tree on intervals: assignment of noisy rows to intervals, gini splits, MDL pruning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.mine.noisy.columns import NoisyColumn

Strategy = Literal["global", "by_class", "local"]
_MOST_TRIED = 32
"""Categories are ordered by the shares of at most this many classes, the largest at a node."""
FEWEST = 1000
"""A node's rows of a class are redistributed only if there are this many; fewer say too little about a distribution."""


@dataclass
class Node:
    """A node: its counts per class, and where it splits, if it does."""

    counts: FloatArray
    column: int = -1
    left: BoolArray | None = None
    children: list[int] = field(default_factory=list)


class Grower:
    """Grow a tree from rows in bins.

    Rows that share a bin are dealt out in a pseudo-random order that depends on the rows alone, so the order
    of the input does not matter.
    """

    def __init__(
        self,
        columns: Sequence[NoisyColumn],
        bins: CodeArray,
        labels: CodeArray,
        n_classes: int,
        *,
        strategy: Strategy,
        max_depth: int | None,
        min_leaf: int,
    ) -> None:
        from discreet.kernels.points.trees import mixed_keys

        order = np.argsort(mixed_keys(bins, labels), kind="stable")
        self.columns = columns
        self.bins = bins[order]
        self.labels = labels[order]
        self.n_classes = n_classes
        self.strategy = strategy
        self.max_depth = math.inf if max_depth is None else max_depth
        self.min_leaf = min_leaf
        self.n_places = max(column.n_places for column in columns)
        self.codes = self.bins.copy()
        self.nodes: list[Node] = []

    def grow(self) -> list[Node]:
        """Grow the whole tree, node by node."""
        from discreet.kernels.points.trees import part

        rows = np.arange(self.labels.size)
        one_class = np.zeros_like(self.labels) if self.strategy == "global" else self.labels
        self._deal(rows, one_class, frozenset(), fewest=0)
        stack: list[tuple[IntArray, int, int | None, frozenset[int]]] = [(rows, 0, None, frozenset())]
        while stack:
            here, depth, parent, split_on = stack.pop()
            if self.strategy == "local" and depth:
                self._deal(here, self.labels, split_on, fewest=FEWEST)
            number = self._add(here, parent)
            split = None if depth >= self.max_depth else self._best_split(here, self.nodes[number].counts)
            if split is None:
                continue
            node = self.nodes[number]
            node.column, node.left = split
            n_left = part(here, self.codes, node.column, node.left)
            # The left side is pushed last and so comes first:
            # the first child of a node is always the left one.
            sides = (here[n_left:], here[:n_left])
            stack.extend((side, depth + 1, number, split_on | {node.column}) for side in sides)
        return self.nodes

    def _add(self, rows: IntArray, parent: int | None) -> int:
        counts = np.bincount(self.labels[rows], minlength=self.n_classes).astype(np.float64)
        self.nodes.append(Node(counts))
        if parent is not None:
            self.nodes[parent].children.append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _deal(self, rows: IntArray, labels: CodeArray, split_on: frozenset[int], *, fewest: int) -> None:
        """Reconstruct every hidden column on some rows, and deal the rows out to its intervals accordingly.

        A column that the way to a node has split on stays as it was: the split has chosen rows by their noise, which is
        no longer the public one among them.
        """
        from discreet.kernels.points.trees import bin_counts, deal

        n_classes = int(labels.max(initial=0)) + 1
        sizes = np.bincount(labels[rows], minlength=n_classes)
        if sizes[sizes > 0].min() < fewest:
            return
        for number, column in enumerate(self.columns):
            if not column.exact and number not in split_on:
                counts = bin_counts(self.bins, labels, rows, number, column.n_bins, n_classes)
                deal(self.bins, labels, rows, number, _upto(column, counts), self.codes)

    def _best_split(self, rows: IntArray, counts: FloatArray) -> tuple[int, BoolArray] | None:
        """Find the split that lowers the gini index most, with enough rows on both sides."""
        from discreet.kernels.points.trees import class_counts

        if rows.size < 2 * self.min_leaf or (counts > 0).sum() < 2:
            return None
        by_place = class_counts(self.codes, self.labels, rows, self.n_places, self.n_classes)
        live = np.flatnonzero(counts)
        # A split must lower the index by more than rounding might.
        best, chosen = _impurity(counts) * (1 - 1e-9) - 1e-9, None
        for number, column in enumerate(self.columns):
            places = by_place[number, : column.n_places, live].T
            for order in _orders(places, numbers=column.edges is not None):
                before = places[order].cumsum(axis=0)[:-1].astype(np.float64)
                after = counts[live] - before
                cost = _impurity(before) + _impurity(after)
                cost[np.minimum(before.sum(axis=1), after.sum(axis=1)) < self.min_leaf] = np.inf
                if cost.size and cost.min() < best:
                    best = float(cost.min())
                    chosen = (number, self._sides(column, order[: int(cost.argmin()) + 1], places))
        return chosen

    def _sides(self, column: NoisyColumn, first: IntArray, places: IntArray) -> BoolArray:
        """Return which places go left; categories that no row here has go where more rows go."""
        left = np.zeros(self.n_places, np.bool_)
        left[first] = True
        if column.edges is None:
            sizes = places.sum(axis=1)
            left[: sizes.size][sizes == 0] = 2 * sizes[first].sum() >= sizes.sum()
        return left


def prune(nodes: list[Node], columns: Sequence[NoisyColumn]) -> None:
    """Take splits back that cost more bits to write down than they save (Mehta, Rissanen & Agrawal 1995)."""
    costs: dict[int, float] = {}
    # Children have higher numbers than their parents, so their costs are known here.
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        leaf_bits = 1 + _leaf_bits(node.counts)
        if node.children:
            column = columns[node.column]
            test = math.log2(len(columns)) + (
                math.log2(max(column.n_places - 1, 1)) if column.edges is not None else column.n_places
            )
            subtree_bits = 1 + test + sum(costs[child] for child in node.children)
            if subtree_bits < leaf_bits:
                costs[number] = subtree_bits
                continue
            node.column, node.left, node.children = -1, None, []
        costs[number] = leaf_bits


def _upto(column: NoisyColumn, counts: IntArray) -> IntArray:
    """Return how many of each bin's rows of a class are in the first place, the first two, and so on.

    Numbers keep their order: the lowest reports go to the lowest intervals. Categories are dealt out by their chances
    given the report.
    """
    shares = column.shares(counts.astype(np.float64))
    if column.edges is not None:
        # Cumulated counts are rounded, not single ones, so that
        # the rows dealt out add up to those that there are.
        target = np.rint(shares.cumsum(axis=0) * counts.sum(axis=0)).astype(np.int64)
        before = counts.cumsum(axis=0) - counts
        return np.asarray(np.clip(target.T[None, :, :] - before[:, :, None], 0, counts[:, :, None]))
    joint = np.asarray(column.chances)[:, None, :] * shares.T[None, :, :]
    posterior = joint / np.maximum(joint.sum(axis=2, keepdims=True), 1e-300)
    return np.asarray(np.rint(posterior.cumsum(axis=2) * counts[:, :, None]).astype(np.int64))


def _impurity(counts: FloatArray) -> Any:
    """Return the gini index times the number of rows, for one row of counts or several."""
    total = counts.sum(axis=-1)
    return total - (counts**2).sum(axis=-1) / np.maximum(total, 1)


def _orders(places: IntArray, *, numbers: bool) -> list[IntArray]:
    """Return the orders of places to cut: that of numbers, or of the categories here by their share of a class.

    For two classes this finds the best of all subsets; for more, each of the largest is tried against the others.
    """
    if numbers:
        return [np.arange(places.shape[0])]
    sizes = places.sum(axis=1)
    here = np.flatnonzero(sizes)
    largest = np.sort(np.argsort(-places.sum(axis=0), kind="stable")[:_MOST_TRIED])
    tried = largest[: 1 if places.shape[1] == 2 else None]
    return [here[np.argsort(places[here, label] / sizes[here], kind="stable")] for label in tried]


def _leaf_bits(counts: FloatArray) -> float:
    """Return the bits that the classes of a leaf take."""
    n, c = float(counts.sum()), counts.size
    if n == 0:
        return 0.0
    nonzero = counts[counts > 0]
    # The stochastic complexity of class frequencies (Mehta, Rissanen
    # & Agrawal 1995); below 0 for few rows, where it is cut off.
    stated = (
        (c - 1) / 2 * math.log2(max(n / 2, 1))
        + (c / 2) * math.log2(math.pi)
        - math.lgamma(c / 2) / math.log(2)
    )
    return float((nonzero * np.log2(n / nonzero)).sum() + max(stated, 0.0))
