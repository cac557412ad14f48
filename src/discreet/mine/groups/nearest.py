"""Nearest groups: what classifier and regressor by condensed groups share."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.params import NONE, Constraints, InstanceOf, IntIn, OneOf, require
from discreet.core.records.group_statistics import GroupStatistics
from discreet.core.validation import matrix_of
from discreet.publish.pseudo.condensation import Condensation
from discreet.publish.pseudo.stream_condensation import StreamCondensation

Condensed = Condensation | StreamCondensation
_CONDENSED = InstanceOf((Condensation, StreamCondensation), "a Condensation or a StreamCondensation")
_MOST_DISTANCES = 2**22
"""Distances that are held at a time."""


def is_stream(model: Any) -> bool:
    """Return whether a model condenses streams, and so can go on learning."""
    return isinstance(model.condensation, StreamCondensation)


class GroupNeighbors(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What classifier and regressor share: condensing, and the nearest groups of a record."""

    constraints: ClassVar[Constraints] = {
        "condensation": (_CONDENSED, NONE),
        "n_neighbors": IntIn(1),
        "weights": OneOf(("n", "uniform")),
    }

    def __init__(
        self,
        condensation: Condensed | None = None,
        *,
        n_neighbors: int = 1,
        weights: Literal["n", "uniform"] = "n",
    ) -> None:
        self.condensation = condensation
        self.n_neighbors = n_neighbors
        self.weights = weights

    @property
    def statistics_(self) -> GroupStatistics:
        """The statistics of all groups, those of the first class first."""
        return GroupStatistics.concat([one.statistics_ for one in self._condensed()])

    def kneighbors(self, X: Any, *, n_neighbors: int | None = None) -> tuple[FloatArray, IntArray]:
        """Return the distances to the nearest groups, in standardized columns, and their places in ``statistics_``."""
        n_nearest = self.n_neighbors if n_neighbors is None else n_neighbors
        require(self, "n_neighbors", n_nearest, IntIn(1))
        distances, places, _ = self._nearest(X, n_nearest)
        return distances, places

    def _nearest(self, X: Any, n_nearest: int) -> tuple[FloatArray, IntArray, GroupStatistics]:
        from scipy.spatial.distance import cdist

        statistics = self.statistics_
        queries = matrix_of(self, X, reset=False)
        d = queries.shape[1]
        scale = _spread(statistics)[:d]
        centers, most = statistics.mean[:, :d] / scale, min(n_nearest, statistics.n_groups)
        distances, places = np.empty((len(queries), most)), np.empty((len(queries), most), np.int64)
        step = max(1, _MOST_DISTANCES // statistics.n_groups)
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            apart = cdist(queries[part] / scale, centers)
            places[part] = np.argsort(apart, axis=1, kind="stable")[:, :most]
            distances[part] = np.take_along_axis(apart, places[part], axis=1)
        return distances, places, statistics

    def _votes(self, statistics: GroupStatistics, places: IntArray) -> FloatArray:
        return statistics.n[places].astype(np.float64) if self.weights == "n" else np.ones(places.shape)

    def _condensed(self) -> list[Condensed]:
        """Return what was condensed; all classes must have groups."""
        from sklearn.exceptions import NotFittedError

        check_is_fitted(self, "condensed_")
        waiting = sum(_waits(one) for one in self.condensed_)
        if waiting:
            raise NotFittedError(
                f"{waiting} of {len(self.condensed_)} streams have no groups yet: fewer records than init_number have "
                "come. initialize() condenses what there is."
            )
        return list(self.condensed_)

    def _fitted(self, values: FloatArray, levels: IntArray | None) -> Condensed:
        """Condense rows by a copy of the condensation; their levels are its own where none are named."""
        made: Condensed = clone(Condensation() if self.condensation is None else self.condensation)
        if isinstance(made, StreamCondensation):
            return made.fit(values, k=levels)
        return (made if levels is None else made.set_params(k=levels)).fit(values)

    @available_if(is_stream)  # type: ignore[untyped-decorator]
    def initialize(self) -> Any:
        """Condense the first records of every stream now, though fewer than ``init_number`` have come."""
        check_is_fitted(self, "condensed_")
        for stream in self.condensed_:
            if stream.n_records_:
                stream.initialize()
        return self


def condensed_columns(model: Any, condensed: list[Condensed]) -> int:
    """Return the number of columns of what was condensed; what has no groups, or other columns, is refused."""
    for one in condensed:
        require(model, "condensed", one, _CONDENSED)
    columns = {one.statistics_.n_columns for one in condensed}
    if len(columns) != 1:
        raise SchemaError(
            f"What was condensed has {len(columns)} different numbers of columns; it must be one."
        )
    return columns.pop()


def _waits(condensed: Condensed) -> bool:
    return isinstance(condensed, StreamCondensation) and not condensed.__sklearn_is_fitted__()


def _spread(statistics: GroupStatistics) -> FloatArray:
    """Return the standard deviation of each column over all records, from the statistics alone; 1 where it is 0."""
    shares = statistics.n / statistics.n_rows
    away = statistics.mean - statistics.mean[0]
    within = np.diagonal(statistics.scatter, axis1=1, axis2=2).sum(axis=0) / statistics.n_rows
    between = shares @ (away - shares @ away) ** 2
    spread = np.sqrt(within + between)
    return np.where(spread > 0, spread, 1.0)
