"""Guarantees of a channel: what a distortion guarantees by its probabilities alone, whatever the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NoReturn, Protocol, runtime_checkable

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.errors import ParameterError
from discreet.core.guarantee import HasGroups, compare
from discreet.core.tables.groups import Groups
from discreet.core.verdict import Basis, Verdict
from discreet.guarantees.constructed import ConstructedGuarantee


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
        """Return the basic privacy in percent from every item's support."""
        ...

    def average_basic_privacy(self, support: float, *, ones: float = 1.0) -> float:
        """Return the basic privacy in percent from the average support."""
        ...


class ChannelGuarantee(ConstructedGuarantee):
    """A guarantee that a channel keeps by construction; no released table can show it."""

    about: ClassVar[str] = "channel"

    @abstractmethod
    def measure_channel(self, channel: Channel) -> float:
        """Measure the channel, unrounded; one that the guarantee is not about is refused."""

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

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"{type(self).__name__} is a guarantee of a channel such as EMask; no table can be judged by it."
        )
