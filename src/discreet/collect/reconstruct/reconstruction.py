"""Reconstruction: the distribution of true values from noisy ones (Agrawal & Srikant 2000; Agrawal & Aggarwal 2001)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.collect.noise import Noise
from discreet.collect.reconstruct.density import Density
from discreet.collect.reconstruct.em import (
    TOLERANCES,
    Rule,
    Stop,
    likelihood,
    reached,
    run_em,
    warn_not_converged,
    within_reach,
)
from discreet.collect.reconstruct.histogram import Histogram
from discreet.collect.reconstruct.kernel import BANDWIDTHS, Bandwidth, kernel_shares
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import (
    NONE,
    POSITIVE,
    Constraints,
    FloatIn,
    InstanceOf,
    IntIn,
    OneOf,
    check_parameters,
    require,
)
from discreet.core.rng import RandomState, generator

_BINS_PER_INTERVAL = 10
_BINS_PER_SPREAD = 20
_BAND_BINS, _BAND_FINER, _BAND_STEPS = 4, 100, 3_000
_COARSE, _EMPTY = 60, 1e-3
_MOST_INTERVALS = 1_000
_MOST_CHANCES = 100_000_000
"""The most bins times intervals that are worked with; wider bins are taken beyond."""


class Edges:
    """Rising edges of intervals."""

    def admits(self, value: object) -> bool:
        """Return whether the value is a list or array of rising numbers."""
        if isinstance(value, str | int | float) or not isinstance(value, Sequence | np.ndarray):
            return False
        try:
            edges = np.asarray(value)
        except ValueError:
            return False
        if edges.ndim != 1 or edges.dtype.kind not in "iuf":
            return False
        if not 3 <= edges.size <= _MOST_INTERVALS + 1 or not np.isfinite(edges).all():
            return False
        return bool((np.diff(edges) > 0).all())

    def __str__(self) -> str:
        return "rising edges"


@public
@dataclass(repr=False, eq=False)
class Reconstruction:
    """Recover a distribution on k intervals.

    Noisy values are counted in fine bins first, so that a step costs bins times intervals however many values there
    are. ``bayes`` is the iterated step of Agrawal and Srikant, with the noise's density at the middles of the
    intervals; ``em`` integrates the noise over bins and intervals, and its likelihood never falls. ``kernel`` takes no
    steps: it divides the noise out of a kernel density of the noisy values, wave by wave, and cuts off what comes out
    negative. It does not know that shares are never below 0, and is mostly the farthest from the truth.

    Parameters
    ----------
    noise
        The public noise.
    intervals
        How many intervals of equal width, or their edges.
    low, high
        The range of the true values, where it is known. An end that is not known is found by a coarse reconstruction
        over all noisy values, whose ends are cut off where they hold less than one in a thousand.
    method
        ``em``, ``bayes`` or ``kernel``.
    stop
        When to stop. ``chi2``, as Agrawal and Srikant do: the χ² statistic between one step's shares and the next's
        is below ``tolerance`` (0.001; they took 0.01) times the threshold of a test at 5 %. It stops early where few
        values could not bear out more detail, and late where many can. ``change``: the shares change by less than
        ``tolerance`` (0.001) in all. ``likelihood``: the log-likelihood gains less than ``tolerance`` (1e-6) for each
        value.
    tolerance, max_steps
        The threshold, None for the rule's own; and the most steps, after which the best result is returned, with a
        warning.
    bandwidth
        How far ``kernel`` smooths, in the unit of the values: a number, ``silverman`` (his rule for the noisy values)
        or ``cv`` (cross-validation: the least squared error that the values themselves predict). Never below the width
        of the bins.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Gaussian
    >>> ages = np.repeat([25.0, 65.0], 20_000)
    >>> channel = AdditiveNoise(Gaussian(10.0))
    >>> noisy = channel.perturb(ages, random_state=1)
    >>> found = Reconstruction(Gaussian(10.0), 10, low=0, high=100).reconstruct(noisy)
    >>> bool(found.shares[2] + found.shares[6] > 0.9)
    True

    References
    ----------
    R. Agrawal, R. Srikant: Privacy-preserving data mining. SIGMOD 2000.
    D. Agrawal, C. Aggarwal: On the design and quantification of privacy preserving data mining algorithms. PODS 2001.
    L. Stefanski, R. Carroll: Deconvoluting kernel density estimators. Statistics 1990.
    """

    noise: Noise
    intervals: int | Sequence[float] = 50
    _: KW_ONLY
    low: float | None = None
    high: float | None = None
    method: Literal["em", "bayes", "kernel"] = "em"
    stop: Stop = "chi2"
    tolerance: float | None = None
    max_steps: int = 5_000
    bandwidth: Bandwidth = "silverman"

    constraints: ClassVar[Constraints] = {
        "noise": InstanceOf((Noise,), "a noise such as Gaussian(sd)"),
        "intervals": (IntIn(2, _MOST_INTERVALS), Edges()),
        "low": (FloatIn(), NONE),
        "high": (FloatIn(), NONE),
        "method": OneOf(("em", "bayes", "kernel")),
        "stop": OneOf(tuple(TOLERANCES)),
        "tolerance": (FloatIn(0, 1, closed="neither"), NONE),
        "max_steps": IntIn(1),
        "bandwidth": (POSITIVE, OneOf(BANDWIDTHS)),
    }

    def histogram(self, values: Any) -> Histogram:
        """Count noisy values in the bins this reconstruction wants; such histograms add up, batch after batch.

        Without a known range the bins are as fine as the noise requires.
        """
        self._check()
        return Histogram.of(values, width=self._bin_width())

    def reconstruct(
        self, noisy: Any, *, band: float | None = None, resamples: int = 60, random_state: RandomState = None
    ) -> Density:
        """Recover the distribution of the true values.

        Parameters
        ----------
        noisy
            The noisy values (an array, or an iterator of arrays), or their histogram.
        band
            The confidence of a pointwise band around the shares. The noisy values are drawn again and again and
            reconstructed with far more steps, which smooth less: how much those vary, and how far they are from what
            was found, makes the band; ``kernel`` has none. Detail that strong noise has wiped out altogether is
            beyond it: the edges of a sharp shape behind Gaussian noise as wide as the range are covered less often
            than stated.
        resamples, random_state
            How often, and the seed.
        """
        self._check()
        require(self, "band", band, FloatIn(0, 1, closed="neither"), NONE)
        require(self, "resamples", resamples, IntIn(10))
        if band is not None and self.method == "kernel":
            raise ParameterError("A band is made of steps, and the method 'kernel' takes none; take 'em'.")
        counted = noisy if isinstance(noisy, Histogram) else self.histogram(noisy)
        edges = self._edges(counted)
        if counted.n < edges.size - 1:
            raise InputError(
                f"{counted.n} noisy values cannot distinguish {edges.size - 1} intervals; use fewer."
            )
        counted = _thinned(counted, edges.size - 1)
        chances = likelihood(self.noise, counted.edges, edges, exact=self.method != "bayes")
        counts = self._possible(counted, edges, chances)
        if self.method == "kernel":
            shares = kernel_shares(self.noise, counts, counted.edges, edges, self.bandwidth)
            return Density(edges, shares, counted.n)
        result = run_em(counts[None], [chances], self._rule)
        if not result.converged[0]:
            warn_not_converged(self.max_steps)
        density = Density(
            edges, result.shares[0], counted.n, int(result.steps[0]), bool(result.converged[0]), result.trace
        )
        if band is None:
            return density
        return self._with_band(density, counted, band, resamples, generator(random_state, owner=self))

    def _possible(self, counted: Histogram, edges: FloatArray, chances: FloatArray) -> FloatArray:
        """Return the counts of the bins that the noise can reach."""
        inside = reached(self.noise, counted.edges, edges, chances, counted.n)
        return within_reach(counted.counts.astype(np.float64), inside, counted.n)

    def _with_band(
        self, density: Density, counted: Histogram, band: float, resamples: int, rng: np.random.Generator
    ) -> Density:
        """Draw the counts again, reconstruct them with less smoothing, and measure how far apart the results are."""
        from scipy.special import ndtri

        coarse = counted.coarser(_BAND_BINS)
        chances = likelihood(self.noise, coarse.edges, density.edges)
        counts = self._possible(coarse, density.edges, chances)
        drawn = rng.multinomial(coarse.n, counts / counts.sum(), resamples).astype(np.float64)
        rule = Rule(self.stop, self._rule.tolerance / _BAND_FINER, _BAND_STEPS)
        finer = run_em(np.vstack([counts, drawn]), [chances], rule).shares
        # Variance and bias together: how much resamples vary,
        # and how far less smoothing leads from what was found.
        away = ndtri((1 + band) / 2) * np.hypot(finer[1:].std(axis=0), finer[0] - density.shares)
        lower, upper = (np.clip(density.shares + side * away, 0.0, 1.0) for side in (-1, 1))
        # A lower end of less than one value says that the interval may be empty.
        return replace(density, lower=np.where(lower * coarse.n < 1, 0.0, lower), upper=upper)

    @property
    def _rule(self) -> Rule:
        return Rule.of(self.stop, self.tolerance, self.max_steps)

    def _edges(self, counted: Histogram) -> FloatArray:
        """Return the edges of the intervals, over the range that is known or found."""
        if not isinstance(self.intervals, int | np.integer):
            return np.asarray(self.intervals, np.float64)
        low, high = self.low, self.high
        if low is None or high is None:
            first, last = self._found_range(counted)
            low = first if low is None else low
            high = last if high is None else high
        # At least a bin wide: where all values are in one, both ends can coincide.
        return np.linspace(low, max(high, low + counted.width), int(self.intervals) + 1)

    def _found_range(self, counted: Histogram) -> tuple[float, float]:
        """Find the range of the true values: reconstruct coarsely over that of the noisy ones, and cut empty ends."""
        filled = np.flatnonzero(counted.counts)
        first, last = counted.edges[filled[0]], counted.edges[filled[-1] + 1]
        low, high = first if self.low is None else self.low, last if self.high is None else self.high
        if low >= high:
            raise InputError(
                "All noisy values lie beyond the end of the range that was stated: the range is not the one that was "
                "used."
            )
        edges = np.linspace(low, high, _COARSE + 1)
        coarse = _thinned(counted, _COARSE)
        chances = likelihood(self.noise, coarse.edges, edges)
        counts = self._possible(coarse, edges, chances)
        summed = np.cumsum(run_em(counts[None], [chances], self._rule).shares[0])
        least, most = np.searchsorted(summed, [_EMPTY, 1 - _EMPTY])
        # One interval more at both ends, since the true end may lie anywhere in the next one.
        return float(edges[max(least - 1, 0)]), float(edges[min(most + 2, _COARSE)])

    def _bin_width(self) -> float:
        fine = self.noise.spread / _BINS_PER_SPREAD
        if self.method == "kernel" and isinstance(self.bandwidth, int | float):
            fine = min(fine, float(self.bandwidth))
        if not isinstance(self.intervals, int | np.integer):
            return float(
                min(fine, np.diff(np.asarray(self.intervals, np.float64)).min() / _BINS_PER_INTERVAL)
            )
        if self.low is None or self.high is None:
            return fine
        return min(fine, (self.high - self.low) / int(self.intervals) / _BINS_PER_INTERVAL)

    def _check(self) -> None:
        check_parameters(self)
        if self.low is not None and self.high is not None:
            require(self, "high", self.high, FloatIn(self.low, closed="neither"))
        as_edges = not isinstance(self.intervals, int | np.integer)
        if as_edges and (self.low is not None or self.high is not None):
            raise ParameterError(
                "Pass either the edges of the 'intervals' or 'low' and 'high' to Reconstruction."
            )


def _thinned(counted: Histogram, intervals: int) -> Histogram:
    """Join bins while there are too many of them to work with."""
    while counted.counts.size * intervals > _MOST_CHANCES:
        counted = counted.coarser(2)
    return counted
