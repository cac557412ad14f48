"""Correlated noise: noise shaped like the data, which filtering cannot take off (Huang, Du & Chen, SIGMOD 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.collect.frames import frame_of, released_frame, require_hidden
from discreet.collect.noise import GRID_BITS, MOST_STEPS
from discreet.collect.secure_random import Chance
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import POSITIVE, require
from discreet.core.rng import RandomState
from discreet.core.validation import LEAST, array_of, finite, least_variance, symmetric_matrix


@public
class CorrelatedNoise:
    """Add normal noise with a covariance matrix to several columns of numbers at once.

    Independent noise on correlated columns is mostly in directions without data, and an attacker filters it off
    (:func:`discreet.measure.pca_attack`, :func:`discreet.measure.spectral_attack`). Noise with the data's own
    correlations is in the directions of the data, and nothing but its size can be estimated.

    Parameters
    ----------
    covariance
        The public covariance matrix of the noise, positive definite. :meth:`like` shapes it like the data.

    Examples
    --------
    >>> shape = np.array([[4.0, 3.0], [3.0, 4.0]])
    >>> channel = CorrelatedNoise.like(shape, ratio=0.5)
    >>> channel.covariance.tolist()
    [[2.0, 1.5], [1.5, 2.0]]
    >>> channel.perturb(np.zeros((3, 2)), random_state=1).shape
    (3, 2)

    References
    ----------
    Z. Huang, W. Du, B. Chen: Deriving private information from randomized data. SIGMOD 2005.
    """

    def __init__(self, covariance: Any) -> None:
        self.covariance = _covariance(covariance)
        if not least_variance(self.covariance) > LEAST:
            raise ParameterError(
                "The 'covariance' parameter of CorrelatedNoise must be positive definite: in some direction there "
                "would be no noise."
            )
        self._root = np.linalg.cholesky(self.covariance)

    @classmethod
    def like(cls, covariance: Any, *, ratio: float) -> CorrelatedNoise:
        """Choose noise with ``ratio`` times the variances of the data, and with its correlations.

        Parameters
        ----------
        covariance
            The data's covariance matrix, as far as it is public: of an earlier survey, or corrected for noise
            (:func:`discreet.mine.corrected_moments`).
        ratio
            The noise's variance over the data's.
        """
        require(cls.__name__, "ratio", ratio, POSITIVE)
        return cls(ratio * _covariance(covariance))

    @property
    def spreads(self) -> FloatArray:
        """The standard deviation of each column's noise."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def grids(self) -> FloatArray:
        """The powers of two that each column's noise is a multiple of."""
        return np.asarray(np.ldexp(1.0, np.floor(np.log2(self.spreads)).astype(int) - GRID_BITS))

    def perturb(self, data: Any, *, columns: Sequence[str] = (), random_state: RandomState = None) -> Any:
        """Add noise to rows of numbers: an array, or the columns of a frame in the covariance's order."""
        if isinstance(data, np.ndarray | list | tuple):
            return self._noisy(array_of(data), Chance(random_state, owner=self))
        import narwhals as nw

        frame = frame_of(data)
        if len(set(columns)) != len(columns) or len(columns) != len(self.covariance):
            raise ParameterError(
                f"The 'columns' parameter of CorrelatedNoise must name {len(self.covariance)} columns, each once."
            )
        require_hidden(frame, columns)
        nulls = sum(frame.get_column(name).null_count() for name in columns)
        if nulls:
            raise InputError(f"{nulls} values of the columns are null; drop or fill them first.")
        noisy = self._noisy(frame.select(columns).to_numpy(), Chance(random_state, owner=self))
        noisy_columns = {
            name: np.ascontiguousarray(column) for name, column in zip(columns, noisy.T, strict=True)
        }
        series = [nw.new_series(name, noisy_columns[name], backend=frame.implementation) for name in columns]
        return released_frame(frame.with_columns(*series))

    def to_dict(self) -> dict[str, Any]:
        """Return the channel as plain data: what is public about it."""
        return {"noise": "correlated", "covariance": self.covariance.tolist()}

    def _noisy(self, rows: np.ndarray[Any, Any], chance: Chance) -> FloatArray:
        if rows.ndim != 2 or rows.shape[1] != len(self.covariance) or rows.dtype.kind not in "iuf":
            raise InputError(f"Correlated noise hides rows of {len(self.covariance)} numbers.")
        numbers = finite(rows, "of the values")
        grids = self.grids
        if numbers.size and bool((np.abs(numbers) >= MOST_STEPS * grids).any()):
            raise InputError(
                "Some numbers are so large beside the noise that the noise would be lost in rounding; count from a "
                "nearer origin."
            )
        drawn = chance.normal(numbers.size).reshape(numbers.shape) @ self._root.T
        # Numbers and noise are rounded to the grid each for itself: the low bits of a sum of floats would
        # show which numbers were added.
        return np.asarray((np.rint(numbers / grids) + np.rint(drawn / grids)) * grids)

    def __repr__(self) -> str:
        return f"CorrelatedNoise({len(self.covariance)} columns)"


def _covariance(matrix_like: Any) -> FloatArray:
    matrix = symmetric_matrix(matrix_like)
    if matrix is None:
        raise ParameterError(
            "The 'covariance' parameter of CorrelatedNoise must be a symmetric matrix of numbers."
        )
    return matrix
