"""Integer programs, solved by HiGHS: with a first solution, a time limit, and the gap as it closes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from discreet.core.arrays import FloatArray, IntArray

Progress = Callable[[float, float], None]
"""Called with the best value so far and the bound, both infinite until there are any."""
_WAIT = 0.05
_LARGE = 150_000
"""From this number of entries on, presolving takes longer than it saves."""


class Stop(BaseException):
    """Raised by a caller's progress function to stop the solver and take the best so far."""


@dataclass(frozen=True)
class Solution:
    """What a solver came to: ``x`` is None where it found nothing; ``optimal`` tells that nothing better exists."""

    x: FloatArray | None
    value: float
    bound: float
    optimal: bool
    infeasible: bool = False
    stopped: bool = False


@dataclass
class Program:
    """Minimize cost · x with low <= A x <= high and 0 <= x <= upper, x whole where ``whole`` says so."""

    cost: FloatArray
    upper: FloatArray
    whole: FloatArray
    rows: list[IntArray] = field(default_factory=list)
    columns: list[IntArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, columns: Any, values: Any, *, low: float = -math.inf, high: float = math.inf) -> None:
        """Add one constraint."""
        at = np.asarray(columns, np.int64)
        self.rows.append(np.full(at.size, len(self.low), np.int64))
        self.columns.append(at)
        self.values.append(np.broadcast_to(np.asarray(values, np.float64), at.shape))
        self.low.append(low)
        self.high.append(high)

    def add_each(
        self, columns: IntArray, values: Any, *, low: float = -math.inf, high: float = math.inf
    ) -> None:
        """Add a constraint for each row of columns, all with the same values and ends."""
        n, width = columns.shape
        self.rows.append(np.repeat(np.arange(n) + len(self.low), width))
        self.columns.append(columns.reshape(-1))
        self.values.append(np.tile(np.asarray(values, np.float64), n))
        self.low += [low] * n
        self.high += [high] * n

    def matrix(self) -> Any:
        """Return the constraints as a sparse matrix."""
        shape = (len(self.low), self.cost.size)
        if not self.rows:
            return sp.csr_array(shape)
        parts = (np.concatenate(self.values), (np.concatenate(self.rows), np.concatenate(self.columns)))
        return sp.csr_array(sp.coo_array(parts, shape=shape))


def solve(
    program: Program,
    *,
    time_limit: float | None = None,
    start: FloatArray | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Solve a program; within the time limit the best so far, its bound and whether it is optimal.

    A progress function is called from the caller's thread about twenty times a second. Where it raises, the solver is
    stopped and what was raised is raised again; `Stop` returns the best so far instead. Without highspy, scipy solves
    the program, which takes no first solution and reports nothing on the way.
    """
    try:
        import highspy
    except ImportError:
        return _by_scipy(program, time_limit)
    return _by_highspy(highspy, program, time_limit, start, progress)


def _by_scipy(program: Program, time_limit: float | None) -> Solution:
    from scipy.optimize import Bounds, LinearConstraint, milp

    options: Any = {"mip_rel_gap": 0.0}
    if time_limit is not None:
        options["time_limit"] = time_limit
    solution = milp(
        program.cost,
        constraints=LinearConstraint(program.matrix(), program.low, program.high),
        bounds=Bounds(0, program.upper),
        integrality=program.whole.astype(np.int64),
        options=options,
    )
    if solution.x is None:
        return Solution(None, math.inf, -math.inf, False, infeasible=solution.status == 2)
    bound = solution.mip_dual_bound if solution.mip_dual_bound is not None else solution.fun
    return Solution(np.asarray(solution.x), float(solution.fun), float(bound), solution.status == 0)


def _by_highspy(
    highspy: Any,
    program: Program,
    time_limit: float | None,
    start: FloatArray | None,
    progress: Progress | None,
) -> Solution:
    solver = _loaded(highspy, program, time_limit)
    if start is not None:
        first = highspy.HighsSolution()
        first.col_value = list(map(float, start))
        solver.setSolution(first)
    state = {"value": math.inf, "bound": -math.inf, "stop": False}

    def watch(kind: Any, message: Any, out: Any, into: Any, data: Any) -> None:
        del message, data
        if kind == kinds.kCallbackMipInterrupt:
            state["value"], state["bound"] = float(out.mip_primal_bound), float(out.mip_dual_bound)
        if into is not None and state["stop"]:
            into.user_interrupt = True

    kinds = highspy.cb.HighsCallbackType
    solver.setCallback(watch, None)
    for kind in (kinds.kCallbackMipInterrupt, kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt):
        solver.startCallback(kind)
    stopped = _run(solver, state, progress, time_limit)
    return _result(highspy, solver, program, stopped)


def _loaded(highspy: Any, program: Program, time_limit: float | None) -> Any:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    # By default HiGHS stops at a gap of 0.01 percent, which is not the optimum that evidence speaks of.
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("threads", 1)
    if time_limit is not None:
        solver.setOptionValue("time_limit", float(time_limit))
    matrix = program.matrix()
    if matrix.nnz > _LARGE:
        solver.setOptionValue("presolve", "off")
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = program.cost.size, len(program.low)
    model.col_cost_ = program.cost
    model.col_lower_, model.col_upper_ = np.zeros(program.cost.size), program.upper
    model.row_lower_, model.row_upper_ = np.array(program.low), np.array(program.high)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    model.a_matrix_.index_ = matrix.indices.astype(np.int32)
    model.a_matrix_.value_ = matrix.data
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    model.integrality_ = [kinds[int(integral)] for integral in program.whole]
    solver.passModel(model)
    return solver


def _run(solver: Any, state: dict[str, Any], progress: Progress | None, time_limit: float | None) -> bool:
    """Run the solver in a thread of its own, so that this one can be interrupted; return whether it was stopped."""
    worker = threading.Thread(target=solver.run, daemon=True)
    began = time.monotonic()
    worker.start()
    try:
        while worker.is_alive():
            worker.join(_WAIT)
            if progress is not None:
                progress(state["value"], state["bound"])
            # A second more than HiGHS has as its own limit, which it may overrun.
            if time_limit is not None and time.monotonic() - began > time_limit + 1:
                state["stop"] = True
    except Stop:
        state["stop"] = True
        worker.join()
        return True
    except BaseException:
        state["stop"] = True
        worker.join()
        raise
    return False


def _result(highspy: Any, solver: Any, program: Program, stopped: bool) -> Solution:
    status, info = solver.getModelStatus(), solver.getInfo()
    kinds = highspy.HighsModelStatus
    if status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible):
        return Solution(None, math.inf, math.inf, False, infeasible=True)
    bound = float(info.mip_dual_bound)
    if info.primal_solution_status != 2:
        return Solution(None, math.inf, bound, False, stopped=stopped)
    x = np.asarray(solver.getSolution().col_value)
    # Whole variables come back within HiGHS's tolerance of whole
    # numbers; the value is recomputed from the rounded ones.
    x = np.where(program.whole > 0, np.rint(x), x)
    optimal = status in (kinds.kOptimal, kinds.kModelEmpty)
    value = float(program.cost @ x)
    return Solution(x, value, value if optimal else bound, optimal, stopped=stopped)
