"""Pictures of channels: charts of distributions, of p and q, written as SVG, PNG, JSON or an offline page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.collect.choose_pq import Choice, Choices
from discreet.collect.reconstruct.density import Density
from discreet.collect.reconstruct.histogram import Histogram
from discreet.core.arrays import FloatArray
from discreet.core.errors import OutputError
from discreet.engines.atomic import atomic_file
from discreet.measure.baskets.basic_privacy import reconstruction
from discreet.report.theme import (
    BLUE,
    INK,
    OCHRE,
    SHADES,
    SOFT,
    STONE,
    TEAL,
    WASH,
    altair_chart,
    in_page_colors,
    page_config,
    picture,
)

KINDS = (".svg", ".png", ".html", ".json")


def write_picture(spec: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a picture, all or nothing, in the format of the file name's ending: SVG, PNG, HTML or JSON."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in KINDS:
        raise OutputError(f"The name of a picture must end in {', '.join(KINDS)}.")
    with atomic_file(target) as temporary:
        temporary.write_bytes(encoded(spec, kind))
    return target


def encoded(spec: dict[str, Any], kind: str) -> bytes:
    """Return a picture as the bytes of a file with this ending."""
    if kind == ".json":
        return json.dumps(spec, indent=1, ensure_ascii=False).encode()
    import vl_convert

    if kind == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=2))
    if kind == ".svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    from discreet.kinds.blocks import Figure
    from discreet.report.page import page

    title = spec["title"]
    figure = Figure(title["text"], title.get("subtitle", ""), untitled(spec))
    return page([figure], title=title["text"], footer="This page shows one chart.").encode()


def untitled(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart for a page: without its title, which the page shows itself, as wide as the page, in its colors."""
    bare = {key: value for key, value in spec.items() if key not in ("title", "$schema", "config")}
    return {**in_page_colors(bare), **({"width": "container"} if "width" in bare else {}), **page_config()}


_FOUND, _TRUTH, _NOISY, _BAND = "reconstructed", "true", "noisy", "its band"
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
    has_band = density.lower is not None and density.upper is not None
    kinds = [kind for kind in (_FOUND, _TRUTH, _NOISY) if any(row["what"] == kind for row in lines)]
    kinds += [_BAND] if has_band else []
    colors = {_FOUND: TEAL, _TRUTH: INK, _NOISY: OCHRE, _BAND: BLUE}
    across = alt.X("at:Q", title="value of the column", scale=alt.Scale(nice=False, zero=False))
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
        layers.insert(0, _band(density, density.lower, density.upper, kinds, colors))
    return picture(
        alt.layer(*layers),
        title="Reconstructed distribution",
        subtitle=_subtitle(density),
        description="The reconstructed density on each interval, with the true and the noisy values where known.",
        width=520,
        height=300,
    )


def _band(
    density: Density, lower: FloatArray, upper: FloatArray, kinds: Sequence[str], colors: Mapping[str, str]
) -> Any:
    import altair as alt

    low, high, ends = lower / density.widths, upper / density.widths, density.edges
    rows = [
        {"what": _BAND, "at": _short(at), "low": _short(low[position]), "high": _short(high[position])}
        for at, position in zip(ends, [*range(low.size), low.size - 1], strict=True)
    ]
    return (
        altair_chart(rows)
        .mark_area(interpolate="step-after", opacity=0.18, stroke=STONE, strokeWidth=0.3)
        .encode(
            x=alt.X("at:Q"),
            y=alt.Y("low:Q"),
            y2="high:Q",
            color=alt.Color(
                "what:N", scale=alt.Scale(domain=list(kinds), range=[colors[kind] for kind in kinds])
            ),
        )
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


_SHOWN_FROM = 0.9
_CELLS = 50
_STEPS = (0.0, 40.0, 60.0, 80.0, 90.0, 95.0)
_BANDS = ("below 40", "40 to 60", "60 to 80", "80 to 90", "90 to 95", "95 and more")
_P, _Q = "p, the chance that a one stays", "q, the chance that a zero stays"


def privacy_plane(support: float) -> dict[str, Any]:
    """Draw basic privacy over all p and q at one average support, as figure 2 does, and larger where q is large."""
    import altair as alt

    return picture(
        alt.hconcat(_plane(support, 0.0), _plane(support, _SHOWN_FROM), spacing=30),
        title="How well a one is hidden",
        subtitle=f"basic privacy at an average support of {support:g}; on the right, q from {_SHOWN_FROM:g} on",
        description="Basic privacy by p and q, for all q and for large q.",
    )


def _plane(support: float, lowest: float) -> Any:
    import altair as alt

    domain = {"nice": False, "zero": False}
    return (
        altair_chart(_fields(support, lowest))
        .mark_rect()
        .encode(
            x=alt.X(
                "p:Q",
                title=_P,
                scale=alt.Scale(domain=[0, 1], **domain),
                axis=alt.Axis(tickCount=5, grid=False),
            ),
            x2="p2:Q",
            y=alt.Y(
                "q:Q", title=_Q, scale=alt.Scale(domain=[lowest, 1], **domain), axis=alt.Axis(grid=False)
            ),
            y2="q2:Q",
            color=alt.Color(
                "band:N",
                title="basic privacy, %",
                sort=list(_BANDS),
                scale=alt.Scale(domain=list(_BANDS), range=list(SHADES)),
            ),
        )
        .properties(width=270, height=270)
    )


def _fields(support: float, lowest: float) -> list[dict[str, Any]]:
    """Arrange a grid over the plane from the lowest q on, and name the band of every field's middle."""
    across, up = np.arange(_CELLS) / _CELLS, lowest + np.arange(_CELLS) / _CELLS * (1 - lowest)
    right, top = 1 / _CELLS, (1 - lowest) / _CELLS
    p, q = (point.ravel() for point in np.meshgrid(across, up))
    privacy = 100 * (1 - reconstruction(support, p=p + right / 2, q=q + top / 2))
    band = np.searchsorted(_STEPS, privacy, side="right") - 1
    return [
        {
            "p": round(float(point), 4),
            "p2": round(min(float(point) + 1.15 * right, 1.0), 5),
            "q": round(float(other), 5),
            "q2": round(min(float(other) + 1.15 * top, 1.0), 5),
            "band": _BANDS[which],
        }
        for point, other, which in zip(p, q, band, strict=True)
    ]


def acceptable_points(choices: Choices) -> dict[str, Any]:
    """Draw which grid points are private (circles) and which are accurate (crosses), as figure 3 does."""
    import altair as alt

    base = _grid([point for point in choices.points if point.q >= _SHOWN_FROM - 1e-9])
    neither = base.transform_filter("!datum.private && !datum.accurate")
    dots = neither.mark_point(shape="circle", size=8, filled=True, color=SOFT, opacity=0.5)
    return picture(
        alt.layer(*_marked(base, choices.at_least), dots),
        title="Acceptable p and q",
        subtitle=(
            f"average support {choices.support:g}, {choices.n_baskets:,} baskets, "
            f"error at most {1 + choices.tolerance:g} × MASK's"
        ),
        description="Which p and q are private enough, which are accurate enough, and which are both.",
        width=460,
        height=360,
    )


def _grid(points: Sequence[Choice]) -> Any:
    """Place the grid points, with what is known of each."""
    import altair as alt

    rows = [
        {
            "p": point.p,
            "q": point.q,
            "private": point.private,
            "accurate": point.accurate,
            "good": point.good,
            "privacy": round(point.basic_privacy, 2),
            "ratio": round(point.error_ratio, 3),
            "epsilon": round(point.epsilon, 2),
        }
        for point in points
    ]
    values = {"privacy": "basic privacy, %", "ratio": "error over MASK's", "epsilon": "epsilon of a bit"}
    return altair_chart(rows).encode(
        x=alt.X("p:Q", title=_P, scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(grid=True)),
        y=alt.Y(
            "q:Q",
            title=_Q,
            scale=alt.Scale(domain=[_SHOWN_FROM - 0.005, 0.995], nice=False, zero=False),
            axis=alt.Axis(format=".2f", values=[round(_SHOWN_FROM + step / 100, 2) for step in range(10)]),
        ),
        tooltip=["p:Q", "q:Q", *(alt.Tooltip(f"{field}:Q", title=word) for field, word in values.items())],
    )


def _marked(base: Any, at_least: float) -> list[Any]:
    """Mark the points that are private, those that are accurate, and those that are good in all."""
    import altair as alt

    drawn: dict[str, tuple[str, str, str, dict[str, Any]]] = {
        "good": ("both, and q large enough", "square", WASH, {"size": 520, "filled": True}),
        "private": (
            f"private: at least {at_least:g} %",
            "circle",
            TEAL,
            {"size": 170, "strokeWidth": 1.8, "filled": False},
        ),
        "accurate": ("accurate enough", "cross", OCHRE, {"size": 70, "angle": 45, "filled": True}),
    }
    words, symbols, colors, _ = (list(point) for point in zip(*drawn.values(), strict=True))
    legend = alt.Legend(title=None, orient="bottom", symbolSize=140)
    return [
        base.transform_filter(f"datum.{field}")
        .transform_calculate(what=f"'{word}'")
        .mark_point(opacity=1, **look)
        .encode(
            color=alt.Color("what:N", scale=alt.Scale(domain=words, range=colors), legend=legend),
            shape=alt.Shape("what:N", scale=alt.Scale(domain=words, range=symbols), legend=legend),
        )
        for field, (word, _, _, look) in drawn.items()
    ]
