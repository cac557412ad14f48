"""The gate alone: every statement it takes is answered. For comparison with an auditor, never for a vault on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.core.arrays import IntArray
from discreet.output.audit.auditor import Audit, Auditor, Denied, Plan, Question
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn
from discreet.output.audit.row_space import RowSpace


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

    def decide(self, question: Question) -> Plan | Denied:
        """Allow the question."""
        space = self._space
        if question.aggregate == "sum":
            for members in question.sets:
                space = space.with_set(members, self._sizes)
        return Plan(question, space)

    def answer(self, plan: Plan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Return the truth."""
        self._space = plan.state
        return tuple(truths)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Take a question of the log over."""
        plan = self.decide(question)
        assert isinstance(plan, Plan)
        self.answer(plan, released or ())

    def disclosed(self) -> int:
        """Return how many records' values the answered sums determine."""
        return self._space.exposed_records()
