"""Samarati's search: the least height of the lattice at which a generalization keeps the guarantee (Samarati 2001)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.tables.table import Table
from discreet.guarantees.per_unit import by_unit
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.lattice_search import LatticeSearch
from discreet.publish.tables.minimality import MINIMALITY
from discreet.publish.tables.publisher import kept_groups

if TYPE_CHECKING:
    from discreet.publish.lattice.scoring import Score, Scorer

MOST_NODES = 2_000_000
"""A search that may have to look at more nodes is refused."""
Minimal: TypeAlias = tuple[list[Node], dict[str, object]]
"""The minimal nodes of a search, and details for the evidence."""


class MinimalGeneralization(LatticeSearch, ABC):
    """A search for minimal nodes of the lattice, of which the one that costs least is released.

    Parameters
    ----------
    measure
        What chooses among the minimal nodes; those of `OptimalLattice`.
    """

    def _choose(self, table: Table) -> tuple[Lattice, Node, dict[str, Any]]:
        scorer = self._scorer(table)
        lattice = scorer.lattice
        minimal, statistics = self._search(scorer)
        if not minimal:
            raise self._none_minimal(scorer)
        best = _cheapest([scorer.exact(node) for node in minimal])
        node, decided = self._settled(table, lattice, best.node)
        if node != best.node:
            best = self._scorer(table).exact(node)
        details: dict[str, Any] = {
            MINIMALITY: decided,
            "minimal": [lattice.levels(node) for node in minimal],
            "measure": self.measure,
            "cost": best.cost,
            "n_nodes": lattice.n_nodes,
            "checked": len(scorer.scores),
        }
        return lattice, best.node, details | statistics

    @by_unit
    def minimal_nodes(self, table: Table) -> list[dict[str, int]]:
        """Return the minimal nodes as levels by column; an empty list where no node keeps the guarantee."""
        self._check(table)
        scorer = self._scorer(table)
        return [scorer.lattice.levels(node) for node in self._search(scorer)[0]]

    @abstractmethod
    def _search(self, scorer: Scorer) -> Minimal:
        """Find the minimal nodes."""

    def _size(self, lattice: Lattice) -> int:
        """Return the number of nodes the search may have to look at."""
        return lattice.n_nodes

    def _passes(self, scorer: Scorer, score: Score) -> bool:
        """Return whether a node or one below it may keep the guarantee.

        Where nothing is suppressed, or a class that keeps the guarantee keeps it whatever it takes in, no node below
        one that breaks it can keep it. Elsewhere only what fails for certain, however classes are divided, rules out
        what lies below; so too for guarantees that compare with the whole table.
        """
        certain = scorer.limit == 0 and self.guarantee.joinable and not self.guarantee.relative
        if self.guarantee.monotone or certain:
            return score.feasible
        return score.feasible or not score.rules_out

    def _scorer(self, table: Table) -> Scorer:
        lattice = Lattice(table)
        size = self._size(lattice)
        if size > MOST_NODES:
            raise ParameterError(
                f"{type(self).__name__} would have to search {size:,} nodes (the lattice of all columns has "
                f"{lattice.n_nodes:,}), and {MOST_NODES:,} are the most: give the columns fewer levels, or use "
                "OptimalLattice with a time_limit."
            )
        return self._scorer_of(lattice)

    def _none_minimal(self, scorer: Scorer) -> InfeasibleError:
        nearest = min(scorer.scores.values(), key=lambda score: score.suppressed)
        groups, *_ = scorer.lattice.groups(nearest.node)
        least = int(groups.sizes[~kept_groups(self.guarantee, groups)].sum())
        return self._infeasible(least, scorer.lattice.table.n_rows)


@public
class Samarati(MinimalGeneralization):
    """Generalize whole columns as little as keeps the guarantee: to the least height, the sum of levels, that will do.

    All nodes of that height that keep the guarantee are found, with rows of broken classes left out up to a share, and
    the one that costs least is released. The evidence holds the ``height`` and the ``minimal`` nodes.

    The height is found by halving. That is exact where a node that keeps the guarantee keeps it all the way up: with
    suppression for k-anonymity and distinct diversity, without for every guarantee about the classes alone. For the
    others halving only finds the height below which every node fails for certain; from there heights are searched
    upward one by one, each node checked, so that the height is always the least.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, intervals, masked, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({
    ...     "age": [24, 37, 26, 38, 36, 25], "zip": ["10598", "90210", "10547", "90345", "89119", "02139"]}),
    ...     {"age": quasi(intervals(10, 20)), "zip": quasi(masked())})
    >>> release = Samarati(KAnonymity(2), max_suppressed=0.4).release(table)
    >>> release.evidence.details["height"], release.evidence.details["minimal"]
    (4, [{'age': 1, 'zip': 3}])

    References
    ----------
    P. Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001.
    """

    def _search(self, scorer: Scorer) -> Minimal:
        heights = _heights(scorer.lattice)
        ruled_out = np.zeros(scorer.lattice.dims, np.bool_)
        low, high = 0, int(heights.max())
        looked_at = set()
        while low < high:
            middle = (low + high) // 2
            looked_at.add(middle)
            # One open node is enough, and the others of the height are not looked at.
            if any(self._open_at(middle, heights, ruled_out, scorer)):
                high = middle
            else:
                low = middle + 1
        for height in range(low, int(heights.max()) + 1):
            looked_at.add(height)
            open_nodes = list(self._open_at(height, heights, ruled_out, scorer))
            minimal = [score.node for score in open_nodes if score.feasible]
            if minimal:
                return minimal, {"height": height, "heights": sorted(looked_at)}
        return [], {}

    def _open_at(
        self, height: int, heights: IntArray, ruled_out: BoolArray, scorer: Scorer
    ) -> Iterator[Score]:
        """Return the nodes of a height that may keep the guarantee, ruling out those below others."""
        lattice = scorer.lattice
        for number in np.flatnonzero(heights == height):
            node = lattice.node(int(number))
            if ruled_out[lattice.place(node)]:
                continue
            score = scorer.exact(node)
            if self._passes(scorer, score):
                yield score
            else:
                ruled_out[lattice.below(node)] = True


def _cheapest(scores: list[Score]) -> Score:
    """Return the node that costs least; of those that cost the same, up to rounding, the first by its levels."""
    least = min(score.cost for score in scores)
    alike = [score for score in scores if math.isclose(score.cost, least, rel_tol=1e-9, abs_tol=1e-12)]
    return min(alike, key=lambda score: score.node)


def _heights(lattice: Lattice) -> IntArray:
    """Return every node's height, in the order of the lattice's flattened arrays."""
    levels = [np.arange(n_levels) for n_levels in lattice.dims]
    heights: IntArray = reduce(np.add.outer, levels).reshape(-1)
    return heights
