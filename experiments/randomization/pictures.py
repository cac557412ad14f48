"""Pictures of the randomization experiment: shapes, accuracy, information loss, clusters, ratings, linkage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.report.theme import BLUE, INK, OCHRE, STONE, TEAL, altair_chart, picture
from experiments.charts import SUBTITLE, at_points, band, colored, dotted, ranged
from experiments.randomization.runs import (
    FUNCTIONS,
    ORIGINAL,
    RANDOMIZED,
    Accuracies,
    Losses,
    Pictured,
)

_LINES = {"original": INK, "randomized": OCHRE, "reconstructed": TEAL}
_TREES = {ORIGINAL: INK, "Local": TEAL, "ByClass": BLUE, "Global": STONE, RANDOMIZED: OCHRE}
_METHODS = {"bayes": "Bayes", "em": "EM"}


def shapes(shape: str, found: Sequence[Pictured]) -> dict[str, Any]:
    """Draw original, randomized and reconstructed densities, a panel for each noise and privacy."""
    import altair as alt

    rows = []
    for one in found:
        where = _where(one)
        rows += _steps(where, "original", one.truth.edges, one.truth.shares)
        rows += _steps(where, "randomized", one.noisy.edges, one.noisy.counts / one.noisy.n)
        rows += _steps(where, "reconstructed", one.found.edges, one.found.shares)
    order = [_where(one) for one in found]
    chart = (
        altair_chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X(
                "at:Q", title=None, scale=alt.Scale(domain=[-0.6, 1.6], clamp=True), axis=alt.Axis(grid=False)
            ),
            y=alt.Y("height:Q", title="density"),
            color=colored("what", _LINES),
            strokeDash=alt.StrokeDash(
                "what:N", scale=alt.Scale(domain=list(_LINES), range=[[5, 3], [1, 0], [1, 0]]), legend=None
            ),
            facet=alt.Facet("where:N", title=None, sort=order, columns=2, spacing=24),
        )
        .properties(width=330, height=170)
    )
    description = f"The {shape}: true, noisy and reconstructed densities under uniform and Gaussian noise."
    subtitle = f"{found[0].found.n:,} values on {found[0].found.shares.size} intervals"
    return picture(chart, title=shape.capitalize(), subtitle=subtitle, description=description)


def accuracy(noise: str, found: Sequence[Accuracies]) -> dict[str, Any]:
    """Draw accuracy against privacy, a panel for each function, with the range over the seeds."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "function": FUNCTIONS[one.function],
            "privacy": round(100 * one.privacy),
            "what": what,
            **ranged(one.of[what], 2),
        }
        for one in found
        for what in _TREES
    ]
    base = altair_chart(rows).encode(
        x=at_points(rows, "privacy", "privacy, %"), color=colored("what", _TREES)
    )
    y = {"title": "accuracy, %", "scale": alt.Scale(zero=False)}
    layers = alt.layer(
        band(base, y, opacity=0.13),
        dotted(base, size=36).encode(
            y=alt.Y("mean:Q", **y),
            strokeDash=alt.condition("datum.what == 'ByClass'", alt.value([5, 4]), alt.value([1, 0])),
            tooltip=["function:N", "what:N", "privacy:Q", "mean:Q", "low:Q", "high:Q"],
        ),
    ).properties(width=230, height=190)
    panels = layers.facet(
        facet=alt.Facet("function:N", title=None, sort=list(FUNCTIONS.values())), columns=3, spacing=26
    )
    description = f"Accuracy against privacy under {noise} noise, for five functions and five ways to learn."
    return picture(
        panels, title=f"Accuracy against privacy, {noise} noise", subtitle=SUBTITLE, description=description
    )


def information_loss(intervals: int, found: Sequence[Losses]) -> dict[str, Any]:
    """Draw the information loss of Bayes and EM as the number of values grows."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "where": f"{one.shape}, {one.noise} noise",
            "n": one.n,
            "what": _METHODS[one.method],
            **ranged(one.values, 5),
        }
        for one in found
    ]
    base = altair_chart(rows).encode(
        x=at_points(rows, "n", "values", scale={"type": "log"}, format="~s"),
        color=colored("what", dict(zip(_METHODS.values(), (OCHRE, TEAL), strict=True))),
    )
    y = {"title": "information loss"}
    layers = alt.layer(
        band(base, y, opacity=0.13), dotted(base, size=40).encode(y=alt.Y("mean:Q", **y))
    ).properties(width=300, height=170)
    order = list(dict.fromkeys(row["where"] for row in rows))
    panels = layers.facet(facet=alt.Facet("where:N", title=None, sort=order), columns=2, spacing=26)
    return picture(
        panels,
        title=f"Bayes and EM on {intervals} intervals",
        subtitle=f"half the L1 distance from the truth; {SUBTITLE}",
        description="Information loss of Bayes and EM as the number of values grows.",
    )


def kernel_losses(settings: Sequence[Any]) -> dict[str, Any]:
    """Draw the information loss of kernel densities, Bayes and EM as the number of values grows."""
    rows = [
        {"where": f"{setting.noise}, sd {setting.width:g}", "n": setting.n, "what": name, **ranged(values, 4)}
        for setting in settings
        for name, values in setting.of.items()
    ]
    colors = dict(zip(settings[0].of, (OCHRE, TEAL, STONE, BLUE), strict=True))
    title, subtitle = "Kernel densities beside Bayes and EM", "half the L1 distance from the truth"
    return _panels(rows, "n", "values", "information loss", colors, title, subtitle, over="draws", log=True)


def clusters(results: Sequence[Any]) -> dict[str, Any]:
    """Draw how far centers are from the truth as the noise widens."""
    rows = [
        {"where": result.noise, "width": result.width, "what": name, **ranged(values, 4)}
        for result in results
        for name, values in result.away.items()
    ]
    colors = dict(zip(results[0].away, (TEAL, OCHRE, INK), strict=True))
    title, subtitle = "Centers from noisy records", "distance of the true centers from the nearest one found"
    return _panels(rows, "width", "noise, sd", "distance", colors, title, subtitle)


def linkage(results: Sequence[Any]) -> dict[str, Any]:
    """Draw the share of noisy records that are linked as columns are added."""
    rows = [
        {
            "where": result.noise,
            "columns": result.columns,
            "what": f"{result.width:g} sd",
            **ranged(result.first, 4),
        }
        for result in results
    ]
    names = dict.fromkeys(row["what"] for row in rows)
    colors = dict(zip(names, (INK, BLUE, TEAL, OCHRE), strict=True))
    title, subtitle = "Linkage of noisy records", "share whose own record is the likeliest of all"
    return _panels(rows, "columns", "columns", "linked", colors, title, subtitle)


def ratings(results: Sequence[Any]) -> dict[str, Any]:
    """Draw the error of predicted ratings as the noise widens."""
    rows = [
        {"where": "MovieLens", "width": result.width, "what": name, **ranged(values, 4)}
        for result in results
        for name, values in (("predicted", result.error), ("own mean", result.mean_error))
    ]
    colors = {"predicted": TEAL, "own mean": STONE}
    title, subtitle = "Error of predicted ratings", "mean absolute error on ratings held out"
    return _panels(rows, "width", "noise, sd of a score", "error", colors, title, subtitle)


def _panels(
    rows: list[dict[str, Any]],
    field: str,
    across: str,
    up: str,
    colors: dict[str, str],
    title: str,
    subtitle: str,
    *,
    over: str = "seeds",
    log: bool = False,
) -> dict[str, Any]:
    """Draw a panel for each place: a line of means for each series, with the range over the seeds."""
    import altair as alt

    axis: dict[str, Any] = {"scale": {"type": "log"}, "format": "~s"} if log else {}
    base = altair_chart(rows).encode(x=at_points(rows, field, across, **axis), color=colored("what", colors))
    y = {"title": up, "scale": alt.Scale(zero=False)}
    layers = alt.layer(
        band(base, y, opacity=0.13), dotted(base, size=36).encode(y=alt.Y("mean:Q", **y))
    ).properties(width=230, height=170)
    order = list(dict.fromkeys(row["where"] for row in rows))
    panels = layers.facet(facet=alt.Facet("where:N", title=None, sort=order), columns=3, spacing=26)
    return picture(
        panels,
        title=title,
        subtitle=f"{subtitle}; {SUBTITLE.replace('seeds', over)}",
        description=f"{title}: {subtitle}.",
    )


def _where(one: Pictured) -> str:
    return f"{one.noise} noise, {100 * one.privacy:.0f} % privacy"


def _steps(where: str, what: str, edges: FloatArray, shares: FloatArray) -> list[dict[str, Any]]:
    heights = np.append(shares / np.diff(edges), 0.0)
    lines = [(edges[0], 0.0), *zip(edges, heights, strict=True)]
    return [
        {"where": where, "what": what, "at": round(float(at), 4), "height": round(float(height), 4)}
        for at, height in lines
    ]
