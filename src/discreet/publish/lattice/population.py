"""Counts of a population's people by the nodes of a lattice, from codes made once for each level of a column."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.tables.encoding import Codebook, ColumnType
from discreet.core.tables.label_coverage import described_values
from discreet.core.tables.table import Table
from discreet.kernels.tables.grouping import distinct, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.publish.lattice.lattice import Lattice

_MOST_PAIRS = 50_000_000
"""How many pairs of a label and a value of the population are looked at for one level."""


class PopulationCodes:
    """A population's distinct rows as labels of a lattice's levels, so that a node is one join and not many matches.

    Parameters
    ----------
    lattice
        The lattice, whose labels say whom a class describes.
    population
        A table with the lattice's quasi-identifiers.
    """

    def __init__(self, lattice: Lattice, population: Any) -> None:
        if not isinstance(population, Table):
            raise SchemaError("A population is a Table with the release's quasi-identifiers.")
        for name in lattice.names:
            if name not in population.schema.quasi:
                raise SchemaError(f"The population has no quasi-identifier '{name}'.")
        self.population = population
        self._lattice = lattice
        codes = [population.codes(name) for name in lattice.names]
        cards = [population.encoded[name].n_codes for name in lattice.names]
        first, _, self._counts = distinct(pack(codes, cards), population.tuples.counts)
        self._codes: list[NDArray[Any]] = [column[first] for column in codes]
        self._levels: dict[tuple[int, int], tuple[CodeArray, CodeArray] | None] = {}

    @cached_property
    def is_nested(self) -> bool:
        """Whether each label covers whom the labels below it cover, so that finer nodes describe fewer people."""
        return all(
            self._is_nested(column, level)
            for column, (low, high) in enumerate(zip(self._lattice.bottom, self._lattice.top, strict=True))
            for level in range(low, high)
        )

    def _is_nested(self, column: int, level: int) -> bool:
        fine, coarse = self._labels(column, level), self._labels(column, level + 1)
        if fine is None or coarse is None:
            return False
        levels = self._lattice.trees[column].levels
        above = np.zeros(int(fine[0].max()) + 1, np.int32)
        above[fine[0][levels[level]]] = coarse[0][levels[level + 1]]
        # Whoever is under a label must be under the label above it as well.
        covered = fine[1] >= 0
        return bool((above[fine[1][covered]] == coarse[1][covered]).all())

    def matches(self, node: Sequence[int], codes: Callable[[int], CodeArray]) -> IntArray | None:
        """Count for each class the people that its labels cover; None where labels of one level overlap.

        O(rows of the population + classes) for each node: both get the number of the label they fall under, and what
        has the same numbers in all columns belongs together.
        """
        columns, cards = [], []
        inside = np.ones(self._counts.size, np.bool_)
        for column, level in enumerate(node):
            labels = self._labels(column, level)
            if labels is None:
                return None
            label_of_node, label_of_value = labels
            # Nobody is described by a class that one of its labels does not cover.
            people = label_of_value[self._codes[column]]
            inside &= people >= 0
            columns.append(np.concatenate([label_of_node[codes(column)], people]))
            cards.append(int(label_of_node.max()) + 1)
        n_classes = columns[0].size - inside.size
        chosen = np.concatenate([np.ones(n_classes, np.bool_), inside])
        _, number, _ = distinct(pack([column[chosen] for column in columns], cards))
        totals = np.bincount(
            number[n_classes:], weights=self._counts[inside], minlength=int(number.max()) + 1
        )
        return np.asarray(totals[number[:n_classes]], np.int64)

    def _nodes(self, column: int, level: int) -> CodeArray:
        """Return the nodes of a level that rows of the lattice's table are in."""
        return np.unique(self._lattice.codes(column, level)).astype(np.int32)

    def _labels(self, column: int, level: int) -> tuple[CodeArray, CodeArray] | None:
        """Return the label of each node of a level, and the label that covers each value of the population (-1: none).

        Label 0 is the null's. Where two labels cover a value there is no such number, and matches are counted apart.
        """
        if (column, level) not in self._levels:
            name = self._lattice.names[column]
            written = pa.array(self._lattice.trees[column].labels[level], pa.string()).dictionary_encode()
            label_of_node = np.asarray(written.indices.fill_null(-1)).astype(np.int32) + 1
            labels = Codebook(name, ColumnType.CATEGORY, pa.string(), written.dictionary)
            values = self.population.encoded[name]
            self._levels[column, level] = None
            if labels.n_codes * values.n_codes <= _MOST_PAIRS:
                described = described_values(labels, values)
                # A star covers nulls too, and so may the label of the null: only what occurs is looked at.
                described[
                    np.setdiff1d(np.arange(labels.n_codes), label_of_node[self._nodes(column, level)])
                ] = False
                described[:, self.population.overall(name) == 0] = False
                n_labels = described.sum(axis=0)
                if (n_labels <= 1).all():
                    label_of_value = np.where(n_labels, described.argmax(axis=0), -1).astype(np.int32)
                    self._levels[column, level] = label_of_node, label_of_value
        return self._levels[column, level]
