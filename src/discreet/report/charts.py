"""Charts of the reports: Vega-Lite specifications made with Altair, in the colors of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.percentages import percent
from discreet.report.blocks import Figure, Table
from discreet.report.distributions import Bars
from discreet.report.nodes import Nodes
from discreet.report.theme import PAGE, altair_chart, page_chart

BEFORE, AFTER = "before", "after"
_SHARE = "share of rows"
_FEW_NODES = 300
"""Up to this number of nodes their dots are larger."""
_MAX_VERTICAL = 14
_POWERS = {"format": ",", "values": [10**power for power in range(16)]}
_NODE_LEGEND = {"title": None, "orient": "top", "symbolSize": 90, "symbolType": "circle", "offset": 14}
_NODE_KINDS: dict[str, dict[str, Any]] = {
    "breaks the guarantee": {"color": PAGE["before"], "opacity": 0.5},
    "keeps the guarantee": {"color": PAGE["after"], "opacity": 0.5},
    "minimal": {"color": PAGE["ink"], "opacity": 0.6},
    "chosen": {"color": PAGE["mark"], "opacity": 1.0, "shape": "diamond"},
}
"""The kinds of lattice nodes in the order of their numbers, and how they are drawn."""


def class_size_bins(k: int, largest: int) -> IntArray:
    """Return where the bins of class sizes start: unique, below k, and from k on in growing steps."""
    starts = {1, 2, k}
    step = max(k, 2)
    for factor in (2, 5, 10, 20, 50, 100, 1000):
        if step * factor <= largest:
            starts.add(step * factor)
    return np.array(sorted(starts))


def shares_by_class_size(sizes: IntArray, starts: IntArray) -> FloatArray:
    """Return the share of rows or people in classes of each bin of sizes."""
    bin_ = np.searchsorted(starts, sizes, side="right") - 1
    found = np.bincount(bin_, weights=sizes, minlength=starts.size)
    return np.asarray(found / max(found.sum(), 1))


def class_size_labels(starts: IntArray) -> tuple[str, ...]:
    """Return the bins of class sizes as text."""
    inner = [f"{low:,}" if high - low == 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(starts)]
    return (*inner, f"{starts[-1]:,} or more")


def class_sizes(labels: Sequence[str], before: FloatArray, after: FloatArray, *, unit: str) -> dict[str, Any]:
    """Draw how many rows or people are in classes of each size, before and after."""
    description = f"Share of {unit} by the size of their class, before and after."
    return _vertical(_pairs(labels, before, after), description, 240, title=f"{unit} in the class", unit=unit)


def share_figure(
    title: str,
    head: tuple[str, str],
    labels: Sequence[str],
    shares: Sequence[float] | FloatArray,
    *,
    text: str = "",
) -> Figure:
    """Return one bar for each label, from 0 to 100%, with the table behind it; ``head`` names labels and shares."""
    import altair as alt

    rows = [{"bar": label, "share": round(float(one), 6)} for label, one in zip(labels, shares, strict=True)]
    name, unit = head
    base = altair_chart(rows).encode(
        y=_category(alt),
        x=alt.X(
            "share:Q",
            title=unit.lower(),
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5),
        ),
        tooltip=[alt.Tooltip("bar:N", title=name), alt.Tooltip("share:Q", title=unit, format=".1%")],
    )
    bars = base.mark_bar(color=PAGE["after"], cornerRadiusEnd=3, height={"band": 0.62})
    values = base.mark_text(align="left", dx=6, color=PAGE["soft"]).encode(
        text=alt.Text("share:Q", format=".1%")
    )
    spec = page_chart(bars + values, height=34 * len(rows) + 10, description=f"{title}: {unit.lower()}.")
    return Figure(title, text, spec, Table(head, share_rows(labels, shares)))


def share_rows(labels: Iterable[str], *shares: Iterable[float]) -> list[tuple[str, ...]]:
    """Return rows of labels with their shares in percent.

    >>> share_rows(["a", "b"], [0.5, 0.25])
    [('a', '50%'), ('b', '25%')]
    """
    return list(zip(labels, *(map(percent, one) for one in shares), strict=True))


def distribution(bars: Bars) -> dict[str, Any]:
    """Draw the distribution of a column before and after."""
    rows = _pairs(bars.labels, bars.before, bars.after)
    description = f"Share of rows by {bars.column}, before and after."
    if bars.line and len(bars.labels) <= _MAX_VERTICAL:
        return _vertical(rows, description, 210)
    return _horizontal(rows, description)


def sensitive(bars: Bars) -> dict[str, Any]:
    """Draw each value's share in the whole release, and a mark at its largest share in any class."""
    import altair as alt

    rows = [
        {"bar": label, "share": float(share), "highest": float(highest)}
        for label, share, highest in zip(bars.labels, bars.before, bars.after, strict=True)
    ]
    base = altair_chart(rows).encode(
        y=_category(alt),
        tooltip=[
            alt.Tooltip("bar:N", title="value"),
            alt.Tooltip("share:Q", title="in the release", format=".1%"),
            alt.Tooltip("highest:Q", title="highest in a class", format=".1%"),
        ],
    )
    x = {"title": _SHARE, "axis": alt.Axis(format="%", tickCount=5), "scale": alt.Scale(domainMin=0)}
    bar = base.mark_bar(color=PAGE["after"], cornerRadiusEnd=2, height={"band": 0.6}).encode(
        x=alt.X("share:Q", **x)
    )
    reach = base.mark_rule(color=PAGE["mark"], strokeDash=[2, 3], opacity=0.7).encode(
        x=alt.X("share:Q", **x), x2="highest:Q"
    )
    mark = base.mark_tick(color=PAGE["mark"], thickness=2.5, height={"band": 0.6}).encode(
        x=alt.X("highest:Q", **x)
    )
    description = f"Share of rows by {bars.column} in the release, and the highest share in any class."
    return page_chart(reach + bar + mark, height=24 * len(rows) + 10, description=description)


def lattice(nodes: Nodes, measure: str) -> dict[str, Any]:
    """Draw every node by its risk and its cost; the minimal nodes and the chosen one stand out."""
    import altair as alt

    columns = [f"datum.l[{at}] + ' of {height}'" for at, height in enumerate(nodes.heights)]
    base = altair_chart(_points(nodes)).transform_calculate(
        **{f"c{at}": one for at, one in enumerate(columns)}
    )
    wide = nodes.cost.min() > 0 and nodes.cost.max() > 1000 * nodes.cost.min()
    colors = alt.Scale(domain=list(_NODE_KINDS), range=[look["color"] for look in _NODE_KINDS.values()])
    powers = alt.Axis(format="~%", values=[10.0**power for power in range(-9, 1)])
    base = base.encode(
        x=alt.X("r:Q", title="mean risk", scale=alt.Scale(type="log", nice=True), axis=powers),
        y=alt.Y(
            "c:Q",
            title=measure.lower(),
            scale=alt.Scale(type="log" if wide else "linear", zero=False, nice=True),
            axis=alt.Axis(**_POWERS) if wide else alt.Axis(tickCount=6),
        ),
        color=alt.Color("kind:N", scale=colors, legend=alt.Legend(**_NODE_LEGEND)),
        tooltip=_node_tooltip(nodes, measure),
    )
    larger = 4 if nodes.kind.size <= _FEW_NODES else 1
    layers = [
        base.transform_filter(alt.datum.kind == kind).mark_point(
            filled=True, **look, size=230 if kind == "chosen" else 16 * larger
        )
        for kind, look in _NODE_KINDS.items()
    ]
    only = alt.selection_point(name="only", fields=["kind"], bind="legend")
    move = alt.selection_interval(name="move", bind="scales", zoom="wheel![event.shiftKey]")
    layers[0] = layers[0].add_params(only, move)
    description = (
        f"{measure} of the nodes of the lattice by mean risk, with the minimal nodes and the chosen one."
    )
    return page_chart(alt.layer(*layers).transform_filter(only), height=420, description=description)


def _points(nodes: Nodes) -> list[dict[str, Any]]:
    kinds = list(_NODE_KINDS)
    return [
        {
            "kind": kinds[kind],
            "r": float(f"{risk:.4g}"),
            "c": float(f"{cost:.5g}"),
            "s": round(left_out, 5),
            "l": levels,
        }
        for kind, risk, cost, left_out, levels in zip(
            *(one.tolist() for one in (nodes.kind, nodes.risk, nodes.cost, nodes.left_out, nodes.levels)),
            strict=True,
        )
    ]


def _node_tooltip(nodes: Nodes, measure: str) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("kind:N", title="node"),
        *(alt.Tooltip(f"c{at}:N", title=name) for at, name in enumerate(nodes.names)),
        alt.Tooltip("c:Q", title=measure.lower(), format=",.4~r"),
        alt.Tooltip("r:Q", title="mean risk", format=".3~%"),
        alt.Tooltip("s:Q", title="rows suppressed", format=".2~%"),
    ]


def _pairs(labels: Sequence[str], before: FloatArray, after: FloatArray) -> list[dict[str, Any]]:
    return [
        {"bar": label, "when": when, "share": round(float(share), 6)}
        for label, *shares in zip(labels, before, after, strict=True)
        for when, share in zip((BEFORE, AFTER), shares, strict=True)
    ]


def _vertical(
    rows: list[dict[str, Any]], description: str, height: int, *, title: str | None = None, unit: str = "rows"
) -> dict[str, Any]:
    import altair as alt

    angle = 0 if title else -40
    chart = _colored(altair_chart(rows).mark_bar(cornerRadiusEnd=2)).encode(
        x=alt.X("bar:N", sort=None, title=title, axis=alt.Axis(labelAngle=angle, labelOverlap=False)),
        xOffset=alt.XOffset("when:N", sort=[BEFORE, AFTER]),
        y=alt.Y("share:Q", title=f"share of {unit}", axis=alt.Axis(format="%", tickCount=4)),
    )
    return page_chart(chart, height=height, description=description)


def _horizontal(rows: list[dict[str, Any]], description: str) -> dict[str, Any]:
    import altair as alt

    chart = _colored(altair_chart(rows).mark_bar(cornerRadiusEnd=2)).encode(
        y=_category(alt),
        yOffset=alt.YOffset("when:N", sort=[BEFORE, AFTER]),
        x=alt.X("share:Q", title=_SHARE, axis=alt.Axis(format="%", tickCount=4)),
    )
    return page_chart(chart, height=max(15 * len(rows), 60), description=description)


def _category(alt: Any) -> Any:
    return alt.Y("bar:N", sort=None, title=None, axis=alt.Axis(labelLimit=170))


def _colored(chart: Any) -> Any:
    import altair as alt

    return chart.encode(
        color=alt.Color(
            "when:N",
            scale=alt.Scale(domain=[BEFORE, AFTER], range=[PAGE["before"], PAGE["after"]]),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("bar:N", title="group"),
            alt.Tooltip("when:N", title="when"),
            alt.Tooltip("share:Q", title="share", format=".1%"),
        ],
    )
