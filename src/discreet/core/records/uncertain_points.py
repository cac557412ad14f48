"""UncertainPoints: records published as probability distributions, a center and a spread in every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.release import Release

Spread = Literal["gaussian", "uniform"]
SPREADS: tuple[Spread, ...] = ("gaussian", "uniform")
SUFFIX = "_spread"
"""What the name of a column ends in that holds the spreads of another."""


@public
@dataclass(frozen=True, repr=False)
class UncertainPoints:
    """Records as distributions: each is its center, and how wide it is spread in each column.

    Attributes
    ----------
    names
        The names of the columns.
    centers
        The published values, a row for each record.
    spreads
        The standard deviation of each value where spreads are Gaussian, the side of the cube where they are uniform;
        both in the unit of the column.
    spread
        The shape: ``"gaussian"`` or ``"uniform"``.
    others
        The published columns without a spread, such as a label, by name.

    Examples
    --------
    >>> import numpy as np
    >>> ages = UncertainPoints(("age",), np.array([[40.0], [60.0]]), np.array([[5.0], [5.0]]))
    >>> ages.chances(np.array([[35.0]]), np.array([[45.0]])).round(3).tolist()
    [[0.683, 0.001]]
    """

    names: tuple[str, ...]
    centers: FloatArray
    spreads: FloatArray
    spread: Spread = "gaussian"
    others: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        require(self, "spread", self.spread, OneOf(SPREADS))
        shape = np.shape(self.centers)
        if len(shape) != 2 or shape != np.shape(self.spreads) or shape[1] != len(self.names):
            raise InputError("Centers and spreads must be matrices alike, with a name for each column.")
        if not (np.isfinite(self.centers).all() and np.isfinite(self.spreads).all()):
            raise InputError("Centers and spreads must be finite numbers.")
        if not (np.asarray(self.spreads) > 0).all():
            raise InputError("Spreads must be positive.")

    @classmethod
    def of(cls, released: Any, *, spread: Spread | None = None) -> UncertainPoints:
        """Read a release of uncertain records, or a frame of one; for a frame, the shape of its spreads is named."""
        if isinstance(released, Release):
            require(cls.__name__, "released", released.kind, OneOf(("uncertain-records",)))
            spread = released.recipe["parameters"]["spread"]
            released = released.frame
        require(cls.__name__, "spread", spread, OneOf(SPREADS))
        columns = _columns(released)
        names = tuple(name for name in columns if f"{name}{SUFFIX}" in columns)
        if not names:
            raise InputError(f"The frame holds no uncertain records: no column has another with '{SUFFIX}'.")
        centers, spreads = (
            np.column_stack([np.asarray(columns[f"{name}{suffix}"], np.float64) for name in names])
            for suffix in ("", SUFFIX)
        )
        spreading = {f"{name}{SUFFIX}" for name in names}
        others = {
            name: cells for name, cells in columns.items() if name not in names and name not in spreading
        }
        return cls(names, centers, spreads, spread or "gaussian", others)

    def __len__(self) -> int:
        return len(self.centers)

    @cached_property
    def classes(self) -> IntArray:
        """The number of each record's class: those that share the spreads and all columns without one."""
        import pyarrow as pa

        keys = [self.spreads]
        for cells in (self.others or {}).values():
            codes = pa.array(cells, from_pandas=True).dictionary_encode(null_encoding="encode").indices
            keys.append(codes.to_numpy().astype(np.float64)[:, None])
        return np.asarray(np.unique(np.hstack(keys), axis=0, return_inverse=True)[1].ravel(), np.int64)

    @cached_property
    def scale(self) -> FloatArray:
        """The standard deviation of each column, where a record counts the more the narrower it is."""
        precise = 1 / np.square(self.spreads)
        center = np.average(self.centers, axis=0, weights=precise)
        return np.asarray(np.sqrt(np.average(np.square(self.centers - center), axis=0, weights=precise)))

    @property
    def weights(self) -> FloatArray:
        """How much each record is worth to k-means or a mean: 1 without a spread, ½ with one as wide as the data.

        It is 1/(1 + s²), where s is the spread in units of ``scale``: the inverse of the variance of the center around
        its cluster, if clusters are as wide as the data. Without weights the widest records drag centroids away.
        """
        deviation = self.spreads if self.spread == "gaussian" else self.spreads / np.sqrt(12)
        scale = np.where(self.scale > 0, self.scale, 1.0)
        return np.asarray(1 / (1 + np.square(deviation / scale).mean(axis=1)))

    def log_densities(self, points: FloatArray) -> FloatArray:
        """Return the logarithm of the density of every record at every point, a row for each point."""
        total = np.zeros((len(points), len(self)))
        for column in range(len(self.names)):
            away = points[:, column, None] - self.centers[:, column]
            wide = self.spreads[:, column]
            if self.spread == "gaussian":
                total -= np.square(away / wide) / 2 + np.log(wide * np.sqrt(2 * np.pi))
            else:
                inside = np.abs(away) <= wide / 2
                total += np.where(inside, -np.log(wide), -np.inf)
        return total

    def chances(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the probability that each record lies in each box, a row for each box."""
        from scipy.special import ndtr

        total = np.ones((len(low), len(self)))
        for column in range(len(self.names)):
            center, wide = self.centers[:, column], self.spreads[:, column]
            ends = [(end[:, column, None] - center) / wide for end in (low, high)]
            below = [ndtr(end) if self.spread == "gaussian" else np.clip(end + 0.5, 0, 1) for end in ends]
            total *= below[1] - below[0]
        return total

    def __repr__(self) -> str:
        return f"UncertainPoints({len(self)} records, {len(self.names)} columns, {self.spread})"


def _columns(frame: Any) -> dict[str, Any]:
    """Return the columns of any frame as arrays."""
    from discreet.core.engine import arrow_table

    require("UncertainPoints.of", "released", frame, InstanceOf((object,), "a Release or a frame"))
    table = arrow_table(frame)
    return {name: table[name].to_numpy() for name in table.column_names}
