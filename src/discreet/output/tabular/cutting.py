"""The least cells to suppress, by an integer program that grows by cuts (Fischetti & Salazar 2001)."""

from __future__ import annotations

import math
import time

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.guarantees.tabular.intervals import linear_program
from discreet.output.hiding.solver import Program, solve
from discreet.output.tabular.complements import SuppressionProblem, patched


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
