"""Files of released tables: how they are written, and read back in the types the release has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.errors import OutputError
from discreet.core.release import Release
from discreet.core.schema import Schema
from discreet.core.tables.table import Table
from discreet.engines.duckdb.connection import identifier
from discreet.engines.duckdb.queries import run
from discreet.engines.files import read
from discreet.engines.formats import format_named
from discreet.engines.text.layout import Layout, layout_of
from discreet.engines.writing import write_frame

DATA, COUNTS = "data", "sensitive"
_TABS = Layout("\t")


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
    return Table(_typed(rows, release, decimal), schema)


def _layout(release: Release, format: str) -> Layout:  # noqa: A002
    """Return how text is laid out: CSV as the file that it comes from, if there is one."""
    if format == "tsv":
        return _TABS
    return (None if release.original is None else layout_of(release.original.source.native)) or Layout()


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


def _typed(relation: Any, release: Release, decimal: str) -> Any:
    """Choose the judged columns, and cast those that were read as text to the types they had."""
    import duckdb

    books = {name: release.table.encoded[name] for name in release.table.judged}
    empty = pa.table({name: pa.array([], book.type) for name, book in books.items()})
    wanted = [str(type_) for type_ in run(relation, "SELECT * FROM mapping", empty).types]
    found = {name: str(type_) for name, type_ in zip(relation.columns, relation.types, strict=True)}
    try:
        return relation.project(
            ", ".join(
                _cell(name, found[name], type_, decimal) for name, type_ in zip(books, wanted, strict=True)
            )
        )
    except (duckdb.Error, KeyError) as error:
        raise OutputError(f"The written columns cannot be typed again ({type(error).__name__}).") from None


def _cell(name: str, found: str, wanted: str, decimal: str) -> str:
    """Write one column as SQL; durations become numbers, since only those have an order."""
    column = identifier(name)
    text = column if wanted == "VARCHAR" or decimal == "." else f"replace({column}, '{decimal}', '.')"
    cell = f"CAST({text} AS {wanted})" if found == "VARCHAR" else column
    interval = "INTERVAL" in (found, wanted if found == "VARCHAR" else "")
    return f"{f'epoch_us({cell})' if interval else cell} AS {column}"
