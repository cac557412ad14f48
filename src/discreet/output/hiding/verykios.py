"""Strategies that leave baskets out, and those of Verykios et al. (2004) and Pontikakis et al. (2004)."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.errors import InfeasibleError
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.problem import Problem, Target
from discreet.output.hiding.strategies import Options, delete, needed_by, shortest_first

_STEPS = 100
"""Baskets left out for one rule raise the shares of the others; each further round leaves out one in so many."""


def remove_transactions(problem: Problem, editing: Editing, options: Options) -> None:
    """Leave out supporters, those of most rules first and of these the shortest."""
    del options
    for target in problem.one_by_one(editing):
        rows = editing.supporters(target.items)
        conflicts = sum(
            editing.holding(target.items)[rows].astype(np.int64) for target in problem.open_targets(editing)
        )
        order = rows[np.lexsort((editing.lengths[rows], -np.asarray(conflicts)))]
        n = _fewest_left_out(problem, editing, target, rows.size)
        if not editing.kept.all():
            n = max(n, rows.size // _STEPS)
        editing.drop(order[:n])


def _fewest_left_out(problem: Problem, editing: Editing, target: Target, most: int) -> int:
    """Return how many supporters must go until the rule is hidden in the rest; a share falls with the rest's number."""
    both, left, n = most, editing.count(target.lhs), editing.n

    def hidden(gone: int) -> bool:
        return problem.guarantee.hides(both - gone, left - gone, n=n - gone, is_rule=target.by_confidence)

    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if hidden(middle) else (middle + 1, high)
    # The bisection ends at ``most`` where nothing hides the rule, hence the second check.
    if 2 * (n - low) < editing.kept.size or not hidden(low):
        raise InfeasibleError(
            "The rules cannot be hidden by leaving out baskets without emptying the data: more than half of the "
            "baskets would go. Take a method that deletes items, such as strategy='minfia', or ExactHiding."
        )
    return low


def raise_left(problem: Problem, editing: Editing, options: Options) -> None:
    """Add left-hand items (1.a), first to the baskets that lack fewest and do not hold the right-hand side."""
    del options
    least = problem.guarantee.least_confidence
    for target in problem.one_by_one(editing):
        both, left = editing.count(target.items), editing.count(target.lhs)
        # The left-hand side must exceed both / least; one basket
        # more than the whole part of the difference does.
        needed = 0 if least is None else int(both / least) - left + 1
        n_held = editing.held[list(target.lhs)].sum(axis=0)
        rows = np.flatnonzero((n_held < len(target.lhs)) & ~editing.holding(target.rhs) & editing.kept)
        rows = rows[np.argsort(-n_held[rows], kind="stable")]
        if rows.size < needed:
            raise InfeasibleError(
                f"Strategy 1.a needs {needed} baskets that lack a left-hand item and the right-hand side, and there "
                f"are {rows.size}. Take strategy='1.b', which deletes right-hand items, or raise min_confidence."
            )
        for column in target.lhs:
            editing.add(rows[:needed][~editing.held[column, rows[:needed]]], column)


def lower_right(problem: Problem, editing: Editing, options: Options) -> None:
    """Delete the right-hand item that fewest itemsets need from the shortest supporters (1.b)."""
    del options
    for target in problem.one_by_one(editing):
        needed = needed_by(problem, max(len(target.items) - 1, 1))
        victim = min(target.rhs, key=lambda column: (int(needed[column]), column))
        delete(problem, editing, target, shortest_first(editing, editing.supporters(target.items)), victim)


def lower_least_needed(problem: Problem, editing: Editing, options: Options) -> None:
    """Delete the item of either side that fewest itemsets need from the shortest supporters (2.a)."""
    del options
    for target in problem.one_by_one(editing):
        needed = needed_by(problem, max(len(target.items) - 1, 1))
        victim = min(target.items, key=lambda column: (int(needed[column]), column))
        delete(problem, editing, target, shortest_first(editing, editing.supporters(target.items)), victim)


def lower_most_frequent(problem: Problem, editing: Editing, options: Options) -> None:
    """Delete the most frequent item from the shortest supporters, the largest itemsets first (2.b)."""
    del options
    targets = problem.open_targets(editing)
    for target in sorted(targets, key=lambda target: (-len(target.items), -editing.count(target.items))):
        if not problem.is_open(target, editing):
            continue
        totals = editing.totals()
        victim = max(target.items, key=lambda column: (int(totals[column]), -column))
        delete(problem, editing, target, shortest_first(editing, editing.supporters(target.items)), victim)


def lower_in_turn(problem: Problem, editing: Editing, options: Options) -> None:
    """Delete the items of an itemset in turn, from its supporters as they come (2.c)."""
    del options
    for target in problem.one_by_one(editing):
        rows = editing.supporters(target.items)
        delete(problem, editing, target, rows, np.resize(np.array(target.items, np.int64), rows.size))


def lower_least_weight(problem: Problem, editing: Editing, options: Options) -> None:
    """Delete a right-hand item from the supporters with the smallest weight (WSDA).

    The weight of a basket is the number of frequent itemsets it supports that hold the item, each counted for more the
    nearer it is to being lost.
    """
    del options
    for target in problem.one_by_one(editing):
        rows = editing.supporters(target.items)
        weights = {column: _weights(problem, column, rows) for column in target.rhs}
        victim = min(target.rhs, key=lambda column: (float(weights[column].sum()), column))
        order = np.argsort(weights[victim], kind="stable")
        delete(problem, editing, target, rows[order], victim)


def _weights(problem: Problem, column: int, rows: IntArray) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Weigh baskets by the other frequent itemsets they support that hold an item."""
    from discreet.output.hiding.classes import memberships

    item = problem.codes[column]
    itemsets = problem.others
    holds = np.bincount(
        np.repeat(np.arange(len(itemsets)), itemsets.lengths)[itemsets.codes == item], minlength=len(itemsets)
    ).astype(np.bool_)
    short = itemsets.keep(holds & (itemsets.lengths <= 3))
    slack = short.counts - problem.min_count + 1.0
    return np.asarray(memberships(problem.baskets.take(rows), short) @ (1 / slack))
