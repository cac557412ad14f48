"""Strategies of Oliveira & Zaïane: MinFIA, MaxFIA and IGA (2002), and the sliding window SWA (2003)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from discreet.core.arrays import IntArray
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.problem import Problem, Target
from discreet.output.hiding.strategies import Options, delete


def minfia(problem: Problem, editing: Editing, options: Options) -> None:
    """Delete the least frequent item of each itemset from the supporters in most conflicts."""
    _by_frequency(problem, editing, options, min)


def maxfia(problem: Problem, editing: Editing, options: Options) -> None:
    """Delete the most frequent item of each itemset from the supporters in most conflicts."""
    _by_frequency(problem, editing, options, max)


def _by_frequency(problem: Problem, editing: Editing, options: Options, choose: Callable[..., int]) -> None:
    totals = editing.totals()
    for target in problem.one_by_one(editing):
        victim = choose(target.items, key=lambda column: (int(totals[column]), column))
        _delete(problem, editing, options, target, victim)


def iga(problem: Problem, editing: Editing, options: Options) -> None:
    """Group itemsets by the item most of them share, and delete it from their supporters."""
    waiting = problem.open_targets(editing)
    while waiting:
        shared = np.bincount(
            np.concatenate([np.array(one.items) for one in waiting]), minlength=problem.codes.size
        )
        totals = editing.totals()
        label = int(np.lexsort((totals, -shared))[0])
        group = [one for one in waiting if label in one.items]
        waiting = [one for one in waiting if label not in one.items]
        for target in sorted(group, key=lambda one: -editing.count(one.items)):
            if problem.is_open(target, editing):
                _delete(problem, editing, options, target, label)


def swa(problem: Problem, editing: Editing, options: Options) -> None:
    """Go once over windows of baskets, and delete in each the same share of the supporters of every rule.

    The victim is the item that most of the rules supported by the basket share, or one drawn at random where they share
    none; the shortest baskets of a window come first.
    """
    targets = problem.open_targets(editing)
    supports = [editing.holding(target.items) for target in targets]
    shares = [_share(problem, editing, options, target) for target in targets]
    conflicts = _conflicts(targets, supports)
    for start in range(0, editing.kept.size, options.window):
        window = slice(start, start + options.window)
        for target, support, share in zip(targets, supports, shares, strict=True):
            rows = np.flatnonzero(support[window]) + start
            rows = rows[editing.holding_at(target.items, rows)]
            held = int(np.count_nonzero(support[window]))
            # Supporters that another rule has broken already count toward the quota of the window.
            quota = math.ceil(share * held) - (held - rows.size)
            rows = rows[np.argsort(editing.lengths[rows], kind="stable")][: max(quota, 0)]
            editing.remove(rows, _victims(target, conflicts, rows, options.rng))


def _victims(target: Target, conflicts: IntArray, rows: IntArray, rng: np.random.Generator) -> IntArray:
    """Choose for each basket the item of a target that most of the rules it supports share."""
    columns = np.array(target.items, np.int64)
    shared = conflicts[np.ix_(columns, rows)]
    # Half of a draw is less than one, so it decides between equal numbers only.
    drawn = rng.random(shared.shape)
    return np.asarray(columns[np.argmax(shared + np.where(shared > 0, drawn / 2, 0), axis=0)])


def _conflicts(targets: Sequence[Target], supports: Sequence[np.ndarray]) -> IntArray:
    """Count, for each column and basket, the supported rules that hold the column's item."""
    width = 1 + max(column for target in targets for column in target.items)
    counts = np.zeros((width, supports[0].size), np.int64)
    for target, support in zip(targets, supports, strict=True):
        counts[list(target.items)] += support
    return counts


def _share(problem: Problem, editing: Editing, options: Options, target: Target) -> float:
    """Return the share of the supporters that must be changed: what the thresholds need, or 1 - ψ if that is more."""
    support = editing.count(target.items)
    lowers = np.ones(support, np.bool_)
    needed = problem.first_hidden(target, editing, lowers)
    psi = options.psi[problem.targets.index(target)]
    return max(needed / support, 0.0 if psi is None else 1 - psi)


def _delete(problem: Problem, editing: Editing, options: Options, target: Target, victim: int) -> None:
    rows = editing.supporters(target.items)
    degree = sum(
        editing.holding(one.items)[rows].astype(np.int64)
        for one in problem.open_targets(editing)
        if victim in one.items
    )
    order = np.lexsort((editing.lengths[rows], -np.asarray(degree)))
    psi = options.psi[problem.targets.index(target)]
    least = 0 if psi is None else math.ceil(rows.size * (1 - psi) - 1e-9)
    delete(problem, editing, target, rows[order], victim, least=least)
