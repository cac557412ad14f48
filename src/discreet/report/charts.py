"""Charts of the reports: Vega-Lite specifications as plain data, in the colors of the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from discreet.core.arrays import FloatArray
from discreet.core.errors import InternalError
from discreet.kinds.blocks import (
    ClassSizeBars,
    Distribution,
    LatticeNodes,
    Matrices,
    SensitiveShares,
    ShareBars,
)
from discreet.kinds.sections.basket_estimates import Curve
from discreet.kinds.sections.nodes import Nodes
from discreet.report.basket_pictures import kl_curve, matrices
from discreet.report.theme import PAGE, encoded_by, page_chart

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
_CATEGORY = encoded_by("bar:N", sort=None, title=None, axis={"labelLimit": 170})
_WHEN = encoded_by("when:N", sort=[BEFORE, AFTER])


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
    rows = [
        {"bar": label, "share": round(float(share), 6)}
        for label, share in zip(chart.labels, chart.shares, strict=True)
    ]
    unit = chart.unit
    bars = {"type": "bar", "color": PAGE["after"], "cornerRadiusEnd": 3, "height": {"band": 0.62}}
    values = {"type": "text", "align": "left", "dx": 6, "color": PAGE["soft"]}
    spec = {
        "encoding": {
            "y": _CATEGORY,
            "x": encoded_by("share:Q", title=unit.lower(), scale={"domain": [0, 1]}, axis=_percent_axis(5)),
            "tooltip": [
                encoded_by("bar:N", title=chart.name),
                encoded_by("share:Q", title=unit, format=".1%"),
            ],
        },
        "layer": [
            {"mark": bars},
            {"mark": values, "encoding": {"text": encoded_by("share:Q", format=".1%")}},
        ],
    }
    return page_chart(spec, rows, height=34 * len(rows) + 10, description=f"{chart.title}: {unit.lower()}.")


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
    bars = chart.bars
    rows = [
        {"bar": label, "share": float(share), "highest": float(highest)}
        for label, share, highest in zip(bars.labels, bars.before, bars.after, strict=True)
    ]
    x = {"title": _SHARE, "axis": _percent_axis(5), "scale": {"domainMin": 0}}
    share, highest = encoded_by("share:Q", **x), encoded_by("highest:Q", **x)
    reach = {"type": "rule", "color": PAGE["mark"], "strokeDash": [2, 3], "opacity": 0.7}
    bar = {"type": "bar", "color": PAGE["after"], "cornerRadiusEnd": 2, "height": {"band": 0.6}}
    mark = {"type": "tick", "color": PAGE["mark"], "thickness": 2.5, "height": {"band": 0.6}}
    spec = {
        "encoding": {
            "y": _CATEGORY,
            "tooltip": [
                encoded_by("bar:N", title="value"),
                encoded_by("share:Q", title="in the release", format=".1%"),
                encoded_by("highest:Q", title="highest in a class", format=".1%"),
            ],
        },
        "layer": [
            {"mark": reach, "encoding": {"x": share, "x2": {"field": "highest"}}},
            {"mark": bar, "encoding": {"x": share}},
            {"mark": mark, "encoding": {"x": highest}},
        ],
    }
    description = f"Share of rows by {bars.column} in the release, and the highest share in any class."
    return page_chart(spec, rows, height=24 * len(rows) + 10, description=description)


@chart_spec.register
def _lattice(chart: LatticeNodes) -> dict[str, Any]:
    nodes, measure = chart.nodes, chart.measure
    wide = nodes.cost.min() > 0 and nodes.cost.max() > 1000 * nodes.cost.min()
    kinds = {name: look for kind, (name, look) in enumerate(_NODE_KINDS.items()) if kind in nodes.kind}
    colors = {"domain": list(kinds), "range": [look["color"] for look in kinds.values()]}
    powers = {"format": "~%", "values": [10.0**power for power in range(-9, 1)]}
    larger = 4 if nodes.kind.size <= _FEW_NODES else 1
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": f"datum.kind === '{kind}'"}],
            "mark": {
                "type": "point",
                "filled": True,
                **look,
                "size": 230 if kind == "chosen" else 16 * larger,
            },
        }
        for kind, look in kinds.items()
    ]
    layers[0]["params"] = [
        {"name": "only", "select": {"type": "point", "fields": ["kind"]}, "bind": "legend"},
        {
            "name": "move",
            "select": {"type": "interval", "zoom": "wheel![event.shiftKey]"},
            "bind": "scales",
        },
    ]
    spec = {
        "transform": [
            *(
                {"calculate": f"datum.l[{at}] + ' of {height}'", "as": f"c{at}"}
                for at, height in enumerate(nodes.heights)
            ),
            {"filter": {"param": "only"}},
        ],
        "encoding": {
            "x": encoded_by("r:Q", title="mean risk", scale={"type": "log", "nice": True}, axis=powers),
            "y": encoded_by(
                "c:Q",
                title=measure.lower(),
                scale={"type": "log" if wide else "linear", "zero": False, "nice": True},
                axis=_POWERS if wide else {"tickCount": 6},
            ),
            "color": encoded_by("kind:N", scale=colors, legend=_NODE_LEGEND),
            "tooltip": _node_tooltip(nodes, measure),
        },
        "layer": layers,
    }
    description = (
        f"{measure} of the nodes of the lattice by mean risk, with the minimal nodes and the chosen one."
    )
    return page_chart(spec, _points(nodes), height=420, description=description)


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


def _node_tooltip(nodes: Nodes, measure: str) -> list[dict[str, Any]]:
    return [
        encoded_by("kind:N", title="node"),
        *(encoded_by(f"c{at}:N", title=name) for at, name in enumerate(nodes.names)),
        encoded_by("c:Q", title=measure.lower(), format=",.4~r"),
        encoded_by("r:Q", title="mean risk", format=".3~%"),
        encoded_by("s:Q", title="rows suppressed", format=".2~%"),
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
    axis = {"labelAngle": 0 if title else -40, "labelOverlap": False}
    spec = _bars(
        x=encoded_by("bar:N", sort=None, title=title, axis=axis),
        xOffset=_WHEN,
        y=encoded_by("share:Q", title=f"share of {unit}", axis=_percent_axis(4)),
    )
    return page_chart(spec, rows, height=height, description=description)


def _horizontal(rows: list[dict[str, Any]], description: str) -> dict[str, Any]:
    spec = _bars(y=_CATEGORY, yOffset=_WHEN, x=encoded_by("share:Q", title=_SHARE, axis=_percent_axis(4)))
    return page_chart(spec, rows, height=max(15 * len(rows), 60), description=description)


def _bars(**encoding: Any) -> dict[str, Any]:
    """Return bars in the colors of before and after."""
    colors = {"domain": [BEFORE, AFTER], "range": [PAGE["before"], PAGE["after"]]}
    tooltip = [
        encoded_by("bar:N", title="group"),
        encoded_by("when:N", title="when"),
        encoded_by("share:Q", title="share", format=".1%"),
    ]
    color = encoded_by("when:N", scale=colors, legend=None)
    return {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {**encoding, "color": color, "tooltip": tooltip},
    }


def _percent_axis(n_ticks: int) -> dict[str, Any]:
    return {"format": "%", "tickCount": n_ticks}


@chart_spec.register
def _matrices(chart: Matrices) -> dict[str, Any]:
    return matrices(chart.grids)


@chart_spec.register
def _curve(chart: Curve) -> dict[str, Any]:
    return kl_curve(chart)
