"""Kernel vote: classify by the sum of the densities of each class's uncertain records (Aggarwal 2008)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import NONE, Constraints, IntIn, check_parameters
from discreet.core.records.uncertain_points import UncertainPoints
from discreet.core.validation import matrix_of
from discreet.mine.noisy.input import classes_of

_PART = 512


@public
class KernelVote(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classify a point by the records that explain it: every record votes with its density at the point.

    A record with a narrow spread has a strong voice nearby and none far away, one with a wide spread a weak voice
    everywhere. The sum of a class's voices is its estimated density times its share. A point that no record of a
    uniform spread reaches gets the shares of the classes.

    Parameters
    ----------
    n_neighbors
        How many records vote, those with the highest density at the point; by default all do.

    Attributes
    ----------
    classes_, class_prior_
        The classes, and their shares.
    records_
        The distributions learned from.

    Examples
    --------
    >>> import numpy as np
    >>> records = UncertainPoints(("x",), np.array([[0.0], [1.0], [8.0]]), np.array([[1.0], [1.0], [4.0]]))
    >>> KernelVote().fit(records, ["near", "near", "far"]).predict([[0.5], [4.0]]).tolist()
    ['near', 'far']

    References
    ----------
    C. Aggarwal: On unifying privacy and uncertain data models. ICDE 2008.
    """

    constraints: ClassVar[Constraints] = {"n_neighbors": (IntIn(1), NONE)}

    def __init__(self, n_neighbors: int | None = None) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any) -> KernelVote:
        """Remember distributions and their classes; rows of an array get Scott's bandwidth as their spread."""
        check_parameters(self)
        if isinstance(X, UncertainPoints):
            self.n_features_in_ = len(X.names)
            records = X
        else:
            records = _by_bandwidth(matrix_of(self, X, reset=True))
        self.classes_, self.codes_ = classes_of(y, [records.centers])
        self.class_prior_ = np.bincount(self.codes_, minlength=self.classes_.size) / len(records)
        self.records_ = records
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each class in the votes."""
        check_is_fitted(self)
        points = matrix_of(self, X, reset=False)
        if points.shape[1] != len(self.records_.names):
            raise InputError(f"Points need the {len(self.records_.names)} columns that were learned from.")
        parts = np.array_split(points, -(-len(points) // _PART))
        return np.concatenate([self._votes(part) for part in parts])

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the class with most votes; of equal ones the first."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _votes(self, points: FloatArray) -> FloatArray:
        """Add up densities by class, as shares of the highest of a point, so that none vanishes."""
        logs = self.records_.log_densities(points)
        if self.n_neighbors is not None and self.n_neighbors < logs.shape[1]:
            # Records as dense as the last neighbor all vote, so the result does not depend on their order.
            least = np.partition(logs, -self.n_neighbors, axis=1)[:, -self.n_neighbors, None]
            logs = np.where(logs >= least, logs, -np.inf)
        highest = logs.max(axis=1, keepdims=True)
        voices = np.exp(logs - np.where(np.isfinite(highest), highest, 0.0))
        votes = voices @ np.eye(self.classes_.size)[self.codes_]
        total = votes.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, votes / np.where(total > 0, total, 1.0), self.class_prior_))


def _by_bandwidth(values: FloatArray) -> UncertainPoints:
    """Return rows as Gaussians of Scott's bandwidth, 1 where a column does not vary."""
    n, d = values.shape
    deviations = values.std(axis=0)
    wide = np.where(deviations > 0, deviations * n ** (-1 / (d + 4)), 1.0)
    names = tuple(str(number) for number in range(d))
    return UncertainPoints(names, values, np.tile(wide, (n, 1)))
