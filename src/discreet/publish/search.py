"""Best-first search of a lattice: nodes in the order of what they must cost at least, until the best is certain.

A node passes three stages. Its floor follows from its levels. Its relaxed cost follows from suppressing classes too
small for any promise; the number of rows in such classes falls on the way up, so a node that would suppress too many
rules out everything below it. Its exact cost follows from asking the guarantee. Each stage costs more work and can
only raise the bound; a node whose exact cost comes first in the queue is the best of all.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field

import numpy as np

from discreet.guarantees import Guarantee
from discreet.kernels.lattice import Stats
from discreet.publish.lattice import Lattice, Node
from discreet.publish.node_measures import Dropped, NodeMeasure
from discreet.publish.roll_up import RollUp
from discreet.publish.suppression import kept_groups

_RELAXED, _EXACT = 1, 2
_OUT, _UNKNOWN, _OPEN = -1, 0, 1


@dataclass(frozen=True)
class Score:
    """What a visited node costs: exact (the promise was asked) or a bound, and the rows it suppresses at least."""

    node: Node
    cost: float
    suppressed: int
    feasible: bool
    exact: bool


@dataclass
class Search:
    """One search: the guarantee, the limit of suppressed rows, the measure; and what was found on the way."""

    lattice: Lattice
    guarantee: Guarantee
    measure: NodeMeasure
    limit: int
    deadline: float | None = None
    scores: dict[Node, Score] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sensitive = self.guarantee.columns(self.lattice.table.schema.sensitive)
        self.sizes = RollUp(self.lattice)
        self.classes = RollUp(self.lattice, sensitive) if sensitive else self.sizes
        self.smallest = max(self.guarantee.smallest, 1)
        self.bound = 0.0
        self._stats: dict[Node, Stats] = {}
        self._floors = self.measure.floors()
        self._ruled = np.zeros(self.lattice.dims, np.int8)
        self._moved = self.limit / self.lattice.table.n_rows
        if self.limit >= self.lattice.table.n_rows:
            self._ruled[...] = _OPEN

    def best(self) -> Score | None:
        """Find the node with the least cost among those that keep the promise, or none."""
        order = np.argsort(self._floors, axis=None, kind="stable")
        floors = self._floors.reshape(-1)
        queue: list[tuple[float, int, Node]] = []
        at = 0
        ruled = self._ruled.reshape(-1)
        while at < order.size or queue:
            while at < order.size and ruled[order[at]] == _OUT:
                at += 1
            if self.deadline is not None and time.monotonic() > self.deadline:
                break
            floor = floors[order[at]] if at < order.size else np.inf
            self.bound = min(floor, queue[0][0]) if queue else floor
            if queue and queue[0][0] <= floor:
                _, stage, node = heapq.heappop(queue)
                if stage == _EXACT:
                    return self.scores[node]
                score = self._exact(node)
                if score.feasible:
                    heapq.heappush(queue, (score.cost, _EXACT, node))
                continue
            node = self.lattice.node(int(order[at]))
            at += 1
            if self._is_ruled_out(node):
                continue
            heapq.heappush(queue, (self._relaxed(node), _RELAXED, node))
        return min(
            (score for score in self.scores.values() if score.feasible), key=lambda s: s.cost, default=None
        )

    def _is_ruled_out(self, node: Node) -> bool:
        """Tell whether a node suppresses too many rows for certain, learning about others on the way."""
        if self._ruled[self.lattice.place(node)] == _UNKNOWN:
            self._probe(node)
        return bool(self._ruled[self.lattice.place(node)] == _OUT)

    def _probe(self, node: Node) -> None:
        """Search the cheapest path from a node to the top for the highest node that is ruled out, by halving."""
        path = [node]
        while True:
            unknown = [
                up for up in self.lattice.successors(path[-1]) if self._ruled[self.lattice.place(up)] != _OPEN
            ]
            if not unknown:
                break
            path.append(min(unknown, key=lambda up: float(self._floors[self.lattice.place(up)])))
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._ruled[self.lattice.place(path[middle])] == _UNKNOWN:
                self._rule(path[middle])
            if self._ruled[self.lattice.place(path[middle])] == _OUT:
                low = middle + 1
            else:
                high = middle - 1

    def _rule(self, node: Node) -> None:
        """Rule out a node and all below it, or leave it open; classes too small stay few on the way up."""
        if self._relaxed_stats(node).suppressed > self.limit:
            self._ruled[self.lattice.below(node)] = _OUT
        elif self.classes is self.sizes:
            self._ruled[self.lattice.above(node)] = _OPEN
        else:
            self._ruled[self.lattice.place(node)] = _OPEN
            self._exact(node)

    def _relaxed_stats(self, node: Node) -> Stats:
        if node not in self._stats:
            stats = self.sizes.stats(node, self.smallest, self.limit, self.measure.weights)
            self._stats[node] = stats
            if stats.suppressed > self.limit:
                self.scores[node] = Score(node, np.inf, stats.suppressed, feasible=False, exact=False)
        return self._stats[node]

    def _relaxed(self, node: Node) -> float:
        return self.measure.relaxed(node, self._relaxed_stats(node))

    def _exact(self, node: Node) -> Score:
        """Ask the guarantee about every class of a node; what must fail however it is divided rules out all below."""
        if node in self.scores:
            return self.scores[node]
        groups, keys = self.classes.groups(node)
        kept = kept_groups(self.guarantee, groups, limit=self.limit)
        suppressed = int(groups.sizes[~kept].sum())
        if suppressed > self.limit or not kept.any():
            score = Score(node, np.inf, suppressed, feasible=False, exact=True)
            if self.guarantee.failing_at_least(groups, moved=self._moved).sum() > self.limit:
                self._ruled[self.lattice.below(node)] = _OUT
        else:
            codes = [self.classes.codes(keys[~kept], column) for column in range(len(node))]
            cost = self.measure.exact(node, Dropped(groups.sizes[~kept], codes), groups.sizes[kept])
            score = Score(node, cost, suppressed, feasible=True, exact=True)
        self.scores[node] = score
        return score
