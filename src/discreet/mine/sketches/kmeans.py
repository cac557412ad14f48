"""k-means straight on sketches of unequal length (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import Constraints, IntIn, check_parameters, require
from discreet.core.records.sketches import Sketches
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.mine.sketches.neighbors import nearest_of, sketches_of


@public
class SketchKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Cluster sketches around centroids, themselves sketches: each component averaged over the members that have it.

    A sketch belongs to the centroid at the least estimated distance, on the components that both have. Starts are
    drawn as by k-means++. With sketches of unequal length a step need not lower the sum of distances, so the best
    assignment of all steps and starts is kept; with sketches of one length this is ordinary k-means.

    Parameters
    ----------
    n_clusters
        The number of clusters.
    n_init
        How many starts are tried.
    max_iter
        The most steps of one start.
    random_state
        The seed of the starts.

    Attributes
    ----------
    labels_
        The cluster of each sketch; −1 for a suppressed record.
    centroids_, cluster_centers_
        The centroids as sketches, and as a matrix with zeros beyond their lengths.
    inertia_, n_iter_
        The sum of the estimated squared distances to the centroids, and the steps of the best start.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> drinks = [{"tea": 1, "milk": 1}, {"tea": 1, "lemon": 1}, {"beer": 1, "crisps": 1}, {"beer": 1, "nuts": 1}]
    >>> sketches = SketchFamily("shared key", components=200).sketch(drinks)
    >>> labels = SketchKMeans(2, random_state=0).fit_predict(sketches)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    constraints: ClassVar[Constraints] = {
        "n_clusters": IntIn(1),
        "n_init": IntIn(1),
        "max_iter": IntIn(1),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self, n_clusters: int = 8, *, n_init: int = 3, max_iter: int = 100, random_state: RandomState = None
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> SketchKMeans:
        """Cluster sketches, or the rows of an array."""
        del y
        check_parameters(self)
        rng = generator(self.random_state, owner=self)
        records = sketches_of(self, X, reset=True)
        present = np.flatnonzero(~records.suppressed)
        require(self, "n_clusters", self.n_clusters, IntIn(1, present.size))
        sketches = records if present.size == len(records) else records.take(present)
        runs = [self._run(sketches, rng) for _ in range(self.n_init)]
        self.inertia_, labels, self.centroids_, self.n_iter_ = min(runs, key=lambda run: run[0])
        self.labels_ = np.full(len(records), -1, np.int32)
        self.labels_[present] = labels
        self.cluster_centers_ = self.centroids_.dense()
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the cluster of the nearest centroid; −1 for a suppressed record."""
        check_is_fitted(self)
        return _assigned(sketches_of(self, X, reset=False), self.centroids_)[0].astype(np.int32)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the sum of the estimated squared distances to the nearest centroids, negative."""
        del y
        check_is_fitted(self)
        return -float(np.nansum(_assigned(sketches_of(self, X, reset=False), self.centroids_)[1]))

    def _run(self, sketches: Sketches, rng: np.random.Generator) -> tuple[float, IntArray, Sketches, int]:
        """Go from one start to where no label changes; return the best step and how many there were."""
        centroids = _start(sketches, self.n_clusters, rng)
        labels, distances = _assigned(sketches, centroids)
        best = (float(distances.sum()), labels, centroids)
        steps = 0
        while steps < self.max_iter:
            steps += 1
            centroids = _updated(sketches, labels, distances, self.n_clusters)
            before = labels
            labels, distances = _assigned(sketches, centroids)
            # The best step is remembered: with estimated distances, and empty clusters filled anew, the sum
            # can grow from one step to the next.
            if float(distances.sum()) < best[0]:
                best = (float(distances.sum()), labels, centroids)
            if np.array_equal(labels, before):
                break
        return *best, steps


def _start(sketches: Sketches, k: int, rng: np.random.Generator) -> Sketches:
    """Choose records as first centroids, each with a chance in proportion to its distance to those chosen before."""
    chosen = [int(rng.integers(len(sketches)))]
    nearest = np.full(len(sketches), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, sketches.squared_distance(sketches.take(chosen[-1:]), paired=True))
        # None is drawn twice, whatever its estimated distance to itself is.
        nearest[chosen] = 0.0
        total = nearest.sum()
        if total > 0:
            chosen.append(int(rng.choice(len(sketches), p=nearest / total)))
        else:
            chosen.append(int(np.setdiff1d(np.arange(len(sketches)), chosen)[0]))
    return sketches.take(chosen)


def _assigned(sketches: Sketches, centroids: Sketches) -> tuple[IntArray, FloatArray]:
    scores, places = nearest_of(sketches, centroids, 1, "squared distance")
    return places[:, 0], scores[:, 0]


def _updated(sketches: Sketches, labels: IntArray, distances: FloatArray, k: int) -> Sketches:
    """Average the members of each cluster; an empty one gets the record that is farthest from its centroid."""
    counts = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        labels, distances = labels.copy(), distances.copy()
        for cluster in empty:
            # The only member of a cluster is not taken, which would leave that one empty.
            alone = counts[labels] == 1
            farthest = int(np.argmax(np.where(alone, -1.0, distances)))
            counts[labels[farthest]] -= 1
            labels[farthest], counts[cluster], distances[farthest] = cluster, 1, 0.0
    return sketches.centroids(labels, n=k)
