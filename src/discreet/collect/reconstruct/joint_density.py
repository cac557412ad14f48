"""Joint density: the distribution of two or three columns together, so that correlations survive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.collect.category_estimates import labeled
from discreet.collect.reconstruct.density import Density, require_shares
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, require
from discreet.core.rng import RandomState, generator


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
        require_shares(self.shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(axis.name for axis in self.axes)

    def marginal(self, *names: str) -> JointDensity:
        """Return the distribution of some of the columns, in that order."""
        places = [self._place(name) for name in names]
        if not places or len(set(places)) < len(places):
            raise ParameterError("The 'names' parameter of JointDensity must name some columns, each once.")
        rest = tuple(place for place in range(len(self.axes)) if place not in places)
        ordered = np.transpose(self.shares, (*places, *rest))
        kept = ordered.sum(axis=tuple(range(len(places), len(self.axes))))
        axes = tuple(self.axes[place] for place in places)
        return JointDensity(axes, kept, self.n, self.iterations, self.converged)

    def density(self, name: str) -> Density:
        """Return the distribution of one column of numbers."""
        axis = self.axes[self._place(name)]
        shares = self.marginal(name).shares
        return Density(axis.ends, shares / shares.sum(), self.n, self.iterations, self.converged)

    def covariance(self, one: str, other: str) -> float:
        """Return the covariance of two columns of numbers; a column's own is its variance."""
        if one == other:
            return self.density(one).variance
        both = self.marginal(one, other)
        first, second = (axis.middles - self.density(axis.name).mean for axis in both.axes)
        return float(first @ both.shares @ second)

    def correlation(self, one: str, other: str) -> float:
        """Return the correlation of two columns of numbers."""
        spread = self.covariance(one, one) * self.covariance(other, other)
        return float(self.covariance(one, other) / np.sqrt(spread))

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
            one.categories == two.categories
            and (one.edges is None) == (two.edges is None)
            and (one.edges is None or np.array_equal(one.edges, two.ends))
            for one, two in zip(self.axes, other.axes, strict=False)
        )
        if not same:
            raise InputError("Joint densities are compared on the same cells of the same columns.")
        return float(np.abs(self.shares - other.shares).sum() / 2)

    def _place(self, name: str) -> int:
        names: Sequence[str] = self.names
        if name not in names:
            raise ParameterError(f"The joint density has no column {name!r}; it has {', '.join(names)}.")
        return list(names).index(name)

    def __repr__(self) -> str:
        cells = " × ".join(str(axis.size) for axis in self.axes)
        return f"JointDensity({', '.join(self.names)}; {cells} cells)"
