"""Tabulation: a table of counts or sums with its margins, and who contributes to each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, SchemaError
from discreet.core.tables import labels as written
from discreet.core.tables.cell_table import (
    LARGEST,
    MISSING,
    MOST_CELLS,
    TOTAL,
    CellTable,
    Dimension,
    with_margins,
)
from discreet.core.tables.encoding import Codebook, ColumnType, as_line
from discreet.core.tables.table import Table

MOST_DECIMALS = 6


@public
@dataclass(frozen=True, repr=False, eq=False)
class Tabulation:
    """A table of true counts or sums, for publishers; it stays private.

    Attributes
    ----------
    table
        The true table, nothing suppressed.
    cells
        The cell of each contribution, margins included: by a row, or by a person where rows belong to people.
    amounts
        The amount of each contribution, in units of the table's last decimal.
    copies
        How many contributors there are of the same cell and amount.
    n_missing
        How many rows have no value to be summed; they are left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> frame = pa.table({"region": ["n", "n", "s", None], "sex": ["f", "m", "m", "m"]})
    >>> counts = Tabulation.of(Table(frame, {"region": quasi(), "sex": quasi()}))
    >>> for cell in counts.table.texts():
    ...     print(*cell)
    Total Total 4
    Total f 1
    Total m 3
    (missing) Total 1
    (missing) f 0
    (missing) m 1
    n Total 2
    n f 1
    n m 1
    s Total 1
    s f 0
    s m 1
    """

    table: CellTable
    cells: IntArray
    amounts: IntArray
    copies: IntArray
    n_missing: int = 0

    @classmethod
    def of(cls, table: Table, value: str | None = None) -> Tabulation:
        """Count the rows of a table by its quasi-identifiers, or sum a sensitive column of zero or more.

        Columns with a hierarchy get a margin for each of its nodes. Null is a category like any other. Where a column
        has the role person, contributors are distinct people.
        """
        names = table.schema.quasi
        nodes, dimensions = zip(*(_dimension(table, name) for name in names), strict=True)
        if np.prod([float(len(item.labels)) for item in dimensions]) > MOST_CELLS:
            raise InputError(
                f"The table would have more than {MOST_CELLS:,} cells; take fewer or coarser columns."
            )
        counts = table.tuples.counts
        amounts, decimals = np.ones(counts.size, np.int64), 0
        is_there = np.ones(counts.size, np.bool_)
        if value is not None:
            amounts, decimals, is_there = _amounts(table, value)
            nodes, counts, amounts = (
                tuple(node[is_there] for node in nodes),
                counts[is_there],
                amounts[is_there],
            )
        # Summed as floats, which do not wrap around where the exact sum would.
        if float(amounts.astype(np.float64) @ counts) >= LARGEST:
            raise InputError(
                f"Column '{value}' sums to more than can be judged exactly; round it to larger units."
            )
        whose = (
            None
            if table.schema.person is None
            else table.codes(table.schema.person)[is_there].astype(np.int64)
        )
        shape = tuple(len(item.labels) for item in dimensions)
        leaves = np.zeros(shape, np.int64)
        np.add.at(leaves, tuple(nodes), amounts * counts)
        bottom = leaves[np.ix_(*(item.leaves for item in dimensions))]
        cells = CellTable(
            dimensions,
            with_margins(dimensions, bottom),
            np.zeros(shape, np.bool_),
            value,
            decimals,
            people=whose is not None,
        )
        contributions = _contributions(dimensions, nodes, amounts, counts, whose)
        missing = int(table.tuples.counts.sum() - counts.sum())
        return cls(cells, *contributions, missing)

    @classmethod
    def of_cells(cls, table: CellTable) -> Tabulation:
        """Take a ready table of counts, of which every one counts rows of different people."""
        if table.measure is not None or table.n_suppressed or table.base:
            raise InputError("A ready table must hold counts, none of them suppressed or rounded.")
        if table.wrong_sums:
            raise InputError(
                f"The margins do not add up: {table.wrong_sums} of them are not the sums of their cells."
            )
        filled = np.flatnonzero(table.values.reshape(-1))
        return cls(table, filled, np.ones(filled.size, np.int64), table.values.reshape(-1)[filled])

    @cached_property
    def contributors(self) -> IntArray:
        """The number of contributors to each cell."""
        counted = np.bincount(self.cells, weights=self.copies, minlength=self.table.n_cells)
        return counted.astype(np.int64).reshape(self.table.values.shape)

    def largest(self, n: int) -> IntArray:
        """Return the sum of the n largest contributions to each cell."""
        order = np.lexsort((-self.amounts, self.cells))
        cells, amounts, copies = self.cells[order], self.amounts[order], self.copies[order]
        # How many contributions of the same cell are larger: the
        # running number of copies, less that at the start of the cell.
        before = np.cumsum(copies) - copies
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        before -= np.repeat(before[starts], np.diff(starts, append=cells.size))
        counted = np.clip(n - before, 0, copies)
        sums = np.zeros(self.table.n_cells, np.int64)
        np.add.at(sums, cells, amounts * counted)
        return sums.reshape(self.table.values.shape)

    def primary(
        self, threshold: int, dominance: tuple[int, float] | None, p_percent: float | None
    ) -> BoolArray:
        """Return the cells that must not be published by themselves: of few contributors, or dominated by some.

        A sum of 0 to which somebody contributes is such a cell too, since it shows every contribution.

        Parameters
        ----------
        threshold
            Cells of 1 to threshold - 1 contributors.
        dominance
            n and k: cells of which the n largest contributions are more than k percent.
        p_percent
            Cells of which the second largest contributor can estimate the largest contribution to within p percent.
        """
        values, contributors = self.table.values, self.contributors
        small = (contributors > 0) & (contributors < threshold)
        if self.table.measure is not None:
            small |= (contributors > 0) & (values == 0)
        if dominance is not None:
            n, k = dominance
            # A sum of zero is left to the rule above: of it no share can be taken.
            small |= (self.largest(n) * 100.0 > k * values) & (values > 0)
        if p_percent is not None:
            first, two = self.largest(1), self.largest(2)
            # The second largest contributor subtracts its own part from
            # the sum; what the rest adds is its error about the largest.
            small |= ((values - two) * 100.0 < p_percent * first) & (values > 0)
        return small

    def __repr__(self) -> str:
        return f"Tabulation({self.table.n_cells} cells)"


def _dimension(table: Table, name: str) -> tuple[IntArray, Dimension]:
    """Return the node of each tuple, and the categories that occur, as a tree."""
    book, codes = table.encoded[name], table.codes(name).astype(np.int64)
    present = np.unique(codes)
    paths = [tuple(_path(book, int(code))) for code in present]
    labels, parents, leaves = [_free(TOTAL, {path[-1] for path in paths})], [-1], []
    groups: dict[tuple[str, ...], int] = {(): 0}
    for path in paths:
        # Two values may have one label, such as null and the text that stands for it, so only groups are shared.
        for depth in range(1, len(path) + 1):
            if path[:depth] not in groups or depth == len(path):
                parents.append(groups[path[: depth - 1]])
                groups[path[:depth]] = len(labels)
                labels.append(_free(path[depth - 1], set(labels)))
        leaves.append(len(labels) - 1)
    return np.array(leaves, np.int64)[np.searchsorted(present, codes)], Dimension(
        name, tuple(labels), tuple(parents)
    )


def _path(book: Codebook, code: int) -> list[str]:
    """Return the labels from below the top of a column's tree down to a value; what repeats stands once."""
    leaf = MISSING if code == 0 else written.text(book.values[code - 1].as_py())
    if book.hierarchy is None or code == 0:
        return [leaf]
    tree = book.hierarchy
    above = [str(tree.labels[level][tree.levels[level][code]]) for level in range(tree.height - 1, 0, -1)]
    return list(dict.fromkeys([*(label for label in above if label != leaf), leaf]))


def _free(label: str, taken: set[str]) -> str:
    """Return a label that is not taken: a group may be called as one of its values, and a value as the total."""
    while label in taken:
        label += " (all)" if label.startswith(TOTAL) else " (group)"
    return label


def _amounts(table: Table, name: str) -> tuple[IntArray, int, BoolArray]:
    """Return the value of each tuple in units of its last decimal, the decimals, and which tuples have a value."""
    book = table.encoded[name]
    if book.kind is not ColumnType.NUMBER:
        raise SchemaError(f"Column '{name}' is no column of numbers, so it cannot be summed.")
    numbers = as_line(book.values)
    if (numbers < 0).any():
        raise InputError(
            f"Column '{name}' holds negative values; only what is zero or more can be summed here."
        )
    # Half of int64, so that a value in units of the last decimal fits whatever the decimals are.
    if numbers.size and numbers.max() * 10**MOST_DECIMALS >= 2**62:
        raise InputError(f"Column '{name}' holds values that are too large; round them to larger units.")
    decimals = next(
        (count for count in range(MOST_DECIMALS) if _is_whole(numbers * 10.0**count)), MOST_DECIMALS
    )
    units = np.concatenate([[0], np.rint(numbers * 10.0**decimals).astype(np.int64)])
    codes = table.codes(name)
    if not codes.any():
        raise InputError(f"Column '{name}' holds no number.")
    return units[codes], decimals, codes > 0


def _is_whole(numbers: FloatArray) -> bool:
    return bool((np.abs(numbers - np.rint(numbers)) <= 1e-9 * np.maximum(np.abs(numbers), 1)).all())


def _contributions(
    dimensions: Sequence[Dimension],
    nodes: Sequence[IntArray],
    amounts: IntArray,
    counts: IntArray,
    whose: IntArray | None,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return cell, amount and number of the contributions to all cells; a person's rows in a cell are added up."""
    shape = tuple(len(item.labels) for item in dimensions)
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    for path in product(*(_ancestors(item, node) for item, node in zip(dimensions, nodes, strict=True))):
        is_there = np.all([node >= 0 for node in path], axis=0)
        cells = np.ravel_multi_index(tuple(node[is_there] for node in path), shape).astype(np.int64)
        parts = amounts[is_there], counts[is_there]
        if whose is not None:
            keys, place = np.unique(np.column_stack([cells, whose[is_there]]), axis=0, return_inverse=True)
            sums = np.zeros(len(keys), np.int64)
            np.add.at(sums, place.reshape(-1), parts[0] * parts[1])
            cells, parts = keys[:, 0], (sums, np.ones(len(keys), np.int64))
        found.append((cells, *parts))
    cells, sizes, copies = (np.concatenate(column) for column in zip(*found, strict=True))
    return cells, sizes, copies


def _ancestors(dimension: Dimension, nodes: IntArray) -> list[IntArray]:
    """Return the node of each row, the node above it, and so on up to the total; -1 beyond it."""
    parents = np.array([*dimension.parents, -1], np.int64)
    levels = [nodes]
    while (levels[-1] >= 0).any():
        levels.append(parents[levels[-1]])
    return levels[:-1]
