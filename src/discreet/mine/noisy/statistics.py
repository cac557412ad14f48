"""Corrected statistics: means, covariances and regressions of true values, from noisy ones and the known noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.correlated_noise import CorrelatedNoise
from discreet.collect.noise import Noise
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, InputError, ParameterError
from discreet.core.validation import LEAST, array_of, finite, least_variance, symmetric_matrix

_LEAST = 1e-9
"""The least eigenvalue of a corrected covariance, as a share of the noisy one's, that is taken for positive."""

LARGEST = 1e70
"""The largest number that is taken: its fourth power still is one, for many rows."""


@public
@dataclass(frozen=True, repr=False, eq=False)
class Moments:
    """Means and covariances of true values, with their standard errors.

    ``covariance`` is unbiased, so that with little data it may not be a covariance at all: a variance can come out
    below 0, and ``positive`` says whether the matrix is positive definite.
    """

    n: int
    mean: FloatArray
    covariance: FloatArray
    mean_errors: FloatArray
    covariance_errors: FloatArray
    positive: bool

    @property
    def variance(self) -> FloatArray:
        """The variances."""
        return np.diag(self.covariance)

    @property
    def correlation(self) -> FloatArray:
        """The correlations; refused where the corrected covariance is not positive definite."""
        _refuse(self.positive, self.n)
        spread = np.sqrt(self.variance)
        return np.asarray(self.covariance / np.outer(spread, spread))

    def __repr__(self) -> str:
        return f"Moments({self.mean.size} columns, from {self.n} noisy rows)"


@public
@dataclass(frozen=True, repr=False, eq=False)
class Regression:
    """A linear regression of true values: the intercept and the coefficients, with their standard errors."""

    n: int
    intercept: float
    coefficients: FloatArray
    intercept_error: float
    coefficient_errors: FloatArray
    residual_variance: float

    def predict(self, true: Any) -> FloatArray:
        """Predict from true values; noisy ones would be predicted wrongly."""
        return np.asarray(self.intercept + np.asarray(true, np.float64) @ self.coefficients)

    def __repr__(self) -> str:
        return f"Regression({self.coefficients.size} coefficients, from {self.n} noisy rows)"


@public
def corrected_moments(noisy: Any, *, noise: Any) -> Moments:
    """Estimate the means and covariances of true values: the noise adds its covariance, which is taken off.

    Parameters
    ----------
    noisy
        Rows of noisy numbers.
    noise
        The noise of each column (``AdditiveNoise``, ``Gaussian(2.0)``, a variance, or None for a column without), one
        noise for all, or a ``CorrelatedNoise``, or a covariance matrix.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Gaussian
    >>> rng = np.random.default_rng(1)
    >>> true = rng.normal(50, 10, (20_000, 1))
    >>> noisy = AdditiveNoise(Gaussian(20.0)).perturb(true, random_state=2)
    >>> found = corrected_moments(noisy, noise=Gaussian(20.0))
    >>> bool(abs(found.covariance - 100) < 4 * found.covariance_errors)
    True
    """
    rows = _rows(noisy, "noisy")
    n, width = rows.shape
    if n < 2:
        raise InputError("Covariances need two rows at least.")
    added = noise_covariance(noise, width)
    mean = rows.mean(axis=0)
    away = rows - mean
    scatter = away.T @ away / (n - 1)
    fourth = (away**2).T @ (away**2) / n
    # The variance of a product of two deviations, over n; it
    # covers the noise, since it is taken of noisy values.
    errors = np.sqrt(np.maximum(fourth - scatter**2, 0.0) / n)
    covariance = scatter - added
    return Moments(
        n, mean, covariance, np.sqrt(np.diag(scatter) / n), errors, _is_positive(covariance, scatter)
    )


@public
def corrected_regression(noisy: Any, target: Any, *, noise: Any) -> Regression:
    """Regress a target on true values of which only noisy ones are known (errors in variables).

    Plain least squares on noisy values finds coefficients that are too small; here the noise's covariance is taken
    off the noisy one's before it is inverted. Noise on the target itself does no harm but to make the errors larger,
    as long as it is independent of the other noise.

    Parameters
    ----------
    noisy
        Rows of noisy numbers.
    target
        What is regressed on them: a number for each row, noisy or not.
    noise
        The noise of the rows, as :func:`corrected_moments` takes it.

    References
    ----------
    W. Fuller: Measurement error models. Wiley 1987, section 2.2. The standard errors are those of the estimating
    equation, and hold whatever the distribution of the values.
    """
    rows, targets = (
        _rows(noisy, "noisy"),
        _rows(array_of(target, shown="target").reshape(-1, 1), "target")[:, 0],
    )
    n, width = rows.shape
    if targets.size != n:
        raise InputError(f"There are {n} noisy rows, but {targets.size} targets.")
    if n < width + 2:
        raise InputError(f"A regression on {width} columns needs {width + 2} rows at least.")
    added = noise_covariance(noise, width)
    mean, middle = rows.mean(axis=0), float(targets.mean())
    away, deviation = rows - mean, targets - middle
    scatter = away.T @ away / (n - 1)
    _refuse(_is_positive(scatter - added, scatter), n)
    inverse = np.linalg.inv(scatter - added)
    coefficients = inverse @ (away.T @ deviation / (n - 1))
    residual = deviation - away @ coefficients
    # The noise in the rows makes residuals correlated with them
    # by −Σ·b; with that added back, scores have the mean zero.
    scores = away * residual[:, None] + added @ coefficients
    spread = inverse @ (scores.T @ scores / n) @ inverse / n
    moved = residual - scores @ inverse @ mean
    # Residuals of noisy rows also hold b times the noise, whose variance is taken off.
    residual_variance = float(residual @ residual / (n - 1) - coefficients @ added @ coefficients)
    return Regression(
        n,
        float(middle - mean @ coefficients),
        coefficients,
        float(np.sqrt(moved @ moved) / n),
        np.sqrt(np.diag(spread)),
        residual_variance,
    )


def noise_covariance(noise: Any, width: int) -> FloatArray:
    """Return the covariance matrix of the noise on ``width`` columns, in whatever form the noise is passed."""
    if isinstance(noise, CorrelatedNoise):
        noise = noise.covariance
    if isinstance(noise, np.ndarray) and noise.ndim == 2:
        return _matrix(noise, width)
    several = isinstance(noise, Sequence | np.ndarray) and not isinstance(noise, str)
    listed = list(noise) if several else [noise] * width
    if len(listed) != width:
        raise ParameterError(f"The 'noise' parameter must describe the noise of each of {width} columns.")
    return np.diag([_variance(channel) for channel in listed])


def _matrix(noise: np.ndarray[Any, Any], width: int) -> FloatArray:
    """Read a covariance matrix; a direction without noise is allowed, one with less than none is not."""
    matrix = symmetric_matrix(noise)
    if matrix is None or matrix.shape != (width, width):
        raise ParameterError(
            f"The 'noise' parameter must be a symmetric matrix of {width} × {width} numbers."
        )
    if least_variance(matrix) < -LEAST:
        raise ParameterError("The 'noise' parameter must be a covariance matrix: in no direction below 0.")
    return matrix


def _variance(noise: Any) -> float:
    if noise is None:
        return 0.0
    if isinstance(noise, AdditiveNoise):
        noise = noise.noise
    variance = noise.variance if isinstance(noise, Noise) else noise
    if isinstance(variance, bool) or not isinstance(variance, int | float | np.number):
        raise ParameterError(
            "The 'noise' parameter must be a noise such as Gaussian(sd), a variance, or None."
        )
    if not (np.isfinite(variance) and variance >= 0):
        raise ParameterError("The 'noise' parameter must hold variances of 0 or more.")
    return float(variance)


def _rows(rows_like: Any, label: str) -> FloatArray:
    rows = array_of(rows_like, shown=label)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.dtype.kind not in "iuf" or not rows.shape[1]:
        raise InputError(f"'{label}' must hold rows of numbers.")
    numbers = finite(rows, f"values of '{label}'", then="drop the rows first")
    return squarable(numbers, label)


def squarable(numbers: FloatArray, label: str) -> FloatArray:
    """Return numbers; those whose powers would be lost to the range of floats are refused."""
    if numbers.size and float(np.abs(numbers).max()) > LARGEST:
        raise InputError(f"'{label}' holds numbers too large to be squared; rescale them.")
    return numbers


def _is_positive(covariance: FloatArray, scatter: FloatArray) -> bool:
    # Judged in units of the noisy deviations, so that columns of small numbers do not pass for singular.
    scale = np.sqrt(np.maximum(np.diag(scatter), np.finfo(float).tiny))
    least = np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0]
    return bool(least > _LEAST)


def _refuse(positive: bool, n: int) -> None:
    if not positive:
        raise InfeasibleError(
            f"The noisy values of {n} rows vary no more than the noise alone might, in some direction: their corrected "
            "covariance is not positive definite. More rows, fewer columns or less noise would help; or the noise is "
            "not the one that was used."
        )
