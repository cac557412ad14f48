"""Promises of a channel: what a distortion guarantees by its probabilities alone, whatever the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Protocol, runtime_checkable

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.errors import ParameterError
from discreet.core.groups import Groups
from discreet.core.verdict import Basis, Verdict
from discreet.guarantees.base import AllOf, Guarantee, HasGroups, compare


@runtime_checkable
class Channel(Protocol):
    """Anything that distorts with known probabilities, such as EMask or AdditiveNoise."""

    @property
    def epsilon(self) -> float:
        """The local differential privacy of one bit, value or record: of what the channel distorts."""
        ...

    @property
    def perturb(self) -> Callable[..., Any]:
        """The distortion."""
        ...


@runtime_checkable
class BitChannel(Channel, Protocol):
    """A channel that distorts bits and can say how well they are hidden, such as EMask."""

    def basic_privacy(self, supports: FloatArray, *, ones: float = 1.0) -> float:
        """Give the basic privacy in percent from every item's support."""
        ...

    def average_basic_privacy(self, support: float, *, ones: float = 1.0) -> float:
        """Give the basic privacy in percent from the average support."""
        ...


class ChannelGuarantee(Guarantee):
    """A promise that a channel keeps by construction; no released table can show it."""

    @abstractmethod
    def measure_channel(self, channel: Channel) -> float:
        """Measure the channel, unrounded; one that the promise is not about is refused."""

    def __and__(self, other: Guarantee) -> AllOf:
        """Promise both; promises of a channel together are judged by the channel too."""
        return _both(self, other) or super().__and__(other)

    def check(
        self,
        subject: Channel | Groups | HasGroups,
        *,
        suppressed: Literal["judged", "exempt"] = "judged",
    ) -> Verdict:
        """Judge a channel, by construction; a table is refused, since it cannot show how it was made."""
        del suppressed
        if not isinstance(subject, Channel):
            self._refuse()
        measure = self.measure_channel(subject)
        return self._found(
            ok=bool(compare(np.array(measure), self.relation, self.bound, self.tolerance)),
            worst=measure,
            basis=Basis.CONSTRUCTION,
        )

    def measure(self, groups: Groups) -> NoReturn:
        """Refuse: classes cannot show how they were made."""
        del groups
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"{type(self).__name__} is a promise of a channel such as EMask; no table can be judged by it."
        )


@dataclass(frozen=True, repr=False)
class AllOfChannel(AllOf):
    """Several promises of one channel at once, as ``a & b`` makes them.

    >>> from discreet.collect import EMask
    >>> from discreet.guarantees import BasicPrivacy, LocalDP
    >>> (LocalDP(3) & BasicPrivacy(95)).check(EMask(p=0.5, q=0.97)).ok
    False
    """

    def check(
        self,
        subject: Channel | Groups | HasGroups,
        *,
        suppressed: Literal["judged", "exempt"] = "judged",
    ) -> Verdict:
        """Judge a channel by every promise, by construction."""
        verdicts = tuple(
            part.check(subject, suppressed=suppressed)
            for part in self.parts
            if isinstance(part, ChannelGuarantee)
        )
        kept = sum(verdict.ok for verdict in verdicts)
        return self._found(
            ok=kept == len(verdicts), worst=float(kept), basis=Basis.CONSTRUCTION, parts=verdicts
        )

    def __and__(self, other: Guarantee) -> AllOf:
        """Promise that too."""
        return _both(self, other) or super().__and__(other)


def together(parts: tuple[Guarantee, ...]) -> AllOf:
    """Join promises: those of a channel are judged by the channel, all others by classes."""
    return AllOfChannel(parts) if parts and all(map(_of_channel, parts)) else AllOf(parts)


def _both(one: Guarantee, other: Guarantee) -> AllOf | None:
    return AllOfChannel((one, other)) if _of_channel(one) and _of_channel(other) else None


def _of_channel(part: Guarantee) -> bool:
    return isinstance(part, ChannelGuarantee | AllOfChannel)
