"""Files as relations: scanned in place where the format allows, parsed once into a table where it does not."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.core.engine import TextLayout
from discreet.core.errors import InputError
from discreet.engines.atomic import scratch_folder
from discreet.engines.duckdb import delimited, json_lines
from discreet.engines.duckdb.connection import (
    Conventions,
    Inference,
    Origin,
    connect,
    keep_origin,
    ours,
    quoted_file,
)
from discreet.engines.formats import TABS, ReadOptions, format_of
from discreet.engines.sheets import read_sheet
from discreet.engines.sql.source import quoted_name
from discreet.engines.statistics import read_statistics
from discreet.engines.text.dialect import check_names, sniff, utf8_copy


def read_file(source: Path, options: ReadOptions) -> duckdb.DuckDBPyRelation:
    """Read a file by the reader of its format; what the engine cannot read is an InputError."""
    try:
        return ours(_read(source, options))
    except duckdb.Error as error:
        raise InputError(f"{source} cannot be read: {_reason(error)}.") from None


def _read(source: Path, options: ReadOptions) -> duckdb.DuckDBPyRelation:
    by_ending = format_of(source)
    kind = "text" if by_ending is None else by_ending.reader
    header, nulls, text = options.header, options.nulls, options.text
    if kind == "text":
        return _read_delimited(source, options)
    if kind == "json":
        return _read_json(source, options.encoding, text)
    if kind == "sheets":
        rows = read_sheet(source, sheet=options.sheet, header=header, nulls=nulls, text=text)
        return _in_memory(rows, source, text, Origin(inference=Inference(Conventions(), tuple(text))))
    if kind == "statistics":
        rows, labels = read_statistics(
            source, encoding=options.encoding, labels=options.labels, nulls=nulls, text=text
        )
        return _in_memory(rows, source, text, Origin(TextLayout(labels=labels)))
    return _flat(_read_parquet(source) if kind == "parquet" else _read_arrow(source), source, text)


def column_types(relation: duckdb.DuckDBPyRelation) -> list[tuple[str, str]]:
    """Return the columns of a relation with their DuckDB types.

    >>> column_types(connect().sql("SELECT 1::BIGINT AS age, '02139' AS zip"))
    [('age', 'BIGINT'), ('zip', 'VARCHAR')]
    """
    return [(name, str(type_)) for name, type_ in zip(relation.columns, relation.types, strict=True)]


def _read_delimited(source: Path, options: ReadOptions) -> duckdb.DuckDBPyRelation:
    folder = scratch_folder()
    delimiter, text = options.delimiter, options.text
    try:
        clear = utf8_copy(source, options.encoding, folder)
        if delimiter is None and any(suffix.lower() in TABS for suffix in source.suffixes):
            delimiter = "\t"
        dialect = sniff(
            clear,
            delimiter=delimiter,
            quote=options.quote,
            header=options.header,
            display_path=source,
            named=text,
        )
        _require_columns(text, dialect.names, source)
        connection = connect()
        delimited.load_delimited(
            connection,
            clear,
            dialect,
            nulls=options.nulls,
            conventions=Conventions(dialect.delimiter, options.decimal, options.thousands, options.dates),
            text=text,
            folder=folder,
            display_path=source,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return connection.table("data")


def _read_json(source: Path, encoding: str | None, text: Sequence[str]) -> duckdb.DuckDBPyRelation:
    folder = scratch_folder()
    try:
        connection = connect()
        json_lines.load_json(connection, utf8_copy(source, encoding, folder), text=text, display_path=source)
        keep_origin(connection, Origin(inference=Inference(Conventions(), tuple(text))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    relation = connection.table("data")
    _require_columns(text, relation.columns, source)
    return relation


def _read_parquet(source: Path) -> duckdb.DuckDBPyRelation:
    connection = connect()
    name = quoted_file(source)
    try:
        relation = connection.sql(f"SELECT * FROM read_parquet({name}, hive_partitioning = false)")
        rows = connection.execute(f"SELECT num_rows FROM parquet_file_metadata({name})").fetchone()
        schema = connection.execute(f"SELECT name FROM parquet_schema({name})").fetchall()
    except (duckdb.Error, UnicodeDecodeError):
        raise InputError(f"{source} is not a Parquet file, or is cut short.") from None
    if len(schema) == len(relation.columns) + 1:
        check_names([name for (name,) in schema[1:]], source)
    _require_rows(int(rows[0]) if rows else 0, source)
    return relation


def _read_arrow(source: Path) -> duckdb.DuckDBPyRelation:
    """Scan an Arrow file in place; a stream, which can be read but once, goes into a table."""
    from pyarrow import dataset

    connection = connect()
    try:
        with pa.OSFile(str(source), "rb") as stream:
            in_place = stream.read(6) == b"ARROW1"
        if in_place:
            scanned = dataset.dataset(str(source), format="ipc")
            check_names(scanned.schema.names, source)
            _require_rows(scanned.count_rows(), source)
            return connection.from_arrow(scanned)
        with pa.OSFile(str(source), "rb") as stream, pa.ipc.open_stream(stream) as batches:
            check_names(batches.schema.names, source)
            connection.from_arrow(batches).create("data")
    except (pa.ArrowException, duckdb.Error, OSError):
        raise InputError(f"{source} is not an Arrow file that can be read, or is cut short.") from None
    relation = connection.table("data")
    _require_rows(len(relation), source)
    return relation


def _in_memory(rows: pa.Table, source: Path, text: Sequence[str], origin: Origin) -> duckdb.DuckDBPyRelation:
    """Put rows that were read into memory into a table of their own."""
    _require_columns(text, rows.column_names, source)
    connection = connect()
    keep_origin(connection, origin)
    connection.from_arrow(rows).create("data")
    return connection.table("data")


def _flat(relation: duckdb.DuckDBPyRelation, source: Path, text: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Turn columns without values, and those in ``text``, into text; nested values and bytes stay what they are."""
    _require_columns(text, relation.columns, source)
    cells = []
    for name, type_ in column_types(relation):
        as_text = name in text or type_ == '"NULL"'
        cells.append(
            f"CAST({quoted_name(name)} AS VARCHAR) AS {quoted_name(name)}" if as_text else quoted_name(name)
        )
    return relation.project(", ".join(cells))


def _require_rows(count: int, source: Path) -> None:
    if not count:
        raise InputError(f"{source} has columns but no rows.")


def _require_columns(text: Sequence[str], columns: Sequence[str], source: Path) -> None:
    missing = [name for name in text if name not in columns]
    if missing:
        raise InputError(
            f"{source} has no column {', '.join(repr(name) for name in missing)}, named in 'text'."
        )


def _reason(error: duckdb.Error) -> str:
    if isinstance(error, duckdb.OutOfMemoryException):
        return "out of memory; set DISCREET_MEMORY higher, or free space for temporary files"
    if "No space left" in str(error):
        return "the folder for temporary files is full"
    return f"the engine failed ({type(error).__name__})"
