"""Likelihood: the chance that a true value of an interval comes out in a bin, for every bin and interval."""

from __future__ import annotations

import numpy as np

from discreet.collect.noise import Noise
from discreet.core.arrays import FloatArray

_CHUNK = 4096


def likelihood(noise: Noise, bins: FloatArray, edges: FloatArray, *, exact: bool = True) -> FloatArray:
    """Give a row for every bin and a column for every interval, both told by their edges.

    Exactly, the noise is averaged over the interval and summed over the bin. Otherwise, as in the first paper, it is
    the density between their middles; but bins that bounded noise reaches from no middle get the exact chances.
    """
    chances = np.empty((bins.size - 1, edges.size - 1))
    for start in range(0, bins.size - 1, _CHUNK):
        ends = bins[start : start + _CHUNK + 1]
        areas = noise.area(ends[:, None] - edges[None, :])
        corners = areas[1:, :-1] - areas[:-1, :-1] - areas[1:, 1:] + areas[:-1, 1:]
        chances[start : start + _CHUNK] = np.maximum(corners / np.diff(edges), 0.0)
    if exact:
        return chances
    widths, middles = np.diff(bins), (bins[1:] + bins[:-1]) / 2
    between = noise.pdf(middles[:, None] - (edges[1:] + edges[:-1]) / 2) * widths[:, None]
    unreached = between.sum(axis=1) <= 0
    between[unreached] = chances[unreached]
    return between
