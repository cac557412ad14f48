"""Files of released tables: how they are written, and read back in the types the release has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.core.engine import TextLayout, engine_of
from discreet.core.release import Release
from discreet.core.schema import Schema
from discreet.core.tables.table import Table
from discreet.engines.files import read
from discreet.engines.formats import format_named
from discreet.engines.writing import write_frame

DATA, COUNTS = "data", "sensitive"
_TABS = TextLayout("\t")


def write_table(release: Release, frame: Any, path: Path, format: str) -> Path:  # noqa: A002
    """Write a frame of a release, text laid out as the file that the data comes from."""
    return write_frame(frame, path, format, layout=_layout(release, format))


def read_table(release: Release, data: Path, format: str) -> Table:  # noqa: A002
    """Return the judged columns of a written file, text in the types the release has."""
    rows = read_written(release, data, format, release.table.source.names)
    return judged_columns(rows, release, format)


def judged_columns(rows: Any, release: Release, format: str) -> Table:  # noqa: A002
    """Return the judged columns of rows that were read back, in the types the release has."""
    decimal = _layout(release, format).decimal if format == "csv" else "."
    schema = Schema({name: release.schema[name] for name in release.table.judged})
    types = {name: release.table.encoded[name].type for name in release.table.judged}
    return Table(engine_of(rows).typed(rows, types, decimal=decimal), schema)


def _layout(release: Release, format: str) -> TextLayout:  # noqa: A002
    """Return how text is laid out: CSV as the file that it comes from, if there is one."""
    if format == "tsv":
        return _TABS
    native = None if release.original is None else release.original.source.native
    return (None if native is None else engine_of(native).layout(native)) or TextLayout()


def read_written(release: Release, path: Path, format: str, names: Sequence[str]) -> Any:  # noqa: A002
    """Read a written file, text as it stands."""
    layout = _layout(release, format)
    form = format_named(format)
    reading: dict[str, Any] = {"nulls": ("",)}
    if form.text:
        reading["text"] = tuple(names)
    if form.reader == "text":
        reading |= {"delimiter": layout.delimiter, "quote": layout.quote}
    return read(path, **reading)
