"""Pictures of the CAHD experiment: matrices as densities, and KL by p, m, r and α."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.core.arrays import FloatArray
from discreet.experiments.cahd_runs import ANATOMY, CAHD, LEXICOGRAPHIC, PERM, Point
from discreet.report.basket_pictures import shades
from discreet.report.pictures import BLUE, LINE, OCHRE, SOFT, STONE, TEAL, finished, standing

_COLOURS = {CAHD: TEAL, LEXICOGRAPHIC: BLUE, PERM: OCHRE, ANATOMY: STONE}
_SIDE = 240
_SYMBOLS: dict[str, Any] = {
    "symbolType": "stroke",
    "symbolOpacity": 1,
    "symbolStrokeWidth": 2,
    "symbolSize": 260,
}


def matrix_pairs(pairs: Sequence[tuple[str, FloatArray, FloatArray]]) -> dict[str, Any]:
    """Draw matrices before and after band ordering, a pair below the other, as figure 6 does."""
    import altair as alt

    grids = shades([grid for _, before, after in pairs for grid in (before, after)])
    lines = []
    for number, (title, _, _) in enumerate(pairs):
        two = [
            _density(f"grid-{2 * number + at}", grids[2 * number + at].shape, f"{title}: {word}")
            for at, word in enumerate(("as generated", "band order"))
        ]
        lines.append(alt.hconcat(*two, spacing=30))
    spec = finished(
        alt.vconcat(*lines, spacing=26),
        title="Baskets down, items across",
        subtitle="how densely each field of the matrix is filled; the darker the denser",
        told="Densities of matrices of baskets and items, before and after band ordering, by correlation.",
    )
    named = {f"grid-{number}": grid.ravel().tolist() for number, grid in enumerate(grids)}
    return spec | {"datasets": spec.get("datasets", {}) | named}


def _density(data: str, shape: tuple[int, ...], title: str) -> Any:
    import altair as alt

    height, width = shape
    across = alt.Scale(domain=[0, width], nice=False)
    down = alt.Scale(domain=[0, height], nice=False, reverse=True)
    x, y = alt.X("x:Q", axis=None, scale=across), alt.Y("y:Q", axis=None, scale=down)
    fields = (
        alt.Chart(alt.NamedData(data))
        .transform_window(i="row_number()")
        .transform_filter("datum.data > 0")
        .transform_calculate(x=f"(datum.i - 1) % {width}", y=f"floor((datum.i - 1) / {width})")
        .transform_calculate(x2="datum.x + 1.06", y2="datum.y + 1.06")
        .mark_rect(color=TEAL, strokeWidth=0)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            opacity=alt.Opacity("data:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        )
    )
    frame = (
        standing([{"x": 0, "x2": width, "y": 0, "y2": height}])
        .mark_rect(fillOpacity=0, stroke=LINE)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
    )
    head = alt.TitleParams(title, fontSize=12, fontWeight="normal", offset=6)
    return alt.layer(frame, fields).properties(width=_SIDE, height=_SIDE, title=head)


def kl_lines(title: str, points: Sequence[Point], *, by: str, across: str) -> dict[str, Any]:
    """Draw the mean KL and its range over the seeds by one parameter; dashed where p is 20 and there is another p."""
    import altair as alt

    degrees = sorted({point.p for point in points}) if by != "p" else []
    rows = [
        {
            "x": getattr(point, by),
            "method": point.method,
            "p": f"p = {point.p}",
            "mean": round(point.mean, 6),
            "low": round(min(point.kl), 6),
            "high": round(max(point.kl), 6),
        }
        for point in points
    ]
    methods = [method for method in _COLOURS if any(point.method == method for point in points)]
    base = standing(rows).encode(
        x=alt.X(
            "x:Q",
            title=across,
            scale=alt.Scale(nice=False, padding=10),
            axis=alt.Axis(values=sorted({row["x"] for row in rows}), grid=False),
        ),
        color=alt.Color(
            "method:N",
            title=None,
            scale=alt.Scale(domain=methods, range=[_COLOURS[method] for method in methods]),
            legend=alt.Legend(orient="bottom", columns=2, **_SYMBOLS),
        ),
    )
    if degrees:
        base = base.encode(detail="p:N")
    line = base.mark_line(strokeWidth=2)
    if len(degrees) > 1:
        dashes = alt.Scale(domain=[f"p = {one}" for one in degrees], range=[[1, 0], [5, 4]])
        legend = alt.Legend(orient="bottom", symbolStrokeColor=SOFT, **_SYMBOLS)
        line = line.encode(strokeDash=alt.StrokeDash("p:N", title=None, scale=dashes, legend=legend))
    y = {"title": "mean KL, nats", "scale": alt.Scale(zero=True)}
    layers = alt.layer(
        base.mark_area(opacity=0.1, strokeWidth=0).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        line.encode(y=alt.Y("mean:Q", **y)),
        base.mark_point(filled=True, size=45, opacity=1).encode(
            y=alt.Y("mean:Q", **y), tooltip=["method:N", "p:N", "x:Q", "mean:Q", "low:Q", "high:Q"]
        ),
    )
    return finished(
        layers,
        title=title,
        subtitle="line: mean over the seeds, each with its own items and queries; band: their range",
        told=f"{title}: mean KL by {across} for every method.",
        width=460,
        height=260,
    )


def times(title: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Draw processor seconds by p on a logarithmic scale, as figure 12 shows them."""
    import altair as alt

    words = list(dict.fromkeys(row["what"] for row in rows))
    chart = (
        standing(list(rows))
        .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2)
        .encode(
            x=alt.X(
                "p:Q",
                title="p, the privacy degree",
                scale=alt.Scale(nice=False, padding=10),
                axis=alt.Axis(values=sorted({row["p"] for row in rows}), grid=False),
            ),
            y=alt.Y(
                "seconds:Q",
                title="processor seconds",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(values=[10.0**power for power in range(-5, 5)]),
            ),
            color=alt.Color(
                "what:N",
                title=None,
                sort=words,
                scale=alt.Scale(domain=words, range=[BLUE, TEAL, OCHRE][: len(words)]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=["what:N", "p:Q", alt.Tooltip("seconds:Q", format=".4f")],
        )
    )
    told = f"{title}: processor seconds by the privacy degree."
    return finished(chart, title=title, told=told, width=460, height=260)


def by_alpha(title: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Draw KL and processor seconds by α, as figure 13 shows them."""
    import altair as alt

    def panel(field: str, what: str, colour: str) -> Any:
        return (
            standing(list(rows))
            .mark_line(point=alt.OverlayMarkDef(size=45, color=colour), strokeWidth=2, color=colour)
            .encode(
                x=alt.X("alpha:O", title="α", axis=alt.Axis(labelAngle=0)),
                y=alt.Y(f"{field}:Q", title=what, scale=alt.Scale(zero=True)),
                tooltip=["alpha:O", f"{field}:Q"],
            )
            .properties(width=220, height=220)
        )

    two = alt.hconcat(
        panel("kl", "mean KL, nats", TEAL), panel("seconds", "processor seconds", OCHRE), spacing=30
    )
    return finished(two, title=title, told=f"{title}: KL and time by α.")
