"""Itemsets of the true baskets, mined from distorted ones: MASK (VLDB 2002) and EMASK (DASFAA 2004)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.baskets.supports import is_count, share_of
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import Constraints, FloatIn
from discreet.mine.itemsets.apriori import Level, MinedBaskets, all_levels, levels
from discreet.mine.itemsets.found import FoundItemsets
from discreet.mine.itemsets.parameters import MINING, Names, check_channel, check_mining, included_items


@dataclass(frozen=True)
class FlipProbabilities:
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


def combined_supports(
    coefficients: FloatArray, counts: IntArray, subsets: NDArray[np.int32], below: IntArray
) -> FloatArray:
    """Add up the S_j of sets of n items, each times its coefficient, from the sums of their n subsets.

    S_j(X) is the sum of S_j(X - x) over n - j, so what a subset contributes is worked out once for each subset.
    """
    length = subsets.shape[1]
    # One number for each subset, gathered for all sets it
    # is in: cheaper than the sums S_j of every candidate.
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
        # Exact: each subset of j items is in the sums of the n − j sets that lack one of the other items.
        np.floor_divide(total, length - j, out=sums[:, j])
    return sums


@dataclass(frozen=True)
class SupportEstimates:
    """Figures of the sets of one level: their sums S_j, the estimated counts and their standard errors."""

    sums: IntArray
    counts: FloatArray
    errors: FloatArray
    frequent: BoolArray


class MayBeFrequent:
    """Keeps the sets whose estimated count, some standard errors added, reaches the threshold."""

    def __init__(self, channel: FlipProbabilities, threshold: float, margin: float) -> None:
        self.channel = channel
        self.threshold = threshold
        self.margin = margin

    def nothing(self, n: int) -> SupportEstimates:
        """Return the figures of the empty set, which every basket holds."""
        n_baskets = np.array([float(n)])
        return SupportEstimates(np.array([[n]]), n_baskets, np.zeros(1), np.ones(1, np.bool_))

    def judge(
        self, counts: IntArray, subsets: NDArray[np.int32], below: SupportEstimates
    ) -> tuple[IntArray, SupportEstimates]:
        """Estimate the true counts, and return the rows of the sets that are, or may be, frequent."""
        estimates = combined_supports(
            self.channel.coefficients(subsets.shape[1]), counts, subsets, below.sums
        )
        frequent = estimates >= self.threshold
        # Errors take as long as estimates, so without a margin only sets that are kept have them.
        rows = np.arange(counts.size) if self.margin > 0 else np.flatnonzero(frequent)
        errors = self._errors(estimates[rows], counts[rows], subsets[rows], below)
        if self.margin > 0:
            rows = np.flatnonzero(estimates + self.margin * errors >= self.threshold)
            errors = errors[rows]
        sums = sums_of(counts[rows], subsets[rows], below.sums)
        return rows, SupportEstimates(sums, estimates[rows], errors, frequent[rows])

    def _errors(
        self, estimates: FloatArray, counts: IntArray, subsets: NDArray[np.int32], below: SupportEstimates
    ) -> FloatArray:
        """Estimate the standard errors, for fixed true baskets.

        A basket's weight is 1 on average if the basket truly holds the set and 0 if not, so the sum of the squared
        weights less the estimate is an unbiased estimate of the variance.
        """
        squares = combined_supports(self.channel.squares(subsets.shape[1]), counts, subsets, below.sums)
        # An unbiased estimate of a variance can be negative by chance.
        return np.sqrt(np.maximum(squares - estimates, 0.0))

    def joined(self, parts: list[SupportEstimates]) -> SupportEstimates:
        """Put parts of a level together."""
        return SupportEstimates(
            np.concatenate([part.sums for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.errors for part in parts]),
            np.concatenate([part.frequent for part in parts]),
        )


RELATIVE_ERROR = 0.5
"""An estimate whose standard error is more than this share of it is marked as ill-conditioned."""
_SAME = 1e-12


class Distortion(Protocol):
    """The probabilities by which bits were flipped, as Mask and EMask have them."""

    @property
    def p(self) -> float:
        """The probability that a one stays."""
        ...

    @property
    def q(self) -> float:
        """The probability that a zero stays."""
        ...


@public
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class FoundMaskedItemsets(FoundItemsets):
    """Itemsets whose support in the true baskets was estimated.

    ``counts`` are those of the distorted baskets; ``estimates`` are the estimated counts of the true ones, which
    ``as_dict`` and a loop over the sets return too, and ``errors`` their standard errors. ``frequent`` is whether the
    estimate itself reaches the minimum support, or whether the set only may be frequent.
    """

    estimates: FloatArray
    errors: FloatArray
    frequent: BoolArray

    @property
    def supports(self) -> FloatArray:
        """The estimated share of the true baskets that hold each set; chance may bring it below 0 or above 1."""
        return self.estimates / max(self.n, 1)

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of each support."""
        return self.errors / max(self.n, 1)

    @property
    def ill_conditioned(self) -> BoolArray:
        """Where the standard error is more than half of the estimate: it is not two errors away from nothing.

        An estimate above all baskets there are is taken as all of them.
        """
        return ~(self.errors <= RELATIVE_ERROR * np.minimum(self.estimates, self.n))

    @property
    def table(self) -> pa.Table:
        """An Arrow table: itemsets, support (estimated), standard_error, length, frequent, ill_conditioned."""
        return pa.table(
            {
                "itemsets": self.lists(),
                "support": self.supports,
                "standard_error": self.standard_errors,
                "length": self.lengths,
                "frequent": self.frequent,
                "ill_conditioned": self.ill_conditioned,
            }
        )

    def _supports(self) -> list[float]:
        counts: list[float] = self.estimates.tolist()
        return counts

    def _selected(self, mask: BoolArray) -> dict[str, Any]:
        return {
            "estimates": self.estimates[mask],
            "errors": self.errors[mask],
            "frequent": self.frequent[mask],
        }


class FlippingChannel:
    """A channel that flips bits with known probabilities."""

    def admits(self, value: object) -> bool:
        """Return whether the value has p and q, both in [0, 1]."""
        return all(FloatIn(0, 1).admits(getattr(value, name, None)) for name in ("p", "q"))

    def __str__(self) -> str:
        return "a Mask or an EMask, with p and q in [0, 1]"


@public
@dataclass(repr=False, eq=False)
class MaskedItemsets:
    """Find the itemsets that are frequent in the true baskets, from distorted ones alone.

    Only "all items present" is counted, as in plain mining: the estimate for n items needs the sums S_j of the counts
    of its subsets, and these follow from its n subsets of one item less. The estimate is the last entry of the
    inverse of the channel's matrix times the observed counts, and is unbiased. Each comes with its standard error.

    Noise grows with 1/(p + q - 1)^n, so long sets may be hopeless however many baskets there are. Where the standard
    error is more than half of the estimate, the set is marked as ill-conditioned. Where noise drowns everything,
    everything may be frequent: with a margin the sets can become too many to hold, which is refused; ``max_length``
    bounds them.

    Parameters
    ----------
    channel
        How the bits were flipped: a Mask or an EMask, or anything with its ``p`` and ``q``.
    min_support
        The minimum support in the true baskets: an int is a number of baskets, a float a share of them.
    margin
        Keep a set whose estimate plus this many standard errors reaches the minimum support: it may be frequent. 0
        keeps the sets whose estimate reaches it. A margin finds more of the truly frequent sets, and more others.
    max_length
        The most items of a set.
    include, exclude
        Look only at these items, or leave these out, by name.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from discreet import Baskets
    >>> shop = Baskets(np.array([0, 2, 5, 7]), np.array([0, 1, 0, 1, 2, 1, 2]), pa.array(["beer", "bread", "milk"]))
    >>> found = MaskedItemsets(SimpleNamespace(p=0.9, q=0.9), 0.6).mine(shop)
    >>> found.table.column_names
    ['itemsets', 'support', 'standard_error', 'length', 'frequent', 'ill_conditioned']

    References
    ----------
    S. Rizvi, J. Haritsa: Maintaining data privacy in association rule mining. VLDB 2002.
    S. Agrawal, V. Krishnan, J. Haritsa: On addressing efficiency concerns in privacy-preserving mining. DASFAA 2004.
    """

    channel: Distortion
    min_support: float
    _: KW_ONLY
    margin: float = 0.0
    max_length: int | None = None
    include: Names | None = None
    exclude: Names | None = None

    constraints: ClassVar[Constraints] = {"channel": FlippingChannel(), **MINING, "margin": FloatIn(0)}

    def mine(self, baskets: MinedBaskets) -> FoundMaskedItemsets:
        """Find the sets from distorted baskets, from their bit columns, or from distorted baskets on a cluster."""
        check_mining(self, baskets)
        check_channel(baskets, (float(self.channel.p), float(self.channel.q)))
        judge = MayBeFrequent(self._channel(), self._threshold(len(baskets)), float(self.margin))
        included = included_items(baskets.names, self.include, self.exclude)
        items = np.flatnonzero(included).astype(np.int32)
        if not len(baskets):
            return _found([], baskets)
        counts = baskets.counts[items]
        search = levels(baskets, judge, items=items, counts=counts, max_length=self.max_length)
        return _found(list(search), baskets)

    def _channel(self) -> FlipProbabilities:
        channel = FlipProbabilities(float(self.channel.p), float(self.channel.q))
        if abs(channel.p + channel.q - 1) < _SAME:
            raise ParameterError(
                "The 'channel' parameter of MaskedItemsets has p + q = 1: "
                "every bit came out the same whatever it was, and nothing can be recovered."
            )
        return channel

    def _threshold(self, n: int) -> float:
        """Return the least estimated count, a little less than the share so that an exact estimate reaches it."""
        if is_count(self.min_support):
            return float(min(self.min_support, 2**63))
        return float(share_of(self.min_support, n)) * (1 - 2.0**-50)


def _found(search: list[Level[SupportEstimates]], baskets: MinedBaskets) -> FoundMaskedItemsets:
    return FoundMaskedItemsets(
        *all_levels(search),
        len(baskets),
        baskets.names,
        estimates=np.concatenate([np.empty(0), *(level.state.counts for level in search)]),
        errors=np.concatenate([np.empty(0), *(level.state.errors for level in search)]),
        frequent=np.concatenate([np.empty(0, np.bool_), *(level.state.frequent for level in search)]),
    )
