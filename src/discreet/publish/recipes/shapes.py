"""The shapes of recipes: whether what was read has every part that applying it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.publish.recipes.published import TOP

_ROLES = {"identifier", "person", "quasi", "sensitive", "other"}


def is_public_part(data: Mapping[str, Any]) -> bool:
    """Return whether the public part of a recipe is whole."""
    columns = data.get("columns")
    if not isinstance(columns, list) or not columns or not all(map(_is_column, columns)):
        return False
    if not isinstance(data.get("guarantee"), Mapping) or not isinstance(data.get("parameters", {}), Mapping):
        return False
    names = [column["name"] for column in columns]
    quasi = [column["name"] for column in columns if column["role"] == "quasi"]
    if len(set(names)) < len(names):
        return False
    if "levels" in data:
        levels = data["levels"]
        return isinstance(levels, Mapping) and all(
            name in quasi and (one == TOP or _is_count(one)) for name, one in levels.items()
        )
    return data.get("private") is True if "cells" not in data else _are_cells(data["cells"], set(quasi))


def is_private_part(data: object) -> bool:
    """Return whether the private part of a recipe is whole."""
    if not isinstance(data, Mapping):
        return False
    hidden = data.get("columns", {})
    if not isinstance(hidden, Mapping) or not all(map(_is_hidden, hidden.values())):
        return False
    if "boxes" not in data and "cells" not in data:
        return True
    boxes = data.get("boxes")
    if not isinstance(boxes, Mapping) or not all(map(_is_box, boxes.values())):
        return False
    groups = {len(box["index"]) for box in boxes.values()}
    cells = data.get("cells")
    if not _are_cells(cells, set(boxes)) or not isinstance(cells, Mapping):
        return False
    return len(groups | {len(cell["index"]) for cell in cells.values()}) == 1


def _is_column(column: object) -> bool:
    if not isinstance(column, Mapping):
        return False
    hierarchy, ordered, weight = (column.get(name) for name in ("hierarchy", "ordered", "weight"))
    return (
        isinstance(column.get("name"), str)
        and isinstance(column.get("role"), str)
        and column["role"] in _ROLES
        and isinstance(column.get("type", ""), str)
        and (hierarchy in (None, True) or isinstance(hierarchy, Mapping))
        and ordered in (None, True)
        and (weight is None or (isinstance(weight, int | float) and 0 < weight < 1e300))
    )


def _is_hidden(column: object) -> bool:
    if not isinstance(column, Mapping):
        return False
    ordered = column.get("ordered")
    plain = isinstance(ordered, list) and all(isinstance(one, str | int | float) for one in ordered)
    typed = isinstance(column.get("type", ""), str)
    return typed and isinstance(column.get("hierarchy", {}), Mapping) and (ordered is None or plain)


def _are_cells(cells: object, quasi: set[str]) -> bool:
    if not isinstance(cells, Mapping) or set(cells) != quasi or not cells:
        return False
    whole = all(_is_labeled(cell) and isinstance(cell.get("type"), str) for cell in cells.values())
    return whole and len({len(cell["index"]) for cell in cells.values()}) == 1


def _is_box(box: object) -> bool:
    if not isinstance(box, Mapping) or "branches" not in box:
        return _is_labeled(box)
    branches = box["branches"]
    return (
        isinstance(branches, list)
        and all(isinstance(one, list) and one and all(map(_is_label, one)) for one in branches)
        and _is_index(box.get("index"), len(branches))
    )


def _is_labeled(box: object) -> bool:
    if not isinstance(box, Mapping) or not isinstance(box.get("labels"), list):
        return False
    return all(map(_is_label, box["labels"])) and _is_index(box.get("index"), len(box["labels"]))


def _is_index(index: object, n: int) -> bool:
    return isinstance(index, list) and len(index) > 0 and all(_is_count(one) and one < n for one in index)


def _is_label(label: object) -> bool:
    return label is None or isinstance(label, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
