"""Pictures of the experiment on hiding rules: what each method lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.report.theme import BLUE, OCHRE, STONE, TEAL, altair_chart, picture
from experiments.hiding.runs import Point

_FAMILIES = {"exact": ("exact", "menon", "inline", "hybrid"), "border-based": ("bba", "maxmin1", "maxmin2")}
_COLOURS = {"exact": TEAL, "border-based": BLUE, "heuristic": OCHRE}


def lost_bars(title: str, made: Sequence[Point]) -> dict[str, Any]:
    """Draw the mean number of lost itemsets of every method, a panel for each threshold and number of sets."""
    import altair as alt

    rows = [
        {
            "method": one.method,
            "family": _family(one.method),
            "panel": f"minimum support {one.support:g}, {one.n_sets} sensitive sets",
            "lost": round(float(np.mean(one.lost)), 2),
            "low": min(one.lost),
            "high": max(one.lost),
        }
        for one in made
        if one.lost and one.is_whole
    ]
    order = list(dict.fromkeys(row["method"] for row in rows))
    base = altair_chart(rows).encode(y=alt.Y("method:N", sort=order, title=None))
    bars = base.mark_bar(height=11).encode(
        x=alt.X("lost:Q", title="itemsets lost, mean over the draws"),
        color=alt.Color(
            "family:N",
            title=None,
            scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
            legend=alt.Legend(orient="bottom"),
        ),
        tooltip=["method:N", "panel:N", "lost:Q", "low:Q", "high:Q"],
    )
    ranges = base.mark_rule(color=STONE).encode(x="low:Q", x2="high:Q")
    figures = base.mark_text(align="left", dx=4).encode(x="high:Q", text=alt.Text("lost:Q", format=",.4~g"))
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    charts = [
        alt.layer(bars, ranges, figures)
        .transform_filter(alt.datum.panel == panel)
        .properties(
            width=250, height=18 * len(order), title=alt.TitleParams(panel, fontSize=12, fontWeight="normal")
        )
        for panel in panels
    ]
    whole = alt.concat(*charts, columns=2, spacing=30)
    description = f"{title}: mean lost itemsets by method, for each threshold and number of sensitive sets."
    return picture(
        whole,
        title=title,
        subtitle="bar and figure: mean over the draws; line: their range; only methods with a solution for every draw",
        description=description,
    )


def _family(method: str) -> str:
    return next((family for family, methods in _FAMILIES.items() if method in methods), "heuristic")
