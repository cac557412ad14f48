"""Attacks on additive noise, by principal components, Bayes' rule and spectral filtering, and what they remove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.core.validation import LEAST, array_of, finite, least_variance, symmetric_matrix

_GAP = 0.01
"""A principal variance below this share of the largest is taken for nothing."""


@public
@dataclass(frozen=True, repr=False, eq=False)
class NoiseStripped:
    """An attacker's guess of the true rows, and where the truth is known, how near it came.

    Attributes
    ----------
    estimate
        The guess.
    components
        How many directions the attack took for data; the noise in the others was thrown away.
    noise
        The mean squared noise of each column; the public variance without the truth.
    error
        The mean squared error of the guess in each column; None without the truth.
    """

    estimate: FloatArray
    components: int
    noise: FloatArray
    error: FloatArray | None = None

    @property
    def stripped(self) -> float:
        """The share of the noise's variance that the attack took off; 0 or less where it learned nothing."""
        return float(1 - (self._known / self.noise).mean())

    @property
    def stripped_by_column(self) -> FloatArray:
        """The same for each column."""
        return np.asarray(1 - self._known / self.noise)

    @property
    def _known(self) -> FloatArray:
        if self.error is None:
            raise InputError(
                "How much noise was stripped is only known beside the truth; pass 'truth' to the attack."
            )
        return self.error

    def __repr__(self) -> str:
        stripped = "" if self.error is None else f", {self.stripped:.1%} of the noise stripped"
        return f"NoiseStripped({self.components} of {self.noise.size} components{stripped})"


def _compared(
    estimate: FloatArray, components: int, noisy: FloatArray, *, added: FloatArray, truth: FloatArray | None
) -> NoiseStripped:
    """Compare a guess with the truth, if that is known."""
    if truth is None:
        return NoiseStripped(estimate, components, np.diag(added))
    noise, error = (((rows - truth) ** 2).mean(axis=0) for rows in (noisy, estimate))
    return NoiseStripped(estimate, components, noise, error)


def _rows_of(data: Any, name: str) -> FloatArray:
    """Read rows of two columns or more."""
    rows = array_of(data, shown=name)
    if rows.ndim != 2 or rows.shape[1] < 2 or rows.dtype.kind not in "iuf" or len(rows) <= rows.shape[1]:
        raise InputError(
            f"'{name}' must hold rows of numbers, of two columns or more, and more rows than columns."
        )
    return finite(rows, f"values of '{name}'", then="drop the rows first")


def _truth_of(data: Any, noisy: FloatArray) -> FloatArray | None:
    """Read the truth, which must have a row for each noisy one."""
    if data is None:
        return None
    truth = _rows_of(data, "truth")
    if truth.shape != noisy.shape:
        raise InputError("'truth' must have the rows and columns of 'noisy'.")
    bare = int((truth == noisy).all(axis=0).sum())
    if bare:
        raise InputError(f"{bare} columns of 'noisy' are the truth itself: there is no noise to strip.")
    return truth


def covariance_of(noise: Any, width: int) -> FloatArray:
    """Read the noise's covariance: a variance for all columns, one for each, or the whole matrix."""
    try:
        array = np.asarray(noise)
    except ValueError:
        array = np.empty((0, 0, 0))
    square = np.diag(np.broadcast_to(array, width)) if array.shape in ((), (width,)) else array
    matrix = symmetric_matrix(square)
    if matrix is None or matrix.shape != (width, width) or not least_variance(matrix) > LEAST:
        raise ParameterError(
            f"The 'noise' parameter must be a variance, {width} of them, or a positive definite matrix of covariances."
        )
    return matrix


@public
def pca_attack(
    noisy: Any,
    *,
    noise: Any,
    truth: Any = None,
    method: Literal["components", "bayes"] = "components",
    components: int | None = None,
) -> NoiseStripped:
    """Guess true rows from noisy ones by the data's covariance, which is the noisy one less the noise's.

    Parameters
    ----------
    noisy
        Rows of noisy numbers.
    noise
        The public covariance of the noise: one variance, one for each column, or a matrix.
    truth
        The true rows, to see how far the attack goes.
    method
        ``components`` projects the rows on the principal components of the data (PCA-DR). ``bayes`` takes the mean
        of what the truth could be, were it normal (BE-DR): it knows how large data and noise are in each direction,
        and no linear attack does better.
    components
        How many components are kept; as many as hold more than a hundredth of the largest one's variance by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> true = np.outer(rng.normal(size=2_000), np.ones(10)) * 5
    >>> noisy = true + rng.normal(0, 2, true.shape)
    >>> pca_attack(noisy, noise=4.0, truth=true, components=1)
    NoiseStripped(1 of 10 components, 90.3% of the noise stripped)

    References
    ----------
    Z. Huang, W. Du, B. Chen: Deriving private information from randomized data. SIGMOD 2005.
    """
    require("pca_attack", "method", method, OneOf(("components", "bayes")))
    rows = _rows_of(noisy, "noisy")
    true = _truth_of(truth, rows)
    n, width = rows.shape
    none = InstanceOf((type(None),), "None")
    require("pca_attack", "components", components, IntIn(1, width), none)
    added = covariance_of(noise, width)
    mean = rows.mean(axis=0)
    away = rows - mean
    values, directions = np.linalg.eigh(away.T @ away / (n - 1) - added)
    kept = _kept(values, components)
    if method == "components":
        data = directions[:, kept]
        return _compared(mean + away @ data @ data.T, int(kept.sum()), rows, added=added, truth=true)
    covariance = (directions * np.where(kept, np.maximum(values, 0.0), 0.0)) @ directions.T
    estimate = mean + away @ np.linalg.solve(covariance + added, covariance)
    return _compared(estimate, int(kept.sum()), rows, added=added, truth=true)


def _kept(values: FloatArray, components: int | None) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which of the ascending variances are the data's."""
    if components is None:
        return np.asarray((values > _GAP * values[-1]) & (values > 0))
    return np.asarray(np.arange(values.size) >= values.size - components)


@public
def spectral_attack(noisy: Any, *, noise: Any, truth: Any = None) -> NoiseStripped:
    """Remove noise from correlated columns: keep the directions that vary more than noise alone could.

    The eigenvalues of a covariance matrix of pure noise are within bounds from random matrix theory. What is
    above them is data; the rows are projected on those directions.

    Parameters
    ----------
    noisy
        Rows of noisy numbers.
    noise
        The public covariance of the noise: one variance, one for each column, or a matrix.
    truth
        The true rows, to see how far the attack goes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> true = np.outer(rng.normal(size=2_000), np.ones(10)) * 5
    >>> noisy = true + rng.normal(0, 2, true.shape)
    >>> spectral_attack(noisy, noise=4.0, truth=true)
    NoiseStripped(1 of 10 components, 90.3% of the noise stripped)

    References
    ----------
    H. Kargupta, S. Datta, Q. Wang, K. Sivakumar: On the privacy preserving properties of random data perturbation
    techniques. ICDM 2003.
    """
    rows = _rows_of(noisy, "noisy")
    true = _truth_of(truth, rows)
    n, width = rows.shape
    added = covariance_of(noise, width)
    # Whitened, so that the noise has the variance 1 in every direction.
    root = np.linalg.cholesky(added)
    mean = rows.mean(axis=0)
    white = np.linalg.solve(root, (rows - mean).T).T
    values, directions = np.linalg.eigh(white.T @ white / (n - 1))
    # The upper edge of Marchenko and Pastur's law.
    bound = (1 + np.sqrt(width / n)) ** 2
    data = directions[:, values > bound]
    estimate = mean + white @ data @ data.T @ root.T
    return _compared(estimate, data.shape[1], rows, added=added, truth=true)
