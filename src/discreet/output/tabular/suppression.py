"""Cell suppression: leave out small cells, and as little else as keeps them from being worked out."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

from discreet.core.boundary import public
from discreet.core.params import NONE, POSITIVE, Constraints, FloatIn, OneOf
from discreet.core.tabular.cell_table import CellTable
from discreet.guarantees import CellProtection
from discreet.output.tabular.complements import SuppressionProblem
from discreet.output.tabular.cutting import least_suppressed
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
