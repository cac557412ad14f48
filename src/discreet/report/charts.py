"""Charts of the reports: Vega-Lite specifications made with Altair, in the colors of the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from discreet.core.arrays import FloatArray
from discreet.core.errors import InternalError
from discreet.kinds.basket_estimates import Curve
from discreet.kinds.charts import (
    ClassSizeBars,
    Distribution,
    LatticeNodes,
    Matrices,
    SensitiveShares,
    ShareBars,
)
from discreet.kinds.sections.nodes import Nodes
from discreet.report.basket_pictures import kl_curve, matrices
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


@singledispatch
def chart_spec(chart: object) -> dict[str, Any]:
    """Draw a chart that is given as plain data."""
    raise InternalError(f"No drawing for {type(chart).__name__}.")


@chart_spec.register
def _class_sizes(chart: ClassSizeBars) -> dict[str, Any]:
    unit = chart.unit
    description = f"Share of {unit} by the size of their class, before and after."
    rows = _pairs(chart.labels, chart.before, chart.after)
    return _vertical(rows, description, 240, title=f"{unit} in the class", unit=unit)


@chart_spec.register
def _shares(chart: ShareBars) -> dict[str, Any]:
    import altair as alt

    rows = [
        {"bar": label, "share": round(float(share), 6)}
        for label, share in zip(chart.labels, chart.shares, strict=True)
    ]
    unit = chart.unit
    base = altair_chart(rows).encode(
        y=_category(alt),
        x=alt.X(
            "share:Q",
            title=unit.lower(),
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5),
        ),
        tooltip=[alt.Tooltip("bar:N", title=chart.name), alt.Tooltip("share:Q", title=unit, format=".1%")],
    )
    bars = base.mark_bar(color=PAGE["after"], cornerRadiusEnd=3, height={"band": 0.62})
    values = base.mark_text(align="left", dx=6, color=PAGE["soft"]).encode(
        text=alt.Text("share:Q", format=".1%")
    )
    return page_chart(
        bars + values, height=34 * len(rows) + 10, description=f"{chart.title}: {unit.lower()}."
    )


@chart_spec.register
def _distribution(chart: Distribution) -> dict[str, Any]:
    bars = chart.bars
    rows = _pairs(bars.labels, bars.before, bars.after)
    description = f"Share of rows by {bars.column}, before and after."
    if bars.line and len(bars.labels) <= _MAX_VERTICAL:
        return _vertical(rows, description, 210)
    return _horizontal(rows, description)


@chart_spec.register
def _sensitive(chart: SensitiveShares) -> dict[str, Any]:
    import altair as alt

    bars = chart.bars
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


@chart_spec.register
def _lattice(chart: LatticeNodes) -> dict[str, Any]:
    import altair as alt

    nodes, measure = chart.nodes, chart.measure
    columns = [f"datum.l[{at}] + ' of {height}'" for at, height in enumerate(nodes.heights)]
    base = altair_chart(_points(nodes)).transform_calculate(
        **{f"c{at}": expression for at, expression in enumerate(columns)}
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
            *(
                column.tolist()
                for column in (nodes.kind, nodes.risk, nodes.cost, nodes.left_out, nodes.levels)
            ),
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


@chart_spec.register
def _matrices(chart: Matrices) -> dict[str, Any]:
    return matrices(chart.grids)


@chart_spec.register
def _curve(chart: Curve) -> dict[str, Any]:
    return kl_curve(chart)
