"""KL over cells: the distance of the counts that an analyst estimates from grouped baskets to the true ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from discreet.core.arrays import FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import MOST_ITEMS, GroupedBaskets, cell_sums
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.core.release import Release
from discreet.core.rng import RandomState, generator


@public
@dataclass(frozen=True)
class CellError:
    """The mean KL over random group-by queries, its standard error, and how many queries there were."""

    mean: float
    standard_error: float
    n_queries: int


@public
def kl(actual: FloatArray, estimated: FloatArray, *, smoothing: float = 0.0) -> float:
    """Return KL(actual ‖ estimated) in nats, both scaled to sum to 1.

    Smoothing mixes the estimate with that share of the even distribution. None is needed for groups: where a basket
    with the sensitive item is in a cell, its group adds to the cell's estimate. Without smoothing a cell that is
    estimated as empty and is not makes it infinite.

    >>> import numpy as np
    >>> round(kl(np.array([1.0, 1.0]), np.array([1.0, 3.0])), 4), kl(np.array([1.0, 1.0]), np.array([1.0, 0.0]))
    (0.1438, inf)
    """
    require("kl", "smoothing", smoothing, FloatIn(0, 1))
    if actual.shape != estimated.shape or actual.sum() <= 0 or estimated.sum() <= 0:
        raise InputError("KL compares two counts of the same cells, neither of them empty.")
    p = actual.ravel() / actual.sum()
    q = (1 - smoothing) * estimated.ravel() / estimated.sum() + smoothing / estimated.size
    positive = p > 0
    with np.errstate(divide="ignore"):
        return max(float((p[positive] * np.log(p[positive] / q[positive])).sum()), 0.0)


@public
def kl_cells(
    original: Baskets,
    released: GroupedBaskets,
    sensitive: Any,
    items: Iterable[Any],
    *,
    smoothing: float = 0.0,
) -> float:
    """Compare a sensitive item's true and estimated shares over the cells that some ordinary items make."""
    listed = list(items)
    return kl(true_cells(original, sensitive, listed), released.cells(sensitive, listed), smoothing=smoothing)


@public
def mean_kl_cells(
    release: Release,
    *,
    r: int = 4,
    n_queries: int = 100,
    smoothing: float = 0.0,
    random_state: RandomState = None,
) -> CellError:
    """Average the KL over queries drawn at random: a sensitive item that occurs, and r different ordinary ones."""
    require("mean_kl_cells", "n_queries", n_queries, IntIn(1))
    released = release.data
    require(
        "mean_kl_cells", "release", released, InstanceOf((GroupedBaskets,), "a release of grouped baskets")
    )
    require("mean_kl_cells", "r", r, IntIn(1, min(released.baskets.n_items, MOST_ITEMS)))
    rng = generator(random_state, owner="mean_kl_cells")
    occurring = np.flatnonzero(released.sensitive.overall)
    if occurring.size == 0:
        raise InputError("No sensitive item occurs, so there is nothing to estimate.")
    original = published_part(release)
    divergences = np.empty(n_queries)
    for query in range(n_queries):
        sensitive = released.sensitive_names[int(rng.choice(occurring))].as_py()
        chosen = rng.choice(released.baskets.n_items, r, replace=False)
        items = [released.baskets.names[int(code)].as_py() for code in chosen]
        divergences[query] = kl_cells(original, released, sensitive, items, smoothing=smoothing)
    error = float(divergences.std(ddof=1) / np.sqrt(n_queries)) if n_queries > 1 else float("nan")
    return CellError(float(divergences.mean()), error, int(n_queries))


def published_part(release: Release) -> Baskets:
    """Return the original baskets that are published: those with an ordinary item, where the others are left out."""
    original: Baskets = release.original
    if release.evidence.suppressed == 0:
        return original
    ordinary = np.asarray(pc.is_in(original.names, value_set=release.data.baskets.names))
    return original.take(np.flatnonzero(original.keep(ordinary).lengths))


def true_cells(original: Baskets, sensitive: Any, items: list[Any]) -> FloatArray:
    """Count the baskets with a sensitive item in each of the cells that some ordinary items make."""
    code = original.codes_of([sensitive], parameter="sensitive")[0]
    holders = np.searchsorted(original.indptr, np.flatnonzero(original.items == code), side="right") - 1
    return cell_sums(original.take(holders), items, np.ones(holders.size))
