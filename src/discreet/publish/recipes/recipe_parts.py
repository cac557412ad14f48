"""The two parts of a recipe: what is published of how a release was made, and what stays with the owner.

A hierarchy may know more of the original than its release: how long the longest code was, where bottom and top lie, how
wide the widest intervals are. Whatever the published cells do not show goes to the private part of the recipe.
"""

from __future__ import annotations

import binascii
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray
from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.specs import Intervals, Masked
from discreet.core.rng import seed_of
from discreet.core.schema import Role
from discreet.core.tables import labels
from discreet.core.tables.encoding import Codebook
from discreet.core.tables.labels import STAR
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table

FORMAT = 1
TOP: Literal["top"] = "top"
"""The top level of a hierarchy, whatever its number, which says how many levels there are."""
_PARAMETRIC = ("intervals", "masked", "flat", "scale", "icd", "codes", "ip")
"""Hierarchies that say how to generalize without naming values of the data."""


@dataclass(frozen=True, repr=False)
class RecipeParts:
    """A recipe's two parts: what is published, and what the owner keeps; the second is empty where it is not needed."""

    public: dict[str, Any]
    private: dict[str, Any]

    def __repr__(self) -> str:
        return f"RecipeParts({len(self.public)} public entries, {len(self.private)} private)"


@dataclass(frozen=True, repr=False)
class Cut:
    """A cut through each column's tree: the labels that stand at each level, those published and all of them."""

    published: Mapping[str, Mapping[int, list[str]]]
    every: Mapping[str, Mapping[int, list[str]]]


def recipe_header(publisher: Any, parameters: Mapping[str, object]) -> dict[str, Any]:
    """Return the entries that every recipe begins with, whatever kind of data was published."""
    return {
        "format": FORMAT,
        "method": type(publisher).__name__,
        "parameters": dict(parameters),
        "guarantee": publisher.guarantee.to_dict(),
        "seed": seed_of(publisher.random_state),
    }


def recipe_of(
    publisher: Any,
    table: Table,
    *,
    parameters: Mapping[str, object],
    levels: Mapping[str, int] | None = None,
    cut: Cut | None = None,
    published: Mapping[str, Collection[str | None]] | None = None,
    groups: Mapping[str, Replacement] | None = None,
    boxes: Mapping[str, Mapping[str, Any]] | None = None,
    means: bool = False,
) -> RecipeParts:
    """Write down how a publisher made a release of a table, the public and the private part apart.

    Parameters
    ----------
    publisher
        Its class, guarantee and seed are named.
    table
        The table that was protected.
    parameters
        The publisher's parameters.
    levels
        The level of each quasi-identifier, where whole columns were generalized.
    cut
        The labels that stand at each level, where values of one column have several. Those published are public.
    published
        The distinct published cells of each quasi-identifier; found in the groups, or in the table, by default.
    groups
        What each group shows in every quasi-identifier. Private; the distinct combinations of cells are public.
    boxes
        Which values each group took in, by a label or by branches of a tree. Private.
    means
        Whether groups show means. Those say nothing of what they cover, so that they are private altogether.
    """
    cells = published or _published_cells(table, groups)
    if cut is not None:
        levels_of_columns: Mapping[str, int] = {
            name: max(by_level, default=0) for name, by_level in cut.published.items() if len(by_level) < 2
        }
    elif not levels and groups is None:
        levels_of_columns = dict.fromkeys(table.schema.quasi, 0)  # published as they are
    else:
        levels_of_columns = levels or {}
    columns = {
        name: column_parts(name, table, cells=cells.get(name, ()), level=levels_of_columns.get(name))
        for name in table.schema
    }
    public = recipe_header(publisher, parameters) | {"columns": [entry for entry, _ in columns.values()]}
    private: dict[str, Any] = {}
    if table.spreadsheet_safe:
        public["spreadsheet_safe"] = True
    if any(hidden for _, hidden in columns.values()):
        private["columns"] = {name: hidden for name, (_, hidden) in columns.items() if hidden}
    if levels is not None:
        public["levels"] = public_levels(levels, table)
    if cut is not None:
        public["levels"] = public_levels(levels_of_columns, table) | {
            name: _by_level(labels_) for name, labels_ in cut.published.items() if len(labels_) > 1
        }
        private["levels"] = {
            name: _by_level(labels_) for name, labels_ in cut.every.items() if len(labels_) > 1
        }
    if groups is not None and boxes is not None:
        private["boxes"] = {name: dict(box) for name, box in boxes.items()}
        private["cells"] = {name: _labels_and_index(cell) for name, cell in groups.items()}
        if not means:
            public["cells"] = _distinct_cells(groups)
    if means or any(True in (entry.get("hierarchy"), entry.get("ordered")) for entry, _ in columns.values()):
        public["private"] = True
    return RecipeParts(public, {"format": FORMAT, **private} if private else {})


def _published_cells(table: Table, groups: Mapping[str, Replacement] | None) -> dict[str, list[str | None]]:
    """Return the distinct published cells of each quasi-identifier: those of groups, or the column's own values."""
    if groups is None:
        return {name: labels.texts(table.encoded[name].values).to_pylist() for name in table.schema.quasi}
    return {
        name: labels.texts(cell.labels.take(pa.array(np.unique(cell.index)))).to_pylist()
        for name, cell in groups.items()
    }


def _distinct_cells(groups: Mapping[str, Replacement]) -> dict[str, dict[str, Any]]:
    """Return the distinct combinations of published cells, in an order that follows from them alone."""
    from discreet.kernels.tables.grouping import distinct, pack

    texts, ranks = {}, {}
    for name, column in groups.items():
        written = labels.texts(column.labels).to_pylist()
        used = {written[label] for label in np.unique(column.index).tolist()}
        texts[name] = sorted(used, key=_null_first)
        rank = {cell: number for number, cell in enumerate(texts[name])}
        # A label that no group shows has no rank, and none is looked up.
        ranks[name] = np.array([rank.get(cell, 0) for cell in written], np.int32)[column.index]
    first, _, _ = distinct(pack(ranks.values(), [len(cells) for cells in texts.values()]))
    return {
        name: {
            "labels": texts[name],
            "index": packed(ranks[name][first], len(texts[name])),
            "type": str(column.labels.type),
        }
        for name, column in groups.items()
    }


def _null_first(cell: str | None) -> tuple[bool, str]:
    return cell is not None, cell or ""


def _labels_and_index(cell: Replacement) -> dict[str, Any]:
    return {
        "labels": labels.texts(cell.labels).to_pylist(),
        "index": packed(cell.index, len(cell.labels)),
        "type": str(cell.labels.type),
    }


def _by_level(labels_: Mapping[int, list[str]]) -> dict[str, list[str]]:
    """Return the labels at each level as JSON has them."""
    return {str(level): sorted(labels_[level]) for level in sorted(labels_)}


def public_levels(levels: Mapping[str, int], table: Table) -> dict[str, Any]:
    """Return levels as they may be published: the top of a hierarchy has no number."""
    return {name: TOP if level == height_of(name, table) else level for name, level in levels.items()}


def height_of(name: str, table: Table) -> int:
    """Return the number of a quasi-identifier's top level; without a hierarchy there are itself and ``*``."""
    tree = table.encoded[name].hierarchy
    return 1 if tree is None else tree.height


def column_parts(
    name: str, table: Table, *, cells: Collection[str | None], level: int | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what may be published of a column, and what the owner keeps.

    Parameters
    ----------
    name
        The column.
    table
        The table that was protected.
    cells
        The distinct published cells of a quasi-identifier, as text.
    level
        The level of the whole column: at 0 the published values are its own, and show its type. None without levels.
    """
    column = table.schema[name]
    entry: dict[str, Any] = {"name": name, "role": column.role.value}
    hidden: dict[str, Any] = {}
    if column.role is Role.QUASI:
        entry["weight"] = column.weight
    if column.hierarchy is not None:
        public, complete = _hierarchies(column.hierarchy, table.encoded[name], column.role, cells, level or 0)
        if public is not None:
            entry["hierarchy"] = public
        if public != complete:
            hidden["hierarchy"] = complete
    if column.role is Role.QUASI:
        hierarchy = entry.get("hierarchy")
        has_intervals = isinstance(hierarchy, Mapping) and hierarchy["kind"] == "intervals"
        (entry if level == 0 or has_intervals else hidden)["type"] = str(table.encoded[name].type)
    if column.ordered is not None:
        entry["ordered"] = True
        hidden["ordered"] = [
            value if isinstance(value, str | int | float) else labels.text(value) for value in column.ordered
        ]
    if column.key is not None:
        entry["pseudonym"] = True
    if column.allow_unique:
        entry["allow_unique"] = True
    return entry, hidden


def _hierarchies(
    spec: HierarchySpec | Hierarchy, book: Codebook, role: Role, cells: Collection[str | None], level: int
) -> tuple[dict[str, Any] | bool | None, dict[str, Any]]:
    """Return a hierarchy as it is published (True: kept apart, None: not needed), and all of it."""
    if isinstance(spec, Masked):
        spec = spec.fixed(book.values)
    complete = spec.to_dict()
    visible = set(cells) - {None, STAR}
    if role is Role.QUASI and not visible:
        return None, complete
    if complete.get("kind") not in _PARAMETRIC:
        return True, complete
    if role is Role.QUASI and isinstance(spec, Masked):
        # The width is known to whoever sees one cell of full length, masked or not.
        return (complete if any(len(cell or "") == spec.width for cell in visible) else True), complete
    if role is Role.QUASI and isinstance(spec, Intervals) and book.hierarchy is not None:
        intervals = _visible_intervals(spec, book.hierarchy, visible, level)
        return None if intervals is None else intervals.to_dict(), complete
    return complete, complete


def _visible_intervals(
    spec: Intervals, tree: Hierarchy, cells: Collection[str | None], level: int
) -> Intervals | None:
    """Return intervals without the widths above those of published cells, and without ends that none of them shows."""
    # From the top down, so that a label of several levels counts for the lowest.
    level_of = {cell: level for level in range(tree.height - 1, -1, -1) for cell in tree.labels[level]}
    levels = {cell: level_of[cell] for cell in cells if level_of.get(cell)}
    if not levels:
        return None
    visible = replace(spec, widths=spec.widths[: max(level, *levels.values())])
    if visible.bottom is not None and _writes(without := replace(visible, bottom=None), tree, levels):
        visible = without
    if visible.top is not None and _writes(without := replace(visible, top=None), tree, levels):
        visible = without
    return visible


def _writes(spec: Intervals, tree: Hierarchy, levels: Mapping[str | None, int]) -> bool:
    """Return whether intervals write every published cell as it was written."""
    for level in set(levels.values()):
        written = np.array(tree.labels[level], object)[tree.levels[level]][1:]
        inside = np.array([levels.get(cell) == level for cell in written], np.bool_)
        leaves = tree.leaves.filter(pa.array(inside))
        try:
            bound = spec.bind(leaves, column="")
        except HierarchyError:
            return False
        again = np.array(bound.labels[level], object)[bound.levels[level]][1:]
        if not np.array_equal(again, written[inside]):
            return False
    return True


# Label numbers: which label each group of a recipe shows, as text; a list of JSON numbers takes many times as long.
#
# The text is Base64 of whole numbers, little-endian, each of as few bytes (1, 2 or 4) as the number of labels needs.
# Recipes that hold lists of numbers are read as well.


def _width(n_labels: int) -> np.dtype[Any]:
    """Return the type of the numbers of so many labels."""
    return np.dtype(np.min_scalar_type(max(n_labels - 1, 0))).newbyteorder("<")


def packed(numbers: NDArray[Any], n_labels: int) -> str:
    """Write numbers of labels as text.

    >>> packed(np.array([0, 2, 1]), 3)
    'AAIB'
    """
    return binascii.b2a_base64(numbers.astype(_width(n_labels)).tobytes(), newline=False).decode()


def group_labels(entry: Mapping[str, Any]) -> CodeArray:
    """Return which of the labels, or lists of branches, of an entry each group has; a ValueError where it is damaged.

    >>> [group_labels({"labels": ["a", "b", "c"], "index": index}).tolist() for index in ("AAIB", [0, 2, 1])]
    [[0, 2, 1], [0, 2, 1]]
    """
    written, n_labels = entry.get("index"), len(entry["branches" if "branches" in entry else "labels"])
    numbers: NDArray[Any]
    if isinstance(written, str):
        numbers = np.frombuffer(binascii.a2b_base64(written, strict_mode=True), _width(n_labels))
    elif isinstance(written, list) and all(type(number) is int and 0 <= number < 2**31 for number in written):
        numbers = np.array(written, np.int64)
    else:
        raise ValueError("neither text nor a list of numbers")
    if numbers.size == 0 or numbers.max() >= n_labels:
        raise ValueError("no number, or one of no label")
    return numbers.astype(np.int32)
