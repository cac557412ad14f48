"""Hierarchies and pseudonym keys as a job file writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discreet.core.errors import HierarchyError, InputError
from discreet.core.hierarchy.specs import (
    HierarchySpec,
    Rows,
    code_system,
    cuts,
    flat,
    icd,
    intervals,
    ip_addresses,
    masked,
    read_hierarchy,
    scale,
    tree,
)
from discreet.kinds.wording import nearest_name

_OPTIONS = {
    "intervals": ("origin", "bottom", "top", "unit"),
    "cuts": (),
    "mask": ("levels", "char", "width"),
    "flat": (),
    "tree": ("ordered",),
    "file": ("delimiter", "encoding", "ordered"),
    "rows": ("ordered",),
    "scale": (),
    "icd": (),
    "ip": (),
    "codes": (),
}
_KINDS = {
    "intervals": ("intervals", "widths"),
    "cuts": ("cuts", "levels"),
    "masked": ("mask", "from_"),
    "flat": ("flat", ""),
    "rows": ("rows", "columns"),
    "scale": ("scale", "name"),
    "icd": ("icd", "version"),
    "ip": ("ip", ""),
    "codes": ("codes", "system"),
}


def hierarchy_from(details: object, *, column: str, folder: Path) -> HierarchySpec:
    """Build a hierarchy from ``{intervals = [5, 10]}``, ``{mask = "right"}``, ``{file = "age.csv"}`` and so on.

    >>> hierarchy_from({"mask": "right", "levels": 3}, column="zip", folder=Path())
    Masked(char='*', from_='right', levels=3, width=None)
    """
    where = f"The hierarchy of column '{column}'"
    if not isinstance(details, Mapping):
        raise HierarchyError(f"{where} must be a table such as {{intervals = [5, 10, 20]}}.")
    section = _renamed(dict(details), where) if "kind" in details else dict(details)
    named = [name for name in section if name in _OPTIONS]
    if len(named) != 1:
        unknown = [name for name in section if name not in _OPTIONS]
        hint = nearest_name(unknown[0], _OPTIONS) if unknown and not named else "."
        raise HierarchyError(f"{where} must have exactly one of {', '.join(_OPTIONS)}{hint}")
    way = named[0]
    options = {name: value for name, value in section.items() if name != way}
    for name in options:
        if name not in _OPTIONS[way]:
            raise HierarchyError(f"{where}: {way} has no option '{name}'{nearest_name(name, _OPTIONS[way])}")
    try:
        return _MAKERS[way](section[way], options, folder)
    except (TypeError, KeyError, IndexError, AttributeError):
        raise HierarchyError(f"{where}: {way} is not written as it should be.") from None


def key_from(text: object, *, column: str, folder: Path) -> bytes:
    """Find a pseudonym key by ``env:NAME`` or ``file:PATH``; the key itself never stands in a job or a command."""
    way, _, source = text.partition(":") if isinstance(text, str) else ("", "", "")
    if way not in ("env", "file") or not source:
        raise InputError(
            f"The pseudonym of column '{column}' must say where its key is: env:NAME or file:PATH, never the key."
        )
    if way == "env":
        if source not in os.environ:
            raise InputError(f"The environment variable {source}, the key for column '{column}', is not set.")
        return os.environ[source].encode("utf-8", "surrogateescape")
    try:
        # Editors end a file with a line break, which is no part of the key.
        return (folder / source).read_bytes().rstrip(b"\r\n")
    except OSError:
        raise InputError(f"The key file for column '{column}' cannot be read: {source}.") from None


def _renamed(options: dict[str, Any], where: str) -> dict[str, Any]:
    """Bring what a specification's ``to_dict`` gives into the short form."""
    kind = options.pop("kind")
    if kind not in _KINDS:
        raise HierarchyError(f"{where}: its kind must be one of {', '.join(_KINDS)}.")
    way, first = _KINDS[kind]
    value = options.pop(first, "right" if way == "mask" else True)
    return {way: value} | {name: option for name, option in options.items() if option is not None}


def _intervals(widths: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del folder
    return intervals(*(widths if isinstance(widths, list) else [widths]), **options)


def _cuts(levels: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del options, folder
    nested = levels if isinstance(levels[0], list) else [levels]
    return cuts(*nested)


def _mask(side: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del folder
    return masked(from_="right" if side is True else side, **options)


def _flat(value: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del options, folder
    if value is not True:
        raise TypeError
    return flat()


def _scale(name: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del options, folder
    return scale(name)


def _icd(version: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del options, folder
    return icd(version)


def _codes(system: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del options, folder
    return code_system(system)


def _ip(value: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del options, folder
    if value is not True:
        raise TypeError
    return ip_addresses()


def _tree(nested: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del folder
    return tree(nested, **options)


def _file(path: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    return read_hierarchy(folder / path, **options)


def _rows(columns: Any, options: dict[str, Any], folder: Path) -> HierarchySpec:
    del folder
    levels = tuple(tuple(str(label) for label in level) for level in columns)
    if len(levels) < 2 or len({len(level) for level in levels}) != 1 or not levels[0]:
        raise TypeError
    return Rows(levels, **options)


_MAKERS: dict[str, Callable[[Any, dict[str, Any], Path], HierarchySpec]] = {
    "intervals": _intervals,
    "cuts": _cuts,
    "mask": _mask,
    "flat": _flat,
    "tree": _tree,
    "file": _file,
    "rows": _rows,
    "scale": _scale,
    "icd": _icd,
    "ip": _ip,
    "codes": _codes,
}
