"""Pictures of the EMASK experiment: our figures beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.report.theme import COLORS, OCHRE, TEAL, altair_chart, picture
from experiments.charts import at_points, colored, dotted, ranged
from experiments.emask.paper import Level, Row
from experiments.emask.runs import Runs

OURS, PAPER = "ours", "the paper's"
_ERRORS = {
    "false_positives": "false positives",
    "false_negatives": "false negatives",
    "support_error": "support error",
}


def summary(title: str, runs: Sequence[Runs], rows: Sequence[Row], *, privacy: bool) -> dict[str, Any]:
    """Draw privacy or errors for every p and q: the mean over the seeds, their range, and the paper's figure."""
    points = []
    for run, row in zip(runs, rows, strict=True):
        where = f"{row.p:g}, {row.q:g}"
        if privacy:
            several = {
                "basic": ([run.basic_privacy], row.basic_privacy),
                "re-interrogated": (run.privacy, row.reinterrogated_privacy),
            }
        else:
            several = {word: (run.of(name), getattr(row, name)) for name, word in _ERRORS.items()}
        for word, (values, other) in several.items():
            points.append(_point(where, word, OURS, values))
            points.append(_point(where, word, PAPER, [other]))
    order = [f"{row.p:g}, {row.q:g}" for row in rows]
    label = "privacy, %" if privacy else "%"
    description = f"{title}: ours and the paper's, by p and q."
    return _compared(
        points, order, "p, q", label, title, description, width=max(150, 46 * len(rows)), zero=not privacy
    )


def by_length(title: str, run: Runs, paper: Mapping[int, Level]) -> dict[str, Any]:
    """Draw the errors of one p and q by the itemsets' length."""
    lengths = sorted(set(paper) | {length for level in run.levels for length in level})
    points = []
    for length in lengths:
        for name, word in _ERRORS.items():
            if values := [value for value in run.at(length, name) if np.isfinite(value)]:
                points.append(_point(str(length), word, OURS, values))
            if length in paper:
                points.append(_point(str(length), word, PAPER, [getattr(paper[length], name)]))
    order = [str(length) for length in lengths]
    description = f"{title}: errors by the itemsets' length, ours and the paper's."
    return _compared(points, order, "items in the set", "%", title, description, width=190, zero=True)


def run_times(times: Sequence[tuple[float, str, float]]) -> dict[str, Any]:
    """Draw the time to mine by the minimum support, on a logarithmic scale, as figure 1 does."""
    import altair as alt

    rows = [{"support": 100 * least, "what": what, "seconds": seconds} for least, what, seconds in times]
    words = dict.fromkeys(what for _, what, _ in times)
    chart = dotted(altair_chart(rows)).encode(
        x=at_points(
            rows,
            "support",
            "minimum support, %",
            scale={"zero": False, "padding": 0},
            labelExpr="datum.value",
        ),
        y=alt.Y(
            "seconds:Q", title="processor seconds", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5)
        ),
        color=colored("what", dict(zip(words, COLORS, strict=False)), columns=2, labelLimit=300),
        tooltip=["what:N", "support:Q", alt.Tooltip("seconds:Q", format=".3f")],
    )
    return picture(
        chart,
        title="Time to mine true and distorted baskets",
        subtitle="logarithmic; MASK and Apriori count basket by basket, as in the paper; ours from bit columns",
        description="Processor seconds to mine by the minimum support.",
        width=480,
        height=300,
    )


def margins(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Draw what the margin does to false positives and negatives."""
    import altair as alt

    chart = (
        dotted(altair_chart(rows))
        .encode(
            x=alt.X("margin:O", title="margin, standard errors", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("value:Q", title="% of the true itemsets"),
            color=colored("what", {"false negatives": OCHRE, "false positives": TEAL}),
            column=alt.Column(
                "where:N", title=None, sort=list(dict.fromkeys(row["where"] for row in rows)), spacing=24
            ),
        )
        .properties(width=130, height=220)
    )
    return picture(
        chart,
        title="What a margin buys, by p and q",
        subtitle="sets that may be frequent are kept: fewer true ones are missed, more false ones come along",
        description="False positives and false negatives by the margin.",
    )


def _point(where: str, what: str, whose: str, values: Sequence[float]) -> dict[str, Any]:
    return {"where": where, "what": what, "whose": whose, **ranged(values, 4)}


def _compared(
    points: list[dict[str, Any]],
    order: list[str],
    across: str,
    up: str,
    title: str,
    description: str,
    *,
    width: int,
    zero: bool,
) -> dict[str, Any]:
    """Draw dots with their range, ours beside the paper's, a panel for each measure."""
    import altair as alt

    angle = 0 if max(map(len, order)) < 3 else -45
    base = altair_chart(points).encode(
        x=alt.X("where:N", title=across, sort=order, axis=alt.Axis(labelAngle=angle, grid=True)),
        xOffset=alt.XOffset("whose:N", sort=[OURS, PAPER]),
        color=colored("whose", {OURS: TEAL, PAPER: OCHRE}),
    )
    y = {"title": up, "scale": alt.Scale(zero=zero)}
    layers = alt.layer(
        base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            y=alt.Y("mean:Q", **y),
            shape=alt.Shape(
                "whose:N", title=None, scale=alt.Scale(domain=[OURS, PAPER], range=["circle", "diamond"])
            ),
            tooltip=["where:N", "what:N", "whose:N", "mean:Q", "low:Q", "high:Q"],
        ),
    ).properties(width=width, height=230)
    panels = layers.facet(
        column=alt.Column("what:N", title=None, sort=list(dict.fromkeys(one["what"] for one in points))),
        spacing=26,
    ).resolve_scale(y="independent")
    return picture(
        panels, title=title, subtitle="dot: mean over the seeds; bar: their range", description=description
    )
