"""The hybrid program: no basket is changed, and synthetic baskets are appended until the rules are too rare.

Gkoulalas-Divanis & Verykios, IEEE TKDE 2009.
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
from discreet.output.hiding.problem import Problem
from discreet.output.hiding.solver import Program

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
