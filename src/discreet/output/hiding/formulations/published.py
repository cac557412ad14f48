"""The programs of three papers: as few baskets as can be, the inline border, and the hybrid extension.

Menon, Sarkar & Mukherjee, Information Systems Research 2005.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.supports import is_count, least_count
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.mine import FoundItemsets
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.formulations.aggregated import Kept, binding
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
            # As many supporters must go that fewer than the least support are left.
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


# The inline program: a variable for each entry that may be deleted, and the whole border kept if that can be.
#
# Gkoulalas-Divanis & Verykios, CIKM 2006.


class Inline:
    """Entries of sensitive items in the supporters of sensitive rules, each kept or deleted.

    The products of entries in the paper's constraints become variables of their own: one for each supporter of a
    sensitive itemset, at least the sum of the entries less their number plus one, and one for each supporter of a
    border itemset, at most each of the entries.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.editing = problem.editing()
        supports = np.array([self.editing.holding(target.items) for target in problem.targets])
        self.rows: IntArray = np.flatnonzero(supports.any(axis=0))
        self.supported: BoolArray = supports[:, self.rows].T.copy()
        self.kept: Kept = binding(problem, problem.border, self.rows, self.supported)
        self.held: BoolArray = self.editing.held[:, self.rows]
        self.number: IntArray = np.full(self.held.shape, -1, np.int64)
        column, row = np.nonzero(self.held)
        self.number[column, row] = np.arange(row.size)
        self.n_entries = int(row.size)

    def program(self, mask: BoolArray) -> Program:
        """Return the program that keeps as many entries as can be, and every border itemset that is wanted."""
        border = np.flatnonzero(mask)
        sizes = [int(self.supported.sum()), int(self.kept.inside[:, border].sum())]
        size = self.n_entries + sum(sizes)
        cost = np.zeros(size)
        cost[: self.n_entries] = -1.0
        integral = np.zeros(size)
        integral[: self.n_entries] = 1.0
        program = Program(cost, np.ones(size), integral)
        self._add_targets(program)
        self._add_border(program, border, self.n_entries + sizes[0])
        return program

    def _add_targets(self, program: Program) -> None:
        at = self.n_entries
        for number, target in enumerate(self.problem.targets):
            rows = np.flatnonzero(self.supported[:, number])
            columns = np.array(target.items, np.int64)
            entries = np.column_stack([self.number[np.ix_(columns, rows)].T, at + np.arange(rows.size)])
            # product ≥ sum of entries − (number − 1): it is one where all of them stay. It need not be
            # bounded above, since only few products may be one.
            program.add_each(entries, [-1.0] * int(columns.size) + [1.0], low=1 - columns.size)
            program.add(np.arange(at, at + rows.size), 1.0, high=self.problem.least - 1)
            at += rows.size

    def _add_border(self, program: Program, border: IntArray, at: int) -> None:
        for number in border.tolist():
            rows = np.flatnonzero(self.kept.inside[:, number])
            columns = np.flatnonzero(self.kept.columns[number])
            products = at + np.arange(rows.size)
            for column in columns.tolist():
                # product ≤ each entry: one only if all stay. It need
                # not be bounded below, since many products must be one.
                program.add_each(np.column_stack([products, self.number[column, rows]]), [1.0, -1.0], high=0)
            program.add(np.arange(at, at + rows.size), 1.0, low=rows.size - int(self.kept.slack[number]))
            at += rows.size

    def apply(self, x: FloatArray) -> Editing:
        """Return the entries after the deletions of a solution."""
        editing = self.problem.editing()
        column, row = np.nonzero(self.held)
        gone = np.flatnonzero(x[: self.n_entries] < 0.5)
        editing.remove(self.rows[row[gone]], column[gone])
        return editing


# The hybrid program: no basket is changed, and synthetic baskets are appended until the rules are too rare.
#
# Gkoulalas-Divanis & Verykios, IEEE TKDE 2009.


_MOST = 4
"""How many times the baskets there are may be appended."""


class Extension:
    """Synthetic baskets, each one of the border itemsets, so that it supports as much as it can and no sensitive rule.

    With more baskets in all a share stands for more of them: sensitive itemsets fall below it, and the other itemsets
    are held up by synthetic baskets. A rule also falls when its left-hand side is appended without the right one.
    """

    def __init__(self, problem: Problem) -> None:
        if is_count(problem.guarantee.min_support):
            raise ParameterError(
                "The hybrid formulation appends baskets, so that a share of them is more; min_support must be a share, "
                "such as 0.01, and not a number of baskets."
            )
        self.problem = problem
        self.size = self._size()
        self.sets = problem.others
        self.columns, self.patterns = self._patterns()
        self.needed = self._needed()

    def _size(self) -> int:
        """Return how many baskets must be appended at least, so that every sensitive itemset is too rare."""
        guarantee, n = self.problem.guarantee, self.problem.n
        share = Fraction(str(guarantee.min_support)) * (1 - Fraction(str(guarantee.margin)))
        editing = self.problem.editing()
        highest = max(editing.count(target.items) for target in self.problem.targets)
        size = max(math.floor(highest / share) - n + 1, 1)
        # The quotient is only a start, since the least support is rounded to whole baskets.
        while guarantee.least_support(n + size) <= highest:
            size += 1
        if size > _MOST * n:
            raise InfeasibleError(
                f"The hybrid formulation would append {size} baskets to {n}. Take the aggregated formulation, which "
                "deletes entries instead."
            )
        return size

    def _patterns(self) -> tuple[FoundItemsets, BoolArray]:
        """Return the maximal itemsets that hold no sensitive rule, and which of the other itemsets each holds."""
        problem, sets = self.problem, self.sets
        secrets = [problem.codes[list(target.items)] for target in problem.targets]
        from discreet.output.hiding.problem import holding

        allowed = sets.keep(~holding(sets, secrets))
        subsets = allowed.subsets
        maximal = np.ones(len(allowed), np.bool_)
        maximal[subsets[subsets >= 0]] = False
        tops = allowed.keep(maximal)
        from discreet.output.hiding.classes import memberships

        return tops, memberships(Baskets(tops.indptr, tops.codes, tops.names), sets)

    def _needed(self) -> IntArray:
        """Return how many synthetic baskets each of the other itemsets needs to stay frequent."""
        least = least_count(self.problem.guarantee.min_support, self.problem.n + self.size)
        return np.asarray(np.maximum(least - self.sets.counts, 0), np.int64)

    def program(self) -> Program:
        """Return the program that loses as few of the other itemsets as can be with so many synthetic baskets."""
        rare = np.flatnonzero(self.needed > 0)
        n_tops = len(self.columns)
        program = Program(
            np.concatenate([np.zeros(n_tops), -np.ones(rare.size)]),
            np.concatenate([np.full(n_tops, float(self.size)), np.ones(rare.size)]),
            np.ones(n_tops + rare.size),
        )
        if n_tops:
            program.add(np.arange(n_tops), 1.0, high=self.size)
        for number, target in enumerate(rare.tolist()):
            columns = np.flatnonzero(self.patterns[:, target])
            program.add(
                np.append(columns, n_tops + number),
                np.append(np.ones(columns.size), -float(self.needed[target])),
                low=0,
            )
        return program

    def apply(self, x: FloatArray) -> Baskets:
        """Return the baskets with the synthetic ones appended; what is left of their number are empty ones."""
        baskets, tops = self.problem.baskets, self.columns
        counts = np.rint(x[: len(tops)]).astype(np.int64)
        chosen = np.repeat(np.arange(len(tops)), counts)
        added = Baskets(tops.indptr, tops.codes, pa.array(tops.names)).take(chosen)
        empty = self.size - chosen.size
        indptr = np.concatenate(
            [
                baskets.indptr,
                baskets.indptr[-1] + added.indptr[1:],
                np.full(empty, baskets.indptr[-1] + added.indptr[-1]),
            ]
        )
        return Baskets(indptr, np.concatenate([baskets.items, added.items]), baskets.names)
