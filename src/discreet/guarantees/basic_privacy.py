"""Basic privacy as a guarantee: a distorted bit is rarely reconstructed (Rizvi & Haritsa, VLDB 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.params import Constraints, EachOf, FloatIn
from discreet.guarantees.constructed import BitChannel, Channel, ChannelGuarantee


@public
@dataclass(frozen=True, repr=False)
class BasicPrivacy(ChannelGuarantee):
    """A true bit is reconstructed from the distorted one with a probability of at most ``100 - at_least`` percent.

    An average over all ones (or bits), not a guarantee to each of them: for that see ``LocalDP``.

    Parameters
    ----------
    at_least
        The least privacy in percent.
    support
        The average support of the items, for the form of the papers' tables; or the support of every item, for the
        exact form, which is never higher.
    ones
        The weight of the privacy of the ones; the rest is the zeros'.

    Examples
    --------
    >>> from discreet.collect import EMask
    >>> print(BasicPrivacy(90, support=0.01).check(EMask(p=0.5, q=0.97)))
    BasicPrivacy(at_least=90, support=0.01, ones=1.0): by construction (basic privacy 92.53640221, required >= 90)
    """

    at_least: float = 90
    support: float | tuple[float, ...] = 0.01
    ones: float = 1.0

    measured: ClassVar[str] = "basic privacy"
    constraints: ClassVar[Constraints] = {
        "at_least": FloatIn(0, 100),
        "support": (FloatIn(0, 1), EachOf(FloatIn(0, 1), "numbers in [0, 1]")),
        "ones": FloatIn(0, 1),
    }

    def __post_init__(self) -> None:
        """Check the parameters, and keep several supports as a tuple."""
        super().__post_init__()
        if isinstance(self.support, list | tuple):
            object.__setattr__(self, "support", tuple(self.support))

    def measure_channel(self, channel: Channel) -> float:
        """Return the basic privacy of the channel in percent, in the form that the supports given call for."""
        if not isinstance(channel, BitChannel):
            self._refuse()
        if isinstance(self.support, tuple):
            return channel.basic_privacy(np.array(self.support), ones=self.ones)
        return channel.average_basic_privacy(self.support, ones=self.ones)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"A true entry is reconstructed from its distorted self with a probability of at most "
            f"{100 - self.at_least:g} percent, on average."
        )
