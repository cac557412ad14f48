"""Reconstruction by principal components, and by Bayes' rule, of noisy rows (Huang, Du & Chen, SIGMOD 2005)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.measure.noise.noise_stripping import NoiseStripped, covariance_of, judged, rows_of, truth_of

_GAP = 0.01
"""A principal variance below this share of the largest is taken for nothing."""


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
    rows = rows_of(noisy, "noisy")
    true = truth_of(truth, rows)
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
        return judged(mean + away @ data @ data.T, int(kept.sum()), rows, added=added, truth=true)
    covariance = (directions * np.where(kept, np.maximum(values, 0.0), 0.0)) @ directions.T
    estimate = mean + away @ np.linalg.solve(covariance + added, covariance)
    return judged(estimate, int(kept.sum()), rows, added=added, truth=true)


def _kept(values: FloatArray, components: int | None) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which of the ascending variances are the data's."""
    if components is None:
        return np.asarray((values > _GAP * values[-1]) & (values > 0))
    return np.asarray(np.arange(values.size) >= values.size - components)
