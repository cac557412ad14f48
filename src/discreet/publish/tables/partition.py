"""Partitions: groups of rows that are published by their boxes or their means, whichever method divides the table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.errors import ParameterError
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.rng import generator
from discreet.core.tables.encoding import Codebook, ColumnType
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.tables.source import Pieces, Replacement
from discreet.core.tables.table import Table
from discreet.publish.lattice.value_cells import ValueCells
from discreet.publish.recipes.recipe_parts import packed
from discreet.publish.tables.boxes import Box, Segments, box_means, boxes, branches, cover_of, is_exact
from discreet.publish.tables.minimality import MINIMALITY
from discreet.publish.tables.publisher import Plan, TablePublisher, refuse_infeasible

if TYPE_CHECKING:
    from discreet.kernels.tables.cuts import Geometry

_WORD = 8
_MOST_BYTES = 32
"""The bytes of a row's codes that a kernel compares at once."""


@dataclass(kw_only=True, repr=False, eq=False)
class PartitionPublisher(TablePublisher):
    """A publisher that divides the rows into groups and publishes each by its box or its mean.

    A method writes `_divided`.
    """

    @abstractmethod
    def _divided(self, table: Table, rng: np.random.Generator) -> tuple[Segments, CodeArray, bool]:
        """Return the segments, the tuple behind each row, and whether sensitive values decided how they lie."""

    def _is_strict(self) -> bool:
        """Whether rows with equal values stay together."""
        return True

    def _shows_means(self) -> bool:
        """Whether numbers and dates without a hierarchy are published as means."""
        return False

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        if self._shows_means() and any(map(_has_mean, quasi_books(table))):
            _refuse_population(self)
        segments, tuples, by_values = self._divided(table, rng)
        group_of, pieces = _pieces(segments, tuples, strict=self._is_strict())
        return self._described(table, segments, group_of, pieces, by_values=by_values)

    def _described(
        self,
        table: Table,
        segments: Segments,
        group_of: CodeArray,
        pieces: Pieces | None = None,
        *,
        by_values: bool,
    ) -> Plan:
        """Return how segments are published, from the group of each piece."""
        books = quasi_books(table)
        means = self._shows_means() and any(_has_mean(book) for book in books)
        described = boxes(books, segments, overall_counts(table))
        groups = self._labels(books, described, segments)
        return Plan(
            segments.sizes,
            {name: box.cells for name, box in described.items()},
            by_piece={
                book.name: Replacement(groups[book.name].index[group_of], groups[book.name].labels)
                for book in books
                if not is_exact(book, described[book.name])
            },
            pieces=pieces,
            details={MINIMALITY: by_values},
            groups=groups,
            boxes=_recorded_boxes(books, described, segments),
            means=means,
        )

    def divide(self, table: Table) -> tuple[CodeArray, dict[str, Replacement], dict[str, Replacement]]:
        """Return the group of each distinct tuple, and by column what its cells show and what they cover."""
        segments, tuples = self.partition(table)
        books = quasi_books(table)
        described = boxes(books, segments, overall_counts(table))
        group_of, _ = _pieces(segments, tuples, strict=self._is_strict())
        covering = {name: Replacement(box.index, box.labels) for name, box in described.items()}
        return group_of, self._labels(books, described, segments), covering

    def partition(self, table: Table) -> tuple[Segments, CodeArray]:
        """Divide the table into segments of coded rows; return them and the tuple behind each row."""
        return self._divided(table, generator(self.random_state, owner=self))[:2]

    def _labels(
        self, books: list[Codebook], described: Mapping[str, Box], segments: Segments
    ) -> dict[str, Replacement]:
        """Return what the cells of each column show: the label of the box, or the group's mean."""
        labels = {}
        for column, book in enumerate(books):
            box = described[book.name]
            if self._shows_means() and _has_mean(book):
                mean = box_means(book, column, segments)
                labels[book.name] = Replacement(np.arange(len(mean), dtype=np.int32), mean)
            else:
                labels[book.name] = Replacement(box.index, box.labels)
        return labels


def _refuse_population(publisher: PartitionPublisher) -> None:
    """Refuse guarantees that count people of a population: nobody's values are compared with a mean."""
    guarantee = publisher.guarantee
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    if any(hasattr(part, "population") for part in parts):
        raise ParameterError(
            f"{type(publisher).__name__} publishes means, which describe nobody of a population; publish boxes instead."
        )


def _has_mean(book: Codebook) -> bool:
    return book.kind in (ColumnType.NUMBER, ColumnType.DATE) and book.hierarchy is None


def quasi_books(table: Table) -> list[Codebook]:
    """Return the code books of the quasi-identifiers."""
    return [table.encoded[name] for name in table.schema.quasi]


def _recorded_boxes(
    books: list[Codebook], described: Mapping[str, Box], segments: Segments
) -> dict[str, dict[str, Any]]:
    """Write the boxes down so that new rows can be assigned to one: by labels, or by branches of a tree."""
    recorded: dict[str, dict[str, Any]] = {}
    for column, book in enumerate(books):
        if book.hierarchy is None:
            box = described[book.name]
            recorded[book.name] = {
                "index": packed(box.index, len(box.labels)),
                "labels": box.labels.to_pylist(),
            }
        else:
            index, lists = branches(book, column, segments)
            recorded[book.name] = {"index": packed(index, len(lists)), "branches": lists}
    return recorded


def overall_counts(table: Table) -> dict[str, IntArray]:
    """Return how many rows have each code of each quasi-identifier."""
    return {name: table.overall(name) for name in table.schema.quasi}


def segment_groups(guarantee: Guarantee, table: Table, segments: Segments) -> Groups:
    """Count what the guarantee looks at in each segment."""
    from discreet.kernels.tables.partition import sizes_of, values_of

    rows = segments.codes, segments.weights, segments.low, segments.high
    names = list(table.encoded)
    sensitive = {}
    for name in guarantee.columns(table.schema.sensitive):
        book = table.encoded[name]
        indptr, values, counts = values_of(*rows, names.index(name), book.n_codes)
        sensitive[name] = SensitiveCounts(name, indptr, values, counts, table.overall(name), book.hierarchy)
    return Groups(sizes_of(*rows[1:]), sensitive, cover=_BoxCover(table, segments))


class _BoxCover:
    """What segments would publish, worked out only when a guarantee looks at a population."""

    def __init__(self, table: Table, segments: Segments) -> None:
        self.table = table
        self.segments = segments

    def matches(self, population: object) -> IntArray:
        books = quasi_books(self.table)
        return cover_of(books, boxes(books, self.segments, overall_counts(self.table))).matches(population)


def _pieces(segments: Segments, tuples: CodeArray, *, strict: bool) -> tuple[CodeArray, Pieces | None]:
    """Return the group of each published piece; a strict group takes whole tuples, a relaxed one parts of them."""
    from discreet.kernels.tables.grouping import distinct

    group = np.repeat(np.arange(segments.low.size, dtype=np.int32), segments.high - segments.low)
    if strict:
        group_of = np.empty(tuples.size, np.int32)
        group_of[tuples] = group
        return group_of, None
    # The rows of a tuple that are in one group are one piece.
    keys = tuples.astype(np.int64) * segments.low.size + group
    first, _, counts = distinct(keys)
    return group[first], Pieces(tuples[first], counts)


def can_divide(guarantee: Guarantee, table: Table) -> bool:
    """Return whether rows fit into words, and the guarantee is a size and rules that hold for joined classes too."""
    rules = guarantee.class_rules(table.schema.sensitive)
    if rules is None or not guarantee.joinable or table.n_rows >= 2**31:
        return False
    codes = _code_type(table)
    return len(table.encoded) * codes.itemsize <= _MOST_BYTES and ValueCells.fits(table, rules)


def divided(guarantee: Guarantee, table: Table, geometry: Geometry) -> tuple[Segments, CodeArray, bool]:
    """Return the segments, the tuple behind each row, and whether sensitive values refused some cut."""
    from discreet.kernels.tables.depth_first import divide

    cells = ValueCells(table, guarantee.class_rules(table.schema.sensitive) or ())
    words = _words(table)
    codes = words.view(_code_type(table))
    weights = table.tuples.counts.astype(np.int32)
    tuples = np.arange(weights.size, dtype=np.int32)
    table_segment = Segments(codes, weights, np.zeros(1, np.int32), np.array([weights.size], np.int32))
    # Cuts begin with a segment that keeps the guarantee, so that the whole table must.
    refuse_infeasible(guarantee, table, segment_groups(guarantee, table, table_segment))
    names = list(table.encoded)
    low, refused = divide(
        codes,
        words,
        weights,
        tuples,
        table.n_rows,
        max(guarantee.smallest, 1),
        geometry,
        np.array([names.index(name) for name in cells.first], np.int64),
        np.array(list(cells.first.values()), np.int64),
        cells.overall,
        cells.rules(table.n_rows, 0),
    )
    segments = Segments(codes, weights, low, np.append(low[1:], np.int32(weights.size)))
    return segments, tuples, bool(refused)


def _code_type(table: Table) -> np.dtype[np.unsignedinteger]:
    """Return the smallest type of every code."""
    return np.min_scalar_type(max(book.n_codes for book in table.encoded.values()))


def _words(table: Table) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """Return the codes of the tuples in rows of 1, 2 or 4 words; what no column needs is zero."""
    codes, of_codes = table.tuples.codes, _code_type(table)
    n_words = -(-codes.shape[1] * of_codes.itemsize // _WORD)
    words = np.zeros((len(codes), 1 << (n_words - 1).bit_length()), np.uint64)
    words.view(of_codes)[:, : codes.shape[1]] = codes
    return words
