"""Cell protection: no suppressed or rounded cell of a table can be bounded closely (Fischetti & Salazar 2001)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, InternalError, ParameterError
from discreet.core.guarantee import TOLERANCE, Relation
from discreet.core.params import NONE, Constraints, FloatIn, IntIn
from discreet.core.rng import generator
from discreet.core.tables.cell_table import CellTable
from discreet.core.verdict import Verdict
from discreet.guarantees.constructed import ConstructedGuarantee


@public
@dataclass(frozen=True, repr=False)
class CellProtection(ConstructedGuarantee):
    """No unpublished cell of a table can be bounded closely, and no small count is published.

    For every suppressed cell let a be its least and b its greatest value over all tables of whole numbers (in the last
    published decimal) that agree with everything published: with the margins, with suppressed counts of at least 1,
    since empty cells are published, and with the rule that some suppressed count is below the threshold. Then
    b ≥ (1 + percent/100) a + width. Of a rounded table, every cell is judged, over all tables whose cells are less than
    the base away. It is judged by the published table alone, whoever made it.

    It bounds what can be computed from the table. It does not bound what other tables of the same people add, what a
    person learns who takes their own contribution off, what follows from how the cells were chosen, or which values
    between a and b are likely; some of them may be impossible.

    Parameters
    ----------
    threshold
        Cells of fewer rows, or of fewer people, are not published; 1 publishes all counts.
    width
        How far apart the least and the greatest value must at least be, in units of the last published decimal; by
        default the threshold for counts and 0 for sums.
    percent
        By how many percent the greatest value must at least exceed the least; by default this is not required.

    References
    ----------
    M. Fischetti, J. J. Salazar (2001). Solving the cell suppression problem on tabular data with linear constraints.
    Management Science 47(7). A. Hundepool et al. (2012). Statistical Disclosure Control. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.tables.cell_table import CellTable
    >>> table = CellTable.of_leaves({"region": ["n", "s"], "sex": ["f", "m"]}, np.array([[3, 20], [30, 40]]))
    >>> print(CellProtection(5).check(table))
    CellProtection(threshold=5): broken (cells at risk 1, required <= 0; 1 of 9 classes (1 rows) fail)
    >>> alone = table.without(table.values == 3)
    >>> CellProtection(5).check(alone).failing_groups
    1
    >>> hidden = table.without(np.isin(table.values, [3, 20, 30, 40]))
    >>> print(CellProtection(5).check(hidden))
    CellProtection(threshold=5): verified (cells at risk 0, required <= 0)
    """

    threshold: int = 1
    width: int | None = None
    percent: float | None = None

    about: ClassVar[str] = "table of cells"
    relation: ClassVar[Relation] = "<="
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "cells at risk"
    constraints: ClassVar[Constraints] = {
        "threshold": IntIn(1),
        "width": (NONE, IntIn(0)),
        "percent": (NONE, FloatIn(0, 1e6)),
    }

    @property
    def bound(self) -> float:
        """The most cells that may be at risk: none."""
        return 0.0

    def width_in(self, table: CellTable) -> int:
        """Return how wide intervals must at least be in a table, in units of its last decimal; of counts at least 1."""
        if table.measure is not None:
            return self.width or 0
        return max(self.threshold if self.width is None else self.width, 1)

    def small_in(self, table: CellTable) -> int:
        """Return the greatest value that is suppressed as too small; 0 where the value does not decide it."""
        return self.threshold - 1 if table.measure is None and not table.people else 0

    def at_risk(self, table: CellTable) -> BoolArray:
        """Return for each cell whether it is published and small, or unpublished and bounded too closely."""
        small = self.threshold - 1 if table.measure is None else 0
        risky = (table.values > 0) & (table.values <= small) & ~table.suppressed
        system = AttackerSystem(table, self.small_in(table))
        risky.reshape(-1)[system.cells] |= system.too_narrow(self.width_in(table), self.percent or 0.0)
        return risky

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge a table of cells, by what it publishes alone; anything else is refused."""
        del suppressed
        if not isinstance(subject, CellTable):
            self._refuse()
        failing = int(np.count_nonzero(self.at_risk(subject)))
        return self._found(
            ok=not failing,
            worst=float(failing),
            n_groups=subject.n_cells,
            n_rows=subject.n_cells,
            failing_groups=failing,
            failing_rows=failing,
        )

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        width = f"{self.threshold:,} (in counts)" if self.width is None else f"{self.width:,}"
        more = f" and {self.percent:g}% of the least" if self.percent else ""
        small = (
            f"No count from 1 to {self.threshold - 1} is published, and from"
            if self.threshold > 1
            else "From"
        )
        return (
            f"{small} the published cells and the rule no unpublished cell can be bounded so closely that its least "
            f"and greatest possible values differ by less than {width}{more}."
        )

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            "CellProtection is a guarantee about a table of cells; nothing else can be judged by it."
        )


_ROUNDS = 40
"""How often many cells are moved at once before the rest is decided cell by cell."""
_FEW = 4
_INFEASIBLE = 2


class AttackerSystem:
    """The whole tables that agree with a published one, as a system of sums over its unknown cells.

    The attacker knows the margins, that no cell is negative, that an empty cell of counts is published (so a suppressed
    count is at least 1), that values are whole (in the last published decimal), and with ``small`` the rule: at least
    one of the suppressed cells is at most that. Of a rounded table every cell is unknown and less than the base away.

    Parameters
    ----------
    table
        The published table.
    small
        The largest value that calls for suppression by itself; 0 where values do not show that.
    """

    def __init__(self, table: CellTable, small: int = 0) -> None:
        if table.wrong_sums:
            raise InputError(
                f"The margins do not add up: {table.wrong_sums} published sums are not those of their cells."
            )
        published = table.values.reshape(-1)
        self.cells: IntArray = (
            np.arange(table.n_cells) if table.base else np.flatnonzero(table.suppressed.reshape(-1))
        )
        fixed = np.where(np.isin(np.arange(table.n_cells), self.cells), 0, published)
        sums = table.relations[:, self.cells]
        # Sums without an unknown cell say nothing.
        used = np.flatnonzero(np.diff(sums.indptr))
        self.sums, self.totals = sums[used], -(table.relations @ fixed)[used]
        # Where every margin of a cell is suppressed nothing bounds it: far above all that is published will
        # do.
        self.unbounded = max(10**6, 8 * int(published.max(initial=0)))
        if table.base:
            self.low = np.maximum(published - table.base + 1, 0)
            self.high = published + table.base - 1
        else:
            self.low = np.full(self.cells.size, int(table.measure is None), np.int64)
            self.high = np.full(self.cells.size, self.unbounded)
        self.small = small if self.cells.size and not table.base else 0

    def too_narrow(self, width: int, percent: float, beyond: IntArray | None = None) -> BoolArray:
        """Return for each unknown cell whether its interval [a, b] has b < (1 + percent/100) a + width, or a = b.

        Tables that move many cells at once settle most of them; the rest is settled cell by cell, exactly. With
        ``beyond``, which only the owner can know, b must also reach a value of each cell's own.
        """
        narrow = np.zeros(self.cells.size, np.bool_)
        if not self.cells.size:
            return narrow
        reached = np.zeros(self.cells.size, np.int64) if beyond is None else beyond

        def is_narrow(low: Any, high: Any, at: Any = slice(None)) -> Any:
            required = np.maximum((1 + percent / 100) * low + width, reached[at])
            return (high < required - TOLERANCE * required) | (high <= low)

        determined = self._determined()
        low, high = self._spread(is_narrow, determined)
        for cell in np.flatnonzero(is_narrow(low, high)):
            narrow[cell] = determined[cell] or is_narrow(*self.interval(int(cell)), cell)
        return narrow

    def interval(self, cell: int) -> tuple[int, int]:
        """Return the least and the greatest value of an unknown cell over all tables that agree with the release."""
        ends = []
        for sign in (1, -1):
            cost = np.zeros(self.cells.size)
            cost[cell] = sign
            tables = list(self._agreeing(cost))
            if not tables:
                raise InputError("No table of whole numbers agrees with the published cells and the rule.")
            ends.append(min(tables, key=lambda table: sign * table[cell])[cell])
        return int(ends[0]), int(ends[1])

    def _agreeing(self, cost: FloatArray) -> Iterator[IntArray]:
        """Iterate over tables of least cost: one, or where none of its cells is small, one per cell that may be."""
        table = self.extreme(cost)
        if table is None:
            return
        if self._obeys_rule(table):
            yield table
            return
        # That some cell is small is no linear condition: each that may be is made small in turn.
        for cell in np.flatnonzero(self.low <= self.small):
            high = self.high.copy()
            high[cell] = self.small
            table = self.extreme(cost, high)
            if table is not None:
                yield table

    def extreme(self, cost: FloatArray, high: IntArray | None = None) -> IntArray | None:
        """Return a table of whole numbers of least cost that agrees with the sums; None where there is none.

        The corners of two-dimensional tables are whole; where the linear program ends at another point, an integer
        program decides. Whatever the solver returns is verified in integer arithmetic.
        """
        high = self.high if high is None else high
        bounds = np.column_stack([self.low, high])
        solved = linear_program(cost, self.sums, self.totals, bounds)
        if solved.status == _INFEASIBLE:
            return None
        table: IntArray = np.rint(self.low if solved.x is None else solved.x).astype(np.int64)
        if solved.x is not None and self._agrees(table, high):
            return table
        return self._whole_extreme(cost, high)

    def _whole_extreme(self, cost: FloatArray, high: IntArray) -> IntArray | None:
        from scipy.optimize import Bounds, LinearConstraint, milp

        solved: Any = milp(
            cost,
            constraints=LinearConstraint(self.sums, self.totals, self.totals),
            bounds=Bounds(self.low, high),
            integrality=np.ones(self.cells.size, np.int64),
            options={"mip_rel_gap": 0.0},
        )
        if solved.status == _INFEASIBLE:
            return None
        table: IntArray = np.rint(self.low if solved.x is None else solved.x).astype(np.int64)
        if solved.x is None or not self._agrees(table, high):
            raise InternalError("The solver returned no table that adds up.")
        return table

    def _agrees(self, table: IntArray, high: IntArray) -> bool:
        within = bool((table >= self.low).all() and (table <= high).all())
        return within and bool((self.sums @ table == self.totals).all())

    def _obeys_rule(self, table: IntArray) -> bool:
        return not self.small or bool((table <= self.small).any())

    def _determined(self) -> BoolArray:
        """Return cells that follow one after another: the only unknown one of a sum, given those found before."""
        unknown = np.ones(self.cells.size, np.bool_)
        incidence = abs(self.sums)
        while True:
            alone = incidence @ unknown.astype(np.int64) == 1
            solved = (incidence[alone].sum(axis=0) > 0) & unknown
            if not solved.any():
                return ~unknown
            unknown &= ~solved

    def _spread(self, is_narrow: Callable[..., Any], settled: BoolArray) -> tuple[IntArray, IntArray]:
        """Return the least and greatest values in tables that move all unsettled cells up or down at random.

        Two tables of which both agree with the release prove that a cell's interval is at least that wide.
        """
        # A fixed seed, so that a table always gets the same verdict.
        rng = generator(0)
        low = high = np.zeros(0, np.int64)
        n_open, misses = self.cells.size, 0
        for _ in range(_ROUNDS):
            is_open = ~settled if not low.size else ~settled & is_narrow(low, high)
            left = int(is_open.sum())
            # Rounds that settle nothing more are soon given up: single cells are decided exactly afterwards.
            misses = misses + 1 if left == n_open else 0
            if low.size and (left <= _FEW or misses > _FEW):
                break
            n_open = left
            push = np.where(is_open, rng.choice([-1.0, 1.0], self.cells.size), 0.0)
            for cost in (push, -push):
                table = self.extreme(cost)
                if table is None:
                    raise InputError("No table of whole numbers agrees with the published cells.")
                if self._obeys_rule(table):
                    low = table if not low.size else np.minimum(low, table)
                    high = table if not high.size else np.maximum(high, table)
        nothing = np.zeros(self.cells.size, np.int64)
        return (low, high) if low.size else (nothing, nothing)


def linear_program(cost: Any, sums: Any, totals: Any, bounds: Any) -> Any:
    """Return what HiGHS makes of the least cost with sums of given totals within bounds."""
    from scipy import optimize

    solver: Any = optimize
    return solver.linprog(cost, A_eq=sums, b_eq=totals, bounds=bounds, method="highs")
