"""What publishers at one node of the lattice have in common: the plan of a node, and for searches the scorer."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from discreet.core.errors import InfeasibleError
from discreet.core.params import Constraints, OneOf
from discreet.core.release import Cells, Release
from discreet.core.tables.labels import STAR
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.minimality import MINIMALITY, blind
from discreet.publish.tables.publisher import (
    SUPPRESSIBLE,
    Plan,
    TablePublisher,
    allowance,
    allowed_rows,
    enough_for,
    kept_groups,
    refuse_too_many,
    with_starred,
)

if TYPE_CHECKING:
    from discreet.publish.lattice.measures import Aggregate
    from discreet.publish.lattice.scoring import Scorer

Measure: TypeAlias = Literal[
    "loss", "entropy", "entropy_bits", "monotone_entropy", "discernibility", "monotone_discernibility",
    "average_class_size", "height", "precision", "monotone_precision",
]  # fmt: skip
"""What a search can minimize. Monotone measures do not count what suppression costs."""


@dataclass(kw_only=True, repr=False, eq=False)
class LatticePublisher(TablePublisher):
    """A publisher at one node of the lattice: each column as a whole goes to a level of its tree.

    Rows whose class breaks the guarantee are left out, up to a number or a share of them. A method writes `_choose`.

    Parameters
    ----------
    max_suppressed
        The rows that may be left out: their number as an int, or a share as a float. Where rows belong to units, rows
        are counted all the same.
    """

    max_suppressed: int | float = 0.0

    constraints: ClassVar[Constraints] = {**TablePublisher.constraints, "max_suppressed": SUPPRESSIBLE}

    def release(self, table: Table) -> Release:
        """Protect a table and publish it, with its rows in random order."""
        release = super().release(table)
        if release.evidence.details.get("starred") and not release.verdict.ok:
            raise InfeasibleError(
                f"Rows of stars may be anybody's, so that the release does not keep {self.guarantee}: leave them out "
                "with keep_suppressed=False.",
                fix={"keep_suppressed": False},
            )
        return release

    @property
    def _stars_rows(self) -> bool:
        """Whether suppressed rows stay in the table, with stars."""
        return False

    @abstractmethod
    def _choose(self, table: Table) -> tuple[Lattice, Node, dict[str, Any]]:
        """Return the lattice, the node to publish at, and the details of the search for the evidence."""

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        del rng
        lattice, node, details = self._choose(table)
        groups, labels, codes = lattice.groups(node)
        kept = (with_starred if self._stars_rows else kept_groups)(self.guarantee, groups)
        n_dropped = int(groups.sizes[~kept].sum())
        sensitive = table.schema.sensitive
        if n_dropped and self.guarantee.judged_values(sensitive):
            # A class that is large enough and missing all the same shows that its values broke the guarantee.
            missing = blind(self.guarantee, sensitive).together(groups) & ~kept
            details[MINIMALITY] = details.get(MINIMALITY) or self.guarantee.relative or bool(missing.any())
        refuse_too_many(self.guarantee, n_dropped, table.n_rows, self.max_suppressed)
        by_value: dict[str, Replacement] = {}
        cells: dict[str, Cells] = {}
        published: dict[str, list[str | None]] = {}
        for column, (name, tree, level) in enumerate(zip(lattice.names, lattice.trees, node, strict=True)):
            if level > 0:
                by_value[name] = Replacement(tree.levels[level], pa.array(tree.labels[level], pa.string()))
            covered = np.bincount(tree.levels[level], weights=table.overall(name)).astype(np.int64)
            cells[name] = Cells(codes[column][kept], lattice.losses(column, level), covered)
            published[name] = [tree.labels[level][code] for code in np.unique(codes[column][kept])]
        plan = Plan(
            groups.sizes[kept],
            cells,
            by_value=by_value,
            dropped=~kept[labels] if n_dropped else None,
            suppressed=n_dropped,
            levels=lattice.levels(node),
            details=details,
            published=published,
        )
        return _starred(plan, lattice, node) if n_dropped and self._stars_rows else plan


def _starred(plan: Plan, lattice: Lattice, node: Node) -> Plan:
    """Return a plan in which rows that would be left out stay, with a star in every quasi-identifier."""
    # By piece, not by value: the same value is a star in some of its rows only.
    by_piece, cells = {}, {}
    dropped = np.asarray(plan.dropped, np.bool_)
    for name, tree, level in zip(lattice.names, lattice.trees, node, strict=True):
        labels = [*tree.labels[level], STAR]
        index = np.where(dropped, len(labels) - 1, tree.levels[level][lattice.table.codes(name)])
        by_piece[name] = Replacement(index.astype(np.int32), pa.array(labels, pa.string()))
        old = plan.cells[name]
        cells[name] = Cells(
            np.append(old.index, old.loss.size).astype(np.int32),
            np.append(old.loss, 1.0),
            np.append(old.covered, lattice.table.n_rows),
        )
    return replace(
        plan,
        sizes=np.append(plan.sizes, plan.suppressed),
        cells=cells,
        by_value={},
        by_piece=by_piece,
        dropped=None,
        suppressed=0,
        details={**plan.details, "starred": plan.suppressed},
        published={name: sorted({*labels, STAR}, key=str) for name, labels in (plan.published or {}).items()},
    )


@dataclass(kw_only=True, repr=False, eq=False)
class LatticeSearch(LatticePublisher):
    """A search for the node of the lattice to publish at.

    Parameters
    ----------
    measure
        What to minimize: ``"loss"``, ``"entropy"`` as a share or in bits (``"entropy_bits"``), ``"discernibility"``,
        ``"average_class_size"``, ``"height"`` or ``"precision"``. ``"monotone_entropy"`` (in bits),
        ``"monotone_discernibility"`` and ``"monotone_precision"`` are theirs without what suppression costs.
    """

    measure: Measure = "loss"

    constraints: ClassVar[Constraints] = {
        "guarantee": LatticePublisher.constraints["guarantee"],
        "measure": OneOf(get_args(Measure)),
        **LatticePublisher.constraints,
    }

    def _scorer_of(
        self,
        lattice: Lattice,
        *,
        weights: Mapping[str, float] | None = None,
        aggregate: Aggregate = "mean",
        factor: float = 0.5,
        target: str | None = None,
    ) -> Scorer:
        from discreet.publish.lattice.objectives import node_measure
        from discreet.publish.lattice.scoring import Scorer

        of_columns = lattice.weights(weights, owner=self)
        measure = node_measure(self.measure, lattice, of_columns, aggregate, factor=factor, target=target)
        limit = allowed_rows(self.max_suppressed, lattice.table.n_rows)
        return Scorer(lattice, self.guarantee, measure, limit, stars_rows=self._stars_rows)

    def _settled(self, table: Table, lattice: Lattice, node: Node) -> tuple[Node, bool]:
        """Return the node to publish at, where a search chose one, and whether sensitive values decided it.

        Where the node that sizes alone would choose keeps the guarantee, it is the one, however ties were broken: then
        every assignment of values under which it does has the same release. Where rows may be left out, or the clock
        decides, or a target that is to be predicted, nobody knows what the search would have chosen without the
        values, so they count as having decided.
        """
        sensitive = table.schema.sensitive
        if getattr(self, "target", None) is not None:
            return node, True
        if not self.guarantee.judged_values(sensitive):
            return node, False
        if self.max_suppressed > 0 or getattr(self, "time_limit", None) is not None:
            return node, True
        twin = copy.copy(self)
        twin.guarantee = blind(self.guarantee, sensitive)
        try:
            by_sizes = twin._choose(table)[1]
        except InfeasibleError:
            return node, True
        groups, *_ = lattice.groups(by_sizes)
        return (by_sizes, False) if kept_groups(self.guarantee, groups).all() else (node, True)

    def _infeasible(self, least: int, n_rows: int) -> InfeasibleError:
        """Return an error that says how many rows the best node would suppress."""
        remedy, fix = "ask for less", {}
        if least < n_rows:
            fix = {"max_suppressed": enough_for(least, n_rows, self.max_suppressed)}
            remedy = f"allow max_suppressed={fix['max_suppressed']:g} or ask for less"
        return InfeasibleError(
            f"No generalization keeps {self.guarantee} with at most {allowance(self.max_suppressed)} suppressed: "
            f"the best node looked at suppresses {least} of {n_rows} rows ({least / n_rows:.2%}); {remedy}.",
            fix=fix,
        )
