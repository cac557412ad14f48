"""Charts: Vega-Lite specifications made with Altair, colored by the page so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.report.distributions import Bars
from discreet.report.nodes import Nodes

BEFORE, AFTER = "before", "after"
_INK, _SOFT, _LINE, _BEFORE, _AFTER, _MARK = (
    f"var(--{name})" for name in ("ink", "soft", "line", "before", "after", "mark")
)
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_MOST_UPRIGHT = 14
_POWERS = {"format": ",", "values": [10**power for power in range(16)]}
_NODE_LEGEND = {"title": None, "orient": "top", "symbolSize": 90, "symbolType": "circle", "offset": 14}
_NODE_KINDS: dict[str, dict[str, Any]] = {
    "breaks the promise": {"color": _BEFORE, "size": 16, "opacity": 0.5},
    "keeps the promise": {"color": _AFTER, "size": 18, "opacity": 0.5},
    "on the border": {"color": _INK, "size": 16, "opacity": 0.6},
    "chosen": {"color": _MARK, "size": 230, "opacity": 1.0, "shape": "diamond"},
}
"""The kinds of lattice nodes in the order of their numbers, and how they are drawn."""


def class_size_bins(k: int, largest: int) -> IntArray:
    """Return where the bins of class sizes start: alone, below k, and from k on in growing steps."""
    starts = {1, 2, k}
    step = max(k, 2)
    for factor in (2, 5, 10, 20, 50, 100, 1000):
        if step * factor <= largest:
            starts.add(step * factor)
    return np.array(sorted(starts))


def shares_by_class_size(sizes: IntArray, starts: IntArray) -> FloatArray:
    """Return the share of all that is counted in classes of each bin of sizes."""
    bin_ = np.searchsorted(starts, sizes, side="right") - 1
    found = np.bincount(bin_, weights=sizes, minlength=starts.size)
    return np.asarray(found / max(found.sum(), 1))


def class_size_labels(starts: IntArray) -> tuple[str, ...]:
    """Write the bins of class sizes."""
    inner = [f"{low:,}" if high - low == 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(starts)]
    return (*inner, f"{starts[-1]:,} or more")


def class_sizes(
    labels: Sequence[str], before: FloatArray, after: FloatArray, *, counted: str
) -> dict[str, Any]:
    """Draw how many rows or people are in classes of each size, before and after."""
    return _upright(
        _pairs(labels, before, after),
        f"{counted} in the class",
        f"Share of {counted} by the size of their class, before and after.",
        240,
    )


def losses(columns: Sequence[str], loss: Sequence[float]) -> dict[str, Any]:
    """Draw how much of each column's detail was lost."""
    return shares(columns, loss, name="column", share="loss", described="Loss of detail by column.")


def shares(
    labels: Sequence[str],
    values: Sequence[float] | FloatArray,
    *,
    name: str = "value",
    share: str = "rows",
    described: str = "Share of rows.",
) -> dict[str, Any]:
    """Draw one share for each label."""
    import altair as alt

    rows = [{"bar": label, "share": round(float(one), 6)} for label, one in zip(labels, values, strict=True)]
    base = _chart(rows).encode(
        y=alt.Y("bar:N", sort=None, title=None),
        x=alt.X(
            "share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)
        ),
        tooltip=[alt.Tooltip("bar:N", title=name), alt.Tooltip("share:Q", title=share, format=".1%")],
    )
    bars = base.mark_bar(color=_AFTER, cornerRadiusEnd=3, height={"band": 0.62})
    names = base.mark_text(align="left", dx=6, color=_SOFT).encode(text=alt.Text("share:Q", format=".1%"))
    return finished(bars + names, 34 * len(rows) + 10, described)


def distribution(bars: Bars) -> dict[str, Any]:
    """Draw a column's shape before and after."""
    rows = _pairs(bars.labels, bars.before, bars.after)
    told = f"Share of rows by {bars.column}, before and after."
    if bars.line and len(bars.labels) <= _MOST_UPRIGHT:
        return _upright(rows, None, told, 210)
    return _lying(rows, told)


def sensitive(bars: Bars) -> dict[str, Any]:
    """Draw each value's share in the whole release, and a mark at its largest share in any class."""
    import altair as alt

    rows = [
        {"bar": label, "share": float(share), "highest": float(highest)}
        for label, share, highest in zip(bars.labels, bars.before, bars.after, strict=True)
    ]
    base = _chart(rows).encode(
        y=_category(alt),
        tooltip=[
            alt.Tooltip("bar:N", title="value"),
            alt.Tooltip("share:Q", title="in the release", format=".1%"),
            alt.Tooltip("highest:Q", title="most in one class", format=".1%"),
        ],
    )
    x = {"title": None, "axis": alt.Axis(format="%", tickCount=5), "scale": alt.Scale(domainMin=0)}
    bar = base.mark_bar(color=_AFTER, cornerRadiusEnd=2, height={"band": 0.6}).encode(x=alt.X("share:Q", **x))
    reach = base.mark_rule(color=_MARK, strokeDash=[2, 3], opacity=0.7).encode(
        x=alt.X("share:Q", **x), x2="highest:Q"
    )
    mark = base.mark_tick(color=_MARK, thickness=2.5, height={"band": 0.6}).encode(x=alt.X("highest:Q", **x))
    told = f"Share of rows by {bars.column} in the release, and the largest share in any one class."
    return finished(reach + bar + mark, 24 * len(rows) + 10, told)


def lattice(nodes: Nodes, measure: str) -> dict[str, Any]:
    """Draw every node by its risk and its cost; the border and the chosen node stand out."""
    import altair as alt

    columns = [f"datum.l[{at}] + ' of {height}'" for at, height in enumerate(nodes.heights)]
    base = _chart(_points(nodes)).transform_calculate(**{f"c{at}": one for at, one in enumerate(columns)})
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
    layers = [
        base.transform_filter(alt.datum.kind == kind).mark_point(filled=True, **look)
        for kind, look in _NODE_KINDS.items()
    ]
    only = alt.selection_point(name="only", fields=["kind"], bind="legend")
    move = alt.selection_interval(name="move", bind="scales", zoom="wheel![event.shiftKey]")
    layers[0] = layers[0].add_params(only, move)
    told = f"{measure} of nodes of the lattice against their mean risk, with the border and the chosen node."
    return finished(alt.layer(*layers).transform_filter(only), 420, told)


def _points(nodes: Nodes) -> list[dict[str, Any]]:
    kinds = list(_NODE_KINDS)
    return [
        {
            "kind": kinds[kind],
            "r": float(f"{risk:.4g}"),
            "c": float(f"{cost:.5g}"),
            "s": round(float(left_out), 5),
            "l": levels,
        }
        for kind, risk, cost, left_out, levels in zip(
            nodes.kind.tolist(), nodes.risk, nodes.cost, nodes.left_out, nodes.levels.tolist(), strict=True
        )
    ]


def _node_tooltip(nodes: Nodes, measure: str) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("kind:N", title="node"),
        *(alt.Tooltip(f"c{at}:N", title=name) for at, name in enumerate(nodes.names)),
        alt.Tooltip("c:Q", title=measure.lower(), format=",.4~r"),
        alt.Tooltip("r:Q", title="mean risk", format=".3~%"),
        alt.Tooltip("s:Q", title="rows left out", format=".2~%"),
    ]


def _pairs(labels: Sequence[str], before: FloatArray, after: FloatArray) -> list[dict[str, Any]]:
    return [
        {"bar": label, "when": when, "share": round(float(share), 6)}
        for label, *shares in zip(labels, before, after, strict=True)
        for when, share in zip((BEFORE, AFTER), shares, strict=True)
    ]


def _upright(rows: list[dict[str, Any]], title: str | None, told: str, height: int) -> dict[str, Any]:
    import altair as alt

    angle = 0 if title else -40
    chart = _colored(_chart(rows).mark_bar(cornerRadiusEnd=2)).encode(
        x=alt.X("bar:N", sort=None, title=title, axis=alt.Axis(labelAngle=angle, labelOverlap=False)),
        xOffset=alt.XOffset("when:N", sort=[BEFORE, AFTER]),
        y=alt.Y("share:Q", title=None, axis=alt.Axis(format="%", tickCount=4, grid=True)),
    )
    return finished(chart, height, told)


def _lying(rows: list[dict[str, Any]], told: str) -> dict[str, Any]:
    import altair as alt

    chart = _colored(_chart(rows).mark_bar(cornerRadiusEnd=2)).encode(
        y=_category(alt),
        yOffset=alt.YOffset("when:N", sort=[BEFORE, AFTER]),
        x=alt.X("share:Q", title=None, axis=alt.Axis(format="%", tickCount=4)),
    )
    return finished(chart, max(15 * len(rows), 60), told)


def _category(alt: Any) -> Any:
    return alt.Y("bar:N", sort=None, title=None, axis=alt.Axis(labelLimit=150))


def _colored(chart: Any) -> Any:
    import altair as alt

    return chart.encode(
        color=alt.Color(
            "when:N", scale=alt.Scale(domain=[BEFORE, AFTER], range=[_BEFORE, _AFTER]), legend=None
        ),
        tooltip=[
            alt.Tooltip("bar:N", title="group"),
            alt.Tooltip("when:N", title="when"),
            alt.Tooltip("share:Q", title="share", format=".1%"),
        ],
    )


def _chart(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.InlineData(values=rows))


def finished(chart: Any, height: int, told: str) -> dict[str, Any]:
    """Return a chart its size and description, and the looks of the page it stands on."""
    import altair as alt

    axis = {
        "labelColor": _SOFT,
        "titleColor": _SOFT,
        "domainColor": _LINE,
        "tickColor": _LINE,
        "gridColor": _LINE,
        "labelFont": _FONT,
        "titleFont": _FONT,
        "labelFontSize": 11.5,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelPadding": 6,
        "titlePadding": 10,
        "ticks": False,
    }
    with alt.theme.enable("none"):
        spec: dict[str, Any] = chart.properties(width="container", height=height, description=told).to_dict()
    spec.pop("$schema", None)
    spec["config"] = {
        "background": "transparent",
        "view": {"stroke": None},
        "axis": axis,
        "axisQuantitative": {"labelOverlap": "parity", "labelSeparation": 10},
        "axisX": {"grid": False},
        "axisY": {"domain": False},
        "legend": {"labelColor": _SOFT, "labelFont": _FONT, "labelFontSize": 12, "symbolOpacity": 1},
        "text": {"font": _FONT, "fontSize": 11.5, "color": _INK},
        "scale": {
            "bandPaddingInner": 0.25,
            "bandPaddingOuter": 0.1,
            "bandWithNestedOffsetPaddingInner": 0.28,
        },
    }
    return spec
