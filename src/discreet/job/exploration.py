"""Exploring: the best nodes of a lattice under several promises, shares of suppression and measures, side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.params import FloatIn, IntIn, OneOf, require
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.guarantees.per_unit import counted_by_unit
from discreet.publish.lattice.anytime import Anytime
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.lattice.measures import MEASURES
from discreet.publish.lattice.scoring import Scorer, Visited
from discreet.publish.lattice.search import Search, score_all
from discreet.publish.tables.optimal_lattice import LARGEST_SEARCH
from discreet.publish.tables.suppression import allowed_rows, kept_groups

MOST_VISITED = 200_000
"""A lattice of more nodes is searched, not visited whole."""
_MOST_JUDGED = 5_000
"""As many nodes are visited where the guarantee must be asked about each."""


@dataclass(frozen=True)
class Choice:
    """A node, what it costs under every measure, what it suppresses, and how exposed it leaves people."""

    levels: Mapping[str, int]
    costs: Mapping[str, float]
    ranks: Mapping[str, int]
    suppressed: int
    classes: int
    highest_risk: float
    mean_risk: float

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data for JSON."""
        return {
            "levels": dict(self.levels),
            "costs": dict(self.costs),
            "ranks": dict(self.ranks),
            "suppressed": self.suppressed,
            "classes": self.classes,
            "risk": {"highest": self.highest_risk, "mean": self.mean_risk},
        }


@dataclass(frozen=True)
class Choices:
    """The best nodes that keep one promise with at most a share of the rows suppressed; none if there are none."""

    guarantee: Guarantee
    max_suppressed: float
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Exploration:
    """All choices side by side; ``whole`` tells whether every node was looked at."""

    n_rows: int
    n_nodes: int
    heights: Mapping[str, int]
    whole: bool
    parts: tuple[Choices, ...]


def explore(
    table: Table,
    guarantees: Sequence[Guarantee],
    *,
    shares: Sequence[float] = (0.0,),
    measures: Sequence[str] = ("loss",),
    top: int = 3,
    time_limit: float = 10.0,
) -> Exploration:
    """Find the best nodes for every promise, share and measure; nothing is published.

    Parameters
    ----------
    table
        The table.
    guarantees
        The promises to compare.
    shares
        The shares of rows that may be suppressed.
    measures
        What to minimize; every choice is told its cost under each.
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
        require("explore", "shares", share, FloatIn(0, 1))
    lattice = Lattice(table)
    parts: list[Choices] = []
    whole = True
    for guarantee in (counted_by_unit(one, table) for one in guarantees):
        guarantee.columns(table.schema.sensitive)
        looks = {
            measure: _Look.at(lattice, guarantee, measure, max(shares), time_limit) for measure in measures
        }
        whole &= all(look.whole for look in looks.values())
        parts += [_choices(lattice, guarantee, looks, share, top) for share in shares]
    heights = {name: tree.height for name, tree in zip(lattice.names, lattice.trees, strict=True)}
    return Exploration(table.n_rows, lattice.n_nodes, heights, whole, tuple(parts))


@dataclass(frozen=True)
class _Look:
    """The nodes that were looked at under one promise and one measure."""

    scorer: Scorer
    visited: Visited
    whole: bool

    @classmethod
    def at(
        cls, lattice: Lattice, guarantee: Guarantee, measure: str, share: float, time_limit: float
    ) -> _Look:
        """Visit every node of a small lattice, or search for the best of a large one."""
        made = MEASURES[measure](lattice, _weights(lattice), "mean")
        scorer = Scorer(lattice, guarantee, made, allowed_rows(share, lattice.table.n_rows))
        at_once = guarantee.by_size and scorer.is_packed and made.relaxed_is_exact
        if lattice.n_nodes <= (MOST_VISITED if at_once else _MOST_JUDGED):
            return cls(scorer, score_all(scorer), True)
        deadline = time.monotonic() + time_limit
        if lattice.n_nodes <= LARGEST_SEARCH:
            Search(scorer, deadline=deadline).best()
        else:
            Anytime(scorer, deadline=deadline, rng=np.random.default_rng(0)).best()
        return cls(scorer, scorer.visited(), False)

    def best(self, limit: int, top: int) -> list[Node]:
        """Return the best nodes that suppress at most so many rows."""
        seen = self.visited
        fits = np.flatnonzero(seen.feasible & seen.exact & (seen.suppressed <= limit))
        order = fits[np.lexsort((seen.levels[fits].sum(axis=1), seen.cost[fits]))][:top]
        return [tuple(levels) for levels in seen.levels[order].tolist()]


def _choices(
    lattice: Lattice, guarantee: Guarantee, looks: Mapping[str, _Look], share: float, top: int
) -> Choices:
    """Put together the best nodes of all measures, those that several share first."""
    limit = allowed_rows(share, lattice.table.n_rows)
    ranks: dict[Node, dict[str, int]] = {}
    for measure, look in looks.items():
        for rank, node in enumerate(look.best(limit, top), start=1):
            ranks.setdefault(node, {})[measure] = rank
    order = sorted(ranks, key=lambda node: (min(ranks[node].values()), -len(ranks[node]), node))
    return Choices(
        guarantee, share, tuple(_choice(lattice, guarantee, looks, node, ranks[node]) for node in order)
    )


def _choice(
    lattice: Lattice, guarantee: Guarantee, looks: Mapping[str, _Look], node: Node, ranks: Mapping[str, int]
) -> Choice:
    groups, _, _ = lattice.groups(node)
    held = kept_groups(guarantee, groups)
    kept = int(groups.sizes[held].sum())
    units = lattice.table.units
    sizes = (groups.sizes if units is None else units.counted(groups, ()).sizes)[held]
    costs = {measure: look.scorer.exact(node).cost for measure, look in looks.items()}
    return Choice(
        levels=lattice.levels(node),
        costs=costs,
        ranks=ranks,
        suppressed=lattice.table.n_rows - kept,
        classes=int(sizes.size),
        highest_risk=1 / int(sizes.min()),
        mean_risk=sizes.size / int(sizes.sum()),
    )


def _weights(lattice: Lattice) -> FloatArray:
    weights = np.array([lattice.table.schema[name].weight for name in lattice.names], np.float64)
    return np.asarray(weights / weights.max(), np.float64)
