"""Auditing partial disclosure: no value may be confined to too narrow an interval (Li, Wang & Jajodia 2002)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import FloatIn, require
from discreet.output.audit.auditor import (
    WOULD_DISCLOSE,
    Audit,
    Auditor,
    Bound,
    Denied,
    Plan,
    Question,
    set_key,
    split_atoms,
)
from discreet.output.audit.bounds import require_between, require_bounds
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn

_MARGIN = 1e-6
"""How much wider than ``width`` an interval must be, and how far inside its ends an answer is exact, for rounding."""
_SLACK = 1e-10
_MOST_ATOMS = 200


@public
@dataclass(frozen=True)
class IntervalAuditor(Auditor):
    """Answers sums and averages as long as every value could still be anywhere in an interval of ``width``.

    The values are between public bounds. What the answers leave possible is a polytope over atoms (records
    that were in the same sets). The answers for which every record keeps the width form an interval, whose ends are
    found by linear programs without looking at the true answer. An answer inside it is exact, one at or beyond its
    ends is released as an inequality. A question is denied where the interval is empty, or where there are more atoms
    than the programs can handle.

    Parameters
    ----------
    low, high
        The bounds of the column.
    width
        The narrowest interval to which a value may be confined.

    Examples
    --------
    >>> audit = IntervalAuditor(low=0, high=100, width=20).over(SecretColumn.of([50, 60, 70]))
    >>> pair = np.array([True, True, False])
    >>> audit.ask(Question("sum", (pair,)), [Fraction(110)])
    (Fraction(110, 1),)

    References
    ----------
    Y. Li, L. Wang, X. S. Wang and S. Jajodia, Auditing interval-based inference, 2002.
    """

    low: float
    high: float
    width: float

    name: ClassVar[str] = "interval"
    aggregates: ClassVar[frozenset[str]] = frozenset({"sum"})

    def __post_init__(self) -> None:
        require_bounds(self, self.low, self.high)
        require(
            self, "width", self.width, FloatIn(0, (self.high - self.low) / (1 + _MARGIN), closed="neither")
        )

    def _start(self, sizes: IntArray, public: Sequence[PublicColumn], shared: Any) -> IntervalAudit:
        return IntervalAudit(self, sizes)

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse a column with values outside the bounds."""
        del public
        require_between(name, column, self.low, self.high)


@dataclass(frozen=True)
class _State:
    """Atoms, and the released inequalities over them: matrix @ atoms <= most, in shares of the bounds' distance."""

    labels: IntArray
    sizes: IntArray
    matrix: FloatArray
    most: FloatArray

    def split(self, members: BoolArray, element_sizes: IntArray) -> tuple[_State, FloatArray]:
        """Split the atoms that a set cuts, and return the set over the new atoms."""
        labels, found, sizes = split_atoms(self.labels, members, element_sizes)
        return _State(labels, sizes, self.matrix[:, found // 2], self.most), (found % 2).astype(np.float64)

    def with_bounds(self, vector: FloatArray, least: float | None, most: float | None) -> _State:
        """Return the state with a sum bounded."""
        rows, limits = [], []
        slack = _SLACK * max(1.0, float(self.sizes @ vector))
        if most is not None:
            rows, limits = [vector], [most + slack]
        if least is not None:
            rows, limits = [*rows, -vector], [*limits, slack - least]
        return _State(self.labels, self.sizes, np.vstack([self.matrix, *rows]), np.append(self.most, limits))


@dataclass(frozen=True)
class _Allowed:
    least: float
    most: float
    below: bool
    above: bool


class IntervalAudit(Audit):
    """The state of an ``IntervalAuditor`` over one column."""

    answers_kept: ClassVar[bool] = True

    def __init__(self, auditor: IntervalAuditor, sizes: IntArray) -> None:
        self.auditor = auditor
        self.element_sizes = np.asarray(sizes, np.int64)
        labels = np.where(self.element_sizes > 0, 0, -1)
        total = self.element_sizes[self.element_sizes > 0].sum()
        self.released: dict[bytes, Any] = {}
        self.state = _State(labels, np.array([total]), np.zeros((0, 1)), np.zeros(0))

    def decide(self, question: Question) -> Plan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""
        [members] = question.sets
        if not self.element_sizes[members].any() or set_key(members, self.element_sizes) in self.released:
            return Plan(question, None)
        state, vector = self.state.split(members, self.element_sizes)
        if state.sizes.size > _MOST_ATOMS:
            return Denied(WOULD_DISCLOSE)
        low, high = (_extreme(state, vector, sign) for sign in (1, -1))
        near = _MARGIN * max(1.0, float(state.sizes @ vector))
        width = self.auditor.width / (self.auditor.high - self.auditor.low)
        least, most = low, high
        for atom in range(state.sizes.size):
            found = _keeping(state, vector, atom, width * (1 + _MARGIN))
            if found is None:
                return Denied(WOULD_DISCLOSE)
            least, most = max(least, found[0]), min(most, found[1])
        if high - low <= near:
            return Plan(question, _Allowed(low, high, below=False, above=False))
        below, above = least > low + near, most < high - near
        least, most = least + near * below, most - near * above
        if least >= most:
            return Denied(WOULD_DISCLOSE)
        return Plan(question, _Allowed(least, most, below, above))

    def answer(self, plan: Plan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Return the sum inside the safe interval, and an inequality at or beyond its ends."""
        allowed, [truth], [members] = plan.state, truths, plan.question.sets
        if allowed is None or truth is None:
            return (self.released.get(set_key(members, self.element_sizes)),)
        count = int(self.element_sizes[members].sum())
        share = self._share(truth, count)
        released: Any = truth
        if allowed.below and share <= allowed.least:
            released = Bound("at most", math.nextafter(self._total(allowed.least, count), math.inf))
        elif allowed.above and share >= allowed.most:
            released = Bound("at least", math.nextafter(self._total(allowed.most, count), -math.inf))
        self.restore(plan.question, (released,))
        return (released,)

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        [members], [value] = question.sets, released or [None]
        key = set_key(members, self.element_sizes)
        if value is None or key in self.released:
            return
        self.released[key] = value
        state, vector = self.state.split(members, self.element_sizes)
        count = int(self.element_sizes[members].sum())
        bound = value if isinstance(value, Bound) else None
        share = self._share(Fraction(bound.value if bound else value), count)
        self.state = state.with_bounds(
            vector,
            None if bound and bound.relation == "at most" else share,
            None if bound and bound.relation == "at least" else share,
        )

    def disclosed(self) -> int:
        """Return how many records' values the answers confine to less than the width."""
        width = self.auditor.width / (self.auditor.high - self.auditor.low)
        confined = 0
        for atom, size in enumerate(self.state.sizes.tolist()):
            unit = np.zeros(self.state.sizes.size)
            unit[atom] = 1
            high, low = _extreme(self.state, unit, -1), _extreme(self.state, unit, 1)
            if min(1.0, high) - max(0.0, low - (size - 1)) < width:
                confined += size
        return confined

    def _share(self, total: Fraction, count: int) -> float:
        low, high = Fraction(self.auditor.low), Fraction(self.auditor.high)
        return float((total - low * count) / (high - low))

    def _total(self, share: float, count: int) -> float:
        return self.auditor.low * count + (self.auditor.high - self.auditor.low) * share


def _extreme(state: _State, vector: FloatArray, sign: int) -> float:
    """Return the least (sign 1) or the most (sign -1) that a sum over atoms may be."""
    found = _solved(sign * vector, state.matrix, state.most, np.column_stack([0 * state.sizes, state.sizes]))
    return 0.0 if found is None else sign * found


def _keeping(state: _State, vector: FloatArray, atom: int, width: float) -> tuple[float, float] | None:
    """Return the least and the most that a sum may be while a record of the atom keeps the width.

    Two points of the polytope have the same sum, and the record's values in them are the width apart. The variables are
    both points' atoms and the record's two values.
    """
    n, size = state.sizes.size, int(state.sizes[atom])
    none = np.zeros((len(state.matrix), n))
    two = np.zeros((len(state.matrix), 2))
    matrix = np.block([[state.matrix, none, two], [none, state.matrix, two]])
    above, below, apart = np.zeros((3, 2 * n + 2))
    above[2 * n], above[atom] = 1, -1
    below[n + atom], below[2 * n + 1] = 1, -1
    apart[2 * n], apart[2 * n + 1] = -1, 1
    matrix = np.vstack([matrix, above, below, apart])
    most = np.concatenate([state.most, state.most, [0.0, size - 1.0, -width]])
    equal = np.concatenate([vector, -vector, [0.0, 0.0]])
    limits = np.concatenate([state.sizes, state.sizes, [1, 1]]).astype(np.float64)
    ranges = np.column_stack([np.zeros(limits.size), limits])
    goal = np.concatenate([vector, np.zeros(n + 2)])
    least, largest = (_solved(sign * goal, matrix, most, ranges, equal) for sign in (1, -1))
    return None if least is None or largest is None else (least, -largest)


def _solved(
    goal: FloatArray, matrix: FloatArray, most: FloatArray, ranges: Any, equal: FloatArray | None = None
) -> float | None:
    """Return the least value of a linear program, by HiGHS; None if nothing is feasible."""
    from scipy.optimize import linprog

    found: Any = linprog(
        goal,
        A_ub=matrix if len(matrix) else None,
        b_ub=most if len(matrix) else None,
        A_eq=None if equal is None else equal[None],
        b_eq=None if equal is None else [0.0],
        bounds=ranges,
        method="highs",
    )
    return float(found.fun) if found.status == 0 else None
