"""Naive Bayes on reconstructed distributions: each class, each column, no true value (Agrawal & Srikant 2000)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.params import POSITIVE, Constraints, IntIn, OneOf, check_parameters
from discreet.mine.noisy.columns import NoisyColumn, noisy_columns
from discreet.mine.noisy.input import Columns, classes_of, feature_columns

_MOST_INTERVALS = 1_000
_TINY = 1e-300


@public
@dataclass(repr=False, eq=False)
class ReconstructedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn the distribution of every column within every class from noisy values.

    Parameters
    ----------
    channels
        The channel of each column: a mapping from column names (or numbers), a sequence, or ``Channels``;
        ``AdditiveNoise`` for numbers, ``RandomizedResponse`` for categories. A column that was not hidden has none.
    intervals
        Into how many intervals a column of numbers is cut.
    smoothing
        How many imagined values are spread evenly over a column's intervals, so that none has probability 0.
    predicts
        Whether rows to be predicted are ``true`` values, as in the papers, or ``noisy`` ones from the same channels.

    Attributes
    ----------
    classes_, class_prior_
        The classes, and their shares.
    columns_, shares_
        A `NoisyColumn` for each column, and the shares of its intervals or categories within each class.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Gaussian
    >>> from discreet.datasets import agrawal
    >>> people = agrawal("F1", n=5000, random_state=1)
    >>> channel = AdditiveNoise(Gaussian.for_privacy(0.5, low=20, high=80), low=20, high=80)
    >>> age = people["age"].to_numpy()
    >>> noisy = channel.perturb(age, random_state=2)
    >>> model = ReconstructedNaiveBayes([channel]).fit(noisy[:, None], people["class"].to_numpy())
    >>> bool(model.score(age[:, None], people["class"].to_numpy()) > 0.9)
    True
    """

    channels: Any = None
    _: KW_ONLY
    intervals: int = 50
    smoothing: float = 1.0
    predicts: Literal["true", "noisy"] = "true"

    constraints: ClassVar[Constraints] = {
        "intervals": IntIn(2, _MOST_INTERVALS),
        "smoothing": POSITIVE,
        "predicts": OneOf(("true", "noisy")),
    }

    def fit(self, X: Any, y: Any) -> ReconstructedNaiveBayes:
        """Learn from noisy rows and their classes."""
        check_parameters(self)
        values, names = feature_columns(self, X, reset=True)
        self.classes_, codes = classes_of(y, values)
        n_classes = self.classes_.size
        counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
        self.class_prior_ = counts / counts.sum()
        self.columns_ = noisy_columns(self, values, names, intervals=self.intervals)
        self.shares_ = [
            self._shares(column, column.bins(reported), codes, counts)
            for column, reported in zip(self.columns_, values, strict=True)
        ]
        return self

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of each class's probability."""
        check_is_fitted(self)
        values, _ = feature_columns(self, X, reset=False)
        scores = np.log(self.class_prior_) + self._log_chances(values)
        highest = scores.max(axis=1, keepdims=True)
        return np.asarray(scores - highest - np.log(np.exp(scores - highest).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the likeliest class."""
        chosen = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _shares(
        self, column: NoisyColumn, bins: np.ndarray[Any, Any], codes: np.ndarray[Any, Any], counts: FloatArray
    ) -> FloatArray:
        """Recover a column's shares within each class, smoothed."""
        n_classes = counts.size
        cells = np.bincount(bins * n_classes + codes, minlength=column.n_bins * n_classes)
        shares = column.shares(cells.reshape(-1, n_classes).astype(np.float64))
        # Shares are turned into counts of the class first:
        # imagined values weigh the less the more rows there are.
        return np.asarray((shares * counts + self.smoothing / column.n_places) / (counts + self.smoothing))

    def _log_chances(self, values: Columns) -> FloatArray:
        total: FloatArray = np.zeros((values[0].size, self.classes_.size))
        for column, shares, reports in zip(self.columns_, self.shares_, values, strict=True):
            if self.predicts == "noisy" and column.chances is not None:
                chances = np.maximum(column.chances @ shares, _TINY)[column.bins(reports)]
            else:
                # A category that was not there when it was learned
                # is as likely in every class, so it decides nothing.
                unseen = np.full((1, self.classes_.size), 1 / column.n_places)
                chances = np.vstack([shares, unseen])[column.places(reports)]
            total += np.log(chances)
        return total
