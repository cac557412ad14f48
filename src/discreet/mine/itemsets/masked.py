"""Itemsets of the true baskets, mined from distorted ones: MASK (VLDB 2002) and EMASK (DASFAA 2004)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.supports import is_count, share_of
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import Constraints, FloatIn
from discreet.mine.itemsets.apriori import Level, levels, together
from discreet.mine.itemsets.found import FoundItemsets
from discreet.mine.itemsets.masked_support import Channel, Estimates, MayBeFrequent
from discreet.mine.itemsets.parameters import MINING, Names, check_mining, included_items

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

    def mine(self, baskets: Baskets | ItemBits) -> FoundMaskedItemsets:
        """Find the sets from distorted baskets, or from their bit columns."""
        check_mining(self, baskets)
        judge = MayBeFrequent(self._channel(), self._threshold(len(baskets)), float(self.margin))
        included = included_items(baskets.names, self.include, self.exclude)
        items = np.flatnonzero(included).astype(np.int32)
        if not len(baskets):
            return _found([], baskets)
        counts = baskets.counts[items]
        search = levels(baskets, judge, items=items, counts=counts, max_length=self.max_length)
        return _found(list(search), baskets)

    def _channel(self) -> Channel:
        channel = Channel(float(self.channel.p), float(self.channel.q))
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


def _found(search: list[Level[Estimates]], baskets: Baskets | ItemBits) -> FoundMaskedItemsets:
    return FoundMaskedItemsets(
        *together(search),
        len(baskets),
        baskets.names,
        estimates=np.concatenate([np.empty(0), *(level.state.counts for level in search)]),
        errors=np.concatenate([np.empty(0), *(level.state.errors for level in search)]),
        frequent=np.concatenate([np.empty(0, np.bool_), *(level.state.frequent for level in search)]),
    )
