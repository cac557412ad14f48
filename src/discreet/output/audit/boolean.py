"""Auditing counts of a 0/1 column over ranges of an ordering column (Kleinberg, Papadimitriou & Raghavan 2003)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import InstanceOf, require
from discreet.kernels import ragged
from discreet.output.audit.auditor import (
    NOT_A_RANGE,
    WOULD_DISCLOSE,
    AnswerPlan,
    Audit,
    Auditor,
    Bound,
    Denied,
    Question,
    set_key,
)
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn


@public
@dataclass(frozen=True)
class BooleanAuditor(Auditor):
    """Answers how many records of a range have a 1, as long as no record's bit is determined.

    Records are ordered by one public column, and a question is about a range of it. The answers bound differences of
    prefix sums, so that what they leave possible is found by shortest paths, exactly. The published auditor denies
    where the true answer would determine a bit, and the denial then reveals something about it. Here the answers that
    would be safe are found without looking: they form an interval. An answer inside it is exact, and one at or beyond
    its ends is released as an inequality, "at most" or "at least" that end. A question is denied where no two answers
    are safe.

    Parameters
    ----------
    order
        The public column that orders the records.

    Examples
    --------
    Of the first four records none has a 1. The answer leaves open whether one has.

    >>> import pyarrow as pa
    >>> from discreet.output.audit import Vault
    >>> people = pa.table({"age": [20, 25, 30, 35, 40, 45, 50, 55], "ill": [0, 0, 0, 0, 1, 1, 0, 1]})
    >>> vault = Vault.in_memory(people, sensitive=["ill"], public=["age"], auditor=BooleanAuditor("age"))
    >>> print(vault.ask("SELECT sum(ill) FROM data").value)
    3
    >>> print(vault.ask("SELECT sum(ill) FROM data WHERE age < 40").value)
    at most 1

    References
    ----------
    J. Kleinberg, C. Papadimitriou and P. Raghavan, Auditing Boolean attributes, 2003.
    """

    order: str

    name: ClassVar[str] = "boolean"
    aggregates: ClassVar[frozenset[str]] = frozenset({"sum"})

    def __post_init__(self) -> None:
        require(self, "order", self.order, InstanceOf((str,), "the name of a public column"))

    def _start(
        self, column: SecretColumn, sizes: IntArray, public: Sequence[PublicColumn], shared: Any
    ) -> BooleanAudit:
        return BooleanAudit(sizes, self._blocks(public))

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse a column that holds anything but 0 and 1."""
        self._blocks(public)
        extremes = [column.unit * extreme for extreme in (*column.largest, *column.smallest)]
        if any(value not in (0, 1) for value in extremes):
            raise SchemaError(
                f"The column {name!r} holds more than 0 and 1, which the boolean auditor needs."
            )

    def _blocks(self, public: Sequence[PublicColumn]) -> IntArray:
        """Return the place of every element in the order."""
        columns = [column for column in public if column.name == self.order]
        if not columns:
            raise SchemaError(f"The ordering column {self.order!r} is not public.")
        [column] = columns
        ordered = sorted(
            range(len(column.values)),
            key=lambda code: (
                (column.values[code] is not None, column.values[code] or 0)
                if column.kind == "number"
                else (column.values[code] is not None, str(column.values[code]))
            ),
        )
        rank = np.empty(len(ordered), np.int64)
        rank[ordered] = np.arange(len(ordered))
        return rank[column.codes]


@dataclass(frozen=True)
class _State:
    """Boundaries in the order, and the largest difference of prefix sums between any two: reach[i, j] >= s_j - s_i."""

    ends: IntArray
    reach: IntArray

    @classmethod
    def over(cls, n: int) -> _State:
        return cls(np.array([0, n]), np.array([[0, n], [0, 0]]))

    def with_end(self, end: int) -> _State:
        """Return the state with one more boundary."""
        at = int(np.searchsorted(self.ends, end))
        if self.ends[at] == end:
            return self
        before, after = end - self.ends[at - 1], self.ends[at] - end
        # A new boundary is reached from its neighbors: prefix sums
        # grow by at most the records between, and never fall.
        into = np.minimum(self.reach[:, at - 1] + before, self.reach[:, at])
        out = np.minimum(self.reach[at - 1], self.reach[at] + after)
        reach = np.insert(np.insert(self.reach, at, into, axis=1), at, np.insert(out, at, 0), axis=0)
        return _State(np.insert(self.ends, at, end), reach)

    def place(self, end: int) -> int:
        return int(np.searchsorted(self.ends, end))

    def at_most(self, a: int, b: int, count: int) -> _State:
        """Return the state with s_b - s_a <= count; with a and b exchanged and a negative count, at least."""
        # The reach is closed under shortest paths, and one new edge
        # is used at most once: a single relaxation closes it again.
        through = self.reach[:, a][:, None] + count + self.reach[b]
        return replace(self, reach=np.minimum(self.reach, through))

    def open_counts(self, a: int, b: int) -> tuple[int, int]:
        """Return the least and the most that s_b - s_a may be so that no bit is determined."""
        lower, upper = np.arange(self.ends.size - 1), np.arange(1, self.ends.size)
        # Between neighboring boundaries there must be room for at least one 1 and for at least one 0.
        needed = 1 - np.diff(self.ends)
        least = max(
            int((1 - self.reach[lower, a] - self.reach[b, upper]).max()),
            int((needed - self.reach[upper, a] - self.reach[b, lower]).max()),
        )
        most = min(
            int((self.reach[lower, b] + self.reach[a, upper] - 1).min()),
            int((self.reach[upper, b] + self.reach[a, lower] - needed).min()),
        )
        return least, most


@dataclass(frozen=True)
class _Allowed:
    """What may be released of a range: the ends of the safe interval, and whether answers beyond them are possible."""

    state: _State
    first: int
    last: int
    least: int
    most: int
    below: bool
    above: bool


class BooleanAudit(Audit):
    """The state of a ``BooleanAuditor`` over one column."""

    answers_kept = True

    def __init__(self, sizes: IntArray, blocks: IntArray) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self.blocks = blocks
        counts = np.bincount(blocks, self.sizes).astype(np.int64)
        self.starts = ragged.bounds(counts)
        self.counts = counts
        self.state = _State.over(int(self.starts[-1]))
        self.released: dict[bytes, Any] = {}

    def decide(self, question: Question) -> AnswerPlan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""
        [members] = question.sets
        ends = self._range(members)
        if ends is None:
            return Denied(NOT_A_RANGE)
        first, last = ends
        if first == last or set_key(members, self.sizes) in self.released:
            return AnswerPlan(question, None)
        state = self.state.with_end(first).with_end(last)
        a, b = state.place(first), state.place(last)
        low, high = -int(state.reach[b, a]), int(state.reach[a, b])
        least, most = state.open_counts(a, b)
        # What is possible at all bounds what is safe.
        least, most = max(low, least), min(high, most)
        # Where low = high the answer is known, and repeating it discloses nothing.
        if low < high and least >= most:
            return Denied(WOULD_DISCLOSE)
        return AnswerPlan(question, _Allowed(state, first, last, least, most, low < least, most < high))

    def answer(self, plan: AnswerPlan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Return the count inside the safe interval, and an inequality at or beyond its ends."""
        allowed, [truth], [members] = plan.state, truths, plan.question.sets
        if allowed is None or truth is None:
            return (self.released.get(set_key(members, self.sizes)),)
        count: Any = int(truth)
        if allowed.below and count <= allowed.least:
            count = Bound("at most", allowed.least)
        elif allowed.above and count >= allowed.most:
            count = Bound("at least", allowed.most)
        self.restore(plan.question, (count,))
        return (count,)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        [members], [count] = question.sets, released or [None]
        ends = self._range(members)
        key = set_key(members, self.sizes)
        if count is None or ends is None or self.released.get(key) == count:
            return
        self.released.setdefault(
            key, count
        )  # to another user another part of the truth may have been released
        state = self.state.with_end(ends[0]).with_end(ends[1])
        a, b = state.place(ends[0]), state.place(ends[1])
        if not isinstance(count, Bound) or count.relation == "at most":
            state = state.at_most(a, b, _whole(count))
        if not isinstance(count, Bound) or count.relation == "at least":
            state = state.at_most(b, a, -_whole(count))
        self.state = state

    def disclosed(self) -> int:
        """Return for how many records the answers settle the bit."""
        sizes = np.diff(self.state.ends)
        at = np.arange(sizes.size)
        most, least = self.state.reach[at, at + 1], -self.state.reach[at + 1, at]
        return int(sizes[(most <= 0) | (least >= sizes)].sum())

    def _range(self, members: BoolArray) -> tuple[int, int] | None:
        """Return where a set begins and ends among the ordered records; None if it is not a range."""
        inside = np.bincount(self.blocks[members], self.sizes[members], self.counts.size).astype(np.int64)
        if ((inside > 0) & (inside < self.counts)).any():
            return None
        chosen = np.flatnonzero(inside)
        if not chosen.size:
            return 0, 0
        first, last = int(self.starts[chosen[0]]), int(self.starts[chosen[-1] + 1])
        return (first, last) if last - first == inside.sum() else None


def _whole(count: Any) -> int:
    return math.floor(count.value if isinstance(count, Bound) else count)
