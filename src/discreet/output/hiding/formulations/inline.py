"""The inline program: a variable for each entry that may be deleted, and the whole border kept if that can be.

Gkoulalas-Divanis & Verykios, CIKM 2006.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.formulations.aggregated import Kept, binding
from discreet.output.hiding.problem import Problem
from discreet.output.hiding.solver import Program


class Inline:
    """Entries of sensitive items in the supporters of sensitive rules, each kept or deleted.

    The products of entries in the paper's constraints become variables of their own: one for each supporter of a
    sensitive itemset, at least the sum of the entries less their number plus one, and one for each supporter of a
    border itemset, at most each of the entries.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.editing = problem.editing()
        supports = np.array([self.editing.holding(target.items) for target in problem.targets])
        self.rows: IntArray = np.flatnonzero(supports.any(axis=0))
        self.supported: BoolArray = supports[:, self.rows].T.copy()
        self.kept: Kept = binding(problem, problem.border, self.rows, self.supported)
        self.held: BoolArray = self.editing.held[:, self.rows]
        self.number: IntArray = np.full(self.held.shape, -1, np.int64)
        column, row = np.nonzero(self.held)
        self.number[column, row] = np.arange(row.size)
        self.n_entries = int(row.size)

    def program(self, mask: BoolArray) -> Program:
        """Return the program that keeps as many entries as can be, and every border itemset that is wanted."""
        border = np.flatnonzero(mask)
        sizes = [int(self.supported.sum()), int(self.kept.inside[:, border].sum())]
        size = self.n_entries + sum(sizes)
        cost = np.zeros(size)
        cost[: self.n_entries] = -1.0
        integral = np.zeros(size)
        integral[: self.n_entries] = 1.0
        program = Program(cost, np.ones(size), integral)
        self._add_targets(program)
        self._add_border(program, border, self.n_entries + sizes[0])
        return program

    def _add_targets(self, program: Program) -> None:
        at = self.n_entries
        for number, target in enumerate(self.problem.targets):
            rows = np.flatnonzero(self.supported[:, number])
            columns = np.array(target.items, np.int64)
            entries = np.column_stack([self.number[np.ix_(columns, rows)].T, at + np.arange(rows.size)])
            program.add_each(entries, [-1.0] * int(columns.size) + [1.0], low=1 - columns.size)
            program.add(np.arange(at, at + rows.size), 1.0, high=self.problem.least - 1)
            at += rows.size

    def _add_border(self, program: Program, border: IntArray, at: int) -> None:
        for number in border.tolist():
            rows = np.flatnonzero(self.kept.inside[:, number])
            columns = np.flatnonzero(self.kept.columns[number])
            products = at + np.arange(rows.size)
            for column in columns.tolist():
                program.add_each(np.column_stack([products, self.number[column, rows]]), [1.0, -1.0], high=0)
            program.add(np.arange(at, at + rows.size), 1.0, low=rows.size - int(self.kept.slack[number]))
            at += rows.size

    def apply(self, x: FloatArray) -> Editing:
        """Return the entries after the deletions of a solution."""
        editing = self.problem.editing()
        column, row = np.nonzero(self.held)
        gone = np.flatnonzero(x[: self.n_entries] < 0.5)
        editing.remove(self.rows[row[gone]], column[gone])
        return editing
