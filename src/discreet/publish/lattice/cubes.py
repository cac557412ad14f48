"""Cubes of counts for every node of a lattice: which columns are inner ones, what that costs, and the visit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray, IntArray
from discreet.kernels.ragged import bounds
from discreet.kernels.tables.lattice_cubes import (
    InnerNodes,
    OuterClasses,
    OuterTuples,
    sort_by_outer,
    visit_classes,
)
from discreet.kernels.tables.lattice_nodes import Found
from discreet.kernels.threads import in_threads
from discreet.publish.lattice.lattice import Lattice

_MOST_CELLS, _MOST_OUTER = 1 << 14, 1 << 22
_MOST_COLUMNS = 12
"""With more columns there are too many ways to choose the inner ones, and more nodes than anyone visits."""
# What things take in nanoseconds, measured on one processor: a tuple at a sparse node, one put into a cube, a cell
# that is counted, a cube, and a tuple at a node of the visit over sorted keys. A cell of an axis sum takes less the
# longer the vectors are that are added.
_SPARSE, _PUT, _COUNTED, _CUBE, SORTED = 3.0, 1.5, 0.4, 20.0, 1.1
_SUMMED = ((32, 0.16), (8, 0.5), (2, 1.8), (0, 0.8))


@dataclass(frozen=True, repr=False)
class LatticeColumn:
    """A column of a lattice with the codes that occur, numbered at each level: of its bottom codes, and losses."""

    codes: IntArray
    levels: list[IntArray]
    losses: list[FloatArray]

    @classmethod
    def of(cls, lattice: Lattice, column: int, weight: float) -> LatticeColumn:
        """Return the column with the codes that occur numbered."""
        tree, bottom = lattice.trees[column], lattice.bottom[column]
        present = np.flatnonzero(lattice.table.overall(lattice.names[column]) > 0)
        below, leaves = np.unique(tree.levels[bottom][present], return_index=True)
        codes = np.zeros(lattice.card(column, bottom), np.int64)
        codes[below] = np.arange(below.size)
        levels, losses = [], []
        for level in range(bottom, lattice.top[column] + 1):
            nodes, numbers = np.unique(tree.levels[level][present[leaves]], return_inverse=True)
            levels.append(numbers)
            losses.append(weight * lattice.losses(column, level)[nodes])
        return cls(codes, levels, losses)

    @property
    def cards(self) -> list[int]:
        """The number of codes at each level."""
        return [losses.size for losses in self.losses]


class CubeVisit:
    """A visit of every node of a lattice by cubes of counts over some inner columns.

    The inner columns are those with which the visit takes least, if the tuples lay evenly over the outer columns; where
    they do not, it takes less than ``nanoseconds``.
    """

    def __init__(self, lattice: Lattice, weights: FloatArray) -> None:
        self.lattice = lattice
        self.nanoseconds = np.inf
        self._inner: tuple[int, ...] = ()
        n_columns = len(lattice.names)
        if n_columns > _MOST_COLUMNS or lattice.table.n_rows >= 2**31:
            return
        self._columns = [
            LatticeColumn.of(lattice, column, weight) for column, weight in enumerate(weights.tolist())
        ]
        self._cards = [column.cards for column in self._columns]
        for size in range(1, n_columns + 1):
            for inner in combinations(range(n_columns), size):
                nanoseconds = self._price(inner)
                if nanoseconds < self.nanoseconds:
                    self.nanoseconds = nanoseconds
                    # The column with the most codes comes last, so that sums run over long vectors.
                    self._inner = tuple(sorted(inner, key=lambda column: self._cards[column][0]))

    def _price(self, inner: tuple[int, ...]) -> float:
        """Return what a visit with some inner columns takes."""
        outer = [self._cards[column] for column in range(len(self._cards)) if column not in inner]
        n_cells = int(np.prod([self._cards[column][0] for column in inner], dtype=np.float64))
        n_outer = float(np.prod([cards[0] for cards in outer]))
        if n_cells > _MOST_CELLS or n_outer > _MOST_OUTER:
            return np.inf
        n_nodes = int(np.prod([len(self._cards[column]) for column in inner]))
        all_cells = float(np.prod([sum(self._cards[column]) for column in inner], dtype=np.float64))
        cube = all_cells * (_COUNTED + _SUMMED[0][1]) + n_nodes * _CUBE
        n_classes = np.ones(1)
        for cards in outer:
            n_classes = np.outer(n_classes, cards).ravel()
        n_tuples = float(self.lattice.table.tuples.counts.size)
        of_class = n_tuples / n_classes
        # A class of the outer columns either walks its tuples at every inner node, or counts them into a cube
        # once.
        each = np.minimum(of_class * n_nodes * _SPARSE, cube + n_cells * _COUNTED + of_class * _PUT)
        return float((n_classes * each).sum() + n_classes.size * n_outer * _CUBE)

    def visit(self, smallest: int, limit: int) -> Found:
        """Visit every node with classes below a size suppressed."""
        lattice = self.lattice
        outer = [column for column in range(len(self._cards)) if column not in self._inner]
        n_outer = int(np.prod([self._cards[column][0] for column in outer], dtype=np.int64))
        tuples = OuterTuples(
            *sort_by_outer(
                self._numbers(outer, np.int32), self._numbers(self._inner, np.uint16),
                lattice.table.tuples.counts, n_outer,
            )
        )  # fmt: skip
        numbers = np.arange(lattice.n_nodes).reshape(lattice.dims)
        found = Found(
            np.zeros(numbers.size, np.int64),
            np.zeros(numbers.size),
            np.zeros(numbers.size, np.int64),
            np.zeros(numbers.size, np.int64),
        )
        nodes, prices = self._nodes
        # With fewer tuples a walk at each inner node takes less than a cube.
        sparse_below = int(prices.sum() / (_SPARSE * prices.size))
        # In the order of `_nodes`, by which the kernel numbers what it returns.
        inner_levels = list(product(*(range(lattice.dims[column]) for column in self._inner)))
        inner_levels.sort(key=sum)
        outer_levels = list(product(*(range(lattice.dims[column]) for column in outer)))

        def visit(start: int, stop: int) -> None:
            for levels in outer_levels[start:stop]:
                classes = self._classes(outer, levels, n_outer)
                visited = visit_classes(tuples, classes, nodes, smallest, limit, sparse_below)
                places = dict(zip(outer, levels, strict=True))
                at = [
                    numbers[
                        tuple(
                            (places | dict(zip(self._inner, node, strict=True)))[c]
                            for c in range(numbers.ndim)
                        )
                    ]
                    for node in inner_levels
                ]
                for into, values in zip(found, visited, strict=True):
                    into[at] = values

        in_threads(visit, len(outer_levels))
        return found

    def _numbers(self, columns: list[int] | tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return one number for the codes of some columns in each tuple."""
        lattice = self.lattice
        # A number in mixed radix, the last column fastest, as `_nodes` counts cells.
        numbers = np.zeros(lattice.table.tuples.counts.size, dtype)
        for column in columns:
            numbers *= dtype(self._cards[column][0])
            leaf_codes = self._columns[column].codes[lattice.trees[column].levels[lattice.bottom[column]]]
            numbers += leaf_codes.astype(dtype)[lattice.table.codes(lattice.names[column])]
        return numbers

    def _classes(self, outer: list[int], levels: tuple[int, ...], n_outer: int) -> OuterClasses:
        """Return which outer numbers are equal at some levels of the outer columns, and what their cells cost."""
        key, loss = np.zeros(1, np.int64), np.zeros(1)
        for column, level in zip(outer, levels, strict=True):
            key = np.add.outer(key * self._cards[column][level], self._columns[column].levels[level]).ravel()
            loss = np.add.outer(loss, self._columns[column].losses[level]).ravel()
        first = bounds(np.bincount(key, minlength=loss.size))
        return OuterClasses(first, np.argsort(key, kind="stable"), loss)

    @cached_property
    def _nodes(self) -> tuple[InnerNodes, FloatArray]:
        """The cubes of the inner nodes, nodes with a lower sum of levels first, and what each takes."""
        columns = [self._columns[column] for column in self._inner]
        nodes = sorted(product(*(range(len(column.levels)) for column in columns)), key=sum)
        number = {node: at for at, node in enumerate(nodes)}
        cards = [[column.cards[level] for column, level in zip(columns, node, strict=True)] for node in nodes]
        cells = [int(np.prod(of_node)) for of_node in cards]
        steps = [(0, 1, 1, 1, 1)]
        parents = [np.zeros(1, np.int64)]
        prices = [0.0]
        # Every other cube is the sum along one axis of a cube one level lower: of that from which it takes
        # least.
        for node in nodes[1:]:
            price, axis, below = min(_sources(node, cards, number))
            column, shape = columns[axis], cards[number[below]]
            parent = np.zeros(shape[axis], np.int64)
            parent[column.levels[below[axis]]] = column.levels[node[axis]]
            behind = int(np.prod(shape[axis + 1 :]))
            steps.append(
                (number[below], int(np.prod(shape[:axis])), shape[axis], column.cards[node[axis]], behind)
            )
            parents.append(parent)
            prices.append(price)
        grid = np.unravel_index(np.arange(cells[0]), cards[0])
        cell_of = np.empty((len(nodes), cells[0]), np.uint16)
        losses = []
        for at, node in enumerate(nodes):
            of_node = list(zip(columns, node, strict=True))
            raised = [
                column.levels[level][codes] for (column, level), codes in zip(of_node, grid, strict=True)
            ]
            cell_of[at] = np.ravel_multi_index(raised, cards[at])
            loss = np.zeros(1)
            for column, level in of_node:
                loss = np.add.outer(loss, column.losses[level]).ravel()
            losses.append(loss)
        source, before, card, raised_card, behind = np.array(steps, np.int64).T
        inner = InnerNodes(
            bounds(cells), source, before, card, raised_card, behind,
            bounds([parent.size for parent in parents])[:-1], np.concatenate(parents), cell_of,
            ((np.array(prices) + _CUBE) / _PUT).astype(np.int64), np.concatenate(losses),
        )  # fmt: skip
        return inner, np.array(prices) + np.array(cells) * _COUNTED + _CUBE


def _sources(
    node: tuple[int, ...], cards: list[list[int]], number: dict[tuple[int, ...], int]
) -> list[tuple[float, int, tuple[int, ...]]]:
    """Return the nodes one level down in one column: what the sum along it takes, the column, and the node."""
    sources = []
    for axis, level in enumerate(node):
        if level:
            below = (*node[:axis], level - 1, *node[axis + 1 :])
            shape = cards[number[below]]
            behind = int(np.prod(shape[axis + 1 :]))
            each = next(price for length, price in _SUMMED if behind >= length)
            sources.append((float(np.prod(shape)) * each, axis, below))
    return sources
