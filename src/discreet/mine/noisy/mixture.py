"""Clusters of true values from noisy ones: a normal mixture by EM with the noise's covariance known."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from discreet.collect.channels import Channels
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import POSITIVE, Constraints, IntIn, OneOf, check_parameters
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.mine.noisy.columns import by_column
from discreet.mine.noisy.input import feature_columns
from discreet.mine.noisy.statistics import noise_covariance, squarable

_FLOOR = 1e-6
"""The least variance of a cluster in any direction, as a share of the noisy values' in each column."""


@public
@dataclass(repr=False, eq=False)
class NoisyMixture(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Find clusters of true records in noisy ones.

    The true records of a cluster are taken for normal, and what was added to them is known: EM estimates what each
    noisy record was, given its cluster, and from that the clusters. k-means of noisy records would find clusters that
    are as wide as the noise, with centers pushed apart. Only the covariance of the noise enters, so that uniform and
    Laplace noise are treated as normal noise of the same variance. The far tails of Laplace noise as wide as the values
    are then taken for a cluster of their own; do not use it there.

    Parameters
    ----------
    channels
        The noise of each column, as :func:`corrected_moments` takes it, a mapping from column names (or numbers), or
        ``Channels``. Without noise this is an ordinary normal mixture.
    n_clusters
        The number of clusters.
    n_init
        How many starts are tried; the likeliest result is returned.
    max_iter
        The most steps of one start.
    tol
        The gain in log-likelihood for each record below which a start ends.
    predicts
        Whether rows to be predicted are ``true`` values or ``noisy`` ones from the same channels.
    random_state
        The seed of the starts.

    Attributes
    ----------
    weights_, cluster_centers_, covariances_
        The share, the center and the covariance of each cluster of true records.
    labels_
        The likeliest cluster of each noisy record.
    log_likelihood_, n_iter_, converged_
        The log-likelihood of the noisy records, the steps of the best start, and whether it stopped by itself.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Gaussian
    >>> rng = np.random.default_rng(1)
    >>> people = np.repeat([[0.0, 0.0], [5.0, 5.0]], 2000, axis=0) + rng.normal(size=(4000, 2))
    >>> channel = AdditiveNoise(Gaussian(3.0))
    >>> mixture = NoisyMixture(channel, 2, random_state=0).fit(channel.perturb(people, random_state=2))
    >>> np.abs(np.sort(mixture.cluster_centers_[:, 0]) - [0, 5]).max().round(1) < 0.5
    np.True_
    >>> bool(abs(mixture.covariances_ - np.eye(2)).max() < 0.5)
    True
    """

    channels: Any = None
    n_clusters: int = 3
    _: KW_ONLY
    n_init: int = 5
    max_iter: int = 500
    tol: float = 1e-6
    predicts: Literal["true", "noisy"] = "true"
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "n_clusters": IntIn(1),
        "n_init": IntIn(1),
        "max_iter": IntIn(1),
        "tol": POSITIVE,
        "predicts": OneOf(("true", "noisy")),
        "random_state": RANDOM_STATE,
    }

    def fit(self, X: Any, y: Any = None) -> NoisyMixture:
        """Find the clusters in noisy rows."""
        del y
        check_parameters(self)
        rows, names = self._rows(X, reset=True)
        if len(rows) < self.n_clusters:
            raise InputError(
                f"{len(rows)} rows cannot make {self.n_clusters} clusters (n_samples={len(rows)}); lower n_clusters."
            )
        self.noise_covariance_ = self._noise(names)
        mean, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        rng = generator(self.random_state, owner=self)
        noise = self.noise_covariance_ / np.outer(scale, scale)
        runs = [self._run((rows - mean) / scale, noise, rng) for _ in range(self.n_init)]
        best = max(runs, key=lambda run: run.likelihood)
        self.weights_ = best.weights
        self.cluster_centers_ = mean + best.centers * scale
        self.covariances_ = best.covariances * np.outer(scale, scale)
        self.labels_ = best.labels
        # From the density of scaled rows to that of rows as they came.
        self.log_likelihood_ = best.likelihood - len(rows) * float(np.log(scale).sum())
        self.n_iter_, self.converged_ = best.steps, best.converged
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each cluster, for rows of the kind that ``predicts`` names."""
        check_is_fitted(self)
        rows, _ = self._rows(X, reset=False)
        added = self.noise_covariance_ if self.predicts == "noisy" else np.zeros_like(self.noise_covariance_)
        logs = _log_densities(rows, self.weights_, self.cluster_centers_, self.covariances_, added)
        return np.asarray(np.exp(logs - _log_sums(logs)))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the likeliest cluster of each row."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def _run(self, rows: FloatArray, noise: FloatArray, rng: np.random.Generator) -> _Run:
        """Run EM from one start, until the likelihood gains next to nothing."""
        weights, centers, covariances = _start(rows, noise, self.n_clusters, rng)
        before, steps, converged = -np.inf, 0, False
        while not converged and steps < self.max_iter:
            steps += 1
            logs = _log_densities(rows, weights, centers, covariances, noise)
            sums = _log_sums(logs)
            likelihood = float(sums.sum())
            converged = likelihood - before < self.tol * len(rows)
            before = likelihood
            # Otherwise the parameters stay those that the likelihood and the labels belong to.
            if not converged:
                chances = np.exp(logs - sums)
                weights, centers, covariances = _maximized(rows, chances, centers, covariances, noise)
        if not converged:
            # The last step moved the parameters: labels and likelihood are those of the ones returned.
            logs = _log_densities(rows, weights, centers, covariances, noise)
            likelihood = float(_log_sums(logs).sum())
        return _Run(weights, centers, covariances, logs.argmax(axis=1), likelihood, steps, converged)

    def _rows(self, X: Any, *, reset: bool) -> tuple[FloatArray, list[str]]:
        columns, names = feature_columns(self, X, reset=reset)
        for column, name in zip(columns, names, strict=True):
            if column.dtype.kind not in "iufb":
                raise InputError(f"Column '{name}' must hold numbers.")
        rows = np.column_stack(columns).astype(np.float64)
        return squarable(rows, "X"), names

    def _noise(self, names: list[str]) -> FloatArray:
        channels = self.channels
        if isinstance(channels, Channels | Mapping):
            channels = by_column(self, names)
        try:
            return noise_covariance(channels, len(names))
        except ParameterError as error:
            failure = ParameterError(
                str(error).replace("'noise' parameter", "'channels' parameter of NoisyMixture")
            )
        raise failure


@dataclass(frozen=True, eq=False, repr=False)
class _Run:
    """What EM came to from one start."""

    weights: FloatArray
    centers: FloatArray
    covariances: FloatArray
    labels: np.ndarray[Any, Any]
    likelihood: float
    steps: int
    converged: bool


def _start(
    rows: FloatArray, noise: FloatArray, n_clusters: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Start from k-means of the noisy rows, its centers drawn back as far as noise has pushed them apart."""
    from sklearn.cluster import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # fewer distinct rows than clusters: two clusters then begin at one center
        noisy = KMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31))).fit(rows)
    width = rows.shape[1]
    scatter = rows.T @ rows / len(rows) + _FLOOR * np.eye(width)
    values, directions = np.linalg.eigh(scatter - noise)
    true = (directions * np.maximum(values, _FLOOR)) @ directions.T
    # The best linear estimate of a true center from a noisy one.
    centers = noisy.cluster_centers_ @ np.linalg.solve(scatter, true)
    between = centers.T @ centers / n_clusters
    values, directions = np.linalg.eigh(true - between)
    # Not below a tenth of the mean variance, as a difference
    # of two estimates can be close to zero or negative.
    within = (directions * np.maximum(values, 0.1 * np.trace(true) / width)) @ directions.T
    return np.full(n_clusters, 1 / n_clusters), centers, np.repeat(within[None], n_clusters, axis=0)


def _log_densities(
    rows: FloatArray, weights: FloatArray, centers: FloatArray, covariances: FloatArray, noise: FloatArray
) -> FloatArray:
    """Return the logarithm of each cluster's weight times its density at each row, as it is seen through the noise."""
    logs = np.empty((len(rows), len(centers)))
    for cluster, (weight, center, covariance) in enumerate(zip(weights, centers, covariances, strict=True)):
        root = np.linalg.cholesky(covariance + noise)
        white = (rows - center) @ np.linalg.inv(root).T
        logs[:, cluster] = np.log(weight) - np.log(np.diag(root)).sum() - 0.5 * (white**2).sum(axis=1)
    return np.asarray(logs - 0.5 * rows.shape[1] * np.log(2 * np.pi))


def _log_sums(logs: FloatArray) -> FloatArray:
    highest = logs.max(axis=1, keepdims=True)
    return np.asarray(highest + np.log(np.exp(logs - highest).sum(axis=1, keepdims=True)))


def _maximized(
    rows: FloatArray, chances: FloatArray, centers: FloatArray, covariances: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimate the true records given each cluster, and the clusters again from them."""
    # No division by zero where a cluster has lost all records.
    totals = chances.sum(axis=0) + 10 * np.finfo(float).eps
    fresh_centers, fresh_covariances = np.empty_like(centers), np.empty_like(covariances)
    for cluster, (center, covariance) in enumerate(zip(centers, covariances, strict=True)):
        share = chances[:, cluster] / totals[cluster]
        # The regression of true records on noisy ones within the cluster.
        # What it leaves open, ``remaining``, adds to the variance.
        gain = np.linalg.solve(covariance + noise, covariance)
        true = center + (rows - center) @ gain
        fresh_centers[cluster] = share @ true
        away = true - fresh_centers[cluster]
        remaining = covariance - covariance @ gain
        spread = (share[:, None] * away).T @ away + remaining
        fresh_covariances[cluster] = (spread + spread.T) / 2 + _FLOOR * np.eye(len(center))
    return np.asarray(totals / totals.sum()), fresh_centers, fresh_covariances
