"""Charts of published baskets: the matrix of baskets and items as a density, and KL by the length of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.kinds.basket_estimates import Curve
from discreet.report.theme import PAGE, altair_chart, page_chart

_GAP = 8
RELEASED, TOTALS = "this release", "totals alone"


def shades(grids: Sequence[FloatArray]) -> list[FloatArray]:
    """Turn densities into shades from 0 to 1 that compare with each other: the root, so that thin fields show."""
    held = np.concatenate([grid[grid > 0] for grid in grids]) if grids else np.empty(0)
    full = float(np.quantile(held, 0.995)) if held.size else 1.0
    return [np.asarray(np.sqrt(np.minimum(grid / full, 1.0)), np.float64).round(3) for grid in grids]


def shaded(data: str, place: Mapping[str, str], x: Any, y: Any, *, color: str) -> Any:
    """Draw the fields of the named shades, each where ``place`` puts the i-th one, the fuller the darker."""
    import altair as alt

    return (
        alt.Chart(alt.NamedData(data))
        .transform_window(i="row_number()")
        .transform_filter("datum.data > 0")
        .transform_calculate(**place)
        .transform_calculate(x2="datum.x + 1.06", y2="datum.y + 1.06")
        .mark_rect(color=color, strokeWidth=0)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            opacity=alt.Opacity("data:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        )
    )


def framed(corners: list[dict[str, Any]], x: Any, y: Any, *, color: str) -> Any:
    """Draw the frames of matrices."""
    return altair_chart(corners).mark_rect(fillOpacity=0, stroke=color).encode(x=x, x2="x2:Q", y=y, y2="y2:Q")


def matrices(grids: tuple[FloatArray, FloatArray]) -> dict[str, Any]:
    """Draw both densities side by side, for a page."""
    import altair as alt

    height, width = grids[0].shape
    flat = np.concatenate([grid.ravel() for grid in shades(grids)]).tolist()
    words = [
        {"x": 0, "word": "baskets in any order"},
        {"x": width + _GAP, "word": "baskets in band order"},
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 2 * width + _GAP], nice=False))
    frames = [{"x": left, "x2": left + width, "y": 0, "y2": height} for left in (0, width + _GAP)]
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], reverse=True, nice=False))
    place = {
        "x": f"(datum.i - 1) % {width} + (datum.i > {width * height} ? {width + _GAP} : 0)",
        "y": f"floor(((datum.i - 1) % {width * height}) / {width})",
    }
    field = shaded("grids", place, x, y, color=PAGE["after"])
    frame = framed(frames, x, y, color=PAGE["line"])
    titles = (
        altair_chart(words)
        .mark_text(align="left", baseline="bottom", color=PAGE["soft"], dy=-8)
        .encode(x=x, y=alt.value(0), text="word:N")
    )
    description = "Density of the matrix of baskets and items, in any order and in band order."
    spec = page_chart(alt.layer(frame, field, titles), height=340, description=description)
    return spec | {"datasets": spec["datasets"] | {"grids": flat}}


def kl_curve(curve: Curve) -> dict[str, Any]:
    """Draw the KL by the number of items, and that of totals alone, for a page."""
    import altair as alt

    none = np.zeros(curve.totals.size)
    rows = [
        *_points(curve, RELEASED, curve.mean, 2 * curve.error),
        *_points(curve, TOTALS, curve.totals, none),
    ]
    base = altair_chart(rows).encode(
        x=alt.X(
            "r:Q",
            title="items in the query",
            scale=alt.Scale(nice=False, padding=14),
            axis=alt.Axis(values=list(curve.lengths), grid=False),
        ),
        color=alt.Color(
            "whose:N",
            title=None,
            scale=alt.Scale(domain=[RELEASED, TOTALS], range=[PAGE["after"], PAGE["before"]]),
            legend=alt.Legend(orient="top", symbolType="circle"),
        ),
    )
    y = {
        "title": "KL divergence, nats",
        "axis": alt.Axis(tickCount=5, grid=True),
        "scale": alt.Scale(zero=True),
    }
    layers = alt.layer(
        base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=alt.Y("mean:Q", **y)),
        base.mark_point(filled=True, size=48, opacity=1).encode(
            y=alt.Y("mean:Q", **y),
            tooltip=["whose:N", "r:Q", alt.Tooltip("mean:Q", title="mean KL", format=".4f")],
        ),
    )
    description = "Mean KL divergence of estimated from true counts, by the number of items in the query."
    return page_chart(layers, height=260, description=description)


def _points(curve: Curve, whose: str, means: FloatArray, errors: FloatArray) -> list[dict[str, Any]]:
    return [
        {
            "r": r,
            "whose": whose,
            "mean": round(float(mean), 4),
            "low": round(max(float(mean - off), 0.0), 4),
            "high": round(float(mean + off), 4),
        }
        for r, mean, off in zip(curve.lengths, means, errors, strict=True)
    ]
