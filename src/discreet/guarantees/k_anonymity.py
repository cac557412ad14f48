"""k-anonymity (Samarati 2001; Sweeney 2002), (alpha, k)-anonymity (Wong et al. 2006), and k of a random sample."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
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


@public
@dataclass(frozen=True, repr=False)
class SampledPrivacy(Guarantee):
    """Differential privacy of a table that was sampled at random and then generalized, as `SafePub` makes it.

    What is released is at most e^epsilon times likelier for one value of a record than for another, but for a
    probability of delta. Every published class has at least k of the sampled rows, where k follows from epsilon and
    delta. That is what rows show. That they are a random sample, and that no row decided how they were generalized, the
    releaser alone knows: the verdict is by construction, and claimed for others.

    Parameters
    ----------
    epsilon
        The bound on the logarithm of that ratio, for the sample and the choice of levels together.
    delta
        The probability with which the bound may fail; far below one in the number of rows.
    search
        The share of epsilon that the search for levels spends; 0 where levels are set.

    References
    ----------
    N. Li, W. Qardaji, D. Su: On sampling, anonymization, and differential privacy. ASIACCS 2012.

    R. Bild, K. Kuhn, F. Prasser: SafePub: a truthful data anonymization algorithm with strong privacy guarantees.
    PoPETs 2018(1).
    """

    epsilon: float
    delta: float = 1e-6
    search: float = 0.1
    is_sampled: bool = field(default=False, init=False, compare=False)

    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "sampled rows in a class"
    constraints: ClassVar[Constraints] = {
        "epsilon": FloatIn(0.0, 20.0, closed="right"),
        "delta": FloatIn(0.0, 1.0, closed="neither"),
        "search": FloatIn(0.0, 1.0, closed="left"),
    }

    @classmethod
    def probes(cls, column: object = None, population: object = None) -> Iterator[tuple[str, Guarantee]]:
        """Iterate over nothing: no table shows how it was sampled."""
        del column, population
        yield from ()

    def of_sample(self) -> SampledPrivacy:
        """Return the guarantee of a table that was sampled for it; only `SafePub` does that."""
        bound = copy.copy(self)
        object.__setattr__(bound, "is_sampled", True)
        return bound

    @property
    def size(self) -> SampleSize:
        """The share of the rows that is drawn, and the k of its classes."""
        return SampleSize.of(self.epsilon * (1 - self.search), self.delta)

    @property
    def bound(self) -> float:
        """The k."""
        return float(self.size.k)

    @property
    def smallest(self) -> int:
        """The bound k."""
        return self.size.k

    @property
    def not_shown(self) -> str:  # type: ignore[override]  # a property of the class elsewhere
        """Why rows alone cannot show the guarantee."""
        return "the files cannot show it: that the rows are a random sample only the releaser knows"

    def measure(self, groups: Groups) -> FloatArray:
        """Count the rows of every class; rows that SafePub did not sample keep nothing."""
        if not self.is_sampled:
            raise SchemaError(
                f"{self!r} rests on a random sample, which no other method takes and no table shows: publish with "
                "SafePub."
            )
        return groups.sizes.astype(np.float64)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        certain = 1 / (1 + math.exp(-self.epsilon))
        return (
            f"Whatever was believed of a record's values at even odds, what is released raises to "
            f"{100 * certain:.3g} % at the most, but for a probability of {self.delta:g}: rows are a random sample, "
            f"and each is like at least {self.smallest - 1} others."
        )

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        verdict, holds = super()._judge(groups, judged)
        return verdict.by_construction(), holds


@dataclass(frozen=True)
class SampleSize:
    """The share beta of the rows that is drawn, and the k that classes of the sample need."""

    beta: float
    k: int

    @staticmethod
    def of(epsilon: float, delta: float) -> SampleSize:
        """Return the largest share and the least k for tables that differ in the values of one row.

        Of the published theorem, rows are added or removed. One whose values change is removed and added: that costs
        twice the epsilon, and 1 + e^epsilon times the delta.

        >>> SampleSize.of(2.0, 1e-6).k == SampleSize.of_added(1.0, 1e-6 / (1 + math.e)).k
        True
        """
        return SampleSize.of_added(epsilon / 2, delta / (1 + math.exp(epsilon / 2)))

    @staticmethod
    @cache
    def of_added(epsilon: float, delta: float) -> SampleSize:
        """Return the largest share, 1 - e^-epsilon, and the least k for tables with one row more, as in the paper.

        ARX takes a k that is higher by one.
        """
        low, high = 0, 1
        while _sampling_delta(epsilon, high) >= delta:
            low, high = high, 2 * high
        # The delta never rises with k: at low it is too high, and at high it is not.
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _sampling_delta(epsilon, middle) >= delta else (low, middle)
        return SampleSize(-math.expm1(-epsilon), high)


def _sampling_delta(epsilon: float, k: int) -> float:
    """Return the delta of classes of k and more in a sample of a share 1 - e^-epsilon (Bild et al. 2018, theorem 5).

    A class of n rows, of which j are drawn, is more than e^epsilon times likelier than with one row less where j is
    above gamma n. The delta is the largest probability of that over all n at which it can be published. These fall
    below the Chernoff bound e^-n(gamma ln(gamma / beta) - (gamma - beta)), so that the search over n ends.
    """
    from scipy.special import betainc

    beta = -math.expm1(-epsilon)
    gamma = 1 - (1 - beta) * math.exp(-epsilon)
    rate = gamma * math.log(gamma / beta) - (gamma - beta)
    largest, start = 0.0, max(math.ceil(k / gamma - 1 - 1e-9), 1)
    while True:
        n = np.arange(start, start + 1024)
        # The probability of more than j of n draws is an incomplete beta function.
        j = np.floor(gamma * n * (1 - 1e-12))
        tails = np.where(j >= n, 0.0, betainc(j + 1, np.maximum(n - j, 1), beta))
        largest = max(largest, float(tails.max()))
        start += n.size
        if math.exp(-rate * start) <= largest:
            return largest * (1 + 1e-9)
