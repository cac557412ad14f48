"""Covariance matrices as people give them: one rule for what is symmetric, and one for how little varies at least."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray

LEAST = 1e-9
"""Columns of variance 1 whose least variance in any direction is not above this count as having none there."""
_SYMMETRIC = 1e-9


def symmetric_matrix(given: Any) -> FloatArray | None:
    """Read a symmetric matrix of finite numbers; None where it is not one.

    >>> symmetric_matrix([[2, 1], [1, 3]]).tolist()
    [[2.0, 1.0], [1.0, 3.0]]
    >>> symmetric_matrix([[2e-12, 1e-12], [0, 3e-12]]) is None
    True
    """
    try:
        matrix = np.asarray(given)
    except ValueError:
        return None
    if matrix.dtype.kind not in "iuf" or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return None
    if not matrix.size or not np.isfinite(matrix).all():
        return None
    half = matrix.astype(np.float64) / 2
    if np.abs(half - half.T).max() > _SYMMETRIC * np.abs(half).max():
        return None
    return np.asarray(half + half.T)


def least_variance(covariance: FloatArray) -> float:
    """Return the least variance in any direction, once every column that varies is brought to variance 1.

    >>> least_variance(np.array([[4.0, 0.0], [0.0, 1e-30]]))
    1.0
    >>> least_variance(np.array([[1.0, 0.0], [0.0, 0.0]]))
    0.0
    """
    variances = np.diag(covariance)
    if (variances < 0).any():
        return float("-inf")
    spreads = np.sqrt(np.where(variances > 0, variances, 1.0))
    return float(np.linalg.eigvalsh(covariance / spreads / spreads[:, None])[0])
