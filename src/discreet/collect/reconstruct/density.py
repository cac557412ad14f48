"""Density: a distribution on intervals, as reconstruction finds it, with how far to trust it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, require
from discreet.core.rng import RandomState, generator

_WHOLE = 1e-9


@public
@dataclass(frozen=True, repr=False, eq=False)
class Density:
    """A distribution that is even within each interval.

    Attributes
    ----------
    edges, shares
        The ends of the intervals, and the share of the values in each.
    n
        The number of noisy values it was learned from; None where it was not.
    iterations, converged
        The steps taken, and whether the stopping rule was satisfied within ``max_steps``.
    trace
        The log-likelihood after each step.
    lower, upper
        A pointwise band around the shares, where one was requested.

    Examples
    --------
    >>> ages = Density(np.array([20.0, 40.0, 60.0]), np.array([0.25, 0.75]))
    >>> ages.mean, ages.cdf(50.0).item(), ages.ppf(0.25).item()
    (45.0, 0.625, 40.0)
    """

    edges: FloatArray
    shares: FloatArray
    n: int | None = None
    iterations: int = 0
    converged: bool = True
    trace: FloatArray = field(default_factory=lambda: np.empty(0))
    lower: FloatArray | None = None
    upper: FloatArray | None = None

    def __post_init__(self) -> None:
        for name in ("edges", "shares"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.float64))
        finite = self.edges.ndim == 1 and self.edges.size > 1 and bool(np.isfinite(self.edges).all())
        if not finite or not (np.diff(self.edges) > 0).all() or self.shares.shape != (self.edges.size - 1,):
            raise InputError("A density needs rising edges, and one share for each interval between them.")
        require_shares(self.shares)

    @property
    def widths(self) -> FloatArray:
        """The widths of the intervals."""
        return np.diff(self.edges)

    @property
    def middles(self) -> FloatArray:
        """The middles of the intervals."""
        return np.asarray((self.edges[1:] + self.edges[:-1]) / 2)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.moment(1)

    @property
    def variance(self) -> float:
        """The variance."""
        return self.moment(2, about=self.mean)

    @property
    def entropy(self) -> float:
        """The differential entropy, in bits."""
        filled = self.shares > 0
        return float(-(self.shares[filled] * np.log2(self.shares[filled] / self.widths[filled])).sum())

    def moment(self, order: int, *, about: float = 0.0) -> float:
        """Return the mean of a power of the values' distance from a point."""
        require(self, "order", order, IntIn(0))
        away, half = self.middles - about, self.widths / 2
        within = sum(
            math.comb(order, even) * away ** (order - even) * half**even / (even + 1)
            for even in range(0, order + 1, 2)
        )
        return float((self.shares * within).sum())

    def pdf(self, at: Any) -> FloatArray:
        """Return the density at points; 0 outside the intervals."""
        at = np.asarray(at, np.float64)
        place = np.searchsorted(self.edges, at, side="right") - 1
        place = np.where(at == self.edges[-1], self.shares.size - 1, place)
        inside = (place >= 0) & (place < self.shares.size)
        height = self.shares / self.widths
        return np.where(inside, height[np.clip(place, 0, self.shares.size - 1)], 0.0)

    def cdf(self, at: Any) -> FloatArray:
        """Return the share of the values up to points."""
        return np.asarray(np.interp(at, self.edges, self._cumulated))

    def ppf(self, share: Any) -> FloatArray:
        """Return the quantiles: the values below which these shares of the values are."""
        shares = np.asarray(share, np.float64)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise ParameterError("The 'share' parameter of Density must hold numbers in [0, 1].")
        cumulated, filled = self._cumulated, np.flatnonzero(self.shares)
        place = filled[np.searchsorted(cumulated[filled + 1], shares).clip(max=filled.size - 1)]
        within = (shares - cumulated[place]) / (cumulated[place + 1] - cumulated[place])
        return np.asarray(self.edges[place] + within.clip(0, 1) * self.widths[place])

    def sample(self, size: int, *, random_state: RandomState = None) -> FloatArray:
        """Draw values."""
        require(self, "size", size, IntIn(0))
        return self.ppf(generator(random_state, owner=self).random(size))

    def distance(self, other: Density) -> float:
        """Return half the L1 distance to another density: the information loss of Agrawal and Aggarwal."""
        edges = np.union1d(self.edges, other.edges)
        own, theirs = (np.diff(density.cdf(edges)) for density in (self, other))
        return float(np.abs(own - theirs).sum() / 2)

    def frame(self) -> pa.Table:
        """Return the intervals as an Arrow table: their ends, shares and densities, and the band where there is one."""
        columns = {
            "low": self.edges[:-1],
            "high": self.edges[1:],
            "share": self.shares,
            "density": self.shares / self.widths,
        }
        if self.lower is not None and self.upper is not None:
            columns |= {"lower": self.lower, "upper": self.upper}
        return pa.table(columns)

    @property
    def _cumulated(self) -> FloatArray:
        summed = np.concatenate([[0.0], np.cumsum(self.shares)])
        return np.asarray(summed / summed[-1])

    def __repr__(self) -> str:
        learned = "" if self.n is None else f", from {self.n} noisy values"
        return f"Density({self.shares.size} intervals{learned}{'' if self.converged else ', not converged'})"


def require_shares(shares: FloatArray) -> None:
    """Refuse shares that are negative or do not add up to 1."""
    if not (abs(shares.sum() - 1) <= _WHOLE * shares.size and (shares >= 0).all()):
        raise InputError("The shares of a density must not be negative and must add up to 1.")
