"""Controlled rounding: publish multiples of a base that still add up (Cox 1987; Fischetti & Salazar 1998)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError
from discreet.core.params import NONE, POSITIVE, Constraints, IntIn
from discreet.core.tables.cell_table import CellTable
from discreet.guarantees import CellProtection
from discreet.output.hiding.solver import Program, solve
from discreet.output.tabular.publisher import TabularPublisher
from discreet.output.tabular.tabulation import Tabulation


@public
@dataclass(frozen=True)
class ControlledRounding(TabularPublisher):
    """Publish a table of counts with every cell rounded to a multiple of a base, such that all margins still add up.

    A multiple stays as it is, any other value goes to one of the two multiples next to it; of all such tables that add
    up, the one that changes least in all is taken. So an attacker knows of each cell that its true value is less than
    the base away, and whatever the margins add to that, which the verdict bounds.

    Parameters
    ----------
    threshold
        Counts from 1 to threshold - 1 are not published. A number, or a `CellProtection`.
    base
        The base; by default the least that the guarantee allows: the required width and 1.
    time_limit
        After how many seconds the search for the least change ends with the best so far.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.output.tabular import CellTable, Tabulation
    >>> table = CellTable.of_leaves({"region": ["n", "s"], "sex": ["f", "m"]}, np.array([[3, 21], [30, 41]]))
    >>> release = ControlledRounding(4, base=5).release(Tabulation.of_cells(table))
    >>> release.data.values.tolist()
    [[95, 35, 60], [25, 5, 20], [70, 30, 40]]
    >>> print(release.verdict)
    CellProtection(threshold=4): verified (cells at risk 0, required <= 0)

    References
    ----------
    L. H. Cox (1987). A constructive procedure for unbiased controlled rounding. JASA 82.
    """

    _: KW_ONLY
    base: int | None = None
    time_limit: float = 20.0

    constraints: ClassVar[Constraints] = {
        **TabularPublisher.constraints,
        "base": (NONE, IntIn(2)),
        "time_limit": POSITIVE,
    }

    def _publish(
        self, tabulation: Tabulation, guarantee: CellProtection
    ) -> tuple[CellTable, dict[str, object]]:
        table = tabulation.table
        base = self.base or max(guarantee.width_in(table) + 1, guarantee.threshold, 2)
        rounded = _rounded(table, base, self.time_limit)
        changed = int(np.abs(rounded - table.values).sum())
        return replace(table, values=rounded, base=base), {"changed": changed, "base": base}

    def _parameters(self) -> dict[str, Any]:
        return {"base": self.base}


def _rounded(table: CellTable, base: int, time_limit: float) -> Any:
    """Return the multiples next to the values that add up and change least, by an integer program.

    A variable says whether a cell goes up; in two dimensions the program's corners are whole already.
    """
    values = table.values.reshape(-1)
    lower, rest = values // base, values % base
    free = np.flatnonzero(rest)
    # Rounding up costs base − rest and rounding down rest: the difference is the cost of going up.
    program = Program((base - 2 * rest[free]).astype(np.float64), np.ones(free.size), np.ones(free.size))
    sums = table.relations[:, free].tocsr()
    totals = -(table.relations @ lower)
    for row in range(sums.shape[0]):
        part = slice(sums.indptr[row], sums.indptr[row + 1])
        if part.start < part.stop:
            program.add(sums.indices[part], sums.data[part], low=totals[row], high=totals[row])
        # A sum none of whose cells can go up must add up as it is.
        elif totals[row]:
            raise InfeasibleError(_NONE)
    up = np.zeros(values.size, np.int64)
    if free.size:
        solution = solve(program, time_limit=time_limit)
        if solution.x is None:
            raise InfeasibleError(_NONE)
        up[free] = np.rint(solution.x).astype(np.int64)
    return (base * (lower + up)).reshape(table.values.shape)


_NONE = (
    "No table of multiples next to the values adds up, or none was found in time; take another base, fewer columns, or "
    "suppress cells instead."
)
