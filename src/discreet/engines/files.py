"""Reading files: any of them becomes a DuckDB relation, lazily where the format allows; no error holds a value."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.boundary import public
from discreet.core.errors import DiscreetError, InputError, ParameterError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.engines.addresses import ObjectAddress, address_of
from discreet.engines.formats import DEFAULT_NULLS, DateOrder, ReadOptions
from discreet.engines.inputs import Files, database_file, files_of, several

__all__ = ["DEFAULT_NULLS", "read"]

_NO_OPTIONS = ReadOptions(None, None, '"', True, None, None, DEFAULT_NULLS, None, (), None, True)


@public
def read(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
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
    engine: str | None = None,
    master: str | None = None,
    remote: str | None = None,
) -> Any:
    """Read a file as a DuckDB relation; the ending of its name decides the format; any other is delimited text.

    Several files of one format are read as one table: a list of them, a folder, or a pattern such as
    ``visits/*.parquet``. Names of folders such as ``year=2024`` are columns of Parquet and Arrow files. ``-`` is
    standard input, in the format that its first bytes show. ``s3://bucket/visits.parquet`` lies in an object store; so
    do ``gs://`` and ``abfs://``.

    ``clinic.db?table=patients`` reads a table of a SQLite or DuckDB file.
    ``postgresql://user@host/database?table=patients`` reads a table of a database, whose rows stay there; it takes the
    extra ``postgres``. Tables take no option.

    With ``engine="spark"``, Parquet files become a Spark frame, whose rows stay on the cluster; it takes the extra
    ``spark``, and no option but ``master`` and ``remote``.

    Parquet and Arrow files are scanned in place. Text (CSV, TSV, JSON lines, also .gz or .zst) is parsed once
    into a table that spills to a private folder. Spreadsheets (.xlsx, .xls, .ods) and files of statistics packages
    (SPSS .sav and .por, Stata .dta, SAS .sas7bdat and .xpt) are read through the packages of the extras ``excel`` and
    ``statistics``. ``encoding`` is for text and statistics packages, ``header`` and ``nulls`` are for spreadsheets as
    well, ``text`` is for every format, the other options are for delimited text.

    Parameters
    ----------
    path : path, or sequence of paths
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
    engine : {"spark"}, optional
        Where the rows are worked on; by default on this machine.
    master, remote : str, optional
        The cluster: ``local[4]``, ``spark://host:7077``, ``yarn`` or ``k8s://…``; or a server of Spark Connect,
        ``sc://host:15002``. By default what the environment names.
    """
    require("read", "engine", engine, OneOf((None, "spark")))
    for name, address in (("master", master), ("remote", remote)):
        require("read", name, address, InstanceOf((str, type(None)), "None or an address"))
        if address is not None and engine is None:
            raise ParameterError(f"A {name} is of a cluster: name its engine, spark, too.")
    require("read", "sheet", sheet, OneOf((None,)), InstanceOf((str,), "a name"), IntIn(1))
    _require_options(delimiter, quote, decimal, thousands, dates)
    options = ReadOptions(
        delimiter,
        encoding,
        quote,
        header,
        decimal,
        thousands,
        tuple(nulls),
        dates,
        tuple(text),
        sheet,
        labels,
    )
    try:
        if engine is not None:
            return _read_on_cluster(path, options, master, remote)
        if isinstance(path, list | tuple):
            return _read_files(several(path), options)
        return _read_named(path, options)
    except DiscreetError as error:
        failure: DiscreetError = error
    except OSError as error:
        failure = InputError(f"{path} cannot be read: {reason(error)}.")
    # What the engine raised may quote cells, and is to be no context of this error.
    failure.__cause__ = failure.__context__ = None
    raise failure


@public
def tables_of(path: Path) -> list[str]:
    """Return the names of the tables and views of the file of a database; none for any other file."""
    database = database_file(path)
    if database is None or database[1] is not None:
        return []
    from discreet.engines.duckdb.databases import stored_tables

    require_file(path)
    return stored_tables(path)


def _read_named(path: Any, options: ReadOptions) -> Any:
    """Read what a path or an address names; the engine is loaded only now, since it is large."""
    address = address_of(path) if "://" in str(path) else None
    if isinstance(address, ObjectAddress):
        from discreet.engines.duckdb.files import read_objects
        from discreet.engines.objects import objects_of

        return read_objects(objects_of(address), options)
    if address is not None:
        from discreet.engines.postgres.admission import table_relation

        return table_relation(address)
    database = database_file(path)
    if database is not None:
        from discreet.engines.duckdb.files import read_database

        require_file(database[0])
        return read_database(*database)
    return _read_files(files_of(Path(path)), options)


def _read_on_cluster(path: Any, options: ReadOptions, master: str | None, remote: str | None) -> Any:
    if replace(options, nulls=DEFAULT_NULLS) != _NO_OPTIONS or isinstance(path, list | tuple):
        raise ParameterError(
            "The engine spark reads one Parquet file or folder, and takes no option of text or sheets."
        )
    from discreet.engines.spark import parquet

    return parquet.read_parquet(path, master=master, remote=remote)


def _read_files(files: Files, options: ReadOptions) -> Any:
    from discreet.engines.duckdb.files import read_files

    for file in files.paths:
        require_file(file)
    return read_files(files, options)


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


def reason(error: OSError) -> str:
    """Return why a file cannot be read."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return "permission denied"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the folder for temporary files is full"
    return os.strerror(error.errno) if error.errno else type(error).__name__
