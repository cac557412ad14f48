"""Pictures of the experiment on parties: what a party sends and computes by the number of parties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.report.theme import OCHRE, TEAL, altair_chart, picture
from experiments.charts import SUBTITLE, at_points, band, colored, dotted, ranged
from experiments.parties.runs import Cost

_COLORS = {"busiest party": TEAL, "mean party": OCHRE}
_FIGURES = {
    "megabytes sent": {"busiest party": "bytes_busiest", "mean party": "bytes_mean"},
    "CPU seconds": {"busiest party": "cpu_busiest", "mean party": "cpu_mean"},
}


def by_parties(title: str, made: Mapping[int, Sequence[Cost]]) -> dict[str, Any]:
    """Draw bytes and CPU seconds by the number of parties, two panels."""
    import altair as alt

    panels = []
    for figure, series in _FIGURES.items():
        scale = 1e-6 if figure.startswith("mega") else 1.0
        rows = [
            {"parties": n, "who": who, **ranged([scale * getattr(one, key) for one in costs], 4)}
            for n, costs in made.items()
            for who, key in series.items()
        ]
        base = altair_chart(rows).encode(
            x=at_points(rows, "parties", "parties"), color=colored("who", _COLORS)
        )
        axis: dict[str, Any] = {"title": figure, "scale": alt.Scale(domainMin=0)}
        lines = dotted(base).encode(y=alt.Y("mean:Q", **axis))
        panels.append(alt.layer(band(base, axis), lines).properties(width=300, height=220))
    description = f"{title}: megabytes sent and CPU seconds of the busiest and the mean party."
    return picture(alt.hconcat(*panels, spacing=40), title=title, subtitle=SUBTITLE, description=description)
