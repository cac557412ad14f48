"""Incognito: every minimal generalization, column subset by column subset (LeFevre, DeWitt, Ramakrishnan 2005)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from discreet.core.arrays import BoolArray
from discreet.core.boundary import public
from discreet.core.params import BOOL, Constraints
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.samarati import Minimal, MinimalGeneralization

if TYPE_CHECKING:
    from discreet.publish.lattice.roll_up import Recount, RollUp
    from discreet.publish.lattice.scoring import Score, Scorer

Subset: TypeAlias = tuple[int, ...]
"""Columns by their place in the schema's order, ascending."""
SubLattices: TypeAlias = Mapping[Subset, BoolArray]
"""Nodes by column subset: an array with an axis of levels for each of its columns, true where a node is in."""


@public
@dataclass(kw_only=True, repr=False, eq=False)
class Incognito(MinimalGeneralization):
    """Find every minimal generalization of whole columns that keeps the guarantee, and release the cheapest.

    A node is minimal when it keeps the guarantee, with rows of broken classes left out up to a share, and no node
    below it does. Sub-lattices over ever more columns are searched: candidates are joined from those that passed with
    one column less, pruned of nodes of which a part did not pass, and checked breadth first from below, where whatever
    lies above a node that passes is passed over. The evidence holds the ``minimal`` nodes, the number of nodes
    ``checked``, the number of ``candidates`` for each number of columns, and the number of frequency sets counted
    ``from_rows`` and not rolled up from others.

    A part that fails rules out the whole where a class that keeps the guarantee keeps it whatever it takes in
    (k-anonymity, distinct diversity), and, where nothing is suppressed, for every guarantee about the classes alone.
    For the others a part rules out the whole only by what fails for certain, however classes are divided. All columns
    together are always checked in full, so the minimal nodes are those that a search of every node finds.

    Parameters
    ----------
    super_roots
        Whether the lowest candidates of a sub-lattice are rolled up from one frequency set below them all.
    precompute
        Whether the frequency sets of all column subsets at the lowest level are made first, from larger subsets to
        smaller, so that the rows are counted only once; not where the columns' codes outgrow one integer together.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, intervals, masked, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> table = Table(pa.table({
    ...     "age": [24, 38, 26, 38, 36, 24], "zip": ["10598", "90210", "10547", "90345", "89119", "02139"]}),
    ...     {"age": quasi(intervals(10, 20)), "zip": quasi(masked())})
    >>> release = Incognito(KAnonymity(2), max_suppressed=0.4).release(table)
    >>> release.evidence.details["minimal"]
    [{'age': 1, 'zip': 3}, {'age': 0, 'zip': 5}]
    >>> release.evidence.levels, release.evidence.suppressed
    ({'age': 1, 'zip': 3}, 2)

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Incognito: efficient full-domain k-anonymity. SIGMOD 2005.
    """

    super_roots: bool = True
    precompute: bool = True

    constraints: ClassVar[Constraints] = {
        **MinimalGeneralization.constraints,
        "super_roots": BOOL,
        "precompute": BOOL,
    }

    def _search(self, scorer: Scorer) -> Minimal:
        sets = FrequencySets(scorer, super_roots=self.super_roots, precompute=self.precompute)
        n_columns = len(scorer.lattice.names)
        candidates: SubLattices = {
            (column,): np.ones(n_levels, np.bool_) for column, n_levels in enumerate(scorer.lattice.dims)
        }
        n_candidates = [_n_nodes(candidates)]
        for size in range(2, n_columns + 1):
            passed = {
                columns: self._check_nodes(columns, nodes, sets)[0] for columns, nodes in candidates.items()
            }
            candidates = {
                columns: prune_candidates(columns, join_candidates(columns, passed), passed)
                for columns in combinations(range(n_columns), size)
            }
            n_candidates.append(_n_nodes(candidates))
        (everything,) = candidates.items()
        _, minimal = self._check_nodes(*everything, sets)
        return minimal, {"candidates": n_candidates, "from_rows": sets.n_from_rows}

    def _check_nodes(
        self, columns: Subset, candidates: BoolArray, sets: FrequencySets
    ) -> tuple[BoolArray, list[Node]]:
        """Check candidates breadth first; return those that pass or lie above one that does, and the lowest that do."""
        lattice = sets.lattice
        has_all = len(columns) == len(lattice.names)
        sets.start(columns, candidates)
        passed = np.zeros_like(candidates)
        lowest = []
        places = np.argwhere(candidates)
        for levels in places[np.argsort(places.sum(axis=1), kind="stable")].tolist():
            if passed[tuple(levels)]:
                continue
            score = sets.score(whole_node(lattice, columns, levels))
            if score.feasible if has_all else self._passes(sets.scorer, score):
                passed[tuple(slice(level, None) for level in levels)] = True
                lowest.append(score.node)
        return passed, lowest

    def _size(self, lattice: Lattice) -> int:
        # Each column is at one of its levels or left out, but not all are left out.
        return math.prod(n_levels + 1 for n_levels in lattice.dims) - 1


def join_candidates(columns: Subset, passed: SubLattices) -> BoolArray:
    """Join the sub-lattices without the last column and without the last but one, where the levels in common agree."""
    left, right = passed[columns[:-1]], passed[columns[:-2] + columns[-1:]]
    joined: BoolArray = left[..., :, np.newaxis] & right[..., np.newaxis, :]
    return joined


def prune_candidates(columns: Subset, candidates: BoolArray, passed: SubLattices) -> BoolArray:
    """Keep the candidates of which every part with one column less has passed."""
    pruned = candidates.copy()
    # The parts without one of the last two columns are those that were joined.
    for axis in range(len(columns) - 2):
        pruned &= np.expand_dims(passed[columns[:axis] + columns[axis + 1 :]], axis)
    return pruned


def roots(candidates: BoolArray) -> list[Subset]:
    """Return the places of the candidates that have no candidate directly below them."""
    has_below = np.zeros_like(candidates)
    for axis in range(candidates.ndim):
        above, below = [slice(None)] * candidates.ndim, [slice(None)] * candidates.ndim
        above[axis], below[axis] = slice(1, None), slice(None, -1)
        has_below[tuple(above)] |= candidates[tuple(below)]
    return [tuple(levels) for levels in np.argwhere(candidates & ~has_below).tolist()]


def whole_node(lattice: Lattice, columns: Subset, levels: Subset) -> Node:
    """Return the node over all columns with the same classes: the others are at the top, where all rows are alike."""
    node = list(lattice.top)
    for column, level in zip(columns, levels, strict=True):
        node[column] = level
    return tuple(node)


class FrequencySets:
    """The frequency sets of a search: counted from the rows where it starts, from there on rolled up.

    A search of a sub-lattice starts at each of its roots, at one super-root below them all, or at sets made beforehand
    for every column subset. ``n_from_rows`` is the number of sets counted from the rows.
    """

    def __init__(self, scorer: Scorer, *, super_roots: bool, precompute: bool) -> None:
        self.scorer = scorer
        self.lattice = scorer.lattice
        self.n_from_rows = 0
        self._super_roots = super_roots
        self._starts: list[Node] = []
        self._sources: dict[Node, RollUp | Recount] = {}
        self._cube = self._precomputed() if precompute else None

    def start(self, columns: Subset, candidates: BoolArray) -> None:
        """Begin with the sub-lattice of some columns; the sets of the one before are let go."""
        places = roots(candidates)
        if self._super_roots and places:
            # The lowest level of each column among the roots: a node below all of them.
            places = [tuple(np.min(places, axis=0).tolist())]
        self._starts = [whole_node(self.lattice, columns, levels) for levels in places]
        self._sources = {}
        if self._cube is not None:
            for node in self._starts:
                self._cube.counted(node)

    def score(self, node: Node) -> Score:
        """Judge the classes of a node."""
        score = self.scorer.scores.get(node)
        if score is not None:
            return score
        # In place of the cached property: the scorer counts from here.
        self.scorer.classes = self._cube or self._source(node)
        return self.scorer.exact(node)

    def _precomputed(self) -> RollUp | None:
        """Make the frequency sets of all column subsets at the lowest level, each from a larger subset's."""
        from discreet.publish.lattice.roll_up import RollUp

        cube = self.scorer.classes
        if not isinstance(cube, RollUp):
            return None
        self.n_from_rows += 1
        n_columns = len(self.lattice.names)
        for size in range(n_columns - 1, 0, -1):
            for columns in combinations(range(n_columns), size):
                cube.counted(whole_node(self.lattice, columns, (0,) * size))
        return cube

    def _source(self, node: Node) -> RollUp | Recount:
        """Return the classes of all nodes above the start that lies below a node, counting the rows the first time."""
        from discreet.publish.lattice.roll_up import Recount, RollUp

        start = next(low for low in self._starts if all(a <= b for a, b in zip(low, node, strict=True)))
        source = self._sources.get(start)
        if source is None:
            above = Lattice(self.lattice.table, lowest=self.lattice.levels(start))
            sensitive = self.scorer.guarantee.columns(self.lattice.table.schema.sensitive)
            source = RollUp(above, sensitive) if RollUp.fits(above, sensitive) else Recount(above)
            self._sources[start] = source
            self.n_from_rows += isinstance(source, RollUp)
        self.n_from_rows += isinstance(source, Recount)
        return source


def _n_nodes(sub_lattices: SubLattices) -> int:
    return sum(int(nodes.sum()) for nodes in sub_lattices.values())
