"""Auditing maxima and minima by simulatable auditing (Kenthapadi, Mishra & Nissim 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
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
)
from discreet.output.audit.columns import PublicColumn, SecretColumn

_WITNESSES = 2


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

    def over(
        self,
        column: SecretColumn,
        *,
        sizes: IntArray | None = None,
        public: Sequence[PublicColumn] = (),
        shared: Any = None,
    ) -> ExtremaAudit:
        """Return the state of this auditor before any question about a column."""
        del public, shared
        return ExtremaAudit(self, column.sizes if sizes is None else sizes)

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse a column of equal values that is declared to have none."""
        del public
        if self.distinct and not column.distinct:
            raise SchemaError(f"The column {name!r} has equal values, but is declared to have none.")


@dataclass(frozen=True)
class _Known:
    """One answered question: which extreme, its value, and the set as it was asked."""

    aggregate: str
    value: Fraction
    members: BoolArray


class ExtremaAudit(Audit):
    """The state of an ``ExtremaAuditor`` over one column."""

    answers_kept: ClassVar[bool] = True

    def __init__(self, auditor: ExtremaAuditor, sizes: IntArray) -> None:
        self.auditor = auditor
        self.sizes = np.asarray(sizes, np.int64)
        self.known: tuple[_Known, ...] = ()

    def decide(self, question: Question) -> Plan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""
        [members] = question.sets
        if self.sizes[members].sum() < self.auditor.minimum_set_size:
            return Denied(SMALL_SET)
        if not self.sizes[members].any() or self._repeats(question.aggregate, members):
            return Plan(question, None)
        values = sorted({one.value for one in self.known})
        for candidate in _candidates(values):
            asked = _Known(question.aggregate, candidate, members)
            if _safe((*self.known, asked), self.sizes, distinct=self.auditor.distinct) is False:
                return Denied(WOULD_DISCLOSE)
        return Plan(question, None)

    def answer(self, plan: Plan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Remember the true extreme, and return it."""
        self.restore(plan.question, truths)
        return tuple(truths)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        [members], [value] = question.sets, released or [None]
        if value is not None and not self._repeats(question.aggregate, members):
            self.known = (*self.known, _Known(question.aggregate, value, members))

    def disclosed(self) -> int:
        """Return for how many records the answers settle a value: bounds that meet, and extremes of one record."""
        atoms, weights = _atoms(self.known, self.sizes)
        low, high = _bounds(self.known, atoms, len(weights))
        settled = {int(atom) for atom in np.flatnonzero(low == high)}
        for _, able in _clauses(self.known, atoms, low, high):
            if weights[able].sum() == 1:
                settled.update(np.flatnonzero(able & (weights > 0)).tolist())
        return int(weights[sorted(settled)].sum())

    def _repeats(self, aggregate: str, members: BoolArray) -> bool:
        held = members & (self.sizes > 0)
        return any(
            one.aggregate == aggregate and (held == (one.members & (self.sizes > 0))).all()
            for one in self.known
        )


def _candidates(values: Sequence[Fraction]) -> Iterator[Fraction]:
    """Yield each earlier answer, a value between any two neighbors, and one beyond either end."""
    if not values:
        yield Fraction(0)
        return
    yield values[0] - 1
    for low, high in zip(values, [*values[1:], values[-1] + 2], strict=True):
        yield low
        yield (low + high) / 2


def _safe(known: Sequence[_Known], sizes: IntArray, *, distinct: bool) -> bool | None:
    """Whether answers leave every value open; None if no data could have given them."""
    atoms, weights = _atoms(known, sizes)
    low, high = _bounds(known, atoms, len(weights))
    if (low > high).any():
        return None
    clauses = list(_clauses(known, atoms, low, high))
    merged = _merged(known, clauses)
    met = low == high
    if any(not able.any() for _, able in clauses):
        return None
    if distinct and (len(merged) > len(_answers(known)) or (np.bincount(low[met], weights[met]) > 1).any()):
        return None
    return not met.any() and _can_witness(merged, weights)


def _atoms(known: Sequence[_Known], sizes: IntArray) -> tuple[list[BoolArray], IntArray]:
    """Return every answered set over atoms (records in the same sets), and the atoms' sizes."""
    held = sizes > 0
    stacked = np.array([one.members[held] for one in known], np.bool_).reshape(len(known), int(held.sum()))
    labels = np.zeros(stacked.shape[1], np.int64)
    for row in stacked:
        _, labels = np.unique(labels * 2 + row, return_inverse=True)
    _, first = np.unique(labels, return_index=True)
    weights = np.bincount(labels, sizes[held], len(first)).astype(np.int64)
    return [row[first] for row in stacked], weights


def _bounds(known: Sequence[_Known], atoms: Sequence[BoolArray], n: int) -> tuple[IntArray, IntArray]:
    """Return the lower and upper bound of every atom, as places among the answers."""
    places = _places(known)
    low, high = np.full(n, -1, np.int64), np.full(n, len(places), np.int64)
    for one, members in zip(known, atoms, strict=True):
        place = places[one.value]
        if one.aggregate == "max":
            high[members] = np.minimum(high[members], place)
        else:
            low[members] = np.maximum(low[members], place)
    return low, high


def _clauses(
    known: Sequence[_Known], atoms: Sequence[BoolArray], low: IntArray, high: IntArray
) -> Iterator[tuple[str, BoolArray]]:
    """Yield for every answer its kind, and the atoms whose records may attain it."""
    places = _places(known)
    for one, members in zip(known, atoms, strict=True):
        bound = high if one.aggregate == "max" else low
        yield one.aggregate, members & (bound == places[one.value])


def _places(known: Sequence[_Known]) -> dict[Fraction, int]:
    return {value: place for place, value in enumerate(sorted({one.value for one in known}))}


def _answers(known: Sequence[_Known]) -> list[tuple[str, Fraction]]:
    """Return the different answers, maxima and minima apart."""
    return list(dict.fromkeys((one.aggregate, one.value) for one in known))


def _merged(known: Sequence[_Known], clauses: Sequence[tuple[str, BoolArray]]) -> list[tuple[str, BoolArray]]:
    """Join answers that agree: if all values differ, one record attains them all."""
    together: dict[tuple[str, Fraction], list[BoolArray]] = {one: [] for one in _answers(known)}
    for one, (aggregate, able) in zip(known, clauses, strict=True):
        together[aggregate, one.value].append(able)
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
