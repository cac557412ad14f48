"""Pictures of densities: a reconstructed distribution with its band, the noisy values and the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.collect.reconstruct.density import Density
from discreet.collect.reconstruct.histogram import Histogram
from discreet.core.arrays import FloatArray
from discreet.report.theme import BLUE, INK, OCHRE, STONE, TEAL, altair_chart, picture

_FOUND, _TRUTH, _NOISY = "reconstructed", "true", "noisy"
_MOST_BINS = 200


def chart(
    density: Density, *, truth: Density | None = None, noisy: Histogram | None = None
) -> dict[str, Any]:
    """Draw a density as steps, with its band, and the truth and the noisy values where they are given.

    The picture is a Vega-Lite specification.
    """
    import altair as alt

    lines = [*_steps(_FOUND, density.edges, density.shares)]
    if truth is not None:
        lines += _steps(_TRUTH, truth.edges, truth.shares)
    if noisy is not None:
        thin = noisy.coarser(max(1, -(-noisy.counts.size // _MOST_BINS)))
        lines += _steps(_NOISY, thin.edges, thin.counts / max(thin.n, 1))
    kinds = [kind for kind in (_FOUND, _TRUTH, _NOISY) if any(row["what"] == kind for row in lines)]
    colors = {_FOUND: TEAL, _TRUTH: INK, _NOISY: OCHRE}
    across = alt.X("at:Q", title="value", scale=alt.Scale(nice=False, zero=False))
    drawn = (
        altair_chart(lines)
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=across,
            y=alt.Y("height:Q", title="density"),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=[colors[kind] for kind in kinds]),
                legend=alt.Legend(orient="bottom"),
            ),
            strokeDash=alt.StrokeDash(
                "what:N",
                scale=alt.Scale(domain=kinds, range=[[5, 3] if kind == _TRUTH else [1, 0] for kind in kinds]),
                legend=None,
            ),
        )
    )
    layers = [drawn]
    if density.lower is not None and density.upper is not None:
        layers.insert(0, _band(density, density.lower, density.upper))
    return picture(
        alt.layer(*layers),
        title="Reconstructed distribution",
        subtitle=_subtitle(density),
        description="The reconstructed density on each interval, with the true and the noisy values where known.",
        width=520,
        height=300,
    )


def _band(density: Density, lower: FloatArray, upper: FloatArray) -> Any:
    import altair as alt

    low, high, ends = lower / density.widths, upper / density.widths, density.edges
    rows = [
        {"at": _short(at), "low": _short(low[position]), "high": _short(high[position])}
        for at, position in zip(ends, [*range(low.size), low.size - 1], strict=True)
    ]
    return (
        altair_chart(rows)
        .mark_area(interpolate="step-after", opacity=0.18, color=BLUE, stroke=STONE, strokeWidth=0.3)
        .encode(x=alt.X("at:Q"), y=alt.Y("low:Q"), y2="high:Q")
    )


def _steps(what: str, edges: FloatArray, shares: FloatArray) -> list[dict[str, Any]]:
    height = np.append(shares / np.diff(edges), 0.0)
    return [
        {"what": what, "at": _short(at), "height": _short(step)}
        for at, step in zip(edges, height, strict=True)
    ]


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _subtitle(density: Density) -> str:
    learned = "" if density.n is None else f"from {density.n:,} noisy values, "
    band = "" if density.lower is None else ", with its band"
    steps = f", {density.iterations} steps" if density.iterations else ""
    return f"{learned}on {density.shares.size} intervals{steps}{band}"
