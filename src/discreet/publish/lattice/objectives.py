"""Objectives of a lattice search with parameters of their own: suppression against generalization, and prediction."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.tables.groups import Groups
from discreet.kernels.tables.lattice import Stats
from discreet.kernels.tables.lattice_nodes import Found
from discreet.publish.lattice.lattice import Lattice, Node
from discreet.publish.lattice.measures import (
    MEASURES,
    Aggregate,
    ColumnMeasure,
    Costs,
    Dropped,
    LossMeasure,
    NodeMeasure,
)
from discreet.publish.lattice.roll_up import Recount, RollUp

EVEN = 0.5
"""The factor at which a suppressed row costs as much as the widest cells."""


def node_measure(
    name: str,
    lattice: Lattice,
    weights: FloatArray,
    aggregate: Aggregate = "mean",
    *,
    factor: float = EVEN,
    target: str | None = None,
) -> NodeMeasure:
    """Return a measure by its name, with a factor of suppression; or that of predicting a target."""
    if aggregate == "rank" and (target is not None or not issubclass(MEASURES[name], ColumnMeasure)):
        raise ParameterError(
            "The 'aggregate' parameter 'rank' compares columns, and this measure has one figure for all of them: take "
            "loss, entropy or precision, without a target.",
            fix={"aggregate": "mean"},
        )
    if target is not None:
        return PredictionMeasure(lattice, target)
    if factor == EVEN:
        return MEASURES[name](lattice, weights, aggregate)
    if name != "loss":
        raise ParameterError(
            "The 'suppression_factor' parameter of OptimalLattice belongs to measure='loss'."
        )
    return FactorMeasure(lattice, weights, aggregate, factor)


class FactorMeasure(LossMeasure):
    """The generalized loss with a factor g between generalization (towards 0) and suppression (towards 1), as in ARX.

    A row in a cell that stands for a share a of the leaves counts min(1, 2 - 2g) a; a suppressed one
    a + min(1, 2g) (1 - a). The sum is scaled so that exact rows cost 0. At g = 1/2 this is the loss.
    """

    counts_suppressed: ClassVar[bool] = False

    def __init__(self, lattice: Lattice, weights: FloatArray, aggregate: Aggregate, factor: float) -> None:
        self.factor = factor
        self._generalized, self._suppressed = min(1.0, 2 - 2 * factor), min(1.0, 2 * factor)
        super().__init__(lattice, weights, aggregate)

    def of_part(self, lattice: Lattice, weights: FloatArray) -> NodeMeasure:
        """Return the measure of some columns."""
        return FactorMeasure(lattice, weights, "mean", self.factor)

    def _column(self, column: int) -> FloatArray:
        share = self._share(column, super()._column(column))
        return self._generalized * (share - self._least(column)) / self._room(column)

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return the floor: suppression adds to it."""
        return floor

    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return the loss of each column."""
        columns = []
        for column, (level, step) in enumerate(zip(node, self.lattice.place(node), strict=True)):
            share = self._share(column, self.lattice.losses(column, level)[dropped.codes[column]])
            # In a column of one value only suppression costs anything, where ARX divides by zero.
            left_out = self._suppressed * (1 - share if self._least(column) < 1 else np.ones(share.size))
            more = share * (1 - self._generalized) * (self._least(column) < 1) + left_out
            more_by_row = (more * dropped.sizes).sum() / self.n_rows
            columns.append(self.columns[column][step] + more_by_row / self._room(column))
        return columns

    def _least(self, column: int) -> float:
        """Return the share of the leaves that an exact value is."""
        return 1.0 / max(self.lattice.trees[column].n_leaves, 1)

    def _share(self, column: int, loss: FloatArray) -> FloatArray:
        """Return the share of the leaves from the loss."""
        return loss * (1 - self._least(column)) + self._least(column)

    def _room(self, column: int) -> float:
        """Return what a column costs at most beyond exact rows; 1 where it has one value."""
        least = self._least(column)
        return 1 - self._generalized * least if least < 1 else 1.0


class PredictionMeasure(NodeMeasure):
    """The share of rows that the most frequent value of their class misses; a suppressed row is missed (Iyengar 2002).

    Coarser classes never predict better, so that a node misses no less than the node at which one of its columns is as
    coarse and the others are exact: the floors are the largest of these.
    """

    counts_suppressed: ClassVar[bool] = False

    def __init__(self, lattice: Lattice, target: str) -> None:
        if target not in lattice.table.schema.sensitive:
            raise SchemaError(f"The 'target' parameter names '{target}', which is no sensitive column.")
        self.target = target
        fits = RollUp.fits(lattice, (target,))
        self._classes: RollUp | Recount = RollUp(lattice, (target,)) if fits else Recount(lattice)
        super().__init__(lattice, np.ones(len(lattice.names)), "maximum")

    def of_part(self, lattice: Lattice, weights: FloatArray) -> NodeMeasure:
        """Return the measure on a part of the lattice."""
        del weights
        return PredictionMeasure(lattice, str(self.target))

    def _column(self, column: int) -> FloatArray:
        bottom, top = self.lattice.bottom, self.lattice.top
        nodes = [
            (*bottom[:column], level, *bottom[column + 1 :])
            for level in range(bottom[column], top[column] + 1)
        ]
        return np.array([self._missed(self._classes.groups(node)[0]).sum() for node in nodes]) / self.n_rows

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return a lower bound: suppressed rows are missed."""
        return np.maximum(floor, stats.suppressed / self.n_rows)

    def exact(self, node: Node, dropped: Dropped, sizes: IntArray) -> float:
        """Return the share of rows missed at a node."""
        groups = self._classes.groups(node)[0] if dropped.groups is None else dropped.groups
        missed = self._missed(groups)
        stayed = missed if dropped.kept is None else missed[dropped.kept]
        return float(stayed.sum() + dropped.n_rows) / self.n_rows

    def _missed(self, groups: Groups) -> IntArray:
        """Count the rows of each class that do not have its most frequent value."""
        counts = groups.sensitive[str(self.target)]
        return np.asarray(groups.sizes - np.maximum.reduceat(counts.counts, counts.indptr[:-1]))
