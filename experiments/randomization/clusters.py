"""Clusters from noisy records: a mixture that knows the noise beside k-means of the noisy records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from discreet.collect import AdditiveNoise
from discreet.core.arrays import FloatArray, IntArray
from experiments.page import Cell, Page, spread
from experiments.randomization import pictures
from experiments.randomization.kernel import NOISES

CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 6.0]])
_SPREADS = np.array([[1.0, 0.4], [0.4, 1.0], [0.6, 0.6]])
_SHARES = (0.6, 0.3, 0.1)
MIXTURE, NOISY, TRUE = "mixture", "k-means, noisy", "k-means, true"
_WIDTHS = (0.25, 0.5, 1.0, 2.0)
_RECORDS = {False: 5_000, True: 1_000}


@dataclass
class Clustering:
    """What one way to cluster came to under one noise: a figure for each seed."""

    noise: str
    width: float
    rand: dict[str, list[float]] = field(default_factory=dict)
    away: dict[str, list[float]] = field(default_factory=dict)


def people(n: int, seed: int) -> tuple[FloatArray, IntArray]:
    """Draw three clusters of unequal sizes and shapes."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, n, p=_SHARES)
    return CENTERS[labels] + rng.normal(size=(n, 2)) * _SPREADS[labels], labels


def clustering(noise: str, width: float, *, n: int, seeds: Sequence[int]) -> Clustering:
    """Cluster noisy records, and judge by the true ones."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    from discreet.mine import NoisyMixture

    result, kind = Clustering(noise, width), NOISES[noise]
    for seed in seeds:
        true, labels = people(n, seed)
        channels = [
            AdditiveNoise(kind(width * sd * kind(1.0).unit_precision ** 0.5))  # type: ignore[call-arg]
            for sd in true.std(axis=0)
        ]
        rng = np.random.default_rng([seed, round(100 * width)])
        noisy = np.column_stack(
            [
                channel.perturb(column, random_state=rng)
                for channel, column in zip(channels, true.T, strict=True)
            ]
        )
        models = {
            MIXTURE: NoisyMixture(channels, 3, random_state=seed).fit(noisy),
            NOISY: KMeans(3, n_init=5, random_state=seed).fit(noisy),
            TRUE: KMeans(3, n_init=5, random_state=seed).fit(true),
        }
        for name, model in models.items():
            result.rand.setdefault(name, []).append(adjusted_rand_score(labels, model.predict(true)))
            apart = np.sqrt(((CENTERS[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2))
            result.away.setdefault(name, []).append(float(apart.min(axis=1).mean()))
    return result


def section(page: Page, *, quick: bool, seeds: Sequence[int]) -> None:
    """Make the table and the picture."""
    n = _RECORDS[quick]
    page.section(
        "Clustering",
        f"{n:,} records in three clusters of unequal sizes and shapes, with noise of 0.25 to 2 standard deviations of "
        "each column. The mixture knows the covariance of the noise; k-means takes noisy records for true ones. Both "
        "are judged on true records: by the adjusted Rand index of the clusters they are assigned to, and by how far "
        "the true centers are from the nearest one found.",
    )
    results = []
    for noise, width in product(NOISES, _WIDTHS):
        page.log(f"clusters, {noise} noise of {width:g} standard deviations")
        results.append(clustering(noise, width, n=n, seeds=seeds))
    names = (MIXTURE, NOISY, TRUE)
    columns = [f"{measure}, {name}" for measure in ("Rand", "centers") for name in names]
    rows: list[list[Cell]] = [
        [
            result.noise,
            result.width,
            *(spread(figures[name], 3) for figures in (result.rand, result.away) for name in names),
        ]
        for result in results
    ]
    page.table(
        "clusters",
        "Clusters from noisy records",
        ["noise", "its sd", *columns],
        rows,
        note=_exceptions(results),
    )
    page.picture("clusters-picture", "Centers from noisy records", pictures.clusters(results))


def _exceptions(results: Sequence[Clustering]) -> str:
    """Return where k-means of noisy records does better than the mixture."""
    cases = []
    for result in results:
        where = f"{result.noise} noise of {result.width:g} sd"
        if np.mean(result.rand[MIXTURE]) < np.mean(result.rand[NOISY]):
            cases.append(f"by the Rand index under {where}")
        if np.mean(result.away[MIXTURE]) > np.mean(result.away[NOISY]):
            cases.append(f"by its centers under {where}")
    if not cases:
        return "The mixture does better than k-means of the noisy records everywhere here."
    return f"k-means of the noisy records does better than the mixture {', '.join(cases)}."
