"""Local differential privacy: no report is much likelier for one truth than for another (Kasiviswanathan 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.boundary import public
from discreet.core.guarantee import Relation
from discreet.core.params import Constraints, FloatIn, IntIn
from discreet.guarantees.constructed import Channel, ChannelGuarantee


@public
@dataclass(frozen=True, repr=False)
class LocalDP(ChannelGuarantee):
    """No report is more than e^epsilon times likelier for one truth than for another.

    Parameters
    ----------
    epsilon
        The bound on the logarithm of that ratio.
    bits
        In how many bits two truths may differ: 1 to protect each single bit (the default), the number of items to
        protect a whole basket whatever it holds. Channels that hide a value or a record as a whole, such as
        ``AdditiveNoise``, ``RandomizedResponse`` and ``Channels``, are judged by 1.

    Examples
    --------
    >>> from discreet.collect import EMask
    >>> print(LocalDP(3).check(EMask(p=0.5, q=0.97)))
    LocalDP(epsilon=3, bits=1): by construction (epsilon 2.813410717, required <= 3)
    """

    epsilon: float
    bits: int = 1

    relation: ClassVar[Relation] = "<="
    measured: ClassVar[str] = "epsilon"
    constraints: ClassVar[Constraints] = {"epsilon": FloatIn(0), "bits": IntIn(1)}

    @property
    def bound(self) -> float:
        """The bound epsilon."""
        return float(self.epsilon)

    def measure_channel(self, channel: Channel) -> float:
        """Return the channel's epsilon over the bits; infinite where some report settles a bit."""
        return self.bits * channel.epsilon

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        what = "a single bit" if self.bits == 1 else f"{self.bits:,} bits together"
        return (
            f"Nothing reported is more than {math.exp(min(self.epsilon, 700)):.4g} times likelier "
            f"for one truth about {what} than for another."
        )
