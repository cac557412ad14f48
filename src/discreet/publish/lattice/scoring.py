"""Scores of lattice nodes: what each costs and suppresses, remembered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.guarantees import Guarantee
from discreet.kernels.tables.lattice import Stats
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.lattice.measures import Dropped, NodeMeasure
from discreet.publish.lattice.roll_up import Recount, RollUp
from discreet.publish.tables.publisher import kept_groups, with_starred

DUST = 1e-9
"""What rounding may add to a count of rows, for each row."""


@dataclass(frozen=True)
class Score:
    """What a node costs, the rows it suppresses and the classes it keeps; where it is not exact, at least and at most.

    A node that suppresses too many rows has an infinite cost. ``rules_out`` tells that so does everything below it.
    """

    node: Node
    cost: float
    suppressed: int
    feasible: bool
    exact: bool
    classes: int
    rules_out: bool = False
    ranks: tuple[float, ...] = ()
    """The costs of the columns, the highest first, where nodes are compared by them."""

    @property
    def order(self) -> tuple[float, tuple[float, ...]]:
        """By what scores are compared."""
        return self.cost, self.ranks


@dataclass(frozen=True, repr=False)
class Visited:
    """Nodes that were looked at, as arrays: levels, cost, suppressed rows, kept classes, feasible or not, exact or not.

    A node's mean risk is its kept classes over its kept rows.
    """

    names: tuple[str, ...]
    levels: IntArray
    cost: FloatArray
    suppressed: IntArray
    feasible: BoolArray
    exact: BoolArray
    classes: IntArray

    def __repr__(self) -> str:
        return f"Visited({self.cost.size} nodes, {int(self.feasible.sum())} feasible)"


class Scorer:
    """Scores the nodes of a lattice for a guarantee, a measure and a limit of suppressed rows."""

    def __init__(
        self,
        lattice: Lattice,
        guarantee: Guarantee,
        measure: NodeMeasure,
        limit: int,
        *,
        stars_rows: bool = False,
    ) -> None:
        self.stars_rows = stars_rows
        """Whether suppressed rows stay as a class, which is judged as well."""
        self.lattice = lattice
        self.guarantee = guarantee
        self.measure = measure
        self.limit = limit
        self.smallest = max(guarantee.smallest, 1)
        looked_at = guarantee.columns(lattice.table.schema.sensitive)
        # The measure's own column is counted along even if the guarantee does not look at it.
        targets = () if measure.target in (None, *looked_at) else (str(measure.target),)
        self._sensitive = (*looked_at, *targets)
        self.is_packed = RollUp.fits(lattice, self._sensitive)
        self.scores: dict[Node, Score] = {}
        self._stats: dict[Node, Stats] = {}

    @property
    def looks_beyond_sizes(self) -> bool:
        """Whether the guarantee looks at more than sizes, at sensitive values or a population, which settles nodes."""
        by_sizes = self.guarantee.by_size or self.guarantee.table_wide
        return bool(self._sensitive) or not self.is_packed or not by_sizes

    @cached_property
    def sizes(self) -> RollUp | Recount:
        """The classes without their sensitive values."""
        return RollUp(self.lattice) if self.is_packed else Recount(self.lattice)

    @cached_property
    def classes(self) -> RollUp | Recount:
        """The classes with the sensitive values that the guarantee looks at."""
        return RollUp(self.lattice, self._sensitive) if self.is_packed and self._sensitive else self.sizes

    def relaxed(self, node: Node) -> Stats:
        """Return what a node does when only classes too small for any guarantee are suppressed."""
        stats = self._stats.get(node)
        if stats is None:
            stats = self.sizes.stats(node, self.smallest, self.limit, self.measure.weights)
            self._stats[node] = stats
            if stats.suppressed > self.limit:
                score = Score(node, math.inf, stats.suppressed, False, False, stats.kept, rules_out=True)
                self.scores[node] = score
        return stats

    def exact(self, node: Node) -> Score:
        """Ask the guarantee about every class of a node."""
        scored = self.scores.get(node)
        if scored is not None:
            return scored
        groups, codes = self.classes.groups(node)
        choose = with_starred if self.stars_rows else kept_groups
        kept = choose(self.guarantee, groups, limit=self.limit)
        suppressed, n_kept = int(groups.sizes[~kept].sum()), int(kept.sum())
        if suppressed > self.limit or not kept.any():
            n_rows = self.lattice.table.n_rows
            # What fails however classes are divided fails at every node below; what rounding may add rules
            # nothing out.
            failing = self.guarantee.failing_at_least(groups, moved=self.limit / n_rows).sum()
            certain = bool(failing > self.limit + DUST * max(n_rows, 1000))
            exact = not self.guarantee.relative or self.stars_rows
            score = Score(node, math.inf, suppressed, False, exact, n_kept, rules_out=certain)
        else:
            left = [codes(column)[~kept] for column in range(len(node))]
            dropped = Dropped(groups.sizes[~kept], left, groups, kept)
            cost = self.measure.exact(node, dropped, groups.sizes[kept])
            ranks = self.measure.ranks(node, dropped)
            score = Score(node, cost, suppressed, feasible=True, exact=True, classes=n_kept, ranks=ranks)
        self.scores[node] = score
        return score

    def best(self) -> Score | None:
        """Return the best node so far that keeps the guarantee."""
        feasible = (score for score in self.scores.values() if score.feasible)
        return min(feasible, key=lambda score: score.order, default=None)

    def visited(self) -> Visited:
        """Return the scores so far as arrays."""
        scores = list(self.scores.values())
        return Visited(
            self.lattice.names,
            np.array([score.node for score in scores], np.int64).reshape(-1, len(self.lattice.names)),
            np.array([score.cost for score in scores], np.float64),
            np.array([score.suppressed for score in scores], np.int64),
            np.array([score.feasible for score in scores], np.bool_),
            np.array([score.exact for score in scores], np.bool_),
            np.array([score.classes for score in scores], np.int64),
        )
