"""The best full-domain generalization of all: the lattice node that costs least and keeps the guarantee."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.params import BOOL, BY_COLUMN, NONE, POSITIVE, Constraints, FloatIn, InstanceOf, OneOf
from discreet.core.rng import generator
from discreet.core.tables.table import Table
from discreet.guarantees.per_unit import by_unit
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.lattice_search import LatticeSearch
from discreet.publish.tables.minimality import MINIMALITY
from discreet.publish.tables.publisher import kept_groups, with_starred

if TYPE_CHECKING:
    from discreet.publish.lattice.scoring import Scorer

SMALL_SEARCH = 1_000_000
"""Against the clock, a lattice of more nodes is searched by descents first."""
LARGEST_VISIT = 5_000_000
"""A lattice of more nodes is not visited whole."""
LARGEST_SEARCH = 20_000_000
"""A lattice of more nodes is searched by descents only."""
# The share of the time limit for descents before the search in order, what a tuple takes at a node of a
# visit, and how many of the nodes that leave fewest rows out are counted again for the message.
_DESCENTS_SHARE = 0.15
_SECONDS_A_TUPLE = 5e-9
_RECOUNTED = 20


@public
@dataclass(kw_only=True, repr=False, eq=False)
class OptimalLattice(LatticeSearch):
    """Find the levels that cost least of all that keep the guarantee, with some rows left out where that is allowed.

    The search is exact: nodes are taken in the order of what they must cost at least, and whatever is returned has
    been checked. Suppressed rows are left out of the release and counted. With a time limit the best so far is
    released, and the evidence says how much better the best of all could be.

    Parameters
    ----------
    keep_suppressed
        Whether suppressed rows stay, with ``*`` in every quasi-identifier. They are a class like any other, which keeps
        the guarantee too, and classes are compared with the table before suppression.
    aggregate
        How columns are put together: ``"mean"``, ``"sum"``, ``"maximum"``, ``"geometric"``, or ``"rank"``: the highest
        cost of a column decides, at a tie the second highest, and so on.
    suppression_factor
        What counts in the loss, from 0, only generalization, to 1, only suppression. At 0.5 a suppressed row costs as
        much as one whose cells are as wide as can be; below it costs less, and above, generalized cells do.
    target
        A sensitive column that classes shall predict: in place of the measure, the share of rows is minimized that the
        most frequent value of their class misses, suppressed rows among them.
    weights
        The weight of a column in the measure, by name; multiplies the schema's weights.
    lowest
        The lowest level allowed for a column, by name.
    highest
        The highest level allowed for a column, by name.
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

    keep_suppressed: bool = False
    aggregate: Literal["mean", "sum", "maximum", "geometric", "rank"] = "mean"
    suppression_factor: float = 0.5
    target: str | None = None
    weights: Mapping[str, float] | None = None
    lowest: Mapping[str, int] | None = None
    highest: Mapping[str, int] | None = None
    visit: Literal["best", "all"] = "best"
    time_limit: float | None = None

    not_in_recipe: ClassVar[tuple[str, ...]] = (*LatticeSearch.not_in_recipe, "visit")
    whole_columns_only: ClassVar[tuple[str, ...]] = (
        "visit",
        "keep_suppressed",
        "suppression_factor",
        "target",
    )
    """Parameters that methods which begin at the best node have no use for."""
    constraints: ClassVar[Constraints] = {
        **LatticeSearch.constraints,
        "keep_suppressed": BOOL,
        "aggregate": OneOf(("mean", "sum", "maximum", "geometric", "rank")),
        "suppression_factor": FloatIn(0, 1),
        "target": (NONE, InstanceOf((str,), "the name of a sensitive column")),
        "weights": BY_COLUMN,
        "lowest": BY_COLUMN,
        "highest": BY_COLUMN,
        "visit": OneOf(("best", "all")),
        "time_limit": (POSITIVE, NONE),
    }

    @by_unit
    def best(self, table: Table) -> dict[str, int]:
        """Return the level of every quasi-identifier at the best node; nothing is published."""
        self._check(table)
        lattice, node, _ = self._choose(table)
        return lattice.levels(node)

    @property
    def _stars_rows(self) -> bool:
        return self.keep_suppressed

    def _choose(self, table: Table) -> tuple[Lattice, Node, dict[str, Any]]:
        from discreet.publish.lattice.search import score_all

        begun = time.monotonic()
        lattice = Lattice(table, lowest=self.lowest, highest=self.highest)
        scorer = self._scorer_of(
            lattice,
            weights=self.weights,
            aggregate=self.aggregate,
            factor=self.suppression_factor,
            target=self.target,
        )
        if self.visit == "all":
            self._refuse_large(lattice)
            visited = score_all(scorer)
            at = int(np.argmin(visited.cost))
            node = tuple(visited.levels[at].tolist()) if visited.feasible[at] else None
            cost = bound = float(visited.cost[at])
            if self.aggregate == "rank" and (least := scorer.best()) is not None:
                node = least.node
        else:
            node, cost, bound = self._search(lattice, scorer, begun)
            visited = None
        if node is None:
            raise self._none_feasible(lattice, scorer)
        node, decided = self._settled(table, lattice, node)
        scorer.exact(node)
        details = {
            MINIMALITY: decided,
            "measure": self.measure if self.target is None else "rows not predicted",
            "cost": cost,
            "bound": bound,
            # Bound and cost are sums of the same numbers in different orders.
            "optimal": bound >= cost * (1 - 1e-12),
            "n_nodes": lattice.n_nodes,
            "visited": scorer.visited() if visited is None else visited,
        }
        return lattice, node, details

    def _search(self, lattice: Lattice, scorer: Scorer, begun: float) -> tuple[Node | None, float, float]:
        from discreet.publish.lattice.anytime import Anytime
        from discreet.publish.lattice.search import Search

        self._refuse_large(lattice)
        bound = 0.0
        in_order = lattice.n_nodes <= LARGEST_SEARCH
        if self.time_limit is not None:
            # The top first: whatever the clock says later, there is something to publish where anything is
            # feasible.
            scorer.exact(lattice.top)
            # A search without floors visits all nodes before it can begin.
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
            if self.aggregate == "rank" and not search.settle_ranks():
                bound = min(bound, 0.0)
        best = scorer.best()
        if best is None:
            return None, math.inf, bound
        return best.node, best.cost, min(bound, best.cost)

    def _refuse_large(self, lattice: Lattice) -> None:
        largest = LARGEST_VISIT if self.visit == "all" else LARGEST_SEARCH
        if lattice.n_nodes > largest and (self.visit == "all" or self.time_limit is None):
            raise ParameterError(
                f"The lattice has {lattice.n_nodes:,} nodes, too many to visit them all: give a time_limit in seconds "
                "for the best that can be found in that time, or narrow it with lowest and highest.",
                fix={"time_limit": 60},
            )

    def _none_feasible(self, lattice: Lattice, scorer: Scorer) -> InfeasibleError:
        scores = sorted(scorer.scores.values(), key=lambda score: int(score.suppressed))
        least = n_rows = lattice.table.n_rows
        for node in [lattice.top, *(score.node for score in scores[:_RECOUNTED])]:
            groups, _ = scorer.classes.groups(node)
            least = min(
                least,
                int(
                    groups.sizes[
                        ~(with_starred if self.keep_suppressed else kept_groups)(self.guarantee, groups)
                    ].sum()
                ),
            )
        return self._infeasible(least, n_rows)
