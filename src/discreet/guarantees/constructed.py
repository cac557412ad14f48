"""Guarantees kept by construction: judged by how something was made, since no released table can show it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NoReturn, Protocol, runtime_checkable

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.errors import ParameterError
from discreet.core.guarantee import AllOf, Guarantee, HasGroups, compare
from discreet.core.release import Release
from discreet.core.tables.groups import Groups
from discreet.core.verdict import Basis, Verdict, weakest_basis


class ConstructedGuarantee(Guarantee):
    """A guarantee about something that is no table; ``about`` says what, and those about the same may be joined."""

    about: ClassVar[str]
    kind: ClassVar[str] = ""
    """The kind of data of the releases that the guarantee judges; empty where it judges none."""

    @abstractmethod
    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge what the guarantee is about, by construction; anything else is refused."""

    def __and__(self, other: Guarantee) -> AllOf:
        """Return both, joined; guarantees about the same subject are judged by it together."""
        return together((self, other)) if isinstance(other, Guarantee) else super().__and__(other)

    def measure(self, groups: Groups) -> NoReturn:
        """Refuse: classes cannot show how they were made."""
        del groups
        self._refuse()

    @abstractmethod
    def _refuse(self) -> NoReturn:
        """Return what the guarantee is about."""


class SketchGuarantee(ConstructedGuarantee):
    """A guarantee about published sketches, which they cannot show by themselves."""

    about: ClassVar[str] = "sketches"
    kind: ClassVar[str] = "sketches"

    @abstractmethod
    def measure_release(self, release: Release) -> FloatArray:
        """Measure every published record (or pair of records), unrounded."""

    @abstractmethod
    def holds_in(self, release: Release) -> BoolArray:
        """Return for every published record (or pair of records) whether it keeps the guarantee."""

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge a release of sketches, by construction; sketches or tables without their evidence are refused."""
        del suppressed
        if not isinstance(subject, Release) or subject.kind != self.kind:
            self._refuse()
        measure, holds = self.measure_release(subject), self.holds_in(subject)
        failing = int((~holds).sum())
        return self._found(
            ok=not failing,
            worst=float(np.min(measure)) if measure.size else math.nan,
            n_groups=int(measure.size),
            n_rows=len(subject.data),
            failing_groups=failing,
            failing_rows=failing,
            basis=Basis.CONSTRUCTION,
        )

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"{type(self).__name__} is a guarantee about a release of sketches; neither a table nor sketches without "
            "the evidence kept by their maker can be judged by it."
        )


@dataclass(frozen=True, repr=False)
class AllOfConstructed(AllOf):
    """Several guarantees about the same channel or release of sketches at once, as ``a & b`` makes them.

    >>> from discreet.collect import EMask
    >>> from discreet.guarantees import BasicPrivacy, LocalDP
    >>> (LocalDP(3) & BasicPrivacy(95)).check(EMask(p=0.5, q=0.97)).ok
    False
    """

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge by every guarantee, by construction; the failing rows are those of the one that most rows fail."""
        verdicts = tuple(part.check(subject, suppressed=suppressed) for part in self.parts)
        n_kept = sum(verdict.ok for verdict in verdicts)
        return self._found(
            ok=n_kept == len(verdicts),
            worst=float(n_kept),
            n_groups=sum(verdict.n_groups for verdict in verdicts),
            n_rows=max(verdict.n_rows for verdict in verdicts),
            failing_groups=sum(verdict.failing_groups for verdict in verdicts),
            failing_rows=max(verdict.failing_rows for verdict in verdicts),
            basis=weakest_basis(verdicts),
            parts=verdicts,
        )

    def __and__(self, other: Guarantee) -> AllOf:
        """Return that too, joined."""
        return together((self, other)) if isinstance(other, Guarantee) else super().__and__(other)


def together(parts: tuple[Guarantee, ...]) -> AllOf:
    """Join guarantees: those about the same channel or sketches are judged by it, all others by classes."""
    joined = AllOf(parts)
    about = {part.about if isinstance(part, ConstructedGuarantee) else "classes" for part in joined.parts}
    return AllOfConstructed(joined.parts) if len(about) == 1 and about != {"classes"} else joined


def under_condition(verdict: Verdict, condition: str | None) -> Verdict:
    """Return a verdict that holds only under a condition that nothing can show; without one, the verdict itself."""
    if condition is None:
        return verdict
    return replace(verdict, guarantee=f"{verdict.guarantee}, if {condition}", basis=Basis.ASSUMED)


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
