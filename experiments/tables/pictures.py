"""Pictures of the tables experiment: lines by columns, by k and by known ratings, with the range over the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.report.theme import altair_chart, picture
from experiments.charts import SUBTITLE, at_points, band, dotted, ranged

_WIDTH, _HEIGHT = 520, 300


def means(points: Sequence[Mapping[str, Any]], by: str) -> list[dict[str, Any]]:
    """Return the mean of each series at each point over the seeds, with its range."""
    values: dict[tuple[Any, str], list[float]] = {}
    for point in points:
        values.setdefault((point[by], point["series"]), []).append(point["value"])
    return [{by: at, "series": series, **ranged(found, 4)} for (at, series), found in values.items()]


def lines(
    title: str,
    points: Sequence[Mapping[str, Any]],
    by: str,
    words: tuple[str, str],
    *,
    log: bool = False,
    zero: bool = True,
) -> dict[str, Any]:
    """Draw a line for each series."""
    import altair as alt

    rows = means(points, by)
    scale = {"type": "log"} if log else {}
    series = list(dict.fromkeys(row["series"] for row in rows))
    base = altair_chart(rows).encode(
        x=at_points(rows, by, words[0], scale=scale),
        color=alt.Color("series:N", title=None, sort=series, legend=alt.Legend(orient="bottom", columns=3)),
    )
    y: dict[str, Any] = {"title": words[1], "scale": alt.Scale(zero=zero, nice=True)}
    line = dotted(base).encode(
        y=alt.Y("mean:Q", **y), tooltip=["series:N", f"{by}:Q", "mean:Q", "low:Q", "high:Q"]
    )
    chart = alt.layer(band(base, y), line).properties(width=_WIDTH, height=_HEIGHT)
    description = f"{title}: {words[1]} by {words[0]}."
    return picture(chart, title=title, subtitle=SUBTITLE, description=description)
