"""Corrected statistics: unbiased over many repetitions, with standard errors that hold, and honest refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.collect import AdditiveNoise, CorrelatedNoise, Gaussian, Laplace, Uniform
from discreet.core.errors import InfeasibleError, InputError, ParameterError
from discreet.mine import corrected_moments, corrected_regression
from discreet.mine.noisy.statistics import noise_covariance

REPETITIONS = 300
WIDE = 5.0
"""Means of the repetitions must lie within so many of their standard errors: one in 1.7 million right ones does not."""
COVARIANCE = np.array([[4.0, 1.5, 0.0], [1.5, 2.0, -0.5], [0.0, -0.5, 1.0]])
NOISE = [AdditiveNoise(Uniform(3.0)), Laplace(1.0), 0.5]
COEFFICIENTS = np.array([1.0, -2.0, 3.0])


def draw(seed: int, n: int = 800) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    true = rng.multivariate_normal([1.0, 2.0, 3.0], COVARIANCE, n)
    noise = np.column_stack([rng.uniform(-3, 3, n), rng.laplace(0, 1, n), rng.normal(0, math.sqrt(0.5), n)])
    target = 5 + true @ COEFFICIENTS + rng.normal(0, 1, n)
    return true, true + noise, target


def test_moments_are_unbiased_and_their_errors_hold() -> None:
    found = [corrected_moments(draw(seed)[1], noise=NOISE) for seed in range(REPETITIONS)]
    for name, truth in (("mean", np.array([1.0, 2.0, 3.0])), ("covariance", COVARIANCE)):
        values = np.array([getattr(one, name) for one in found])
        errors = np.array([getattr(one, f"{name}_errors") for one in found])
        assert (np.abs(values.mean(0) - truth) < WIDE * values.std(0) / math.sqrt(REPETITIONS)).all()
        assert np.allclose(errors.mean(0) / values.std(0), 1, atol=WIDE / math.sqrt(2 * REPETITIONS) + 0.02)
        covered = (np.abs(values - truth) < 1.96 * errors).mean()
        assert 0.92 < covered < 0.98


def test_a_regression_is_corrected_where_a_plain_one_is_not_and_its_errors_hold() -> None:
    found = [
        corrected_regression(seen, target, noise=NOISE)
        for _, seen, target in (draw(seed, 4_000) for seed in range(REPETITIONS))
    ]
    values = np.array([one.coefficients for one in found])
    errors = np.array([one.coefficient_errors for one in found])
    away = np.abs(np.median(values, axis=0) - COEFFICIENTS)
    assert (away < 0.1).all()
    covered = (np.abs(values - COEFFICIENTS) < 1.96 * errors).mean(0)
    assert ((covered > 0.9) & (covered < 0.99)).all()
    intercepts = np.array([one.intercept for one in found])
    told = np.array([one.intercept_error for one in found])
    assert 0.9 < (np.abs(intercepts - 5) < 1.96 * told).mean() < 0.99
    assert abs(np.median([one.residual_variance for one in found]) - 1) < 0.4
    _, seen, target = draw(0, 4_000)
    plain = np.linalg.lstsq(np.column_stack([np.ones(len(seen)), seen]), target, rcond=None)[0][1:]
    assert np.abs(plain - COEFFICIENTS).max() > 0.5


def test_without_noise_it_is_the_plain_statistic() -> None:
    true, _, target = draw(1)
    moments = corrected_moments(true, noise=None)
    assert np.allclose(moments.mean, true.mean(0))
    assert np.allclose(moments.covariance, np.cov(true.T))
    assert np.allclose(moments.correlation, np.corrcoef(true.T))
    plain = np.linalg.lstsq(np.column_stack([np.ones(len(true)), true]), target, rcond=None)[0]
    found = corrected_regression(true, target, noise=None)
    assert np.allclose([found.intercept, *found.coefficients], plain)
    assert np.allclose(found.predict(true[:3]), found.intercept + true[:3] @ found.coefficients)


def test_correlated_noise_is_taken_off_whole() -> None:
    channel = CorrelatedNoise.like(COVARIANCE, ratio=1.0)
    true, _, target = draw(2, 100_000)
    seen = channel.perturb(true, random_state=2)
    moments = corrected_moments(seen, noise=channel)
    assert (np.abs(moments.covariance - COVARIANCE) < WIDE * moments.covariance_errors).all()
    found = corrected_regression(seen, target, noise=channel.covariance)
    assert (np.abs(found.coefficients - COEFFICIENTS) < WIDE * found.coefficient_errors).all()


def test_a_covariance_that_is_none_is_refused_where_it_must_be_inverted() -> None:
    rng = np.random.default_rng(0)
    seen = rng.normal(0, 1, (50, 2))
    moments = corrected_moments(seen, noise=Gaussian(3.0))
    assert not moments.positive
    assert (moments.variance < 0).all()
    with pytest.raises(InfeasibleError, match="not positive definite"):
        _ = moments.correlation
    with pytest.raises(InfeasibleError, match="50 rows"):
        corrected_regression(seen, seen[:, 0], noise=Gaussian(3.0))


@pytest.mark.parametrize(
    "noise",
    [
        ["a", "b"],
        "wide",
        [-1.0, 1.0],
        [1.0],
        [math.nan, 1.0],
        np.eye(3),
        True,
        -np.eye(2),
        np.diag([math.inf, 1]),
        np.diag([math.nan, 1]),
        np.full((2, 2), "x"),
        np.array([[1.0, 2.0], [2.0, 1.0]]),
    ],
)
def test_noise_that_is_none_is_refused(noise) -> None:
    with pytest.raises(ParameterError, match="'noise'"):
        noise_covariance(noise, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: corrected_moments([[1.0, 2.0]], noise=1.0), "two rows"),
        (lambda: corrected_moments([[1.0], [math.nan]], noise=1.0), "1 values of 'noisy'"),
        (lambda: corrected_moments([["a"], ["b"]], noise=1.0), "rows of numbers"),
        (lambda: corrected_moments([[1e200], [2e200]], noise=1.0), "too large to be squared"),
        (lambda: corrected_regression(np.zeros((5, 1)), np.zeros(4), noise=1.0), "5 noisy rows, but 4"),
        (lambda: corrected_regression(np.zeros((2, 1)), np.zeros(2), noise=1.0), "3 rows at least"),
    ],
)
def test_bad_rows_are_refused(call, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
