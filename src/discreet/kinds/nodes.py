"""Nodes: what a search saw of a lattice, brought down to as many points as a picture can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.release import Release
from discreet.guarantees import Guarantee
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.lattice.measures import MEASURES, Dropped, NodeMeasure
from discreet.publish.lattice.scoring import Scorer, Visited
from discreet.publish.lattice.search import score_all
from discreet.publish.tables.suppression import allowed_rows

BREAKS, KEEPS, BORDER, CHOSEN = range(4)
_MOST = {BREAKS: 300, KEEPS: 1_500, BORDER: 1_000}
_MOST_VISITED, _MOST_TUPLES = 20_000, 100_000
_MOST_GROUPED = 5_000_000
"""The most rows that are grouped to compute the cost of nodes that break the guarantee."""


@dataclass(frozen=True, repr=False)
class Nodes:
    """Points of the picture, the chosen one last: levels, cost, mean risk, share left out, and what kind each is.

    Nodes that break the promise have the cost and the risk they would have with every row published.
    """

    names: tuple[str, ...]
    heights: tuple[int, ...]
    measure: str
    levels: IntArray
    cost: FloatArray
    risk: FloatArray
    left_out: FloatArray
    kind: IntArray
    n_seen: int
    n_nodes: int
    n_keeping: int
    n_border: int


def nodes_of(release: Release) -> Nodes | None:
    """Return the nodes behind a release; None where it has none."""
    details = release.evidence.details
    seen, levels = details.get("visited"), release.evidence.levels
    if not isinstance(seen, Visited) or levels is None or not seen.cost.size:
        return None
    given = release.recipe.get("parameters", {})
    lattice = Lattice(release.original, lowest=given.get("lowest"), highest=given.get("highest"))
    measure = _measure(given, lattice, str(details["measure"]))
    seen = _completed(release, lattice, measure, seen)
    kind = np.where(seen.feasible, KEEPS, BREAKS)
    kind[border_of(seen)] = BORDER
    n_border = int((kind == BORDER).sum())
    kind[(seen.levels == [levels[name] for name in seen.names]).all(axis=1)] = CHOSEN
    at = np.concatenate([_sampled(seen, kind, lattice.table.tuples.counts.size, one) for one in range(4)])
    rows = lattice.table.n_rows
    cost, kept = seen.cost[at], rows - seen.suppressed[at]
    risk = np.divide(seen.classes[at], kept, out=np.ones(at.size), where=kept > 0)
    left_out = seen.suppressed[at] / rows
    for place in np.flatnonzero(kind[at] == BREAKS):
        cost[place], risk[place] = _unsuppressed(lattice, measure, tuple(seen.levels[at[place]].tolist()))
    return Nodes(
        names=seen.names,
        heights=tuple(tree.height for tree in lattice.trees),
        measure=str(details["measure"]),
        levels=seen.levels[at],
        cost=cost,
        risk=risk,
        left_out=left_out,
        kind=kind[at],
        n_seen=seen.cost.size,
        n_nodes=lattice.n_nodes,
        n_keeping=int(seen.feasible.sum()),
        n_border=n_border,
    )


def border_of(seen: Visited) -> BoolArray:
    """Find the minimal nodes: those that keep the promise, while none seen one step below does."""
    dims = [int(one) + 1 for one in seen.levels.max(axis=0)]
    strides = np.array([int(np.prod(dims[column + 1 :], dtype=np.int64)) for column in range(len(dims))])
    numbers = seen.levels @ strides
    keeping = numbers[seen.feasible]
    minimal = seen.feasible.copy()
    for column, stride in enumerate(strides):
        minimal &= ~((seen.levels[:, column] > 0) & np.isin(numbers - stride, keeping))
    return np.asarray(minimal)


def _sampled(seen: Visited, kind: IntArray, n_tuples: int, wanted: int) -> IntArray:
    """Choose nodes of a kind, spread evenly over their costs, or over their heights where they have none."""
    at = np.flatnonzero(kind == wanted)
    most = _MOST.get(wanted, at.size)
    if wanted == BREAKS:
        most = min(most, max(_MOST_GROUPED // max(n_tuples, 1), 20))
        at = at[np.lexsort((seen.suppressed[at], seen.levels[at].sum(axis=1)))]
    else:
        at = at[np.argsort(seen.cost[at], kind="stable")]
    if at.size > most:
        at = at[np.unique(np.linspace(0, at.size - 1, most).astype(np.int64))]
    return at


def _measure(given: Mapping[str, Any], lattice: Lattice, name: str) -> NodeMeasure:
    own = given.get("weights") or {}
    schema = lattice.table.schema
    weights = np.array([schema[column].weight * own.get(column, 1.0) for column in lattice.names])
    return MEASURES[name](lattice, weights / weights.max(), given.get("aggregate", "mean"))


def _completed(release: Release, lattice: Lattice, measure: NodeMeasure, seen: Visited) -> Visited:
    """Visit the nodes that the search had no need to look at, where that takes a moment only."""
    guarantee = release.guarantee
    small = lattice.n_nodes <= _MOST_VISITED and lattice.table.tuples.counts.size <= _MOST_TUPLES
    if seen.cost.size >= lattice.n_nodes or not small or not isinstance(guarantee, Guarantee):
        return seen
    share = release.recipe.get("parameters", {}).get("max_suppressed", 0.0)
    scorer = Scorer(lattice, guarantee, measure, allowed_rows(share, lattice.table.n_rows))
    if not (guarantee.by_size and scorer.is_packed and measure.relaxed_is_exact):
        return seen
    return score_all(scorer)


def _unsuppressed(lattice: Lattice, measure: NodeMeasure, node: tuple[int, ...]) -> tuple[float, float]:
    """Return what a node would cost, and its mean risk, with every row published."""
    groups, _, codes = lattice.groups(node)
    none = Dropped(np.empty(0, np.int64), [column[:0] for column in codes])
    return measure.exact(node, none, groups.sizes), groups.n_groups / groups.n_rows
