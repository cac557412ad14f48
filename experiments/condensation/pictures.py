"""Pictures of the condensation experiment: accuracy and covariance compatibility by α, static and dynamic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.report.theme import BLUE, OCHRE, TEAL, altair_chart, picture
from experiments.charts import SUBTITLE, at_points, band, colored, dotted, level, ranged
from experiments.condensation.runs import METHODS, NEIGHBORS, TIMES, Runs

_WIDTH, _HEIGHT = 300, 260
_LEAST_MU = 0.95
"""Scales of μ begin here at the highest, so that a flat curve looks flat."""


def accuracy(title: str, runs: Sequence[Runs], *, what: str) -> dict[str, Any]:
    """Draw the accuracy by α from pseudo-records and from the groups themselves, each beside its baseline."""
    import altair as alt

    panelled = {
        f"{NEIGHBORS} neighbors, one drawn for each": ("accuracy", "baseline"),
        f"{NEIGHBORS} neighbors, {TIMES} drawn for each": ("accuracy_of_more", "baseline"),
        "1 neighbor, one drawn for each": ("accuracy_of_one", "baseline_of_one"),
        "1 neighbor, the groups themselves": ("groups", "baseline_of_one"),
    }
    points = {word: _points(runs, figure) for word, (figure, _) in panelled.items()}
    levels = {
        word: float(np.mean([value for run in runs for value in getattr(run, baseline)]))
        for word, (_, baseline) in panelled.items()
    }
    ends = [point[end] for found in points.values() for point in found for end in ("low", "high")]
    scale = alt.Scale(
        domain=[min(*ends, *levels.values()), max(*ends, *levels.values())], nice=True, zero=False
    )
    panels = []
    for word, found in points.items():
        rule, text = level(levels[word], "baseline, on the original data", width=_WIDTH, below=True)
        lines = _lines(found, what, scale=scale)
        panels.append(
            alt.layer(rule, *lines, text).properties(width=_WIDTH, height=_HEIGHT, title=alt.Title(word))
        )
    description = f"{title}: accuracy by α of static and dynamic condensation, with the baseline."
    rows = [alt.hconcat(*panels[at : at + 2], spacing=26) for at in (0, 2)]
    return picture(alt.vconcat(*rows, spacing=26), title=title, subtitle=SUBTITLE, description=description)


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
        color=colored("method", dict(zip(METHODS, (TEAL, BLUE, OCHRE), strict=True))),
    )
    y = {"title": what, "scale": scale}
    line = dotted(base).encode(
        y=alt.Y("mean:Q", **y), tooltip=["method:N", "alpha:Q", "mean:Q", "low:Q", "high:Q"]
    )
    return [band(base, y), line]
