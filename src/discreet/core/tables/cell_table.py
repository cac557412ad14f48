"""CellTable: counts or sums over categories with their margins, some of them suppressed or all of them rounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public, reads
from discreet.core.errors import InputError

MOST_CELLS = 2_000_000
"""How many cells a table may have."""
LARGEST = 2**45
"""What no total reaches: sums of larger numbers are not exact in the solver."""
TOTAL, MISSING = "Total", "(missing)"


@dataclass(frozen=True, repr=False)
class Dimension:
    """One column of a table of counts: its categories as a tree, whose root is the total.

    ``parents[i]`` is the node above node i; nodes come after the node above them, and the root, node 0, has -1.
    """

    name: str
    labels: tuple[str, ...]
    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        is_tree = self.parents[:1] == (-1,) and all(
            0 <= parent < node for node, parent in enumerate(self.parents) if node
        )
        if not is_tree or len(self.labels) != len(self.parents) or len(set(self.labels)) < len(self.labels):
            raise InputError(
                f"The categories of column '{self.name}' are no tree with a label for each node."
            )

    @property
    def leaves(self) -> IntArray:
        """The nodes without any below them."""
        return np.setdiff1d(np.arange(len(self.parents)), np.array(self.parents[1:], np.int64))


@public
@dataclass(frozen=True, repr=False, eq=False)
class CellTable:
    """A table of counts or sums with its margins.

    Attributes
    ----------
    dimensions
        The columns; a cell is a node of each.
    values
        The value of each cell, in units of ``10 ** -decimals``; 0 where it is suppressed.
    suppressed
        Which cells are not published.
    measure
        The column that is summed; None where rows are counted.
    decimals
        How many decimals the values have.
    base
        What all values were rounded to a multiple of; 0 where none was rounded.
    people
        Whether small cells are those of few people and not of few rows.

    Examples
    --------
    >>> table = CellTable.of_leaves({"sex": ["f", "m"]}, np.array([3, 20]))
    >>> table.values.tolist(), table.dimensions[0].labels, table.additive
    ([23, 3, 20], ('Total', 'f', 'm'), True)
    """

    dimensions: tuple[Dimension, ...]
    values: IntArray
    suppressed: BoolArray
    measure: str | None = None
    decimals: int = 0
    base: int = 0
    people: bool = False

    @staticmethod
    def of_leaves(categories: Mapping[str, Sequence[str]], values: IntArray) -> CellTable:
        """Return the table of some counts by flat categories, with all margins."""
        flat = tuple(
            Dimension(name, (TOTAL, *labels), (-1, *[0] * len(labels))) for name, labels in categories.items()
        )
        sums = with_margins(flat, np.asarray(values, np.int64))
        return CellTable(flat, sums, np.zeros(sums.shape, np.bool_))

    @property
    def n_cells(self) -> int:
        """The number of cells, margins included."""
        return int(self.values.size)

    @property
    def n_suppressed(self) -> int:
        """The number of suppressed cells."""
        return int(self.suppressed.sum())

    @property
    def value_name(self) -> str:
        """The name of the column of values in files, which none of the dimensions has."""
        name = "count" if self.measure is None else f"sum of {self.measure}"
        while name in {dimension.name for dimension in self.dimensions}:
            name += "_"
        return name

    @cached_property
    def relations(self) -> Any:
        """The sums as a sparse matrix: each row adds the cells below a margin and takes the margin off."""
        import scipy.sparse as sp

        shape, rows = self.values.shape, []
        for axis, dimension in enumerate(self.dimensions):
            parents = np.array(dimension.parents, np.int64)
            inner = np.unique(parents[1:])
            below = np.searchsorted(inner, parents[1:])
            nodes = np.concatenate([np.arange(1, parents.size), inner])
            signs = np.concatenate([np.ones(parents.size - 1), -np.ones(inner.size)]).astype(np.int64)
            places = (np.concatenate([below, np.arange(inner.size)]), nodes)
            sums = sp.coo_array((signs, places), shape=(inner.size, parents.size))
            before, after = (int(np.prod(part, dtype=np.int64)) for part in (shape[:axis], shape[axis + 1 :]))
            # The sums of one column hold for each combination of nodes of the columns before and after it.
            eye = [sp.eye_array(size, dtype=np.int64) for size in (before, after)]
            rows.append(sp.kron(sp.kron(eye[0], sums), eye[1]))
        return sp.csr_array(sp.vstack(rows))

    @property
    def additive(self) -> bool:
        """Whether all margins whose cells are published are their sums."""
        return not self.wrong_sums

    @property
    def wrong_sums(self) -> int:
        """The number of published margins that are not the sum of their published cells."""
        hidden = abs(self.relations) @ self.suppressed.reshape(-1).astype(np.int64)
        off = self.relations @ self.values.reshape(-1)
        # A sum with a suppressed cell in it cannot be checked.
        return int(np.count_nonzero(off[hidden == 0]))

    def without(self, suppressed: BoolArray) -> CellTable:
        """Return the table with some cells suppressed: nothing is left of their values."""
        hidden = suppressed.reshape(self.values.shape)
        return replace(self, values=np.where(hidden, 0, self.values), suppressed=hidden)

    def texts(self) -> Iterator[tuple[str, ...]]:
        """Iterate over the cells as they are written: a label for each column, and the value or an empty text."""
        for at in np.ndindex(self.values.shape):
            labels = (dimension.labels[node] for dimension, node in zip(self.dimensions, at, strict=True))
            yield (*labels, "" if self.suppressed[at] else self.number_text(int(self.values[at])))

    def number_text(self, value: int) -> str:
        """Return a value as it is written.

        >>> CellTable.of_leaves({"sex": ["f"]}, np.array([3])).number_text(12)
        '12'
        """
        if not self.decimals:
            return str(value)
        digits = f"{value:0{self.decimals + 1}d}"
        return f"{digits[: -self.decimals]}.{digits[-self.decimals :]}"

    def layout(self) -> dict[str, Any]:
        """Return all but the values and what is suppressed, as plain data; `read_cells` takes it."""
        return {
            "dimensions": [
                {"name": item.name, "labels": list(item.labels), "parents": list(item.parents)}
                for item in self.dimensions
            ],
            "measure": self.measure,
            "decimals": self.decimals,
            "base": self.base,
            "people": self.people,
        }

    def __repr__(self) -> str:
        return f"CellTable({self.n_cells} cells, {self.n_suppressed} suppressed)"


def with_margins(dimensions: Sequence[Dimension], leaves: IntArray) -> IntArray:
    """Return the values of all cells, given those of the cells that are no margins, in the order of their nodes."""
    values = leaves
    for axis, dimension in enumerate(dimensions):
        shape = (*values.shape[:axis], len(dimension.parents), *values.shape[axis + 1 :])
        sums = np.moveaxis(np.zeros(shape, np.int64), axis, 0)
        sums[dimension.leaves] = np.moveaxis(values, axis, 0)
        # Nodes come after the one above them: from the last on, each is complete when it is added up.
        for node in range(len(dimension.parents) - 1, 0, -1):
            sums[dimension.parents[node]] += sums[node]
        values = np.moveaxis(sums, 0, axis)
    return values


@reads("The table of cells")
def read_cells(layout: Mapping[str, Any], cells: Iterator[Sequence[str]]) -> CellTable:
    """Return a table from its layout and its cells as `CellTable.texts` writes them, in any order."""
    dimensions = tuple(
        Dimension(str(item["name"]), tuple(map(str, item["labels"])), tuple(map(int, item["parents"])))
        for item in layout["dimensions"]
    )
    decimals, base = int(layout["decimals"]), int(layout["base"])
    measure = None if layout["measure"] is None else str(layout["measure"])
    if measure is None and decimals:
        raise InputError("The table of cells has counts with decimals; counts are whole numbers.")
    nodes = [{label: node for node, label in enumerate(item.labels)} for item in dimensions]
    values = np.full([len(item.labels) for item in dimensions], -1, np.int64)
    suppressed = np.zeros(values.shape, np.bool_)
    for *labels, text in cells:
        at = tuple(names[label] for names, label in zip(nodes, labels, strict=True))
        if values[at] >= 0:
            raise InputError("The table holds a cell twice; each combination of labels has one row.")
        values[at] = 0 if text == "" else _value(text, decimals)
        suppressed[at] = text == ""
    if (values < 0).any():
        raise InputError(
            f"The table lacks {int((values < 0).sum())} of its {values.size} cells; each combination of labels has a "
            "row, with 0 where nothing is counted."
        )
    return CellTable(dimensions, values, suppressed, measure, decimals, base, bool(layout["people"]))


def _value(text: str, decimals: int) -> int:
    """Return a written value in its smallest units."""
    number, _, fraction = text.partition(".")
    if not (number + fraction).isdecimal() or len(fraction) != decimals:
        raise InputError("The table holds a value that is no number of zero or more with its decimals.")
    value = int(number + fraction)
    if value >= LARGEST:
        raise InputError("The table holds values that are too large to be judged exactly.")
    return value
