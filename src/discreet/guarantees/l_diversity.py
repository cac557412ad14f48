"""l-diversity: every class holds l well-represented sensitive values (Machanavajjhala et al. 2006).

Null is a value like any other. With several columns each column must be diverse on its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.guarantee import (
    TOLERANCE,
    ClassRule,
    ColumnNames,
    Guarantee,
    Relation,
    SensitiveGuarantee,
    failing_share,
)
from discreet.core.params import POSITIVE, Constraints, FloatIn, IntIn
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.verdict import Verdict

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook


@public
@dataclass(frozen=True, repr=False)
class DistinctDiversity(SensitiveGuarantee):
    """Every class holds at least ``l`` different sensitive values.

    Parameters
    ----------
    l
        The least number of different values; null counts as one.
    of
        The sensitive column or columns; None means all.
    """

    l: int  # noqa: E741  # the published letter
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    label: ClassVar[str] = "distinct diversity"
    monotone: ClassVar[bool] = True
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "different values"
    constraints: ClassVar[Constraints] = {"l": IntIn(1), "of": ColumnNames()}

    @property
    def smallest(self) -> int:
        """The bound l: every value takes a row."""
        return self.l

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...]:
        """Return the guarantee as a rule for each column."""
        return tuple(ClassRule("distinct", name, self.l) for name in self.columns(sensitive))

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return f"Every class holds at least {self.l} different values of {self._where()}."

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        return np.diff(counts.indptr).astype(np.float64)


@public
@dataclass(frozen=True, repr=False)
class EntropyDiversity(SensitiveGuarantee):
    """The entropy of the sensitive values of every class is at least log ``l``.

    The measure is the exponential of the natural entropy, the effective number of values: a class where l
    values are equally frequent measures l, and passes.

    Parameters
    ----------
    l
        The least effective number of values, at least 1.
    of
        The sensitive column or columns; None means all.
    """

    l: float  # noqa: E741  # the published letter
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    label: ClassVar[str] = "entropy diversity"
    measured: ClassVar[str] = "effective number of values"
    constraints: ClassVar[Constraints] = {"l": FloatIn(1.0), "of": ColumnNames()}

    @property
    def smallest(self) -> int:
        """The bound l, rounded up: n rows have at most n effective values."""
        # A bound that is whole but for rounding demands no row more.
        return math.ceil(self.l * (1.0 - 2.0 * TOLERANCE))

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail, however it is divided.

        The entropy of a part is at most its mean of -log p, p being the shares in the whole class. That is linear in
        the part, the entropy of the class itself over all parts, and nowhere below -log of the largest share.
        """
        # What passes within the tolerance may not count as failing.
        log_l = math.log(self.l) - 2 * TOLERANCE
        share = np.zeros(groups.n_groups)
        for counts in self._counts(groups):
            most = np.maximum.reduceat(counts.share, counts.indptr[:-1])
            share = np.maximum(share, failing_share(-np.log(self._score(counts)), -log_l, np.log(most)))
        return np.where(groups.sizes < self.smallest, groups.sizes, share * groups.sizes)

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...]:
        """Return the guarantee as a rule for each column."""
        return tuple(ClassRule("entropy", name, self.l) for name in self.columns(sensitive))

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"The values of {self._where()} in every class are as varied as "
            f"at least {self.l:g} equally frequent values."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        start = counts.indptr[:-1]
        size = np.add.reduceat(counts.counts, start)
        entropy = np.log(size) - np.add.reduceat(counts.counts * np.log(counts.counts), start) / size
        return np.exp(np.maximum(entropy, 0.0))


@public
@dataclass(frozen=True, repr=False)
class RecursiveDiversity(SensitiveGuarantee):
    """The most frequent value of a class is rarer than ``c`` times the values from the ``l``-th on together.

    With the counts of a class sorted in descending order, r_1 < c (r_l + r_{l+1} + ... + r_m). The measure
    is r_1 / (r_l + ... + r_m), infinite where a class has fewer than l values. The comparison is strict,
    and exact: a ratio of counts is a correctly rounded number.

    Parameters
    ----------
    c
        The bound on the ratio, above 0.
    l
        The rank from which values count against the most frequent one.
    of
        The sensitive column or columns; None means all.
    """

    c: float
    l: int  # noqa: E741  # the published letter
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    label: ClassVar[str] = "recursive (c, 2)-diversity"
    relation: ClassVar[Relation] = "<"
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "most frequent value against the rarer ones"
    constraints: ClassVar[Constraints] = {"c": POSITIVE, "l": IntIn(1), "of": ColumnNames()}

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Measure with l = 2, the least rank that leaves rarer values."""
        del population
        if column is not None:
            yield "", cls(1, 2, of=column.name)

    @property
    def smallest(self) -> int:
        """The bound l: fewer values leave no rarer ones."""
        return self.l

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail, however it is divided.

        Parts that keep the guarantee hold the class's most frequent value less than c times as often as rarer ones,
        and over all parts there are no more of the rarer ones than in the whole class.
        """
        del moved
        least = np.zeros(groups.n_groups)
        for counts in self._counts(groups):
            most, tail = self._ranked(counts)
            # A class whose ratio rounds to less than c passes, whatever the product rounds to.
            missing = np.where(self._score(counts) < self.c, 0.0, most - self.c * tail)
            least = np.maximum(least, missing)
        return np.where(groups.sizes < self.smallest, groups.sizes, least)

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...]:
        """Return the guarantee as a rule for each column."""
        return tuple(ClassRule("recursive", name, self.c, self.l) for name in self.columns(sensitive))

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"In every class the most frequent value of {self._where()} occurs less than {self.c:g} times "
            f"as often as all values from the {ordinal(self.l)} most frequent on."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        most, tail = self._ranked(counts)
        with np.errstate(divide="ignore"):
            return most / tail

    def _ranked(self, counts: SensitiveCounts) -> tuple[IntArray, IntArray]:
        """Count the most frequent value of every class, and the values from the l-th on together."""
        start = counts.indptr[:-1]
        ranked = _descending(counts)
        rank = np.arange(ranked.size) - start[counts.group]
        return ranked[start], np.add.reduceat(np.where(rank >= self.l - 1, ranked, 0), start)


def ordinal(rank: int) -> str:
    """Write 1 as 1st, 2 as 2nd and so on."""
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _descending(counts: SensitiveCounts) -> IntArray:
    """Sort the counts inside every class, largest first."""
    if not counts.counts.size:
        return counts.counts
    # One sort for all classes: taken from the end of its class's range, the largest count comes first in it.
    width = counts.counts.max() + 1
    end = (counts.group + 1) * width
    return np.asarray(end - np.sort(end - counts.counts))


@public
@dataclass(frozen=True, repr=False)
class MInvariance(SensitiveGuarantee):
    """Every group has at least ``m`` rows, no two with the same sensitive value, and a person's groups the same values.

    A person who is in several releases is in groups with the same set of values in all of them, so that intersecting
    them leaves as many values as each alone: at least ``m``, equally likely. That holds for values that never change.

    Groups of one release show that their values differ. Which values a person's earlier groups had only the owner
    knows, so from the second release on the verdict rests on what the publisher kept.

    Parameters
    ----------
    m
        The least number of rows, and of values, of a group.
    release
        Which release of a growing table it is; the first keeps the guarantee by itself.
    of
        The sensitive column; None means all.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> table = Table(pa.table({"age": [1, 1, 2, 2, 2], "illness": ["a", "b", "a", "b", "b"]}),
    ...     {"age": quasi(), "illness": sensitive()})
    >>> print(MInvariance(2).check(table))
    MInvariance(m=2, release=1): broken (values, all different, 0, required >= 2; 1 of 2 classes (3 rows) fail)

    References
    ----------
    X. Xiao, Y. Tao: m-invariance: towards privacy preserving re-publication of dynamic datasets. SIGMOD 2007.
    """

    m: int
    release: int = field(default=1, kw_only=True)
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    joinable: ClassVar[bool] = False
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "values, all different,"
    constraints: ClassVar[Constraints] = {"m": IntIn(2), "release": IntIn(1), "of": ColumnNames()}

    @property
    def smallest(self) -> int:
        """The bound m: every value takes a row."""
        return self.m

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"Every group has at least {self.m} rows, no two with the same value of {self._where()}, and the groups of "
            f"a person have the same values in every release (this is release {self.release}). Values that change are "
            "not protected."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        most = np.maximum.reduceat(counts.counts, counts.indptr[:-1])
        return np.where(most == 1, np.diff(counts.indptr), 0).astype(np.float64)

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        verdict, holds = super()._judge(groups, judged)
        return (verdict if self.release == 1 else verdict.by_construction()), holds
