"""Spectral filtering: noise is found in data by its eigenvalues (Kargupta, Datta, Wang & Sivakumar, ICDM 2003)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.boundary import public
from discreet.measure.noise.noise_stripping import NoiseStripped, covariance_of, judged, rows_of, truth_of


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
    rows = rows_of(noisy, "noisy")
    true = truth_of(truth, rows)
    n, width = rows.shape
    added = covariance_of(noise, width)
    root = np.linalg.cholesky(added)
    mean = rows.mean(axis=0)
    white = np.linalg.solve(root, (rows - mean).T).T
    values, directions = np.linalg.eigh(white.T @ white / (n - 1))
    bound = (1 + np.sqrt(width / n)) ** 2
    data = directions[:, values > bound]
    estimate = mean + white @ data @ data.T @ root.T
    return judged(estimate, data.shape[1], rows, added=added, truth=true)
