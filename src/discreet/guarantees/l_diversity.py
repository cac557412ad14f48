"""l-diversity: every class holds l well-represented sensitive values (Machanavajjhala et al. 2006).

Null is a value like any other. With several columns each column must be diverse on its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.guarantee import TOLERANCE, ColumnNames, Guarantee, Relation, SensitiveGuarantee
from discreet.core.params import POSITIVE, Constraints, FloatIn, IntIn
from discreet.core.tables.groups import Groups, SensitiveCounts

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

    @property
    def bound(self) -> float:
        """The bound l."""
        return float(self.l)

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
        return math.ceil(self.l * (1.0 - 2.0 * TOLERANCE))

    @property
    def bound(self) -> float:
        """The bound l."""
        return float(self.l)

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail, however it is divided: the entropy is concave."""
        entropy = math.log(self.l) - 2 * TOLERANCE
        if entropy <= TOLERANCE:
            return np.zeros(groups.n_groups)
        share = np.clip(1 - np.log(self.measure(groups)) / entropy - TOLERANCE, 0.0, 1.0)
        return np.where(groups.sizes < self.smallest, groups.sizes, share * groups.sizes)

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

    @property
    def bound(self) -> float:
        """The bound c."""
        return float(self.c)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"In every class the most frequent value of {self._where()} occurs less than {self.c:g} times "
            f"as often as all values from the {ordinal(self.l)} most frequent on."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        start = counts.indptr[:-1]
        ranked = _descending(counts)
        rank = np.arange(ranked.size) - start[counts.group]
        tail = np.add.reduceat(np.where(rank >= self.l - 1, ranked, 0), start)
        with np.errstate(divide="ignore"):
            return ranked[start] / tail


def ordinal(rank: int) -> str:
    """Write 1 as 1st, 2 as 2nd and so on."""
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _descending(counts: SensitiveCounts) -> IntArray:
    """Sort the counts inside every class, largest first."""
    if not counts.counts.size:
        return counts.counts
    width = counts.counts.max() + 1
    end = (counts.group + 1) * width
    return np.asarray(end - np.sort(end - counts.counts))
