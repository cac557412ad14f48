"""Ten seconds of the anytime search on 12 and 15 columns of UCI's Adult (3.2 and 97 million nodes), beside Lightning.

Lightning, as in ARX, is written out here plainly: best first from the bottom, by cost with all suppression counted, and
every other turn a greedy dive to the top. Both score nodes by the same code.
"""

from __future__ import annotations

import heapq
import os
import time
from typing import Any

import numpy as np

from adult_tables import many_columns
from measuring import fresh, shared_data
from rows import Row, failed, within

K = 5
SUPPRESSED = 0.05
OURS = 10.0
LIGHTNING = float(os.environ.get("DISCREET_BENCH_SECONDS", 60))
PROVED = 12
COLUMNS = (12, 15)
ROUNDING = 1 + 1e-9


def run() -> list[Row]:
    """Search by the clock ourselves, and with Lightning by CPU seconds, each in a process of its own."""
    shared_data("adult-arx"), shared_data("adult-uci")
    rows = []
    for n_columns in COLUMNS:
        ours = fresh("lattice_anytime", "anytime", n_columns, SUPPRESSED)
        rows.append(_beside_lightning(n_columns, ours))
        if n_columns == PROVED:
            rows += [
                _proved(fresh("lattice_anytime", "anytime", n_columns, 0.0), 0.0),
                _proved(ours, SUPPRESSED),
            ]
    return rows


def _beside_lightning(n_columns: int, ours: dict[str, Any]) -> Row:
    theirs = fresh("lattice_anytime", "lightning", n_columns)
    what = f"loss, {n_columns} columns, {ours['nodes']:,} nodes, up to {SUPPRESSED:.0%} suppressed"
    if theirs["cost"] is None:
        return failed(what, "Lightning found nothing to compare with")
    note = (
        f"ours in {ours['wall']:.1f} s by the clock, {ours['seconds']:.1f} s of CPU, {ours['scored']:,} nodes scored; "
        f"Lightning in {theirs['seconds']:.0f} s of CPU, {theirs['scored']:,} nodes scored"
    )
    shown = {"ours": f"{ours['cost']:.6f}", "peer": f"{theirs['cost']:.6f}"}
    return within(what, ours["cost"] / theirs["cost"], ROUNDING, "×", **shown, note=note)


def _proved(ours: dict[str, Any], share: float) -> Row:
    """Ask that the best found is known to be the best of all."""
    gap = 1 - ours["bound"] / ours["cost"]
    what = f"gap to the bound, {PROVED} columns, up to {share:.0%} suppressed"
    cost = f"loss {ours['cost']:.4f}, in {ours['wall']:.1f} s by the clock, {ours['seconds']:.1f} s of CPU"
    return within(what, gap, 0.0, "", note=f"{cost}; 0 is proved to be the best")


def anytime(n_columns: int, share: float) -> dict[str, Any]:
    """Find the best node within the time, as a user would."""
    from discreet.guarantees import KAnonymity
    from discreet.publish import OptimalLattice

    table = many_columns(n_columns)
    method = OptimalLattice(KAnonymity(K), max_suppressed=share, time_limit=OURS, random_state=1)
    began, clock = time.process_time(), time.perf_counter()
    details = method.release(table).evidence.details
    spent = {"seconds": time.process_time() - began, "wall": time.perf_counter() - clock}
    bound = details["cost"] if details["optimal"] else details["bound"]
    scored = int(details["visited"].cost.size)
    return {"nodes": details["n_nodes"], "cost": details["cost"], "bound": bound, "scored": scored, **spent}


def lightning(n_columns: int) -> dict[str, Any]:
    """Run Lightning for its CPU seconds."""
    table = many_columns(n_columns)
    began = time.process_time()
    search = Lightning(table, int(SUPPRESSED * table.n_rows), deadline=began + LIGHTNING)
    search.run()
    seconds = time.process_time() - began
    cost = None if np.isinf(search.best) else search.best
    return {"cost": cost, "scored": len(search.costs), "seconds": seconds}


class Lightning:
    """The heuristic search; ``best`` is the least cost of a node that suppresses no more rows than allowed."""

    def __init__(self, table: Any, limit: int, *, deadline: float) -> None:
        from discreet.guarantees import KAnonymity
        from discreet.publish.lattice.lattice import Lattice
        from discreet.publish.lattice.measures import LossMeasure
        from discreet.publish.lattice.scoring import Scorer

        self.lattice = Lattice(table)
        measure = LossMeasure(self.lattice, np.ones(len(self.lattice.names)), "mean")
        self.scorer = Scorer(self.lattice, KAnonymity(K), measure, table.n_rows)
        self.limit = limit
        self.deadline = deadline
        self.best = np.inf
        self.costs: dict[tuple[int, ...], float] = {}
        self.queue: list[tuple[float, tuple[int, ...]]] = []

    def run(self) -> None:
        """Take the cheapest node by turns as a step and as the start of a dive, until the time is up."""
        self._enter(self.queue, self.lattice.bottom)
        diving = True
        while self.queue and not self._is_over():
            node = heapq.heappop(self.queue)[1]
            if self.scorer.measure.floor(node) >= self.best:
                continue
            if diving:
                self._dive(node)
            else:
                self._expand(self.queue, node)
            diving = not diving

    def _dive(self, node: tuple[int, ...]) -> None:
        """Go up to the cheapest successor, again and again; the others wait in the queue."""
        while not self._is_over():
            found: list[tuple[float, tuple[int, ...]]] = []
            self._expand(found, node)
            if not found:
                return
            node = heapq.heappop(found)[1]
            for other in found:
                heapq.heappush(self.queue, other)

    def _expand(self, queue: list[tuple[float, tuple[int, ...]]], node: tuple[int, ...]) -> None:
        for above in self.lattice.successors(node):
            if self._is_over():
                return
            self._enter(queue, above)

    def _enter(self, queue: list[tuple[float, tuple[int, ...]]], node: tuple[int, ...]) -> None:
        """Score a node that is new and may be better than the best, and put it into a queue."""
        floor = self.scorer.measure.floor(node)
        if node in self.costs or floor >= self.best:
            return
        stats = self.scorer.relaxed(node)
        cost = float(self.scorer.measure.relaxed(floor, stats))
        self.costs[node] = cost
        heapq.heappush(queue, (cost, node))
        if stats.suppressed <= self.limit and cost < self.best:
            self.best = cost

    def _is_over(self) -> bool:
        return time.process_time() > self.deadline
