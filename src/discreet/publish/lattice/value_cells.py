"""Rows of cells: the sensitive values that rules look at, and the rules as arrays for kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.guarantee import ClassRule
from discreet.core.tables.table import Table
from discreet.kernels.tables.class_rules import KINDS, LINE, Rules

_WIDEST = 256
_MOST_LOGS = 1 << 16


class ValueCells:
    """Where the values of each column lie in a row of cells, and behind the row the nodes of its tree.

    Parameters
    ----------
    table
        The table whose classes are counted.
    rules
        What they must keep.
    """

    def __init__(self, table: Table, rules: Sequence[ClassRule]) -> None:
        self._table = table
        self._asked = rules
        self.first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        n_cells = 0
        for name in dict.fromkeys(rule.column for rule in rules):
            self.first[name] = n_cells
            self._last[name] = n_cells = n_cells + self._table.encoded[name].n_codes
        # Padded to whole lines of the cache.
        self.width = -(-n_cells // LINE) * LINE

    @staticmethod
    def fits(table: Table, rules: Sequence[ClassRule]) -> bool:
        """Return whether classes can be judged on dense counts: above 256 cells a class, most would be empty."""
        if any(
            rule.kind == "hierarchical" and table.encoded[rule.column].hierarchy is None for rule in rules
        ):
            return False
        return ValueCells(table, rules).width <= _WIDEST

    @property
    def overall(self) -> IntArray:
        """The counts of the whole table."""
        row = np.zeros(self.width, np.int64)
        for name, first in self.first.items():
            row[first : self._last[name]] = self._table.overall(name)
        return row

    def rules(self, n_rows: int, limit: int) -> Rules:
        """Return the rules as arrays, for a table of which some rows may be left out."""
        asked = self._asked
        trees = {rule.column: self._levels(rule.column) for rule in asked if rule.kind == "hierarchical"}
        low, high, above = self._nodes(trees)
        ranks = [len(trees[rule.column]) + 1 if rule.kind == "hierarchical" else rule.rank for rule in asked]
        # Values of n log n for the entropy of small counts, which kernels look up.
        numbers = np.arange(min(n_rows, _MOST_LOGS) + 1, dtype=np.float64)
        return Rules(
            _integers(KINDS.index(rule.kind) for rule in asked),
            _integers(self.first[rule.column] for rule in asked),
            _integers(self._last[rule.column] for rule in asked),
            _integers(low.get(rule.column, 0) for rule in asked),
            _integers(high.get(rule.column, 0) for rule in asked),
            _integers(ranks),
            np.array([rule.passes for rule in asked], np.float64),
            np.array([rule.certain(limit / n_rows) for rule in asked], np.float64),
            above,
            numbers * np.log(np.maximum(numbers, 1)),
            np.empty(above.size + 1),
            np.empty(max(above.size + 1, *ranks, 1)),
        )

    def _levels(self, name: str) -> list[IntArray]:
        """Return the node of each value at the levels between leaves and top."""
        tree = self._table.encoded[name].hierarchy
        return [level.astype(np.int64) for level in tree.levels[1:-1]] if tree else []

    def _nodes(self, trees: dict[str, list[IntArray]]) -> tuple[dict[str, int], dict[str, int], IntArray]:
        """Return where the cells of each tree's nodes begin and end, and the cell above each cell."""
        low, high, at = {}, {}, self.width
        for name, levels in trees.items():
            low[name] = at
            # Nodes never decrease along the codes, so that the last value has the highest.
            high[name] = at = at + sum(int(level[-1]) + 1 for level in levels)
        # Below the top, the cell above is the one behind all others.
        above = np.full(at, at)
        for name, levels in trees.items():
            cells, start = np.arange(self.first[name], self._last[name]), low[name]
            for level in levels:
                above[cells] = cells = start + level
                start += int(level[-1]) + 1
        return low, high, above


def _integers(numbers: Iterable[int]) -> IntArray:
    return np.fromiter(numbers, np.int64)
