"""Reading the data of a written release as a guarantee judges it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.core.engine import arrow_table
from discreet.core.errors import InputError
from discreet.core.schema import Schema
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.table import Table
from discreet.engines.baskets.published import read_published
from discreet.engines.digests import is_regular
from discreet.engines.files import read
from discreet.engines.formats import format_named
from discreet.engines.sketches import read_sketches
from discreet.job.descriptions import released_columns

_TREES = ("hierarchy", "ordered")
_BASKETS = ("baskets", "sanitized-baskets")


def read_released(
    folder: Path, record: Mapping[str, Any], owners: Mapping[str, Any], *, texts: bool = False
) -> Any:
    """Return the released data of a folder: a table, groups of rows, baskets or sketches.

    Parameters
    ----------
    folder
        The folder of the release.
    record
        What its release.json says.
    owners
        What the owner's folder says; empty where it is not there.
    texts
        Whether cells of text files stay text, whatever they look like; else only labels do.
    """
    if record["kind"] in _BASKETS:
        return read_published(folder)
    if record["kind"] == "sketches":
        return read_sketches(_file(folder, "sketches", record))
    columns = released_columns(folder, _without_hidden(record, owners), owners)
    if record["kind"] == "grouped-table":
        rows, counts = (_frame(folder, name, record) for name in ("data", "sensitive"))
        return GroupedTable(rows, arrow_table(counts), counts.columns[0])
    labels = tuple(columns) if texts else Schema(columns).quasi
    if record["kind"] == "sanitized-table" and not texts:
        labels = tuple(name for name in owners.get("text", ()) if name in columns)
    frame = _frame(folder, "data", record, labels if record["kind"] != "pseudo-data" or texts else ())
    return Table(frame, {name: column for name, column in columns.items() if name in frame.columns})


def hidden_columns(record: Mapping[str, Any], owners: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns whose hierarchy or order is in the owner's folder alone, which is not there."""
    private = owners.get("columns")
    return tuple(
        entry["name"]
        for entry in record["columns"]
        for key in _TREES
        if entry.get(key) is True
        and not (isinstance(private, Mapping) and key in private.get(entry["name"], ()))
    )


def _without_hidden(record: Mapping[str, Any], owners: Mapping[str, Any]) -> dict[str, Any]:
    hidden = hidden_columns(record, owners)
    columns = [
        {key: value for key, value in entry.items() if key not in _TREES or entry["name"] not in hidden}
        for entry in record["columns"]
    ]
    return {**record, "columns": columns}


def is_text(folder: Path, record: Mapping[str, Any]) -> bool:
    """Return whether a released table is written as text, which does not say the types of its columns."""
    names = [Path(name) for name in record["files"] if Path(name).stem == "data"]
    return any(format_named(name.suffix[1:]).text for name in names if is_regular(folder / name))


def _frame(folder: Path, name: str, record: Mapping[str, Any], labels: tuple[str, ...] = ()) -> Any:
    """Read a file of the folder; labels stay text, whatever they look like."""
    path = _file(folder, name, record)
    reading: dict[str, Any] = {"nulls": ("",)}
    if format_named(path.suffix[1:]).text and labels:
        reading["text"] = labels
    return read(path, **reading)


def _file(folder: Path, name: str, record: Mapping[str, Any]) -> Path:
    """Return a file of the folder by its name, one that was written with the release if there is one."""
    files = [path for path in folder.glob(f"{name}.*") if path.suffix != ".html" and is_regular(path)]
    if not files:
        raise InputError(f"{folder} holds no file of {name}.")
    return min(files, key=lambda path: (path.name not in record["files"], path))
