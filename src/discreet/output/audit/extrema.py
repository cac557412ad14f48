"""Auditing maxima and minima by simulatable auditing (Kenthapadi, Mishra & Nissim 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import IntIn, OneOf, require
from discreet.output.audit.auditor import (
    SMALL_SET,
    WOULD_DISCLOSE,
    Audit,
    Auditor,
    Denied,
    Plan,
    Question,
    set_key,
    split_atoms,
)
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn

_WITNESSES = 2
_Answers = Sequence[tuple[str, Fraction]]


@public
@dataclass(frozen=True)
class ExtremaAuditor(Auditor):
    """Answers maxima and minima as long as no possible answer could determine a record's value.

    Before the true answer is looked at, every answer that the earlier ones leave possible is tried: each earlier
    answer, a value between any two of them, and one beyond them. If for any of them a record's value could be
    determined, the question is denied. So a denial depends on earlier answers alone.

    An answered maximum bounds its records from above, and some record attains it; minima likewise. A question is safe
    if every earlier answer keeps two records that may attain it, no record being counted for both a maximum and a
    minimum, and no record's bounds meet. For maxima alone this is the published condition. With both, whether a value
    is determined is a hard problem, and this condition may deny more than needed. An attacker who knows that all values
    differ learns no more, since answers that agree must keep two records in common.

    Parameters
    ----------
    minimum_set_size
        Sets of fewer records are denied.
    distinct
        Whether everyone knows that all values differ. Otherwise the minimum of a set whose maximum is known is
        always denied, since the two could be equal, and so could all its values.

    Examples
    --------
    >>> audit = ExtremaAuditor().over(SecretColumn.of([10, 20, 30, 40]))
    >>> audit.ask(Question("max", (np.array([True] * 4),)), [Fraction(40)])
    (Fraction(40, 1),)
    >>> audit.ask(Question("max", (np.array([True, True, True, False]),)), [Fraction(30)])
    Denied(reason='the answer, together with earlier ones, could disclose a value')

    References
    ----------
    K. Kenthapadi, N. Mishra and K. Nissim, Simulatable auditing, 2005.
    """

    minimum_set_size: int = 0
    distinct: bool = False

    name: ClassVar[str] = "extrema"
    aggregates: ClassVar[frozenset[str]] = frozenset({"min", "max"})

    def __post_init__(self) -> None:
        require(self, "minimum_set_size", self.minimum_set_size, IntIn(0))
        require(self, "distinct", self.distinct, OneOf((False, True)))

    def _start(self, sizes: IntArray, public: Sequence[PublicColumn], shared: Any) -> ExtremaAudit:
        return ExtremaAudit(self, sizes)

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse a column of equal values that is declared to have none."""
        del public
        if self.distinct and not column.distinct:
            raise SchemaError(f"The column {name!r} has equal values, but is declared to have none.")


@dataclass(frozen=True)
class _State:
    """Atoms (records that were in the same sets), and the answered sets over them with what was answered."""

    labels: IntArray
    weights: IntArray
    members: BoolArray
    answers: tuple[tuple[str, Fraction], ...]

    def with_set(self, members: BoolArray, sizes: IntArray) -> _State:
        """Return the state over the atoms that a set cuts, with the set as the last row, yet without an answer."""
        labels, found, weights = split_atoms(self.labels, members, sizes)
        rows = np.vstack([self.members[:, found // 2], found % 2 == 1])
        return _State(labels, weights, rows, self.answers)


class ExtremaAudit(Audit):
    """The state of an ``ExtremaAuditor`` over one column."""

    answers_kept: ClassVar[bool] = True

    def __init__(self, auditor: ExtremaAuditor, sizes: IntArray) -> None:
        self.auditor = auditor
        self.sizes = np.asarray(sizes, np.int64)
        labels = np.where(self.sizes > 0, 0, -1).astype(np.int64)
        total = np.array([self.sizes.sum()] if (self.sizes > 0).any() else [], np.int64)
        self.state = _State(labels, total, np.zeros((0, total.size), np.bool_), ())
        self.answered: set[tuple[str, bytes]] = set()

    def decide(self, question: Question) -> Plan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""
        [members] = question.sets
        if self.sizes[members].sum() < self.auditor.minimum_set_size:
            return Denied(SMALL_SET)
        if not self.sizes[members].any() or self._key(question) in self.answered:
            return Plan(question, None)
        state = self.state.with_set(members, self.sizes)
        touching = (state.members[:-1] & state.members[-1]).any(axis=1)
        values = {value for (_, value), near in zip(state.answers, touching, strict=True) if near}
        for candidate in _candidates(sorted(values)):
            answers = (*state.answers, (question.aggregate, candidate))
            if _safe(answers, state, distinct=self.auditor.distinct) is False:
                return Denied(WOULD_DISCLOSE)
        return Plan(question, None)

    def answer(self, plan: Plan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Remember the true extreme, and return it."""
        self.restore(plan.question, truths)
        return tuple(truths)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        [members], [value] = question.sets, released or [None]
        key = self._key(question)
        if value is None or key in self.answered:
            return
        self.answered.add(key)
        state = self.state.with_set(members, self.sizes)
        self.state = replace(state, answers=(*state.answers, (question.aggregate, value)))

    def disclosed(self) -> int:
        """Return for how many records the answers settle a value: bounds that meet, and extremes of one record."""
        weights = self.state.weights
        low, high = _bounds(self.state.answers, self.state.members)
        settled = low == high
        for _, able in _clauses(self.state.answers, self.state.members, low, high):
            if weights[able].sum() == 1:
                settled = settled | (able & (weights > 0))
        return int(weights[settled].sum())

    def _key(self, question: Question) -> tuple[str, bytes]:
        return question.aggregate, set_key(question.sets[0], self.sizes)


def _candidates(values: Sequence[Fraction]) -> Iterator[Fraction]:
    """Yield each earlier answer, a value between any two neighbors, and one beyond either end."""
    if not values:
        yield Fraction(0)
        return
    yield values[0] - 1
    for low, high in zip(values, [*values[1:], values[-1] + 2], strict=True):
        yield low
        yield (low + high) / 2


def _safe(answers: _Answers, state: _State, *, distinct: bool) -> bool | None:
    """Whether answers leave every value open; None if they contradict each other."""
    low, high = _bounds(answers, state.members)
    if (low > high).any():
        return None
    clauses = list(_clauses(answers, state.members, low, high))
    merged = _merged(answers, clauses)
    met = low == high
    if any(not able.any() for _, able in clauses):
        return None
    if distinct and (
        len(merged) > len(set(answers)) or (np.bincount(low[met], state.weights[met]) > 1).any()
    ):
        return None
    return not met.any() and _can_witness(merged, state.weights)


def _bounds(answers: _Answers, members: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the lower and upper bound of every atom, as places among the answers."""
    places = _places(answers)
    low = np.full(members.shape[1], -1, np.int64)
    high = np.full(members.shape[1], len(places), np.int64)
    for (aggregate, value), inside in zip(answers, members, strict=True):
        if aggregate == "max":
            high[inside] = np.minimum(high[inside], places[value])
        else:
            low[inside] = np.maximum(low[inside], places[value])
    return low, high


def _clauses(
    answers: _Answers, members: BoolArray, low: IntArray, high: IntArray
) -> Iterator[tuple[str, BoolArray]]:
    """Yield for every answer its kind, and the atoms whose records may attain it."""
    places = _places(answers)
    for (aggregate, value), inside in zip(answers, members, strict=True):
        yield aggregate, inside & ((high if aggregate == "max" else low) == places[value])


def _places(answers: _Answers) -> dict[Fraction, int]:
    return {value: place for place, value in enumerate(sorted({value for _, value in answers}))}


def _merged(answers: _Answers, clauses: Sequence[tuple[str, BoolArray]]) -> list[tuple[str, BoolArray]]:
    """Join answers that agree: if all values differ, one record attains them all."""
    together: dict[tuple[str, Fraction], list[BoolArray]] = {}
    for answer, (_, able) in zip(answers, clauses, strict=True):
        together.setdefault(answer, []).append(able)
    merged = []
    for (aggregate, _), several in together.items():
        shared = np.logical_and.reduce(several)
        merged += [(aggregate, one) for one in ([shared] if shared.any() else several)]
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
