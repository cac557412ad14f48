"""Anytime search of a lattice too large to visit: descents from feasible nodes until the time is up, and a bound.

A descent lowers columns in a random order that favors those that gain most, from the top or from the best node with
some columns raised. What it finds, if it is near the best, is improved step by step: down in one column, or down in
one and up in another. Nodes below one that suppresses too many rows for certain are passed over. The bound comes from
small groups of columns: whatever the whole costs, each group's share of it is no less than the best for that group
alone, because classes only grow when the other columns are left out.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.guarantees import KAnonymity
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.lattice.scoring import Score, Scorer
from discreet.publish.lattice.search import Search

# A group of columns spans few enough nodes to be searched to the end, and the bound gets a tenth of the time.
# Of the descents three in ten begin at the top; what they find is improved if within 5 % of the best.
_GROUP_NODES = 400
_BOUND_SHARE = 0.1
_FRESH = 0.3
_NEAR = 1.05
_LEAST_GAIN = 1e-9


class Anytime:
    """One anytime search.

    ``bound`` tells what the best node may cost at least.
    """

    def __init__(self, scorer: Scorer, *, deadline: float, rng: np.random.Generator) -> None:
        self.scorer = scorer
        self.lattice = scorer.lattice
        self.deadline = deadline
        self.rng = rng
        self.bound = 0.0
        self._out = np.empty((0, len(self.lattice.names)), np.int64)

    def best(self) -> Score | None:
        """Find the best node that can be found in the time given."""
        begun = time.monotonic()
        best = self._improved(self._descent(self.lattice.top))
        while best is None and not self._is_over():
            best = self._improved(self._descent(self._anywhere()))
        # Only a mean over columns is a sum that groups of columns bound part by part.
        if best is not None and self.scorer.measure.prunes and self.scorer.measure.aggregate == "mean":
            self.bound = self._bounded(begun + _BOUND_SHARE * (self.deadline - begun))
        while best is not None and not self._is_over() and best.cost > self.bound:
            start = self.lattice.top if self.rng.random() < _FRESH else self._raised(best.node)
            score = self._descent(start)
            if score is not None and score.cost < _NEAR * best.cost:
                score = self._improved(score)
            if score is not None and score.cost < best.cost:
                best = score
        return best or self.scorer.best()

    def _descent(self, node: Node) -> Score | None:
        """Lower columns one by one, in a random order that favors those that gain most, while the guarantee holds.

        Gives the best node on the way, which need not be the last.
        """
        here = best = self._score(node)
        measure = self.scorer.measure
        while here is not None and not self._is_over():
            floor = measure.floor(here.node)
            below = self.lattice.predecessors(here.node)
            # The least gain keeps columns that gain nothing in the draw.
            gains = [(floor - measure.floor(down) + _LEAST_GAIN) * self.rng.random() for down in below]
            score = None
            for at in np.argsort(gains)[::-1]:
                score = self._score(below[at])
                if score is not None or self._is_over():
                    break
            if score is None:
                break
            here = score
            best = here if best is None or here.cost < best.cost else best
        return best

    def _anywhere(self) -> Node:
        """Draw a node at random."""
        bottom, top = self.lattice.bottom, self.lattice.top
        return tuple(int(self.rng.integers(low, high + 1)) for low, high in zip(bottom, top, strict=True))

    def _improved(self, here: Score | None) -> Score | None:
        """Go from a node to one that no step improves."""
        if here is None:
            return None
        while not self._is_over():
            better = self._step(here, self.lattice.predecessors(here.node), first=False)
            better = better or self._step(here, self._swaps(here.node), first=True)
            if better is None:
                break
            here = better
        return here

    def _step(self, here: Score, steps: list[Node], *, first: bool) -> Score | None:
        """Find the first step that costs less, or the one that costs least."""
        best: Score | None = None
        # By rising floor, so that the first floor at the limit ends the search.
        for node in sorted(steps, key=self.scorer.measure.floor):
            limit = here.cost if best is None else best.cost
            if self.scorer.measure.floor(node) >= limit or self._is_over():
                break
            score = self._score(node)
            if score is not None and score.cost < limit:
                best = score
                if first:
                    break
        return best

    def _swaps(self, node: Node) -> list[Node]:
        """Return the nodes one level down in one column and one up in another."""
        return [
            up
            for down in self.lattice.predecessors(node)
            for up in self.lattice.successors(down)
            if up != node
        ]

    def _score(self, node: Node) -> Score | None:
        """Return the score of a node that keeps the guarantee; None if it breaks it, or must."""
        # Whatever lies at or below a node that is ruled out leaves too many rows out as well.
        if (np.array(node) <= self._out).all(axis=1).any():
            return None
        score = self.scorer.exact(node)
        if score.rules_out:
            # Of nodes below one another the highest says all, and the others are dropped.
            self._out = np.concatenate([self._out[~(self._out <= node).all(axis=1)], [node]])
        return score if score.feasible else None

    def _raised(self, node: Node) -> Node:
        """Raise some columns of a node at random, until it keeps the guarantee."""
        levels = list(node)
        while True:
            low = [column for column, level in enumerate(levels) if level < self.lattice.top[column]]
            if not low:
                return tuple(levels)
            n_raised = int(self.rng.integers(1, len(low) + 1))
            for column in self.rng.choice(low, size=n_raised, replace=False):
                levels[column] = int(self.rng.integers(levels[column] + 1, self.lattice.top[column] + 1))
            if self._is_over() or self._score(tuple(levels)) is not None:
                return tuple(levels)

    def _bounded(self, deadline: float) -> float:
        """Add up the least costs of groups of columns, each with all others at the top."""
        total = 0.0
        for group in self._groups():
            if time.monotonic() > deadline:
                break
            total += self._group_bound(group)
        return total

    def _groups(self) -> list[list[int]]:
        groups: list[list[int]] = []
        # First fit, columns of many levels first: few large groups bound more tightly than many small ones.
        for column in sorted(range(len(self.lattice.names)), key=lambda number: -self.lattice.dims[number]):
            for group in groups:
                if np.prod([self.lattice.dims[number] for number in [*group, column]]) <= _GROUP_NODES:
                    group.append(column)
                    break
            else:
                groups.append([column])
        return groups

    def _group_bound(self, group: list[int]) -> float:
        scorer, lattice = self.scorer, self.lattice
        lowest = {
            name: lattice.bottom[column] if column in group else lattice.top[column]
            for column, name in enumerate(lattice.names)
        }
        part = Lattice(
            lattice.table, lowest=lowest, highest=dict(zip(lattice.names, lattice.top, strict=True))
        )
        # The other columns weigh nothing, so that each part of the cost is counted in one group alone.
        weights = np.where(np.isin(np.arange(len(lattice.names)), group), scorer.measure.weights, 0.0)
        measure = scorer.measure.of_part(part, weights)
        # Every guarantee needs classes of this size, so that the plain question has no higher cost than the
        # real one.
        search = Search(Scorer(part, KAnonymity(scorer.smallest), measure, scorer.limit))
        score = search.best()
        return 0.0 if score is None else score.cost

    def _is_over(self) -> bool:
        return time.monotonic() > self.deadline
