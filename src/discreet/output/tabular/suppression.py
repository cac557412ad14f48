"""Cell suppression: as few cells as keep small ones from being worked out, by mixed integer programs and cuts."""

from __future__ import annotations

import math
import time
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import NONE, POSITIVE, Constraints, FloatIn, OneOf
from discreet.core.tables.cell_table import CellTable
from discreet.guarantees import CellProtection
from discreet.guarantees.cell_protection import linear_program
from discreet.output.hiding.solver import Program, solve
from discreet.output.tabular.complements import SuppressionProblem, patched
from discreet.output.tabular.publisher import TabularPublisher
from discreet.output.tabular.tabulation import Tabulation


class _Dominance:
    """The n largest contributions, and the share in percent that they may have."""

    def admits(self, value: object) -> bool:
        """Return whether the value is a whole number from 1 and a number between 0 and 100."""
        if not isinstance(value, list | tuple) or len(value) != 2:
            return False
        n, k = value
        return (
            isinstance(n, int) and not isinstance(n, bool) and n >= 1 and FloatIn(0, 100, "neither").admits(k)
        )

    def __str__(self) -> str:
        return "a pair of an int from 1 and a number in (0, 100)"


@public
@dataclass(frozen=True)
class CellSuppression(TabularPublisher):
    """Publish a table of counts or sums with small cells left out, and others so that these cannot be worked out.

    The primary cells are those of fewer contributors than the threshold and, for sums, those that a few contributors
    dominate. Since a margin less its other cells is a suppressed cell, complementary cells are suppressed as well: so
    many that every suppressed cell keeps the guarantee's interval, and as few, or of as little value, as the search
    finds. Empty cells are always published. Files do not say which cells are primary.

    An integer program takes the cells, and every cell that could be bounded too closely adds a condition to it, until
    there is none: then the cost is the least there is. Where that takes longer than the time limit, flows of least cost
    through the cells that are still at risk are suppressed instead, again until none is left. Either way the table is
    judged exactly, and the owner's record has a bound below which the cost of no choice can be.

    Parameters
    ----------
    threshold
        Cells of fewer rows, or of fewer people, are not published. A number, or a `CellProtection`.
    dominance
        For sums: n and k; cells of which the n largest contributions are more than k percent are not published.
    p_percent
        For sums: cells of which the second largest contributor can estimate the largest contribution to within p
        percent are not published.
    cost
        What is to be least: the suppressed ``"value"``, or the number of suppressed ``"cells"``.
    time_limit
        After how many seconds the search for the least cost ends, and what is left at risk is protected by flows.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.output.tabular import CellTable, Tabulation
    >>> counts = np.array([[3, 20, 50], [30, 40, 20], [25, 10, 60]])
    >>> table = CellTable.of_leaves({"region": ["n", "s", "w"], "age": ["0-19", "20-64", "65-"]}, counts)
    >>> release = CellSuppression(5).release(Tabulation.of_cells(table))
    >>> release.data.suppressed[1:, 1:].astype(int).tolist()
    [[1, 1, 0], [0, 0, 0], [1, 1, 0]]
    >>> print(release.verdict)
    CellProtection(threshold=5): verified (cells at risk 0, required <= 0)

    References
    ----------
    M. Fischetti, J. J. Salazar (2001). Solving the cell suppression problem on tabular data with linear constraints.
    Management Science 47(7).
    """

    _: KW_ONLY
    dominance: tuple[int, float] | None = None
    p_percent: float | None = None
    cost: Literal["value", "cells"] = "value"
    time_limit: float = 20.0

    constraints: ClassVar[Constraints] = {
        **TabularPublisher.constraints,
        "dominance": (NONE, _Dominance()),
        "p_percent": (NONE, FloatIn(0, 100, "neither")),
        "cost": OneOf(("value", "cells")),
        "time_limit": POSITIVE,
    }

    @property
    def guarantee(self) -> CellProtection:
        """What the release keeps; rules about sums ask for intervals as wide as they forbid estimates to be close."""
        stated = super().guarantee
        if stated.percent is not None or (self.dominance is None and self.p_percent is None):
            return stated
        # If the n largest are at most k percent of an upper end,
        # this end is at least 100 / k times what they contribute.
        share = 0.0 if self.dominance is None else 100 * (100 / self.dominance[1] - 1)
        return replace(stated, percent=max(share, self.p_percent or 0.0))

    def _publish(
        self, tabulation: Tabulation, guarantee: CellProtection
    ) -> tuple[CellTable, dict[str, object]]:
        table = tabulation.table
        primary = tabulation.primary(guarantee.threshold, self.dominance, self.p_percent)
        problem = SuppressionProblem(tabulation, primary.reshape(-1), guarantee, self.cost)
        suppressed, bound = least_suppressed(problem, self.time_limit)
        details: dict[str, object] = {
            "primary": int(primary.sum()),
            "complementary": int(suppressed.sum() - primary.sum()),
            "cost": float(problem.weights @ (suppressed & ~problem.primary)),
            "lower_bound": float(bound),
        }
        return table.without(suppressed), details

    def _parameters(self) -> dict[str, Any]:
        return {"dominance": self.dominance, "p_percent": self.p_percent, "cost": self.cost}


def least_suppressed(problem: SuppressionProblem, time_limit: float) -> tuple[BoolArray, float]:
    """Return the choice of least cost, and a lower bound of the cost; after the time limit, a choice by flows instead.

    Every choice that leaves a cell at risk violates a cut that all safe choices keep: either the dual of the program
    that moves the cell as far as it goes or, where that does not see whole numbers and the rule, the statement that the
    cell needs one more. So the first choice without cells at risk is the best. Where time runs out, the choice at hand
    is mended by flows, and the bound is the last that was proved.
    """
    program, free = _program(problem)
    ends, bound, chosen = time.monotonic() + time_limit, 0.0, problem.primary.copy()
    while chosen.any() and (risky := problem.at_risk(chosen)).size:
        # Whether each cell is suppressed, as the capacity of its moves.
        level = chosen.astype(np.float64)
        for cell in risky:
            if time.monotonic() > ends:
                return patched(problem, chosen), bound
            if not _add_cut(problem, program, free, int(cell), level):
                _require_more(program, free, int(cell), chosen)
        solution = solve(program, time_limit=max(ends - time.monotonic(), 0.1))
        bound = max(bound, min(solution.bound, solution.value))
        if solution.x is None or not solution.optimal:
            return patched(problem, chosen), bound
        chosen = problem.primary.copy()
        chosen[free] = solution.x > 0.5
    return chosen, bound


def _program(problem: SuppressionProblem) -> tuple[Program, IntArray]:
    """Return the program without cuts: a variable for each cell that may be suppressed and need not be."""
    free = np.flatnonzero(problem.is_filled & ~problem.primary)
    return Program(problem.weights[free], np.ones(free.size), np.ones(free.size)), free


def _add_cut(
    problem: SuppressionProblem, program: Program, free: IntArray, cell: int, level: FloatArray
) -> bool:
    """Add the cut that a cell at risk calls for; return whether the suppressed cells, of level 1, violate it.

    By duality, for any prices of the sums, a suppressed cell moves no further than the sum, over the suppressed cells,
    of their own capacity times their reduced cost. Coefficients beyond the need are cut to it, since cells are
    suppressed or not.
    """
    reach = _reach(problem, cell, level, 1.0)
    if not problem.upward[cell]:
        reach = reach + problem.factor * _reach(problem, cell, level, -1.0)
    need = float(problem.need[cell]) - reach[cell]
    if need <= 1e-6:
        return False
    # The cut is about 0 and 1: a coefficient beyond the right-hand side says no more than one equal to it,
    # and makes the relaxation weaker.
    terms = np.minimum(reach, need)
    terms[terms < 1e-7] = 0
    base = float(terms[problem.primary].sum()) - (terms[cell] if problem.primary[cell] else 0.0)
    at = np.flatnonzero(terms[free])
    at = at[free[at] != cell]
    if base + float(terms[free[at]] @ level[free[at]]) >= need - 1e-6:
        return False
    if problem.primary[cell]:
        program.add(at, terms[free[at]], low=need - base)
    else:
        # A cell that is not primary has needs only if it is suppressed itself.
        program.add([*at, np.searchsorted(free, cell)], [*terms[free[at]], -need], low=-base)
    return True


def _reach(problem: SuppressionProblem, cell: int, level: FloatArray, sign: float) -> FloatArray:
    """Return what each cell, if suppressed, adds to how far a cell can move up (1) or down (-1)."""
    most = float(problem.need[cell])
    part = np.flatnonzero((level > 1e-9) | (np.arange(level.size) == cell))
    down = np.minimum(problem.down, most)
    sums = problem.relations[:, part]
    used = np.flatnonzero(np.diff(sums.indptr))
    cost = np.where(part == cell, -sign, 0.0)
    bounds = np.column_stack([-down[part] * level[part], np.full(part.size, most) * level[part]])
    solved = linear_program(cost, sums[used], np.zeros(used.size), bounds)
    if solved.x is None:
        return np.full(level.size, math.inf)
    prices = np.zeros(problem.relations.shape[0])
    prices[used] = solved.eqlin.marginals
    reduced = -(problem.relations.T @ prices)
    reduced[cell] -= sign
    reduced[np.abs(reduced) < 1e-9] = 0
    reach: FloatArray = np.where(reduced < 0, math.inf, np.maximum(reduced, 0) * problem.down)
    return np.where(problem.is_filled, reach, 0.0)


def _require_more(program: Program, free: IntArray, cell: int, chosen: BoolArray) -> None:
    """Add that a cell, if suppressed, needs some cell beyond those chosen: what is suppressed only widens intervals."""
    others = np.flatnonzero(~chosen[free])
    if np.isin(cell, free):
        program.add([*others, np.searchsorted(free, cell)], [*np.ones(others.size), -1.0], low=0.0)
    else:
        program.add(others, np.ones(others.size), low=1.0)
