"""What a lattice node costs: each measure with a floor that suppression can only raise, so that a search may prune."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.tables.groups import Groups
from discreet.kernels.tables.lattice import Stats
from discreet.kernels.tables.lattice_nodes import Found
from discreet.publish.lattice.lattice import Lattice, Node

Aggregate = Literal["mean", "sum", "maximum", "geometric", "rank"]
# Far above what single precision rounds, so that a rough floor never lies above the exact one.
_ROUGHNESS = 1e-5
Costs: TypeAlias = Any
"""A cost, or an array of costs."""


@dataclass(frozen=True)
class Dropped:
    """The classes a node suppresses: their sizes, and their codes in each column; beside all classes of the node."""

    sizes: IntArray
    codes: Sequence[CodeArray]
    groups: Groups | None = None
    kept: BoolArray | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows suppressed."""
        return int(self.sizes.sum())


class NodeMeasure(ABC):
    """A cost of lattice nodes, lower is better.

    ``floors`` bounds every node's cost from below by its levels alone, never falling on the way up; ``relaxed`` bounds
    it by the suppression of classes too small for any guarantee; ``exact`` is the cost itself. Each is at most
    the next.
    """

    prunes: ClassVar[bool] = True
    """Whether the floors rule anything out."""
    counts_suppressed: ClassVar[bool] = True
    """Whether the relaxed cost of a mean over columns takes in all that suppression costs."""

    target: str | None = None
    """The sensitive column that the cost looks at; None where it looks at none."""

    @property
    def relaxed_is_exact(self) -> bool:
        """Whether the relaxed cost is the cost, where only classes too small are suppressed."""
        return self.counts_suppressed and (self.aggregate == "mean" or not self.prunes)

    def __init__(self, lattice: Lattice, weights: FloatArray, aggregate: Aggregate) -> None:
        self.lattice = lattice
        self.weights = weights
        self.aggregate = aggregate
        self.n_rows = lattice.table.n_rows
        self.columns = [self._column(column) for column in range(len(weights))]

    def of_part(self, lattice: Lattice, weights: FloatArray) -> NodeMeasure:
        """Return the measure of some columns, as their mean."""
        return type(self)(lattice, weights, "mean")

    def floors(self, *, rough: bool = False) -> NDArray[Any]:
        """Return a lower bound of every node's cost, as an array over the lattice; a rough one is a little lower."""
        if not rough:
            return self._joined(self.columns, outer=True)
        single = [column.astype(np.float32) for column in self.columns]
        floors: NDArray[Any] = self._joined(single, outer=True).astype(np.float32, copy=False)
        floors *= np.float32(1 - _ROUGHNESS)
        floors -= np.float32(_ROUGHNESS)
        return floors

    def floor(self, node: Node) -> float:
        """Return the lower bound of one node's cost."""
        places = self.lattice.place(node)
        return float(
            self._joined([column[level] for column, level in zip(self.columns, places, strict=True)])
        )

    @abstractmethod
    def _column(self, column: int) -> FloatArray:
        """Return one column's cost at each of its levels, without suppression."""

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return a lower bound of nodes' costs when classes below a size are suppressed, from their floors."""
        return floor

    @abstractmethod
    def exact(self, node: Node, dropped: Dropped, sizes: IntArray) -> float:
        """Return a node's cost: the classes dropped, and the sizes of those kept."""

    def ranks(self, node: Node, dropped: Dropped) -> tuple[float, ...]:
        """Return the costs of the columns, the highest first, by which nodes of one cost are compared."""
        del node, dropped
        return ()

    def _joined(self, columns: Sequence[NDArray[Any]], *, outer: bool = False) -> NDArray[Any]:
        # A weight in double precision would make a whole lattice of single precision double.
        weighted = [
            column * column.dtype.type(weight) for weight, column in zip(self.weights, columns, strict=True)
        ]
        join: Callable[..., FloatArray]
        if self.aggregate in ("maximum", "rank"):
            join = np.maximum.outer if outer else np.maximum
            return reduce(join, weighted)
        if self.aggregate == "geometric":
            join = np.multiply.outer if outer else np.multiply
            product: FloatArray = reduce(join, [column + 1 for column in weighted])
            return product ** (1 / len(weighted)) - 1
        join = np.add.outer if outer else np.add
        total: FloatArray = reduce(join, weighted)
        return total if self.aggregate == "sum" else total / len(weighted)


class ColumnMeasure(NodeMeasure):
    """A cost of lattice nodes that is put together from the costs of their columns."""

    @abstractmethod
    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return what a node costs in each column, the dropped classes included."""

    def exact(self, node: Node, dropped: Dropped, sizes: IntArray) -> float:
        """Return the cost of a node."""
        del sizes
        return float(self._joined([np.asarray(cost) for cost in self.by_column(node, dropped)]))

    def ranks(self, node: Node, dropped: Dropped) -> tuple[float, ...]:
        """Return the weighted costs of the columns, the highest first, where nodes are compared by rank."""
        if self.aggregate != "rank":
            return ()
        return tuple(sorted((self.weights * self.by_column(node, dropped)).tolist(), reverse=True))

    def ranked_floors(self, numbers: IntArray) -> FloatArray:
        """Return a lower bound of the ranks of nodes, a row for each, by their numbers in the lattice."""
        steps = np.unravel_index(numbers, self.lattice.dims)
        floors = [
            weight * column[step]
            for weight, column, step in zip(self.weights, self.columns, steps, strict=True)
        ]
        return -np.sort(-np.column_stack(floors), axis=1)

    def _levels(self, node: Node) -> list[float]:
        """Return what a node costs in each column without suppression."""
        steps = self.lattice.place(node)
        return [float(column[step]) for column, step in zip(self.columns, steps, strict=True)]


class LossMeasure(ColumnMeasure):
    """The generalized loss: the mean over rows of (leaves - 1)/(all leaves - 1); a suppressed row counts 1."""

    def _column(self, column: int) -> FloatArray:
        lattice = self.lattice
        counts = lattice.table.overall(lattice.names[column])
        return np.array([
            (lattice.losses(column, level)[lattice.trees[column].levels[level]] * counts).sum() / self.n_rows
            for level in range(lattice.bottom[column], lattice.top[column] + 1)
        ])  # fmt: skip

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return the loss when classes below a size are suppressed; exact for the mean over columns."""
        if self.aggregate != "mean":
            return floor
        # The floor holds the loss of suppressed rows as generalized; they cost 1 in each column instead.
        more = stats.suppressed * self.weights.sum() - stats.suppressed_loss
        return floor + more / (self.n_rows * len(self.weights))

    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return the loss of each column."""
        columns = []
        for column, (level, step) in enumerate(zip(node, self.lattice.place(node), strict=True)):
            losses = self.lattice.losses(column, level)[dropped.codes[column]]
            columns.append(self.columns[column][step] + ((1 - losses) * dropped.sizes).sum() / self.n_rows)
        return columns


class EntropyMeasure(ColumnMeasure):
    """Non-uniform entropy as a share of what the columns hold; suppressed rows lose what their cells still showed."""

    counts_suppressed: ClassVar[bool] = False

    def _column(self, column: int) -> FloatArray:
        lattice = self.lattice
        counts = lattice.table.overall(lattice.names[column])
        tree = lattice.trees[column]
        bits = []
        for level in range(lattice.bottom[column], lattice.top[column] + 1):
            # A row loses as many bits as tell its value from the others under the same node.
            inside = np.bincount(tree.levels[level], weights=counts)[tree.levels[level]]
            present = counts > 0
            bits.append((counts[present] * np.log2(inside[present] / counts[present])).sum())
        return np.array(bits) / self._held(column)

    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return the share of its bits that each column loses."""
        columns = []
        for column, step in enumerate(self.lattice.place(node)):
            # Suppressed rows still differed by their nodes; a star takes that away as well.
            left = np.bincount(dropped.codes[column], weights=dropped.sizes)
            left = left[left > 0]
            spread = (left * np.log2(left.sum() / left)).sum() if left.size else 0.0
            columns.append(self.columns[column][step] + spread / self._held(column))
        return columns

    def _held(self, column: int) -> float:
        counts = self.lattice.table.overall(self.lattice.names[column])
        counts = counts[counts > 0]
        # A constant column holds no bits, and nothing is lost in it: 1 avoids 0/0.
        return float((counts * np.log2(self.n_rows / counts)).sum()) or 1.0


class BitsMeasure(EntropyMeasure):
    """Non-uniform entropy in bits, summed over the rows."""

    def _held(self, column: int) -> float:
        return 1.0


class MonotoneEntropyMeasure(BitsMeasure):
    """Non-uniform entropy in bits of the levels alone: suppression costs nothing."""

    counts_suppressed: ClassVar[bool] = True

    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return the bits that each column loses."""
        del dropped
        return self._levels(node)


class PrecisionMeasure(ColumnMeasure):
    """The mean of level over height; a suppressed row counts 1."""

    def _column(self, column: int) -> FloatArray:
        levels = np.arange(self.lattice.bottom[column], self.lattice.top[column] + 1)
        return levels / max(self.lattice.trees[column].height, 1)

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return the cost with the suppressed rows at 1."""
        if self.aggregate != "mean":
            return floor
        share = stats.suppressed / self.n_rows
        return floor * (1 - share) + share * self.weights.mean()

    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return the cost of each column."""
        share = dropped.n_rows / self.n_rows
        return [level * (1 - share) + share for level in self._levels(node)]


class MonotonePrecisionMeasure(PrecisionMeasure):
    """The mean of level over height, whatever is suppressed."""

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return the cost, which the levels alone decide."""
        return floor

    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return the cost of each column, which the levels alone decide."""
        del dropped
        return self._levels(node)


class HeightMeasure(ColumnMeasure):
    """The sum of levels."""

    def _column(self, column: int) -> FloatArray:
        levels = np.arange(self.lattice.bottom[column], self.lattice.top[column] + 1)
        # Times the number of columns, by which the mean divides again.
        return levels.astype(np.float64) * len(self.weights)

    def by_column(self, node: Node, dropped: Dropped) -> list[float]:
        """Return the level of each column, times their number."""
        del dropped
        return self._levels(node)


class _ClassMeasure(NodeMeasure):
    """A measure of class sizes, which levels alone do not bound."""

    prunes: ClassVar[bool] = False

    def _column(self, column: int) -> FloatArray:
        return np.zeros(self.lattice.dims[column])


class DiscernibilityMeasure(_ClassMeasure):
    """The sum of squared class sizes; a suppressed row counts as much as the whole table."""

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return the cost when classes below a size are suppressed."""
        return stats.squares + float(self.n_rows) * stats.suppressed

    def exact(self, node: Node, dropped: Dropped, sizes: IntArray) -> float:
        """Return the cost of a node."""
        return float((sizes * sizes).sum() + self.n_rows * dropped.n_rows)


class MonotoneDiscernibilityMeasure(_ClassMeasure):
    """The sum of squared sizes of all classes, those that are suppressed among them."""

    counts_suppressed: ClassVar[bool] = False

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return a lower bound: the squares of the classes that are large enough."""
        return np.asarray(stats.squares, np.float64)

    def exact(self, node: Node, dropped: Dropped, sizes: IntArray) -> float:
        """Return the cost of a node."""
        return float((sizes * sizes).sum() + (dropped.sizes * dropped.sizes).sum())


class ClassSizeMeasure(_ClassMeasure):
    """The average class size, all suppressed rows being one class."""

    def relaxed(self, floor: Costs, stats: Stats | Found) -> Costs:
        """Return the cost when classes below a size are suppressed."""
        return self.n_rows / (stats.kept + np.greater(stats.suppressed, 0))

    def exact(self, node: Node, dropped: Dropped, sizes: IntArray) -> float:
        """Return the cost of a node."""
        return self.n_rows / (sizes.size + (dropped.n_rows > 0))


MEASURES: dict[str, type[NodeMeasure]] = {
    "loss": LossMeasure,
    "entropy": EntropyMeasure,
    "entropy_bits": BitsMeasure,
    "monotone_entropy": MonotoneEntropyMeasure,
    "discernibility": DiscernibilityMeasure,
    "monotone_discernibility": MonotoneDiscernibilityMeasure,
    "average_class_size": ClassSizeMeasure,
    "height": HeightMeasure,
    "precision": PrecisionMeasure,
    "monotone_precision": MonotonePrecisionMeasure,
}
"""The measures a lattice search can minimize, by name."""
