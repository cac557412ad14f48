"""What the strategies share: their names, their options, and the deletion of one item from enough supporters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from discreet.core.arrays import IntArray
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.problem import Problem, Target

Strategy: TypeAlias = Literal[
    "remove_transactions", "1.a", "1.b", "2.a", "2.b", "2.c", "minfia", "maxfia", "iga", "swa", "wsda"
]


@dataclass(frozen=True)
class Options:
    """The options of a strategy: ψ for every target, the window of swa, and the source of what it draws."""

    psi: list[float | None]
    window: int
    rng: np.random.Generator


def delete(
    problem: Problem,
    editing: Editing,
    target: Target,
    rows: IntArray,
    victims: int | IntArray,
    *,
    least: int = 0,
) -> None:
    """Delete victims from the first of some supporters, as many as hide the target and at least ``least``."""
    each = np.broadcast_to(np.asarray(victims, np.int64), rows.shape)
    enough = problem.first_hidden(target, editing, np.isin(each, target.lhs))
    n = min(max(enough, least), rows.size)
    editing.remove(rows[:n], each[:n])


def needed_by(problem: Problem, size: int) -> IntArray:
    """Count the frequent itemsets of a size that need each column's item."""
    itemsets = problem.others
    of_size = np.repeat(itemsets.lengths == size, itemsets.lengths)
    counts = np.bincount(itemsets.codes[of_size], minlength=problem.baskets.n_items)
    return np.asarray(counts[problem.codes], np.int64)


def shortest_first(editing: Editing, rows: IntArray) -> IntArray:
    """Return baskets by their lengths, the shortest first."""
    return rows[np.argsort(editing.lengths[rows], kind="stable")]
