"""Pictures of the experiment on query auditing: denied queries over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.report.theme import BLUE, COLORS, OCHRE, STONE, TEAL, altair_chart, picture
from experiments.auditing.runs import Denials
from experiments.charts import colored, dotted, ranged

_COLORS = {"sum": TEAL, "extrema": BLUE, "boolean": OCHRE, "interval": STONE, "private": COLORS[4]}


def denied_lines(title: str, rows: Sequence[Denials]) -> dict[str, Any]:
    """Draw the mean share of denied queries of every auditor by the number of queries."""
    import altair as alt

    points = [
        {"auditor": row.auditor, "queries": row.n_queries, **ranged([100 * share for share in row.shares], 1)}
        for row in rows
    ]
    lines = dotted(altair_chart(points)).encode(
        x=alt.X("queries:Q", title="queries"),
        y=alt.Y("mean:Q", title="denied, %", scale=alt.Scale(domain=[0, 100])),
        color=colored("auditor", _COLORS),
    )
    return picture(
        lines.properties(width=520, height=260),
        title=title,
        subtitle="mean over the seeds, of the queries since the point before",
        description=f"{title}, a line for each auditor.",
    )
