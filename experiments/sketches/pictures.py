"""Pictures of the sketch experiment: quality by k and δ, ratios by the number of items, and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.report.theme import BLUE, INK, OCHRE, SOFT, TEAL, altair_chart, picture
from experiments.charts import SUBTITLE, at_points, band, colored, dotted, level, ranged
from experiments.sketches.runs import Runs

_WIDTH, _HEIGHT = 460, 260
_COLORS = (TEAL, OCHRE, BLUE, INK)


def by_level(title: str, runs: Mapping[str, Sequence[Runs]], *, across: str, up: str) -> dict[str, Any]:
    """Draw a quality by k or δ, a line for each guarantee, with the levels of the original data and of chance."""
    import altair as alt

    points = [
        {
            "promise": promise,
            "level": run.level,
            "suppressed": round(float(np.mean(run.suppressed)), 4),
            **ranged(run.found, 4),
        }
        for promise, some in runs.items()
        for run in some
    ]
    every = [run for some in runs.values() for run in some]
    colors = dict(zip(runs, _COLORS, strict=False))
    base = altair_chart(points).encode(
        x=at_points(points, "level", across, scale={"zero": True}, format=".3~g", labelOverlap="greedy"),
        color=colored("promise", colors) if len(runs) > 1 else alt.value(TEAL),
    )
    y = {"title": up, "scale": alt.Scale(zero=True)}
    line = dotted(base).encode(
        y=alt.Y("mean:Q", **y), tooltip=["promise:N", "level:Q", "mean:Q", "low:Q", "high:Q", "suppressed:Q"]
    )
    best = float(np.mean([one for run in every for one in run.original]))
    rules = [
        *level(best, "on the original records", width=_WIDTH),
        *level(every[0].chance, "by chance", width=_WIDTH, below=True),
    ]
    description = f"{title}: {up} by {across}, with the level of the original records."
    return picture(
        alt.layer(band(base, y), line, *rules),
        title=title,
        subtitle=SUBTITLE,
        description=description,
        width=_WIDTH,
        height=_HEIGHT,
    )


def by_items(title: str, points: list[dict[str, Any]], *, up: str) -> dict[str, Any]:
    """Draw the ratio to the original by the number of base items, a line for each δ."""
    import altair as alt

    named = [{**point, "delta": f"δ = {point['delta']}"} for point in points]
    colors = dict(zip(sorted({point["delta"] for point in named}), _COLORS, strict=False))
    most = max(1.0, *(point["ratio"] for point in points))
    chart = dotted(altair_chart(named)).encode(
        x=at_points(named, "items", "base items", scale={"zero": False}, format=",d"),
        y=alt.Y("ratio:Q", title=up, scale=alt.Scale(domain=[0, most])),
        color=colored("delta", colors),
        tooltip=["delta:N", "items:Q", "ratio:Q"],
    )
    return picture(
        alt.layer(chart, *level(1.0, "as good as the original", width=_WIDTH)),
        title=title,
        description=f"{title}: ratio to the original by the number of base items.",
        width=_WIDTH,
        height=_HEIGHT,
    )


def times(title: str, points: list[dict[str, Any]], *, across: str, form: str = ",d") -> dict[str, Any]:
    """Draw processor seconds, with the straight line through them."""
    import altair as alt

    base = altair_chart(points).encode(x=at_points(points, "size", across, scale={"zero": True}, format=form))
    y = {"title": "processor seconds", "scale": alt.Scale(zero=True)}
    line = base.mark_line(strokeDash=[5, 4], color=SOFT).encode(y=alt.Y("line:Q", **y))
    dots = base.mark_point(filled=True, size=70, opacity=1, color=TEAL).encode(
        y=alt.Y("seconds:Q", **y), tooltip=["size:Q", "seconds:Q"]
    )
    description = f"{title}: processor seconds, nearly on a straight line."
    return picture(
        alt.layer(line, dots),
        title=title,
        subtitle="dots: measured; dashes: the straight line nearest to them",
        description=description,
        width=_WIDTH,
        height=_HEIGHT,
    )
