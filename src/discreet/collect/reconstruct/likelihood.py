"""Likelihood: the probability that a true value of an interval comes out in a bin, for every bin and interval."""

from __future__ import annotations

import numpy as np

from discreet.collect.noise import Noise
from discreet.collect.reconstruct.em import TINY
from discreet.core.arrays import BoolArray, FloatArray

_CHUNK = 4096
_SURELY = 1e-9
"""How seldom the noise may carry any of all values so far that they are refused."""


def likelihood(noise: Noise, bins: FloatArray, edges: FloatArray, *, exact: bool = True) -> FloatArray:
    """Return a row for every bin and a column for every interval, both described by their edges.

    Exactly, the noise is averaged over the interval and summed over the bin. The integral of its ``cdf`` up to d is
    max(d, 0) and a tail that is the same on both sides; taking the two apart keeps far chances from being lost in
    rounding. Otherwise, as in the first paper, it is the density between their middles; but bins that bounded noise
    reaches from no middle get the exact probabilities.
    """
    chances = np.empty((bins.size - 1, edges.size - 1))
    for start in range(0, bins.size - 1, _CHUNK):
        ends = bins[start : start + _CHUNK + 1]
        tails = noise.area(-np.abs(ends[:, None] - edges[None, :]))
        corners = tails[1:, :-1] - tails[:-1, :-1] - tails[1:, 1:] + tails[:-1, 1:] + _shared(ends, edges)
        chances[start : start + _CHUNK] = np.maximum(corners / np.diff(edges), 0.0)
    if exact:
        return chances
    widths, middles = np.diff(bins), (bins[1:] + bins[:-1]) / 2
    between = noise.pdf(middles[:, None] - (edges[1:] + edges[:-1]) / 2) * widths[:, None]
    unreached = between.sum(axis=1) <= 0
    between[unreached] = chances[unreached]
    return between


def reached(noise: Noise, bins: FloatArray, edges: FloatArray, chances: FloatArray, n: int) -> BoolArray:
    """Return for every bin whether the noise could have carried a value of the intervals there.

    A bin so far out that no value of n would be found there but once in a thousand million times is not reached.
    """
    away = np.maximum(np.maximum(edges[0] - bins[1:], bins[:-1] - edges[-1]), 0.0)
    return np.asarray((chances.sum(axis=1) > TINY) & (noise.cdf(-away) * n > _SURELY))


def _shared(bins: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the share of every interval that is in each bin."""
    upper = np.minimum(bins[1:, None], edges[None, 1:])
    return np.asarray(np.maximum(upper - np.maximum(bins[:-1, None], edges[None, :-1]), 0.0))
