"""What released sums leave possible where bounds and step of a column are known: whole points of a polytope.

A record's value is a whole number of steps between 0 and ``span``. Records that were in the same released sets form
an atom a, with the sum y_a. Released sums are rows over atoms: exact ones, E y = b, and inequalities, C y <= d.

**Why real arithmetic decides about whole numbers.** Let v_1, ..., v_d be whole vectors that span the kernel of E, and
for a row w let reach(w) = (|w v_1| + ... + |w v_d|) / 2 and move(w) = max |w v_j|. A point p with E p = b is *deep*
if it keeps the distance reach + move from every bound of an atom and from every inequality (and reach + 1 from the
bounds). Then nobody's value is determined:

1. The true y is whole, and y - p is a combination of the v_j. Rounding the coefficients leads from y to a whole y' with
   E y' = b, and |w (y' - p)| <= reach(w) for every w. So y' keeps the distance move from every bound and inequality.
2. So all y' + v_j and y' - v_j are possible as well. A record alone in its atom takes several values there, unless
   the atom is 0 in all v_j, that is, unless its unit vector is in the row space of E, which the auditor denies
   beforehand.
3. A record that shares its atom takes several values in y' already, since y'_a is neither 0 nor the most possible.

In the same way no combination of records is determined that is not in the row space of E. Linear programs propose
points; whether a point is deep is decided in exact arithmetic, so their tolerance can cost an answer and never a
value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray

_MOST_MOVE = 1 << 40
_GRID = 4096
"""Coordinates of proposed points are rounded to multiples of 1 / 4096 steps, to keep fractions short."""
ROOM = 0.25
"""Steps by which a proposed point keeps more distance than needed, for that rounding."""
TOLERANCE = 2e-7
"""How far, in parts of a variable's range, a linear program may leave its constraints: twice HiGHS's default."""
Relation = Literal["exact", "at most", "at least"]
Depths = tuple[list[Fraction], list[Fraction]]
"""A distance from the bounds of every atom, and one from the limit of every row."""


@dataclass(frozen=True)
class Kernel:
    """Whole vectors that span what exact rows leave free, and how to complete a point from its free coordinates."""

    moves: IntArray
    pivots: IntArray
    free: IntArray
    coefficients: Any
    """The reduced rows at the free atoms, the right-hand side last, times ``denominator``."""
    denominator: int

    def reach(self, rows: IntArray) -> tuple[list[Fraction], list[int]]:
        """Return for every row how far rounding may lead, and the longest move."""
        change = np.abs(np.atleast_2d(rows) @ self.moves.T)
        longest = change.max(axis=1, initial=0)
        return [Fraction(int(total), 2) for total in change.sum(axis=1)], [int(most) for most in longest]

    def completed(self, point: FloatArray) -> list[Fraction]:
        """Return the exact point with the (rounded) free coordinates of another, on all exact rows."""
        free = [round(float(value) * _GRID) for value in point[self.free]]
        exact = [Fraction(0)] * point.size
        for atom, value in zip(self.free.tolist(), free, strict=True):
            exact[atom] = Fraction(value, _GRID)
        for atom, row in zip(self.pivots.tolist(), self.coefficients, strict=True):
            rest = sum(int(a) * b for a, b in zip(row[:-1], free, strict=True) if a)
            exact[atom] = Fraction(int(row[-1]) * _GRID - rest, self.denominator * _GRID)
        return exact


@dataclass(frozen=True)
class Region:
    """Atoms and the released rows over them.

    Attributes
    ----------
    sizes : array
        How many records every atom holds.
    span : int or None
        How many steps a value may lie above 0; None without an upper bound.
    rows, limits, exact : array
        The released sums: rows @ y equals the limit where exact, and is at most the limit elsewhere.
    """

    sizes: IntArray
    span: int | None
    rows: IntArray
    limits: tuple[int, ...]
    exact: BoolArray

    @classmethod
    def over(cls, sizes: IntArray, span: int | None) -> Region:
        """Return the region before anything was released."""
        return cls(sizes, span, np.zeros((0, sizes.size), np.int64), (), np.zeros(0, np.bool_))

    def with_sum(self, vector: IntArray, relation: Relation, limit: int) -> Region:
        """Return the region with one more released sum."""
        sign = -1 if relation == "at least" else 1
        return replace(
            self,
            rows=np.vstack([self.rows, sign * vector]),
            limits=(*self.limits, sign * limit),
            exact=np.append(self.exact, relation == "exact"),
        )

    def around(self, vector: IntArray) -> tuple[Region, IntArray]:
        """Return the part of the region that rows connect with a set, and its atoms.

        Nothing else depends on the set, and what is deep in every part is deep.
        """
        inside = vector != 0
        while True:
            near = (self.rows[:, inside] != 0).any(axis=1)
            grown = inside | (self.rows[near] != 0).any(axis=0)
            if (grown == inside).all():
                break
            inside = grown
        atoms = np.flatnonzero(inside)
        limits = tuple(limit for limit, used in zip(self.limits, near, strict=True) if used)
        part = Region(self.sizes[atoms], self.span, self.rows[near][:, atoms], limits, self.exact[near])
        return part, atoms

    def kernel(self, vector: IntArray | None = None) -> Kernel | None:
        """Return the kernel of the exact rows, and of one more; None if its numbers grow too long."""
        from flint import fmpz_mat

        order = np.argsort(-self.sizes, kind="stable")  # large atoms take up what rounding leaves over
        rows = self.rows[self.exact][:, order].tolist()
        sides = [limit for limit, exact in zip(self.limits, self.exact, strict=True) if exact]
        if vector is not None:
            # Any right-hand side will do: the kernel does not depend on it.
            rows, sides = [*rows, vector[order].tolist()], [*sides, 0]
        n = self.sizes.size
        if not rows:
            return Kernel(np.eye(n, dtype=np.int64), np.zeros(0, np.int64), np.arange(n), (), 1)
        table = [[*row, side] for row, side in zip(rows, sides, strict=True)]
        reduced, denominator, rank = fmpz_mat(table).rref()
        matrix = np.array([[int(x) for x in row] for row in reduced.tolist()[:rank]], object)
        pivots = np.array([int(np.flatnonzero(row)[0]) for row in matrix], np.int64)
        # A pivot on the right-hand side: the rows contradict each other.
        if (pivots == n).any():
            return None
        free = np.setdiff1d(np.arange(n), pivots)
        moves = _moves(matrix[:, free], pivots, free, int(denominator), n)
        if moves is None:
            return None
        ordered = np.zeros_like(moves)
        ordered[:, order] = moves
        return Kernel(
            ordered,
            order[pivots],
            order[free],
            np.hstack([matrix[:, free], matrix[:, n:]]),
            int(denominator),
        )

    def implies(self, vector: IntArray) -> bool:
        """Whether the exact rows determine a sum."""
        kernel = self.before
        return kernel is not None and not (kernel.moves @ vector).any()

    @cached_property
    def before(self) -> Kernel | None:
        """The kernel of the exact rows."""
        return self.kernel()

    def certified(self) -> bool:
        """Whether a deep point is found, so that nobody's value is determined."""
        kernel = self.before
        return (
            kernel is not None
            and self.extreme(np.zeros(self.sizes.size, np.int64), 1, self.depths(kernel)) is not None
        )

    def reaches(self, kernel: Kernel) -> Depths:
        """Return how far rounding to a whole point may lead, for every atom and every row."""
        return kernel.reach(np.eye(self.sizes.size, dtype=np.int64))[0], kernel.reach(self.rows)[0]

    def depths(self, kernel: Kernel) -> Depths:
        """Return the distance that a deep point keeps from the bounds of every atom, and from every row's limit."""
        reach, move = kernel.reach(np.eye(self.sizes.size, dtype=np.int64))
        atoms = [a + max(1, b) for a, b in zip(reach, move, strict=True)]
        reach, move = kernel.reach(self.rows)
        return atoms, [a + b for a, b in zip(reach, move, strict=True)]

    def extreme(self, goal: IntArray, sign: int, depths: Depths) -> Fraction | None:
        """Return about the least (sign 1) or most (sign -1) of a sum among points of a depth; None if none is found.

        What is returned is attained, exactly, by a point of the region that keeps the depths.
        """
        point = _proposed(self, sign * goal, depths)
        # What a linear program proposes counts only after its exact neighbor is checked.
        exact = None if point is None else self.deepened(point, depths)
        return None if exact is None else dot(goal, exact)

    def deepened(self, point: FloatArray, depths: Depths) -> list[Fraction] | None:
        """Return the exact point of the region next to a proposed one; None if it does not keep the depths."""
        if self.before is None:
            return None
        exact = self.before.completed(point)
        return exact if self._keeps(exact, depths) else None

    def _keeps(self, point: list[Fraction], depths: Depths) -> bool:
        atoms, rows = depths
        for value, size, depth in zip(point, self.sizes.tolist(), atoms, strict=True):
            if value < depth or (self.span is not None and value > size * self.span - depth):
                return False
        for row, limit, exact, depth in zip(
            self.rows.tolist(), self.limits, self.exact.tolist(), rows, strict=True
        ):
            if not exact and dot(row, point) > limit - depth:
                return False
        return True

    def tops(self) -> FloatArray:
        """Return an upper bound of every atom's sum from span and rows; inf where there is none."""
        top = np.full(self.sizes.size, np.inf) if self.span is None else self.sizes * float(self.span)
        for row, limit in zip(self.rows, self.limits, strict=True):
            if limit >= 0 and (row >= 0).all():
                # Values are not negative, so each atom of a row of ones is at most its limit.
                top = np.where(row > 0, np.minimum(top, float(limit)), top)
        return np.asarray(top, np.float64)


def safe_answers(region: Region, vector: IntArray) -> tuple[int | None, int | None] | None:
    """Return the ends (least, most) of the answers that are released as inequalities; between them, all are exact.

    An answer at or below ``least`` is released as "at most least", one at or above ``most`` as "at least most". For
    every release a deep point is certified, whatever the true answer. None: nothing may be released.
    """
    before, after = region.before, region.kernel(vector)
    if before is None or after is None:
        return None
    loose, strict = region.depths(before), region.depths(after)
    reach, move = before.reach(vector)
    # Released as an inequality, the sum becomes a row with a
    # limit, from which a deep point must keep this distance.
    distance = reach[0] + move[0]
    ends: list[int | None] = []
    tops = region.tops()[vector > 0]
    open_above = not np.isfinite(tops).all()
    # So far inside that the verdict, which searches anew, finds a point again despite the program's tolerance.
    room = 2 * ROOM + 4 * TOLERANCE * float(tops[np.isfinite(tops)].sum())
    for sign in (1, -1):
        if sign < 0 and open_above:
            # An atom that no row bounds from above can take any large answer: adding to it leaves every depth.
            ends.append(None)
            continue
        inexact = region.extreme(vector, sign, loose)
        exact = region.extreme(vector, sign, strict)
        if inexact is None or exact is None:
            return None
        # Answers beyond the end by one step are exact, so the first of these must have a deep point too.
        inner = max(sign * inexact + distance, sign * exact - 1)
        ends.append(sign * math.ceil(inner + Fraction(room)))
    least, most = ends
    assert least is not None
    return None if most is not None and least >= most else (least, most)


def _moves(matrix: Any, pivots: IntArray, free: IntArray, denominator: int, n: int) -> IntArray | None:
    """Return for every free atom the shortest whole vector that moves it and, besides, pivots alone."""
    moves = np.zeros((free.size, n), np.int64)
    for column, atom in enumerate(free.tolist()):
        entries = [-int(entry) for entry in matrix[:, column]]
        common = math.gcd(denominator, *entries)
        # So that sums over n atoms stay below 2^40, far from the ends of int64.
        if max(abs(denominator), *map(abs, entries)) // common > _MOST_MOVE // n:
            return None
        moves[column, atom] = denominator // common
        moves[column, pivots] = [entry // common for entry in entries]
    return moves


def dot(weights: Iterable[int], point: Sequence[Fraction]) -> Fraction:
    """Return an exact sum over atoms."""
    return sum((int(a) * b for a, b in zip(weights, point, strict=True) if a), Fraction(0))


@dataclass(frozen=True)
class DepthProgram:
    """The constraints of a linear program for points of a depth.

    Every variable is scaled to the range of its atom, so that the tolerance is a part of that range.
    """

    scale: FloatArray
    ranges: FloatArray
    matrix: FloatArray
    limits: FloatArray
    exact: BoolArray

    @classmethod
    def of(cls, region: Region, depths: Depths) -> DepthProgram | None:
        """Return the program of a region; None where bounds leave no room."""
        depth, top = np.array([float(depth) for depth in depths[0]]), region.tops()
        scale = np.where(np.isfinite(top), np.maximum(top, 1.0), np.maximum(depth, 1.0))
        low = depth + ROOM + TOLERANCE * scale
        high = np.full(depth.size, np.inf) if region.span is None else region.sizes * float(region.span) - low
        if (low > high).any():
            return None
        matrix = region.rows * scale
        norm = np.maximum(np.abs(matrix).max(axis=1, initial=0), 1.0)
        limits = np.array([float(limit) for limit in region.limits])
        room = np.array([float(depth) for depth in depths[1]]) + ROOM + TOLERANCE * norm
        limits = np.where(region.exact, limits, limits - room)
        ranges = np.column_stack([low / scale, high / scale])
        return cls(scale, ranges, matrix / norm[:, None], limits / norm, region.exact)


def solved(
    cost: FloatArray,
    ranges: Any,
    matrix: FloatArray,
    limits: FloatArray,
    exact: BoolArray,
) -> FloatArray | None:
    """Return a point that minimizes a cost, by HiGHS; None if there is none."""
    from scipy.optimize import linprog

    solution: Any = linprog(
        cost / max(1.0, float(np.abs(cost).max(initial=0))),
        A_ub=matrix[~exact] if (~exact).any() else None,
        b_ub=limits[~exact] if (~exact).any() else None,
        A_eq=matrix[exact] if exact.any() else None,
        b_eq=limits[exact] if exact.any() else None,
        bounds=ranges,
        method="highs",
    )
    return np.asarray(solution.x, np.float64) if solution.status == 0 else None


def _proposed(region: Region, goal: IntArray, depths: Depths) -> FloatArray | None:
    """Return a point near the least value of a goal that seems to keep the depths."""
    program = DepthProgram.of(region, depths)
    if program is None:
        return None
    point = solved(goal * program.scale, program.ranges, program.matrix, program.limits, program.exact)
    return None if point is None else point * program.scale
