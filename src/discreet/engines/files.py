"""Readers: any file becomes a DuckDB relation, lazily where the format allows; no error holds a value."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.errors import DiscreetError, InputError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.engines.duckdb.admission import ours
from discreet.engines.duckdb.connection import connect, file_literal, identifier
from discreet.engines.formats import TABS, format_of
from discreet.engines.scratch import private_folder
from discreet.engines.sheets import read_sheet
from discreet.engines.statistics import read_statistics
from discreet.engines.text import delimited, json_lines
from discreet.engines.text.delimited import DEFAULT_NULLS
from discreet.engines.text.dialect import check_names, sniff
from discreet.engines.text.inference import Conventions, DateOrder, keep_inference
from discreet.engines.text.plain import plain

__all__ = ["DEFAULT_NULLS", "connect", "describe", "read"]


@public
def read(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str = '"',
    header: bool = True,
    decimal: str | None = None,
    thousands: str | None = None,
    nulls: Sequence[str] = DEFAULT_NULLS,
    dates: DateOrder | None = None,
    text: Sequence[str] = (),
    sheet: str | int | None = None,
    labels: bool = True,
) -> duckdb.DuckDBPyRelation:
    """Read a file as a DuckDB relation; the ending of its name decides the format; any other is delimited text.

    Parquet and Arrow files are scanned in place. Text (CSV, TSV, JSON lines, also .gz or .zst) is parsed once
    into a table that spills to a private folder. Spreadsheets (.xlsx, .xls, .ods) and files of statistics packages
    (SPSS .sav and .por, Stata .dta, SAS .sas7bdat and .xpt) are read through the packages of the extras ``excel`` and
    ``statistics``. ``encoding`` is for text and statistics packages, ``header`` and ``nulls`` are for spreadsheets as
    well, ``text`` is for every format, the other options are for delimited text.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .txt, .parquet, .arrow, .feather, .jsonl, .json, .xlsx, .xls, .ods, .sav, .por, .dta,
        .sas7bdat or .xpt file.
    delimiter : str, optional
        What separates the cells; by default comma, semicolon, tab or bar, whichever fits.
    encoding : str, optional
        Any Python codec; by default UTF-8, or what a byte order mark says.
    quote : str
        What encloses cells; empty for nothing.
    header : bool
        Whether the first line names the columns; otherwise they are column1, column2, …
    decimal, thousands : str, optional
        The decimal mark, "." or ","; the thousands separator, one of , . ' and space, or "" for none. By
        default the values decide; where they are ambiguous, "1,234" is a thousand, and in semicolon files a little
        over one.
    nulls : sequence of str
        The cells that are read as null.
    dates : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year where the values leave it open; such a column is text otherwise.
    text : sequence of str
        Columns that stay text, whatever they look like.
    sheet : str or int, optional
        The sheet of a spreadsheet, by name or by number from 1; the first visible one by default.
    labels : bool
        Whether labeled values of statistics packages are read as their labels, or as codes. A column whose labels
        leave out a value that occurs is read as codes in any case.
    """
    require("read", "sheet", sheet, OneOf((None,)), InstanceOf((str,), "a name"), IntIn(1))
    _require_options(delimiter, quote, decimal, thousands, dates)
    conventions = Conventions("", decimal, thousands, dates)
    options = _Options(delimiter, encoding, quote, header, nulls, conventions, tuple(text), sheet, labels)
    try:
        relation = _read(Path(path), options)
    except DiscreetError as error:
        failure: DiscreetError = error
    except OSError as error:
        failure = InputError(f"{path} cannot be read: {reason(error)}.")
    except duckdb.Error as error:
        failure = InputError(f"{path} cannot be read: {_engine_reason(error)}.")
    else:
        return ours(relation)
    failure.__cause__ = failure.__context__ = None
    raise failure


def describe(relation: duckdb.DuckDBPyRelation) -> list[tuple[str, str]]:
    """Return the columns of a relation with their DuckDB types.

    >>> describe(connect().sql("SELECT 1::BIGINT AS age, '02139' AS zip"))
    [('age', 'BIGINT'), ('zip', 'VARCHAR')]
    """
    return [(name, str(type_)) for name, type_ in zip(relation.columns, relation.types, strict=True)]


@dataclass(frozen=True)
class _Options:
    """The options of `read`."""

    delimiter: str | None
    encoding: str | None
    quote: str
    header: bool
    nulls: Sequence[str]
    conventions: Conventions
    text: tuple[str, ...]
    sheet: str | int | None
    labels: bool


def _read(source: Path, options: _Options) -> duckdb.DuckDBPyRelation:
    """Read a file by the reader of its format."""
    require_file(source)
    known = format_of(source)
    kind = "text" if known is None else known.reader
    header, nulls, text = options.header, options.nulls, options.text
    if kind == "text":
        return _read_delimited(source, options)
    if kind == "json":
        return _read_json(source, options.encoding, text)
    if kind == "sheets":
        rows = read_sheet(source, sheet=options.sheet, header=header, nulls=nulls, text=text)
        return _in_memory(rows, source, text, inferred=True)
    if kind == "statistics":
        rows = read_statistics(
            source, encoding=options.encoding, labels=options.labels, nulls=nulls, text=text
        )
        return _in_memory(rows, source, text)
    return _flat(_read_parquet(source) if kind == "parquet" else _read_arrow(source), source, text)


@dataclass(frozen=True)
class _Mark:
    """One character that can separate or quote cells, or None where allowed."""

    optional: bool

    def admits(self, value: object) -> bool:
        return isinstance(value, str) and (
            self.optional if not value else len(value) == 1 and value not in "\r\n\0"
        )

    def __str__(self) -> str:
        return "one character" + (" or ''" if self.optional else "")


def _require_options(
    delimiter: str | None, quote: str, decimal: str | None, thousands: str | None, dates: str | None
) -> None:
    require("read", "delimiter", delimiter, OneOf((None,)), _Mark(optional=False))
    require("read", "quote", quote, _Mark(optional=True))
    require("read", "decimal", decimal, OneOf((None, ".", ",")))
    others = tuple(mark for mark in (",", ".", "'", " ", "") if mark != decimal)
    require("read", "thousands", thousands, OneOf((None, *others)))
    require("read", "dates", dates, OneOf((None, "dmy", "mdy", "ymd")))


def require_file(source: Path) -> None:
    """Refuse what is no file, or is empty."""
    if not source.exists():
        raise InputError(f"There is no file {source}.")
    if source.is_dir():
        raise InputError(f"{source} is a folder, not a file.")
    with source.open("rb") as stream:
        if not stream.read(1):
            raise InputError(f"{source} is empty.")


def _read_delimited(source: Path, options: _Options) -> duckdb.DuckDBPyRelation:
    folder = private_folder()
    delimiter, text = options.delimiter, options.text
    try:
        clear = plain(source, options.encoding, folder)
        if delimiter is None and any(suffix.lower() in TABS for suffix in source.suffixes):
            delimiter = "\t"
        dialect = sniff(
            clear, delimiter=delimiter, quote=options.quote, header=options.header, shown=source, named=text
        )
        _require_columns(text, dialect.names, source)
        connection = connect()
        delimited.load(
            connection,
            clear,
            dialect,
            nulls=options.nulls,
            conventions=replace(options.conventions, delimiter=dialect.delimiter),
            text=text,
            folder=folder,
            shown=source,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return connection.table("data")


def _read_json(source: Path, encoding: str | None, text: Sequence[str]) -> duckdb.DuckDBPyRelation:
    folder = private_folder()
    try:
        connection = connect()
        json_lines.load(connection, plain(source, encoding, folder), text=text, shown=source)
        keep_inference(connection, Conventions(), text)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    relation = connection.table("data")
    _require_columns(text, relation.columns, source)
    return relation


def _read_parquet(source: Path) -> duckdb.DuckDBPyRelation:
    connection = connect()
    name = file_literal(source)
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


def _in_memory(
    rows: pa.Table, source: Path, text: Sequence[str], *, inferred: bool = False
) -> duckdb.DuckDBPyRelation:
    """Put rows that were read into memory into a table of their own."""
    _require_columns(text, rows.column_names, source)
    connection = connect()
    if inferred:
        keep_inference(connection, Conventions(), text)
    connection.from_arrow(rows).create("data")
    return connection.table("data")


def _flat(relation: duckdb.DuckDBPyRelation, source: Path, text: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Turn columns without values, and those in ``text``, into text; nested values and bytes stay what they are."""
    _require_columns(text, relation.columns, source)
    cells = []
    for name, type_ in describe(relation):
        as_text = name in text or type_ == '"NULL"'
        cells.append(
            f"CAST({identifier(name)} AS VARCHAR) AS {identifier(name)}" if as_text else identifier(name)
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


def reason(error: OSError) -> str:
    """Return why a file cannot be read."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return "permission denied"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the folder for temporary files is full"
    return os.strerror(error.errno) if error.errno else type(error).__name__


def _engine_reason(error: duckdb.Error) -> str:
    if isinstance(error, duckdb.OutOfMemoryException):
        return "out of memory; set DISCREET_MEMORY higher, or free room for temporary files"
    if "No space left" in str(error):
        return "the folder for temporary files is full"
    return f"the engine failed ({type(error).__name__})"
