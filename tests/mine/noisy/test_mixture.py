"""Clusters from noisy records: the written-out step, a likelihood that never falls, better centers, refusals."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator
from tests.oracles import noise as oracles_noise

from discreet.collect import (
    AdditiveNoise,
    Channels,
    CorrelatedNoise,
    Gaussian,
    MultiplicativeNoise,
    RandomizedResponse,
)
from discreet.core.errors import DiscreetError, InputError, ParameterError, SchemaError
from discreet.mine import NoisyMixture
from discreet.mine.noisy.mixture import _log_densities, _log_sums, _maximized

CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 6.0]])
SPREADS = np.array([[1.0, 0.4], [0.4, 1.0], [0.6, 0.6]])


def people(n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return three clusters of unequal sizes and shapes, and whose row is whose."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    return CENTERS[labels] + rng.normal(size=(n, 2)) * SPREADS[labels], labels


def away(centers: np.ndarray) -> float:
    """Return the mean distance of the true centers from the nearest estimated one."""
    return float(np.sqrt(((CENTERS[:, None] - centers[None]) ** 2).sum(axis=2)).min(axis=1).mean())


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_a_step_is_the_written_out_one(seed: int, k: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, width)).round(1)
    rows[1] = rows[0]
    centers, weights = rng.normal(size=(k, width)), rng.dirichlet(np.ones(k))
    roots = rng.normal(size=(k, width, width))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(width)
    noise = np.diag(rng.uniform(0, 1, width))
    logs = _log_densities(rows, weights, centers, covariances, noise)
    sums = _log_sums(logs)
    slow, likelihood, *fresh = oracles_noise.mixture_step(rows, weights, centers, covariances, noise)
    assert np.allclose(np.exp(logs - sums), slow)
    assert np.isclose(sums.sum(), likelihood)
    for ours, theirs in zip(_maximized(rows, slow, centers, covariances, noise), fresh, strict=True):
        assert np.allclose(ours, theirs, atol=3e-6)
    after = _log_sums(_log_densities(rows, *fresh, noise)).sum()
    assert after >= likelihood - 1e-9


def test_centers_and_labels_are_nearer_the_truth_than_those_of_k_means() -> None:
    true, labels = people()
    channel = AdditiveNoise(Gaussian(1.0))
    noisy = channel.perturb(true, random_state=1)
    mixture = NoisyMixture(channel, 3, n_init=2, random_state=0).fit(noisy)
    naive = KMeans(3, n_init=2, random_state=0).fit(noisy)
    assert away(mixture.cluster_centers_) < away(naive.cluster_centers_) / 2
    ours, theirs = (adjusted_rand_score(labels, model.predict(true)) for model in (mixture, naive))
    assert ours > max(theirs, 0.95)
    biggest = mixture.weights_.argmax()
    assert np.allclose(mixture.covariances_[biggest], np.diag(SPREADS[0] ** 2), atol=0.25)
    assert mixture.converged_
    assert mixture.labels_.shape == labels.shape


def test_noisy_rows_are_predicted_through_the_noise() -> None:
    true, _ = people(500)
    channel = AdditiveNoise(Gaussian(0.7))
    noisy = channel.perturb(true, random_state=1)
    mixture = NoisyMixture(channel, 3, n_init=1, random_state=0, predicts="noisy").fit(noisy)
    assert np.array_equal(mixture.predict(noisy), mixture.labels_)
    assert np.allclose(mixture.predict_proba(noisy).sum(axis=1), 1)


def test_the_noise_is_taken_in_every_form() -> None:
    true, _ = people(400)
    channel = AdditiveNoise(Gaussian(0.5))
    noisy = channel.perturb(true, random_state=1)
    frame = pl.DataFrame({"a": noisy[:, 0], "b": noisy[:, 1]})
    channels = Channels({"a": channel, "b": channel})
    forms = [
        channel,
        Gaussian(0.5),
        0.25,
        [channel, 0.25],
        CorrelatedNoise(0.25 * np.eye(2)),
        0.25 * np.eye(2),
    ]
    models = [NoisyMixture(form, 2, n_init=1, random_state=0).fit(noisy) for form in forms]
    models += [
        NoisyMixture(form, 2, n_init=1, random_state=0).fit(rows)
        for form in (channels, {"b": channel, "a": channel}, {0: channel, "b": channel})
        for rows in (frame, frame.to_arrow())
    ]
    for model in models:
        assert np.allclose(model.cluster_centers_, models[0].cluster_centers_)


def test_it_is_a_scikit_learn_clusterer() -> None:
    check_estimator(NoisyMixture(n_init=1), on_skip=None)


@pytest.mark.parametrize("rows", [np.ones((5, 2)), np.ones((1, 1)), np.repeat([[0.0], [1.0]], 2, axis=0)])
def test_constants_and_duplicates_are_clustered(rows) -> None:
    for noise in (None, 0.25):
        mixture = NoisyMixture(noise, 1, random_state=0).fit(rows)
        assert np.allclose(mixture.cluster_centers_[0], rows.mean(axis=0))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda z: NoisyMixture(n_clusters=0).fit(z), ParameterError, "'n_clusters'"),
        (lambda z: NoisyMixture(tol=0).fit(z), ParameterError, "'tol'"),
        (lambda z: NoisyMixture(predicts="all").fit(z), ParameterError, "'predicts'"),
        (lambda z: NoisyMixture("much").fit(z), ParameterError, "'channels' parameter of NoisyMixture"),
        (lambda z: NoisyMixture([1.0]).fit(z), ParameterError, "'channels' parameter of NoisyMixture"),
        (lambda z: NoisyMixture(-1.0).fit(z), ParameterError, "'channels' parameter of NoisyMixture"),
        (lambda z: NoisyMixture(MultiplicativeNoise(Gaussian(1.0))).fit(z), ParameterError, "'channels'"),
        (lambda z: NoisyMixture({"age": 1.0}).fit(z), SchemaError, "'age'"),
        (
            lambda z: NoisyMixture({0: RandomizedResponse.k_ary(["a", "b"], keep=0.9)}).fit(z),
            ParameterError,
            "'channels'",
        ),
        (lambda z: NoisyMixture(n_clusters=9).fit(z), InputError, "4 rows cannot make 9 clusters"),
        (lambda z: NoisyMixture(n_clusters=2).fit(z * np.nan), DiscreetError, "NaN"),
        (
            lambda z: NoisyMixture().fit(pa.table({"x": ["Wilhelmina"] * 4})),
            InputError,
            "'x' must hold numbers",
        ),
    ],
)
def test_mistakes_are_refused(make, error, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        make(np.arange(8.0).reshape(4, 2))
    assert "Wilhelmina" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("max_iter", [1, 2])
def test_labels_belong_to_the_parameters_where_the_steps_run_out(max_iter: int) -> None:
    channel = AdditiveNoise(Gaussian(1.0))
    noisy = channel.perturb(people(400)[0], random_state=1)
    for seed in range(5):
        mixture = NoisyMixture(channel, 3, n_init=1, max_iter=max_iter, predicts="noisy", random_state=seed)
        assert np.array_equal(mixture.fit(noisy).labels_, mixture.predict(noisy))
