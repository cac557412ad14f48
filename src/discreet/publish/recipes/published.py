"""What a public recipe says of a column: nothing of its hierarchy that no published cell shows.

A hierarchy may know more of the original than its release: how long the longest code was, where bottom and top lie, how
wide the widest intervals are. Whatever the published cells do not show goes to the private part of the recipe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.specs import Intervals, Masked
from discreet.core.schema import Role
from discreet.core.tables import labels
from discreet.core.tables.encoding import Codebook
from discreet.core.tables.labels import STAR
from discreet.core.tables.table import Table

TOP: Literal["top"] = "top"
"""The top level of a hierarchy, whatever its number, which says how many levels there are."""
_PARAMETRIC = ("intervals", "masked", "flat", "scale", "icd", "ip")
"""Hierarchies that say how to generalize without naming values of the data."""


def public_levels(levels: Mapping[str, int], table: Table) -> dict[str, int | str]:
    """Return levels as they may be published: the top of a hierarchy has no number."""
    return {name: TOP if level == height_of(name, table) else level for name, level in levels.items()}


def height_of(name: str, table: Table) -> int:
    """Return the number of a quasi-identifier's top level; without a hierarchy there are itself and ``*``."""
    tree = table.encoded[name].hierarchy
    return 1 if tree is None else tree.height


def column_parts(
    name: str, table: Table, *, cells: Collection[str | None], level: int | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write a column down: what may be published, and what is kept.

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
        plain, whole = _hierarchies(column.hierarchy, table.encoded[name], column.role, cells, level or 0)
        if plain is not None:
            entry["hierarchy"] = plain
        if plain != whole:
            hidden["hierarchy"] = whole
    if column.role is Role.QUASI:
        plain = entry.get("hierarchy")
        lines = isinstance(plain, Mapping) and plain["kind"] == "intervals"
        (entry if level == 0 or lines else hidden)["type"] = str(table.encoded[name].type)
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
    whole = spec.to_dict()
    seen = set(cells) - {None, STAR}
    if role is Role.QUASI and not seen:
        return None, whole
    if whole.get("kind") not in _PARAMETRIC:
        return True, whole
    if role is Role.QUASI and isinstance(spec, Masked):
        return (whole if any(len(cell or "") == spec.width for cell in seen) else True), whole
    if role is Role.QUASI and isinstance(spec, Intervals) and book.hierarchy is not None:
        shown = _shown_intervals(spec, book.hierarchy, seen, level)
        return None if shown is None else shown.to_dict(), whole
    return whole, whole


def _shown_intervals(
    spec: Intervals, tree: Hierarchy, cells: Collection[str | None], level: int
) -> Intervals | None:
    """Return intervals without the widths above those of published cells, and without ends that none of them shows."""
    found = {cell: level for level in range(tree.height - 1, -1, -1) for cell in tree.labels[level]}
    levels = {cell: found[cell] for cell in cells if found.get(cell)}
    if not levels:
        return None
    shown = replace(spec, widths=spec.widths[: max(level, *levels.values())])
    if shown.bottom is not None and _says(without := replace(shown, bottom=None), tree, levels):
        shown = without
    if shown.top is not None and _says(without := replace(shown, top=None), tree, levels):
        shown = without
    return shown


def _says(spec: Intervals, tree: Hierarchy, levels: Mapping[str | None, int]) -> bool:
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
