"""Boxes: the cells that describe a group of rows, column by column, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.records.vectors import decimals_of, rounded
from discreet.core.release import Cells
from discreet.core.tables import labels
from discreet.core.tables.encoding import Codebook, ColumnType, as_line
from discreet.core.tables.label_coverage import LabelCover
from discreet.kernels.ragged import bounds

LARGEST_SET = 20
"""A set of more values than this is written as ``*``: a longer list tells little and fills the page."""


@dataclass(frozen=True, repr=False)
class Segments:
    """Groups as ranges of coded rows: ``codes`` (row-major, quasi-identifiers first), weights, and the ranges.

    A finished partition's ranges lie end to end.
    """

    codes: NDArray[Any]
    weights: NDArray[Any]
    low: CodeArray
    high: CodeArray

    @property
    def sizes(self) -> IntArray:
        """The rows of each group of a finished partition."""
        return np.add.reduceat(self.weights, self.low, dtype=np.int64)


@dataclass(frozen=True, repr=False)
class Box:
    """One column's labels: the label of each group, and each label's loss and the codes' counts it covers."""

    index: CodeArray
    labels: pa.Array
    loss: FloatArray
    covered: IntArray

    @property
    def cells(self) -> Cells:
        """What the labels cost."""
        return Cells(self.index, self.loss, self.covered)


def boxes(books: Sequence[Codebook], segments: Segments, overall: Mapping[str, IntArray]) -> dict[str, Box]:
    """Return the tightest label of each segment in each column: a value, an interval, a set or a tree's node.

    ``overall`` counts each code of a column in the whole table.
    """
    from discreet.kernels.tables.grouping import distinct, pack
    from discreet.kernels.tables.partition import bounds_of

    least, most = bounds_of(segments.codes, segments.low, segments.high, len(books))
    described: dict[str, Box] = {}
    for column, book in enumerate(books):
        counts = overall[book.name]
        if book.kind is ColumnType.CATEGORY and book.hierarchy is None:
            described[book.name] = _sets(book, column, segments, counts)
            continue
        low, high = least[:, column], most[:, column]
        first, index, _ = distinct(pack([low, high], [book.n_codes] * 2))
        if book.hierarchy is not None:
            described[book.name] = _nodes(book.hierarchy, index, low[first], high[first], counts)
        else:
            described[book.name] = _ranges(book, index, low[first], high[first], counts)
    return described


def box_means(book: Codebook, column: int, segments: Segments) -> pa.Array:
    """Return the mean of a number or date in each segment of a finished partition; null where nulls mix in.

    A mean has as many decimals as the column's values, and one where those are whole numbers.
    """
    line: FloatArray = np.concatenate([[np.nan], as_line(book.values)])
    # Around the middle, so that sums of large numbers and of dates lose no digits.
    center = np.nanmean(line) if np.isfinite(line).any() else 0.0
    of_rows = (line - center)[segments.codes[:, column]] * segments.weights
    mean = center + np.add.reduceat(of_rows, segments.low) / segments.sizes
    if book.kind is not ColumnType.DATE:
        decimals = decimals_of(line.astype(np.float32) if pa.types.is_float32(book.type) else line)
        return pa.array(
            rounded(mean, None if decimals is None else max(decimals, 1)), pa.float64(), from_pandas=True
        )
    # Arrow casts no float to a date, but to the integer beneath it.
    storage = pa.int32() if book.type.bit_width == 32 else pa.int64()
    return pa.array(np.round(mean), pa.float64(), from_pandas=True).cast(storage).cast(book.type)


def branches(book: Codebook, column: int, segments: Segments) -> tuple[CodeArray, list[list[str | None]]]:
    """Return which branches of a tree each segment took: the nodes just below the lowest node that holds it.

    A node's name alone does not say which of its branches went to another group. Gives the number of each segment's
    list, and the lists of node names.
    """
    from discreet.kernels.tables.grouping import distinct_lists
    from discreet.kernels.tables.partition import values_of

    tree = book.hierarchy
    if tree is None:
        raise TypeError("the column has no tree")
    indptr, values, _ = values_of(
        segments.codes, segments.weights, segments.low, segments.high, column, book.n_codes
    )
    levels, _ = tree.lowest_common(values[indptr[:-1]], values[indptr[1:] - 1])
    below = np.maximum(levels - 1, 0)
    # The nodes of a level are numbered behind those of all levels below; nodes never decrease along the codes.
    offsets = bounds([len(names) for names in tree.labels])
    nodes = (np.stack(tree.levels) + offsets[:-1, None])[np.repeat(below, np.diff(indptr)), values]
    begins = np.zeros(nodes.size, np.bool_)
    begins[1:] = nodes[1:] != nodes[:-1]
    begins[indptr[:-1]] = True
    of_segments, nodes = bounds(begins)[indptr], nodes[begins]
    first, index = distinct_lists(of_segments, nodes)
    names = [name for level in tree.labels for name in level]
    ends = zip(of_segments[first].tolist(), of_segments[first + 1].tolist(), strict=True)
    return index, [[names[node] for node in nodes[low:high].tolist()] for low, high in ends]


def is_exact(book: Codebook, box: Box) -> bool:
    """Return whether every cell of the column is still one exact value, so that the column may stay as it was."""
    values = labels.texts(book.values)
    exact = pc.is_in(box.labels.drop_null(), value_set=values)
    # `all` of no label is null, and nothing is inexact then.
    return not box.loss.any() and bool(pc.all(exact).as_py() is not False)


def cover_of(books: Sequence[Codebook], described: Mapping[str, Box]) -> LabelCover:
    """Return the cover of described groups, for guarantees that look at a population."""
    columns = ((book.name, described[book.name]) for book in books)
    return LabelCover.of((name, box.labels, box.index) for name, box in columns)


def _nodes(tree: Hierarchy, index: CodeArray, low: CodeArray, high: CodeArray, counts: IntArray) -> Box:
    levels, nodes = tree.lowest_common(low, high)
    written = [tree.labels[level][node] for level, node in zip(levels, nodes, strict=True)]
    loss = np.empty(levels.size)
    covered = np.empty(levels.size, np.int64)
    for level in np.unique(levels):
        here = levels == level
        loss[here] = tree.losses(level)[nodes[here]]
        covered[here] = np.bincount(tree.levels[level], weights=counts)[nodes[here]]
    return Box(index, pa.array(written, pa.string()), loss, covered)


def _ranges(book: Codebook, index: CodeArray, low: CodeArray, high: CodeArray, counts: IntArray) -> Box:
    values = [None, *book.values.to_pylist()]
    written = [_range(book, values, int(first), int(last)) for first, last in zip(low, high, strict=True)]
    # An exact value may be spelled as a star; only a range can be one of ours.
    starred = np.array([label == labels.STAR for label in written], np.bool_) & (low < high)
    up_to = bounds(counts)
    position = np.nan_to_num(book.positions)
    loss = np.where(starred, 1.0, position[high] - position[low])
    covered = np.where(starred, up_to[-1], up_to[high + 1] - up_to[low])
    return Box(index, pa.array(written, pa.string()), loss, covered)


def _range(book: Codebook, values: list[object], low: int, high: int) -> str | None:
    if low == high:
        return None if low == 0 else labels.text(values[low])
    if low == 0:
        return labels.STAR
    if book.kind is ColumnType.ORDERED:
        too_wide = high - low + 1 == book.n_codes - 1 or high - low >= LARGEST_SET
        return (
            labels.STAR
            if too_wide
            else labels.set_of([labels.text(value) for value in values[low : high + 1]])
        )
    return labels.interval(values[low], values[high])


def _sets(book: Codebook, column: int, segments: Segments, counts: IntArray) -> Box:
    from discreet.kernels.tables.grouping import distinct_lists
    from discreet.kernels.tables.partition import values_of

    indptr, values, _ = values_of(
        segments.codes, segments.weights, segments.low, segments.high, column, book.n_codes
    )
    names: list[str | None] = [None, *labels.texts(book.values).to_pylist()]
    first, index = distinct_lists(indptr, values)
    sets = [values[indptr[segment] : indptr[segment + 1]] for segment in first.tolist()]
    written = [_set(members, names) for members in sets]
    starred = np.array(
        [members.size > 1 and label == labels.STAR for members, label in zip(sets, written, strict=True)]
    )
    spread = np.array([members.size - 1 for members in sets]) / max(len(names) - 2, 1)
    covered = np.array([counts[members].sum() for members in sets])
    return Box(
        index,
        pa.array(written, pa.string()),
        np.where(starred, 1.0, spread),
        np.where(starred, counts.sum(), covered),
    )


def _set(members: CodeArray, names: Sequence[str | None]) -> str | None:
    if members.size == 1:
        return names[int(members[0])]
    if members[0] == 0 or members.size == len(names) - 1 or members.size > LARGEST_SET:
        return labels.STAR
    return labels.set_of([str(names[code]) for code in members])
