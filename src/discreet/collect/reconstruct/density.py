"""Densities: a distribution on intervals, of one column or of several together, as reconstruction finds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.collect.category_estimates import labeled
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
        _require_shares(self.shares)

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
        # The mean of (away + u)^order for u even in ±half: odd powers of u cancel.
        within = sum(
            math.comb(order, even) * away ** (order - even) * half**even / (even + 1)
            for even in range(0, order + 1, 2)
        )
        return float((self.shares * within).sum())

    def pdf(self, at: Any) -> FloatArray:
        """Return the density at points; 0 outside the intervals."""
        at = np.asarray(at, np.float64)
        interval = np.searchsorted(self.edges, at, side="right") - 1
        interval = np.where(at == self.edges[-1], self.shares.size - 1, interval)
        inside = (interval >= 0) & (interval < self.shares.size)
        height = self.shares / self.widths
        return np.where(inside, height[np.clip(interval, 0, self.shares.size - 1)], 0.0)

    def cdf(self, at: Any) -> FloatArray:
        """Return the share of the values up to points."""
        return np.asarray(np.interp(at, self.edges, self._cumulated))

    def ppf(self, share: Any) -> FloatArray:
        """Return the quantiles: the values below which these shares of the values are."""
        shares = np.asarray(share, np.float64)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise ParameterError("The 'share' parameter of Density must hold numbers in [0, 1].")
        cumulated, filled = self._cumulated, np.flatnonzero(self.shares)
        # Among intervals that hold something, as the quantile function jumps over the others.
        interval = filled[np.searchsorted(cumulated[filled + 1], shares).clip(max=filled.size - 1)]
        within = (shares - cumulated[interval]) / (cumulated[interval + 1] - cumulated[interval])
        return np.asarray(self.edges[interval] + within.clip(0, 1) * self.widths[interval])

    def sample(self, size: int, *, random_state: RandomState = None) -> FloatArray:
        """Draw values."""
        require(self, "size", size, IntIn(0))
        return self.ppf(generator(random_state, owner=self).random(size))

    def distance(self, other: Density) -> float:
        """Return half the L1 distance to another density: the information loss of Agrawal and Aggarwal."""
        # Both densities are constant between these edges, so the distance is exact.
        edges = np.union1d(self.edges, other.edges)
        masses = [np.diff(density.cdf(edges)) for density in (self, other)]
        return float(np.abs(masses[0] - masses[1]).sum() / 2)

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


@dataclass(frozen=True, eq=False)
class Axis:
    """One column: the edges of its intervals, or its categories."""

    name: str
    edges: FloatArray | None = None
    categories: tuple[Any, ...] = ()

    @property
    def size(self) -> int:
        """The number of intervals or categories."""
        return len(self.categories) if self.edges is None else self.edges.size - 1

    @property
    def middles(self) -> FloatArray:
        """The middles of the intervals; categories have none."""
        return np.asarray((self.ends[1:] + self.ends[:-1]) / 2)

    @property
    def ends(self) -> FloatArray:
        """The edges of the intervals; categories have none."""
        if self.edges is None:
            raise ParameterError(f"Column '{self.name}' holds categories, which have no mean.")
        return self.edges


@public
@dataclass(frozen=True, repr=False, eq=False)
class JointDensity:
    """Shares of cells, a cell for each combination of intervals and categories; even within a cell.

    Attributes
    ----------
    axes
        The columns.
    shares
        The share of each cell, with an axis for each column.
    n, iterations, converged, trace
        As in :class:`Density`.

    Examples
    --------
    >>> axes = (Axis("age", np.array([0.0, 50.0, 100.0])), Axis("sex", categories=("f", "m")))
    >>> both = JointDensity(axes, np.array([[0.3, 0.1], [0.2, 0.4]]))
    >>> both.marginal("sex").shares.tolist(), round(both.density("age").mean, 6)
    ([0.5, 0.5], 55.0)
    >>> both.conditional_mean("age", given="sex").round(6).tolist()
    [45.0, 65.0]
    """

    axes: tuple[Axis, ...]
    shares: FloatArray
    n: int | None = None
    iterations: int = 0
    converged: bool = True
    trace: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", np.asarray(self.shares, np.float64))
        if self.shares.shape != tuple(axis.size for axis in self.axes):
            raise InputError("A joint density needs a share for each combination of its columns' cells.")
        _require_shares(self.shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(axis.name for axis in self.axes)

    def marginal(self, *names: str) -> JointDensity:
        """Return the distribution of some of the columns, in that order."""
        chosen = [self._index(name) for name in names]
        if not chosen or len(set(chosen)) < len(chosen):
            raise ParameterError("The 'names' parameter of JointDensity must name some columns, each once.")
        rest = tuple(index for index in range(len(self.axes)) if index not in chosen)
        ordered = np.transpose(self.shares, (*chosen, *rest))
        shares = ordered.sum(axis=tuple(range(len(chosen), len(self.axes))))
        axes = tuple(self.axes[index] for index in chosen)
        return JointDensity(axes, shares, self.n, self.iterations, self.converged)

    def density(self, name: str) -> Density:
        """Return the distribution of one column of numbers."""
        axis = self.axes[self._index(name)]
        shares = self.marginal(name).shares
        return Density(axis.ends, shares / shares.sum(), self.n, self.iterations, self.converged)

    def covariance(self, name: str, other: str) -> float:
        """Return the covariance of two columns of numbers; a column's own is its variance."""
        if name == other:
            return self.density(name).variance
        both = self.marginal(name, other)
        # Middles suffice for two columns, which are independent within a cell. The variance of one has the
        # spread within its intervals too, hence the case above.
        first, second = (axis.middles - self.density(axis.name).mean for axis in both.axes)
        return float(first @ both.shares @ second)

    def correlation(self, name: str, other: str) -> float:
        """Return the correlation of two columns of numbers."""
        spread = self.covariance(name, name) * self.covariance(other, other)
        return float(self.covariance(name, other) / np.sqrt(spread))

    def conditional_mean(self, of: str, *, given: str) -> FloatArray:
        """Return the mean of one column for each interval or category of another; NaN where that holds nothing."""
        both = self.marginal(of, given)
        mass = both.shares.sum(axis=0)
        summed = both.axes[0].middles @ both.shares
        return np.asarray(np.divide(summed, mass, out=np.full(mass.size, np.nan), where=mass > 0))

    def sample(self, size: int, *, random_state: RandomState = None) -> pa.Table:
        """Draw rows: a cell by its share, and evenly within it."""
        require(self, "size", size, IntIn(0))
        rng = generator(random_state, owner=self)
        flat = self.shares.ravel() / self.shares.sum()
        cells = np.unravel_index(rng.choice(flat.size, size, p=flat), self.shares.shape)
        columns: dict[str, Any] = {}
        for axis, places in zip(self.axes, cells, strict=True):
            if axis.edges is None:
                columns[axis.name] = labeled(places, axis.categories)
            else:
                columns[axis.name] = axis.edges[places] + rng.random(size) * np.diff(axis.edges)[places]
        return pa.table(columns)

    def distance(self, other: JointDensity) -> float:
        """Return half the L1 distance to a density on the same cells."""
        same = self.names == other.names and all(
            axis.categories == second.categories
            and (axis.edges is None) == (second.edges is None)
            and (axis.edges is None or np.array_equal(axis.edges, second.ends))
            for axis, second in zip(self.axes, other.axes, strict=False)
        )
        if not same:
            raise InputError("Joint densities are compared on the same cells of the same columns.")
        return float(np.abs(self.shares - other.shares).sum() / 2)

    def _index(self, name: str) -> int:
        names: Sequence[str] = self.names
        if name not in names:
            raise ParameterError(f"The joint density has no column {name!r}; it has {', '.join(names)}.")
        return list(names).index(name)

    def __repr__(self) -> str:
        cells = " × ".join(str(axis.size) for axis in self.axes)
        return f"JointDensity({', '.join(self.names)}; {cells} cells)"


def _require_shares(shares: FloatArray) -> None:
    """Refuse shares that are negative or do not add up to 1."""
    if not (abs(shares.sum() - 1) <= _WHOLE * shares.size and (shares >= 0).all()):
        raise InputError("The shares of a density must not be negative and must add up to 1.")
