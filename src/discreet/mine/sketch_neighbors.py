"""Nearest-neighbour classification straight on sketches of unequal length (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.params import IntIn, OneOf, require
from discreet.core.sketches import Sketches
from discreet.mine.learning_sketches import sketches_of

_KINDS = {"distance": "squared distance", "cosine": "cosine", "dot": "dot"}


class SketchNeighbors(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classify a sketch by the majority among its nearest neighbours.

    Two sketches are compared on the components that both have. A suppressed record has none: one to learn from is
    left out, and one to be classified gets the shares of the classes as its probabilities.

    Parameters
    ----------
    n_neighbors
        How many neighbours vote; at most all there are.
    metric
        What makes a neighbour near: the squared ``distance``, the ``cosine`` or the ``dot`` product, each as
        estimated from sketches.

    Attributes
    ----------
    classes_, class_prior_
        The classes, and their shares.
    sketches_
        The sketches learnt from.

    Examples
    --------
    >>> from discreet.collect import SketchFamily
    >>> family = SketchFamily("shared key", components=200)
    >>> drinks = [{"tea": 1, "milk": 1}, {"tea": 1, "lemon": 1}, {"beer": 1, "crisps": 1}, {"beer": 1, "nuts": 1}]
    >>> model = SketchNeighbors(1).fit(family.sketch(drinks), ["hot", "hot", "cold", "cold"])
    >>> model.predict(family.sketch([{"tea": 1}, {"beer": 1}])).tolist()
    ['hot', 'cold']
    """

    def __init__(
        self, n_neighbors: int = 5, *, metric: Literal["distance", "cosine", "dot"] = "distance"
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric

    def fit(self, X: Any, y: Any) -> SketchNeighbors:
        """Remember sketches (or an array with one in each row) and their classes."""
        require(self, "n_neighbors", self.n_neighbors, IntIn(1))
        require(self, "metric", self.metric, OneOf(tuple(_KINDS)))
        sketches = sketches_of(self, X, reset=True)
        labels = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=None)
        check_consistent_length(range(len(sketches)), labels)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.class_prior_ = np.bincount(codes, minlength=self.classes_.size) / codes.size
        held = ~sketches.suppressed
        self.sketches_ = sketches if held.all() else sketches.take(held)
        self.codes_ = codes[held]
        return self

    def kneighbors(self, X: Any, *, n_neighbors: int | None = None) -> tuple[FloatArray, IntArray]:
        """Give the scores and the places of the nearest among those learnt from, nearest first.

        Places count the records that were not suppressed. A suppressed record has no neighbours: −1, and NaN as
        score.
        """
        check_is_fitted(self)
        given = sketches_of(self, X, reset=False)
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        require(self, "n_neighbors", wanted, IntIn(1))
        return nearest_of(given, self.sketches_, wanted, _KINDS[self.metric])

    def predict_proba(self, X: Any) -> FloatArray:
        """Give the share of each class among the nearest neighbours."""
        _, places = self.kneighbors(X)
        known = places >= 0
        votes = np.zeros((places.shape[0], self.classes_.size))
        rows = np.broadcast_to(np.arange(places.shape[0])[:, None], places.shape)
        np.add.at(votes, (rows[known], self.codes_[places[known]]), 1)
        total = votes.sum(axis=1, keepdims=True)
        return np.where(total > 0, votes / np.maximum(total, 1), self.class_prior_)

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Give the class with most votes; of equal ones the first."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def nearest_of(queries: Sketches, others: Sketches, k: int, kind: str) -> tuple[FloatArray, IntArray]:
    """Find the k nearest of other sketches, or all there are if they are fewer."""
    from discreet.kernels.sketch_distances import nearest

    queries.require_family(others.family)
    return nearest(
        queries.values, queries.indptr, others.values, others.indptr, kind, min(k, max(len(others), 1))
    )
