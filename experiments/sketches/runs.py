"""Runs of the sketch experiment: classifying and clustering sketches, and the time that k-variance takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.records.sketches import Sketches
from discreet.core.records.sparse_rows import SparseRows
from discreet.guarantees import TOLERANCE
from discreet.mine import SketchKMeans, SketchNeighbors
from discreet.publish import DeltaSketch, KVarianceSketch, SketchFamily
from discreet.publish.sketches.k_variance_sketch import Neighborhoods
from experiments.sketches.data import Sample
from experiments.timing import fastest

NEIGHBORS = 10
"""How many neighbors vote."""
CLUSTERS = 10
COMPONENTS = 500
"""The longest sketch."""
_STEPS = 20
_EQUAL = 1e-9
"""Records nearer to each other than this share of their squares are equal."""

Promise = Literal["whole", "root", "distance", "arithmetic", "δ"]
"""What is kept: k-variance by the whole gap, by its root, by distances or by these in the paper's own arithmetic; or
δ-anonymity."""


@dataclass(frozen=True, repr=False)
class Published:
    """Sketches, whose they are, and the share of the records that was suppressed."""

    data: Sketches
    order: IntArray
    suppressed: float


@dataclass
class Runs:
    """What one promise came to, a number for each seed: what is mined, from the original, and what was published.

    ``chance`` is what one reaches who draws classes by their shares, or puts records into clusters at random.
    """

    promise: Promise
    level: float
    chance: float
    found: list[float] = field(default_factory=list)
    original: list[float] = field(default_factory=list)
    suppressed: list[float] = field(default_factory=list)
    median: list[float] = field(default_factory=list)

    @property
    def gained(self) -> float:
        """How far above chance the sketches come, as a share of how far the original does."""
        return float((np.mean(self.found) - self.chance) / (np.mean(self.original) - self.chance))

    @property
    def ratio(self) -> float:
        """The mean quality from sketches over that from the original records."""
        return float(np.mean(self.found) / np.mean(self.original))

    @property
    def ratios(self) -> list[float]:
        """The same for each seed."""
        return [found / original for found, original in zip(self.found, self.original, strict=True)]


@dataclass(frozen=True, repr=False)
class _Split:
    train: IntArray
    test: IntArray
    classified: IntArray
    """The places of the test records that are classified."""


def family_of(seed: int) -> SketchFamily:
    """Return the signs of a seed."""
    return SketchFamily(f"experiment {seed}", components=COMPONENTS)


def neighborhoods(
    records: SparseRows, promises: Sequence[Promise], levels: Sequence[float]
) -> Neighborhoods | None:
    """Find the neighbors for the largest k once, for all promises about them; None where none is."""
    if set(promises) <= {"δ"}:
        return None
    return KVarianceSketch(int(max(levels)), family=family_of(1)).neighbors(records)


def released(
    records: SparseRows, near: Neighborhoods | None, promise: Promise, level: float, family: SketchFamily
) -> Published:
    """Publish records as if they were all there are; ``near`` are their neighbors, if the promise is about these."""
    if promise == "δ":
        lengths = DeltaSketch(level, family=family).lengths(records)
    elif promise == "arithmetic":
        lengths = lengths_by_arithmetic(records, int(level), family, near)
    else:
        method = KVarianceSketch(int(level), family=family, gap=promise)
        lengths = method.lengths(records, neighbors=near).lengths
    order = np.flatnonzero(lengths)
    suppressed = 1 - order.size / lengths.size
    return Published(family.publish(records.take(order), lengths=lengths[order]), order, suppressed)


def lengths_by_arithmetic(
    records: SparseRows, k: int, family: SketchFamily, near: Neighborhoods | None = None
) -> IntArray:
    """Return the lengths of sketches by distances as the paper computes variances, for values that are not negative.

    Lengths of records count as known there, so D = ‖X − Y‖² is estimated with four times the variance of the dot
    product, ‖X‖²‖Y‖² − (X·Y)² over the components: c = 4(‖X‖²‖Y‖² − (X·Y)²)/D. It can be above the exact variance, and
    is no promise of the package.
    """
    from discreet.kernels.sketches.k_variance import longest_lengths

    found = KVarianceSketch(k, family=family).lengths(records, neighbors=near)
    # By the whole gap a pair's cap is (1 + cos)/(1 - cos), and infinite where the two are parallel.
    cosines = 1 - 2 / (found.caps + 1)
    first, second = records.squared_norms[:, None], records.squared_norms[found.neighbors]
    distances = first + second - 2 * np.sqrt(first * second) * cosines
    apart = distances > _EQUAL * (first + second)
    variances = 4 * first * second * (1 - cosines**2)
    caps = np.where(apart, variances / np.where(apart, distances, 1.0), np.inf)
    limits = np.floor(np.minimum(caps * (1 + TOLERANCE), family.components)).astype(np.int32)
    order = np.argsort(cosines[:, -1], kind="stable")
    lengths, _ = longest_lengths(found.neighbors, limits, order, int(family.components))
    return np.asarray(lengths, np.int64)


def classified(
    sample: Sample,
    promises: Sequence[Promise],
    levels: Sequence[float],
    seeds: Sequence[int],
    *,
    n_classified: int,
) -> list[list[Runs]]:
    """Classify sketches of a third of the records by sketches of the rest, both published apart, by each promise."""
    shares = np.bincount(sample.labels) / sample.labels.size
    runs = _no_runs(promises, levels, float((shares**2).sum()))
    for seed in seeds:
        split = _split(len(sample.rows), seed, n_classified)
        before = _original_accuracy(sample, split)
        train, test = (sample.rows.take(part) for part in (split.train, split.test))
        near = [neighborhoods(part, promises, levels) for part in (train, test)]
        for run in chain(*runs):
            learned = released(train, near[0], run.promise, run.level, family_of(seed))
            asked = released(test, near[1], run.promise, run.level, family_of(seed))
            run.found.append(_accuracy(sample, split, learned, asked, seed))
            run.original.append(before)
            _note(run, learned)
    return runs


def clustered(
    sample: Sample, promises: Sequence[Promise], levels: Sequence[float], seeds: Sequence[int]
) -> list[list[Runs]]:
    """Cluster sketches, and measure on the original records how near they are to the centroids of their clusters."""
    rows, n = _unit(sample.rows), len(sample.rows)
    runs = _no_runs(promises, levels, _nearness(rows, np.random.default_rng(0).integers(0, CLUSTERS, n)))
    near = neighborhoods(sample.rows, promises, levels)
    for seed in seeds:
        before = _nearness(rows, _original_clusters(rows, seed))
        for run in chain(*runs):
            release = released(sample.rows, near, run.promise, run.level, family_of(seed))
            model = SketchKMeans(CLUSTERS, n_init=1, max_iter=_STEPS, random_state=seed)
            labels = np.full(n, -1)
            labels[release.order] = model.fit_predict(_of_length_1(release.data))
            run.found.append(_nearness(rows, _at_random(labels, seed)))
            run.original.append(before)
            _note(run, release)
    return runs


def _no_runs(promises: Sequence[Promise], levels: Sequence[float], chance: float) -> list[list[Runs]]:
    return [[Runs(promise, level, chance) for level in levels] for promise in promises]


def seconds_of(rows: Any, k: int, *, partition: int) -> float:
    """Return the processor seconds of publishing records by k-variance, neighbors included, the faster of two times."""
    method = KVarianceSketch(k, family=family_of(1), partition=partition)
    records = SparseRows.of(rows)
    return fastest(lambda: method.release(records))[1]


def _note(run: Runs, release: Published) -> None:
    run.suppressed.append(release.suppressed)
    run.median.append(float(np.median(release.data.lengths)))


def _split(n: int, seed: int, n_classified: int) -> _Split:
    """Draw two records to learn from for one to be tested; at most ``n_classified`` of those are classified."""
    order = np.random.default_rng(seed).permutation(n)
    cut = n // 3
    return _Split(order[cut:], order[:cut], np.arange(min(cut, n_classified)))


def _accuracy(sample: Sample, split: _Split, train: Published, test: Published, seed: int) -> float:
    """Classify the published test records; a suppressed one gets a class at random, by the shares of the classes."""
    rng = np.random.default_rng([seed, 2])
    learned = sample.labels[split.train]
    model = SketchNeighbors(NEIGHBORS, metric="cosine", weights="nearness")
    model.fit(train.data, learned[train.order])
    predicted = rng.choice(learned, split.classified.size)
    seen = test.order < split.classified.size
    if seen.any():
        predicted[test.order[seen]] = model.predict(test.data.take(np.flatnonzero(seen)))
    return float((predicted == sample.labels[split.test][split.classified]).mean())


def _original_accuracy(sample: Sample, split: _Split) -> float:
    """Classify the same records by their true nearest neighbors, which vote in the same way."""
    from discreet.kernels.sketches.exact_neighbors import Compressed, nearest_exactly

    compress, queries = partial(_compressed, Compressed, sample.rows), split.test[split.classified]
    near = nearest_exactly(compress(split.train), NEIGHBORS, queries=compress(queries))
    unit = _unit(sample.rows)
    means = unit[queries] @ np.asarray(unit[split.train].mean(axis=0)).ravel()
    weights = np.maximum(near.cosines - means[:, None], 0.0) ** 2
    voters = zip(sample.labels[split.train][near.rows], weights, strict=True)
    predicted = np.array([np.bincount(classes, weight).argmax() for classes, weight in voters])
    return float((predicted == sample.labels[queries]).mean())


def _compressed(kind: Any, rows: SparseRows, chosen: IntArray) -> Any:
    part = rows.take(chosen)
    return kind(part.indptr, part.items, None if part.binary else part.weights, len(part.names))


def _unit(rows: SparseRows) -> Any:
    """Return the records as a sparse matrix, each of length 1, with the short indices that scikit-learn requires."""
    from scipy.sparse import csr_array
    from sklearn.preprocessing import normalize

    wide = rows.to_sparse()
    parts = (wide.data, wide.indices.astype(np.int32), wide.indptr.astype(np.int32))
    return normalize(csr_array(parts, shape=wide.shape))


def _original_clusters(rows: Any, seed: int) -> IntArray:
    from sklearn.cluster import KMeans

    model = KMeans(CLUSTERS, n_init=1, max_iter=_STEPS, random_state=seed)
    return np.asarray(model.fit_predict(rows))


def _of_length_1(sketches: Sketches) -> Sketches:
    """Divide sketches by their estimated lengths, as the original records are by their true ones."""
    lengths = np.sqrt(sketches.squared_norm())
    scale = np.where(lengths > 0, lengths, 1.0)
    return Sketches(sketches.values / np.repeat(scale, sketches.lengths), sketches.indptr, sketches.family)


def _at_random(labels: IntArray, seed: int) -> IntArray:
    """Put suppressed records into clusters at random, in proportion to the clusters' sizes."""
    present = labels >= 0
    drawn = np.random.default_rng([seed, 3]).choice(labels[present], labels.size)
    return np.where(present, labels, drawn)


def _nearness(rows: Any, labels: IntArray) -> float:
    """Return the mean cosine of each record with the centroid of its cluster."""
    from scipy.sparse import csr_array

    n = labels.size
    members = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, CLUSTERS))
    sums = np.asarray((members.T @ csr_array(rows)).todense())
    lengths = np.linalg.norm(sums, axis=1)
    # the cosines of a cluster's members with the direction of their sum add up to the length of that sum
    return float(lengths.sum() / n)
