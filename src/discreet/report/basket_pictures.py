"""Charts of published baskets: the matrix of baskets and items as a density, and KL by the length of a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.kinds.sections.basket_estimates import Curve
from discreet.report.theme import PAGE, encoded_by, page_chart

_GAP = 8
RELEASED, TOTALS = "this release", "totals alone"


def shades(grids: Sequence[FloatArray]) -> list[FloatArray]:
    """Turn densities into shades from 0 to 1 that compare with each other: the root, so that thin fields show."""
    filled = np.concatenate([grid[grid > 0] for grid in grids]) if grids else np.empty(0)
    full = float(np.quantile(filled, 0.995)) if filled.size else 1.0
    return [np.asarray(np.sqrt(np.minimum(grid / full, 1.0)), np.float64).round(3) for grid in grids]


def matrices(grids: tuple[FloatArray, FloatArray]) -> dict[str, Any]:
    """Draw both densities side by side, for a page."""
    height, width = grids[0].shape
    words = [
        {"x": 0, "word": "baskets in any order"},
        {"x": width + _GAP, "word": "baskets in band order"},
    ]
    frames = [{"x": left, "x2": left + width, "y": 0, "y2": height} for left in (0, width + _GAP)]
    x = encoded_by("x:Q", axis=None, scale={"domain": [0, 2 * width + _GAP], "nice": False})
    y = encoded_by("y:Q", axis=None, scale={"domain": [0, height], "reverse": True, "nice": False})
    corners = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    frame = {
        "data": {"values": frames},
        "mark": {"type": "rect", "fillOpacity": 0, "stroke": PAGE["line"]},
        "encoding": corners,
    }
    titles = {
        "data": {"values": words},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "color": PAGE["soft"], "dy": -8},
        "encoding": {"x": x, "y": {"value": 0}, "text": encoded_by("word:N")},
    }
    spec = {"layer": [frame, _field(grids, corners), titles]}
    description = "Density of the matrix of baskets and items, in any order and in band order."
    return page_chart(spec, None, height=340, description=description)


def _field(grids: tuple[FloatArray, FloatArray], corners: dict[str, Any]) -> dict[str, Any]:
    """Return the shades of both grids as one list of numbers; where the i-th one stands follows from i."""
    height, width = grids[0].shape
    calculated = {
        "x": f"(datum.i - 1) % {width} + (datum.i > {width * height} ? {width + _GAP} : 0)",
        "y": f"floor(((datum.i - 1) % {width * height}) / {width})",
        # A little wider than a field, so that no seams show between neighbors.
        "x2": "datum.x + 1.06",
        "y2": "datum.y + 1.06",
    }
    full = {"domain": [0, 1], "range": [0, 1]}
    return {
        "data": {"values": np.concatenate([grid.ravel() for grid in shades(grids)]).tolist()},
        "transform": [
            {"window": [{"op": "row_number", "as": "i"}]},
            {"filter": "datum.data > 0"},
            *({"calculate": expression, "as": name} for name, expression in calculated.items()),
        ],
        "mark": {"type": "rect", "color": PAGE["after"], "strokeWidth": 0},
        "encoding": {**corners, "opacity": encoded_by("data:Q", scale=full, legend=None)},
    }


def kl_curve(curve: Curve) -> dict[str, Any]:
    """Draw the KL by the number of items, and that of totals alone, for a page."""
    none = np.zeros(curve.totals.size)
    rows = [
        *_points(curve, RELEASED, curve.mean, 2 * curve.error),
        *_points(curve, TOTALS, curve.totals, none),
    ]
    y = {"title": "KL divergence, nats", "axis": {"tickCount": 5, "grid": True}, "scale": {"zero": True}}
    mean = encoded_by("mean:Q", **y)
    tooltip = [
        encoded_by("whose:N"),
        encoded_by("r:Q"),
        encoded_by("mean:Q", title="mean KL", format=".4f"),
    ]
    spec = {
        "encoding": {
            "x": encoded_by(
                "r:Q",
                title="items in the query",
                scale={"nice": False, "padding": 14},
                axis={"values": list(curve.lengths), "grid": False},
            ),
            "color": encoded_by(
                "whose:N",
                title=None,
                scale={"domain": [RELEASED, TOTALS], "range": [PAGE["after"], PAGE["before"]]},
                legend={"orient": "top", "symbolType": "circle"},
            ),
        },
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.18},
                "encoding": {"y": encoded_by("low:Q", **y), "y2": {"field": "high"}},
            },
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": mean}},
            {
                "mark": {"type": "point", "filled": True, "size": 48, "opacity": 1},
                "encoding": {"y": mean, "tooltip": tooltip},
            },
        ],
    }
    description = "Mean KL divergence of estimated from true counts, by the number of items in the query."
    return page_chart(spec, rows, height=260, description=description)


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
