"""A density by deconvolution: a kernel density of the noisy values, from which the noise is divided out."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from discreet.collect.noise import Noise
from discreet.core.arrays import FloatArray
from discreet.core.errors import InfeasibleError

Bandwidth = float | Literal["silverman", "cv"]
BANDWIDTHS = ("silverman", "cv")
_FINER = 2
_MOST_BINS = 1 << 22
_TRIED, _WIDEST = 60, 4.0
"""How many bandwidths cross-validation tries, and the widest of them over Silverman's."""


def kernel_shares(
    noise: Noise, counts: FloatArray, bins: FloatArray, edges: FloatArray, bandwidth: Bandwidth
) -> FloatArray:
    """Return the shares of intervals by a kernel density estimate of the true values.

    The estimate is the inverse transform of ``φ_Z(t)·φ_K(ht)·φ_Y(t) / max(φ_Y(t)², 1/n)``: what the values say at the
    frequency t, smoothed by a kernel K of bandwidth h, over what the noise Y leaves of it. Where the noise leaves less
    than chance adds, the quotient fades out instead of growing. What comes out negative is cut off.

    Parameters
    ----------
    noise
        The public noise.
    counts, bins
        How many noisy values there are in each bin, and the edges of the bins, all of one width.
    edges
        The edges of the intervals.
    bandwidth
        A number, ``silverman`` or ``cv``; never below the width of a bin.

    Examples
    --------
    >>> from discreet.collect.noise import Uniform
    >>> counts, bins = np.array([0.0, 1, 1, 0, 0, 0, 1, 1, 0]), np.arange(10.0)
    >>> kernel_shares(Uniform(1.0), counts, bins, np.array([0.0, 4.5, 9]), 1.0).round(9).tolist()
    [0.5, 0.5]
    """
    from scipy.fft import next_fast_len

    n, width = float(counts.sum()), float(bins[1] - bins[0])
    # The estimate is periodic, so that a short period would mix both ends. Uniform noise wipes some waves out, and the
    # quotient peaks within 1/√n of each: a period of √n half widths puts several frequencies there.
    wanted = max(4 * (counts.size + 2 * noise.reach / width), 2 * noise.spread / width * math.sqrt(n))
    size = next_fast_len(counts.size + math.ceil(min(wanted, _MOST_BINS)), real=True)
    margin = (size - counts.size) // 2
    padded = np.pad(counts / n, (margin, size - counts.size - margin))
    frequencies = np.asarray(2 * np.pi * np.fft.rfftfreq(size, width), np.float64)
    waves, left = np.fft.rfft(padded), noise.characteristic(frequencies)
    # Values were moved to the middles of their bins, which shortens each wave by the transform of a bin.
    gain = left / np.maximum(left**2, 1 / n) / np.sinc(frequencies * width / (2 * np.pi))
    chosen = bandwidth if isinstance(bandwidth, int | float) else _silverman(counts, bins)
    if bandwidth == "cv":
        tried = np.geomspace(width, _WIDEST * max(chosen, width), _TRIED)
        chosen = _cross_validated(np.abs(waves) ** 2, gain**2, frequencies, n, tried)
    spectrum = waves * gain * kernel_transform(max(chosen, width) * frequencies)
    heights = np.fft.irfft(spectrum, _FINER * size)
    at = bins[0] + width * (np.arange(heights.size) / _FINER + 0.5 - margin)
    return _shares_below(at, np.maximum(heights, 0.0), edges)


def kernel_transform(at: FloatArray) -> FloatArray:
    """Return the kernel's characteristic function, ``(1 − u²)³`` on [−1, 1]: it ends, so that no wave beyond counts."""
    return np.asarray(np.maximum(1 - at**2, 0.0) ** 3)


def _silverman(counts: FloatArray, bins: FloatArray) -> float:
    """Return Silverman's bandwidth of the noisy values: ``0.9·min(sd, IQR/1.34)·n^(−1/5)``."""
    n, middles = counts.sum(), (bins[1:] + bins[:-1]) / 2
    mean = counts @ middles / n
    sd = math.sqrt(counts @ (middles - mean) ** 2 / n)
    below = np.concatenate([[0.0], np.cumsum(counts)]) / n
    lower, upper = np.interp([0.25, 0.75], below, bins)
    return float(0.9 * min(sd, (upper - lower) / 1.34) * n**-0.2)


def _cross_validated(
    power: FloatArray, gain: FloatArray, frequencies: FloatArray, n: float, tried: FloatArray
) -> float:
    """Return the bandwidth of the least integrated squared error, as far as the values themselves predict it.

    The error of the estimate is, but for a constant, its square less twice its product with the truth. Pairs of two
    different values estimate the product without bias; the n pairs of a value with itself are taken out.
    """
    square, product = gain * power, gain * (n * power - 1) / max(n - 1, 1)

    def error(bandwidth: float) -> float:
        # The kernel's transform is zero from here on.
        upto = int(np.searchsorted(frequencies, 1 / bandwidth))
        kernel = kernel_transform(bandwidth * frequencies[:upto])
        # The frequency 0, which is the sum of all shares, is the same for every bandwidth.
        return float((kernel * (kernel * square[:upto] - 2 * product[:upto]))[1:].sum())

    # From the widest on, so that of equal errors the smoothest estimate is taken.
    return float(min(tried[::-1], key=error))


def _shares_below(at: FloatArray, heights: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the shares of the area below a line through points that lies in each interval."""
    below = np.concatenate([[0.0], np.cumsum((heights[1:] + heights[:-1]) / 2)])
    areas = np.diff(np.interp(edges, at, below))
    if not areas.sum() > 0:
        raise InfeasibleError(
            "The kernel estimate is nowhere above 0 on the stated range; take the method 'em', or pass more values."
        )
    return np.asarray(areas / areas.sum())
