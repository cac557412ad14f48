"""Charts of published baskets: the matrix of baskets and items as a density, and KL by the length of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.release import Release
from discreet.core.rng import generator
from discreet.measure import kl
from discreet.measure.baskets.kl_cells import published_part, true_cells
from discreet.report.theme import PAGE, altair_chart, page_chart

CELLS = 80
"""The most rows and columns of a density."""
_FEWEST = 20
"""The least number of baskets per row of a density on a page, so that no single basket is shown."""
_SMALLEST = 8
_FEWEST_HELD = 50
"""The least number of occurrences of sensitive items for which estimates are compared with the truth: figures of fewer
could be reproduced by guessing who holds what."""
_GAP = 8
_LENGTHS = (2, 3, 4, 6, 8)
_QUERIES = (10, 30)
_WORK = 2e7
_QUERY_SEED = 1
RELEASED, TOTALS = "this release", "totals alone"


@dataclass(frozen=True, repr=False)
class Curve:
    """The mean KL over random queries by their number of items, its standard error, and that of totals alone."""

    lengths: tuple[int, ...]
    mean: FloatArray
    error: FloatArray
    totals: FloatArray
    n_queries: int


def density(
    baskets: Baskets, rows: IntArray | CodeArray, items: IntArray, *, height: int, width: int
) -> FloatArray:
    """Return the share of cells held in each field of a grid, with baskets and items in the orders given."""
    n, m = rows.size, items.size
    down, across = np.empty(len(baskets), np.int64), np.empty(baskets.n_items, np.int64)
    down[rows] = np.arange(n) * height // n
    across[items] = np.arange(m) * width // m
    fields = down[baskets.rows()] * width + across[baskets.items]
    held = np.bincount(fields, minlength=height * width).reshape(height, width)
    sizes = np.outer(np.bincount(down, minlength=height), np.bincount(across, minlength=width))
    return np.asarray(held / np.maximum(sizes, 1))


def band_of(baskets: Baskets) -> tuple[CodeArray, IntArray]:
    """Return the band order of the baskets, and the items by the mean place of their baskets; unused items last."""
    from discreet.kernels.baskets.cuthill_mckee import band_order

    rows = band_order(baskets.indptr, baskets.items, baskets.n_items)
    place = np.empty(rows.size)
    place[rows] = np.arange(rows.size)
    sums = np.bincount(baskets.items, weights=place[baskets.rows()], minlength=baskets.n_items)
    mean = np.where(baskets.counts > 0, sums / np.maximum(baskets.counts, 1), np.inf)
    return rows, np.argsort(mean, kind="stable")


def spread_of(baskets: Baskets, rows: IntArray | CodeArray, items: IntArray) -> float:
    """Return how far entries lie from the diagonal as a share of the matrix: about 1/3 where all is mixed."""
    down, across = np.empty(rows.size), np.empty(items.size)
    down[rows] = (np.arange(rows.size) + 0.5) / rows.size
    across[items] = (np.arange(items.size) + 0.5) / items.size
    off = np.abs(down[baskets.rows()] - across[baskets.items])
    return float(off.mean()) if off.size else 0.0


def shades(grids: Sequence[FloatArray]) -> list[FloatArray]:
    """Turn densities into shades from 0 to 1 that compare with each other: the root, so that thin fields show."""
    held = np.concatenate([grid[grid > 0] for grid in grids]) if grids else np.empty(0)
    full = float(np.quantile(held, 0.995)) if held.size else 1.0
    return [np.asarray(np.sqrt(np.minimum(grid / full, 1.0)), np.float64).round(3) for grid in grids]


def shaded(data: str, place: Mapping[str, str], x: Any, y: Any, *, color: str) -> Any:
    """Draw the fields of the named shades, each where ``place`` puts the i-th one, the fuller the darker."""
    import altair as alt

    return (
        alt.Chart(alt.NamedData(data))
        .transform_window(i="row_number()")
        .transform_filter("datum.data > 0")
        .transform_calculate(**place)
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


def framed(corners: list[dict[str, Any]], x: Any, y: Any, *, color: str) -> Any:
    """Draw the frames of matrices."""
    return altair_chart(corners).mark_rect(fillOpacity=0, stroke=color).encode(x=x, x2="x2:Q", y=y, y2="y2:Q")


def page_grids(baskets: Baskets) -> tuple[FloatArray, FloatArray] | None:
    """Return the densities as published and in band order, or None where a field would stand for too few baskets."""
    height = min(CELLS, len(baskets) // _FEWEST)
    used = baskets.keep(baskets.counts > 0)
    if height < _SMALLEST or used.n_items < _SMALLEST:
        return None
    width = min(CELLS, used.n_items)
    mixed = np.random.default_rng(_QUERY_SEED).permutation(len(used))
    before = density(used, mixed, np.arange(used.n_items), height=height, width=width)
    after = density(used, *band_of(used), height=height, width=width)
    return before, after


def matrices(grids: tuple[FloatArray, FloatArray]) -> dict[str, Any]:
    """Draw both densities side by side, for a page."""
    import altair as alt

    height, width = grids[0].shape
    flat = np.concatenate([grid.ravel() for grid in shades(grids)]).tolist()
    words = [
        {"x": 0, "word": "baskets in any order"},
        {"x": width + _GAP, "word": "baskets in band order"},
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 2 * width + _GAP], nice=False))
    frames = [{"x": left, "x2": left + width, "y": 0, "y2": height} for left in (0, width + _GAP)]
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], reverse=True, nice=False))
    place = {
        "x": f"(datum.i - 1) % {width} + (datum.i > {width * height} ? {width + _GAP} : 0)",
        "y": f"floor(((datum.i - 1) % {width * height}) / {width})",
    }
    field = shaded("grids", place, x, y, color=PAGE["after"])
    frame = framed(frames, x, y, color=PAGE["line"])
    titles = (
        altair_chart(words)
        .mark_text(align="left", baseline="bottom", color=PAGE["soft"], dy=-8)
        .encode(x=x, y=alt.value(0), text="word:N")
    )
    description = "Density of the matrix of baskets and items, in any order and in band order."
    spec = page_chart(alt.layer(frame, field, titles), height=340, description=description)
    return spec | {"datasets": spec["datasets"] | {"grids": flat}}


def kl_curve_of(release: Release) -> Curve | None:
    """Measure the KL of random queries by their length, and what it would be had only totals been published.

    None where sensitive items are so few that the figures could reveal who holds them.
    """
    data = release.data
    if not isinstance(data, GroupedBaskets) or data.sensitive.counts.sum() < _FEWEST_HELD:
        return None
    lengths = tuple(r for r in _LENGTHS if r <= data.baskets.n_items)
    n_queries = int(np.clip(_WORK / max(data.baskets.items.size, 1), *_QUERIES))
    rng = generator(_QUERY_SEED)
    occurring, original = np.flatnonzero(data.sensitive.overall), published_part(release)
    found = np.empty((len(lengths), n_queries, 2))
    for at, r in enumerate(lengths):
        for query in range(n_queries):
            sensitive = data.sensitive_names[int(rng.choice(occurring))].as_py()
            chosen = rng.choice(data.baskets.n_items, r, replace=False)
            items = [data.baskets.names[int(code)].as_py() for code in chosen]
            actual = true_cells(original, sensitive, items)
            found[at, query] = kl(actual, data.cells(sensitive, items)), kl(actual, data.cells(None, items))
    mean, error = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(n_queries)
    return Curve(lengths, mean[:, 0], error[:, 0], mean[:, 1], n_queries)


def kl_curve(curve: Curve) -> dict[str, Any]:
    """Draw the KL by the number of items, and that of totals alone, for a page."""
    import altair as alt

    none = np.zeros(curve.totals.size)
    rows = [
        *_points(curve, RELEASED, curve.mean, 2 * curve.error),
        *_points(curve, TOTALS, curve.totals, none),
    ]
    base = altair_chart(rows).encode(
        x=alt.X(
            "r:Q",
            title="items in the query",
            scale=alt.Scale(nice=False, padding=14),
            axis=alt.Axis(values=list(curve.lengths), grid=False),
        ),
        color=alt.Color(
            "whose:N",
            title=None,
            scale=alt.Scale(domain=[RELEASED, TOTALS], range=[PAGE["after"], PAGE["before"]]),
            legend=alt.Legend(orient="top", symbolType="circle"),
        ),
    )
    y = {
        "title": "KL divergence, nats",
        "axis": alt.Axis(tickCount=5, grid=True),
        "scale": alt.Scale(zero=True),
    }
    layers = alt.layer(
        base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=alt.Y("mean:Q", **y)),
        base.mark_point(filled=True, size=48, opacity=1).encode(
            y=alt.Y("mean:Q", **y),
            tooltip=["whose:N", "r:Q", alt.Tooltip("mean:Q", title="mean KL", format=".4f")],
        ),
    )
    description = "Mean KL divergence of estimated from true counts, by the number of items in the query."
    return page_chart(layers, height=260, description=description)


def _points(curve: Curve, whose: str, means: FloatArray, errors: FloatArray) -> list[dict[str, Any]]:
    return [
        {
            "r": r,
            "whose": whose,
            "mean": round(float(mean), 4),
            "low": round(max(float(mean - off), 0.0), 4),
            "high": round(float(mean + off), 4),
        }
        for r, mean, off in zip(curve.lengths, means, errors, strict=True)
    ]
