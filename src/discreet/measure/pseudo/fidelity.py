"""Fidelity: how much pseudo-data behaves like the original it was drawn from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.core.records.vectors import Vectors
from discreet.core.release import Release
from discreet.core.schema import DROPPED
from discreet.core.tables.table import Table


@public
@dataclass(frozen=True)
class Fidelity:
    """How near pseudo-data comes to the original.

    Attributes
    ----------
    covariance_compatibility
        The correlation between the entries of the two covariance matrices, numbers standardized and categories as
        indicators; 1 is best, NaN where there is only one entry.
    columns
        The distance between the two distributions of each column, from 0 (equal) to 1 (disjoint): the largest
        difference of the distribution functions of numbers and dates, half the summed difference of the shares of
        categories. Null is a value like any other.
    """

    n_original: int
    n_pseudo: int
    covariance_compatibility: float
    columns: dict[str, float]

    @property
    def largest_distance(self) -> float:
        """The distance of the column that came out worst."""
        return max(self.columns.values())

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self) | {"largest_distance": self.largest_distance}


@public
@dataclass(frozen=True)
class NeighborAccuracy:
    """How well a nearest-neighbor rule does on the same test rows: learned from the original, and from pseudo-data."""

    original: float
    pseudo: float

    @property
    def ratio(self) -> float:
        """The accuracy of the one as a share of the other's."""
        return self.pseudo / self.original if self.original > 0 else float("nan")


@public
def fidelity(release: Release) -> Fidelity:
    """Compare released pseudo-data with the original.

    >>> import numpy as np, pyarrow as pa
    >>> from discreet import Table, quasi
    >>> values = np.random.default_rng(0).normal(size=(2, 400))
    >>> one = Table(pa.table({"a": values[0], "b": values[0] + values[1]}), {"a": quasi(), "b": quasi()})
    >>> fidelity_between(one, one).columns
    {'a': 0.0, 'b': 0.0}
    """
    require("fidelity", "release", release, InstanceOf((Release,), "a Release"))
    return fidelity_between(release.original, release.table)


@public
def fidelity_between(original: Table, pseudo: Table) -> Fidelity:
    """Compare any two tables by the columns they share."""
    vectors, (n,) = side_by_side(original, pseudo)
    points = vectors.points(first=n)
    distances = {
        line.name: _largest_difference(places[:n], places[n:])
        for line, places in zip(vectors.lines, vectors.places.T, strict=True)
    }
    for book, codes in zip(vectors.books, vectors.codes.T, strict=True):
        shares = [np.bincount(part, minlength=book.n_codes) / part.size for part in (codes[:n], codes[n:])]
        distances[book.name] = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return Fidelity(
        n_original=n,
        n_pseudo=len(points) - n,
        covariance_compatibility=covariance_compatibility(points[:n], points[n:]),
        columns={name: distances[name] for name in original.schema if name in distances},
    )


@public
def covariance_compatibility(original: FloatArray, pseudo: FloatArray) -> float:
    """Correlate the entries of two covariance matrices, each pair of columns once: the paper's μ.

    >>> import numpy as np
    >>> values = np.random.default_rng(0).normal(size=(100, 3))
    >>> covariance_compatibility(values, values + 7)
    1.0
    """
    entries = []
    for values in (np.asarray(original, np.float64), np.asarray(pseudo, np.float64)):
        apart = values - values.mean(axis=0)
        entries.append((apart.T @ apart / len(apart))[np.triu_indices(apart.shape[1])])
    first, second = (triangle - triangle.mean() for triangle in entries)
    size = float(np.sqrt((first @ first) * (second @ second)))
    if size == 0:
        return float("nan")
    # Rounded, so that equal matrices correlate to exactly 1.
    return float(np.clip((first @ second) / size, -1.0, 1.0).round(12))


@public
def neighbor_accuracy(
    original: tuple[Any, Any],
    pseudo: tuple[Any, Any],
    test: tuple[Any, Any],
    *,
    n_neighbors: int = 1,
    within: float | None = None,
) -> NeighborAccuracy:
    """Compare nearest-neighbor rules learned from the original and from pseudo-data, on rows that neither has seen.

    Parameters
    ----------
    original, pseudo, test
        Each a matrix and its target. Columns are standardized by the original.
    n_neighbors
        How many neighbors decide.
    within
        None counts classes that are predicted right; a number counts predictions no farther than that from the target,
        as "within one year" does for ages.
    """
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    require("neighbor_accuracy", "n_neighbors", n_neighbors, IntIn(1))
    require("neighbor_accuracy", "within", within, FloatIn(0), InstanceOf((type(None),), "None"))
    values = np.asarray(original[0], np.float64)
    spread = values.std(axis=0)
    spread[spread == 0] = 1.0
    rows, truth = np.asarray(test[0], np.float64) / spread, np.asarray(test[1])
    scores = []
    for matrix, target in (original, pseudo):
        kind = KNeighborsClassifier if within is None else KNeighborsRegressor
        rule = kind(n_neighbors=min(n_neighbors, len(matrix)))
        predicted = rule.fit(np.asarray(matrix, np.float64) / spread, np.asarray(target)).predict(rows)
        right = predicted == truth if within is None else np.abs(predicted - truth) <= within
        scores.append(float(np.mean(right)))
    return NeighborAccuracy(*scores)


def side_by_side(first: Table, *others: Table) -> tuple[Vectors, list[int]]:
    """Return the rows of several tables as points of one space, and where each of the others begins."""
    hidden = [name for role in DROPPED for name in first.schema.named(role)]
    names = [
        name for name in first.schema if name not in hidden and all(name in table.schema for table in others)
    ]
    if not names:
        raise SchemaError("The tables have no column in common that could be compared.")
    columns = [table.source.columns(names) for table in (first, *others)]
    joined: dict[str, pa.Array] = {}
    for name in names:
        type_ = columns[0][name].type
        try:
            joined[name] = pa.concat_arrays([table[name].cast(type_, safe=False) for table in columns])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise SchemaError(f"Column '{name}' has another type in another table.") from None
    sizes = [len(table[names[0]]) for table in columns]
    return Vectors.of_columns(joined, first.schema), np.cumsum(sizes)[:-1].tolist()


def _largest_difference(sample: FloatArray, other: FloatArray) -> float:
    """Return the largest difference of two distribution functions, nulls below everything."""
    first, second = (np.sort(np.where(np.isnan(part), -np.inf, part)) for part in (sample, other))
    at = np.concatenate([first, second])
    below = [np.searchsorted(part, at, side="right") / part.size for part in (first, second)]
    return float(np.abs(below[0] - below[1]).max())
