"""Editing hierarchies: what the fields of the editor say, and groups of values that are put together by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import HierarchyError
from discreet.core.tables.labels import STAR
from discreet.studio.forms import Pairs

Lines = list[list[str]]
"""A hierarchy line by line: a value, then its label on every level; blank where it has none yet."""

WAYS = {
    "none": "Without a hierarchy: numbers become intervals where needed, categories sets",
    "intervals": "Intervals, each level wider than the one below",
    "mask": "Masked characters, one more on each level",
    "groups": "Groups of values, put together by hand",
    "flat": "Exact, or hidden altogether",
    "icd": "Diagnoses by the chapters of the ICD",
    "codes": "Codes of a system that is built in",
    "scale": "A scale that is built in",
    "ip": "Addresses of the internet by their networks",
}
"""The ways to make a column coarser, with what each is."""
_LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True)
class ValueGroup:
    """A group of one level: its label, blank for what is in none, and what is in it with its rows."""

    label: str
    items: tuple[str, ...]


def way_of(entry: dict[str, Any] | None) -> str:
    """Return the way of a hierarchy as the editor names it."""
    if entry is None:
        return "none"
    way = next(iter(entry))
    return {"rows": "groups", "tree": "groups", "cuts": "intervals", "file": "groups"}.get(way, way)


def entry_from_form(pairs: Pairs) -> dict[str, Any] | None:
    """Return the hierarchy that the editor's fields describe; None for none."""
    fields = dict(pairs)
    way = fields.get("way", "none")
    if way == "intervals":
        widths = [_width(text.strip()) for text in fields.get("intervals", "").split(",") if text.strip()]
        if not widths:
            raise HierarchyError("Write the widths of the intervals, such as 5, 10, 20, or month, year.")
        ends = {
            name: _width(fields[name].strip()) for name in ("bottom", "top") if fields.get(name, "").strip()
        }
        return {"intervals": widths, **ends}
    if way == "mask":
        width = fields.get("width", "").strip()
        entry: dict[str, Any] = {"mask": "left" if fields.get("mask") == "left" else "right"}
        return entry | ({"width": _whole(width)} if width else {})
    if way == "icd":
        return {"icd": _whole(fields.get("icd", "10"))}
    if way in ("codes", "scale"):
        return {way: fields.get(way, "")}
    return {way: True} if way in ("flat", "ip") else None


def _width(text: str) -> int | float | str:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise HierarchyError("Write a whole number.") from None


def uploaded_hierarchy(content: bytes) -> dict[str, Any]:
    """Return the hierarchy of an uploaded file in ARX's layout: value;level 1;…;* on each line."""
    if len(content) > _LARGEST:
        raise HierarchyError("A hierarchy file has at most 4 MiB.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HierarchyError("A hierarchy file is text in UTF-8.") from None
    first = text.partition("\n")[0]
    delimiter = ";" if ";" in first else "\t" if "\t" in first else ","
    try:
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=delimiter) if line]
    except csv.Error:
        raise HierarchyError("The file cannot be read as lines of value;level 1;…;*.") from None
    if not lines or len(lines[0]) < 2 or len({len(line) for line in lines}) != 1:
        raise HierarchyError("Every line must have a value and the same number of levels: value;level 1;…;*.")
    return entry_of_lines(lines)


def entry_of_lines(lines: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the hierarchy of lines as a job has it; a value that has no group yet is left out.

    >>> entry_of_lines([["tea", "drink", "*"], ["rice", "", "*"]])
    {'rows': [['tea'], ['drink'], ['*']]}
    """
    complete = [line for line in lines if all(line)]
    return {"rows": [list(level) for level in zip(*complete, strict=True)]} if complete else {"rows": []}


def value_groups(lines: Lines, level: int) -> list[ValueGroup]:
    """Return the groups of a level in the order of their first values, those without a group first."""
    items: dict[str, dict[str, None]] = {"": {}}
    for line in lines:
        items.setdefault(line[level], {})[line[level - 1] or line[0]] = None
    return [ValueGroup(label, tuple(members)) for label, members in items.items()]


def moved(lines: Lines, level: int, items: Collection[str], group: str) -> Lines:
    """Put items of the level below into a group, with all that is above the group where it is there already.

    >>> lines = [["tea", "tea", "*"], ["milk", "drink", "*"]]
    >>> moved(lines, 1, ["tea"], "drink")
    [['tea', 'drink', '*'], ['milk', 'drink', '*']]
    """
    lines = [[*line] for line in lines]
    if lines and level == len(lines[0]) - 1:
        lines = with_level(lines)
    above = next((line[level + 1 :] for line in lines if line[level] == group and group), None)
    for line in lines:
        if (line[level - 1] or line[0]) in items:
            line[level] = group
            rest = above or [label or group for label in line[level + 1 :]]
            line[level + 1 :] = [*rest[:-1], STAR] if rest else rest
            for lower in range(1, level):
                line[lower] = line[lower] or line[0]
    return lines


def with_level(lines: Lines) -> Lines:
    """Add a level below the top, on which everything is as on the level below it.

    >>> with_level([["tea", "*"]])
    [['tea', 'tea', '*']]
    """
    return [[*line[:-1], line[-2], STAR] for line in lines]


def without_level(lines: Lines, level: int) -> Lines:
    """Take a level out, if another is left between the values and the top."""
    return lines if len(lines[0]) <= 3 else [[*line[:level], *line[level + 1 :]] for line in lines]


def arx_text(lines: Sequence[Sequence[str]]) -> str:
    r"""Write a hierarchy as ARX does: a line for each value, with its label on every level.

    >>> arx_text([["24", "20-29", "*"]])
    '24;20-29;*\n'
    """
    stream = io.StringIO()
    csv.writer(stream, delimiter=";", lineterminator="\n").writerows(lines)
    return stream.getvalue()
