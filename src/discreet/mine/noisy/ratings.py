"""Collaborative filtering from noisy scores: sums over people are learned, ratings stay at home (Polat & Du, 2003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from discreet.collect.additive_noise import AdditiveNoise
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import NONE, Constraints, FloatIn, InstanceOf, check_parameters
from discreet.core.validation import array_of, finite
from discreet.mine.noisy.statistics import squarable

_SHRINK = 10.0


@public
class NoisyRatings:
    """Predict ratings from the reports of people who added noise to a score of every item.

    The collector adds up products of scores, item by item, and takes off what the noise adds to them on average. Those
    sums are all that is needed: a person takes them home and predicts there from her own true ratings.

    What is promised is what the noise on one score promises: its width beside the range of scores
    (``channel.privacy()``), and ε for Laplace noise between stated limits (``channel.epsilon``). A report has a score
    for every item, so the ε of a person is that times the number of items (``epsilon``), which promises little where
    there are hundreds. Whoever knows many of a person's ratings finds her report among thousands
    (:func:`discreet.measure.likelihood_linkage`).

    Parameters
    ----------
    channel
        The ``AdditiveNoise`` of a score; its ``low`` and ``high``, if stated, are the limits of scores. Without
        it, scores have no noise.
    items
        All items, in the public order of the scores.
    shrink
        How much is added to the sum of weights, so that chance products count little; by default 10, and the variance
        of the noise for each person.

    Attributes
    ----------
    item_products_
        For each pair of items, the sum over people of the products of their scores.
    n_users_
        The number of reports.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Gaussian
    >>> likes = np.tile([[1.0, 1.0, -1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]], (2000, 1))
    >>> channel = AdditiveNoise(Gaussian(1.0))
    >>> learned = NoisyRatings(channel, ["tea", "cake", "beer", "nuts"]).fit(channel.perturb(likes, random_state=1))
    >>> bool(learned.predict({"tea": 5, "beer": 1}, ["cake"])[0] > learned.predict({"tea": 1, "beer": 5}, ["cake"])[0])
    True

    References
    ----------
    H. Polat, W. Du: Privacy-preserving collaborative filtering using randomized perturbation techniques. ICDM 2003.
    """

    constraints: ClassVar[Constraints] = {
        "channel": (InstanceOf((AdditiveNoise,), "an AdditiveNoise"), NONE),
        "items": InstanceOf((Sequence,), "a list of items"),
        "shrink": (FloatIn(0), NONE),
    }

    def __init__(
        self, channel: AdditiveNoise | None, items: Sequence[Any], *, shrink: float | None = None
    ) -> None:
        self.channel = channel
        self.items = items
        self.shrink = shrink

    @property
    def epsilon(self) -> float:
        """The local differential privacy of a whole report: the losses of all items add up."""
        check_parameters(self)
        return float("inf") if self.channel is None else len(self.items) * self.channel.epsilon

    def fit(self, reports: Any) -> NoisyRatings:
        """Learn from reports, a row for each person and a noisy score for each item."""
        check_parameters(self)
        if isinstance(self.items, str) or len(set(self.items)) < len(self.items) or not self.items:
            raise InputError("The 'items' must be a list that names each item once.")
        self.n_users_ = 0
        self.item_products_ = np.zeros((len(self.items), len(self.items)))
        return self.partial_fit(reports)

    def partial_fit(self, reports: Any) -> NoisyRatings:
        """Learn from more reports."""
        if not hasattr(self, "item_products_"):
            return self.fit(reports)
        rows = array_of(reports, shown="reports")
        if (
            rows.ndim != 2
            or rows.dtype.kind not in "iuf"
            or rows.shape[1] != len(self.items)
            or not len(rows)
        ):
            raise InputError(f"'reports' must hold rows of {len(self.items)} numbers, a score for each item.")
        scores = squarable(finite(rows, "values of 'reports'", then="drop the rows first"), "reports")
        variance = 0.0 if self.channel is None else self.channel.noise.variance
        # The noise of different items is independent, so products
        # of two items are unbiased, and squares hold its variance.
        self.item_products_ += scores.T @ scores - len(scores) * variance * np.eye(len(self.items))
        self.n_users_ += len(scores)
        return self

    def predict(self, ratings: Mapping[Any, float], items: Sequence[Any] | None = None) -> FloatArray:
        """Predict one person's ratings of items, all by default, from her own; at her home, where these are known.

        The prediction is her mean, and her standard deviation times the weighted mean of her scores of other items.
        Where her ratings are all alike it is her mean.
        """
        if not hasattr(self, "item_products_"):
            raise InputError("Nothing was learned yet; call fit with reports first.")
        numbers = {item: number for number, item in enumerate(self.items)}
        strange = sum(item not in numbers for item in (*ratings, *(items or ())))
        if strange or not ratings:
            raise InputError(
                f"{strange} items are none of the known items." if strange else "There are no ratings."
            )
        rated = np.array([numbers[item] for item in ratings])
        targets = np.arange(len(numbers)) if items is None else np.array([numbers[item] for item in items])
        values = squarable(finite(np.array(list(ratings.values())), "ratings"), "ratings")
        mean, spread = values.mean(), values.std()
        if values.min() == values.max():
            return np.full(targets.size, mean)
        # An item does not predict itself.
        weights = np.where(rated[:, None] == targets, 0.0, self.item_products_[np.ix_(rated, targets)])
        variance = 0.0 if self.channel is None else self.channel.noise.variance
        shrink = self.n_users_ * variance + _SHRINK if self.shrink is None else self.shrink
        total = np.abs(weights).sum(axis=0) + shrink
        scores = (values - mean) / spread
        return np.asarray(mean + spread * (scores @ weights) / np.where(total > 0, total, 1.0))

    def __repr__(self) -> str:
        learned = f", {self.n_users_} users" if hasattr(self, "n_users_") else ""
        return f"NoisyRatings({len(self.items)} items{learned})"
