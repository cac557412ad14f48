"""Auditing maxima and minima by simulatable auditing (Kenthapadi, Mishra & Nissim 2005)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.params import IntIn, OneOf, require
from discreet.output.audit.auditor import (
    SMALL_SET,
    WOULD_DISCLOSE,
    AnswerPlan,
    Audit,
    Auditor,
    Bound,
    Denied,
    Question,
    set_key,
    split_atoms,
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

# With a single record left that may attain an answer, its value would be known.
_WITNESSES = 2


class _Answer(NamedTuple):
    """An extreme, or an inequality about it where some record need not attain the value."""

    aggregate: str
    value: Fraction
    attained: bool


_Answers = Sequence[_Answer]


@public
@dataclass(frozen=True)
class ExtremaAuditor(Auditor):
    """Answers maxima and minima as long as no possible answer could determine a record's value.

    Before the true answer is looked at, every answer that the earlier ones leave possible is tried: each earlier
    answer and each declared bound, a value between any two of them, and one beyond them where there is no bound. If
    for any of them a record's value could be determined, the question is denied. So a denial depends on earlier
    answers alone.

    An answered maximum bounds its records from above, and some record attains it; minima likewise. A question is safe
    if every earlier answer keeps two records that may attain it, no record being counted for both a maximum and a
    minimum, and no record's bounds meet. For maxima alone this is the published condition. With both, whether a value
    is determined is a hard problem, and this condition may deny more than needed. An attacker who knows that all values
    differ learns no more, since answers that agree must keep two records in common.

    A maximum at the least possible value would be everyone's. So a maximum within one step of ``low`` is released as
    "at most" that, and a minimum within one step of ``high`` as "at least".

    Parameters
    ----------
    minimum_set_size
        Sets of fewer records are denied.
    distinct
        Whether everyone knows that all values differ. Otherwise the minimum of a set whose maximum is known is always
        denied, since the two could be equal, and so could all its values. Values are then taken from a continuum: a
        column of whole numbers or decimals is refused, and bounds and step are not needed.
    low
        The least value of the sensitive columns that everyone may know, if there is one.
    high
        The largest value of the sensitive columns that everyone may know, if there is one.
    step
        The number that all values are multiples of, which everyone may know; values are rounded to it.

    Examples
    --------
    >>> audit = ExtremaAuditor(low=0).over(SecretColumn.of(range(10)))
    >>> audit.ask(Question("max", (np.arange(10) < 10,)), [Fraction(9)])
    (Fraction(9, 1),)
    >>> audit.ask(Question("max", (np.arange(10) < 9,)), [Fraction(8)])
    Denied(reason='the answer, together with earlier ones, could disclose a value')

    References
    ----------
    K. Kenthapadi, N. Mishra and K. Nissim, Simulatable auditing, 2005.
    """

    minimum_set_size: int = 5
    distinct: bool = False
    low: float | None = None
    high: float | None = None
    step: float | None = None

    name: ClassVar[str] = "extrema"
    aggregates: ClassVar[frozenset[str]] = frozenset({"min", "max"})

    def __post_init__(self) -> None:
        require(self, "minimum_set_size", self.minimum_set_size, IntIn(0))
        require(self, "distinct", self.distinct, OneOf((False, True)))
        require_bounds(self, self.low, self.high, both=False)
        require_step(self, self.step)
        if self.distinct and (self.low, self.high, self.step) != (None, None, None):
            raise ParameterError(
                "The 'distinct' parameter of ExtremaAuditor takes values from a continuum, without low, high and step."
            )

    def _start(
        self, column: SecretColumn, sizes: IntArray, public: Sequence[PublicColumn], shared: Any
    ) -> ExtremaAudit:
        domain = Domain(decimal(self.low), decimal(self.high), column.unit)
        return ExtremaAudit(self, sizes, domain)

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse a column that does not have what is declared of it, and one that seems to have undeclared bounds."""
        del public
        if self.distinct:
            if not column.distinct:
                raise SchemaError(f"The column {name!r} has equal values, but is declared to have none.")
            if not column.floating or column.unit == 1:
                raise SchemaError(
                    f"The column {name!r} has whole numbers or decimals. Where all of them differ, those between two "
                    "close answers could be counted, so it cannot be declared to have no equal values."
                )
            return
        require_exact(name, column)
        if self.low is None and self.high is None:
            require_unbounded(name, column)
        require_between(name, column, decimal(self.low), decimal(self.high))


@dataclass(frozen=True)
class _State:
    """Atoms (records that were in the same sets), and the answered sets over them with what was answered."""

    labels: IntArray
    weights: IntArray
    members: BoolArray
    answers: tuple[_Answer, ...]

    def with_set(self, members: BoolArray, sizes: IntArray) -> _State:
        """Return the state over the atoms that a set cuts, with the set as the last row, yet without an answer."""
        labels, found, weights = split_atoms(self.labels, members, sizes)
        rows = np.vstack([self.members[:, found // 2], found % 2 == 1])
        return _State(labels, weights, rows, self.answers)


class ExtremaAudit(Audit):
    """The state of an ``ExtremaAuditor`` over one column."""

    answers_kept = True

    def __init__(self, auditor: ExtremaAuditor, sizes: IntArray, domain: Domain) -> None:
        self.auditor, self.domain = auditor, domain
        self.sizes = np.asarray(sizes, np.int64)
        labels = np.where(self.sizes > 0, 0, -1).astype(np.int64)
        total = np.array([self.sizes.sum()] if (self.sizes > 0).any() else [], np.int64)
        self.state = _State(labels, total, np.zeros((0, total.size), np.bool_), ())
        self.answered: set[tuple[str, bytes]] = set()

    def decide(self, question: Question) -> AnswerPlan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""
        [members] = question.sets
        if 0 < self.sizes[members].sum() < self.auditor.minimum_set_size:
            return Denied(SMALL_SET)
        if not self.sizes[members].any() or self._key(question) in self.answered:
            return AnswerPlan(question, None)
        state = self.state.with_set(members, self.sizes)
        for candidate in self._candidates():
            answers = (*state.answers, self._released(question.aggregate, candidate))
            # None is a contradiction: such an answer cannot come, so it forbids nothing.
            if self._safe(answers, state) is False:
                return Denied(WOULD_DISCLOSE)
        return AnswerPlan(question, None)

    def answer(self, plan: AnswerPlan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Remember and return the true extreme, or the inequality at the end of the bounds."""
        [truth] = truths
        if truth is None:
            return (None,)
        answer = self._released(plan.question.aggregate, truth)
        released: Any = truth
        if not answer.attained:
            value = int(answer.value) if answer.value.denominator == 1 else float(answer.value)
            released = Bound("at most" if answer.aggregate == "max" else "at least", value)
        self.restore(plan.question, (released,))
        return (released,)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        [members], [value] = question.sets, released or [None]
        key = self._key(question)
        if value is None or key in self.answered:
            return
        self.answered.add(key)
        state = self.state.with_set(members, self.sizes)
        attained = not isinstance(value, Bound)
        answer = (
            _Answer(question.aggregate, value, True)
            if attained
            else self._end(question.aggregate) or _Answer(question.aggregate, Fraction(value.value), False)
        )
        self.state = replace(state, answers=(*state.answers, answer))

    def disclosed(self) -> int:
        """Return for how many records the answers settle a value; all that they are about, if neither is proved.

        Answers that pass the auditor's condition settle none. Otherwise bounds that meet and extremes of one record do.
        """
        answers, members, weights = self.state.answers, self.state.members, self.state.weights
        if not answers or self._safe(answers, self.state):
            return 0
        low, high = _bounds(answers, members, self.domain)
        settled = low == high
        for _, able in _clauses(answers, members, low, high, self.domain):
            if weights[able].sum() == 1:
                settled = settled | (able & (weights > 0))
        return int(weights[settled].sum()) or int(weights[members.any(axis=0)].sum())

    def _end(self, aggregate: str) -> _Answer | None:
        """Return the inequality that stands for all answers within a step of the bound; None without one."""
        bound = self.domain.least if aggregate == "max" else self.domain.most
        if self.auditor.distinct or bound is None:
            return None
        return _Answer(aggregate, bound + self.domain.step * (1 if aggregate == "max" else -1), False)

    def _released(self, aggregate: str, value: Fraction) -> _Answer:
        """Return what is released if the extreme has some value."""
        end = self._end(aggregate)
        if end is not None and (value <= end.value if aggregate == "max" else value >= end.value):
            return end
        return _Answer(aggregate, value, True)

    def _candidates(self) -> Iterator[Fraction]:
        """Yield trial answers that stand for all: each threshold, one between any two neighbors, one beyond each end.

        Thresholds are the answers of all sets, also of those that share no record with the question, the bounds of the
        column, and where inequalities begin. They suffice: for two trial answers between the same neighbors there is an
        increasing map of the numbers onto themselves that takes one to the other and leaves every threshold where it
        is. It takes the tables that agree with all answers and the one trial answer to those that agree with the
        other. So the same records are determined by both, and both are contradictions, or none is. At a threshold
        itself that fails: an answer equal to another set's can contradict it, where all values differ, while those on
        both sides of it do not. A bound is a threshold like any other, since the map must not lead beyond it; there
        is no possible answer on its far side, and none is tried there.
        """
        least, most = self.domain.least, self.domain.most
        ends = [end.value for end in (self._end("max"), self._end("min")) if end is not None]
        bounds = [bound for bound in (least, most) if bound is not None]
        values = sorted({answer.value for answer in self.state.answers} | {*ends, *bounds})
        if not values:
            yield Fraction(0)
            return
        if least is None:
            yield values[0] - self.domain.step
        for low, high in itertools.pairwise(values):
            yield low
            # Any number between the neighbors stands for all of them, so it need not be a possible value.
            yield (low + high) / 2
        yield values[-1]
        if most is None:
            yield values[-1] + self.domain.step

    def _safe(self, answers: _Answers, state: _State) -> bool | None:
        """Whether answers leave every value open; None if they contradict each other."""
        low, high = _bounds(answers, state.members, self.domain)
        if (low > high).any():
            return None
        clauses = list(_clauses(answers, state.members, low, high, self.domain))
        if any(not able.any() for _, able in clauses):
            return None
        merged = _merged(clauses)
        met = low == high
        # Two more contradictions where all values differ: one record would have to attain answers that share
        # none, or more than one record would be confined to the same value.
        if self.auditor.distinct and (
            len(merged) > len({answer for answer, _ in clauses})
            or (np.bincount(low[met], state.weights[met]) > 1).any()
        ):
            return None
        return not met.any() and _can_witness(merged, state.weights)

    def _key(self, question: Question) -> tuple[str, bytes]:
        return question.aggregate, set_key(question.sets[0], self.sizes)


def _bounds(answers: _Answers, members: BoolArray, domain: Domain) -> tuple[IntArray, IntArray]:
    """Return the lower and upper bound of every atom, as ranks among the answers and the bounds of the column."""
    ranks = _ranks(answers, domain)
    low = np.full(members.shape[1], -1 if domain.least is None else ranks[domain.least], np.int64)
    high = np.full(members.shape[1], len(ranks) if domain.most is None else ranks[domain.most], np.int64)
    for answer, inside in zip(answers, members, strict=True):
        if answer.aggregate == "max":
            high[inside] = np.minimum(high[inside], ranks[answer.value])
        else:
            low[inside] = np.maximum(low[inside], ranks[answer.value])
    return low, high


def _clauses(
    answers: _Answers, members: BoolArray, low: IntArray, high: IntArray, domain: Domain
) -> Iterator[tuple[_Answer, BoolArray]]:
    """Yield every answer that some record attains, and the atoms whose records may."""
    ranks = _ranks(answers, domain)
    for answer, inside in zip(answers, members, strict=True):
        if answer.attained:
            # A record whose bound is below the maximum, by another answer, cannot attain it.
            limits = high if answer.aggregate == "max" else low
            yield answer, inside & (limits == ranks[answer.value])


def _ranks(answers: _Answers, domain: Domain) -> dict[Fraction, int]:
    ends = {end for end in (domain.least, domain.most) if end is not None}
    return {value: rank for rank, value in enumerate(sorted({answer.value for answer in answers} | ends))}


def _merged(clauses: Sequence[tuple[_Answer, BoolArray]]) -> list[tuple[str, BoolArray]]:
    """Join answers that agree: if all values differ, one record attains them all."""
    together: dict[_Answer, list[BoolArray]] = {}
    for answer, able in clauses:
        together.setdefault(answer, []).append(able)
    merged = []
    for answer, several in together.items():
        shared = np.logical_and.reduce(several)
        merged += [(answer.aggregate, able) for able in ([shared] if shared.any() else several)]
    return merged


def _can_witness(clauses: Sequence[tuple[str, BoolArray]], weights: IntArray) -> bool:
    """Whether two records can be set aside for every answer, none for both a maximum and a minimum.

    Atoms that may attain only maxima or only minima serve those. Of the others, large ones serve both, and the
    records of small ones are dealt out one by one, to the answer with the fewest to choose from first.
    """
    wanted = {
        side: np.any(
            [able for kind, able in clauses if kind == side] or [np.zeros(weights.size, np.bool_)], axis=0
        )
        for side in ("max", "min")
    }
    both = wanted["max"] & wanted["min"]
    free = np.where(both & (weights < 2 * _WITNESSES), weights, 0)
    served = {
        side: np.where(
            both, np.where(weights >= 2 * _WITNESSES, _WITNESSES, 0), np.where(wanted[side], weights, 0)
        )
        for side in ("max", "min")
    }
    # Greedy, and no maximum matching: it may find too few witnesses
    # and deny needlessly, and never the other way around.
    for side, able in sorted(clauses, key=lambda one: int(weights[one[1]].sum())):
        missing = _WITNESSES - int(served[side][able].sum())
        for atom in np.flatnonzero(able & (free > 0)):
            if missing <= 0:
                break
            taken = min(missing, int(free[atom]))
            free[atom] -= taken
            served[side][atom] += taken
            missing -= taken
        if missing > 0:
            return False
    return True
