"""The program that changes as few baskets as can be, and the choice of what to delete from them.

Menon, Sarkar & Mukherjee, Information Systems Research 2005.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.problem import Problem
from discreet.output.hiding.solver import Program


class FewestBaskets:
    """Supporters of sensitive itemsets, alike ones counted together, each changed or not.

    A basket that is changed supports none of the itemsets any more. What is deleted from it is then chosen by a rule:
    the item that most of its itemsets share, of these the one that fewest frequent itemsets need.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.editing = problem.editing()
        supports = np.array([self.editing.holding(target.items) for target in problem.targets])
        self.rows: IntArray = np.flatnonzero(supports.any(axis=0))
        patterns, label, sizes = np.unique(
            supports[:, self.rows].T, axis=0, return_inverse=True, return_counts=True
        )
        self.patterns: BoolArray = patterns
        self.label: IntArray = label.reshape(-1)
        self.sizes: IntArray = sizes

    def program(self) -> Program:
        """Return the program that counts changed baskets by the itemsets they support."""
        program = Program(np.ones(self.sizes.size), self.sizes.astype(np.float64), np.ones(self.sizes.size))
        for number, target in enumerate(self.problem.targets):
            columns = np.flatnonzero(self.patterns[:, number])
            needed = self.editing.count(target.items) - self.problem.least + 1
            program.add(columns, 1.0, low=needed)
        return program

    def apply(self, x: FloatArray, rng: np.random.Generator) -> Editing:
        """Return the entries after as many baskets of each kind as planned were changed."""
        editing = self.problem.editing()
        order = rng.permutation(self.rows.size)
        for number, n in enumerate(np.rint(x).astype(np.int64).tolist()):
            rows = self.rows[order[self.label[order] == number][:n]]
            for item in self._victims(self.patterns[number]):
                editing.remove(rows, item)
        return editing

    def _victims(self, pattern: BoolArray) -> list[int]:
        """Return the items to delete from a basket that supports some itemsets, until it supports none of them."""
        needed = _needed(self.problem)
        waiting = [
            set(itemset.items)
            for itemset, supported in zip(self.problem.targets, pattern, strict=True)
            if supported
        ]
        victims = []
        while waiting:
            items = sorted(set().union(*waiting))
            best = min(
                items,
                key=lambda item: (-sum(item in itemset for itemset in waiting), int(needed[item]), item),
            )
            victims.append(best)
            waiting = [itemset for itemset in waiting if best not in itemset]
        return victims


def _needed(problem: Problem) -> IntArray:
    """Count the other frequent itemsets that need each column's item."""
    counts = np.bincount(problem.others.codes, minlength=problem.baskets.n_items)
    return np.asarray(counts[problem.codes], np.int64)
