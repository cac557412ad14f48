"""Classification by the nearest sketches of unequal length (Aggarwal & Yu, SDM 2007), and how they are passed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import Constraints, FloatIn, IntIn, OneOf, check_parameters, require
from discreet.core.records.sketches import Sketches
from discreet.core.records.sparse_rows import LARGEST
from discreet.core.release import Release
from discreet.core.validation import matrix_of
from discreet.mine.noisy.input import classes_of

_KINDS = {"distance": "squared distance", "cosine": "cosine", "dot": "dot"}
_MOST_MEANT = 1024
"""The mean score of a sketch is taken over at most this many of the training sketches."""


@public
@dataclass(repr=False, eq=False)
class SketchNeighbors(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classify a sketch by the majority among its nearest neighbors.

    Two sketches are compared on the components that both have. A suppressed record has none: one to learn from is
    left out, and one to be classified gets the shares of the classes as its probabilities.

    An estimate from a few components is wide, so the nearest of many by their estimates alone would be those with the
    shortest sketches, near by chance. Every estimate is therefore drawn toward the mean of all that the sketch to be
    classified has: what it differs by is multiplied by m/(m + shrink), where m components are shared. Sketches of
    equal lengths are ordered as without.

    Parameters
    ----------
    n_neighbors
        How many neighbors vote; at most all there are.
    metric
        What makes a neighbor near: the squared ``distance``, the ``cosine`` or the ``dot`` product, each as
        estimated from sketches.
    shrink
        The number of components at which an estimate is half believed; 0 believes every estimate.
    weights
        How neighbors vote: alike (``uniform``), or by the square of how much nearer they are than the mean
        (``nearness``).

    Attributes
    ----------
    classes_, class_prior_
        The classes, and their shares.
    sketches_
        The sketches learned from.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> family = SketchFamily("shared key", components=200)
    >>> drinks = [{"tea": 1, "milk": 1}, {"tea": 1, "lemon": 1}, {"beer": 1, "crisps": 1}, {"beer": 1, "nuts": 1}]
    >>> model = SketchNeighbors(1).fit(family.sketch(drinks), ["hot", "hot", "cold", "cold"])
    >>> model.predict(family.sketch([{"tea": 1}, {"beer": 1}])).tolist()
    ['hot', 'cold']
    """

    n_neighbors: int = 5
    _: KW_ONLY
    metric: Literal["distance", "cosine", "dot"] = "distance"
    shrink: float = 100.0
    weights: Literal["uniform", "nearness"] = "uniform"

    constraints: ClassVar[Constraints] = {
        "n_neighbors": IntIn(1),
        "metric": OneOf(tuple(_KINDS)),
        "shrink": FloatIn(0),
        "weights": OneOf(("uniform", "nearness")),
    }

    def fit(self, X: Any, y: Any) -> SketchNeighbors:
        """Remember sketches (or an array with one in each row) and their classes."""
        check_parameters(self)
        sketches = sketches_of(self, X, reset=True)
        self.classes_, codes = classes_of(y, [sketches.lengths])
        self.class_prior_ = np.bincount(codes, minlength=self.classes_.size) / codes.size
        present = ~sketches.suppressed
        self.sketches_ = sketches if present.all() else sketches.take(present)
        self.codes_ = codes[present]
        return self

    def kneighbors(self, X: Any, *, n_neighbors: int | None = None) -> tuple[FloatArray, IntArray]:
        """Return scores, drawn to their mean, and the places of the nearest among those learned from, nearest first.

        Places count the records that were not suppressed. A suppressed record has no neighbors: −1, and NaN as
        score.
        """
        check_is_fitted(self)
        queries = sketches_of(self, X, reset=False)
        n_nearest = self.n_neighbors if n_neighbors is None else n_neighbors
        require(self, "n_neighbors", n_nearest, IntIn(1))
        scores, places, _ = self._nearest(queries, n_nearest)
        return scores, places

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each class among the votes of the nearest neighbors."""
        check_is_fitted(self)
        scores, places, means = self._nearest(sketches_of(self, X, reset=False), self.n_neighbors)
        neighbors = places >= 0
        votes = np.zeros((places.shape[0], self.classes_.size))
        rows = np.broadcast_to(np.arange(places.shape[0])[:, None], places.shape)
        weights = self._votes(scores, means[:, None])
        np.add.at(votes, (rows[neighbors], self.codes_[places[neighbors]]), weights[neighbors])
        # A suppressed record has no neighbors and no votes.
        total = votes.sum(axis=1, keepdims=True)
        return np.where(total > 0, votes / np.where(total > 0, total, 1.0), self.class_prior_)

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the class with most votes; of equal ones the first."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _nearest(self, queries: Sketches, k: int) -> tuple[FloatArray, IntArray, FloatArray]:
        """Find the k nearest, or all there are if they are fewer, and the mean score of every query."""
        means = self._means(queries)
        scores, places = nearest_of(
            queries, self.sketches_, k, _KINDS[self.metric], shrink=float(self.shrink), centers=means
        )
        return scores, places, means

    def _means(self, queries: Sketches) -> FloatArray:
        """Return the mean score of every sketch over some of the training sketches; 0 where it is not needed."""
        from discreet.kernels.sketches.distances import mean_scores

        learned = self.sketches_
        queries.require_family(learned.family)
        if self.shrink == 0 and self.weights == "uniform":
            return np.zeros(len(queries))
        # Every step-th sketch, not a random sample: the same queries get the same scores.
        step = -(-len(learned) // _MOST_MEANT)
        some = learned.take(np.arange(0, len(learned), step)) if step > 1 else learned
        return mean_scores(queries.values, queries.indptr, some.values, some.indptr, _KINDS[self.metric])

    def _votes(self, scores: FloatArray, means: FloatArray) -> FloatArray:
        """Return the weight of every neighbor; where none is nearer than the mean, all vote alike."""
        if self.weights == "uniform":
            return np.ones_like(scores)
        # A suppressed query has NaN as scores.
        nearer = means - scores if self.metric == "distance" else scores - means
        votes = np.square(np.maximum(np.nan_to_num(nearer), 0.0))
        return np.where(votes.any(axis=1, keepdims=True), votes, 1.0)


def nearest_of(
    queries: Sketches, others: Sketches, k: int, kind: str, **shrunk: Any
) -> tuple[FloatArray, IntArray]:
    """Find the k nearest of other sketches, or all there are if they are fewer."""
    from discreet.kernels.sketches.distances import nearest_by_distance

    queries.require_family(others.family)
    most = min(k, max(len(others), 1))
    return nearest_by_distance(
        queries.values, queries.indptr, others.values, others.indptr, kind, most, **shrunk
    )


def sketches_of(estimator: Any, X: Any, *, reset: bool) -> Sketches:
    """Take sketches, or make them of an array's rows; what is fitted is remembered or compared."""
    if isinstance(X, Release):
        raise InputError("A release is more than its sketches; learn from release.data.")
    if not isinstance(X, Sketches):
        sketches = Sketches.from_dense(matrix_of(estimator, X, reset=reset))
    else:
        sketches = X
        if reset:
            if not len(sketches) or sketches.suppressed.all():
                raise InputError("There is no sketch to learn from.")
            estimator.n_features_in_ = sketches.longest
    if np.abs(sketches.values, dtype=np.float64).max(initial=0) > LARGEST:
        raise InputError(
            "Some components are so large that their squares overflow; scale the sketches first."
        )
    if reset:
        estimator.family_ = sketches.family
    elif sketches.family != estimator.family_:
        raise InputError("The sketches were made with another key than those learned from.")
    return sketches
