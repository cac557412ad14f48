"""Attacks on one's own vault, beside the same data behind the gate alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import DiscreetError
from discreet.core.params import unknown
from discreet.core.rng import RandomState, generator
from discreet.measure.queries.attacks import ATTACKS
from discreet.measure.queries.target import QueryAttack, QueryTarget
from discreet.output.audit.auditor import AnswerPlan, Audit, Auditor, Denied, QueryError, Question
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn
from discreet.output.audit.row_space import RowSpace
from discreet.output.audit.vault import Vault


@dataclass(frozen=True)
class Unaudited(Auditor):
    """Answers everything exactly, and keeps account of the sums it has disclosed."""

    name: ClassVar[str] = "none"
    aggregates: ClassVar[frozenset[str]] = frozenset({"sum", "min", "max"})
    several: ClassVar[bool] = True

    def _start(
        self, column: SecretColumn, sizes: IntArray, public: Sequence[PublicColumn], shared: Any
    ) -> _Unaudited:
        return _Unaudited(sizes)


class _Unaudited(Audit):
    def __init__(self, sizes: IntArray) -> None:
        self._sizes, self._space = sizes, RowSpace.over(sizes)

    def decide(self, question: Question) -> AnswerPlan | Denied:
        """Allow the question."""
        space = self._space
        if question.aggregate == "sum":
            for members in question.sets:
                space = space.with_set(members, self._sizes)
        return AnswerPlan(question, space)

    def answer(self, plan: AnswerPlan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Return the truth."""
        self._space = plan.state
        return tuple(truths)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Take a question of the log over."""
        plan = self.decide(question)
        assert isinstance(plan, AnswerPlan)
        self.answer(plan, released or ())

    def disclosed(self) -> int:
        """Return how many records' values the answered sums determine."""
        return self._space.exposed_records()


@dataclass(frozen=True)
class Attacked:
    """What one attack came to, against the vault's auditor and against the gate alone."""

    attack: str
    column: str
    targets: int
    audited: QueryAttack
    unaudited: QueryAttack
    pinned: int
    pinned_unaudited: int

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data for JSON, without any claimed value."""
        return {
            "attack": self.attack,
            "column": self.column,
            "targets": self.targets,
            "asked": self.audited.asked,
            "answered": self.audited.answered,
            "pinned": self.pinned,
            "pinned_with_the_gate_alone": self.pinned_unaudited,
        }


def attack(
    vault: Vault,
    *,
    attacks: Sequence[str] | None = None,
    column: str | None = None,
    random_state: RandomState = None,
) -> list[Attacked]:
    """Run the attacks on copies of a vault with an empty history; its own log is untouched.

    Parameters
    ----------
    vault : Vault
        The vault.
    attacks : sequence of str, optional
        Which attacks; all by default.
    column : str, optional
        The sensitive column to attack; the first by default.
    random_state : None, int or Generator
        What the attackers draw from.
    """
    for name in attacks or ():
        if name not in ATTACKS:
            raise unknown("attack", "attacks", name, ATTACKS)
    chosen = column or vault.config.sensitive[0]
    if chosen not in vault.config.sensitive:
        raise unknown("attack", "column", chosen, vault.config.sensitive)
    if not vault.config.public:
        raise DiscreetError("The vault has no public columns, so that no record can be singled out.")
    public, truth = _records(vault, chosen)
    # One seed for both runs: the same attack meets the vault with its auditor and without.
    seed = int(generator(random_state).integers(1 << 31))
    return [_outcome(vault, name, chosen, public, truth, seed) for name in attacks or ATTACKS]


def _outcome(
    vault: Vault, name: str, column: str, public: dict[str, list[Any]], truth: Any, seed: int
) -> Attacked:
    results = []
    for auditor in (None, Unaudited()):
        with vault.trial(auditor) as trial:
            target = QueryTarget(lambda sql, trial=trial: _number(trial, sql), public, column)  # type: ignore[misc]
            results.append(ATTACKS[name](target, random_state=seed))
    audited, unaudited = results
    pinned, alone = (_pinned(result, truth, _margin(vault, column, truth)) for result in results)
    return Attacked(name, column, audited.n_targets, audited, unaudited, pinned, alone)


def _margin(vault: Vault, column: str, truth: FloatArray) -> float:
    """Return how near to a value a claim must come to find it.

    From exact answers a value follows exactly, but for rounding. With noise, a claim within half a step is the value
    once it is rounded; without a step, one within half the least distance of two values singles it out.
    """
    values = np.unique(truth[np.isfinite(truth)])
    rounding = 1e-6 * float(np.ptp(values)) + 1e-9 * float(np.abs(values).max()) if values.size else 0.0
    if vault.auditor.exact:
        return rounding
    secret = vault.holdings.secret[column]
    if not secret.floating:
        return float(secret.unit) / 2
    return float(np.diff(values).min()) / 2 if values.size > 1 else rounding


def _pinned(result: QueryAttack, truth: FloatArray, margin: float) -> int:
    return sum(bool(abs(claim - truth[record]) <= margin) for record, claim in result.claims.items())


def _number(vault: Vault, sql: str) -> float | None:
    try:
        answer = vault.ask(sql)
    except QueryError:
        return None
    if isinstance(answer, Denied):
        return None
    value = answer.rows[0][0]
    return value if isinstance(value, int | float) else None


def _records(vault: Vault, column: str) -> tuple[dict[str, list[Any]], Any]:
    """Return every record's public values, and its sensitive one where the record is alone in its element.

    Other records are not singled out by any attack.
    """
    holdings = vault.holdings
    rows = holdings.layout.rows
    public = {
        column.name: [column.values[code] for code in column.codes[rows].tolist()]
        for column in holdings.public
    }
    secret = holdings.secret[column]
    truth = np.array([float(secret.unit * secret.largest[element]) for element in rows.tolist()])
    # Infinitely far from any claim, so that these records are never counted as found.
    truth[secret.sizes[rows] != 1] = np.inf
    return public, truth
