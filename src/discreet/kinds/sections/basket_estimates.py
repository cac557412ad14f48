"""Estimates from published baskets: the matrix of baskets and items as a density, and KL by the length of a query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.release import Release
from discreet.core.rng import generator
from discreet.measure import kl
from discreet.measure.baskets.kl_cells import published_part, true_cells

CELLS = 80
"""The most rows and columns of a density."""
_FEWEST = 20
"""The least number of baskets per row of a density on a page, so that no single basket is shown."""
_SMALLEST = 8
_FEWEST_HELD = 50
"""The least number of occurrences of sensitive items for which estimates are compared with the truth: figures of fewer
could be reproduced by guessing who holds what."""
_LENGTHS = (2, 3, 4, 6, 8)
_QUERIES = (10, 30)
_WORK = 2e7
_QUERY_SEED = 1


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
    field_counts = np.bincount(fields, minlength=height * width).reshape(height, width)
    sizes = np.outer(np.bincount(down, minlength=height), np.bincount(across, minlength=width))
    return np.asarray(field_counts / np.maximum(sizes, 1))


def error_band(baskets: Baskets) -> tuple[CodeArray, IntArray]:
    """Return the band order of the baskets, and the items by the mean place of their baskets; unused items last."""
    from discreet.kernels.baskets.cuthill_mckee import band_order

    rows = band_order(baskets.indptr, baskets.items, baskets.n_items)
    position = np.empty(rows.size)
    position[rows] = np.arange(rows.size)
    sums = np.bincount(baskets.items, weights=position[baskets.rows()], minlength=baskets.n_items)
    mean = np.where(baskets.counts > 0, sums / np.maximum(baskets.counts, 1), np.inf)
    return rows, np.argsort(mean, kind="stable")


def spread_of(baskets: Baskets, rows: IntArray | CodeArray, items: IntArray) -> float:
    """Return how far entries lie from the diagonal as a share of the matrix: about 1/3 where all is mixed."""
    down, across = np.empty(rows.size), np.empty(items.size)
    down[rows] = (np.arange(rows.size) + 0.5) / rows.size
    across[items] = (np.arange(items.size) + 0.5) / items.size
    off = np.abs(down[baskets.rows()] - across[baskets.items])
    return float(off.mean()) if off.size else 0.0


def page_grids(baskets: Baskets) -> tuple[FloatArray, FloatArray] | None:
    """Return the densities as published and in band order, or None where a field would stand for too few baskets."""
    height = min(CELLS, len(baskets) // _FEWEST)
    used = baskets.keep(baskets.counts > 0)
    if height < _SMALLEST or used.n_items < _SMALLEST:
        return None
    width = min(CELLS, used.n_items)
    # By a fixed seed, so that a release always has the same picture.
    mixed = np.random.default_rng(_QUERY_SEED).permutation(len(used))
    before = density(used, mixed, np.arange(used.n_items), height=height, width=width)
    after = density(used, *error_band(used), height=height, width=width)
    return before, after


def kl_curve_of(release: Release) -> Curve | None:
    """Measure the KL of random queries by their length, and what it would be had only totals been published.

    None where sensitive items are so few that the figures could reveal who holds them.
    """
    data = release.figures.public.grouped
    if data is None or data.sensitive.counts.sum() < _FEWEST_HELD:
        return None
    lengths = tuple(r for r in _LENGTHS if r <= data.baskets.n_items)
    n_queries = int(np.clip(_WORK / max(data.baskets.items.size, 1), *_QUERIES))
    # By a fixed seed, so that a release always has the same figures.
    rng = generator(_QUERY_SEED)
    occurring, original = np.flatnonzero(data.sensitive.overall), published_part(release)
    divergences = np.empty((len(lengths), n_queries, 2))
    for at, r in enumerate(lengths):
        for query in range(n_queries):
            sensitive = data.sensitive_names[int(rng.choice(occurring))].as_py()
            chosen = rng.choice(data.baskets.n_items, r, replace=False)
            items = [data.baskets.names[int(code)].as_py() for code in chosen]
            actual = true_cells(original, sensitive, items)
            divergences[at, query] = (
                kl(actual, data.cells(sensitive, items)),
                kl(actual, data.cells(None, items)),
            )
    mean, error = divergences.mean(axis=1), divergences.std(axis=1, ddof=1) / np.sqrt(n_queries)
    return Curve(lengths, mean[:, 0], error[:, 0], mean[:, 1], n_queries)
