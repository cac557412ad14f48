"""Exploring: the best ways of all methods to keep several guarantees, under several shares of suppression."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import InfeasibleError, SchemaError
from discreet.core.params import FloatIn, IntIn, OneOf, require
from discreet.core.registry import methods
from discreet.core.tables.table import Table
from discreet.guarantees import AllOf, Guarantee, KAnonymity
from discreet.guarantees.constructed import together
from discreet.guarantees.per_unit import counted_by_unit
from discreet.measure import loss, risk
from discreet.publish.lattice.anytime import Anytime
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.lattice.measures import MEASURES
from discreet.publish.lattice.scoring import Scorer, Visited
from discreet.publish.lattice.search import Search, score_all
from discreet.publish.tables.optimal_lattice import LARGEST_SEARCH
from discreet.publish.tables.publisher import SUPPRESSIBLE, allowed_rows, kept_groups

MOST_VISITED = 200_000
"""A lattice of more nodes is searched, not visited whole."""
_MOST_JUDGED = 5_000
"""As many nodes are visited where the guarantee must judge each."""


@dataclass(frozen=True)
class ExploredMethod:
    """One way to publish: the method, its cost under every measure, what it suppresses, how exposed it leaves people.

    ``levels`` are those of whole columns; None where a method recodes rows one by one. A cost is NaN where the measure
    does not apply.
    """

    method: str
    levels: Mapping[str, int] | None
    costs: Mapping[str, float]
    ranks: Mapping[str, int]
    suppressed: int
    classes: int
    highest_risk: float
    mean_risk: float

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data for JSON."""
        return {
            "method": self.method,
            "levels": None if self.levels is None else dict(self.levels),
            "costs": dict(self.costs),
            "ranks": dict(self.ranks),
            "suppressed": self.suppressed,
            "classes": self.classes,
            "risk": {"highest": self.highest_risk, "mean": self.mean_risk},
        }


@dataclass(frozen=True)
class ExploredMethods:
    """The best ways to keep one guarantee with at most a share of the rows suppressed, the cheapest first."""

    guarantee: Guarantee
    max_suppressed: int | float
    choices: tuple[ExploredMethod, ...]


@dataclass(frozen=True)
class Exploration:
    """All choices side by side; ``whole`` says whether every node of the lattice was looked at."""

    n_rows: int
    n_nodes: int
    heights: Mapping[str, int]
    whole: bool
    parts: tuple[ExploredMethods, ...]


def explore(
    table: Table,
    guarantees: Sequence[Guarantee],
    *,
    shares: Sequence[float] = (0.0,),
    measures: Sequence[str] = ("loss",),
    top: int = 3,
    time_limit: float = 10.0,
) -> Exploration:
    """Find the best nodes for every guarantee, share and measure, and what row by row methods reach; none is published.

    Parameters
    ----------
    table
        The table.
    guarantees
        The guarantees to compare.
    shares
        The rows that may be suppressed: numbers as ints, or shares as floats.
    measures
        What to minimize; every choice has its cost under each, and they lie in the order of the first.
    top
        How many of the best nodes of each measure to give.
    time_limit
        Seconds for each search where the lattice is too large to visit whole. Then only the best node of a measure is
        the best of all that was found; those after it are the best that were looked at.
    """
    require("explore", "top", top, IntIn(1))
    require("explore", "time_limit", time_limit, FloatIn(0, closed="neither"))
    for measure in measures:
        require("explore", "measures", measure, OneOf(tuple(MEASURES)))
    for share in shares:
        require("explore", "shares", share, *SUPPRESSIBLE)
    lattice = Lattice(table)
    most = max(allowed_rows(share, table.n_rows) for share in shares)
    parts: list[ExploredMethods] = []
    is_whole = True
    for guarantee in (counted_by_unit(guarantee_, table) for guarantee_ in guarantees):
        guarantee.columns(table.schema.sensitive)
        looks = {measure: _Look.at(lattice, guarantee, measure, most, time_limit) for measure in measures}
        is_whole &= all(look.whole for look in looks.values())
        by_row = _ByRow(table, guarantee, measures, time_limit)
        for share in shares:
            choices = [*_choices(lattice, guarantee, looks, share, top), *by_row.choices(share)]
            choices.sort(key=lambda choice: _in_order(choice, measures[0]))
            parts.append(ExploredMethods(guarantee, share, tuple(choices)))
    heights = {name: tree.height for name, tree in zip(lattice.names, lattice.trees, strict=True)}
    return Exploration(table.n_rows, lattice.n_nodes, heights, is_whole, tuple(parts))


@dataclass(frozen=True)
class _Look:
    """The nodes that were looked at under one guarantee and one measure."""

    scorer: Scorer
    visited: Visited
    whole: bool

    @classmethod
    def at(cls, lattice: Lattice, guarantee: Guarantee, measure: str, limit: int, time_limit: float) -> _Look:
        """Visit every node of a small lattice, or search for the best of a large one."""
        node_measure = MEASURES[measure](lattice, lattice.weights(), "mean")
        scorer = Scorer(lattice, guarantee, node_measure, limit)
        at_once = guarantee.by_size and scorer.is_packed and node_measure.relaxed_is_exact
        if lattice.n_nodes <= (MOST_VISITED if at_once else _MOST_JUDGED):
            return cls(scorer, score_all(scorer), True)
        deadline = time.monotonic() + time_limit
        if lattice.n_nodes <= LARGEST_SEARCH:
            Search(scorer, deadline=deadline).best()
        else:
            Anytime(scorer, deadline=deadline, rng=np.random.default_rng(0)).best()
        return cls(scorer, scorer.visited(), False)

    def best(self, limit: int, top: int) -> list[Node]:
        """Return the best nodes that suppress at most ``limit`` rows."""
        visited = self.visited
        fits = np.flatnonzero(visited.feasible & visited.exact & (visited.suppressed <= limit))
        order = fits[np.lexsort((visited.levels[fits].sum(axis=1), visited.cost[fits]))][:top]
        return [tuple(levels) for levels in visited.levels[order].tolist()]


class _ByRow:
    """What methods that recode row by row reach under one guarantee; those that leave no row out run once."""

    def __init__(
        self, table: Table, guarantee: Guarantee, measures: Sequence[str], time_limit: float
    ) -> None:
        self.table, self.guarantee, self.measures = table, guarantee, measures
        self.time_limit = time_limit
        known = [method for method in methods(role="publisher", takes="table") if "table" in method.makes]
        self._methods = [method for method in known if not method.whole_columns]
        self._complete = {
            method.name: self._choice(method.name, method.make(guarantee))
            for method in self._methods
            if "max_suppressed" not in method.options()
        }

    def choices(self, share: float) -> list[ExploredMethod]:
        """Return what the methods make with at most a share of the rows left out."""
        limits = {"max_suppressed": share, "time_limit": self.time_limit}
        choices = [
            self._complete[method.name]
            if method.name in self._complete
            else self._choice(
                method.name,
                method.make(
                    self.guarantee, **{name: limits[name] for name in limits if name in method.options()}
                ),
            )
            for method in self._methods
        ]
        return [choice for choice in choices if choice is not None]

    def _choice(self, method: str, publisher: Any) -> ExploredMethod | None:
        try:
            release = publisher.release(self.table)
        except (InfeasibleError, SchemaError):
            return None
        if not release.verdict.ok:
            return None
        lost, left = loss(release), risk(release)
        costs = {
            "loss": lost.total,
            "discernibility": float(lost.discernibility),
            "average_class_size": lost.average_class_size,
        }
        return ExploredMethod(
            method=method,
            levels=None,
            costs={measure: costs.get(measure, math.nan) for measure in self.measures},
            ranks={},
            suppressed=release.evidence.suppressed,
            classes=left.n_classes,
            highest_risk=left.prosecutor.highest,
            mean_risk=left.prosecutor.mean,
        )


def _in_order(choice: ExploredMethod, measure: str) -> tuple[bool, float, int]:
    """Return what choices are put in order by: the cost, then the rows left out; what has no cost comes last."""
    cost = choice.costs[measure]
    return (math.isnan(cost), cost, choice.suppressed)


def with_k(guarantee: Guarantee, k: int) -> Guarantee:
    """Return a guarantee with another k in place of its k-anonymity.

    >>> from discreet.guarantees import DistinctDiversity, KAnonymity
    >>> with_k(KAnonymity(5) & DistinctDiversity(2), 10)
    KAnonymity(k=10) & DistinctDiversity(l=2)
    """
    if isinstance(guarantee, AllOf):
        return together(tuple(with_k(part, k) for part in guarantee.parts))
    return KAnonymity(k) if isinstance(guarantee, KAnonymity) else guarantee


def _choices(
    lattice: Lattice, guarantee: Guarantee, looks: Mapping[str, _Look], share: float, top: int
) -> list[ExploredMethod]:
    """Put together the best nodes of all measures."""
    limit = allowed_rows(share, lattice.table.n_rows)
    ranks: dict[Node, dict[str, int]] = {}
    for measure, look in looks.items():
        for rank, node in enumerate(look.best(limit, top), start=1):
            ranks.setdefault(node, {})[measure] = rank
    return [_choice(lattice, guarantee, looks, node, ranks[node]) for node in ranks]


def _choice(
    lattice: Lattice, guarantee: Guarantee, looks: Mapping[str, _Look], node: Node, ranks: Mapping[str, int]
) -> ExploredMethod:
    groups, _, _ = lattice.groups(node)
    keeping = kept_groups(guarantee, groups)
    n_kept = int(groups.sizes[keeping].sum())
    units = lattice.table.units
    sizes = (groups.sizes if units is None else units.counted(groups, ()).sizes)[keeping]
    costs = {measure: look.scorer.exact(node).cost for measure, look in looks.items()}
    return ExploredMethod(
        method="generalization",
        levels=lattice.levels(node),
        costs=costs,
        ranks=ranks,
        suppressed=lattice.table.n_rows - n_kept,
        classes=int(sizes.size),
        highest_risk=1 / int(sizes.min()),
        mean_risk=sizes.size / int(sizes.sum()),
    )
