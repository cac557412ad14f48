"""Slow judge of the opened counts of a tree: which small counts follow from all of them.

Every combination of places and class is a cell, and every opened count the sum of some cells. A count follows if its
least and its largest value are equal over all tables of whole, non-negative cells with the same opened counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, milp


class OpenedTree:
    """The cells of a table, and the sums of them that the protocol opened while it grew a tree.

    ``opened`` has the group of nodes and the coarse tables, by column, of each step.
    """

    def __init__(
        self, sizes: Sequence[int], n_classes: int, nodes: Sequence[Any], opened: Sequence[Any]
    ) -> None:
        self.sizes, self.n_classes = list(sizes), n_classes
        self.cells = np.indices((*sizes, n_classes)).reshape(len(sizes) + 1, -1)
        self.inside = {0: np.ones(self.cells.shape[1], np.bool_)}
        for number, node in enumerate(nodes):
            if node.children:
                left = np.asarray(node.left)[self.cells[node.column]]
                self.inside[node.children[0]] = self.inside[number] & left
                self.inside[node.children[1]] = self.inside[number] & ~left
        sums = list(self._sums(opened))
        self.sums = np.array([cells for cells, _ in sums])
        self.totals = np.array([total for _, total in sums])

    def _sums(self, opened: Sequence[Any]) -> Iterator[tuple[Any, int]]:
        n = self.n_classes
        for group, tables in opened:
            for column, table in enumerate(tables):
                for last in np.unique(table.last):
                    block = (table.last == last)[self.cells[column]]
                    for at, label in np.ndindex(len(group), n):
                        cells = self.inside[group[at]] & block & (self.cells[-1] == label)
                        yield cells, int(table.counts[last, at * n + label])

    def small_that_follow(self, rows: Any, least: int) -> list[tuple[Any, ...]]:
        """Return the node, the column, the places and the class of every count between 1 and ``least`` that follows.

        ``rows`` has a row for each column and the classes, and a column for each row of the pooled table.
        """
        counts = np.zeros((*self.sizes, self.n_classes), np.int64)
        np.add.at(counts, tuple(rows), 1)
        counts = counts.reshape(-1)
        assert (self.sums @ counts).tolist() == self.totals.tolist(), "what was opened is that of the rows"
        found = []
        for node, inside in self.inside.items():
            for column, size in enumerate(self.sizes):
                subsets = [c for n in range(1, size + 1) for c in combinations(range(size), n)]
                for places, label in (
                    (places, label) for places in subsets for label in range(self.n_classes)
                ):
                    region = inside & np.isin(self.cells[column], places) & (self.cells[-1] == label)
                    if 0 < counts[region].sum() < least and self._follows(region):
                        found.append((node, column, places, label))
        return found

    def _follows(self, region: Any) -> bool:
        exactly = LinearConstraint(self.sums.astype(np.float64), self.totals, self.totals)
        ends = [
            milp(sign * region.astype(np.float64), constraints=exactly, integrality=np.ones(region.size))
            for sign in (1, -1)
        ]
        assert all(end.success for end in ends)
        return round(ends[0].fun) == round(-ends[1].fun)
