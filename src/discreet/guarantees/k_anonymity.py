"""k-anonymity (Samarati 2001; Sweeney 2002), and (alpha, k)-anonymity (Wong et al. 2006)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.guarantee import (
    ClassRule,
    ColumnNames,
    Guarantee,
    Relation,
    SensitiveGuarantee,
    failing_share,
)
from discreet.core.params import Constraints, FloatIn, IntIn
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.verdict import Verdict


@public
@dataclass(frozen=True, repr=False)
class KAnonymity(Guarantee):
    """Every class has at least ``k`` rows.

    Parameters
    ----------
    k
        The least number of rows that share all quasi-identifying values.

    References
    ----------
    P. Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.tables.groups import Groups
    >>> print(KAnonymity(3).check(Groups(sizes=np.array([3, 5, 2]))))
    KAnonymity(k=3): broken (class size 2, required >= 3; 1 of 3 classes (2 rows) fail)
    """

    k: int

    monotone: ClassVar[bool] = True
    by_size: ClassVar[bool] = True
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "class size"
    constraints: ClassVar[Constraints] = {"k": IntIn(1)}

    @property
    def smallest(self) -> int:
        """The bound k."""
        return self.k

    def measure(self, groups: Groups) -> FloatArray:
        """Return the size of every class."""
        return groups.sizes.astype(np.float64)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        if self.k == 1:
            return "A row may be the only one with its quasi-identifying values."
        others = "one other" if self.k == 2 else f"{self.k - 1} others"
        return f"Every row shares all quasi-identifying values with at least {others}."


@public
@dataclass(frozen=True, repr=False)
class AlphaKAnonymity(SensitiveGuarantee):
    """Every class has at least ``k`` rows, and no sensitive value has a share above ``alpha`` in it.

    The measure is the largest share; ``holds`` and the verdict ask for both, and the verdict has a part for
    each.

    Parameters
    ----------
    alpha
        The largest share of any value, in (0, 1]; null is a value like any other.
    k
        The least number of rows of a class.
    of
        The sensitive column or columns; None means all.

    References
    ----------
    R. Wong, J. Li, A. Fu, K. Wang: (alpha, k)-anonymity: an enhanced k-anonymity model. KDD 2006.
    """

    alpha: float
    k: int
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    label: ClassVar[str] = "(alpha, k)-anonymity"
    relation: ClassVar[Relation] = "<="
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "largest share of a value"
    constraints: ClassVar[Constraints] = {
        "alpha": FloatIn(0.0, 1.0, closed="right"),
        "k": IntIn(1),
        "of": ColumnNames(),
    }

    @property
    def smallest(self) -> int:
        """The bound k."""
        return self.k

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail, however it is divided: the largest share is convex."""
        share = failing_share(self.measure(groups), self.alpha, 1.0)
        return np.where(groups.sizes < self.k, groups.sizes, share * groups.sizes)

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...]:
        """Return the guarantee as a rule for each column."""
        return tuple(ClassRule("largest share", name, self.alpha) for name in self.columns(sensitive))

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"Every class has at least {self.k} rows, of which at most {self.alpha:.4g} "
            f"(as a share) have the same value of {self._where()}."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        return np.asarray(np.maximum.reduceat(counts.prevalence, counts.indptr[:-1]))

    def _passes(self, measure: FloatArray, groups: Groups) -> BoolArray:
        return super()._passes(measure, groups) & (groups.sizes >= self.k)

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        measure = self.measure(groups)
        holds = self._passes(measure, groups)
        shares = self._verdict(measure, super()._passes(measure, groups), groups, judged)
        sizes, _ = KAnonymity(self.k)._judge(groups, judged)
        verdict = self._verdict(measure, holds, groups, judged)
        return dataclasses.replace(verdict, parts=(sizes, shares)), holds
