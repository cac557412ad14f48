"""Noise stripping: the result of an attack on additive noise, and how much of the noise it removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.validation import LEAST, array_of, finite, least_variance, symmetric_matrix


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


def judged(
    estimate: FloatArray, components: int, noisy: FloatArray, *, added: FloatArray, truth: FloatArray | None
) -> NoiseStripped:
    """Compare a guess with the truth, if that is known."""
    if truth is None:
        return NoiseStripped(estimate, components, np.diag(added))
    noise, error = (((rows - truth) ** 2).mean(axis=0) for rows in (noisy, estimate))
    return NoiseStripped(estimate, components, noise, error)


def rows_of(data: Any, name: str) -> FloatArray:
    """Read rows of two columns or more."""
    rows = array_of(data, shown=name)
    if rows.ndim != 2 or rows.shape[1] < 2 or rows.dtype.kind not in "iuf" or len(rows) <= rows.shape[1]:
        raise InputError(
            f"'{name}' must hold rows of numbers, of two columns or more, and more rows than columns."
        )
    return finite(rows, f"values of '{name}'", then="drop the rows first")


def truth_of(data: Any, noisy: FloatArray) -> FloatArray | None:
    """Read the truth, which must have a row for each noisy one."""
    if data is None:
        return None
    truth = rows_of(data, "truth")
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
