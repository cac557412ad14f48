"""The best full-domain generalization of all: the lattice node that costs least and keeps the promise."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.core.guarantee import A_GUARANTEE
from discreet.core.params import (
    BY_COLUMN,
    NONE,
    POSITIVE,
    Constraints,
    FloatIn,
    InstanceOf,
    OneOf,
    check_parameters,
    require,
)
from discreet.core.release import Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.guarantees.per_unit import by_unit
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.generalization import release_node
from discreet.publish.tables.suppression import allowed_rows, kept_groups, share_for

MEASURES = ("loss", "entropy", "discernibility", "average_class_size", "height", "precision")
SMALL_SEARCH = 1_000_000
"""Against the clock, a lattice of more nodes is searched by descents first."""
LARGEST_VISIT = 5_000_000
"""A lattice of more nodes is not visited whole."""
LARGEST_SEARCH = 20_000_000
"""A lattice of more nodes is searched by descents only."""
_DESCENTS_SHARE = 0.15
_SECONDS_A_TUPLE = 5e-9
_RECOUNTED = 20


@public
class OptimalLattice:
    """Find the levels that cost least of all that keep the promise, with some rows left out where that is allowed.

    The search is exact: nodes are taken in the order of what they must cost at least, and whatever is returned has
    been checked. Suppressed rows are left out of the release and counted. With a time limit the best so far is
    released, and the evidence tells how much better the best of all could be.

    Parameters
    ----------
    guarantee
        What every class must keep; any guarantee or conjunction of them.
    measure
        What to minimize: ``"loss"``, ``"entropy"``, ``"discernibility"``, ``"average_class_size"``, ``"height"`` or
        ``"precision"``.
    max_suppressed
        The share of rows that may be left out.
    aggregate
        How columns are put together: ``"mean"``, ``"maximum"`` or ``"geometric"``.
    weights
        The weight of a column in the measure, by name; multiplies the schema's weights.
    lowest, highest
        Limits of the levels of columns, by name.
    visit
        ``"best"`` looks only at nodes that may be the best; ``"all"`` scores every node, for the whole trade-off.
    time_limit
        Seconds after which the best so far will do; needed where the lattice has more than 20 million nodes.
    random_state
        Seeds the order of the rows, and the descents of a search against the clock.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, intervals, masked, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({
    ...     "age": [24, 37, 26, 38, 36, 25], "zip": ["10598", "90210", "10547", "90345", "89119", "02139"]}),
    ...     {"age": quasi(intervals(10, 20)), "zip": quasi(masked())})
    >>> release = OptimalLattice(KAnonymity(2), max_suppressed=0.4).release(table)
    >>> release.evidence.levels, release.evidence.suppressed
    ({'age': 1, 'zip': 3}, 2)
    >>> OptimalLattice(KAnonymity(2), max_suppressed=0.4).best(table)
    {'age': 1, 'zip': 3}

    References
    ----------
    F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. Kuhn: Flash: efficient, stable and optimal k-anonymity.
    PASSAT 2012.
    """

    constraints: ClassVar[Constraints] = {
        "guarantee": A_GUARANTEE,
        "measure": OneOf(MEASURES),
        "max_suppressed": FloatIn(0, 1),
        "aggregate": OneOf(("mean", "maximum", "geometric")),
        "weights": BY_COLUMN,
        "lowest": BY_COLUMN,
        "highest": BY_COLUMN,
        "visit": OneOf(("best", "all")),
        "time_limit": (POSITIVE, NONE),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        guarantee: Guarantee,
        *,
        measure: str = "loss",
        max_suppressed: float = 0.0,
        aggregate: Literal["mean", "maximum", "geometric"] = "mean",
        weights: Mapping[str, float] | None = None,
        lowest: Mapping[str, int] | None = None,
        highest: Mapping[str, int] | None = None,
        visit: Literal["best", "all"] = "best",
        time_limit: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.guarantee = guarantee
        self.measure = measure
        self.max_suppressed = max_suppressed
        self.aggregate = aggregate
        self.weights = weights
        self.lowest = lowest
        self.highest = highest
        self.visit = visit
        self.time_limit = time_limit
        self.random_state = random_state

    @by_unit
    def release(self, table: Table) -> Release:
        """Find the best node and publish the table at it."""
        lattice, node, details = self._found(table)
        return release_node(
            self, lattice, node, self.max_suppressed, parameters=self._parameters(), details=details
        )

    @by_unit
    def best(self, table: Table) -> dict[str, int]:
        """Find the best node, and publish nothing: gives the level of every quasi-identifier."""
        lattice, node, _ = self._found(table)
        return dict(zip(lattice.names, node, strict=True))

    def _found(self, table: Table) -> tuple[Lattice, tuple[int, ...], dict[str, object]]:
        """Find the best node; gives the lattice, the node and what is to be told of the search."""
        from discreet.publish.lattice.search import score_all

        self._check(table)
        begun = time.monotonic()
        lattice = Lattice(table, lowest=self.lowest, highest=self.highest)
        scorer = self._scorer(lattice)
        if self.visit == "all":
            self._refuse_large(lattice)
            visited = score_all(scorer)
            at = int(np.argmin(visited.cost))
            found = tuple(visited.levels[at].tolist()) if visited.feasible[at] else None
            cost = bound = float(visited.cost[at])
        else:
            found, cost, bound = self._search(lattice, scorer, begun)
            visited = scorer.visited()
        if found is None:
            raise self._infeasible(lattice, scorer)
        return (
            lattice,
            found,
            {
                "measure": self.measure,
                "cost": cost,
                "bound": bound,
                "optimal": bound >= cost * (1 - 1e-12),
                "n_nodes": lattice.n_nodes,
                "visited": visited,
            },
        )

    def _search(
        self, lattice: Lattice, scorer: Any, begun: float
    ) -> tuple[tuple[int, ...] | None, float, float]:
        from discreet.publish.lattice.anytime import Anytime
        from discreet.publish.lattice.search import Search

        self._refuse_large(lattice)
        bound = 0.0
        in_order = lattice.n_nodes <= LARGEST_SEARCH
        if self.time_limit is not None:
            scorer.exact(lattice.top)
            n_tuples = 0 if scorer.measure.prunes else lattice.table.tuples.counts.size
            in_order = in_order and lattice.n_nodes * n_tuples * _SECONDS_A_TUPLE < self.time_limit / 2
        if self.time_limit is not None and (lattice.n_nodes > SMALL_SEARCH or not in_order):
            share = _DESCENTS_SHARE if in_order else 1.0
            descents = Anytime(
                scorer, deadline=begun + share * self.time_limit, rng=generator(self.random_state, owner=self)
            )
            descents.best()
            bound = descents.bound
        if in_order:
            search = Search(scorer, deadline=None if self.time_limit is None else begun + self.time_limit)
            search.best()
            bound = max(bound, search.bound)
        best = scorer.best()
        if best is None:
            return None, math.inf, bound
        return best.node, best.cost, min(bound, best.cost)

    def _scorer(self, lattice: Lattice) -> Any:
        from discreet.publish.lattice.measures import MEASURES as KINDS
        from discreet.publish.lattice.scoring import Scorer

        measure = KINDS[self.measure](lattice, self._weights(lattice), self.aggregate)
        limit = allowed_rows(self.max_suppressed, lattice.table.n_rows)
        return Scorer(lattice, self.guarantee, measure, limit)

    def _weights(self, lattice: Lattice) -> FloatArray:
        given = self.weights or {}
        for name, weight in given.items():
            if name not in lattice.names:
                raise SchemaError(f"A weight is given for '{name}', which is no quasi-identifier.")
            require(self, "weights", weight, POSITIVE)
        weights = np.array(
            [lattice.table.schema[name].weight * given.get(name, 1.0) for name in lattice.names]
        )
        return np.asarray(weights / weights.max(), np.float64)

    def _refuse_large(self, lattice: Lattice) -> None:
        largest = LARGEST_VISIT if self.visit == "all" else LARGEST_SEARCH
        if lattice.n_nodes > largest and (self.visit == "all" or self.time_limit is None):
            raise ParameterError(
                f"The lattice has {lattice.n_nodes:,} nodes, too many to visit them all: give a time_limit in seconds "
                "for the best that can be found in that time, or narrow it with lowest and highest."
            )

    def _infeasible(self, lattice: Lattice, scorer: Any) -> InfeasibleError:
        """Describe how far the best node is from keeping the promise."""
        scores = sorted(scorer.scores.values(), key=lambda score: int(score.suppressed))
        least = n_rows = lattice.table.n_rows
        for node in [lattice.top, *(score.node for score in scores[:_RECOUNTED])]:
            groups, _ = scorer.classes.groups(node)
            least = min(least, int(groups.sizes[~kept_groups(self.guarantee, groups)].sum()))
        remedy = "ask for less"
        if self.max_suppressed < 1:
            remedy += ", or allow more rows to be suppressed"
        if least < n_rows:
            remedy = f"allow max_suppressed={share_for(least, n_rows):g} or ask for less"
        return InfeasibleError(
            f"No generalization keeps {self.guarantee} with at most {self.max_suppressed:.2%} of the rows suppressed: "
            f"the best node looked at suppresses {least} of {n_rows} rows ({least / n_rows:.2%}); {remedy}."
        )

    def _parameters(self) -> dict[str, object]:
        return {
            "measure": self.measure,
            "max_suppressed": self.max_suppressed,
            "aggregate": self.aggregate,
            "weights": dict(self.weights or {}),
            "lowest": dict(self.lowest or {}),
            "highest": dict(self.highest or {}),
            "time_limit": self.time_limit,
        }

    def _check(self, table: Table) -> None:
        check_parameters(self)
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        self.guarantee.columns(table.schema.sensitive)
