"""Anytime search of a lattice too large to visit: descents from feasible nodes until the time is up, and a bound.

A descent lowers one column at a time, always the feasible step that costs least, until none is left. The next one
starts from the best node with a few columns raised at random, so that other valleys are found. The bound comes from
small groups of columns: whatever the whole costs, each group's share of it is no less than the best for that group
alone, because classes only grow when the other columns are left out.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.guarantees import KAnonymity
from discreet.publish.lattice import Lattice, Node
from discreet.publish.node_measures import NodeMeasure
from discreet.publish.scoring import Score, Scorer
from discreet.publish.search import Search

_GROUP_NODES = 400
_BOUND_SHARE = 0.2


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

    def best(self) -> Score | None:
        """Find the best node that can be found in the time given."""
        begun = time.monotonic()
        best = self._descend(self.lattice.top)
        if best is not None and self.scorer.measure.aggregate == "mean":
            self.bound = self._bounded(begun + _BOUND_SHARE * (self.deadline - begun))
        while best is not None and not self._is_over() and best.cost > self.bound:
            found = self._descend(self._raised(best.node))
            if found is not None and found.cost < best.cost:
                best = found
        return best or self.scorer.best()

    def _descend(self, node: Node) -> Score | None:
        """Go down from a node, step by cheapest step, to one whose steps down all cost more or break the promise."""
        here = self.scorer.exact(node)
        if not here.feasible:
            return None
        while not self._is_over():
            below = sorted(self.lattice.predecessors(here.node), key=self.scorer.measure.floor)
            steps: list[Score] = []
            for down in below:
                if steps and self.scorer.measure.floor(down) >= steps[0].cost:
                    break
                score = self.scorer.exact(down)
                if score.feasible:
                    steps = sorted([*steps, score], key=lambda step: step.cost)
                if self._is_over():
                    break
            if not steps or steps[0].cost >= here.cost:
                return here
            here = steps[0]
        return here

    def _raised(self, node: Node) -> Node:
        """Raise a few columns of a node at random, until it keeps the promise."""
        levels = list(node)
        while True:
            low = [column for column, level in enumerate(levels) if level < self.lattice.top[column]]
            if not low:
                return tuple(levels)
            for column in self.rng.choice(
                low, size=min(len(low), 1 + int(self.rng.integers(3))), replace=False
            ):
                levels[column] = int(self.rng.integers(levels[column] + 1, self.lattice.top[column] + 1))
            if self._is_over() or self.scorer.exact(tuple(levels)).feasible:
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
        for column in sorted(range(len(self.lattice.names)), key=lambda one: -self.lattice.dims[one]):
            for group in groups:
                if np.prod([self.lattice.dims[one] for one in [*group, column]]) <= _GROUP_NODES:
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
        weights = np.where(np.isin(np.arange(len(lattice.names)), group), scorer.measure.weights, 0.0)
        measure: NodeMeasure = type(scorer.measure)(part, weights, "mean")
        search = Search(Scorer(part, KAnonymity(scorer.smallest), measure, scorer.limit))
        found = search.best()
        return 0.0 if found is None else found.cost

    def _is_over(self) -> bool:
        return time.monotonic() > self.deadline
