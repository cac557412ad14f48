"""Learning from the statistics of condensed groups alone (Aggarwal & Yu, SDM 2005, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import NONE, Constraints, InstanceOf, IntIn, OneOf, check_parameters, require
from discreet.core.records.group_statistics import GroupStatistics
from discreet.core.validation import finite, matrix_of, validated
from discreet.mine.noisy.input import classes_of
from discreet.publish.pseudo.condensation import Condensation
from discreet.publish.pseudo.privacy_levels import levels_of
from discreet.publish.pseudo.stream_condensation import StreamCondensation

Condensed = Condensation | StreamCondensation
_CONDENSED = InstanceOf((Condensation, StreamCondensation), "a Condensation or a StreamCondensation")
_MOST_DISTANCES = 2**22
"""Distances that are held at a time."""


def is_stream(model: Any) -> bool:
    """Return whether a model condenses streams, and so can go on learning."""
    return isinstance(model.condensation, StreamCondensation)


@dataclass(repr=False, eq=False)
class GroupNeighbors(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What classifier and regressor share: condensing, and the nearest groups of a record."""

    condensation: Condensed | None = None
    _: KW_ONLY
    n_neighbors: int = 1
    weights: Literal["n", "uniform"] = "n"

    constraints: ClassVar[Constraints] = {
        "condensation": (_CONDENSED, NONE),
        "n_neighbors": IntIn(1),
        "weights": OneOf(("n", "uniform")),
    }

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
        # Of a regressor the target is one more column behind the features; it has no part in distances.
        scale = _spread(statistics)[:d]
        centers, most = statistics.mean[:, :d] / scale, min(n_nearest, statistics.n_groups)
        distances, places = np.empty((len(queries), most)), np.empty((len(queries), most), np.int64)
        step = max(1, _MOST_DISTANCES // statistics.n_groups)
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            apart = cdist(queries[part] / scale, centers)
            # Stable: of equal distances the group of the first
            # class comes first, as groups are in that order.
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
    # Relative to one of the means, so that columns far from zero lose no digits in the squares.
    away = statistics.mean - statistics.mean[0]
    within = np.diagonal(statistics.scatter, axis1=1, axis2=2).sum(axis=0) / statistics.n_rows
    between = shares @ (away - shares @ away) ** 2
    spread = np.sqrt(within + between)
    return np.where(spread > 0, spread, 1.0)


@public
class GroupNeighborsClassifier(ClassifierMixin, GroupNeighbors):  # type: ignore[misc]
    """Classify a record by the nearest group means; every class is condensed apart, and no record is kept.

    The paper names two ways to use condensed groups: pseudo-records drawn from them, and the groups themselves. This
    is the second. The model holds the groups' statistics, so what `Indistinguishability` says of these holds for it:
    nothing is said about what can be inferred from the mean of a small group. Distances are between standardized
    columns, by the spread of all groups together. Of equal distances the first class is nearer.

    Parameters
    ----------
    condensation
        How each class is condensed: a `Condensation` or a `StreamCondensation`, of which copies are fitted; by default
        ``Condensation()``.
    n_neighbors
        How many groups vote; at most all there are.
    weights
        How groups vote: by their number of records (``n``), or alike (``uniform``).

    Attributes
    ----------
    classes_
        The classes.
    condensed_
        What was condensed, one for each class.
    group_classes_
        The number of each group's class.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.publish import Condensation, StreamCondensation
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = rng.normal(size=(400, 3)) + 2 * y[:, None]
    >>> model = GroupNeighborsClassifier(Condensation(10, random_state=0)).fit(X[:300], y[:300])
    >>> model.statistics_, bool(model.score(X[300:], y[300:]) > 0.9)
    (GroupStatistics(30 groups, 300 rows, 3 columns), True)

    Records that come one after the other, each class a stream:

    >>> stream = GroupNeighborsClassifier(StreamCondensation(10, init_number=50, random_state=0), n_neighbors=3)
    >>> for batch in np.split(np.arange(300), 3):
    ...     stream = stream.partial_fit(X[batch], y[batch])
    >>> bool(stream.score(X[300:], y[300:]) > 0.9)
    True

    References
    ----------
    C. Aggarwal, P. Yu: On variable constraints in privacy preserving data mining. SDM 2005.
    """

    @property
    def group_classes_(self) -> IntArray:
        """The number of each group's class."""
        sizes = [one.statistics_.n_groups for one in self._condensed()]
        return np.repeat(np.arange(len(sizes)), sizes)

    def fit(self, X: Any, y: Any, *, k: Any = None) -> GroupNeighborsClassifier:
        """Condense each class; k is a privacy level for each row, or the condensation's own."""
        check_parameters(self)
        values = matrix_of(self, X, reset=True)
        self.classes_, codes = classes_of(y, [values])
        levels = None if k is None else levels_of(self, k, len(values))
        each = [codes == code for code in range(self.classes_.size)]
        self.condensed_ = [
            self._fitted(values[rows], None if levels is None else levels[rows]) for rows in each
        ]
        return self

    @available_if(is_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, *, k: Any = None) -> GroupNeighborsClassifier:
        """Let records join the streams of their classes; a new class begins a stream.

        ``classes`` may name classes beforehand. Rows are refused class by class: those of another class may be in.
        """
        check_parameters(self)
        first = not hasattr(self, "condensed_")
        values = matrix_of(self, X, reset=first)
        named, codes = classes_of(y, [values])
        levels = None if k is None else levels_of(self, k, len(values))
        self._add_classes(named if classes is None else np.union1d(named, classes), first=first)
        for code, place in enumerate(np.searchsorted(self.classes_, named)):
            rows = codes == code
            self.condensed_[place].partial_fit(values[rows], k=None if levels is None else levels[rows])
        return self

    def fit_groups(self, condensed: Mapping[Any, Condensed]) -> GroupNeighborsClassifier:
        """Take what was condensed before, by class: fitted condensations, or streams as they were loaded."""
        check_parameters(self)
        require(self, "condensed", condensed, InstanceOf((Mapping,), "a mapping from classes"))
        classes, order = np.unique(np.asarray(list(condensed)), return_index=True)
        several = list(condensed.values())
        self.condensed_ = [several[place] for place in order]
        self.n_features_in_ = condensed_columns(self, self.condensed_)
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each class among the votes of the nearest groups."""
        check_is_fitted(self, "condensed_")
        _, places, statistics = self._nearest(X, self.n_neighbors)
        votes = np.zeros((len(places), self.classes_.size))
        rows = np.broadcast_to(np.arange(len(places))[:, None], places.shape)
        np.add.at(votes, (rows, self.group_classes_[places]), self._votes(statistics, places))
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the class with most votes; of equal ones the first."""
        check_is_fitted(self, "condensed_")
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _add_classes(self, named: Any, *, first: bool) -> None:
        """Begin a stream for each class that is new; streams stay in the order of their classes."""
        streams = {} if first else dict(zip(self.classes_.tolist(), self.condensed_, strict=True))
        self.classes_ = np.unique(named) if first else np.union1d(self.classes_, named)
        self.condensed_ = [
            streams[label] if label in streams else clone(self.condensation)
            for label in self.classes_.tolist()
        ]


@public
class GroupNeighborsRegressor(RegressorMixin, GroupNeighbors):  # type: ignore[misc]
    """Predict a number by the mean target of the nearest groups; the target is condensed as another column.

    Parameters
    ----------
    condensation
        How records are condensed: a `Condensation` or a `StreamCondensation`, a copy of which is fitted; by default
        ``Condensation()``.
    n_neighbors
        How many groups are averaged; at most all there are.
    weights
        How groups count: by their number of records (``n``), or alike (``uniform``).

    Attributes
    ----------
    condensed_
        What was condensed: one entry. The target is the last column of its statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.publish import Condensation
    >>> X = np.linspace(0, 10, 200)[:, None]
    >>> model = GroupNeighborsRegressor(Condensation(5, random_state=0)).fit(X, 3 * X[:, 0])
    >>> bool(np.abs(model.predict([[2.0], [7.0]]) - [6.0, 21.0]).max() < 1)
    True
    """

    def fit(self, X: Any, y: Any, *, k: Any = None) -> GroupNeighborsRegressor:
        """Condense the rows with their target; k is a privacy level for each row, or the condensation's own."""
        check_parameters(self)
        joined = self._joined(X, y, reset=True)
        self.condensed_ = [self._fitted(joined, None if k is None else levels_of(self, k, len(joined)))]
        return self

    @available_if(is_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, *, k: Any = None) -> GroupNeighborsRegressor:
        """Let records join the stream, with their target."""
        check_parameters(self)
        first = not hasattr(self, "condensed_")
        joined = self._joined(X, y, reset=first)
        stream = clone(self.condensation) if first else self.condensed_[0]
        stream.partial_fit(joined, k=k)
        self.condensed_ = [stream]
        return self

    def fit_groups(self, condensed: Condensed) -> GroupNeighborsRegressor:
        """Take what was condensed before, with the target as the last column."""
        check_parameters(self)
        self.n_features_in_ = condensed_columns(self, [condensed]) - 1
        self.condensed_ = [condensed]
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the mean target of the nearest groups."""
        check_is_fitted(self, "condensed_")
        _, places, statistics = self._nearest(X, self.n_neighbors)
        votes = self._votes(statistics, places)
        return np.asarray((statistics.mean[places, -1] * votes).sum(axis=1) / votes.sum(axis=1))

    def _joined(self, X: Any, y: Any, *, reset: bool) -> FloatArray:
        if y is None:
            raise SchemaError("The fit requires y to be passed, but the target y is None.")
        values = matrix_of(self, X, reset=reset)
        numbers = finite(validated(column_or_1d, y, warn=True), "values of y")
        validated(check_consistent_length, values, numbers)
        return np.column_stack([values, numbers])
