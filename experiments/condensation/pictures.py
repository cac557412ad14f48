"""Pictures of the condensation experiment: accuracy and covariance compatibility by α, static and dynamic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.report.theme import OCHRE, TEAL, altair_chart, picture
from experiments.charts import SUBTITLE, at_points, band, colored, dotted, level, ranged
from experiments.condensation.runs import METHODS, TIMES, Runs

_WIDTH, _HEIGHT = 300, 260
_LEAST_MU = 0.95
"""Scales of μ begin here at the highest, so that a flat curve looks flat."""


def accuracy(title: str, runs: Sequence[Runs], *, what: str) -> dict[str, Any]:
    """Draw the accuracy by α from one and from many pseudo-records for each, and the original data's baseline."""
    import altair as alt

    baseline = float(np.mean([value for run in runs for value in run.baseline]))
    points = {figure: _points(runs, figure) for figure in ("accuracy", "accuracy_of_more")}
    ends = [point[end] for found in points.values() for point in found for end in ("low", "high")]
    scale = alt.Scale(domain=[min(*ends, baseline), max(*ends, baseline)], nice=True, zero=False)
    words = {"accuracy": "as many pseudo-records as records", "accuracy_of_more": f"{TIMES} times as many"}
    panels = []
    for figure, word in words.items():
        rule, text = level(baseline, "baseline, on the original data", width=_WIDTH, below=True)
        lines = _lines(points[figure], what, scale=scale)
        panels.append(
            alt.layer(rule, *lines, text).properties(width=_WIDTH, height=_HEIGHT, title=alt.Title(word))
        )
    description = f"{title}: accuracy by α of static and dynamic condensation, with the baseline."
    return picture(alt.hconcat(*panels, spacing=26), title=title, subtitle=SUBTITLE, description=description)


def compatibility(title: str, runs: Sequence[Runs]) -> dict[str, Any]:
    """Draw μ by α, in the columns' own units and with standardized columns, on the same scale."""
    import altair as alt

    several = {"mu": "μ, columns in their own units", "mu_standardized": "μ, columns standardized"}
    points = {figure: _points(runs, figure) for figure in several}
    least = min(_LEAST_MU, *(point["low"] for found in points.values() for point in found))
    scale = alt.Scale(domain=[least, 1.0], nice=False)
    panels = [
        alt.layer(*_lines(points[figure], word, scale=scale)).properties(width=_WIDTH, height=_HEIGHT)
        for figure, word in several.items()
    ]
    description = f"{title}: covariance compatibility by α, static and dynamic."
    return picture(alt.hconcat(*panels, spacing=26), title=title, subtitle=SUBTITLE, description=description)


def _points(runs: Sequence[Runs], figure: str) -> list[dict[str, Any]]:
    return [{"alpha": run.alpha, "method": run.method, **ranged(getattr(run, figure), 5)} for run in runs]


def _lines(points: list[dict[str, Any]], what: str, *, scale: Any) -> list[Any]:
    """Draw a line for each method, with the range over the seeds behind it."""
    import altair as alt

    base = altair_chart(points).encode(
        x=at_points(points, "alpha", "α, the largest privacy level"),
        color=colored("method", dict(zip(METHODS, (TEAL, OCHRE), strict=True))),
    )
    y = {"title": what, "scale": scale}
    line = dotted(base).encode(
        y=alt.Y("mean:Q", **y), tooltip=["method:N", "alpha:Q", "mean:Q", "low:Q", "high:Q"]
    )
    return [band(base, y), line]
