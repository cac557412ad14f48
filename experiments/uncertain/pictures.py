"""Pictures of the experiment on uncertain records: error of range counts and accuracy, by k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.report.theme import BLUE, OCHRE, SHADES, SOFT, TEAL, altair_chart, picture
from experiments.charts import SUBTITLE, at_points, band, colored, dotted, level, ranged
from experiments.uncertain.runs import METHODS, Runs

_WIDTH, _HEIGHT = 300, 260
_COLORS = dict(zip(METHODS, (TEAL, SHADES[3], BLUE, OCHRE, SOFT), strict=True))


def errors_and_accuracy(title: str, runs: Sequence[Runs]) -> dict[str, Any]:
    """Draw the error of range counts and the accuracy by k, of every method."""
    import altair as alt

    baseline = float(np.mean([value for run in runs for value in run.baseline]))
    rule, text = level(baseline, "1-NN on the original data", width=_WIDTH, below=True)
    panels = [
        alt.layer(*_lines(runs, "error", "mean relative error of 100 range counts")),
        alt.layer(rule, *_lines(runs, "best", "accuracy: kernel vote, or one neighbor"), text),
    ]
    panels = [panel.properties(width=_WIDTH, height=_HEIGHT) for panel in panels]
    description = f"{title}: error of range counts and accuracy by k, of five methods."
    return picture(alt.hconcat(*panels, spacing=26), title=title, subtitle=SUBTITLE, description=description)


def _lines(runs: Sequence[Runs], figure: str, what: str) -> list[Any]:
    import altair as alt

    numbers = {id(run): run.error if figure == "error" else run.vote or run.accuracy for run in runs}
    points = [
        {"k": run.k, "method": run.method, **ranged(numbers[id(run)], 5)} for run in runs if numbers[id(run)]
    ]
    base = altair_chart(points).encode(
        x=at_points(points, "k", "k", scale={"type": "log"}),
        color=colored("method", _COLORS, columns=2),
    )
    y = {"title": what, "scale": alt.Scale(zero=False)}
    tooltip = ["method:N", "k:Q", "mean:Q", "low:Q", "high:Q"]
    return [band(base, y), dotted(base).encode(y=alt.Y("mean:Q", **y), tooltip=tooltip)]
