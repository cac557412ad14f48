"""Best-first search of a lattice: nodes in the order of what they must cost at least, until the best is certain.

A node passes three stages. Its floor follows from its levels. Its relaxed cost follows from suppressing classes too
small for any guarantee; the number of rows in such classes falls on the way up, so a node that would suppress too many
rules out everything below it. Its exact cost follows from asking the guarantee. Each stage costs more work and can
only raise the bound; a node whose exact cost comes first in the queue is the best of all.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.kernels.tables.grouping import distinct
from discreet.kernels.tables.lattice import pack_fields
from discreet.kernels.tables.lattice_nodes import Fields, Found, visit
from discreet.kernels.tables.lattice_values import OPEN, OUT, UNKNOWN
from discreet.kernels.threads import processors
from discreet.publish.lattice.cubes import SORTED, CubeVisit
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.lattice.measures import ColumnMeasure
from discreet.publish.lattice.scoring import Score, Scorer, Visited
from discreet.publish.lattice.value_search import ValueSearch

_RELAXED, _EXACT = 1, 2
# A larger lattice has floors in single precision and is sorted in bands, cut at quantiles of a sample, so
# that what is never reached is never sorted.
_ONE_BAND = 2_000_000
_BAND = 500_000
_SAMPLE = 100_000
_MANY = 1 << 16
"""Of fewer tuples, sorted keys stay in the cache."""


class Search:
    """One search over a lattice small enough to hold a number per node.

    ``bound`` tells what the best node may cost at least; it is its cost once the search is over.
    """

    def __init__(self, scorer: Scorer, *, deadline: float | None = None) -> None:
        self.scorer = scorer
        self.lattice = scorer.lattice
        self.deadline = deadline
        self.bound = 0.0
        self._floors = scorer.measure.floors(rough=self.lattice.n_nodes > _ONE_BAND)
        self._ruled = np.full(self.lattice.dims, UNKNOWN, np.int8)
        self._all_relaxed = False

    def best(self) -> Score | None:
        """Find the node with the least cost among those that keep the guarantee; the best so far at the deadline."""
        self._start()
        rules = self.scorer.guarantee.class_rules(self.lattice.table.schema.sensitive)
        few_left_out = self.scorer.limit < self.lattice.table.n_rows and not self.scorer.stars_rows
        if few_left_out and ValueSearch.fits(self.lattice, rules):
            return self._best_by_values(ValueSearch(self.scorer, rules or ()))
        floors = self._floors.reshape(-1)
        queue: list[tuple[float, int, Node]] = []
        coming = self._by_floor()
        number = next(coming, None)
        while True:
            floor = np.inf if number is None else float(floors[number])
            self.bound = min(floor, queue[0][0]) if queue else floor
            if np.isinf(self.bound) or (self.deadline is not None and time.monotonic() > self.deadline):
                return self.scorer.best()
            # A tie goes to the queue: nodes still to come cannot cost less.
            if number is not None and not (queue and queue[0][0] <= floor):
                self._enqueue(queue, self.lattice.node(number))
                number = next(coming, None)
                continue
            _, stage, node = heapq.heappop(queue)
            score = self._exact(node)
            if stage == _EXACT:
                return score
            if score.feasible:
                heapq.heappush(queue, (score.cost, _EXACT, node))

    def settle_ranks(self) -> bool:
        """Look at the nodes that may cost as much as the best and have lower ranks; whether there was time for all.

        Floors of ranks are taken from the lowest up, until they are no lower than the best node's ranks.
        """
        measure, best = self.scorer.measure, self.scorer.best()
        if not isinstance(measure, ColumnMeasure) or best is None:
            return True
        ruled = self._ruled.reshape(-1)
        numbers = np.flatnonzero((measure.floors().reshape(-1) <= best.cost) & (ruled != OUT))
        floors = measure.ranked_floors(numbers)
        for at in np.lexsort(floors.T[::-1]):
            if tuple(floors[at].tolist()) >= best.ranks:
                break
            if self.deadline is not None and time.monotonic() > self.deadline:
                return False
            if ruled[numbers[at]] != OUT:
                score = self._exact(self.lattice.node(int(numbers[at])))
                best = min(best, score, key=lambda scored: scored.order)
        return True

    def _best_by_values(self, values: ValueSearch) -> Score | None:
        """Find the best node as `best` does, where sensitive values are judged by rules."""
        floors, ruled = self._floors.reshape(-1), self._ruled.reshape(-1)
        # Open by sizes says nothing about values.
        ruled[ruled == OPEN] = UNKNOWN
        best = np.inf
        for band in self._bands():
            at = 0
            while at < band.size:
                self.bound = min(best, float(floors[band[at]]))
                if self.bound == best or (self.deadline is not None and time.monotonic() > self.deadline):
                    return self.scorer.best()
                at, scores = values.judge(band, at, best, floors, ruled, paths=not self._all_relaxed)
                self.scorer.scores.update((score.node, score) for score in scores)
                best = min([best, *(score.cost for score in scores)])
        self.bound = float(best)
        return self.scorer.best()

    def _enqueue(self, queue: list[tuple[float, int, Node]], node: Node) -> None:
        """Put a node that is not ruled out into the queue, by the best bound that is known of it."""
        if self._is_ruled_out(node):
            return
        score = self.scorer.scores.get(node)
        if score is None:
            heapq.heappush(queue, (self._relaxed(node), _RELAXED, node))
        elif score.feasible:
            heapq.heappush(queue, (score.cost, _EXACT, node))

    def _by_floor(self) -> Iterator[int]:
        """Return the nodes not ruled out by then, lowest floor first."""
        ruled = self._ruled.reshape(-1)
        for band in self._bands():
            for number in band.tolist():
                if ruled[number] != OUT:
                    yield number

    def _bands(self) -> Iterator[IntArray]:
        """Return the nodes not ruled out, lowest floor first; a large lattice is sorted band by band."""
        floors, ruled = self._floors.reshape(-1), self._ruled.reshape(-1)
        if floors.size <= _ONE_BAND:
            edges = np.array([-np.inf, np.inf])
        else:
            shares = np.linspace(0, 1, 1 + floors.size // _BAND)[1:-1]
            edges = np.unique([-np.inf, *np.quantile(floors[:: floors.size // _SAMPLE], shares), np.inf])
        for low, high in pairwise(edges):
            band = np.flatnonzero((floors >= low) & (floors < high) & (ruled != OUT))
            yield band[np.argsort(floors[band], kind="stable")]

    def _start(self) -> None:
        """Prepare: with no limit every node is open; where floors rule nothing out, all nodes are looked at first."""
        scorer = self.scorer
        if scorer.limit >= self.lattice.table.n_rows:
            self._ruled[...] = OPEN
        if not scorer.measure.prunes and scorer.is_packed:
            visited = visit_all(self.lattice, scorer.measure.weights, scorer.smallest, scorer.limit)
            ruled = np.where(visited.suppressed <= scorer.limit, OPEN, OUT)
            self._ruled = ruled.astype(np.int8).reshape(self.lattice.dims)
            relaxed = scorer.measure.relaxed(self._floors.reshape(-1), visited)
            self._floors = relaxed.reshape(self.lattice.dims)
            self._all_relaxed = True

    def _relaxed(self, node: Node) -> float:
        if self._all_relaxed:
            return float(self._floors[self.lattice.place(node)])
        measure = self.scorer.measure
        return float(measure.relaxed(measure.floor(node), self.scorer.relaxed(node)))

    def _exact(self, node: Node) -> Score:
        score = self.scorer.exact(node)
        if score.rules_out:
            self._ruled[self.lattice.below(node)] = OUT
        return score

    def _is_ruled_out(self, node: Node) -> bool:
        """Return whether a node suppresses too many rows for certain, learning about others on the way."""
        if self._ruled[self.lattice.place(node)] == UNKNOWN:
            self._probe(node)
        return bool(self._ruled[self.lattice.place(node)] == OUT)

    def _probe(self, node: Node) -> None:
        """Search the cheapest path from a node to the top for the highest node that is ruled out, by halving.

        Against the clock the node above it is scored as well: it is often a good one.
        """
        path = [node]
        while True:
            above = self.lattice.successors(path[-1])
            unknown = [up for up in above if self._ruled[self.lattice.place(up)] != OPEN]
            if not unknown:
                break
            path.append(min(unknown, key=lambda up: float(self._floors[self.lattice.place(up)])))
        low, high = 0, len(path) - 1
        # Nodes that are ruled out come first on a path, since everything below one is ruled out too.
        while low <= high:
            middle = (low + high) // 2
            if self._ruled[self.lattice.place(path[middle])] == UNKNOWN:
                self._rule(path[middle])
            if self._ruled[self.lattice.place(path[middle])] == OUT:
                low = middle + 1
            else:
                high = middle - 1
        if self.deadline is not None and low < len(path):
            self._exact(path[low])

    def _rule(self, node: Node) -> None:
        """Rule out a node and all below it, or leave it open; classes too small stay few on the way up."""
        if self.scorer.looks_beyond_sizes:
            # The node alone: beyond sizes, what holds here need not hold above.
            self._ruled[self.lattice.place(node)] = OPEN
            self._exact(node)
        elif self.scorer.relaxed(node).suppressed > self.scorer.limit:
            self._ruled[self.lattice.below(node)] = OUT
        else:
            self._ruled[self.lattice.above(node)] = OPEN


def score_all(scorer: Scorer) -> Visited:
    """Score every node of a lattice."""
    lattice, measure = scorer.lattice, scorer.measure
    by_size = scorer.guarantee.by_size and not scorer.stars_rows
    if not (by_size and scorer.is_packed and measure.relaxed_is_exact):
        for number in range(lattice.n_nodes):
            scorer.exact(lattice.node(number))
        return scorer.visited()
    results = visit_all(lattice, measure.weights, scorer.smallest, scorer.limit)
    feasible = (results.suppressed <= scorer.limit) & (results.kept > 0)
    cost = np.where(feasible, measure.relaxed(measure.floors().reshape(-1), results), np.inf)
    levels = np.stack(np.unravel_index(np.arange(cost.size), lattice.dims), axis=1) + np.array(lattice.bottom)
    exact = np.ones(cost.size, np.bool_)
    return Visited(lattice.names, levels, cost, results.suppressed, feasible, exact, results.kept)


def visit_all(lattice: Lattice, weights: FloatArray, smallest: int, limit: int) -> Found:
    """Visit every node with classes below a size suppressed; return flat arrays in the lattice's own order.

    The loss of suppressed rows is worked out where they are within the limit.
    """
    n_tuples = lattice.table.tuples.counts.size
    if n_tuples >= _MANY:
        # Whichever visit is expected to take less, by times measured beforehand.
        cubes = CubeVisit(lattice, weights)
        if cubes.nanoseconds < SORTED * lattice.n_nodes * n_tuples:
            return cubes.visit(smallest, limit)
    order = _order(lattice)
    fields = _fields(lattice, weights, order)
    columns = [lattice.codes(column, lattice.bottom[column]) for column in order]
    keys = pack_fields(columns, fields.shift)
    first, _, counts = distinct(keys, lattice.table.tuples.counts)
    n_nodes = lattice.n_nodes
    results = Found(
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
    )
    outermost = range(int(fields.dims[0])) if len(order) > 1 else range(1)
    with ThreadPoolExecutor(processors()) as pool:
        jobs = [
            pool.submit(visit, keys[first], counts, fields, level, smallest, limit, results)
            for level in outermost
        ]
        for job in jobs:
            job.result()
    return results


def _order(lattice: Lattice) -> list[int]:
    """Put the column with the most levels innermost, where they cost least, and the others by falling levels."""
    innermost, *others = sorted(
        range(len(lattice.names)),
        key=lambda column: (-lattice.dims[column], -lattice.card(column, lattice.bottom[column])),
    )
    return [*others, innermost]


def _fields(lattice: Lattice, weights: FloatArray, order: list[int]) -> Fields:
    cards = [lattice.card(column, lattice.bottom[column]) for column in order]
    bits = np.array([max(int(card - 1).bit_length(), 1) for card in cards], np.int64)
    dims = np.array([lattice.dims[column] for column in order], np.int64)
    strides = np.array(
        [int(np.prod(lattice.dims[column + 1 :], dtype=np.int64)) for column in order], np.int64
    )
    start = np.zeros((len(order), int(dims.max())), np.int64)
    parents, losses = [], []
    at = 0
    for row, column in enumerate(order):
        levels = lattice.trees[column].levels
        for step in range(lattice.dims[column]):
            level = lattice.bottom[column] + step
            parent = np.zeros(lattice.card(column, level), np.int64)
            if level < lattice.top[column]:
                parent[levels[level]] = levels[level + 1]
            start[row, step] = at
            at += parent.size
            parents.append(parent)
            losses.append(weights[column] * lattice.losses(column, level))
    inner = order[-1]
    tree = lattice.trees[inner]
    nodes = np.zeros((lattice.dims[inner], lattice.card(inner, lattice.bottom[inner])), np.int64)
    for step in range(lattice.dims[inner]):
        nodes[step, tree.levels[lattice.bottom[inner]]] = tree.levels[lattice.bottom[inner] + step]
    shift = np.cumsum(bits[::-1])[::-1] - bits
    return Fields(shift, bits, dims, strides, start, np.concatenate(parents), np.concatenate(losses), nodes)
