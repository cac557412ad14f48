"""Differentially private sums under a privacy filter: noise by OpenDP, a budget that is charged before it is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import FloatIn, OneOf, require
from discreet.guarantees import DifferentialPrivacy
from discreet.guarantees.constructed import ConstructedGuarantee
from discreet.output.audit.auditor import BUDGET_SPENT, AnswerPlan, Audit, Auditor, Denied, Question, set_key
from discreet.output.audit.bounds import require_between, require_bounds
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn

_GRID = 1 << 20
"""Into how many steps the distance of the bounds is cut; noise is drawn on whole steps."""
_LARGE = math.log(9)
"""The budget above which even odds may become nine in ten."""


@public
@dataclass(frozen=True)
class PrivateAnswers(Auditor):
    """Answers sums and averages with noise, until the privacy budget is spent.

    Two tables are neighbors if one record's value differs; the public columns count as known, so counts are exact. The
    bounds' distance is cut into 2**20 steps, and noise is drawn on whole steps by OpenDP's discrete mechanisms, so that
    no rounding of floating-point numbers reveals data. Groups of one statement are disjoint and cost one question.
    A question about the same set is answered from the log, at no cost.

    Parameters
    ----------
    epsilon
        The whole budget. All sensitive columns share it.
    low
        The least value of the sensitive columns.
    high
        The largest value of the sensitive columns.
    per_question
        The default cost of a question; a tenth of the budget by default.
    mechanism
        "laplace" adds up epsilons; "gaussian" adds up zero-concentrated privacy losses and promises (epsilon, delta).
    delta
        The delta of the Gaussian mechanism.

    References
    ----------
    R. Rogers, A. Roth, J. Ullman and S. Vadhan, Privacy odometers and filters, 2016.
    J. Whitehouse, A. Ramdas, R. Rogers and Z. S. Wu, Fully-adaptive composition in differential privacy, 2023.
    """

    epsilon: float
    low: float
    high: float
    per_question: float | None = None
    mechanism: Literal["laplace", "gaussian"] = "laplace"
    delta: float = 1e-9

    name: ClassVar[str] = "private"
    aggregates: ClassVar[frozenset[str]] = frozenset({"sum"})
    several: ClassVar[bool] = True
    one_column: ClassVar[bool] = True
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require(self, "epsilon", self.epsilon, FloatIn(0, 1e6, closed="right"))
        require_bounds(self, self.low, self.high)
        require(self, "mechanism", self.mechanism, OneOf(("laplace", "gaussian")))
        require(self, "delta", self.delta, FloatIn(0, 1, closed="neither"))
        require(self, "per_question", self.per_question, FloatIn(1e-6, self.epsilon), OneOf((None,)))

    def _start(
        self, column: SecretColumn, sizes: IntArray, public: Sequence[PublicColumn], shared: Any
    ) -> PrivateAudit:
        return PrivateAudit(self, sizes, shared or self.shared())

    def shared(self) -> Ledger:
        """Return the account that all columns share."""
        return Ledger(self.cost(self.epsilon))

    def epsilon_left(self, shared: Ledger | None) -> float:
        """Return the privacy budget that remains to a history."""
        return self.epsilon_of((shared or self.shared()).left)

    def privacy_loss(self, histories: Sequence[Ledger]) -> tuple[float, float]:
        """Return the epsilon and the delta that the answers of these histories have cost together."""
        spent = sum((ledger.spent for ledger in histories), Fraction(0))
        delta = self.delta if spent and self.mechanism == "gaussian" else 0.0
        return self.epsilon_of(spent), delta

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse a column with values outside the bounds."""
        del public
        require_between(name, column, self.low, self.high)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What whoever makes a vault with these parameters should know: a large budget hides little."""
        if self.epsilon <= _LARGE:
            return ()
        return (
            f"An epsilon of {self.epsilon:g} hides little: once it is spent, a value may be as good as known.",
        )

    def guarantee(self, sensitive: tuple[str, ...]) -> ConstructedGuarantee:
        """Return differential privacy within the budget, for all columns together."""
        del sensitive
        return DifferentialPrivacy(self.epsilon, self.delta if self.mechanism == "gaussian" else 0.0)

    def price(self, epsilon: float | None) -> float | None:
        """Return what a question costs."""
        if epsilon is None:
            return self.per_question if self.per_question is not None else self.epsilon / 10
        require("ask", "epsilon", epsilon, FloatIn(1e-6, self.epsilon))
        return float(epsilon)

    def cost(self, epsilon: float) -> Fraction:
        """Return what an epsilon takes from the budget: itself, or the rho whose conversion at delta it is."""
        if self.mechanism == "laplace":
            return Fraction(repr(float(epsilon)))
        log = math.log(1 / self.delta)
        # The inverse of epsilon = rho + 2 √(rho · log(1 / delta)).
        rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
        return Fraction(rho)

    def epsilon_of(self, cost: Fraction) -> float:
        """Return the epsilon that a part of the budget buys."""
        if self.mechanism == "laplace" or cost <= 0:
            return float(cost)
        rho = float(cost)
        return rho + 2 * math.sqrt(rho * math.log(1 / self.delta))


@dataclass
class Ledger:
    """The budget of one history and what is left of it."""

    whole: Fraction
    spent: Fraction = Fraction(0)

    @property
    def left(self) -> Fraction:
        """What is left."""
        return self.whole - self.spent


@dataclass(frozen=True)
class _Drawn:
    epsilon: float
    value: Fraction


class PrivateAudit(Audit):
    """The state of ``PrivateAnswers`` over one column."""

    answers_kept = True

    def __init__(self, auditor: PrivateAnswers, sizes: IntArray, ledger: Ledger) -> None:
        self.auditor, self.ledger = auditor, ledger
        self.sizes = np.asarray(sizes, np.int64)
        self.drawn: dict[bytes, _Drawn] = {}

    def decide(self, question: Question) -> AnswerPlan | Denied:
        """Return the plan of a question that the budget covers, or the denial; the state does not change."""
        cost = self._cost(question)
        # Decided by the budget and by which sets were asked before, never by a value.
        if cost > self.ledger.left:
            return Denied(BUDGET_SPENT)
        return AnswerPlan(question, cost)

    def answer(self, plan: AnswerPlan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Charge the question, draw noise for the sets that have no answer yet, and return the noisy sums."""
        question = plan.question
        epsilon = question.epsilon or 0.0
        released = [
            self._released(members, truth, epsilon)
            for members, truth in zip(question.sets, truths, strict=True)
        ]
        self.restore(question, released)
        return tuple(released)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        epsilon = question.epsilon or 0.0
        self.ledger.spent += self._cost(question)
        for members, value in zip(question.sets, released or (), strict=True):
            if value is not None and self._known(members, epsilon) is None:
                self.drawn[self._key(members)] = _Drawn(epsilon, Fraction(value))

    def disclosed(self) -> NoReturn:
        """Refuse: noisy answers settle no value, and may still make one as good as certain."""
        raise ParameterError(
            "Noisy answers are not judged by the values they disclose; DifferentialPrivacy judges them."
        )

    def _cost(self, question: Question) -> Fraction:
        """Return what a question costs: nothing if all its sets were answered at least as precisely before."""
        epsilon = question.epsilon or 0.0
        if all(self._known(members, epsilon) or not self.sizes[members].any() for members in question.sets):
            return Fraction(0)
        return self.auditor.cost(epsilon)

    def _known(self, members: BoolArray, epsilon: float) -> _Drawn | None:
        drawn = self.drawn.get(self._key(members))
        return drawn if drawn is not None and drawn.epsilon >= epsilon else None

    def _key(self, members: BoolArray) -> bytes:
        return set_key(members, self.sizes)

    def _released(self, members: BoolArray, truth: Fraction | None, epsilon: float) -> Fraction | None:
        if truth is None:
            return None
        drawn = self._known(members, epsilon)
        if drawn is not None:
            return drawn.value
        low, high = Fraction(self.auditor.low), Fraction(self.auditor.high)
        step, offset = (high - low) / _GRID, low * int(self.sizes[members].sum())
        return offset + step * noisy(self.auditor, round((truth - offset) / step), epsilon)


def noisy(auditor: PrivateAnswers, steps: int, epsilon: float) -> int:
    """Return a whole number with noise; changing one record moves it by at most the grid and one for rounding."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    # One step more than the bounds are apart: the sum is rounded
    # to the grid, which can move it by half a step each way.
    distance = _GRID + 1
    limit = float(auditor.cost(epsilon))
    make = dp.m.make_laplace if auditor.mechanism == "laplace" else dp.m.make_gaussian
    scale = distance / limit if auditor.mechanism == "laplace" else distance / math.sqrt(2 * limit)
    mechanism = make(*space, scale=scale)
    while mechanism.map(distance) > limit:
        # The map of the mechanism is rounded upward, so a scale at the limit may just exceed it.
        scale *= 1 + 1e-12
        mechanism = make(*space, scale=scale)
    return int(mechanism(steps))
