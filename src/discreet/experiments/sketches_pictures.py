"""Pictures of the sketch experiment: quality by k and δ, ratios by the number of items, and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.experiments.sketches_runs import Runs
from discreet.report.pictures import BLUE, OCHRE, SOFT, TEAL, finished, standing

_WIDTH, _HEIGHT = 460, 260


def by_level(title: str, runs: Sequence[Runs], *, across: str, up: str) -> dict[str, Any]:
    """Draw a quality by k or δ, beside what the original data gives and what chance gives."""
    import altair as alt

    points = [
        {
            "level": run.level,
            "mean": round(float(np.mean(run.found)), 4),
            "low": round(min(run.found), 4),
            "high": round(max(run.found), 4),
            "suppressed": round(float(np.mean(run.suppressed)), 4),
        }
        for run in runs
    ]
    order = [f"{run.level:g}" for run in runs]
    base = standing([{**point, "level": f"{point['level']:g}"} for point in points]).encode(
        x=alt.X("level:O", title=across, sort=order, axis=alt.Axis(labelAngle=0))
    )
    y = {"title": up, "scale": alt.Scale(zero=True)}
    lines = [
        base.mark_area(opacity=0.14, color=TEAL).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_line(point=alt.OverlayMarkDef(size=45, color=TEAL), strokeWidth=2, color=TEAL).encode(
            y=alt.Y("mean:Q", **y), tooltip=["level:O", "mean:Q", "low:Q", "high:Q", "suppressed:Q"]
        ),
    ]
    best = float(np.mean([one for run in runs for one in run.original]))
    rules = [_rule(best, "on the original records"), _rule(runs[0].chance, "by chance", below=True)]
    told = f"{title}: {up} by {across}, with the level of the original records."
    return finished(
        alt.layer(*lines, *rules),
        title=title,
        subtitle="line: mean over the seeds; band: their range",
        told=told,
        width=_WIDTH,
        height=_HEIGHT,
    )


def by_items(title: str, points: list[dict[str, Any]], *, up: str) -> dict[str, Any]:
    """Draw the ratio to the original by the number of base items, a line for each δ."""
    import altair as alt

    names = sorted({point["delta"] for point in points})
    colour = alt.Color(
        "delta:N",
        title="δ",
        scale=alt.Scale(domain=names, range=[TEAL, OCHRE, BLUE]),
        legend=alt.Legend(orient="bottom", symbolType="stroke", symbolStrokeWidth=2),
    )
    chart = (
        standing(points)
        .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2)
        .encode(
            x=alt.X(
                "items:Q",
                title="base items",
                scale=alt.Scale(zero=False, nice=False, padding=8),
                axis=alt.Axis(values=sorted({point["items"] for point in points}), grid=False, format=",d"),
            ),
            y=alt.Y(
                "ratio:Q", title=up, scale=alt.Scale(domain=[0, max(1.0, *(p["ratio"] for p in points))])
            ),
            color=colour,
            tooltip=["delta:N", "items:Q", "ratio:Q"],
        )
    )
    told = f"{title}: ratio to the original by the number of base items."
    return finished(alt.layer(chart, _rule(1.0, "as good as the original")), title=title, told=told,
                    width=_WIDTH, height=_HEIGHT)  # fmt: skip


def times(title: str, points: list[dict[str, Any]], *, across: str, form: str = ",d") -> dict[str, Any]:
    """Draw processor seconds, with the straight line through them."""
    import altair as alt

    base = standing(points).encode(
        x=alt.X(
            "size:Q",
            title=across,
            scale=alt.Scale(zero=True, nice=False, padding=8),
            axis=alt.Axis(values=[point["size"] for point in points], grid=False, format=form),
        )
    )
    y = {"title": "processor seconds", "scale": alt.Scale(zero=True)}
    line = base.mark_line(strokeDash=[5, 4], color=SOFT).encode(y=alt.Y("line:Q", **y))
    dots = base.mark_point(filled=True, size=70, opacity=1, color=TEAL).encode(
        y=alt.Y("seconds:Q", **y), tooltip=["size:Q", "seconds:Q"]
    )
    told = f"{title}: processor seconds, nearly on a straight line."
    return finished(
        alt.layer(line, dots),
        title=title,
        subtitle="dots: measured; dashes: the straight line nearest to them",
        told=told,
        width=_WIDTH,
        height=_HEIGHT,
    )


def _rule(value: float, word: str, *, below: bool = False) -> Any:
    import altair as alt

    rule = (
        standing([{"value": round(value, 4), "word": word}])
        .mark_rule(color=SOFT, strokeDash=[5, 4])
        .encode(y="value:Q")
    )
    text = rule.mark_text(align="right", dx=-4, dy=11 if below else -7, color=SOFT, fontSize=11.5).encode(
        x=alt.value(_WIDTH), text="word:N"
    )
    return alt.layer(rule, text)
