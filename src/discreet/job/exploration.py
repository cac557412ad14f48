"""Exploring: the best ways of all methods to keep several guarantees, under several shares of suppression."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.core.errors import InfeasibleError, SchemaError
from discreet.core.params import FloatIn, IntIn, OneOf, require
from discreet.core.registry import METHODS, Method, methods
from discreet.core.tables.table import Table
from discreet.guarantees import AllOf, Guarantee, KAnonymity
from discreet.guarantees.constructed import together
from discreet.guarantees.per_unit import fitted
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
    """All choices side by side; ``whole`` says whether every node of the lattice was looked at.

    ``untried`` names the methods that were not tried under every guarantee, for want of time or because somebody
    stopped; ``n_left`` is the number of steps that were still to come. ``seen`` are the nodes that were looked at under
    the first guarantee and measure, each with the rows suppressed that the largest share allows.
    """

    n_rows: int
    n_nodes: int
    heights: Mapping[str, int]
    whole: bool
    parts: tuple[ExploredMethods, ...]
    untried: tuple[str, ...] = ()
    n_left: int = 0
    seen: Visited | None = field(default=None, compare=False, repr=False)


def explore(
    table: Table,
    guarantees: Sequence[Guarantee],
    *,
    shares: Sequence[float] = (0.0,),
    measures: Sequence[str] = ("loss",),
    top: int = 3,
    time_limit: float = 60.0,
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
        Seconds for all methods and guarantees together. Searches share what is left of it, and methods that are not
        begun in it are named in ``untried``. Where a lattice is too large to visit whole, only the best node of a
        measure is the best of all that was found; those after it are the best that were looked at.
    """
    options: dict[str, Any] = {"shares": shares, "measures": measures, "top": top, "time_limit": time_limit}
    *_, last = explorations(table, guarantees, **options)
    return last


def explorations(
    table: Table,
    guarantees: Sequence[Guarantee],
    *,
    shares: Sequence[float],
    measures: Sequence[str],
    top: int,
    time_limit: float,
) -> Iterator[Exploration]:
    """Return what is known before the first method and after each: whoever stops in between has a partial answer.

    The quickest method comes first, then the levels of whole columns, then the methods that search.
    """
    require("explore", "top", top, IntIn(1))
    require("explore", "time_limit", time_limit, FloatIn(0, closed="neither"))
    for measure in measures:
        require("explore", "measures", measure, OneOf(tuple(MEASURES)))
    for share in shares:
        require("explore", "shares", share, *SUPPRESSIBLE)
    lattice = Lattice(table)
    counted = [fitted(guarantee, table) for guarantee in guarantees]
    for guarantee in counted:
        guarantee.columns(table.schema.sensitive)
    steps = [(name, at) for name in _in_turn() for at in range(len(counted))]
    results: dict[tuple[int, int], list[ExploredMethod]] = {}
    deadline, is_whole = time.monotonic() + time_limit, True
    late: list[tuple[str | None, int]] = []
    seen: Visited | None = None
    for done, (name, at) in enumerate([(None, -1), *steps]):
        left = deadline - time.monotonic()
        if at >= 0 and left <= 0 and results:
            late.append((name, at))
            continue
        limit = max(left, 0.001) / (len(steps) - done + 1)
        found: list[list[ExploredMethod]] = []
        if at >= 0 and name is None:
            found, looks = _levels(lattice, counted[at], measures, shares, top, limit)
            is_whole &= all(look.whole for look in looks)
            seen = seen or looks[0].visited
        elif name is not None:
            found = _rows_of(table, counted[at], METHODS[name], measures, shares, limit)
        for number, of_share in enumerate(found):
            results.setdefault((at, number), []).extend(of_share)
        untried = [missing for missing, _ in (*late, *steps[done:])]
        state = _exploration(lattice, counted, shares, measures[0], results, untried, whole=is_whole)
        yield replace(state, seen=seen)
    if late:
        untried = [missing for missing, _ in late]
        state = _exploration(lattice, counted, shares, measures[0], results, untried, whole=is_whole)
        yield replace(state, n_left=0, seen=seen)


def _exploration(
    lattice: Lattice,
    guarantees: Sequence[Guarantee],
    shares: Sequence[float],
    measure: str,
    results: Mapping[tuple[int, int], Sequence[ExploredMethod]],
    untried: Sequence[str | None],
    *,
    whole: bool,
) -> Exploration:
    """Put together what is known; results lie by the numbers of their guarantee and share."""
    parts = [
        ExploredMethods(
            guarantee,
            share,
            tuple(sorted(results.get((at, number), ()), key=lambda choice: _in_order(choice, measure))),
        )
        for at, guarantee in enumerate(guarantees)
        for number, share in enumerate(shares)
    ]
    return Exploration(
        lattice.table.n_rows,
        lattice.n_nodes,
        {name: tree.height for name, tree in zip(lattice.names, lattice.trees, strict=True)},
        whole and None not in untried,
        tuple(parts),
        tuple(dict.fromkeys(name or "generalization" for name in untried)),
        len(untried),
    )


def _in_turn() -> list[str | None]:
    """Return the methods that recode row by row and publish a table, in turn; None stands for levels of whole columns.

    Those that search come last, so that the others are known soon.
    """
    known = [method for method in methods(role="publisher", takes="table") if "table" in method.makes]
    by_row = [method for method in known if not method.whole_columns]
    by_row.sort(key=lambda method: ("time_limit" in method.options(), method.name != "mondrian"))
    first, *rest = (method.name for method in by_row)
    return [first, None, *rest]


def _levels(
    lattice: Lattice,
    guarantee: Guarantee,
    measures: Sequence[str],
    shares: Sequence[float],
    top: int,
    limit: float,
) -> tuple[list[list[ExploredMethod]], list[_Look]]:
    """Return the best levels of whole columns for each share, and what was looked at for each measure."""
    most = max(allowed_rows(share, lattice.table.n_rows) for share in shares)
    each = limit / len(measures)
    looks = {measure: _Look.at(lattice, guarantee, measure, most, each) for measure in measures}
    found = [_choices(lattice, guarantee, looks, share, top) for share in shares]
    return found, list(looks.values())


def _rows_of(
    table: Table,
    guarantee: Guarantee,
    method: Method,
    measures: Sequence[str],
    shares: Sequence[float],
    limit: float,
) -> list[list[ExploredMethod]]:
    """Return what a method reaches for each share; one that leaves no row out runs once."""
    options = method.options()
    if "max_suppressed" not in options:
        choice = _choice_of(table, method, method.make(guarantee), measures)
        return [[] if choice is None else [choice] for _ in shares]
    found = []
    for share in shares:
        limits = {"max_suppressed": share, "time_limit": limit / len(shares)}
        chosen = {name: value for name, value in limits.items() if name in options}
        choice = _choice_of(table, method, method.make(guarantee, **chosen), measures)
        found.append([] if choice is None else [choice])
    return found


def _choice_of(
    table: Table, method: Method, publisher: Any, measures: Sequence[str]
) -> ExploredMethod | None:
    """Return what a publisher makes of a table; None where it keeps no guarantee."""
    try:
        release = publisher.release(table)
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
        method=method.name,
        levels=None,
        costs={measure: costs.get(measure, math.nan) for measure in measures},
        ranks={},
        suppressed=release.evidence.suppressed,
        classes=left.n_classes,
        highest_risk=left.prosecutor.highest,
        mean_risk=left.prosecutor.mean,
    )


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
