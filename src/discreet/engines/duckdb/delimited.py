"""Delimited text: every record parsed once into a DuckDB table, cleaned and typed."""

from __future__ import annotations

import csv
import functools
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.core.engine import TextLayout
from discreet.core.errors import InputError
from discreet.engines.duckdb.coded_text import (
    DISTINCT,
    RAW,
    SMALLEST,
    coded_rows,
    distinct_values,
    padded_cells,
)
from discreet.engines.duckdb.connection import Conventions, Inference, Origin, keep_origin, quoted_file
from discreet.engines.duckdb.inference import Inferred, infer
from discreet.engines.sql.source import quoted_name, quoted_text
from discreet.engines.text.dialect import EDGES, Dialect, reader

_LONGEST_CELL = 1 << 26
_LONGEST_LINE = 1 << 21
_NOTHING = "\ue000"
_SMALL = 1 << 27
"""The most bytes of a file whose cells are fetched at once."""
# The limit of the csv module is one for the whole process.
_field_limit = threading.Lock()


def load_delimited(
    connection: duckdb.DuckDBPyConnection,
    parts: Sequence[tuple[Path, Dialect]],
    *,
    nulls: Sequence[str],
    conventions: Conventions,
    text: Sequence[str],
    folder: Path,
    display_paths: Sequence[Path],
) -> pa.Table | None:
    """Parse plain files with the same columns into the table ``data``, typed by the values of all of them.

    ``folder`` takes what has to be written on the way; ``display_paths`` are the names of the files in messages. The
    rows of a small file stay in memory: they are returned, and ``data`` shows them.
    """
    is_small = len(parts) == 1 < len(parts[0][1].names) and parts[0][0].stat().st_size <= _SMALL
    texts = None
    for (utf8_file, of_file), display_path in zip(parts, display_paths, strict=True):
        texts = _parse(connection, utf8_file, of_file, nulls, folder, display_path, is_small=is_small)
        if len(parts) > 1:
            connection.execute("CREATE TABLE IF NOT EXISTS rows_of_all AS SELECT * FROM raw LIMIT 0")
            connection.execute("INSERT INTO rows_of_all SELECT * FROM raw")
            connection.execute("DROP TABLE raw")
    if len(parts) > 1:
        connection.execute("ALTER TABLE rows_of_all RENAME TO raw")
    dialect, display_path = parts[0][1], display_paths[0]
    ((n_rows,),) = connection.execute("SELECT count(*) FROM raw").fetchall()
    if not n_rows:
        raise InputError(
            f"{display_path} has a header but no rows." if dialect.header else f"{display_path} has no rows."
        )
    cells = _cells(dialect)
    free = [cell for cell, name in zip(cells, dialect.names, strict=True) if name not in text]
    if texts is not None:
        rows = _coded(connection, texts, dialect, free, nulls, conventions, text)
        if rows is not None:
            return rows
    distinct = distinct_values(connection, cells) if n_rows >= SMALLEST else {}
    if _trim(connection, cells, dialect, nulls, distinct):
        distinct = {}
    inferred = infer(connection, "raw", free, conventions, distinct)
    converted = {cell: cell for cell in cells} | inferred.expressions
    chosen = ", ".join(
        f"{converted[cell]} AS {quoted_name(name)}" for cell, name in zip(cells, dialect.names, strict=True)
    )
    if converted == {cell: cell for cell in cells}:
        connection.execute(f"CREATE VIEW data AS SELECT {chosen} FROM raw")
    else:
        connection.execute(f"CREATE TABLE data AS SELECT {chosen} FROM raw")
        connection.execute("DROP TABLE raw")
    if distinct:
        connection.execute(f"DROP TABLE {DISTINCT}")
    _keep_origin(connection, dialect, inferred, conventions, text)
    return None


def _coded(
    connection: duckdb.DuckDBPyConnection,
    texts: pa.Table,
    dialect: Dialect,
    free: Sequence[str],
    nulls: Sequence[str],
    conventions: Conventions,
    text: Sequence[str],
) -> pa.Table | None:
    """Return the typed rows of a small file, which ``data`` then shows; None, and a table of texts, where not."""
    findable = set(nulls) <= set(_findable_nulls(dialect, nulls))
    coded = coded_rows(connection, texts, free, conventions) if findable else None
    if coded is None:
        connection.unregister(RAW)
        connection.from_arrow(texts).create(RAW)
        return None
    typed, inferred = coded
    rows = typed.rename_columns(list(dialect.names))
    connection.unregister(RAW)
    connection.register("rows", rows)
    connection.execute("CREATE VIEW data AS SELECT * FROM rows")
    _keep_origin(connection, dialect, inferred, conventions, text)
    return rows


def _keep_origin(
    connection: duckdb.DuckDBPyConnection,
    dialect: Dialect,
    inferred: Inferred,
    conventions: Conventions,
    text: Sequence[str],
) -> None:
    comma = inferred.decimal_comma or conventions.decimal == ","
    layout = TextLayout(dialect.delimiter, dialect.quote or '"', "," if comma else ".")
    keep_origin(connection, Origin(layout.safe(), Inference(conventions, tuple(text))))


def _cells(dialect: Dialect) -> list[str]:
    return [f"c{number}" for number in range(len(dialect.names))]


def _parse(
    connection: duckdb.DuckDBPyConnection,
    utf8_file: Path,
    dialect: Dialect,
    nulls: Sequence[str],
    folder: Path,
    display_path: Path,
    *,
    is_small: bool,
) -> pa.Table | None:
    """Load the records as text into the table ``raw``; what DuckDB refuses is put straight, or reported."""
    copy_in = functools.partial(
        _copy_in, connection, nulls=_findable_nulls(dialect, nulls), is_small=is_small
    )
    try:
        texts = copy_in(utf8_file, dialect)
    # Left before going on: the engine's error quotes a line of the file, and is to be no error's context.
    except duckdb.InvalidInputException:
        refused = True
    else:
        refused = False
    if refused:
        straight = folder / "straight"
        longest = _straighten(utf8_file, straight, dialect, display_path)
        texts = copy_in(straight, Dialect(",", '"', 0, dialect.header, dialect.names), longest=longest)
        straight.unlink()
    elif len(dialect.names) == 1:
        connection.execute(
            "DELETE FROM raw WHERE rowid >= (SELECT count(*) FROM raw) - ?", [_blank_lines_at_end(utf8_file)]
        )
    return texts


def _copy_in(
    connection: duckdb.DuckDBPyConnection,
    source: Path,
    dialect: Dialect,
    *,
    nulls: Sequence[str],
    is_small: bool,
    longest: int = _LONGEST_LINE,
) -> pa.Table | None:
    """Parse a file into the table of all cells; that of a small file is in memory, and returned."""
    options: dict[str, str] = {
        "delim": quoted_text(dialect.delimiter),
        "quote": quoted_text(dialect.quote),
        "escape": quoted_text(dialect.quote),
        "header": str(dialect.header),
        "skip": str(dialect.skip),
        "columns": "{" + ", ".join(f"{cell}: 'VARCHAR'" for cell in _cells(dialect)) + "}",
        "nullstr": "[" + ", ".join(quoted_text(token) for token in nulls) + "]",
        "auto_detect": "false",
        "strict_mode": "true",
        "hive_partitioning": "false",
        "compression": "'none'",
        "max_line_size": str(longest),
        "buffer_size": str(max(32 << 20, 2 * longest)),
    }
    settings = ", ".join(f"{name} = {value}" for name, value in options.items())
    records = f"SELECT * FROM read_csv({quoted_file(source)}, {settings})"
    if not is_small:
        connection.execute(f"CREATE OR REPLACE TABLE {RAW} AS {records}")
        return None
    texts = connection.sql(records).to_arrow_table()
    connection.register(RAW, texts)
    return texts


def _findable_nulls(dialect: Dialect, nulls: Sequence[str]) -> list[str]:
    """Return the null tokens DuckDB itself can look for; it wants one at least."""
    special = {dialect.delimiter, dialect.quote, "\n", "\r"} - {""}
    return [token for token in nulls if not any(mark in token for mark in special)] or [_NOTHING]


def _straighten(utf8_file: Path, target: Path, dialect: Dialect, display_path: Path) -> int:
    """Rewrite a file record by record, or name the line that is wrong; return a bound on a record's bytes.

    This is for mixed line ends, lines of blanks and very long records, all of which DuckDB refuses.
    """
    width = len(dialect.names)
    longest = _LONGEST_LINE
    blanks = 0
    with (
        utf8_file.open(encoding="utf-8", newline="") as lines,
        target.open("w", encoding="utf-8", newline="") as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for line, record in _records(lines, dialect, display_path):
            if len(record) < 2 and not "".join(record).strip(EDGES) and line > dialect.skip:
                blanks += 1
                continue
            # A delimiter at the end of a line ends no cell.
            if len(record) == width + 1 and not record[-1]:
                record.pop()
            if len(record) != width:
                raise InputError(
                    f"{display_path}, line {line}: expected {width} field{'s' * (width > 1)}, found {len(record)}."
                    " Is the delimiter right, and every field that holds it quoted?"
                )
            # In a table of one column a blank line is a null, unless nothing follows it.
            if width == 1:
                writer.writerows([""] for _ in range(blanks))
            blanks = 0
            writer.writerow(record)
            # A character takes four bytes at most, and a doubled quote two.
            longest = max(longest, 4 * sum(map(len, record)) + 4 * width)
    return longest


def _records(lines: Any, dialect: Dialect, display_path: Path) -> Iterator[tuple[int, list[str]]]:
    """Return each record with the line it starts on."""
    with _field_limit:
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            records = reader(lines, dialect.delimiter, dialect.quote, strict=True)
            line = 1
            while True:
                try:
                    record = next(records, None)
                except csv.Error:
                    raise InputError(
                        f"{display_path}, line {line}: a quoted field is never closed, goes on after its"
                        f" closing quote, or is longer than {_LONGEST_CELL >> 20} MB."
                    ) from None
                if record is None:
                    return
                yield line, record
                line = records.line_num + 1  # type: ignore[attr-defined]
        finally:
            csv.field_size_limit(before)


def _blank_lines_at_end(utf8_file: Path) -> int:
    """Count the blank lines that end a file; in a table of one column they would pass for nulls."""
    with utf8_file.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - (1 << 20)))
        tail = stream.read()
    end = tail[len(tail.rstrip(b" \t\r\n")) :].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return max(0, end.count(b"\n") - 1)


def _trim(
    connection: duckdb.DuckDBPyConnection,
    cells: Sequence[str],
    dialect: Dialect,
    nulls: Sequence[str],
    distinct: Mapping[str, str],
) -> bool:
    """Take white space off the cells' ends and look for nulls again; return whether any column needed it."""
    trimmed = dict.fromkeys(cells, True)
    if set(nulls) <= set(_findable_nulls(dialect, nulls)):
        trimmed = padded_cells(connection, cells, distinct)
    if not any(trimmed.values()):
        return False
    tokens = ", ".join(quoted_text(token) for token in nulls) or "NULL"
    bare = f"trim({{x}}, {quoted_text(EDGES)})"
    clean = f"CASE WHEN {bare} IN ({tokens}) THEN NULL ELSE {bare} END AS {{x}}"
    chosen = ", ".join(clean.replace("{x}", cell) if pad else cell for cell, pad in trimmed.items())
    connection.execute(f"CREATE TABLE trimmed AS SELECT {chosen} FROM raw")
    connection.execute("DROP TABLE raw")
    connection.execute("ALTER TABLE trimmed RENAME TO raw")
    if distinct:
        connection.execute(f"DROP TABLE {DISTINCT}")
    return True
