"""Exact hiding: an integer program finds the deletions that lose fewest itemsets, and of these the fewest deletions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.params import NONE, POSITIVE, Constraints, InstanceOf, OneOf
from discreet.output.hiding.border import Method, spare
from discreet.output.hiding.formulations.aggregated import Aggregated
from discreet.output.hiding.formulations.published import Extension, FewestBaskets, Inline
from discreet.output.hiding.hider import Hider, Sanitized, edited
from discreet.output.hiding.problem import Problem
from discreet.output.hiding.relaxed import relaxed_plan
from discreet.output.hiding.solver import Progress, Solution, solve

Formulation = Literal["aggregated", "inline", "menon", "hybrid"]
_FIRST: tuple[Method, ...] = ("bba", "maxmin2")
"""The methods with which the aggregated program begins."""


@public
@dataclass(kw_only=True, repr=False, eq=False)
class ExactHiding(Hider):
    """Hide rules by an integer program, solved by HiGHS.

    ``"aggregated"`` takes supporters that hold the same sensitive rules and the same other itemsets together, and
    counts how many of such a class receive each minimal removal set: a program that hardly grows with the number of
    baskets. It keeps as many other itemsets as can be kept, and then deletes as few entries as can be. It begins with
    the best of the border-based methods and of a few linear programs, so it never loses more than these.

    The published programs are here for comparison: ``"inline"`` has a variable for each entry and demands that
    the whole border stays, dropping border itemsets where that cannot be; ``"menon"`` changes as few baskets as can be;
    ``"hybrid"`` changes no basket and appends synthetic ones, which needs a min_support that is a share. These three
    hide a rule by its support alone.

    Parameters
    ----------
    rules
        A `RulesHidden`, or the sensitive rules.
    formulation
        ``"aggregated"``, ``"inline"``, ``"menon"`` or ``"hybrid"``.
    min_support, min_confidence, margin
        The thresholds, where no `RulesHidden` has them; see there.
    objective
        What the aggregated program keeps: ``"itemsets"``, all other itemsets, or ``"border"``, the maximal ones, which
        is a smaller program.
    time_limit
        The seconds after which the best so far is taken; by default none is. Bound and gap are in the evidence.
    progress
        Called about twenty times a second with the best value so far and the bound. What it raises stops the run; a
        `Stop` takes the best so far.
    random_state
        Seeds the order of the released baskets, and which of several alike baskets are changed.

    Examples
    --------
    >>> from discreet import Baskets
    >>> bought = Baskets.from_lists([list("abc"), list("abc"), list("ab"), list("ac"), list("bc")])
    >>> release = ExactHiding([["a", "b"]], min_support=2, random_state=0).hide(bought)
    >>> release.evidence.details["lost"], release.evidence.details["removed_items"]
    (0, 2)
    >>> release.evidence.details["optimal"]
    True

    References
    ----------
    S. Menon, S. Sarkar, S. Mukherjee: Maximizing accuracy of shared databases when concealing sensitive patterns.
    Information Systems Research 16(3), 2005.
    A. Gkoulalas-Divanis, V. S. Verykios: An integer programming approach for frequent itemset hiding. CIKM 2006.
    A. Gkoulalas-Divanis, V. S. Verykios: Exact knowledge hiding through database extension. IEEE TKDE 21(5), 2009.
    """

    formulation: Formulation = "aggregated"
    objective: Literal["itemsets", "border"] = "itemsets"
    time_limit: float | None = None
    progress: Progress | None = None

    constraints: ClassVar[Constraints] = {
        **Hider.constraints,
        "formulation": OneOf(get_args(Formulation)),
        "objective": OneOf(("itemsets", "border")),
        "time_limit": (POSITIVE, NONE),
        "progress": InstanceOf((Callable, type(None)), "a function or None"),  # type: ignore[arg-type]
    }

    def parameters(self) -> dict[str, object]:
        """Return the parameters that a recipe may name."""
        return {"formulation": self.formulation}

    def _sanitized(self, problem: Problem, rng: np.random.Generator) -> Sanitized:
        ends = math.inf if self.time_limit is None else time.monotonic() + self.time_limit
        if self.formulation == "aggregated":
            return _by_classes(self, problem, rng, ends)
        ways = {"inline": _by_entries, "menon": _by_baskets, "hybrid": _by_extension}
        return ways[self.formulation](self, problem.by_support(), rng, ends)


def _by_classes(hider: ExactHiding, problem: Problem, rng: np.random.Generator, ends: float) -> Sanitized:
    """Solve the aggregated program in two steps: keep most itemsets, then delete fewest entries.

    Where the whole border can be kept nothing is lost, and the small program with the border alone is enough.
    """
    classes = Aggregated(problem, problem.border)
    plan = _with_relaxed(hider, classes, _first_plan(classes, problem, rng), ends)
    # Half of the time for the border leaves the other half for the program of all itemsets.
    middle = ends if hider.objective == "border" else _middle(ends)
    plan, keeping = _keep_most(hider, classes, plan, middle)
    if hider.objective == "itemsets" and classes.lost(plan) and not keeping.stopped:
        every = Aggregated(problem, problem.others.keep(problem.touched))
        plans = (every.plan_of(classes.apply(plan, rng)), _first_plan(every, problem, rng))
        classes = every
        plan = _with_relaxed(hider, classes, min(plans, key=classes.rank), ends)
        plan, keeping = _keep_most(hider, classes, plan, ends)
    plan, deleting = _delete_fewest(hider, classes, plan, ends, stopped=keeping.stopped)
    # Lost itemsets are whole numbers, so a fractional bound is rounded up, less the solver's tolerance.
    bound = max(math.ceil(keeping.bound - 1e-6), 0)
    details = {
        "classes": int(classes.sizes.size),
        "columns": classes.n_plan,
        "flags": classes.kept.size,
        "lost": classes.lost(plan),
        "lost_bound": bound,
        "removals": int(classes.width @ plan),
        "removals_bound": math.ceil(deleting.bound - 1e-6) if math.isfinite(deleting.bound) else 0,
        "gap": gap(classes.lost(plan), bound),
        "optimal": classes.lost(plan) <= bound and deleting.optimal,
    }
    return edited(classes.apply(plan, rng), **details)


def _middle(ends: float) -> float:
    """Return the middle of the time that is left."""
    now = time.monotonic()
    return ends if math.isinf(ends) else now + (ends - now) / 2


def _by_entries(hider: ExactHiding, problem: Problem, rng: np.random.Generator, ends: float) -> Sanitized:
    """Solve the inline program; without a solution drop border itemsets, the largest and rarest first."""
    inline = Inline(problem)
    mask = np.ones(inline.kept.size, np.bool_)
    order = np.lexsort((inline.kept.slack, -inline.kept.columns.sum(axis=1)))
    first = spare(problem, "maxmin2", rng)
    while True:
        solution = solve(inline.program(mask), time_limit=_left(ends), progress=hider.progress)
        if solution.x is not None or not mask.any() or (not solution.infeasible and _left(ends) == 0.0):
            break
        # An eighth at a time, so that few programs are solved on the way to one that has a solution.
        mask[order[mask[order]][: max(1, int(mask.sum()) // 8)]] = False
    editing = first if solution.x is None else inline.apply(solution.x)
    # The most frequent rule needs this many deletions, even if each breaks a supporter of its own.
    fewest = max(int(count) for count in inline.supported.sum(axis=0)) - problem.least + 1
    bound = max(solution.bound + inline.n_entries if math.isfinite(solution.bound) else 0.0, fewest)
    details = {
        "entries": inline.n_entries,
        "dropped_border": int(np.count_nonzero(~mask)),
        "removals_bound": max(math.ceil(bound - 1e-6), 0),
        "solved": solution.x is not None,
        "optimal": solution.optimal and bool(mask.all()),
    }
    return edited(editing, **details)


def _by_baskets(hider: ExactHiding, problem: Problem, rng: np.random.Generator, ends: float) -> Sanitized:
    """Solve Menon's program, which changes as few baskets as can be."""
    fewest = FewestBaskets(problem)
    solution = solve(fewest.program(), time_limit=_left(ends), progress=hider.progress)
    if solution.x is None:
        return edited(spare(problem, "maxmin2", rng), solved=False, optimal=False)
    details = {"changed_bound": math.ceil(solution.bound - 1e-6), "solved": True, "optimal": solution.optimal}
    return edited(fewest.apply(solution.x, rng), **details)


def _by_extension(hider: ExactHiding, problem: Problem, rng: np.random.Generator, ends: float) -> Sanitized:
    """Solve the hybrid program, which appends synthetic baskets."""
    del rng
    extension = Extension(problem)
    solution = solve(extension.program(), time_limit=_left(ends), progress=hider.progress)
    x = np.zeros(len(extension.columns)) if solution.x is None else solution.x
    extended = extension.apply(x)
    details = {
        "added_baskets": extension.size,
        "added_items": extended.items.size - problem.baskets.items.size,
    }
    return Sanitized(
        extended, {"changed_baskets": 0, "removed_items": 0, **details, "optimal": solution.optimal}
    )


def gap(value: float, bound: float) -> float:
    """Return how far a value is from its bound, as a share of the value; 0 where both are 0."""
    return 0.0 if value <= bound else (value - bound) / value


def _first_plan(classes: Aggregated, problem: Problem, rng: np.random.Generator) -> IntArray:
    """Return the best plan of the border-based methods; one that loses nothing is good enough."""
    plans: list[IntArray] = []
    for method in _FIRST:
        plan = classes.plan_of(spare(problem, method, rng))
        if classes.is_hidden(plan):
            plans.append(plan)
            if classes.lost(plan) == 0:
                break
    return min(plans, key=classes.rank)


def _with_relaxed(hider: ExactHiding, classes: Aggregated, plan: IntArray, ends: float) -> IntArray:
    """Return the better of a plan and the one that linear programs lead to; one that loses nothing is good enough."""
    if classes.lost(plan) == 0:
        return plan
    watch = hider.progress
    silent = None if watch is None else lambda value, bound: watch(math.inf, -math.inf)
    other = relaxed_plan(classes, ends=ends, progress=silent)
    return plan if other is None else min(plan, other, key=classes.rank)


def _keep_most(
    hider: ExactHiding, classes: Aggregated, plan: IntArray, ends: float
) -> tuple[IntArray, Solution]:
    """Lose as few itemsets as can be."""
    if classes.lost(plan) == 0:
        return plan, Solution(None, 0.0, 0.0, True)
    program = classes.program()
    total = float(classes.kept.weight.sum())
    program.cost[program.cost.size - classes.kept.size :] = -classes.kept.weight
    solution = solve(
        program, time_limit=_left(ends), start=classes.flags(plan), progress=_shifted(hider.progress, total)
    )
    if solution.x is not None:
        better = np.rint(solution.x[: classes.n_plan]).astype(np.int64)
        # Judged in whole numbers, as the solver keeps constraints within a tolerance only.
        if classes.is_hidden(better) and classes.lost(better) <= classes.lost(plan):
            plan = better
    bound = max(solution.bound + total, 0.0) if math.isfinite(solution.bound) else 0.0
    return plan, Solution(
        solution.x, solution.value + total, bound, solution.optimal, stopped=solution.stopped
    )


def _delete_fewest(
    hider: ExactHiding, classes: Aggregated, plan: IntArray, ends: float, *, stopped: bool
) -> tuple[IntArray, Solution]:
    """Delete as few entries as can be without losing more itemsets."""
    nothing = Solution(None, math.inf, 0.0, False)
    if stopped or _left(ends) == 0.0:
        return plan, nothing
    program = classes.program()
    first = program.cost.size - classes.kept.size
    if classes.kept.size:
        # What was kept in the first step must be kept: the second one breaks ties by deletions.
        weight_left = float(classes.kept.weight.sum() - classes.lost(plan))
        program.add(
            np.arange(first, program.cost.size), classes.kept.weight.astype(np.float64), low=weight_left
        )
    program.cost[: classes.n_plan] = classes.width
    solution = solve(program, time_limit=_left(ends), start=classes.flags(plan), progress=hider.progress)
    if solution.x is not None:
        better = np.rint(solution.x[: classes.n_plan]).astype(np.int64)
        fewer = int(classes.width @ better) <= int(classes.width @ plan)
        if fewer and classes.is_hidden(better) and classes.lost(better) <= classes.lost(plan):
            plan = better
    return plan, solution


def _left(ends: float) -> float | None:
    """Return the seconds that are left; None without a limit."""
    return None if math.isinf(ends) else max(ends - time.monotonic(), 0.0)


def _shifted(progress: Progress | None, total: float) -> Progress | None:
    """Return a progress function called with lost itemsets, where the program counts those that stay."""
    if progress is None:
        return None
    return lambda value, bound: progress(value + total, bound + total)
