"""Session: one question from statement to answer, in the order that makes it safe to be interrupted anywhere."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast

from discreet.core.arrays import BoolArray
from discreet.output.audit.auditor import (
    Answer,
    AnswerPlan,
    Audit,
    Auditor,
    Bound,
    Denied,
    QueryError,
    Question,
)
from discreet.output.audit.gate.predicates import Selector, kinds
from discreet.output.audit.gate.statement import Declared, Output, Statement, read_statement
from discreet.output.audit.holdings import Holdings, Layout, pack_sets, unpack_sets
from discreet.output.audit.log import Entry, Log, now

_MOST_GROUPS, _MOST_CELLS = 1_000, 200_000_000
_MOST_USER = 200
_AUDITED = {"sum": "sum", "avg": "sum", "min": "min", "max": "max"}
Aggregate = Literal["sum", "min", "max"]


@dataclass(frozen=True)
class _Query:
    """A statement with its query sets: one, or one for each group."""

    statement: Statement
    keys: list[tuple[Any, ...]]
    sets: tuple[BoolArray, ...]
    aggregates: dict[str, Aggregate]


class Session:
    """The auditors of a vault over its columns, by user, and the engine that finds query sets.

    Whoever calls sees to it that one question is judged at a time. Judging may take long; ``gate`` is locked only for
    the moments in which the engine or the log is used. Statements that only count change no auditor and need the gate
    alone, so that they do not wait for a judgment.
    """

    def __init__(
        self, holdings: Holdings, auditor: Auditor, log: Log, *, pooled: bool, timeout: float
    ) -> None:
        self._holdings, self._auditor, self._log = holdings, auditor, log
        self._pooled, self._timeout = pooled, timeout
        self.gate = threading.RLock()
        self._audits: dict[str, dict[str, Audit]] = {}
        self._shared: dict[str, Any] = {}
        self._layouts = [holdings.layout]
        self._engine = Selector(holdings.public, holdings.n_elements, timeout=timeout)
        self._declared = Declared(kinds(holdings.public), tuple(holdings.secret))

    def read(self, sql: str) -> Statement:
        """Return a statement as far as its text alone shows whether it can be answered."""
        return read_statement(sql, self._declared)

    def count(self, sql: str, statement: Statement, *, user: str) -> Answer:
        """Answer a statement that only counts; it is logged, and judged by no auditor."""
        _require_name(user)
        with self.gate:
            query = self._query(statement)
            self._commit(sql, user, query, None, None)
            return self._answer(query, {}, user)

    def ask(self, sql: str, statement: Statement, *, user: str, epsilon: float | None) -> Answer | Denied:
        """Answer a query, or deny it: decide without looking at values, commit, and only then look."""
        _require_name(user)
        with self.gate:
            query = self._query(statement)
        spent = self._auditor.price(epsilon)
        plans: dict[str, AnswerPlan] = {}
        denied: Denied | None = None
        for name, aggregate in query.aggregates.items():
            plan = self._audit(user, name).decide(Question(aggregate, query.sets, spent))
            if isinstance(plan, Denied):
                denied = plan
                break
            plans[name] = plan
        # Durable before any value is looked at: a crash from here on
        # leaves a question that counts, and no answer that does not.
        number = self._commit(sql, user, query, denied, spent)
        if denied is not None:
            return denied
        released = {name: self._settle(user, name, plan, number) for name, plan in plans.items()}
        return self._answer(query, released, user)

    def epsilon_left(self, user: str) -> float | None:
        """Return the privacy budget that remains to a user."""
        return self._auditor.epsilon_left(self._shared.get(self._history(user)))

    def least_epsilon_left(self) -> float | None:
        """Return the privacy budget that remains to the user who spent most."""
        left = [self._auditor.epsilon_left(history) for history in (None, *self._shared.values())]
        return min((budget for budget in left if budget is not None), default=None)

    def disclosures(self) -> dict[str, tuple[int, int]]:
        """Return for each column how many values the log settles for some user, and how many there are."""
        counts = {}
        for name, column in self._holdings.secret.items():
            settled = [audits[name].disclosed() for audits in self._audits.values() if name in audits]
            counts[name] = (max(settled, default=0), int(column.sizes.sum()))
        return counts

    def privacy_loss(self) -> tuple[float, float]:
        """Return the epsilon and the delta that the answers to the user who spent most have cost."""
        losses = [self._auditor.privacy_loss([history]) for history in self._shared.values()]
        return max(losses, default=self._auditor.privacy_loss([]))

    def joint_disclosures(self, entries: Sequence[Entry]) -> dict[str, tuple[int, int]]:
        """Return for each column how many values all users' answers together may settle, and how many there are."""
        together = Session(self._holdings, self._auditor, self._log, pooled=True, timeout=self._timeout)
        try:
            together.restore(entries)
            return together.disclosures()
        finally:
            together.close()

    def joint_privacy_loss(self) -> tuple[float, float]:
        """Return the epsilon and the delta that the answers to all users have cost together."""
        return self._auditor.privacy_loss(list(self._shared.values()))

    def replay(self, entries: Sequence[Entry]) -> None:
        """Bring the auditors to where they were, and answer to the log what was decided but not answered."""
        for number, columns in self.restore(entries).items():
            for name, (query, question) in columns.items():
                self._finish(number, name, query.body["user"], question)

    def restore(self, entries: Sequence[Entry]) -> dict[int, dict[str, tuple[Entry, Question]]]:
        """Bring the auditors to where they were, and return what was decided but not answered."""
        self._layouts = []
        waiting: dict[int, dict[str, tuple[Entry, Question]]] = {}
        for entry in entries:
            if entry.kind == "data":
                self._follow(Layout.unpack(entry.sets))
            elif entry.kind == "query" and entry.body["reason"] is None:
                for name, question in self._questions(entry).items():
                    audit = self._audit(entry.body["user"], name)
                    if audit.answers_kept:
                        # Restored when its answer is met in the log, since later decisions depend on it.
                        # Other auditors need the question alone.
                        waiting.setdefault(entry.number, {})[name] = (entry, question)
                    else:
                        audit.restore(question, None)
            elif entry.kind == "answer":
                query, question = waiting[entry.body["to"]].pop(entry.body["column"])
                released = [_from_plain(value) for value in entry.body["released"]]
                self._audit(query.body["user"], entry.body["column"]).restore(question, released)
        return waiting

    def carry(self, holdings: Holdings) -> None:
        """Move to a new version of the data."""
        self._holdings = holdings
        self._follow(holdings.layout)
        self._engine.close()
        self._engine = Selector(holdings.public, holdings.n_elements, timeout=self._timeout)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def _audit(self, user: str, name: str) -> Audit:
        """Return the auditor of a column for a user, brought through all versions of the data so far."""
        history = self._history(user)
        audits = self._audits.setdefault(history, {})
        if name not in audits:
            first, *later = self._layouts
            shared = self._shared.setdefault(history, self._auditor.shared())
            audit = self._auditor.over(
                self._holdings.secret[name],
                sizes=first.sizes[name],
                public=self._holdings.public,
                shared=shared,
            )
            for layout in later:
                assert layout.origins is not None
                audit.carry(layout.origins[name], layout.sizes[name])
            audits[name] = audit
        return audits[name]

    def _history(self, user: str) -> str:
        return "" if self._pooled else user

    def _follow(self, layout: Layout) -> None:
        for audits in self._audits.values():
            for name, audit in audits.items():
                assert layout.origins is not None
                audit.carry(layout.origins[name], layout.sizes[name])
        self._layouts.append(layout)

    def _query(self, statement: Statement) -> _Query:
        aggregates: dict[str, Aggregate] = {}
        for output in statement.outputs:
            if not _is_audited(output):
                continue
            assert output.column is not None
            audited = _AUDITED[output.function]
            if audited not in self._auditor.aggregates:
                raise QueryError(f"This vault does not answer {output.function.upper()}.")
            if aggregates.setdefault(output.column, cast("Aggregate", audited)) != audited:
                raise QueryError("Query MIN and MAX of a column in two statements.")
        if self._auditor.one_column and len(aggregates) > 1:
            raise QueryError("Aggregate one sensitive column in a statement.")
        members = self._engine.members(statement.where)
        if not statement.group:
            return _Query(statement, [()], (members,), aggregates)
        if aggregates and not self._auditor.several:
            raise QueryError("This vault's auditor decides on one query set at a time; leave out GROUP BY.")
        most = max(1, min(_MOST_GROUPS, _MOST_CELLS // members.size))
        keys, sets = self._holdings.groups(members, statement.group, most=most)
        if len(keys) > most:
            raise QueryError(f"GROUP BY makes more than {most:,} groups.")
        return _Query(statement, keys, tuple(sets), aggregates)

    def _commit(self, sql: str, user: str, query: _Query, denied: Denied | None, spent: float | None) -> int:
        body = {
            "time": now(),
            "user": user,
            "sql": sql,
            "reason": None if denied is None else denied.reason,
            "aggregates": query.aggregates,
            "sets": len(query.sets),
            "epsilon": spent,
        }
        with self.gate:
            return self._log.append("query", body, pack_sets(query.sets))

    def _questions(self, entry: Entry) -> dict[str, Question]:
        n_elements = len(next(iter(self._layouts[-1].sizes.values())))
        sets = unpack_sets(entry.sets, entry.body["sets"], n_elements)
        return {
            name: Question(aggregate, sets, entry.body["epsilon"])
            for name, aggregate in entry.body["aggregates"].items()
        }

    def _settle(self, user: str, name: str, plan: AnswerPlan, number: int) -> tuple[Any, ...]:
        """Look at the truth, and make what is released durable where later decisions depend on it."""
        audit, column = self._audit(user, name), self._holdings.secret[name]
        truths = [column.truth(plan.question.aggregate, members) for members in plan.question.sets]
        released = audit.answer(plan, truths)
        if audit.answers_kept:
            values = [_to_plain(value) for value in released]
            with self.gate:
                self._log.append("answer", {"to": number, "column": name, "released": values})
        return released

    def _finish(self, number: int, name: str, user: str, question: Question) -> None:
        """Answer to the log what a crash cut off; it was never released, so a denial now leaves nothing to do."""
        plan = self._audit(user, name).decide(question)
        if not isinstance(plan, Denied):
            self._settle(user, name, plan, number)

    def _answer(self, query: _Query, released: dict[str, tuple[Any, ...]], user: str) -> Answer:
        outputs = query.statement.outputs
        rows = tuple(
            tuple(self._cell(query, released, output, row) for output in outputs)
            for row in range(len(query.sets))
        )
        left = self.epsilon_left(user)
        return Answer(tuple(output.name for output in outputs), rows, left)

    def _cell(self, query: _Query, released: dict[str, tuple[Any, ...]], output: Output, row: int) -> Any:
        members = query.sets[row]
        if output.function == "group":
            return query.keys[row][query.statement.group.index(cast("str", output.column))]
        if output.column is None:
            return self._holdings.counts(members)
        column = self._holdings.secret[output.column]
        if output.function == "count":
            return column.count(members)
        value = released[output.column][row]
        return _number(value, column.count(members) if output.function == "avg" else None)


def is_judged(statement: Statement) -> bool:
    """Whether a statement has a sum, an average or an extreme, on which an auditor decides."""
    return any(_is_audited(output) for output in statement.outputs)


def _is_audited(output: Output) -> bool:
    return output.function in _AUDITED and output.column is not None


def _require_name(user: str) -> None:
    if len(user) > _MOST_USER:
        raise QueryError(f"A user's name has at most {_MOST_USER} characters.")


def _number(value: Any, divisor: int | None) -> Any:
    """Return a released number as an int or the nearest float; it depends on the exact number alone."""
    if value is None or divisor == 0:
        return None
    if isinstance(value, Bound):
        return value if divisor is None else Bound(value.relation, value.value / divisor)
    exact = Fraction(value) / (divisor or 1)
    if divisor is None and exact.denominator == 1:
        return int(exact)
    try:
        return float(exact)
    except OverflowError:
        return int(exact)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Bound):
        return value.to_dict()
    return None if value is None else str(Fraction(value))


def _from_plain(record: Any) -> Any:
    if isinstance(record, dict):
        [(relation, value)] = record.items()
        return Bound("at most" if relation == "at_most" else "at least", value)
    return None if record is None else Fraction(record)
