"""Nodes: what a search saw of a lattice, brought down to as many points as a picture can show, and their section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.release import Release
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.kernels.tables.grouping import distinct, pack
from discreet.kinds.blocks import Figure, LatticeNodes, Section, TableBlock
from discreet.kinds.wording import counted, number, percent
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.lattice.measures import Dropped, NodeMeasure
from discreet.publish.lattice.objectives import node_measure
from discreet.publish.lattice.scoring import Scorer, Visited
from discreet.publish.lattice.search import score_all
from discreet.publish.tables.publisher import allowed_rows

BREAKS, KEEPS, BORDER, CHOSEN = range(4)
_MOST = {BREAKS: 150, KEEPS: 1_500, BORDER: 1_000}
_MOST_VISITED, _MOST_TUPLES = 20_000, 100_000
_LISTED = 15
_MOST_GROUPED = 5_000_000
"""The most rows that are grouped to compute the cost of nodes that break the guarantee."""


@dataclass(frozen=True, repr=False)
class Nodes:
    """Points of the picture, the chosen one last: levels, cost, mean risk, share left out, and what kind each is.

    Nodes that break the guarantee have the cost and the risk they would have with every row published.
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
    visited, levels = details.get("visited"), release.evidence.levels
    if not isinstance(visited, Visited) or levels is None or not visited.cost.size:
        return None
    parameters = release.recipe.get("parameters", {})
    lattice = Lattice(release.original, lowest=parameters.get("lowest"), highest=parameters.get("highest"))
    measure = _measure(parameters, lattice, str(details["measure"]))
    visited = _completed(release, lattice, measure, visited)
    return _nodes(lattice, measure, visited, str(details["measure"]), levels)


def nodes_seen(table: Table, visited: Visited, measure: str) -> Nodes | None:
    """Return the nodes that were looked at without a choice of one; None where there are none."""
    lattice = Lattice(table)
    return _nodes(lattice, _measure({}, lattice, measure), visited, measure) if visited.cost.size else None


def _nodes(
    lattice: Lattice,
    measure: NodeMeasure,
    visited: Visited,
    name: str,
    chosen: Mapping[str, int] | None = None,
) -> Nodes:
    kind = np.where(visited.feasible, KEEPS, BREAKS)
    kind[border_of(visited)] = BORDER
    n_border = int((kind == BORDER).sum())
    if chosen is not None:
        kind[(visited.levels == [chosen[name] for name in visited.names]).all(axis=1)] = CHOSEN
    at = np.concatenate(
        [_sampled(visited, kind, lattice.table.tuples.counts.size, number) for number in range(4)]
    )
    rows = lattice.table.n_rows
    cost, n_published = visited.cost[at], rows - visited.suppressed[at]
    # The mean over rows of 1 by the size of their class: as many as there are classes, by rows.
    risk = np.divide(visited.classes[at], n_published, out=np.ones(at.size), where=n_published > 0)
    left_out = visited.suppressed[at] / rows
    for position in np.flatnonzero(kind[at] == BREAKS):
        cost[position], risk[position] = _unsuppressed(
            lattice, measure, tuple(visited.levels[at[position]].tolist())
        )
    return Nodes(
        names=visited.names,
        heights=tuple(tree.height for tree in lattice.trees),
        measure=name,
        levels=visited.levels[at],
        cost=cost,
        risk=risk,
        left_out=left_out,
        kind=kind[at],
        n_seen=visited.cost.size,
        n_nodes=lattice.n_nodes,
        n_keeping=int(visited.feasible.sum()),
        n_border=n_border,
    )


def border_of(visited: Visited) -> BoolArray:
    """Find the minimal nodes: those that keep the guarantee, while none seen one step below does."""
    dims = [int(highest) + 1 for highest in visited.levels.max(axis=0)]
    # Nodes as numbers in mixed radix: one level less in a column is one stride less.
    strides = np.array([int(np.prod(dims[column + 1 :], dtype=np.int64)) for column in range(len(dims))])
    numbers = visited.levels @ strides
    keeping = numbers[visited.feasible]
    minimal = visited.feasible.copy()
    for column, stride in enumerate(strides):
        minimal &= ~((visited.levels[:, column] > 0) & np.isin(numbers - stride, keeping))
    return np.asarray(minimal)


def _sampled(visited: Visited, kind: IntArray, n_tuples: int, number: int) -> IntArray:
    """Choose nodes of a kind, spread evenly over their costs, or over their heights where they have none."""
    at = np.flatnonzero(kind == number)
    most = _MOST.get(number, at.size)
    if number == BREAKS:
        most = min(most, max(_MOST_GROUPED // max(n_tuples, 1), 20))
        at = at[np.lexsort((visited.suppressed[at], visited.levels[at].sum(axis=1)))]
    else:
        at = at[np.argsort(visited.cost[at], kind="stable")]
    if at.size > most:
        at = at[np.unique(np.linspace(0, at.size - 1, most).astype(np.int64))]
    return at


def _measure(options: Mapping[str, Any], lattice: Lattice, name: str) -> NodeMeasure:
    factors = options.get("weights") or {}
    schema = lattice.table.schema
    weights = np.array([schema[column].weight * factors.get(column, 1.0) for column in lattice.names])
    how, factor = options.get("aggregate", "mean"), options.get("suppression_factor", 0.5)
    target = options.get("target")
    return node_measure(name, lattice, weights / weights.max(), how, factor=factor, target=target)


def _completed(release: Release, lattice: Lattice, measure: NodeMeasure, visited: Visited) -> Visited:
    """Visit the nodes that the search had no need to look at, where that takes a moment only."""
    guarantee = release.guarantee
    small = lattice.n_nodes <= _MOST_VISITED and lattice.table.tuples.counts.size <= _MOST_TUPLES
    if visited.cost.size >= lattice.n_nodes or not small or not isinstance(guarantee, Guarantee):
        return visited
    share = release.recipe.get("parameters", {}).get("max_suppressed", 0.0)
    scorer = Scorer(lattice, guarantee, measure, allowed_rows(share, lattice.table.n_rows))
    by_size = guarantee.by_size and "starred" not in release.evidence.details
    if not (by_size and scorer.is_packed and measure.relaxed_is_exact):
        return visited
    return score_all(scorer)


def _unsuppressed(lattice: Lattice, measure: NodeMeasure, node: tuple[int, ...]) -> tuple[float, float]:
    """Return what a node would cost, and its mean risk, with every row published."""
    # Sizes are all that costs and mean risk need: no sensitive value is counted.
    codes = [lattice.codes(column, level) for column, level in enumerate(node)]
    cards = [lattice.card(column, level) for column, level in enumerate(node)]
    _, _, sizes = distinct(pack(codes, cards), lattice.table.tuples.counts)
    none = Dropped(np.empty(0, np.int64), [column[:0] for column in codes])
    return measure.exact(node, none, sizes), sizes.size / lattice.table.n_rows


def lattice(release: Release) -> Section | None:
    """Return the nodes of the lattice by cost and risk, with the border and the chosen node."""
    nodes = nodes_of(release)
    return None if nodes is None else lattice_section(nodes, "Other generalizations")


def lattice_section(nodes: Nodes, title: str, *, is_best_known: bool = True) -> Section:
    """Return nodes by cost and risk; ``is_best_known`` says that no node is better than the best of them."""
    measure = nodes.measure.replace("_", " ").capitalize()
    return Section(
        "lattice",
        title,
        _described(nodes, ", enough to find the best" if is_best_known else ""),
        [
            Figure(
                f"{measure} by mean risk",
                "Hover over a node for its levels; click a legend entry to see only that kind; drag to move, scroll "
                "with Shift to zoom, double-click to reset.",
                chart=LatticeNodes(nodes, measure),
                table=TableBlock(("Levels", measure, "Mean risk", "Suppressed"), _rows(nodes)),
            )
        ],
    )


def _described(nodes: Nodes, why: str) -> str:
    evaluated = (
        f"All {counted(nodes.n_nodes, 'node')} of the lattice were evaluated"
        if nodes.n_seen >= nodes.n_nodes
        else f"{counted(nodes.n_seen, 'node')} of {nodes.n_nodes:,} were evaluated{why}"
    )
    n_points = nodes.kind.size
    sampled = f" An even sample of {n_points:,} is shown." if n_points < nodes.n_seen else ""
    return (
        f"A node generalizes every column to one level of its hierarchy. {evaluated}; {nodes.n_keeping:,} keep the "
        f"guarantee, {nodes.n_border:,} of them minimal: one level less in any column breaks it.{sampled} Risk falls "
        "to the left, cost falls downward. Nodes that break the guarantee are shown as if no row were suppressed."
    )


def _rows(nodes: Nodes) -> list[tuple[str, str, str, str]]:
    """Return the chosen node, and the minimal nodes of least cost."""
    border = np.flatnonzero(nodes.kind == BORDER)[:_LISTED]
    order = [*np.flatnonzero(nodes.kind == CHOSEN), *border]
    return [
        (
            ("Chosen: " if nodes.kind[at] == CHOSEN else "") + _levels(nodes, at),
            number(round(float(nodes.cost[at]), 4)),
            percent(float(nodes.risk[at])),
            percent(float(nodes.left_out[at])),
        )
        for at in order
    ]


def _levels(nodes: Nodes, at: int) -> str:
    pairs = zip(nodes.names, nodes.levels[at], nodes.heights, strict=True)
    return ", ".join(f"{name} {level}/{height}" for name, level, height in pairs)
