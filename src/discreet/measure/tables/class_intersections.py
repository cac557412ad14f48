"""Combinations of the classes of several releases that can hold the same person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.errors import InputError
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table
from discreet.measure.tables.label_overlaps import LabelOverlaps, written_alike

_AT_ONCE = 1 << 24
_MOST = 1 << 22
"""How many combinations of classes are compared at most."""


@dataclass(frozen=True, repr=False)
class CommonValues:
    """The distinct combinations of common sensitive values, and how many of each every class of a release has."""

    columns: CodeArray
    """For each combination the code of its value in each column."""
    counts: tuple[Any, ...]
    """For each release a sparse matrix of classes by combinations."""


def common_values(releases: Sequence[Table], names: tuple[str, ...]) -> CommonValues:
    """Return the distinct combinations of values in some columns, and those of every class of each release."""
    from scipy import sparse

    codes = []
    for name in names:
        alike = written_alike([texts(release.encoded[name].values) for release in releases])
        written = [pa.concat_arrays([pa.nulls(1, pa.string()), each]) for each in alike]
        book = pa.chunked_array(written).combine_chunks().dictionary_encode(null_encoding="encode")
        numbers = np.asarray(book.indices, np.int64)
        ends = np.cumsum([len(each) for each in written])
        codes.append(
            [part[r.codes(name)] for part, r in zip(np.split(numbers, ends[:-1]), releases, strict=True)]
        )
    rows = [np.stack(columns, axis=1) for columns in zip(*codes, strict=True)]
    distinct, number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    split = np.split(number.ravel(), np.cumsum([len(each) for each in rows])[:-1])
    counts = []
    for release, value in zip(releases, split, strict=True):
        labels, classes = release.classes
        shape = (len(classes), len(distinct))
        counts.append(sparse.csr_matrix((release.tuples.counts, (labels, value)), shape=shape))
    return CommonValues(distinct, tuple(counts))


@dataclass(frozen=True, repr=False)
class ClassIntersections:
    """Combinations of classes that may hold the same person, one class of each release so far.

    ``labels`` has a row for each, with the number of its cell in each column; ``cells`` says by column what each of
    these covers, the intersection of the labels of all releases.
    """

    base: LabelOverlaps
    values: CommonValues
    same_values: bool
    labels: CodeArray
    cells: tuple[BoolArray, ...]
    counts: Any
    """The rows of each value that every release has in its class of the combination, at the least."""
    classes: IntArray
    """The class of each release: a row for each combination, a column for each release."""
    releases: tuple[int, ...] = field(default=(0,))

    @classmethod
    def first(
        cls, table: Table, base: LabelOverlaps, values: CommonValues, *, same_values: bool
    ) -> ClassIntersections:
        """Return the classes of the first release."""
        labels = labels_of(table, base.names)
        classes = np.arange(len(labels))[:, None]
        return cls(base, values, same_values, labels, base.covers[0], values.counts[0], classes)

    def pairs(self, labels: CodeArray, number: int) -> tuple[IntArray, IntArray]:
        """Return the combinations and the classes of a release that overlap in every column and share a value."""
        # By products of numbers, which are fast; only whether a sum is above 0 matters.
        overlaps = [
            (mine.astype(np.float32) @ theirs.T.astype(np.float32)) > 0
            for mine, theirs in zip(self.cells, self.base.covers[number], strict=True)
        ]
        nothing = np.empty(0, np.int64)
        step, found, n_found = max(_AT_ONCE // max(len(labels), 1), 1), [(nothing, nothing)], 0
        for low in range(0, len(self.labels), step):
            part = np.ones((len(self.labels[low : low + step]), len(labels)), np.bool_)
            for column, overlap in enumerate(overlaps):
                part &= overlap[self.labels[low : low + step, column]][:, labels[:, column]]
            rows, others = np.nonzero(part)
            n_found += rows.size
            if n_found > _MOST:
                raise InputError(
                    "The releases overlap in too many ways to be compared; check fewer at a time."
                )
            found.append((rows + low, others))
        mine, theirs = (np.concatenate(side) for side in zip(*found, strict=True))
        shared = self._shared(mine, theirs, number)
        return mine[shared], theirs[shared]

    def _shared(self, mine: IntArray, theirs: IntArray, number: int) -> BoolArray:
        ours, other = (self.counts > 0).astype(np.int64), (self.values.counts[number] > 0).astype(np.int64)
        common = np.asarray(ours[mine].multiply(other[theirs]).sum(axis=1)).ravel()
        if not self.same_values:
            return np.asarray(common > 0)
        widths = (np.asarray(each.sum(axis=1)).ravel() for each in (ours, other))
        return np.asarray((common == next(widths)[mine]) & (common == next(widths)[theirs]))

    def joined(self, table: Table, number: int) -> ClassIntersections:
        """Return the combinations with the classes of one more release."""
        labels = labels_of(table, self.base.names)
        mine, theirs = self.pairs(labels, number)
        cells, joined = [], []
        for column, (covers, others) in enumerate(zip(self.cells, self.base.covers[number], strict=True)):
            keys = self.labels[mine, column].astype(np.int64) * len(others) + labels[theirs, column]
            # Only the intersections of labels that occur.
            used, place = np.unique(keys, return_inverse=True)
            cells.append(covers[used // len(others)] & others[used % len(others)])
            joined.append(place.ravel())
        # At most as many are in both classes with a value as the class with fewer of them has.
        counts = self.counts[mine].minimum(self.values.counts[number][theirs]).tocsr()
        classes = np.column_stack([self.classes[mine], theirs])
        stacked = np.stack(joined, axis=1).astype(np.int32)
        return ClassIntersections(
            self.base, self.values, self.same_values, stacked, tuple(cells), counts, classes,
            (*self.releases, number),
        )  # fmt: skip


def labels_of(table: Table, names: tuple[str, ...]) -> CodeArray:
    """Return the label of each class of a table in some of its quasi-identifiers."""
    order = [table.schema.quasi.index(name) for name in names]
    return table.classes[1][:, order]
