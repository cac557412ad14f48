"""Pictures of the CAHD experiment: matrices as densities, and KL by p, m, r and α."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.arrays import FloatArray
from discreet.report.basket_pictures import shades
from discreet.report.theme import BLUE, INK, LINE, OCHRE, SOFT, STONE, TEAL, altair_chart, picture
from experiments.cahd.runs import ANATOMY, CAHD, LEXICOGRAPHIC, PERM, RANDOMIZED, Point
from experiments.charts import at_points, band, colored, dotted, ranged

_COLORS = {CAHD: TEAL, RANDOMIZED: INK, LEXICOGRAPHIC: BLUE, PERM: OCHRE, ANATOMY: STONE}
_SIDE = 240
_WIDTH, _HEIGHT = 460, 260
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
    spec = picture(
        alt.vconcat(*lines, spacing=26),
        title="Baskets down, items across",
        subtitle="how densely each field of the matrix is filled; the darker the denser",
        description="Densities of matrices of baskets and items, before and after band ordering, by correlation.",
    )
    named = {f"grid-{number}": grid.ravel().tolist() for number, grid in enumerate(grids)}
    return spec | {"datasets": spec["datasets"] | named}


def _density(data: str, shape: tuple[int, ...], title: str) -> Any:
    import altair as alt

    height, width = shape
    across = alt.Scale(domain=[0, width], nice=False)
    down = alt.Scale(domain=[0, height], nice=False, reverse=True)
    x, y = alt.X("x:Q", axis=None, scale=across), alt.Y("y:Q", axis=None, scale=down)
    place = {"x": f"(datum.i - 1) % {width}", "y": f"floor((datum.i - 1) / {width})"}
    head = alt.TitleParams(title, fontSize=12, fontWeight="normal", offset=6)
    frame = _framed([{"x": 0, "x2": width, "y": 0, "y2": height}], x, y, color=LINE)
    return alt.layer(frame, _shaded(data, place, x, y, color=TEAL)).properties(
        width=_SIDE, height=_SIDE, title=head
    )


def _shaded(data: str, position: Mapping[str, str], x: Any, y: Any, *, color: str) -> Any:
    """Draw the fields of the named shades, each where ``position`` puts the i-th one, the fuller the darker."""
    import altair as alt

    return (
        alt.Chart(alt.NamedData(data))
        .transform_window(i="row_number()")
        .transform_filter("datum.data > 0")
        .transform_calculate(**position)
        .transform_calculate(x2="datum.x + 1.06", y2="datum.y + 1.06")
        .mark_rect(color=color, strokeWidth=0)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            opacity=alt.Opacity("data:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        )
    )


def _framed(corners: list[dict[str, Any]], x: Any, y: Any, *, color: str) -> Any:
    """Draw the frames of matrices."""
    return altair_chart(corners).mark_rect(fillOpacity=0, stroke=color).encode(x=x, x2="x2:Q", y=y, y2="y2:Q")


def kl_lines(title: str, points: Sequence[Point], *, by: str, across: str) -> dict[str, Any]:
    """Draw the mean KL and its range over the seeds by one parameter; dashed where p is 20 and there is another p."""
    import altair as alt

    degrees = [f"p = {p}" for p in sorted({point.p for point in points})] if by != "p" else []
    rows = [
        {"x": getattr(point, by), "method": point.method, "p": f"p = {point.p}", **ranged(point.kl, 6)}
        for point in points
    ]
    methods = {point.method for point in points}
    colors = {method: color for method, color in _COLORS.items() if method in methods}
    base = altair_chart(rows).encode(
        x=at_points(rows, "x", across, scale={"padding": 10}),
        color=colored("method", colors, columns=2, **_SYMBOLS),
    )
    if degrees:
        base = base.encode(detail="p:N")
    y = {"title": "mean KL, nats", "scale": alt.Scale(zero=True)}
    mean = base.encode(y=alt.Y("mean:Q", **y))
    line = mean.mark_line(strokeWidth=2)
    dots = mean.mark_point(filled=True, size=45, opacity=1).encode(
        tooltip=["method:N", "p:N", "x:Q", "mean:Q", "low:Q", "high:Q"]
    )
    return picture(
        alt.layer(
            band(base, y, opacity=0.1),
            line.encode(strokeDash=_dashes(degrees)) if len(degrees) > 1 else line,
            dots,
        ),
        title=title,
        subtitle="line: mean over the seeds, each with its own items and queries; band: their range",
        description=f"{title}: mean KL by {across} for every method.",
        width=_WIDTH,
        height=_HEIGHT,
    )


def _dashes(degrees: list[str]) -> Any:
    import altair as alt

    return alt.StrokeDash(
        "p:N",
        title=None,
        scale=alt.Scale(domain=degrees, range=[[1, 0], [5, 4]]),
        legend=alt.Legend(orient="bottom", symbolStrokeColor=SOFT, **_SYMBOLS),
    )


def times(title: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Draw processor seconds by p on a logarithmic scale, as figure 12 shows them."""
    import altair as alt

    words = dict.fromkeys(row["what"] for row in rows)
    chart = dotted(altair_chart(rows)).encode(
        x=at_points(rows, "p", "p, the privacy degree", scale={"padding": 10}),
        y=alt.Y(
            "seconds:Q",
            title="processor seconds",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(values=[10.0**power for power in range(-5, 5)]),
        ),
        color=colored("what", dict(zip(words, (BLUE, TEAL, OCHRE, STONE), strict=False))),
        tooltip=["what:N", "p:Q", alt.Tooltip("seconds:Q", format=".4f")],
    )
    description = f"{title}: processor seconds by the privacy degree."
    return picture(chart, title=title, description=description, width=_WIDTH, height=_HEIGHT)


def by_alpha(title: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Draw KL and processor seconds by α, as figure 13 shows them."""
    import altair as alt

    def panel(field: str, what: str, color: str) -> Any:
        return (
            dotted(altair_chart(rows), color=color)
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
    return picture(two, title=title, description=f"{title}: KL and time by α.")
