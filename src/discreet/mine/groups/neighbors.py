"""Nearest groups: learning straight from the statistics of condensed groups (Aggarwal & Yu, SDM 2005, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import InstanceOf, check_parameters, require
from discreet.core.validation import finite, matrix_of, validated
from discreet.mine.groups.nearest import Condensed, GroupNeighbors, condensed_columns, is_stream
from discreet.mine.noisy.input import classes_of
from discreet.publish.pseudo.privacy_levels import levels_of


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
