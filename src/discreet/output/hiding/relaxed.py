"""A first plan from linear programs: what is lost anyway counts for less in each round, and the rest is rounded."""

from __future__ import annotations

import math
import time

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.output.hiding.formulations.aggregated import Aggregated
from discreet.output.hiding.solver import Progress, solve

_ROUNDS = 4
_SMALL = 0.02


def relaxed_plan(
    classes: Aggregated, *, ends: float = math.inf, progress: Progress | None = None
) -> IntArray | None:
    """Return a plan that loses few itemsets, or None where there was no time to find one.

    Without whole numbers the program spreads the losses over many itemsets, each lost a little. So it is solved a few
    times, and in each round an itemset costs the less the more of it was lost in the round before: the losses gather on
    few itemsets. What is then rounded down is made up for by single deletions, those that lose least first.
    """
    best: IntArray | None = None
    program = classes.program()
    program.whole[:] = 0.0
    weight = classes.kept.weight.astype(np.float64)
    flags = slice(program.cost.size - classes.kept.size, program.cost.size)
    program.cost[flags] = -weight
    # A small price of deletions, so that among equal losses those with few are found.
    program.cost[: classes.n_plan] = 1e-4 * classes.width
    for _ in range(_ROUNDS):
        left = None if math.isinf(ends) else ends - time.monotonic()
        if left is not None and left <= 0:
            break
        solution = solve(program, time_limit=left, progress=progress)
        if solution.x is None or solution.stopped:
            break
        plan = _rounded(classes, solution.x[: classes.n_plan])
        if plan is not None and (best is None or classes.rank(plan) < classes.rank(best)):
            best = plan
        # The flag is the part that survives: a set that is half lost counts little in the next round, which
        # concentrates losses there (reweighted l1).
        program.cost[flags] = -weight * _SMALL / (1 - solution.x[flags] + _SMALL)
    return best


def _rounded(classes: Aggregated, x: FloatArray) -> IntArray | None:
    """Return a whole plan near a fractional one; None where no single deletions make up for what is missing."""
    plan = np.floor(x + 1e-6).astype(np.int64)
    lost, broken = classes.effects[2], classes.effects[0]
    room = classes.sizes - np.bincount(classes.owner, weights=plan, minlength=classes.sizes.size).astype(
        np.int64
    )
    used = np.asarray(lost.T @ plan)
    rows, hits = lost.tocsr(), broken.tocsr()
    editing, problem = classes.editing, classes.problem
    needed = np.array(
        [
            editing.count(target.items) - problem.least + 1 if problem.is_open(target, editing) else 0
            for target in problem.targets
        ]
    )
    missing = needed - np.asarray(broken.T @ plan)
    while (missing > 0).any() and not classes.is_hidden(plan):
        slack = classes.kept.slack - used
        # Without slack the next deletion loses the set, all that stand behind it; with slack it only comes
        # nearer; what is lost already costs nothing more.
        price = np.where(slack == 0, classes.kept.weight, 1e-3 / np.maximum(slack, 1)) * (slack >= 0)
        gain = np.asarray(hits @ (missing > 0).astype(np.float64))
        usable = (room[classes.owner] > 0) & (gain > 0)
        if not usable.any():
            return None
        cost = np.where(
            usable, (np.asarray(rows @ price) + 1e-4 * classes.width) / np.maximum(gain, 1), np.inf
        )
        chosen = int(np.argmin(cost))
        plan[chosen] += 1
        room[classes.owner[chosen]] -= 1
        used += np.asarray(rows[[chosen]].todense()).reshape(-1)
        missing = missing - np.asarray(hits[[chosen]].todense()).reshape(-1)
    return plan if classes.is_hidden(plan) else None
