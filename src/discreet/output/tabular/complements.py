"""Which cells to suppress beside the primary ones: the problem, and its heuristic by flows of least cost."""

from __future__ import annotations

from typing import Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.errors import InfeasibleError
from discreet.guarantees import CellProtection
from discreet.guarantees.cell_protection import AttackerSystem, linear_program
from discreet.output.tabular.tabulation import Tabulation

_MOST_SINGLE = 3_000_000
"""Up to how many cells at risk times cells of the table they are protected one after another."""
_MOST_TRIED = 300
"""Up to how many suppressed cells each complementary one is tried to be published again."""


class SuppressionProblem:
    """A true table, its primary cells, and how far each cell must be able to move if it is suppressed.

    A cell of value x that can move up by u and down by d has the interval [x - d, x + u]. The guarantee asks for
    u + (1 + q) d ≥ q x + width, with q the guarantee's percent over 100. Primary cells of sums must move up by that
    much, since a rule about contributors is about the true value.
    """

    def __init__(
        self,
        tabulation: Tabulation,
        primary: BoolArray,
        guarantee: CellProtection,
        cost: Literal["value", "cells"] = "value",
    ) -> None:
        self.table, self.guarantee, self.primary = tabulation.table, guarantee, primary
        self.values: IntArray = self.table.values.reshape(-1)
        self.is_filled: BoolArray = tabulation.contributors.reshape(-1) > 0
        is_count = self.table.measure is None
        # Empty cells are always published, so everyone knows that a suppressed count is at least 1.
        self.down = np.where(self.is_filled, self.values - int(is_count), 0)
        self.factor = 1 + (guarantee.percent or 0.0) / 100
        width = guarantee.width_in(self.table)
        self.need = np.maximum(np.ceil((self.factor - 1) * self.values + width - 1e-9), 1).astype(np.int64)
        self.upward = primary & (not is_count)
        self.weights: FloatArray = (
            np.ones(self.values.size) if cost == "cells" else np.maximum(self.values, 1).astype(np.float64)
        )
        self.relations = self.table.relations

    def at_risk(self, suppressed: BoolArray) -> IntArray:
        """Return the suppressed cells that an attacker could bound too closely."""
        system = AttackerSystem(self.table.without(suppressed), self.guarantee.small_in(self.table))
        beyond = np.where(self.upward, self.values + self.need, 0)[system.cells]
        width = self.guarantee.width_in(self.table)
        narrow = system.too_narrow(width, self.guarantee.percent or 0.0, beyond)
        return system.cells[narrow]


def patched(problem: SuppressionProblem, chosen: BoolArray) -> BoolArray:
    """Return a choice that leaves no cell at risk: the cells chosen, and those that flows of least cost pass through.

    Every cell at risk is moved up by what it needs, one after another (very many all at once); what must move along is
    suppressed. Cells that were suppressed before cost next to nothing. What is suppressed only widens intervals, so it
    ends.
    """
    suppressed = chosen.copy()
    while (risky := problem.at_risk(suppressed)).size:
        before = int(suppressed.sum())
        for cells in [risky] if risky.size * suppressed.size > _MOST_SINGLE else risky[:, np.newaxis]:
            moved = _moving(problem, suppressed, cells)
            if moved is not None:
                suppressed |= moved
        if int(suppressed.sum()) == before:
            for cell in risky:
                suppressed |= _beside(problem, suppressed, cell)
        if int(suppressed.sum()) == before:
            raise InfeasibleError(
                "The guarantee cannot be kept even if every cell that is not empty is suppressed; take a smaller "
                "threshold, width or percent, or more data."
            )
    return _published_again(problem, suppressed)


def _moving(problem: SuppressionProblem, suppressed: BoolArray, risky: IntArray) -> BoolArray | None:
    """Return the cells that move in a flow of least cost that moves the cells at risk up; None where there is none."""
    import scipy.sparse as sp

    filled = np.flatnonzero(problem.is_filled)
    need, most = np.zeros(filled.size), float(problem.need[risky].sum()) * 4 + 1
    need[np.searchsorted(filled, risky)] = problem.need[risky]
    sums = problem.relations[:, filled].astype(np.float64)
    # Not zero, so that of flows through suppressed cells a short one is taken.
    cost = np.where(suppressed, 1e-4, problem.weights)[filled]
    down = np.where(need > 0, 0, np.minimum(problem.down[filled], most))
    bounds = np.vstack(
        [np.column_stack([need, np.full(filled.size, most)]), np.column_stack([0 * down, down])]
    )
    # A move is an up part less a down part, as a linear program has no absolute values: each is paid for.
    both, twice = sp.hstack([sums, -sums]), np.concatenate([cost, cost])
    solved = linear_program(twice, both, np.zeros(sums.shape[0]), bounds)
    if solved.x is None:
        return None
    net = np.abs(solved.x[: filled.size] - solved.x[filled.size :])
    moved = np.zeros(suppressed.size, np.bool_)
    moved[filled[net > 1e-6]] = True
    return moved


def _beside(problem: SuppressionProblem, suppressed: BoolArray, cell: int) -> BoolArray:
    """Return the cheapest published cell of each sum that a cell is in, one cell for each sum."""
    added = np.zeros(suppressed.size, np.bool_)
    sums = problem.relations.tocsc()
    for row in sums.indices[sums.indptr[cell] : sums.indptr[cell + 1]]:
        members = problem.relations.indices[problem.relations.indptr[row] : problem.relations.indptr[row + 1]]
        free = members[problem.is_filled[members] & ~suppressed[members]]
        if free.size:
            added[free[np.argmin(problem.weights[free])]] = True
    return added


def _published_again(problem: SuppressionProblem, suppressed: BoolArray) -> BoolArray:
    """Publish complementary cells again that nothing needs, the costliest first; of many cells none is tried."""
    extra = np.flatnonzero(suppressed & ~problem.primary)
    if suppressed.sum() > _MOST_TRIED:
        return suppressed
    for cell in extra[np.argsort(-problem.weights[extra], kind="stable")]:
        # Each cell is tried given what was published before, so the result depends on the order: the
        # costliest have the best chance.
        suppressed[cell] = False
        suppressed[cell] = problem.at_risk(suppressed).size > 0
    return suppressed
