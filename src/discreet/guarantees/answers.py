"""Guarantees of answers and synthetic tables: differential privacy (Dwork 2006), and no value disclosed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn, Protocol, runtime_checkable

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.guarantee import Relation
from discreet.core.params import Constraints, FloatIn, InstanceOf, OneOf, require
from discreet.core.release import Release
from discreet.core.verdict import Basis, Verdict
from discreet.guarantees.constructed import ConstructedGuarantee, under_condition

COSTS = "zero_concentrated_costs"
"""Where the evidence of a synthetic table keeps what each of its measurements cost."""
_ORDERS = 1 + np.logspace(-6, 9, 1_501)
"""The orders that are tried. Each of them proves an epsilon, so that a coarse grid is only a little high."""
_STEPS = 60


@runtime_checkable
class BudgetLog(Protocol):
    """Anything that knows what its answers have cost, such as a Vault with ``PrivateAnswers``."""

    @property
    def condition(self) -> str | None:
        """What is assumed of the users where each has a history apart; None where all answers are judged together."""
        ...

    def privacy_loss(self) -> tuple[float, float]:
        """Return the epsilon and the delta that the answers have cost together."""
        ...


@public
@dataclass(frozen=True, repr=False)
class DifferentialPrivacy(ConstructedGuarantee):
    """What is released is at most e^epsilon times likelier for one value of a record than for another.

    It bounds what answers or synthetic rows add to what somebody believed before. It does not say that no value can be
    guessed: with an epsilon of 5 a belief of one half may become 99.3 %.

    Judged from the query log of a vault with ``PrivateAnswers``, by construction: the costs of its answers are added
    up again. Where each user has a history apart, the one that cost most is judged, and the verdict is assumed: it
    holds if users do not pool their answers, since their costs would add up. A synthetic table is judged by what each
    measurement of the original cost.

    Parameters
    ----------
    epsilon
        The bound on the logarithm of that ratio.
    delta
        The probability with which the bound may fail.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet.output.audit import PrivateAnswers, Vault
    >>> staff = pa.table({"name": ["ann", "bob", "eve"], "salary": [10, 20, 30]})
    >>> auditor = PrivateAnswers(epsilon=1, low=0, high=100)
    >>> vault = Vault.in_memory(staff, sensitive=["salary"], public=["name"], auditor=auditor)
    >>> print(DifferentialPrivacy(1).check(vault))
    DifferentialPrivacy(epsilon=1, delta=0.0): by construction (epsilon 0, required <= 1)
    """

    epsilon: float
    delta: float = 0.0

    about: ClassVar[str] = "query log"
    relation: ClassVar[Relation] = "<="
    measured: ClassVar[str] = "epsilon"
    constraints: ClassVar[Constraints] = {"epsilon": FloatIn(0), "delta": FloatIn(0, 1, closed="left")}

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge what answers or the measurements of a synthetic table cost, by construction; refuse anything else."""
        del suppressed
        if isinstance(subject, Release) and COSTS in subject.evidence.details:
            costs: Any = subject.evidence.details[COSTS]
            subject = SpentBudget(costs, self.delta)
        if not isinstance(subject, BudgetLog):
            self._refuse()
        epsilon, delta = subject.privacy_loss()
        verdict = self._found(
            ok=epsilon <= self.epsilon and delta <= self.delta, worst=epsilon, basis=Basis.CONSTRUCTION
        )
        return under_condition(verdict, subject.condition)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        certain = 1 / (1 + math.exp(-min(self.epsilon, 700)))
        but = f", but for a probability of {self.delta:g}" if self.delta else ""
        return (
            f"Whatever was believed of a record's value at even odds, what is released raises to {100 * certain:.3g} % "
            f"at the most{but}."
        )

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            "DifferentialPrivacy is a guarantee about the query log of a vault with PrivateAnswers and about synthetic "
            "tables with the evidence kept by their maker; nothing else can be judged by it."
        )


@runtime_checkable
class QueryLog(Protocol):
    """Anything that knows which queries were answered, such as a Vault."""

    @property
    def condition(self) -> str | None:
        """What is assumed of the users where each has a history apart; None where all answers are judged together."""
        ...

    def disclosures(self) -> Mapping[str, tuple[int, int]]:
        """Return for each sensitive column how many values the answers determine, and how many there are."""
        ...


@public
@dataclass(frozen=True, repr=False)
class NoValueDisclosed(ConstructedGuarantee):
    """The answered queries determine no value of a sensitive column.

    Judged from the query log of a vault, by construction: the answered query sets are put together again, without the
    auditor's own state, and with what is declared of the columns (bounds, step), which an attacker may know. Where
    neither a disclosure nor its absence is proved, the values count as disclosed.

    Where each user has a history apart, each is judged apart, and the verdict is assumed: it holds if users do not pool
    their answers.

    Parameters
    ----------
    of
        The sensitive columns that are judged; None judges all of them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet.output.audit import SumAuditor, Vault
    >>> staff = pa.table({"name": ["ann", "bob", "eve"], "salary": [10, 20, 30]})
    >>> vault = Vault.in_memory(staff, sensitive=["salary"], public=["name"], auditor=SumAuditor(low=0))
    >>> print(NoValueDisclosed().check(vault))
    NoValueDisclosed(): by construction (values disclosed 0, required <= 0)
    """

    of: tuple[str, ...] | None = None

    about: ClassVar[str] = "query log"
    relation: ClassVar[Relation] = "<="
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "values disclosed"

    def __post_init__(self) -> None:
        named: object = self.of
        if isinstance(named, str | list):
            object.__setattr__(self, "of", (named,) if isinstance(named, str) else tuple(named))
        require(self, "of", self.of, InstanceOf((tuple,), "a tuple of column names"), OneOf((None,)))

    @property
    def bound(self) -> float:
        """The most values that may be disclosed: none."""
        return 0.0

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge the query log of a vault, by construction; anything else is refused."""
        del suppressed
        if not isinstance(subject, QueryLog):
            self._refuse()
        disclosures = subject.disclosures()
        names = tuple(disclosures) if self.of is None else self.of
        missing = [name for name in names if name not in disclosures]
        if missing:
            raise SchemaError(
                f"NoValueDisclosed looks at the column {missing[0]!r}, which is not sensitive here."
            )
        disclosed = [disclosures[name][0] for name in names]
        verdict = self._found(
            ok=not any(disclosed),
            worst=float(max(disclosed, default=0)),
            n_groups=len(names),
            n_rows=max((disclosures[name][1] for name in names), default=0),
            failing_groups=sum(count > 0 for count in disclosed),
            failing_rows=sum(disclosed),
            basis=Basis.CONSTRUCTION,
        )
        return under_condition(verdict, subject.condition)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        where = "any sensitive column" if self.of is None else " or ".join(self.of)
        return f"The answered queries together determine nobody's value of {where}."

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            "NoValueDisclosed is a guarantee about the query log of a vault; nothing else can be judged by it."
        )


@dataclass(frozen=True)
class SpentBudget:
    """What a release has cost: the zero-concentrated cost (rho) of each measurement, and the delta of the promise."""

    costs: Sequence[float]
    delta: float
    condition: None = None

    def privacy_loss(self) -> tuple[float, float]:
        """Return the epsilon and the delta of all measurements together; costs are rounded up as they are added."""
        rho = math.nextafter(math.fsum(self.costs), math.inf) if self.costs else 0.0
        return epsilon_of(rho, self.delta), self.delta if rho else 0.0


def epsilon_of(rho: float, delta: float) -> float:
    """Return the epsilon that rho-zCDP promises with a delta (Canonne, Kamath and Steinke 2020, proposition 12).

    It is the least of a rho + ln((a - 1)/a) - ln(delta a)/(a - 1) over the orders a above 1.

    >>> 0 < epsilon_of(0.01, 1e-9) < 0.01 + 2 * math.sqrt(0.01 * math.log(1e9))
    True
    """
    if rho <= 0:
        return 0.0
    if delta <= 0:
        return math.inf
    beyond = _ORDERS - 1
    # Every order has a valid epsilon, so that the least over some of them may be too high and never too low.
    bounds = _ORDERS * rho + np.log1p(-1 / _ORDERS) - (math.log(delta) + np.log(_ORDERS)) / beyond
    return max(float(bounds.min()), 0.0)


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest cost, but for rounding, whose epsilon at a delta is no more than this one.

    >>> rho = rho_of(1.0, 1e-9)
    >>> epsilon_of(rho, 1e-9) <= 1.0 < epsilon_of(rho * 1.001, 1e-9)
    True
    """
    low, high = 0.0, max(epsilon, 1.0)
    while epsilon_of(high, delta) <= epsilon:
        low, high = high, 2 * high
    # The cost at low always keeps the epsilon, that at high never does.
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle, delta) <= epsilon else (low, middle)
    return low
