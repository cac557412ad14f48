"""The trade-off: every node a search saw, its cost against its risk, on one picture."""

from __future__ import annotations

import numpy as np

from discreet.core.release import Release
from discreet.report import charts
from discreet.report.figures import Figures, counted, number, percent
from discreet.report.markup import Markup, tag
from discreet.report.nodes import BORDER, CHOSEN, Nodes, nodes_of

_LISTED = 15


def trade_off(release: Release, figures: Figures) -> Markup:
    """Show the lattice: the border, the chosen node, and cost against risk of every node."""
    nodes = nodes_of(release)
    if nodes is None:
        return Markup()
    return tag(
        "section",
        tag("h2", "Other ways to generalize", id="lattice-title"),
        tag("p", _told(nodes), class_="told"),
        figures.figure(
            f"{_named(nodes.measure)} against risk",
            charts.lattice(nodes, _named(nodes.measure)),
            "Point at a node for its levels; click an entry of the legend to see only that kind; drag to move, "
            "scroll with Shift held to zoom, double-click to go back.",
            ("Levels", _named(nodes.measure), "Mean risk", "Left out"),
            _rows(nodes),
        ),
        id="lattice",
        aria_labelledby="lattice-title",
    )


def _told(nodes: Nodes) -> str:
    seen = (
        f"All {counted(nodes.n_nodes, 'node')} of the lattice were looked at"
        if nodes.n_seen >= nodes.n_nodes
        else f"{counted(nodes.n_seen, 'node')} of {nodes.n_nodes:,} were looked at, which was enough to choose"
    )
    shown = nodes.kind.size
    sampled = f" Shown are {shown:,}, evenly chosen." if shown < nodes.n_seen else ""
    return (
        f"A node takes every column to one level of its hierarchy. {seen}. The promise is kept by {nodes.n_keeping:,}, "
        f"of which {nodes.n_border:,} on the border: one step down in any column breaks it.{sampled} Less risk is to "
        "the left, less cost further down. Nodes that break the promise are shown as if every row were published."
    )


def _named(measure: str) -> str:
    return measure.replace("_", " ").capitalize()


def _rows(nodes: Nodes) -> list[tuple[str, str, str, str]]:
    """List the chosen node, and the cheapest of the border."""
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
