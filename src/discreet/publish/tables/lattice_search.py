"""What the searches of the lattice of levels have in common: their parameters, the scorer, and infeasibility."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.errors import InfeasibleError
from discreet.core.guarantee import A_GUARANTEE
from discreet.core.params import Constraints, FloatIn, InstanceOf, OneOf, check_parameters, require
from discreet.core.rng import RANDOM_STATE, RandomState
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.minimality import MINIMALITY, decided_by_values
from discreet.publish.tables.suppression import allowed_rows, share_for

if TYPE_CHECKING:
    from discreet.publish.lattice.measures import Aggregate
    from discreet.publish.lattice.scoring import Scorer

MEASURES = ("loss", "entropy", "discernibility", "average_class_size", "height", "precision")
_NOT_IN_RECIPES = ("guarantee", "random_state", "visit")


@dataclass(repr=False, eq=False)
class LatticeSearch:
    """A search for levels of columns at which the promise is kept.

    Parameters
    ----------
    guarantee
        What every class must keep; any guarantee or conjunction of them.
    measure
        What to minimize: ``"loss"``, ``"entropy"``, ``"discernibility"``, ``"average_class_size"``, ``"height"`` or
        ``"precision"``.
    max_suppressed
        The share of rows that may be left out.
    random_state
        Seeds the order of the rows.
    """

    guarantee: Guarantee
    _: KW_ONLY
    measure: str = "loss"
    max_suppressed: float = 0.0
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "guarantee": A_GUARANTEE,
        "measure": OneOf(MEASURES),
        "max_suppressed": FloatIn(0, 1),
        "random_state": RANDOM_STATE,
    }

    def _check(self, table: Table) -> None:
        check_parameters(self)
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        self.guarantee.columns(table.schema.sensitive)

    def _scorer_of(
        self, lattice: Lattice, *, weights: Mapping[str, float] | None = None, aggregate: Aggregate = "mean"
    ) -> Scorer:
        from discreet.publish.lattice.measures import MEASURES as KINDS
        from discreet.publish.lattice.scoring import Scorer

        measure = KINDS[self.measure](lattice, lattice.weights(weights, owner=self), aggregate)
        return Scorer(
            lattice, self.guarantee, measure, allowed_rows(self.max_suppressed, lattice.table.n_rows)
        )

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters that are written into a recipe."""
        values = {name: getattr(self, name) for name in self.constraints if name not in _NOT_IN_RECIPES}
        by_column = values.keys() & {"weights", "lowest", "highest"}
        return values | {name: dict(values[name] or {}) for name in by_column}

    def _found(self, table: Table) -> tuple[Lattice, Node, dict[str, object]]:
        """Return the lattice, the node to publish at, and the details of the search for the evidence."""
        raise NotImplementedError

    def _minimality(self, table: Table, node: Node) -> dict[str, object]:
        """Return the detail that says whether sensitive values decided which node was found.

        Where rows may be left out, or the clock decides, there is no telling what the search would have found without
        them, so they count as having decided.
        """
        sensitive = table.schema.sensitive
        unsure = self.max_suppressed > 0 or getattr(self, "time_limit", None) is not None
        decided = (
            bool(self.guarantee.judged_values(sensitive))
            if unsure
            else decided_by_values(self, sensitive, node, lambda search: search._found(table)[1])
        )
        return {MINIMALITY: decided}

    def _infeasible(self, least: int, n_rows: int) -> InfeasibleError:
        """Describe how far the best node is from keeping the promise, by the rows that it would suppress."""
        remedy, fix = "ask for less", {}
        if least < n_rows:
            fix = {"max_suppressed": share_for(least, n_rows)}
            remedy = f"allow max_suppressed={fix['max_suppressed']:g} or ask for less"
        return InfeasibleError(
            f"No generalization keeps {self.guarantee} with at most {self.max_suppressed:.2%} of the rows suppressed: "
            f"the best node looked at suppresses {least} of {n_rows} rows ({least / n_rows:.2%}); {remedy}.",
            fix=fix,
        )
