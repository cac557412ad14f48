"""The cost of a release: loss of detail by column, and the other nodes of the lattice."""

from __future__ import annotations

import numpy as np

from discreet.core.percentages import percent
from discreet.core.release import Release
from discreet.kinds import charts
from discreet.kinds.blocks import Figure, Section, TableBlock
from discreet.kinds.formatting import counted, number
from discreet.kinds.sections.nodes import BORDER, CHOSEN, Nodes, nodes_of
from discreet.measure import Loss

_LISTED = 15


def cost(loss: Loss) -> Section:
    """Return the loss by column and in total."""
    columns = sorted(loss.columns, key=lambda name: -loss.columns[name])
    measures = [
        ("Generalized loss, mean of the columns", percent(loss.total)),
        ("Non-uniform entropy lost", percent(loss.entropy.total_normalized)),
        ("Discernibility", number(loss.discernibility)),
        ("Average class size", number(loss.average_class_size)),
        ("Rows suppressed", f"{loss.suppressed:,}"),
    ]
    if loss.precision is not None:
        measures.insert(2, ("Generalization levels used, of all", percent(loss.precision)))
    return Section(
        "cost",
        "Loss of detail",
        "How much detail each quasi-identifier lost: 0% is exact values, 100% is no information.",
        [
            charts.share_figure(
                "Loss by column",
                ("Column", "Loss"),
                columns,
                [loss.columns[name] for name in columns],
            ),
            TableBlock(("Measure", "Value"), measures, "Total loss"),
        ],
    )


def lattice(release: Release) -> Section | None:
    """Return the nodes of the lattice by cost and risk, with the border and the chosen node."""
    nodes = nodes_of(release)
    if nodes is None:
        return None
    measure = nodes.measure.replace("_", " ").capitalize()
    return Section(
        "lattice",
        "Other generalizations",
        _described(nodes),
        [
            Figure(
                f"{measure} by mean risk",
                "Hover over a node for its levels; click a legend entry to see only that kind; drag to move, scroll "
                "with Shift to zoom, double-click to reset.",
                chart=charts.LatticeNodes(nodes, measure),
                table=TableBlock(("Levels", measure, "Mean risk", "Suppressed"), _rows(nodes)),
            )
        ],
    )


def _described(nodes: Nodes) -> str:
    evaluated = (
        f"All {counted(nodes.n_nodes, 'node')} of the lattice were evaluated"
        if nodes.n_seen >= nodes.n_nodes
        else f"{counted(nodes.n_seen, 'node')} of {nodes.n_nodes:,} were evaluated, enough to find the best"
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
