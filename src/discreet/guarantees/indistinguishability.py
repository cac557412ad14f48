"""Records like k others: condensed with them (Aggarwal & Yu, SDM 2005), local DP (Kasiviswanathan 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.guarantee import Guarantee, HasGroups, Relation
from discreet.core.params import Constraints, FloatIn, InstanceOf, IntIn, OneOf
from discreet.core.records.group_statistics import GroupStatistics
from discreet.core.release import Release
from discreet.core.tables.groups import Groups
from discreet.core.verdict import Basis, Verdict
from discreet.guarantees.constructed import Channel, ChannelGuarantee

LARGEST = "largest_levels"
"""Where the evidence of a release keeps the largest level of each group."""
MEANS = "mean_levels"
"""Where it keeps the mean level of each group."""
_HALF = 0.5
"""The halves of a group with an odd number of records have half a record more and less than half of it."""


@dataclass(frozen=True, repr=False)
class LevelledGroups(Groups):
    """Groups that were condensed, with the largest privacy level in each, and the mean where it is known."""

    largest: IntArray | None = None
    means: FloatArray | None = None


@public
@dataclass(frozen=True, repr=False)
class Indistinguishability(Guarantee):
    """Every group of condensed records is at least as large as the largest level in it.

    Pseudo-records are nobody's, so the guarantee cannot be read off them: it is judged by the sizes and levels of the
    groups, which a publisher keeps as evidence ("by construction"). One level for all can also be asked of the classes
    of any other table; that is k-anonymity then.

    Parameters
    ----------
    k
        One privacy level for all records, or the name of the column that holds each record's own; neither where levels
        are stated apart from the table.
    by
        What a group must be as large as: the ``largest`` level in it; or the ``mean`` of the levels, but for half a
        record, which is what remains where a stream divides groups by the paper's rule. A group is then smaller than
        some level in it, and that this hides the record is assumed: the record may be in either half of what was a
        group large enough for it. Nothing was checked about that, so no verdict says more than "assumed".

    References
    ----------
    C. Aggarwal, P. Yu: On variable constraints in privacy preserving data mining. SDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> groups = LevelledGroups(np.array([4, 3]), largest=np.array([3, 3]))
    >>> print(Indistinguishability("level").check(groups))
    Indistinguishability(k='level'): by construction (records to spare 0, required >= 0)
    """

    k: int | str | None = None
    by: Literal["largest", "mean"] = "largest"

    monotone: ClassVar[bool] = False
    measured: ClassVar[str] = "records to spare"
    tolerance: ClassVar[float] = 0.0
    constraints: ClassVar[Constraints] = {
        "k": (IntIn(1), InstanceOf((str, type(None)), "the name of a column or None")),
        "by": OneOf(("largest", "mean")),
    }

    @property
    def smallest(self) -> int:
        """The one level, where there is one."""
        return self.k if isinstance(self.k, int) else 1

    @property
    def bound(self) -> float:
        """No group may be smaller than the largest level in it, or by half a record smaller than the mean."""
        return 0.0 if self.by == "largest" else -_HALF

    def measure(self, groups: Groups) -> FloatArray:
        """Return by how much every group is larger than the largest level in it, or than the mean."""
        largest: Any = groups.largest if isinstance(groups, LevelledGroups) else None
        if isinstance(groups, LevelledGroups) and self.by == "mean" and groups.means is not None:
            return np.asarray(groups.sizes - groups.means)
        if largest is None:
            if not isinstance(self.k, int):
                raise SchemaError(
                    "Indistinguishability with a level for each record is judged by the groups a publisher kept, and "
                    "this table comes without them."
                )
            largest = self.k
        elif isinstance(self.k, int):
            largest = np.maximum(largest, self.k)
        return np.asarray(groups.sizes - largest, np.float64)

    def check(
        self,
        subject: Groups | HasGroups | GroupStatistics,
        *,
        suppressed: Literal["judged", "exempt"] = "judged",
    ) -> Verdict:
        """Judge the groups behind a release or a state, or the classes of a table."""
        groups = _kept(subject)
        judged: Any = subject if groups is None else groups
        verdict = super().check(judged, suppressed=suppressed)
        if self.by == "mean":
            return replace(verdict, basis=Basis.ASSUMED)
        return verdict if groups is None else replace(verdict, basis=Basis.CONSTRUCTION)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        if self.by == "mean":
            return (
                "Rows are drawn from statistics of groups, each at least as large as the mean of the levels in it, but "
                "for half a record. A record joined a group as large as its own level; where that group was divided "
                "since, a half can be smaller than the level. It is assumed that the record may be in either half."
            )
        if self.k == 1:
            return "Records may be published as they are."
        if isinstance(self.k, int):
            return (
                f"Rows are drawn from statistics of groups of at least {self.k} records, not taken from records. By "
                "chance a drawn row can equal a record."
            )
        return (
            "Rows are drawn from statistics of groups, each at least as large as the largest level that a record in it "
            "asks for. By chance a drawn row can equal a record; who asks for level 1 may be published as they are."
        )


def _kept(subject: object) -> LevelledGroups | None:
    """Return the groups that were kept, where there are any."""
    if isinstance(subject, LevelledGroups):
        return subject
    if isinstance(subject, GroupStatistics):
        return LevelledGroups(subject.n, largest=subject.largest, means=subject.levels / subject.n)
    if isinstance(subject, Release) and LARGEST in subject.evidence.details:
        largest: Any = subject.evidence.details[LARGEST]
        means: Any = subject.evidence.details.get(MEANS)
        return LevelledGroups(subject.evidence.sizes, largest=largest, means=means)
    return None


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
