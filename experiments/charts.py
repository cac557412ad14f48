"""Lines of the experiments' pictures: the mean over the seeds, with their range as a band behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.report.theme import SOFT, altair_chart

SUBTITLE = "line: mean over the seeds; band: their range"


def ranged(values: Sequence[float], digits: int) -> dict[str, float]:
    """Return the mean of a figure over the seeds, its lowest and its highest, rounded."""
    ends = {"mean": np.mean(values), "low": np.min(values), "high": np.max(values)}
    return {name: round(float(value), digits) for name, value in ends.items()}


def at_points(
    rows: Sequence[Mapping[str, Any]],
    field: str,
    title: str,
    *,
    scale: Mapping[str, Any] | None = None,
    **axis: Any,
) -> Any:
    """Return a horizontal axis that is marked where there are points, and nowhere else."""
    import altair as alt

    return alt.X(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(**{"nice": False, "padding": 8, **(scale or {})}),
        axis=alt.Axis(values=sorted({row[field] for row in rows}), grid=False, **axis),
    )


def colored(field: str, colors: Mapping[str, str], **legend: Any) -> Any:
    """Return a color for every series, with the legend below."""
    import altair as alt

    return alt.Color(
        f"{field}:N",
        title=None,
        scale=alt.Scale(domain=list(colors), range=list(colors.values())),
        legend=alt.Legend(orient="bottom", **({"labelLimit": 0} | legend)),
    )


def dotted(chart: Any, *, size: int = 45, **look: Any) -> Any:
    """Draw lines with a dot at every point."""
    import altair as alt

    return chart.mark_line(point=alt.OverlayMarkDef(size=size, **look), strokeWidth=2, **look)


def band(base: Any, y: Mapping[str, Any], *, opacity: float = 0.14) -> Any:
    """Draw the range over the seeds."""
    import altair as alt

    return base.mark_area(opacity=opacity).encode(y=alt.Y("low:Q", **y), y2="high:Q")


def level(value: float, word: str, *, width: int, below: bool = False) -> tuple[Any, Any]:
    """Draw a dashed horizontal line, ``width`` pixels long, with a label at its end."""
    import altair as alt

    line = (
        altair_chart([{"value": round(value, 4), "word": word}])
        .mark_rule(color=SOFT, strokeDash=[5, 4])
        .encode(y="value:Q")
    )
    text = line.mark_text(align="right", dx=-4, dy=11 if below else -7, color=SOFT, fontSize=11.5)
    return line, text.encode(x=alt.value(width), text="word:N")
