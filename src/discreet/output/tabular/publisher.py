"""The base of publishers of tables of cells: checks, evidence, recipe and release; a method changes the table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.params import Constraints, InstanceOf, IntIn, check_parameters
from discreet.core.release import Evidence, Release
from discreet.core.tables.cell_table import CellTable
from discreet.guarantees import CellProtection
from discreet.output.tabular.tabulation import Tabulation


@dataclass(frozen=True)
class TabularPublisher(ABC):
    """A publisher of tables of counts or sums.

    Parameters
    ----------
    threshold
        Cells of fewer rows, or of fewer people, are not published. A number, or a `CellProtection`.
    """

    threshold: int | CellProtection

    constraints: ClassVar[Constraints] = {
        "threshold": (IntIn(1), InstanceOf((CellProtection,), "a CellProtection"))
    }

    @property
    def guarantee(self) -> CellProtection:
        """What the release keeps."""
        return (
            self.threshold if isinstance(self.threshold, CellProtection) else CellProtection(self.threshold)
        )

    def release(self, tabulation: Tabulation) -> Release:
        """Return the table as it may be published; the true one stays private."""
        check_parameters(self)
        if not isinstance(tabulation, Tabulation):
            raise ParameterError(
                f"{type(self).__name__} publishes a Tabulation; Tabulation.of(table) makes one."
            )
        published, details = self._publish(tabulation, self.guarantee)
        if published.suppressed.all() or (tabulation.table.values.any() and not published.values.any()):
            raise InfeasibleError(
                "Every cell that is not empty would be suppressed, or rounded to 0; take coarser columns, or a smaller "
                "threshold."
            )
        # Judged anew from what is published, whatever the method believes of it.
        if self.guarantee.at_risk(published).any():
            raise InfeasibleError(
                "The table cannot be published so that the guarantee holds; take coarser columns, or fewer of them."
            )
        n_missing = {"missing_values": tabulation.n_missing} if tabulation.n_missing else {}
        return Release(
            published,
            self.guarantee,
            Evidence(published.n_cells, suppressed=published.n_suppressed, details={**details, **n_missing}),
            {
                "format": 1,
                "method": type(self).__name__,
                "parameters": self._parameters(),
                "guarantee": self.guarantee.to_dict(),
                "seed": None,
                "layout": published.layout(),
            },
            kind="cells",
            original=tabulation,
        )

    @abstractmethod
    def _publish(
        self, tabulation: Tabulation, guarantee: CellProtection
    ) -> tuple[CellTable, dict[str, object]]:
        """Return what is published, and what the owner may know of how it was chosen."""

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """Return the parameters that are published."""
