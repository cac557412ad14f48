"""SafePub: a random sample of rows, generalized by levels that no row decides (Bild, Kuhn & Prasser 2018)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.core.hierarchy.specs import Codes, Cuts, Flat, Intervals, Rows
from discreet.core.params import NONE, Constraints, InstanceOf, IntIn
from discreet.core.release import Cells, Release
from discreet.core.schema import DROPPED
from discreet.core.tables.source import Pieces, Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import SampledPrivacy
from discreet.guarantees.k_anonymity import SampleSize
from discreet.guarantees.per_unit import refuse_units
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.tables.publisher import Plan, TablePublisher

_FIXED = (Rows, Intervals, Cuts, Flat, Codes)
"""Hierarchies whose levels, and the label of a value, do not depend on the other values; the length of masks does."""
_SCORE_STEPS = 64
"""Into how many steps the detail of a row is cut in scores, which are compared as whole numbers."""


@public
@dataclass(kw_only=True, repr=False, eq=False)
class SafePub(TablePublisher):
    """Publish true rows with differential privacy: a random sample of them, generalized, without small classes.

    Each row is drawn with a probability beta, all columns are taken to levels, and classes with fewer than k drawn rows
    are left out. Beta and k follow from epsilon and delta. Levels that depend on the rows cost a part of epsilon: from
    the top of the lattice, each step moves to a node below one that was looked at, by noisy scores, and a last choice
    takes the best of them. A score is the detail that is left, level by height, of the rows in classes large enough.

    All published columns are quasi-identifiers, since rows are judged alike in all of them, and their hierarchies must
    not depend on the rows: files, trees, intervals, cuts, code systems, or none. The number of rows is public, and
    tables are neighbors where the values of one row differ; the paper adds or removes a row, for half the epsilon.

    Scores are of the whole table, with k / beta in place of k, where the paper scores the sample: the sample that is
    published is then fresh, and the costs of the two steps add up whatever the scores were.

    Parameters
    ----------
    guarantee
        The `SampledPrivacy` to keep.
    levels
        The level of each column, where they are chosen without a look at the rows; None searches. A missing one is 0.
    n_steps
        The number of steps of the search.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, intervals, quasi
    >>> from discreet.guarantees import SampledPrivacy
    >>> people = pa.table({"age": [21, 25, 34, 38] * 500, "smoker": [True, False] * 1000})
    >>> table = Table(people, {"age": quasi(intervals(10, 50)), "smoker": quasi()})
    >>> release = SafePub(SampledPrivacy(2, 1e-6), levels={"age": 1}).release(table)
    >>> release.verdict.word, release.frame.num_rows < 2000
    ('by construction', True)

    References
    ----------
    R. Bild, K. Kuhn, F. Prasser: SafePub: a truthful data anonymization algorithm with strong privacy guarantees.
    PoPETs 2018(1).
    """

    levels: Mapping[str, int] | None = None
    n_steps: int = 10

    constraints: ClassVar[Constraints] = {
        "guarantee": InstanceOf((SampledPrivacy,), "a SampledPrivacy"),
        "levels": (InstanceOf((Mapping,), "a mapping from columns to levels"), NONE),
        "n_steps": IntIn(1, 1000),
        # Never seeded: whoever knew the seed could draw the sample again.
        "random_state": NONE,
    }
    not_in_recipe: ClassVar[tuple[str, ...]] = (*TablePublisher.not_in_recipe, "levels")

    def release(self, table: Table) -> Release:
        """Sample a table, generalize it and publish it, with its rows in random order."""
        if isinstance(table, Table):
            refuse_units(self, table)
        publisher = copy.copy(self)
        if self.levels is not None and isinstance(self.guarantee, SampledPrivacy):
            publisher.guarantee = replace(self.guarantee, search=0.0)
        release = super(SafePub, publisher).release(table)
        return replace(release, kind="sampled-table", guarantee=publisher._promise.of_sample())

    def _check(self, table: Table) -> None:
        super()._check(table)
        if self.levels is None and not self._promise.search:
            raise ParameterError(
                "A search for levels takes a share of epsilon: name a search above 0, or levels."
            )
        for name, column in table.schema.items():
            if column.role not in DROPPED and name not in table.schema.quasi:
                raise SchemaError(
                    f"SafePub judges rows alike in all columns, and '{name}' is no quasi-identifier: make it one, "
                    "with a hierarchy, or drop it."
                )
            if column.hierarchy is not None and not isinstance(column.hierarchy, _FIXED):
                raise SchemaError(
                    f"The hierarchy of '{name}' may depend on the rows, which would reveal something of them: take one "
                    "from a file, a tree, intervals or cuts."
                )

    @property
    def _promise(self) -> SampledPrivacy:
        assert isinstance(self.guarantee, SampledPrivacy)
        return self.guarantee

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        size, levels = self._promise.size, self._highest(table)
        lattice = Lattice(table, lowest=levels, highest=levels)
        node = lattice.bottom if self.levels is not None else self._chosen(lattice, size)
        counts = table.tuples.counts
        # A row is drawn or not whatever the others are, so that the draws of equal rows are binomial.
        drawn = rng.binomial(counts, size.beta).astype(np.int64)
        _, labels, codes = Lattice(table).groups(node)
        sizes = np.bincount(labels, drawn, len(codes[0]) if codes else 1).astype(np.int64)
        kept = sizes >= size.k
        if not kept.any():
            raise InfeasibleError(
                f"No class has the {size.k} sampled rows that {self.guarantee} needs at these levels: generalize "
                "further, raise epsilon or delta, or draw again."
            )
        return self._plan_of(lattice, node, drawn, kept[labels], sizes[kept], [code[kept] for code in codes])

    def _highest(self, table: Table) -> Mapping[str, int] | None:
        """Return the levels that are set, 0 where none is; None for a search."""
        return None if self.levels is None else dict.fromkeys(table.schema.quasi, 0) | dict(self.levels)

    def _plan_of(
        self, lattice: Lattice, node: Node, drawn: IntArray, kept: Any, sizes: IntArray, codes: list[Any]
    ) -> Plan:
        """Return the plan that publishes the drawn rows of classes that are kept."""
        table = lattice.table
        counts = table.tuples.counts
        numbers = np.arange(counts.size, dtype=np.int32)
        both = Pieces(np.concatenate([numbers, numbers]), np.concatenate([drawn, counts - drawn]))
        present = both.counts > 0
        dropped = np.concatenate([~kept, np.ones(counts.size, np.bool_)])[present]
        by_value, cells = {}, {}
        for column, (name, tree, level) in enumerate(zip(lattice.names, lattice.trees, node, strict=True)):
            if level:
                by_value[name] = Replacement(tree.levels[level], pa.array(tree.labels[level], pa.string()))
            covered = np.bincount(tree.levels[level], weights=table.overall(name)).astype(np.int64)
            cells[name] = Cells(codes[column], lattice.losses(column, level), covered)
        return Plan(
            sizes,
            cells,
            by_value=by_value,
            pieces=Pieces(both.tuple_[present], both.counts[present]),
            dropped=dropped,
            suppressed=int(counts.sum() - sizes.sum()),
            levels=lattice.levels(node),
            details={"beta": self._promise.size.beta, "k": self._promise.smallest},
            published={
                name: [tree.labels[level][code] for code in np.unique(codes[column])]
                for column, (name, tree, level) in enumerate(
                    zip(lattice.names, lattice.trees, node, strict=True)
                )
            },
        )

    def _chosen(self, lattice: Lattice, size: SampleSize) -> Node:
        """Choose a node by noisy scores: one choice for each step, and one among the nodes that were chosen."""
        large_enough = math.ceil(size.k / size.beta)
        score = scores_of(lattice, large_enough)
        # One row that changes leaves a class and enters another: the one may fall below its size and take as many rows
        # with it, the other may reach it. They pull in opposite directions, so that a score moves by one class at most.
        moved = large_enough * _SCORE_STEPS
        epsilon = self._promise.epsilon * self._promise.search / (self.n_steps + 1)
        pivots, candidates = [lattice.top], dict.fromkeys(lattice.predecessors(lattice.top))
        for _ in range(self.n_steps):
            if not candidates:
                break
            pivots.append(noisy_best(list(candidates), [score(node) for node in candidates], moved, epsilon))
            candidates.pop(pivots[-1])
            below = (node for node in lattice.predecessors(pivots[-1]) if node not in pivots)
            candidates |= dict.fromkeys(below)
        return noisy_best(pivots, [score(node) for node in pivots], moved, epsilon)


def scores_of(lattice: Lattice, large_enough: int) -> Callable[[Node], int]:
    """Return what computes the score of a node: the detail of the rows in classes that are large enough."""
    from discreet.publish.lattice.roll_up import Recount, RollUp

    classes = RollUp(lattice) if RollUp.fits(lattice) else Recount(lattice)

    @cache
    def score(node: Node) -> int:
        sizes = classes.groups(node)[0].sizes
        levels = zip(lattice.trees, node, strict=True)
        detail = np.mean([1 - level / max(tree.height, 1) for tree, level in levels])
        # Rounded down for each row, so that a row counts a whole number and none counts too much.
        return int(sizes[sizes >= large_enough].sum()) * math.floor(detail * _SCORE_STEPS)

    return score


def noisy_best(nodes: list[Node], scores: list[int], moved: int, epsilon: float) -> Node:
    """Return a node of about the highest score, by the exponential mechanism of OpenDP, at a cost of epsilon."""
    from discreet.publish.synthetic.noisy_counts import opendp

    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = 2 * moved / epsilon
    while (mechanism := dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)).map(moved) > epsilon:
        scale *= 1 + 1e-9
    return nodes[int(mechanism(scores))]
