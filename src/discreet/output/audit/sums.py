"""Auditing sums and averages: no combination of answers may come down to one record (Chin & Ozsoyoglu 1982)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.params import IntIn, OneOf, require
from discreet.output.audit.auditor import (
    OVERLAP,
    SMALL_SET,
    WOULD_DISCLOSE,
    AnswerPlan,
    Audit,
    Auditor,
    Denied,
    Question,
    set_key,
)
from discreet.output.audit.bounds import (
    Domain,
    decimal,
    require_between,
    require_bounds,
    require_exact,
    require_step,
    require_unbounded,
)
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn
from discreet.output.audit.row_space import RowSpace
from discreet.output.audit.space.region import safe_answers
from discreet.output.audit.space.released_sums import ReleasedSums

_MOST_REMEMBERED = 100_000


@public
@dataclass(frozen=True)
class SumAuditor(Auditor):
    """Answers sums and averages as long as they determine no combination of fewer than ``group`` records.

    Records that have been in the same query sets form an atom. A set is denied if the row space of all answered sets
    would then hold a vector that involves fewer than ``group`` records, whatever the answers are.

    Bounds and step of a column are knowledge: a sum of zeros discloses every summand where values are not negative.
    So bounds must be declared where everyone may know them, and answers near the least or the most that is possible
    are released as inequalities. Which ones is found before the true answer is looked at. Without bounds any whole
    number of steps counts as possible for a value, and answers are exact.

    Parameters
    ----------
    group
        The smallest number of records that a combination of answers may involve. Above 2 the search is exact up to
        a limit of steps, beyond which a set is denied.
    minimum_set_size
        Sets of fewer records are denied.
    max_overlap
        Sets that share more records than this with a different answered set are denied; by default there is no limit.
    low
        The least value of the sensitive columns that everyone may know, if there is one.
    high
        The largest value of the sensitive columns that everyone may know, if there is one.
    step
        The number that all values are multiples of, which everyone may know; values are rounded to it. Without
        it, whole numbers and decimals are taken as they are, and floating-point numbers are refused.

    Examples
    --------
    Ten records; the sum of all and the sum of the first nine would determine the tenth.

    >>> from discreet.output.audit.gate.columns import SecretColumn
    >>> audit = SumAuditor(low=0).over(SecretColumn.of(range(10)))
    >>> everyone, nine = np.arange(10) < 10, np.arange(10) < 9
    >>> audit.ask(Question("sum", (everyone,)), [Fraction(45)])
    (Fraction(45, 1),)
    >>> audit.ask(Question("sum", (nine,)), [Fraction(36)])
    Denied(reason='the answer, together with earlier ones, could disclose a value')

    References
    ----------
    F. Chin and G. Ozsoyoglu, Auditing and inference control in statistical databases, 1982.
    K. Kenthapadi, N. Mishra and K. Nissim, Simulatable auditing, 2005.
    """

    group: int = 5
    minimum_set_size: int = 5
    max_overlap: int | None = None
    low: float | None = None
    high: float | None = None
    step: float | None = None

    name: ClassVar[str] = "sum"
    aggregates: ClassVar[frozenset[str]] = frozenset({"sum"})
    several: ClassVar[bool] = True
    follows_updates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(self, "group", self.group, IntIn(2, 100))
        require(self, "minimum_set_size", self.minimum_set_size, IntIn(0))
        require(self, "max_overlap", self.max_overlap, IntIn(0), OneOf((None,)))
        require_bounds(self, self.low, self.high, both=False)
        require_step(self, self.step)

    def _start(
        self, column: SecretColumn, sizes: IntArray, public: Sequence[PublicColumn], shared: Any
    ) -> SumAudit:
        if self.low is None and self.high is None:
            return SumAudit(self, sizes)
        domain = Domain(decimal(self.low), decimal(self.high), column.unit)
        return SumAudit(self, sizes, domain)

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse floating-point numbers without a step, undeclared bounds, and values outside declared ones."""
        del public
        require_exact(name, column)
        if self.low is None and self.high is None:
            require_unbounded(name, column)
        require_between(name, column, decimal(self.low), decimal(self.high))


@dataclass(frozen=True)
class _State:
    space: RowSpace
    answered: tuple[bytes, ...]
    """Every answered set as packed bits, where overlaps are limited."""


class SumAudit(Audit):
    """The state of a ``SumAuditor`` over one column.

    The row space only grows, so a set that was denied stays denied, and one that is spanned stays spanned; both are
    remembered.
    """

    def __init__(
        self,
        auditor: SumAuditor,
        sizes: IntArray,
        domain: Domain | None = None,
        *,
        prime: int | None = None,
    ) -> None:
        self.auditor = auditor
        self.answers_kept = domain is not None
        self.sizes = np.asarray(sizes, np.int64)
        self.state = _State(RowSpace.over(self.sizes, prime), ())
        self.sums = None if domain is None else ReleasedSums(domain, self.sizes)
        self._denied: set[bytes] = set()
        self._spanned: set[bytes] = set()

    def decide(self, question: Question) -> AnswerPlan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""
        state = self.state
        # Sets of one statement are judged in turn, each after those
        # before it: together they could disclose what none does alone.
        for members in question.sets:
            reason = self._refusal(state, members)
            if reason:
                return Denied(reason)
            key = set_key(members, self.sizes)
            if key in self._denied:
                return Denied(WOULD_DISCLOSE)
            if key in self._spanned:
                state = self._with(state, state.space, members)
                continue
            grown = state.space.with_set(members, self.sizes)
            if grown is not state.space and grown.exposes(self.auditor.group):
                # Denied for its own sake, and not because of sets
                # before it in the same question: this alone stays true.
                if state is self.state:
                    _remember(self._denied, key)
                return Denied(WOULD_DISCLOSE)
            if grown is self.state.space:
                _remember(self._spanned, key)
            state = self._with(state, grown, members)
        if self.sums is not None and self.sums.withheld(question.sets, safe_answers):
            return Denied(WOULD_DISCLOSE)
        return AnswerPlan(question, state)

    def answer(self, plan: AnswerPlan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Take the plan's state over, and return the true sums, or inequalities where bounds are known."""
        self.state = plan.state
        if self.sums is None:
            return tuple(truths)
        return tuple(
            None if truth is None else self.sums.answer(members, truth, safe_answers)
            for members, truth in zip(plan.question.sets, truths, strict=True)
        )

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        for members, value in zip(question.sets, released or (), strict=False):
            if self.sums is not None:
                self.sums.restore(members, value)
        for members in question.sets:
            grown = self.state.space.with_set(members, self.sizes)
            self.state = self._with(self.state, grown, members)

    def disclosed(self) -> int:
        """Return for how many records the log settles a value, recomputed exactly."""
        by_bounds = 0 if self.sums is None else self.sums.disclosed()
        return max(self.state.space.exposed_records(), by_bounds)

    def carry(self, origins: IntArray, sizes: IntArray) -> None:
        """Move to a new version of the data; overlaps are counted from there on."""
        space = self.state.space.carried(origins, sizes, self.sizes)
        if self.sums is not None:
            self.sums.carry(origins, sizes)
        self.sizes = np.asarray(sizes, np.int64)
        self.state = _State(space, ())
        self._denied.clear()
        self._spanned.clear()

    def _refusal(self, state: _State, members: Any) -> str | None:
        if 0 < self.sizes[members].sum() < self.auditor.minimum_set_size:
            return SMALL_SET
        if self.auditor.max_overlap is None:
            return None
        for packed in state.answered:
            earlier = np.unpackbits(np.frombuffer(packed, np.uint8), count=members.size).astype(np.bool_)
            if (earlier != members).any() and self.sizes[earlier & members].sum() > self.auditor.max_overlap:
                return OVERLAP
        return None

    def _with(self, state: _State, space: RowSpace, members: Any) -> _State:
        if self.auditor.max_overlap is None:
            return _State(space, ())
        packed = np.packbits(members).tobytes()
        answered = state.answered if packed in state.answered else (*state.answered, packed)
        return _State(space, answered)


def _remember(keys: set[bytes], key: bytes) -> None:
    if len(keys) >= _MOST_REMEMBERED:
        # Forgetting costs time only: what is not remembered is judged again.
        keys.clear()
    keys.add(key)
