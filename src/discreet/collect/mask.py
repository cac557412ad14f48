"""MASK and EMASK: every customer flips her own bits (Rizvi & Haritsa, VLDB 2002; Agrawal, Krishnan & Haritsa 2004)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn, overload

import numpy as np

from discreet.collect.secure_random import secret_key
from discreet.core.arrays import FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.cluster_baskets import ClusterBaskets
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import (
    BOOL,
    NONE,
    Constraints,
    FloatIn,
    InstanceOf,
    IntIn,
    OneOf,
    check_parameters,
    require,
)
from discreet.core.rng import RandomState

_SAME = 1e-12


@public
@dataclass(frozen=True)
class EMask:
    """Distort baskets bit by bit: an item is reported with probability p, a missing one left out with probability q.

    Every bit is drawn for itself, so each customer can do it alone, before anything leaves her hands
    (:func:`discreet.collect.clients.mask.flip` is that step in plain Python). The true supports are estimated from the
    distorted baskets by :class:`discreet.mine.MaskedItemsets`, which must know p and q and nothing else.

    Chance comes from ChaCha20 with a key of 256 bits. Without a seed the key comes from the operating system and is
    forgotten. With a seed the result can be repeated by anyone who knows or guesses the seed: the distortion is then
    no protection at all.

    Parameters
    ----------
    p
        The probability that an item of the basket is reported.
    q
        The probability that an item not in the basket is not reported. ``p + q = 1`` is refused: a bit would come out
        the same whatever it was, and nothing could be recovered.

    References
    ----------
    S. Agrawal, V. Krishnan, J. Haritsa: On addressing efficiency concerns in privacy-preserving mining. DASFAA 2004.

    Examples
    --------
    >>> shop = Baskets.from_lists([["bread", "milk"], ["beer"], []])
    >>> channel = EMask(p=0.5, q=0.97)
    >>> channel.perturb(shop, random_state=1)
    Baskets(3 baskets, 3 items, ... entries)
    >>> EMask(p=1, q=1).perturb(shop).lists()
    [['bread', 'milk'], ['beer'], []]
    >>> round(channel.average_basic_privacy(0.01), 1)
    92.5
    >>> round(channel.epsilon, 2)
    2.81
    """

    p: float
    q: float

    constraints: ClassVar[Constraints] = {"p": FloatIn(0, 1), "q": FloatIn(0, 1)}

    def __post_init__(self) -> None:
        """Check the parameters: p + q = 1 would leave nothing to recover."""
        check_parameters(self)
        for name in ("p", "q"):
            object.__setattr__(self, name, float(getattr(self, name)))
        # Near 1 the estimates divide by almost nothing, so a sum of 1 but for rounding is refused as well.
        if abs(self.p + self.q - 1) < _SAME:
            self._refuse(
                "The 'p' and 'q' parameters of EMask must not add up to 1", f"{self.p:g} and {self.q:g}"
            )

    @overload
    def perturb(
        self, baskets: Baskets, *, random_state: RandomState = None, as_bits: Literal[False] = False
    ) -> Baskets: ...

    @overload
    def perturb(self, baskets: ClusterBaskets, *, random_state: RandomState = None) -> ClusterBaskets: ...

    @overload
    def perturb(
        self, baskets: Baskets, *, random_state: RandomState = None, as_bits: Literal[True]
    ) -> ItemBits: ...

    @overload
    def perturb(
        self, baskets: Baskets, *, random_state: RandomState = None, as_bits: bool = False
    ) -> Baskets | ItemBits: ...

    def perturb(
        self, baskets: Baskets | ClusterBaskets, *, random_state: RandomState = None, as_bits: bool = False
    ) -> Baskets | ItemBits | ClusterBaskets:
        """Distort every basket; those on a cluster are distorted by its workers, and come in random order.

        Parameters
        ----------
        baskets
            The true baskets; their item names stay, and must be public: ``baskets.listed(catalog)`` sets the list.
        random_state
            None for real use. A seed produces the same baskets again, on any number of processors.
        as_bits
            Whether to return bit columns, the form that is mined: the same baskets, never stored as lists.
        """
        from discreet.kernels.baskets.distortion import distort_bits, distort_rows

        require(self, "baskets", baskets, InstanceOf((Baskets, ClusterBaskets), "Baskets or ClusterBaskets"))
        require(self, "as_bits", as_bits, BOOL)
        if isinstance(baskets, ClusterBaskets):
            from discreet.collect.clusters import flipped_on_cluster

            require(self, "as_bits", as_bits, OneOf((False,)))
            return flipped_on_cluster(self, baskets, random_state)
        key = secret_key(random_state, owner=self)
        if as_bits:
            blocks = distort_bits(baskets.indptr, baskets.items, baskets.n_items, self.p, self.q, key)
            return ItemBits(blocks, len(baskets), baskets.names, (float(self.p), float(self.q)))
        indptr, items = distort_rows(baskets.indptr, baskets.items, baskets.n_items, self.p, self.q, key)
        return Baskets(indptr, items, baskets.names)

    @property
    def epsilon(self) -> float:
        """The local differential privacy of one bit: no report is more than e^epsilon times likelier for one value.

        Infinite where p or q is 0 or 1, since some report then settles the bit.
        """
        return max(self._gain())

    def epsilon_of_record(self, n_items: int, *, longest: int | None = None) -> float:
        """Return the local differential privacy of a whole basket, whatever it holds and whoever compares it.

        Two baskets can differ in all of ``n_items`` bits, and the losses of the bits add up. If no basket holds more
        than ``longest`` items, which the public must know, two of them differ in at most that many on either side,
        and epsilon no longer grows with the number of items there are.

        >>> channel = EMask(p=0.5, q=0.97)
        >>> round(channel.epsilon_of_record(1000)), round(channel.epsilon_of_record(1000, longest=5), 1)
        (2813, 17.4)
        """
        require(self, "n_items", n_items, IntIn(1))
        require(self, "longest", longest, IntIn(0), NONE)
        most = n_items if longest is None else min(longest, n_items)
        if most == 0:
            return 0.0
        larger, smaller = sorted(self._gain(), reverse=True)
        # Each basket has at most ``most`` items that the other one lacks. The direction that loses more is
        # counted in full; the bits that are left bound the other one.
        rest = min(most, n_items - most)
        return most * larger + (rest * smaller if rest else 0.0)

    def basic_privacy(self, supports: FloatArray | Baskets, *, ones: float = 1.0) -> float:
        """Return the basic privacy in percent from every item's support: the exact form.

        ``ones`` is the weight of the privacy of the items in a basket; the rest is that of the items not in it.
        """
        from discreet.measure.baskets.basic_privacy import basic_privacy

        return basic_privacy(_supports(supports), p=self.p, q=self.q, ones=ones)

    def average_basic_privacy(self, support: float | Baskets, *, ones: float = 1.0) -> float:
        """Return the basic privacy in percent from the average support: the form of the paper's tables."""
        from discreet.measure.baskets.basic_privacy import average_basic_privacy

        average = float(_supports(support).mean()) if isinstance(support, Baskets) else support
        return float(average_basic_privacy(average, p=self.p, q=self.q, ones=ones))

    def expected_error(self, support: float, n_baskets: int) -> float:
        """Return the relative standard error of the estimated support of one item."""
        from discreet.measure.baskets.itemset_error import expected_error

        return float(expected_error(support, n_baskets, p=self.p, q=self.q))

    def to_dict(self) -> dict[str, object]:
        """Return the channel as plain data: what the miner must know."""
        return {"channel": type(self).__name__, "p": self.p, "q": self.q}

    def _refuse(self, rule: str, got: str) -> NoReturn:
        raise ParameterError(
            f"{rule}: every bit would come out the same whatever it was, and nothing could be recovered. "
            f"Got {got} instead."
        )

    def _gain(self) -> tuple[float, float]:
        """Return the largest log likelihood ratio of a report for an item in the basket, and for one not in it."""
        p, q = self.p, self.q
        return (
            max(_log_ratio(p, 1 - q), _log_ratio(1 - p, q)),
            max(_log_ratio(1 - q, p), _log_ratio(q, 1 - p)),
        )


@public
class Mask(EMask):
    """Distort baskets bit by bit, ones and zeros alike: ``EMask(p, p)``.

    Parameters
    ----------
    p
        The probability that a bit stays; 0.5 is refused, since nothing could be recovered.

    References
    ----------
    S. Rizvi, J. Haritsa: Maintaining data privacy in association rule mining. VLDB 2002.

    Examples
    --------
    >>> Mask(0.9)
    Mask(p=0.9)
    >>> round(Mask(0.9).epsilon, 3)
    2.197
    """

    def __init__(self, p: float) -> None:
        super().__init__(p, p)

    def _refuse(self, rule: str, got: str) -> NoReturn:
        del rule, got
        super()._refuse("The 'p' parameter of Mask must not be 0.5", f"{self.p:g}")

    def __repr__(self) -> str:
        return f"Mask(p={self.p})"


def _supports(supports: FloatArray | Baskets | float) -> FloatArray:
    if isinstance(supports, Baskets):
        return np.asarray(supports.counts / max(len(supports), 1), np.float64)
    return np.asarray(supports, np.float64)


def _log_ratio(over: float, under: float) -> float:
    """Return the log of a likelihood ratio; a report that is impossible under one of the two settles the bit."""
    if over == 0:
        return -math.inf
    return math.inf if under == 0 else math.log(over / under)
