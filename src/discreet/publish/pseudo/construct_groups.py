"""ConstructGroups: every group at least as large as the largest privacy level in it (Aggarwal & Yu, SDM 2005)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import InfeasibleError, InternalError
from discreet.kernels import ragged
from discreet.publish.pseudo.microaggregation import SegmentMethod, segment


@dataclass(frozen=True)
class GroupingStep:
    """The squared error after one step: SSQ and the number of groups of all records placed so far."""

    level: int
    step: str
    ssq: float
    n_groups: int
    label_class: int = 0


@dataclass(frozen=True, repr=False)
class Grouping:
    """Who is with whom: the group of every record, and how the squared error fell on the way."""

    labels: IntArray
    n_groups: int
    steps: tuple[GroupingStep, ...]

    @property
    def ssq(self) -> float:
        """The sum of squared distances of the records to the means of their groups."""
        return self.steps[-1].ssq


def construct_groups(
    values: FloatArray, levels: IntArray, *, method: SegmentMethod, rng: np.random.Generator
) -> Grouping:
    """Group records so that every group has at least as many records as the largest level in it.

    Levels are taken from the lowest to the highest. The records of a level are segmented; lower groups are dissolved
    into them where that lowers the squared error (Cannibalize); records of groups with more than they need move to a
    nearer lower group that is large enough for them (Attrition). A level with fewer records than it requires makes
    one deficient group; the next level takes it in, and at the end it takes in its nearest groups. Where the squared
    error then is above that of Segment alone, its groups are taken instead.
    """
    _refuse_high_levels(levels, "given")
    work = _Work(values, levels)
    alone = np.full(len(levels), -1, np.int64)
    for level in np.unique(levels):
        rows = np.flatnonzero(levels == level)
        part = values if rows.size == levels.size else values[rows]
        # At level 1 nobody needs company.
        segments = np.arange(rows.size) if level == 1 else segment(part, int(level), method=method, rng=rng)
        alone[rows] = segments + alone.max(initial=-1) + 1
        work.place(part, rows, segments, int(level))
    forced = work.resolve()
    if forced:
        by_segments = _Work(values, levels)
        by_segments.place(values, np.arange(len(levels)), alone, int(levels.max()), step="segment alone")
        by_segments.resolve()
        if by_segments.ssq() < work.ssq():
            work = by_segments
    return work.grouping()


def construct_by_class(
    values: FloatArray,
    levels: IntArray,
    classes: IntArray,
    *,
    method: SegmentMethod,
    rng: np.random.Generator,
) -> Grouping:
    """Group the records of each class apart from those of the others; classes are numbered from 0 without gaps."""
    labels = np.empty(levels.size, np.int64)
    steps: list[GroupingStep] = []
    n_groups, ssq = 0, 0.0
    for number in range(int(classes.max()) + 1):
        rows = np.flatnonzero(classes == number)
        _refuse_high_levels(levels[rows], "in a class of the label")
        grouping = construct_groups(values[rows], levels[rows], method=method, rng=rng)
        labels[rows] = grouping.labels + n_groups
        steps += [
            GroupingStep(step.level, step.step, step.ssq + ssq, step.n_groups + n_groups, number)
            for step in grouping.steps
        ]
        n_groups += grouping.n_groups
        ssq += grouping.ssq
    return Grouping(labels, n_groups, tuple(steps))


def _refuse_high_levels(levels: IntArray, where: str) -> None:
    n, most = levels.size, int(levels.max(initial=0))
    if most > n:
        too_high = int((levels > n).sum())
        raise InfeasibleError(
            f"No groups can be made: {too_high} of the {n} records {where} have levels above the number of records "
            f"(the largest level is {most}). Levels of at most {n} would do."
        )


@dataclass(repr=False)
class _Work:
    """Groups in the making: the group of every record (−1: not yet placed), and each group's size, mean and levels."""

    values: FloatArray
    levels: IntArray
    labels: IntArray = field(init=False)
    n: IntArray = field(init=False)
    mean: FloatArray = field(init=False)
    largest: IntArray = field(init=False)
    steps: list[GroupingStep] = field(init=False, default_factory=list)
    forced: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.labels = np.full(len(self.levels), -1, np.int64)
        self.n = np.empty(0, np.int64)
        self.mean = np.empty((0, self.values.shape[1]))
        self.largest = np.empty(0, np.int64)

    def place(
        self, part: FloatArray, rows: IntArray, segments: IntArray, level: int, *, step: str = "segment"
    ) -> None:
        """Add the segmented records of a level, and let groups and records move between the levels."""
        from discreet.kernels.points.moments import means

        lower = np.flatnonzero(self.n)
        count = int(segments.max()) + 1
        if segments.min() < 0 or count > segments.size:
            raise InternalError("A record was put into no group.")
        n, mean = means(part, segments, count)
        largest = np.zeros(count, np.int64)
        np.maximum.at(largest, segments, self.levels[rows])
        fresh = np.arange(self.n.size, self.n.size + count)
        self.labels[rows] = segments + self.n.size
        self.n = np.concatenate([self.n, n])
        self.mean = np.concatenate([self.mean, mean])
        self.largest = np.concatenate([self.largest, largest])
        self._record_step(level, step)
        if lower.size and level > 1:
            self._cannibalize(lower, fresh, level)
            self._attrition(lower[self.n[lower] > 0], fresh, level)

    def resolve(self) -> bool:
        """Let groups that are too small take in their nearest groups; return whether any step had no choice."""
        # Each merger leaves one group less. The whole is large enough for any level, so that there is an end.
        while (small := np.flatnonzero((self.n > 0) & (self.n < self.largest))).size:
            group = small[np.argmax(self.largest[small])]
            others = np.flatnonzero(self.n)
            others = others[others != group]
            apart = ((self.mean[others] - self.mean[group]) ** 2).sum(axis=1)
            order = others[np.argsort(apart, kind="stable")]
            missing = self.largest[group] - self.n[group]
            # As many of the nearest as bring in the records that are missing.
            nearest = order[: int(np.searchsorted(np.cumsum(self.n[order]), missing)) + 1]
            self._merge(np.append(nearest, group), int(group))
            self.forced = True
        if self.forced:
            self._record_step(int(self.levels.max()), "resolve")
        return self.forced

    def ssq(self) -> float:
        """Sum the squared distances of the placed records to the means of their groups."""
        from discreet.kernels.points.condensing import squared_error

        return squared_error(self.values, self.labels, self.mean)

    def grouping(self) -> Grouping:
        """Return the groups, numbered without gaps; every one must be large enough by now."""
        used = np.flatnonzero(self.n)
        number = np.full(self.n.size, -1, np.int64)
        number[used] = np.arange(used.size)
        labels = number[self.labels]
        if (labels < 0).any() or (np.bincount(labels)[labels] < self.levels).any():
            raise InternalError("A group is smaller than a level in it.")
        return Grouping(labels, int(used.size), tuple(self.steps))

    def _cannibalize(self, lower: IntArray, fresh: IntArray, level: int) -> None:
        """Dissolve lower groups into the fresh ones: deficient ones in any case, others where the error falls."""
        small = self.n[lower] < self.largest[lower]
        if small.any():
            self._dissolve(lower[small], fresh, forced=True)
            self.forced = True
            self._record_step(level, "numerical test")
        large = lower[~small]
        if large.size:
            self._dissolve(large[self.n[large] > 1], fresh, forced=False)
            self._record_step(level, "cannibalize")

    def _dissolve(self, groups: IntArray, into: IntArray, *, forced: bool) -> None:
        from discreet.kernels.points.condensing import cannibalize
        from discreet.kernels.points.neighbors import tree_of

        rows, indptr = self._members(groups)
        state = (self.labels, self.n, self.mean)
        cannibalize(self.values, rows, indptr, groups, tree_of(self.mean[into]), into, forced, state)

    def _attrition(self, lower: IntArray, fresh: IntArray, level: int) -> None:
        from discreet.kernels.points.condensing import attrition
        from discreet.kernels.points.neighbors import tree_of

        larger = fresh[self.n[fresh] > level]
        if larger.size and lower.size:
            rows, indptr = self._members(larger)
            state = (self.labels, self.n, self.mean, self.largest)
            tree = tree_of(self.mean[lower])
            attrition(self.values, self.levels, rows, indptr, larger, level, tree, lower, state)
        self._record_step(level, "attrition")

    def _members(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of some groups one after the other, and where each group's rows begin."""
        # The entry behind the last is for records not yet placed, whose label is -1.
        number = np.full(self.n.size + 1, -1, np.int64)
        number[groups] = np.arange(groups.size)
        of_row = number[self.labels]
        rows = np.flatnonzero(of_row >= 0)
        rows = rows[np.argsort(of_row[rows], kind="stable")]
        return rows, ragged.bounds(self.n[groups])

    def _merge(self, groups: IntArray, into: int) -> None:
        """Make several groups one."""
        mine = np.isin(self.labels, groups)
        self.labels[mine] = into
        share = self.n[groups] / self.n[groups].sum()
        # Relative to one of the means, so that large numbers lose no digits.
        center: Any = self.mean[into] + share @ (self.mean[groups] - self.mean[into])
        total, largest = self.n[groups].sum(), self.largest[groups].max()
        self.n[groups] = 0
        self.n[into], self.mean[into], self.largest[into] = total, center, largest

    def _record_step(self, level: int, step: str) -> None:
        self.steps.append(GroupingStep(level, step, self.ssq(), int(np.count_nonzero(self.n))))
