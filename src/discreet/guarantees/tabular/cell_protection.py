"""Cell protection: no suppressed or rounded cell of a table can be bounded closely (Fischetti & Salazar 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from discreet.core.arrays import BoolArray
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.guarantee import Relation
from discreet.core.params import NONE, Constraints, FloatIn, IntIn
from discreet.core.tabular.cell_table import CellTable
from discreet.core.verdict import Verdict
from discreet.guarantees.constructed import ConstructedGuarantee
from discreet.guarantees.tabular.intervals import AttackerSystem


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
        How far apart the least and the greatest value must at least be, in units of the last published decimal; None
        takes the threshold for counts and 0 for sums.
    percent
        By how many percent the greatest value must at least exceed the least; None requires nothing of the kind.

    References
    ----------
    M. Fischetti, J. J. Salazar (2001). Solving the cell suppression problem on tabular data with linear constraints.
    Management Science 47(7). A. Hundepool et al. (2012). Statistical Disclosure Control. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.tabular.cell_table import CellTable
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
