"""Auditing partial disclosure: no value may be confined to too narrow an interval (Li, Wang & Jajodia 2002)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import FloatIn, IntIn, require
from discreet.output.audit.auditor import (
    SMALL_SET,
    WOULD_DISCLOSE,
    AnswerPlan,
    Audit,
    Auditor,
    Denied,
    Question,
)
from discreet.output.audit.bounds import (
    Domain,
    decimal,
    require_between,
    require_bounds,
    require_exact,
    require_step,
)
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn
from discreet.output.audit.space.region import ROOM, TOLERANCE, DepthProgram, Depths, Region, dot, solved
from discreet.output.audit.space.released_sums import MOST_ATOMS, Ends, ReleasedSums

_NARROWEST = 1e-6
"""The narrowest width in parts of the bounds' distance; linear programs do not resolve much less."""


@public
@dataclass(frozen=True)
class IntervalAuditor(Auditor):
    """Answers sums and averages as long as every value could still be anywhere in an interval of ``width``.

    The values are multiples of a step between public bounds. What the answers leave possible is a polytope over atoms
    (records that were in the same sets). The answers for which every record keeps the width form an interval. Linear
    programs propose its ends without looking at the true answer, and exact arithmetic certifies them. An answer
    inside it is exact, one at or beyond its ends is released as an inequality. A question is denied where the
    interval is empty, or where more atoms depend on one another than the programs can handle.

    Parameters
    ----------
    low
        The least value of the column.
    high
        The largest value of the column.
    width
        The narrowest interval to which a value may be confined; at least a millionth of the distance of the bounds.
    step
        The number that all values are multiples of, which everyone may know; values are rounded to it. Without
        it, whole numbers and decimals are taken as they are, and floating-point numbers are refused.
    minimum_set_size
        Sets of fewer records are denied.

    Examples
    --------
    >>> audit = IntervalAuditor(low=0, high=100, width=20).over(SecretColumn.of(range(50, 60)))
    >>> half = np.arange(10) < 5
    >>> audit.ask(Question("sum", (half,)), [Fraction(260)])
    (Fraction(260, 1),)

    References
    ----------
    Y. Li, L. Wang, X. S. Wang and S. Jajodia, Auditing interval-based inference, 2002.
    """

    low: float
    high: float
    width: float
    step: float | None = None
    minimum_set_size: int = 5

    name: ClassVar[str] = "interval"
    aggregates: ClassVar[frozenset[str]] = frozenset({"sum"})
    several: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_bounds(self, self.low, self.high)
        distance = self.high - self.low
        require(self, "width", self.width, FloatIn(_NARROWEST * distance, distance, closed="left"))
        require_step(self, self.step)
        require(self, "minimum_set_size", self.minimum_set_size, IntIn(0))

    def _start(
        self, column: SecretColumn, sizes: IntArray, public: Sequence[PublicColumn], shared: Any
    ) -> IntervalAudit:
        return IntervalAudit(self, sizes, Domain(decimal(self.low), decimal(self.high), column.unit))

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse values outside the bounds, floating-point numbers without a step, and steps too coarse."""
        del public
        require_exact(name, column)
        low, high = Fraction(str(self.low)), Fraction(str(self.high))
        require_between(name, column, low, high)
        if high - low < Fraction(str(self.width)) + 4 * column.unit:
            raise SchemaError(
                f"The column {name!r} has too few steps between its bounds for that width. Use a smaller width, or the "
                "boolean auditor for a 0/1 column."
            )


class IntervalAudit(Audit):
    """The state of an ``IntervalAuditor`` over one column."""

    answers_kept = True

    def __init__(self, auditor: IntervalAuditor, sizes: IntArray, domain: Domain) -> None:
        self.auditor, self.sums = auditor, ReleasedSums(domain, sizes)
        self.width = math.ceil(Fraction(str(auditor.width)) / domain.step)

    def decide(self, question: Question) -> AnswerPlan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""
        sums = self.sums
        for members in question.sets:
            if 0 < sums.element_sizes[members].sum() < self.auditor.minimum_set_size:
                return Denied(SMALL_SET)
        return (
            Denied(WOULD_DISCLOSE) if sums.withheld(question.sets, self._ends) else AnswerPlan(question, None)
        )

    def answer(self, plan: AnswerPlan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Return every sum inside the safe interval, and an inequality at or beyond its ends."""
        return tuple(
            None if truth is None else self.sums.answer(members, truth, self._ends)
            for members, truth in zip(plan.question.sets, truths, strict=True)
        )

    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""
        for members, value in zip(question.sets, released or (), strict=True):
            self.sums.restore(members, value)

    def disclosed(self) -> int:
        """Return for how many records no two possible tables are found whose values lie the width apart."""
        confined = 0
        for part, _ in self.sums.parts():
            kernel = part.before if part.sizes.size <= MOST_ATOMS else None
            if kernel is None:
                confined += int(part.sizes.sum())
                continue
            depths = part.reaches(kernel)
            for atom, size in enumerate(part.sizes.tolist()):
                unit = (np.arange(part.sizes.size) == atom).astype(np.int64)
                high, low = (part.extreme(unit, sign, depths) for sign in (-1, 1))
                needed = _needed(self.width, depths[0][atom])
                if high is None or low is None or _apart(part, atom, high, low) < needed:
                    confined += size
        return confined

    def _ends(self, region: Region, vector: IntArray) -> Ends:
        """Return which answers are released as inequalities; None where not even those keep every width.

        An exact answer leaves the kernel of the exact rows and the question, an inequality that of the exact rows
        alone. Points that keep the larger of the two distances serve both.
        """
        before, after = region.before, region.kernel(vector)
        if before is None or after is None:
            return None
        depths = _larger(region.reaches(before), region.reaches(after))
        least, most = Fraction(0), Fraction(int(region.sizes @ vector)) * (region.span or 0)
        for atom in range(region.sizes.size):
            pair = _keeping(region, vector, atom, _needed(self.width, depths[0][atom]), depths)
            if pair is None:
                return None
            # Every record must keep the width for one and the same
            # answer, so the intervals of all are intersected.
            least, most = max(least, pair[0]), min(most, pair[1])
        # So far inside that the verdict, which searches anew, finds points again despite the programs' tolerance.
        room = Fraction(2 * ROOM + 4 * TOLERANCE * float(region.tops()[vector > 0].sum()))
        distance = before.reach(vector)[0][0] + room
        lower, upper = math.ceil(least + distance), math.floor(most - distance)
        return None if lower >= upper else (lower, upper)


def _needed(width: int, reach: Fraction) -> Fraction:
    """Return how far apart a record's values must be in two points, so that they are the width apart in whole ones.

    The atom's sum moves by the reach at most on the way to a whole point, and the record's value by one more step.
    """
    return width + 2 * reach + 2


def _larger(first: Depths, second: Depths) -> Depths:
    return [max(pair) for pair in zip(first[0], second[0], strict=True)], [
        max(pair) for pair in zip(first[1], second[1], strict=True)
    ]


def _apart(region: Region, atom: int, high: Fraction, low: Fraction) -> Fraction:
    """Return how far apart a record's value may be if the sum of its atom is high in one table, and low in another."""
    assert region.span is not None
    others = (int(region.sizes[atom]) - 1) * region.span
    return min(high, Fraction(region.span)) - max(low - others, Fraction(0))


def _keeping(
    region: Region, vector: IntArray, atom: int, needed: Fraction, depths: Depths
) -> tuple[Fraction, Fraction] | None:
    """Return a least and a most that a sum may be while a record of the atom keeps the width, certified exactly.

    Between both ends the points may be mixed, so that it is enough to look at the ends themselves.
    """
    program = DepthProgram.of(region, depths)
    if program is None:
        return None
    corners = []
    for sign in (1, -1):
        pair = _pair(region, program, sign * vector, vector, atom, float(needed))
        points = None if pair is None else [region.deepened(point, depths) for point in pair]
        if points is None or points[0] is None or points[1] is None:
            return None
        corners.append([(dot(vector, point), point[atom]) for point in points if point is not None])
    (upper, lower), (upper_most, lower_most) = corners
    least, most = max(upper[0], lower[0]), min(upper_most[0], lower_most[0])
    if least > most:
        return None
    # The distance is concave along both segments, as a least of linear parts is, so its minimum is at an end.
    for total in (least, most):
        high, low = _between(upper, upper_most, total), _between(lower, lower_most, total)
        if _apart(region, atom, high, low) < needed:
            return None
    return least, most


def _between(start: tuple[Fraction, Fraction], end: tuple[Fraction, Fraction], total: Fraction) -> Fraction:
    """Return the sum of the atom on the way between two points, where the question's sum has some value."""
    if start[0] == end[0]:
        return start[1]
    return start[1] + (end[1] - start[1]) * (total - start[0]) / (end[0] - start[0])


def _pair(
    region: Region, program: DepthProgram, goal: IntArray, vector: IntArray, atom: int, needed: float
) -> tuple[FloatArray, FloatArray] | None:
    """Return two points with one sum of the question, in which a record's values lie far apart, by a linear program.

    The variables are both points' atoms and the record's two values, in parts of their ranges.
    """
    assert region.span is not None
    n, k, span = region.sizes.size, len(region.rows), float(region.span)
    others, scale = (float(region.sizes[atom]) - 1) * span, program.scale
    none, two = np.zeros((k, n)), np.zeros((k, 2))
    matrix = np.block([[program.matrix, none, two], [none, program.matrix, two]])
    above, below, apart, equal = np.zeros((4, 2 * n + 2))
    above[2 * n], above[atom] = 1, -scale[atom] / span
    below[n + atom], below[2 * n + 1] = scale[atom] / span, -1
    apart[2 * n], apart[2 * n + 1] = -1, 1
    # The row that makes both sums equal is scaled to
    # coefficients of at most one, as the tolerance is absolute.
    norm = max(1.0, float((vector * scale).max()))
    equal[:n], equal[n : 2 * n] = vector * scale / norm, -vector * scale / norm
    room = (4 * ROOM + 4 * TOLERANCE * float(scale[atom])) / span
    limits = [*program.limits, *program.limits, 0.0, others / span, -needed / span - room, 0.0]
    point = solved(
        np.concatenate([goal * scale, np.zeros(n + 2)]),
        np.vstack([program.ranges, program.ranges, [[0.0, 1.0], [0.0, 1.0]]]),
        np.vstack([matrix, above, below, apart, equal]),
        np.array(limits),
        np.concatenate([program.exact, program.exact, [False, False, False, True]]),
    )
    return None if point is None else (point[:n] * scale, point[n : 2 * n] * scale)
