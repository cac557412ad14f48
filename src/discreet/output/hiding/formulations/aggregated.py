"""The aggregated program: classes of alike baskets, and how many of a class receive each minimal removal set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.mine import FoundItemsets
from discreet.output.hiding.classes import memberships
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.problem import Problem
from discreet.output.hiding.solver import Program

Items = frozenset[int]


def minimal_removals(sets: Sequence[Iterable[int]]) -> list[Items]:
    """Return the sets of items that break some of the given itemsets, and of which no smaller part breaks as many.

    >>> [sorted(one) for one in minimal_removals([(1, 2), (2, 3)])]
    [[1], [2], [3], [1, 3]]
    """
    whole = [frozenset(one) for one in sets]
    found: set[Items] = {frozenset()}
    for one in whole:
        # Itemsets are broken one after another, each by one item where nothing breaks it yet; not breaking it
        # is a choice too. So every minimal set is found, among others that are sorted out below.
        found |= {part | {item} for part in found for item in one if not part & one}
    minimal = [part for part in found if part and _minimal(part, whole)]
    return sorted(minimal, key=lambda part: (len(part), sorted(part)))


def minimal_part(part: Items, sets: Sequence[Iterable[int]]) -> Items:
    """Return a minimal part of a removal set that breaks the same itemsets."""
    whole = [frozenset(one) for one in sets]
    for item in sorted(part):
        if _broken(part - {item}, whole) == _broken(part, whole):
            part -= {item}
    return part


def _minimal(part: Items, whole: Sequence[Items]) -> bool:
    """Whether every item breaks an itemset that no other item of the set breaks."""
    return all(_broken(part - {item}, whole) != _broken(part, whole) for item in part)


def _broken(part: Items, whole: Sequence[Items]) -> list[bool]:
    return [bool(part & one) for one in whole]


@dataclass(frozen=True)
class Kept:
    """Itemsets worth keeping that hiding may cost, those of the same fate taken together.

    ``inside`` tells which relevant baskets hold each, ``columns`` which sensitive items it holds, ``slack`` how many
    supporters it can lose, and ``weight`` how many itemsets stand behind it.
    """

    inside: BoolArray
    columns: BoolArray
    slack: IntArray
    weight: IntArray

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.slack.size)


def binding(problem: Problem, sets: FoundItemsets, rows: IntArray, supported: BoolArray) -> Kept:
    """Return the itemsets that could be lost at all, those with the same fate taken together.

    ``rows`` are the supporters of sensitive rules, and ``supported`` tells which rules each of them supports.
    """
    inside = memberships(problem.baskets.take(rows), sets)
    owner = np.repeat(np.arange(len(sets)), sets.lengths)
    columns = np.zeros((len(sets), problem.codes.size), np.bool_)
    position = np.searchsorted(problem.codes, sets.codes).clip(max=problem.codes.size - 1)
    mine = problem.codes[position] == sets.codes
    columns[owner[mine], position[mine]] = True
    items = np.array([np.isin(np.arange(problem.codes.size), target.items) for target in problem.targets])
    deletable = (supported.astype(np.float32) @ items.astype(np.float32)) > 0
    # A basket from which none of an itemset's items would be deleted cannot lose it.
    inside &= (deletable.astype(np.float32) @ columns.T.astype(np.float32)) > 0
    slack = sets.counts - problem.min_count
    at_risk = np.flatnonzero(inside.sum(axis=0) > slack)
    inside, columns, slack = inside[:, at_risk], columns[at_risk], slack[at_risk]
    fates = np.concatenate([np.packbits(inside, axis=0).T, columns, slack[:, None]], axis=1)
    _, first, weight = np.unique(fates, axis=0, return_index=True, return_counts=True)
    return Kept(np.ascontiguousarray(inside[:, first]), columns[first], slack[first], weight)


class Aggregated:
    """Deletions in the supporters of sensitive rules, counted by class and removal set.

    A class is all supporters that hold the same sensitive rules and the same itemsets worth keeping, so its members are
    alike for everything that is judged. A plan gives, for each class and each minimal removal set, the number of
    members that receive it.

    Parameters
    ----------
    problem
        What to hide.
    sets
        The itemsets worth keeping: the border, or all that hold a sensitive item.
    """

    def __init__(self, problem: Problem, sets: FoundItemsets) -> None:
        self.problem = problem
        self.editing = problem.editing()
        targets = problem.targets
        supports = np.array([self.editing.holding(target.items) for target in targets])
        self.rows: IntArray = np.flatnonzero(supports.any(axis=0))
        self.supported: BoolArray = supports[:, self.rows].T.copy()
        lefts = [self.editing.holding(target.lhs)[self.rows] for target in targets if target.by_confidence]
        self.lefts: BoolArray = np.array(lefts, np.bool_).reshape(len(lefts), self.rows.size).T.copy()
        self.kept = binding(problem, sets, self.rows, self.supported)
        self._classify()
        self._enumerate()

    def _classify(self) -> None:
        """Take alike supporters together."""
        signs = np.packbits(np.concatenate([self.supported, self.lefts, self.kept.inside], axis=1), axis=1)
        _, first, label, counts = np.unique(
            signs, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        self.label: IntArray = label.reshape(-1)
        self.sizes: IntArray = counts
        self.of_class = self.supported[first], self.lefts[first], self.kept.inside[first]

    def _enumerate(self) -> None:
        """List the columns of the program: a class with a removal set; equal sets are numbered once."""
        numbers: dict[frozenset[int], int] = {}
        by_pattern: dict[bytes, list[int]] = {}
        owners, chosen = [], []
        supported = self.of_class[0]
        for number, pattern in enumerate(supported):
            key = pattern.tobytes()
            if key not in by_pattern:
                sets = [
                    target.items
                    for target, supported in zip(self.problem.targets, pattern, strict=True)
                    if supported
                ]
                by_pattern[key] = [
                    numbers.setdefault(target, len(numbers)) for target in minimal_removals(sets)
                ]
            owners += [number] * len(by_pattern[key])
            chosen += by_pattern[key]
        self.removals = list(numbers)
        self.owner: IntArray = np.array(owners, np.int64)
        self.removal: IntArray = np.array(chosen, np.int64)
        self.deleted: BoolArray = np.zeros((len(numbers), self.problem.codes.size), np.bool_)
        for target, number in numbers.items():
            self.deleted[number, list(target)] = True
        self._prune()
        self.width: IntArray = self.deleted.sum(axis=1)[self.removal]
        self.effects = [self._effect(part, columns) for part, columns in self._judged()]

    def _prune(self) -> None:
        """Leave out removal sets that another one of the class beats: it breaks no less, costs no more, is no larger.

        The empty removal set is no column, so one of the sets that break most always stays.
        """
        judged = self._judged()
        hits = [(self.deleted.astype(np.float32) @ columns.T.astype(np.float32)) > 0 for _, columns in judged]
        width = self.deleted.sum(axis=1)
        starts = np.searchsorted(self.owner, np.arange(self.sizes.size + 1))
        stays = np.ones(self.owner.size, np.bool_)
        self.instead: IntArray = np.arange(self.owner.size)
        for number in range(self.sizes.size):
            window = slice(starts[number], starts[number + 1])
            chosen = self.removal[window]
            broken, lowered, lost = (
                hit[np.ix_(chosen, np.flatnonzero(inside[number]))]
                for hit, (inside, _) in zip(hits, judged, strict=True)
            )
            costs = np.concatenate([lowered, lost, ~broken], axis=1).astype(np.float32)
            no_worse = (costs @ (1 - costs).T == 0) & (width[chosen][:, None] <= width[chosen])
            order = np.arange(chosen.size)
            # Of sets that beat each other the first stays, so the relation has no cycle.
            better = no_worse & (~no_worse.T | (order[:, None] < order))
            beaten = better.any(axis=0)
            stays[window] = ~beaten
            # A set that stays and is better: there is one, as the relation is transitive. Plans with the
            # beaten set use it instead.
            best = np.argmax(better & ~beaten[:, None], axis=0)
            self.instead[window] = starts[number] + np.where(beaten, best, order)
        self.instead = (np.cumsum(stays) - 1)[self.instead]
        self.every = self.removal
        self.owner, self.removal = self.owner[stays], self.removal[stays]
        self.first_of_class = starts

    def _judged(self) -> list[tuple[BoolArray, BoolArray]]:
        """Return what plans are judged by: the class holds it, and the columns by which it is lost."""
        width = self.problem.codes.size
        targets = self.problem.targets
        items = np.array([np.isin(np.arange(width), target.items) for target in targets])
        lefts = [np.isin(np.arange(width), target.lhs) for target in targets if target.by_confidence]
        sides = np.array(lefts, np.bool_).reshape(len(lefts), width)
        supported, left, inside = self.of_class
        return [(supported, items), (left, sides), (inside, self.kept.columns)]

    def _effect(self, inside: BoolArray, columns: BoolArray) -> Any:
        """Return which columns of the program take which sets from their class, as a sparse matrix."""
        hit = (self.deleted.astype(np.float32) @ columns.T.astype(np.float32)) > 0
        parts = []
        for start in range(0, self.owner.size, 4096):
            window = slice(start, start + 4096)
            parts.append(sp.csr_array(inside[self.owner[window]] & hit[self.removal[window]]))
        shape = (0, inside.shape[1])
        return sp.csc_array(sp.vstack(parts)) if parts else sp.csc_array(shape)

    @property
    def n_plan(self) -> int:
        """The number of columns that say how many of a class receive a removal set."""
        return int(self.owner.size)

    def program(self) -> Program:
        """Return the program with a flag for each confidence target and for each set worth keeping; no cost yet."""
        n_rules, n_kept = self.of_class[1].shape[1], self.kept.size
        size = self.n_plan + n_rules + n_kept
        upper = np.concatenate([self.sizes[self.owner], np.ones(n_rules + n_kept)]).astype(np.float64)
        program = Program(np.zeros(size), upper, np.ones(size))
        starts = np.searchsorted(self.owner, np.arange(self.sizes.size + 1))
        for number, count in enumerate(self.sizes.tolist()):
            columns = np.arange(starts[number], starts[number + 1])
            if columns.size > 1:
                program.add(columns, 1.0, high=count)
        self._add_targets(program)
        lost, reach = self.effects[2], self._reach()
        for number in range(n_kept):
            columns = _column(lost, number)
            slack = int(self.kept.slack[number])
            # Where the flag is 1 the set survives: at most the slack is lost. At 0 all of its supporters may
            # be lost, which is the smallest constant that frees the constraint.
            extra = int(reach[number]) - slack
            flag = self.n_plan + n_rules + number
            program.add(np.append(columns, flag), np.append(np.ones(columns.size), extra), high=slack + extra)
        return program

    def _reach(self) -> IntArray:
        """Count the supporters that hold each set worth keeping."""
        return np.asarray(self.sizes @ self.of_class[2], np.int64)

    def _add_targets(self, program: Program) -> None:
        """Demand that every rule is hidden: by its support, or by its confidence where it has one."""
        problem, broken, left = self.problem, self.effects[0], self.effects[1]
        least = problem.guarantee.least_confidence
        flag = self.n_plan
        for number, target in enumerate(problem.targets):
            columns = _column(broken, number)
            support = self.editing.count(target.items)
            needed = support - problem.least + 1
            if not target.by_confidence or least is None:
                program.add(columns, 1.0, low=needed)
                continue
            p, q = least.numerator, least.denominator
            program.add(np.append(columns, flag), np.append(np.ones(columns.size), float(needed)), low=needed)
            lowered = _column(left, flag - self.n_plan)
            weights = np.zeros(self.n_plan)
            weights[columns] += q
            weights[lowered] -= p
            used = np.flatnonzero(weights)
            # Confidence below p/q in whole numbers: q · broken − p · lowered ≥ excess. The flag chooses
            # whether this or the support hides the rule; the slack makes the other one hold always.
            excess = q * support - p * self.editing.count(target.lhs) + 1
            slack = max(excess, 0) + p * int(self.sizes[self.of_class[1][:, flag - self.n_plan]].sum())
            program.add(np.append(used, flag), np.append(weights[used], -float(slack)), low=excess - slack)
            flag += 1

    def plan_of(self, editing: Editing) -> IntArray:
        """Return the plan that another method's deletions amount to, each removal set reduced to a minimal one."""
        numbers = {items: number for number, items in enumerate(self.removals)}
        starts = self.first_of_class
        plan = np.zeros(self.n_plan, np.int64)
        gone = (self.editing.held & ~editing.held)[:, self.rows]
        rows = np.flatnonzero(gone.any(axis=0))
        kinds = np.concatenate([self.label[rows, None], gone[:, rows].T], axis=1)
        kinds, first, counts = np.unique(kinds, axis=0, return_index=True, return_counts=True)
        for kind, row, count in zip(kinds, rows[first], counts.tolist(), strict=True):
            pairs = zip(self.problem.targets, self.supported[row], strict=True)
            sets = [items.items for items, supported in pairs if supported]
            deleted = frozenset(np.flatnonzero(kind[1:]).tolist())
            # Items that break no sensitive rule of the basket are kept, as nothing requires their deletion.
            part = minimal_part(deleted & frozenset(item for items in sets for item in items), sets)
            if part:
                window = slice(starts[kind[0]], starts[kind[0] + 1])
                at = starts[kind[0]] + int(np.argmax(self.every[window] == numbers[part]))
                plan[self.instead[at]] += count
        return plan

    def survives(self, plan: IntArray) -> BoolArray:
        """Return which of the sets worth keeping survive a plan."""
        return np.asarray(self.effects[2].T @ plan <= self.kept.slack)

    def lost(self, plan: IntArray) -> int:
        """Return how many itemsets a plan loses."""
        return int(self.kept.weight[~self.survives(plan)].sum())

    def rank(self, plan: IntArray) -> tuple[int, int]:
        """Return what plans are compared by: the itemsets that are lost, then the entries that are deleted."""
        return self.lost(plan), int(self.width @ plan)

    def is_hidden(self, plan: IntArray) -> bool:
        """Whether a plan hides every rule."""
        broken = np.asarray(self.effects[0].T @ plan)
        lowered = np.asarray(self.effects[1].T @ plan)
        guarantee, n = self.problem.guarantee, self.editing.n
        at = 0
        for number, target in enumerate(self.problem.targets):
            left = self.editing.count(target.lhs)
            if target.by_confidence:
                left -= int(lowered[at])
                at += 1
            both = self.editing.count(target.items) - int(broken[number])
            if not guarantee.hides(both, left, n=n, is_rule=target.by_confidence):
                return False
        return True

    def flags(self, plan: IntArray) -> FloatArray:
        """Return the values of all variables that go with a plan."""
        least = self.problem.guarantee.least_confidence
        broken = np.asarray(self.effects[0].T @ plan)
        by_confidence = [
            float(self.editing.count(target.items) - broken[number] >= self.problem.least)
            for number, target in enumerate(self.problem.targets)
            if target.by_confidence and least is not None
        ]
        return np.concatenate([plan, by_confidence, self.survives(plan)]).astype(np.float64)

    def apply(self, plan: IntArray, rng: np.random.Generator) -> Editing:
        """Return the entries after a plan: which members of a class receive what is drawn at random."""
        editing = self.problem.editing()
        order = rng.permutation(self.rows.size)
        order = order[np.argsort(self.label[order], kind="stable")]
        begin = np.searchsorted(self.label[order], np.arange(self.sizes.size))
        for column in np.flatnonzero(plan).tolist():
            owner, n = int(self.owner[column]), int(plan[column])
            rows = self.rows[order[begin[owner] : begin[owner] + n]]
            begin[owner] += n
            for item in sorted(self.removals[int(self.removal[column])]):
                editing.remove(rows, item)
        return editing


def _column(matrix: Any, number: int) -> IntArray:
    """Return the rows of a sparse matrix that have an entry in one column."""
    return np.asarray(matrix.indices[matrix.indptr[number] : matrix.indptr[number + 1]], np.int64)
