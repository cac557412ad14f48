"""Pictures of the condensation experiment: accuracy and covariance compatibility by α, static and dynamic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.experiments.condensation_runs import METHODS, Runs
from discreet.report.pictures import OCHRE, SOFT, TEAL, finished, standing

_WIDTH, _HALF, _HEIGHT = 460, 300, 260
_LEAST_MU = 0.95
"""Scales of μ begin here at the highest, so that a flat curve looks flat."""
_SUBTITLE = "line: mean over the seeds; band: their range"


def accuracy(title: str, runs: Sequence[Runs], *, what: str) -> dict[str, Any]:
    """Draw the accuracy by α, and the baseline that the original data gives."""
    import altair as alt

    level = round(float(np.mean([value for run in runs for value in run.baseline])), 4)
    lines = _lines(_points(runs, "accuracy"), what)
    rule = (
        standing([{"value": level, "word": "baseline, on the original data"}])
        .mark_rule(color=SOFT, strokeDash=[5, 4])
        .encode(y="value:Q")
    )
    word = rule.mark_text(align="right", dx=-4, dy=-7, color=SOFT, fontSize=11.5).encode(
        x=alt.value(_WIDTH), text="word:N"
    )
    told = f"{title}: accuracy by α of static and dynamic condensation, with the baseline."
    chart = alt.layer(rule, *lines, word)
    return finished(chart, title=title, subtitle=_SUBTITLE, told=told, width=_WIDTH, height=_HEIGHT)


def compatibility(title: str, runs: Sequence[Runs]) -> dict[str, Any]:
    """Draw μ by α, in the columns' own units and with standardised columns, on the same scale."""
    import altair as alt

    several = {"mu": "μ, columns in their own units", "mu_standardised": "μ, columns standardised"}
    points = {figure: _points(runs, figure) for figure in several}
    least = min(_LEAST_MU, *(point["low"] for found in points.values() for point in found))
    scale = alt.Scale(domain=[least, 1.0], nice=False)
    panels = [
        alt.layer(*_lines(points[figure], word, scale=scale)).properties(width=_HALF, height=_HEIGHT)
        for figure, word in several.items()
    ]
    told = f"{title}: covariance compatibility by α, static and dynamic."
    return finished(alt.hconcat(*panels, spacing=26), title=title, subtitle=_SUBTITLE, told=told)


def _points(runs: Sequence[Runs], figure: str) -> list[dict[str, Any]]:
    return [
        {
            "alpha": run.alpha,
            "method": run.method,
            "mean": round(float(np.mean(getattr(run, figure))), 5),
            "low": round(float(np.min(getattr(run, figure))), 5),
            "high": round(float(np.max(getattr(run, figure))), 5),
        }
        for run in runs
    ]


def _lines(points: list[dict[str, Any]], what: str, *, scale: Any = None) -> list[Any]:
    """Draw a line for each method, with the range over the seeds behind it."""
    import altair as alt

    base = standing(points).encode(
        x=alt.X(
            "alpha:Q",
            title="α, the largest privacy level",
            scale=alt.Scale(nice=False, padding=8),
            axis=alt.Axis(values=sorted({point["alpha"] for point in points}), grid=False),
        ),
        color=alt.Color(
            "method:N",
            title=None,
            scale=alt.Scale(domain=list(METHODS), range=[TEAL, OCHRE]),
            legend=alt.Legend(orient="bottom", symbolOpacity=1),
        ),
    )
    y = {"title": what, "scale": scale or alt.Scale(zero=False)}
    return [
        base.mark_area(opacity=0.14).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2).encode(
            y=alt.Y("mean:Q", **y), tooltip=["method:N", "alpha:Q", "mean:Q", "low:Q", "high:Q"]
        ),
    ]
