"""Supports of the true baskets, estimated from baskets whose bits were flipped (MASK, EMASK)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Channel:
    """What happens to a bit: a one stays with probability p, a zero with probability q."""

    p: float
    q: float

    def coefficients(self, length: int) -> FloatArray:
        """Return what each S_j counts in the estimate: (-(1 - q))^(n - j) / (p + q - 1)^n for n items.

        S_j is the sum, over the subsets of j items, of the baskets that hold the whole subset. A basket with k of the
        n items so has the weight q^k (-(1 - q))^(n - k) / (p + q - 1)^n.
        """
        powers = (self.q - 1.0) ** np.arange(length, -1, -1)
        return np.asarray(powers / (self.p + self.q - 1.0) ** length)

    def squares(self, length: int) -> FloatArray:
        """Return what each S_j counts in the sum of squared weights: (1 - q)^(2n - 2j) (2q - 1)^j / (p + q - 1)^2n."""
        j = np.arange(length + 1)
        powers = (1.0 - self.q) ** (2 * (length - j)) * (2.0 * self.q - 1.0) ** j
        return np.asarray(powers / (self.p + self.q - 1.0) ** (2 * length))


def combined(
    coefficients: FloatArray, counts: IntArray, subsets: NDArray[np.int32], below: IntArray
) -> FloatArray:
    """Add up the S_j of sets of n items, each times its coefficient, from the sums of their n subsets.

    S_j(X) is the sum of S_j(X - x) over n - j, so what a subset contributes is worked out once for each subset.
    """
    length = subsets.shape[1]
    part = below @ (coefficients[:-1] / (length - np.arange(length)))
    total = coefficients[-1] * counts
    for position in range(length):
        total += part[subsets[:, position]]
    return np.asarray(total)


def sums_of(counts: IntArray, subsets: NDArray[np.int32], below: IntArray) -> IntArray:
    """Return S_0 to S_n of sets of n items from those of n subsets: S_j(X) is the sum of S_j(X - x) over n - j."""
    length = subsets.shape[1]
    sums = np.empty((len(counts), length + 1), np.int64)
    sums[:, length] = counts
    for j in range(length):
        column = np.ascontiguousarray(below[:, j])
        total = column[subsets[:, 0]]
        for position in range(1, length):
            total += column[subsets[:, position]]
        np.floor_divide(total, length - j, out=sums[:, j])
    return sums


@dataclass(frozen=True)
class Estimates:
    """Figures of the sets of one level: their sums S_j, the estimated counts and their standard errors."""

    sums: IntArray
    counts: FloatArray
    errors: FloatArray
    frequent: BoolArray


class MayBeFrequent:
    """Keeps the sets whose estimated count, some standard errors added, reaches the threshold."""

    def __init__(self, channel: Channel, threshold: float, margin: float) -> None:
        self.channel = channel
        self.threshold = threshold
        self.margin = margin

    def nothing(self, n: int) -> Estimates:
        """Return the figures of the empty set, which every basket holds."""
        n_baskets = np.array([float(n)])
        return Estimates(np.array([[n]]), n_baskets, np.zeros(1), np.ones(1, np.bool_))

    def judge(
        self, counts: IntArray, subsets: NDArray[np.int32], below: Estimates
    ) -> tuple[IntArray, Estimates]:
        """Estimate the true counts, and return the rows of the sets that are, or may be, frequent."""
        estimates = combined(self.channel.coefficients(subsets.shape[1]), counts, subsets, below.sums)
        frequent = estimates >= self.threshold
        rows = np.arange(counts.size) if self.margin > 0 else np.flatnonzero(frequent)
        errors = self._errors(estimates[rows], counts[rows], subsets[rows], below)
        if self.margin > 0:
            rows = np.flatnonzero(estimates + self.margin * errors >= self.threshold)
            errors = errors[rows]
        sums = sums_of(counts[rows], subsets[rows], below.sums)
        return rows, Estimates(sums, estimates[rows], errors, frequent[rows])

    def _errors(
        self, estimates: FloatArray, counts: IntArray, subsets: NDArray[np.int32], below: Estimates
    ) -> FloatArray:
        """Estimate the standard errors, for fixed true baskets.

        A basket's weight is 1 on average if the basket truly holds the set and 0 if not, so the sum of the squared
        weights less the estimate is an unbiased estimate of the variance.
        """
        squares = combined(self.channel.squares(subsets.shape[1]), counts, subsets, below.sums)
        return np.sqrt(np.maximum(squares - estimates, 0.0))

    def joined(self, parts: list[Estimates]) -> Estimates:
        """Put parts of a level together."""
        return Estimates(
            np.concatenate([part.sums for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.errors for part in parts]),
            np.concatenate([part.frequent for part in parts]),
        )
