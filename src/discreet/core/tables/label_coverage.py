"""Covers: which people of another table a class's published cells may describe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.tables.encoding import Codebook, ColumnType
from discreet.core.tables.labels import Any_, Exact, parse_label, texts, value_kind

if TYPE_CHECKING:
    from discreet.core.tables.table import Table


@dataclass(frozen=True, repr=False)
class LabelCover:
    """Classes described by the labels of their cells: the label codes of each class, and the labels."""

    classes: CodeArray
    books: tuple[Codebook, ...]

    @classmethod
    def of(cls, columns: Iterable[tuple[str, pa.Array, CodeArray]]) -> LabelCover:
        """Return the cover from the name of each column, its labels, and the place of each class's label in them."""
        classes, books = [], []
        for name, labels, places in columns:
            valid = np.asarray(labels.is_valid())
            # Labels are coded from 1 on in their order, null as 0.
            classes.append((np.cumsum(valid) * valid)[places])
            books.append(Codebook(name, ColumnType.CATEGORY, pa.string(), labels.drop_null()))
        return cls(np.stack(classes, axis=1).astype(np.int32), tuple(books))

    def matches(self, population: object) -> IntArray:
        """Count, for each class, the population rows that its labels cover in every column."""
        from discreet.kernels.tables.matching import matched_weight

        rows, counts = self._described(population)
        return matched_weight(self.classes, rows, counts)

    def shared(self, population: object) -> tuple[BoolArray, int]:
        """Return which classes cover a population row that another covers too, and how many rows no class covers."""
        rows, counts = self._described(population)
        n_covering = np.zeros(counts.size, np.int64)
        for labels in self.classes:
            n_covering += self._covered(labels, rows)
        several = n_covering > 1
        overlaps = (
            [bool((self._covered(labels, rows) & several).any()) for labels in self.classes]
            if several.any()
            else np.zeros(len(self.classes), np.bool_)
        )
        return np.asarray(overlaps, np.bool_), int(counts[n_covering == 0].sum())

    def _described(self, population: object) -> tuple[list[BoolArray], IntArray]:
        """Return by column which of the population's distinct rows each label covers, and how many rows are alike."""
        table = _as_table(population, self.books)
        described = [described_values(book, table.encoded[book.name]) for book in self.books]
        columns = [table.codes(book.name) for book in self.books]
        rows = [matrix[:, codes] for matrix, codes in zip(described, columns, strict=True)]
        return rows, table.tuples.counts

    def _covered(self, labels: CodeArray, rows: list[BoolArray]) -> BoolArray:
        covered = [row[label] for row, label in zip(rows, labels, strict=True)]
        return np.asarray(np.logical_and.reduce(covered), np.bool_)


def described_values(labels: Codebook, values: Codebook) -> BoolArray:
    """Return which values (columns) each label (rows) may stand for; a null stands for a null."""
    described = np.zeros((labels.n_codes, values.n_codes), np.bool_)
    described[0, 0] = True
    written = texts(labels.values)
    meanings = [parse_label(label) for label in written.to_pylist()]
    exact = pc.index_in(texts(values.values), value_set=written).to_numpy(zero_copy_only=False)
    named = np.flatnonzero(~np.isnan(exact.astype(np.float64)))
    described[exact[named].astype(np.int64) + 1, named + 1] = True
    nodes = (
        set()
        if values.hierarchy is None
        else _describe_nodes(described, written.to_pylist(), values.hierarchy)
    )
    for code, meaning in enumerate(meanings, start=1):
        if isinstance(meaning, Any_):
            described[code] = True
        # Texts were matched exactly above; a number or a date may be written in another way.
        elif code not in nodes and (
            not isinstance(meaning, Exact) or value_kind(values.values.type) != "text"
        ):
            described[code, 1:] |= meaning.covers(values.values)
    return described


def _describe_nodes(described: BoolArray, written: list[str], tree: Hierarchy) -> set[int]:
    """Add what labels stand for as names of a tree's nodes; gives the codes of those labels."""
    codes: dict[str | None, int] = {label: code for code, label in enumerate(written, start=1)}
    named: set[int] = set()
    for level, names in zip(tree.levels[1:], tree.labels[1:], strict=True):
        for node, name in enumerate(names):
            if name in codes:
                described[codes[name]] |= level == node
                named.add(codes[name])
    return named


def label_costs(
    labels: Codebook, values: Codebook, overall: IntArray, *, used: CodeArray | None = None
) -> tuple[FloatArray, IntArray]:
    """Return each label code's generalized loss, and the rows of the original table it may stand for.

    ``overall`` counts the original's codes; ``used`` picks label codes, all by default. A label that stands for no
    known value cannot be measured.
    """
    described = described_values(labels, values)
    described = described if used is None else described[used]
    unread = int((~described.any(axis=1)).sum())
    if unread:
        raise SchemaError(
            f"{unread} labels of column '{labels.name}' stand for no original value; give its hierarchy."
        )
    values_described = described[:, 1:]
    # With one leaf every label covers all there is, and nothing is lost by that.
    several = values.hierarchy is None or values.hierarchy.n_leaves > 1
    starred = described.all(axis=1) & values_described.any(axis=1) & several
    if values.kind in (ColumnType.NUMBER, ColumnType.DATE) and values.hierarchy is None:
        position = values.positions[1:]
        low = np.where(values_described, position, np.inf).min(axis=1, initial=np.inf)
        high = np.where(values_described, position, -np.inf).max(axis=1, initial=-np.inf)
        loss = np.where(values_described.any(axis=1), high - low, 0.0)
    else:
        loss = np.maximum(values_described.sum(axis=1) - 1, 0) / max(values.n_codes - 2, 1)
    return np.where(starred, 1.0, loss), described @ overall


def _as_table(population: object, books: tuple[Codebook, ...]) -> Table:
    from discreet.core.tables.table import Table

    if not isinstance(population, Table):
        raise SchemaError("A population is a Table with the release's quasi-identifiers.")
    absent = [book.name for book in books if book.name not in population.schema.quasi]
    if absent:
        raise SchemaError(f"The population has no quasi-identifier '{absent[0]}'.")
    return population
