"""Global recoding: each value has one generalization in the whole table: a cut through each column's tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.boundary import public
from discreet.core.params import Constraints
from discreet.core.release import Cells
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.lattice.specialization import Specialization
from discreet.publish.recipes.recipe_parts import Cut
from discreet.publish.tables.lattice_search import Measure
from discreet.publish.tables.minimality import MINIMALITY, decided_by_values
from discreet.publish.tables.optimal_lattice import OptimalLattice
from discreet.publish.tables.publisher import Plan, TablePublisher, allowed_rows


@public
@dataclass(kw_only=True, repr=False, eq=False)
class GlobalRecoding(TablePublisher):
    """Publish each value by one generalization in the whole table, where values of a column may stand at any levels.

    One zip code may become a region while another, of a town where many live, stays as it is. The search begins at the
    best node of the lattice, as `OptimalLattice` finds it, and replaces a node of a column's tree by its children where
    the guarantee stays, the largest drop of loss first, until none can be replaced. So the loss is never above the best
    node's. The result is no optimum: no single further step is possible, though several at once might be. Where no node
    of the lattice keeps the guarantee, nothing is published.

    As in any lattice search, rows of the same values read alike everywhere, so that the columns can be joined,
    compared and put into SQL; `LocalRecoding` loses less, since it may write the same value in several ways.

    Under a guarantee about sensitive values, whoever knows the method and everybody's quasi-identifiers learns from
    each node that was not replaced. Where sensitive values decided, the release carries a caution.

    Parameters
    ----------
    measure, aggregate, weights
        What the node to begin at costs least by; see `OptimalLattice`. From there the loss is lowered, by the same
        weights.
    max_suppressed
        The rows that may be left out: their number as an int, or a share as a float.
    lowest
        The lowest level allowed for a column, by name.
    highest
        The highest level allowed for a column, by name.
    time_limit
        Seconds for the search of the node to begin at, after which the best so far will do.

    Examples
    --------
    Of six people, four share their zip codes in pairs. Whole columns go to level 4; a cut leaves the four as they are:

    >>> import pyarrow as pa
    >>> from discreet import Table, masked, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> codes = ["10598", "10598", "10547", "10547", "90345", "91119"]
    >>> release = GlobalRecoding(KAnonymity(2)).release(Table(pa.table({"zip": codes}), {"zip": quasi(masked())}))
    >>> sorted(set(release.frame["zip"].to_pylist())), release.evidence.details["start"]
    (['10547', '10598', '9****'], {'zip': 4})

    References
    ----------
    V. Iyengar: Transforming data to satisfy privacy constraints. KDD 2002.

    B. Fung, K. Wang, P. Yu: Top-down specialization for information and privacy preservation. ICDE 2005.
    """

    measure: Measure = "loss"
    max_suppressed: int | float = 0.0
    aggregate: Literal["mean", "sum", "maximum", "geometric", "rank"] = "mean"
    weights: Mapping[str, float] | None = None
    lowest: Mapping[str, int] | None = None
    highest: Mapping[str, int] | None = None
    time_limit: float | None = None

    constraints: ClassVar[Constraints] = {
        name: allowed
        for name, allowed in OptimalLattice.constraints.items()
        if name not in OptimalLattice.whole_columns_only
    }

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        del rng
        node, cut = self._specialized(table)
        sensitive = table.schema.sensitive
        if self.max_suppressed > 0 or self.time_limit is not None:
            decided = bool(self.guarantee.judged_values(sensitive))
        else:
            # The steps are compared, not only where they lead: then every assignment of sensitive values that agrees
            # with the classes takes the same steps, since each state on the way is a union of these classes.
            decided = decided_by_values(
                self, sensitive, (node, cut.steps), lambda search: search._steps(table)
            )
        details = {
            "start": cut.lattice.levels(node),
            "specialized": len(cut.steps),
            "loss": cut.loss,
            MINIMALITY: decided,
        }
        return _plan_of(cut, details)

    def _steps(self, table: Table) -> tuple[Node, list[tuple[str, int, int, int]]]:
        node, cut = self._specialized(table)
        return node, cut.steps

    def _specialized(self, table: Table) -> tuple[Node, Specialization]:
        """Find the best node, and specialize it as far as the guarantee allows."""
        search = OptimalLattice(**{name: getattr(self, name) for name in self.constraints})
        node = tuple(search.best(table).values())
        lattice = Lattice(table, lowest=self.lowest, highest=self.highest)
        weights = lattice.weights(self.weights, owner=self)
        limit = allowed_rows(self.max_suppressed, table.n_rows)
        cut = Specialization(lattice, node, self.guarantee, weights, limit)
        cut.run()
        return node, cut


def _plan_of(cut: Specialization, details: dict[str, Any]) -> Plan:
    lattice, dropped = cut.lattice, cut.dropped
    counts = lattice.table.tuples.counts
    kept_classes, first, class_of = np.unique(cut.classes()[~dropped], return_index=True, return_inverse=True)
    first = np.flatnonzero(~dropped)[first]
    by_value: dict[str, Replacement] = {}
    cells: dict[str, Cells] = {}
    for column, spelling in enumerate(cut.spelling):
        nodes = cut.cells(column)
        cells[spelling.name] = Cells(nodes[spelling.codes[first]], spelling.loss, spelling.covered)
        if cut.levels[column][spelling.codes[~dropped]].any():
            by_value[spelling.name] = spelling.labels_at(nodes)
    codes = [np.unique(spelling.codes[~dropped]).astype(np.int64) for spelling in cut.spelling]
    return Plan(
        np.bincount(class_of, counts[~dropped], kept_classes.size).astype(np.int64),
        cells,
        by_value=by_value,
        dropped=dropped if dropped.any() else None,
        suppressed=int(counts[dropped].sum()),
        details=details,
        published={
            spelling.name: spelling.labels_at(cut.cells(column)[codes[column]]).labels.to_pylist()
            for column, spelling in enumerate(cut.spelling)
        },
        cut=Cut(
            {name: cut.labels(column, codes[column]) for column, name in enumerate(lattice.names)},
            {name: cut.labels(column) for column, name in enumerate(lattice.names)},
        ),
    )
