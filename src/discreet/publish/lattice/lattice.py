"""The lattice: every way to generalize whole columns to levels of their trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.hierarchy.specs import flat
from discreet.core.params import IntIn
from discreet.core.schema import quasi_weights
from discreet.core.tables.groups import Groups
from discreet.core.tables.label_coverage import LabelCover
from discreet.core.tables.table import Table

if TYPE_CHECKING:
    from discreet.publish.lattice.population import PopulationCodes

Node: TypeAlias = tuple[int, ...]
"""A level for each quasi-identifier, in the order of the schema."""


class Lattice:
    """The generalizations of a table's quasi-identifiers between a lowest and a highest level each.

    Arrays over the lattice have one axis per column; ``place`` turns a node into an index of them.
    """

    def __init__(
        self,
        table: Table,
        *,
        lowest: Mapping[str, int] | None = None,
        highest: Mapping[str, int] | None = None,
    ) -> None:
        self.table = table
        self.names = table.schema.quasi
        self._people: PopulationCodes | None = None
        self.trees = tuple(column_tree(table, name) for name in self.names)
        self.bottom = self._limits("lowest", lowest, [0] * len(self.trees))
        self.top = self._limits("highest", highest, [tree.height for tree in self.trees])
        for name, low, high in zip(self.names, self.bottom, self.top, strict=True):
            if low > high:
                raise ParameterError(f"The lowest level of '{name}' is above its highest.")

    @property
    def dims(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return math.prod(self.dims)

    def place(self, node: Node) -> Node:
        """Return a node's place in an array over the lattice."""
        if not any(self.bottom):
            return node
        return tuple(level - low for level, low in zip(node, self.bottom, strict=True))

    def node(self, number: int) -> Node:
        """Return the node at a place of a flattened array over the lattice."""
        places = np.unravel_index(number, self.dims)
        return tuple(int(step) + low for step, low in zip(places, self.bottom, strict=True))

    def above(self, node: Node) -> tuple[slice, ...]:
        """Return the part of an array over the lattice that holds a node and everything above it."""
        return tuple(slice(step, None) for step in self.place(node))

    def below(self, node: Node) -> tuple[slice, ...]:
        """Return the part of an array over the lattice that holds a node and everything below it."""
        return tuple(slice(0, step + 1) for step in self.place(node))

    def successors(self, node: Node) -> list[Node]:
        """Return the nodes one level up in one column."""
        return [
            (*node[:column], level + 1, *node[column + 1 :])
            for column, level in enumerate(node)
            if level < self.top[column]
        ]

    def predecessors(self, node: Node) -> list[Node]:
        """Return the nodes one level down in one column."""
        return [
            (*node[:column], level - 1, *node[column + 1 :])
            for column, level in enumerate(node)
            if level > self.bottom[column]
        ]

    def losses(self, column: int, level: int) -> FloatArray:
        """Return the generalized loss of each node of a column's level."""
        return self.trees[column].losses(level)

    def codes(self, column: int, level: int) -> CodeArray:
        """Return the node of each of the table's distinct tuples at a level of a column."""
        nodes: CodeArray = self.trees[column].levels[level][self.table.codes(self.names[column])]
        return nodes

    def card(self, column: int, level: int) -> int:
        """Return the number of nodes of a column's level, the null's included."""
        return len(self.trees[column].labels[level])

    def groups(self, node: Node) -> tuple[Groups, CodeArray, Sequence[CodeArray]]:
        """Return the classes at a node, the class of each tuple, and the codes of each class by column."""
        from discreet.kernels.tables.grouping import distinct, pack

        columns = (self.codes(column, level) for column, level in enumerate(node))
        cards = [self.card(column, level) for column, level in enumerate(node)]
        counts = self.table.tuples.counts
        first, labels, _ = distinct(pack(columns, cards), counts)
        codes = [
            tree.levels[level][self.table.codes(name)[first]]
            for name, tree, level in zip(self.names, self.trees, node, strict=True)
        ]
        cover = NodeCover(self, node, codes.__getitem__)
        groups = Groups.of(labels, counts, first.size, self.table.sensitive_codes(), cover=cover)
        return groups, labels, codes

    def people(self, population: object) -> PopulationCodes:
        """Return a population by the labels of the lattice; it is coded once."""
        from discreet.publish.lattice.population import PopulationCodes

        if self._people is None or self._people.population is not population:
            self._people = PopulationCodes(self, population)
        return self._people

    def levels(self, node: Node) -> dict[str, int]:
        """Return a node as levels by column name."""
        return dict(zip(self.names, node, strict=True))

    def weights(self, factors: Mapping[str, float] | None = None, *, owner: object = None) -> FloatArray:
        """Return the weight of each column in a measure, the largest as 1."""
        weights = np.array(quasi_weights(self.table.schema, factors, owner=owner or self), np.float64)
        return np.asarray(weights / weights.max(), np.float64)

    def _limits(self, which: str, limits: Mapping[str, int] | None, default: list[int]) -> Node:
        for name, level in (limits or {}).items():
            if name not in self.names:
                raise SchemaError(f"A {which} level is given for '{name}', which is no quasi-identifier.")
            height = self.trees[self.names.index(name)].height
            if not IntIn(0, height).admits(level):
                raise ParameterError(f"The {which} level of '{name}' must be an int in [0, {height}].")
        return tuple(
            int((limits or {}).get(name, level)) for name, level in zip(self.names, default, strict=True)
        )

    def __repr__(self) -> str:
        return f"Lattice({' x '.join(map(str, self.dims))} levels, {self.n_nodes} nodes)"


class NodeCover:
    """What the classes of a node describe, worked out only when a guarantee looks at a population."""

    def __init__(self, lattice: Lattice, node: Node, codes: Callable[[int], CodeArray]) -> None:
        self.lattice = lattice
        self.node = node
        self.codes = codes

    def matches(self, population: object) -> IntArray:
        """Count, for each class, the population rows it may describe."""
        matches = self.lattice.people(population).matches(self.node, self.codes)
        if matches is not None:
            return matches
        columns = enumerate(zip(self.lattice.names, self.lattice.trees, self.node, strict=True))
        return LabelCover.of(
            (name, pa.array(tree.labels[level], pa.string()), self.codes(column))
            for column, (name, tree, level) in columns
        ).matches(population)

    def is_nested(self, population: object) -> bool:
        """Return whether each level's labels cover whom the finer ones cover."""
        return self.lattice.people(population).is_nested


def column_tree(table: Table, name: str) -> Hierarchy:
    """Return a quasi-identifier's tree; one without has two levels, itself and ``*``."""
    book = table.encoded[name]
    return book.hierarchy or flat().bind(book.values, column=name)
