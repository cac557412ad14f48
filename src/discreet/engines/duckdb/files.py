"""Files as relations: scanned in place where the format allows, parsed once into a table where it does not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
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
    showing,
)
from discreet.engines.duckdb.databases import stored_table
from discreet.engines.formats import TABS, ReadOptions, format_of
from discreet.engines.inputs import Files
from discreet.engines.objects import ObjectFiles, dataset_of
from discreet.engines.sheets import read_sheet
from discreet.engines.sql.source import quoted_name
from discreet.engines.statistics import read_statistics
from discreet.engines.text.dialect import Dialect, check_names, sniff, utf8_copy

_PARTITIONS = {pa.int64(): "BIGINT", pa.date32(): "DATE", pa.string(): "VARCHAR"}


def read_files(files: Files, options: ReadOptions) -> duckdb.DuckDBPyRelation:
    """Read files of one format by its reader; what the engine cannot read is an InputError."""
    return _refused(files.source, lambda: _read(files, options))


def read_database(source: Path, table: str | None) -> duckdb.DuckDBPyRelation:
    """Read a table of a SQLite or DuckDB file."""
    return _refused(source, lambda: stored_table(source, table))


def read_objects(files: ObjectFiles, options: ReadOptions) -> duckdb.DuckDBPyRelation:
    """Read files of an object store: Parquet where it lies, others from private copies."""
    if not files.is_parquet:
        return read_files(files.copied(), options)

    def scanned() -> duckdb.DuckDBPyRelation:
        rows = files.dataset()
        check_names(rows.schema.names, files.source)
        _require_rows(rows.count_rows(), files.source)
        return _flat(connect().from_arrow(rows), files.source, options.text)

    return _refused(files.source, scanned)


def _refused(source: object, read: Callable[[], duckdb.DuckDBPyRelation]) -> duckdb.DuckDBPyRelation:
    try:
        return ours(read())
    except duckdb.Error as error:
        raise InputError(f"{source} cannot be read: {_reason(error)}.") from None


def _read(files: Files, options: ReadOptions) -> duckdb.DuckDBPyRelation:
    by_ending = format_of(files.paths[0])
    kind = "text" if by_ending is None else by_ending.reader
    header, nulls, text = options.header, options.nulls, options.text
    if kind == "parquet":
        return _flat(_read_parquet(files), files.source, text)
    if kind == "arrow":
        return _flat(_read_arrow(files), files.source, text)
    if files.partitions:
        raise InputError(f"{files.source}: only folders of Parquet and Arrow files may be partitioned.")
    if kind == "text":
        return _read_delimited(files.paths, options)
    source, *others = files.paths
    if others and kind != "json":
        raise InputError(
            f"{files.source} names several files, which are read of text, Parquet and Arrow alone."
        )
    if kind == "json":
        return _read_json(files, options.encoding, text)
    if kind == "sheets":
        rows = read_sheet(source, sheet=options.sheet, header=header, nulls=nulls, text=text)
        return _in_memory(rows, source, text, Origin(inference=Inference(Conventions(), tuple(text))))
    rows, labels = read_statistics(
        source, encoding=options.encoding, labels=options.labels, nulls=nulls, text=text
    )
    return _in_memory(rows, source, text, Origin(TextLayout(labels=labels)))


def column_types(relation: duckdb.DuckDBPyRelation) -> list[tuple[str, str]]:
    """Return the columns of a relation with their DuckDB types.

    >>> column_types(connect().sql("SELECT 1::BIGINT AS age, '02139' AS zip"))
    [('age', 'BIGINT'), ('zip', 'VARCHAR')]
    """
    return [(name, str(type_)) for name, type_ in zip(relation.columns, relation.types, strict=True)]


def _read_delimited(sources: Sequence[Path], options: ReadOptions) -> duckdb.DuckDBPyRelation:
    """Parse files of text, whose first lines name the same columns, into one table."""
    folder = scratch_folder()
    delimiter, text = options.delimiter, options.text
    try:
        parts: list[tuple[Path, Dialect]] = []
        for number, source in enumerate(sources):
            (folder / str(number)).mkdir()
            clear = utf8_copy(source, options.encoding, folder / str(number))
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
            parts.append((clear, dialect))
            if dialect.names != parts[0][1].names:
                raise InputError(f"{source} has other columns, or another order of them, than {sources[0]}.")
        _require_columns(text, parts[0][1].names, sources[0])
        connection = connect()
        rows = delimited.load_delimited(
            connection,
            parts,
            nulls=options.nulls,
            conventions=Conventions(parts[0][1].delimiter, options.decimal, options.thousands, options.dates),
            text=text,
            folder=folder,
            display_paths=sources,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return showing(connection.table("data"), rows)


def _read_json(files: Files, encoding: str | None, text: Sequence[str]) -> duckdb.DuckDBPyRelation:
    folder = scratch_folder()
    try:
        connection = connect()
        parts = []
        for number, source in enumerate(files.paths):
            (folder / str(number)).mkdir()
            parts.append((utf8_copy(source, encoding, folder / str(number)), source))
        json_lines.load_json(connection, parts, text=text)
        keep_origin(connection, Origin(inference=Inference(Conventions(), tuple(text))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    relation = connection.table("data")
    _require_columns(text, relation.columns, files.paths[0])
    return relation


def _read_parquet(files: Files) -> duckdb.DuckDBPyRelation:
    """Scan Parquet files in place, with the partitions that names of their folders hold as columns."""
    connection, source = connect(), files.source
    names = f"[{', '.join(map(quoted_file, files.paths))}]"
    types = ", ".join(
        f"{quoted_name(name)}: {_PARTITIONS[type_]}" for name, type_ in files.partitions.items()
    )
    hive = f"hive_partitioning = true, hive_types = {{{types}}}" if types else "hive_partitioning = false"
    described = "concat_ws(' ', name, type, converted_type, CAST(logical_type AS VARCHAR))"
    try:
        schemas = connection.execute(
            "SELECT any_value(names), types FROM (SELECT list(name ORDER BY column_id) AS names, "
            f"list({described} ORDER BY column_id)[2:] AS types FROM parquet_schema({names}) GROUP BY file_name) "
            "GROUP BY types"
        ).fetchall()
        count = f"SELECT coalesce(sum(num_rows), 0)::BIGINT FROM parquet_file_metadata({names})"
        ((n_rows,),) = connection.execute(count).fetchall()
        relation = connection.sql(f"SELECT * FROM read_parquet({names}, {hive})")
    except (duckdb.Error, UnicodeDecodeError):
        several = "or one of them is" if len(files.paths) > 1 else "or is"
        raise InputError(f"{source} is not a Parquet file, {several} cut short.") from None
    if len(schemas) > 1:
        raise InputError(
            f"{source} holds files with other columns or types than the rest ({len(schemas)} kinds)."
        )
    columns = [*schemas[0][0][1:], *files.partitions]
    # Folders above the one that is named may look like partitions too.
    foreign = [name for name in relation.columns if name not in columns] if types else []
    if len(columns) + len(foreign) == len(relation.columns) or files.partitions:
        check_names(columns, source)
    if foreign:
        relation = relation.project(f"* EXCLUDE ({', '.join(map(quoted_name, foreign))})")
    _require_rows(n_rows, source)
    return relation


def _read_arrow(files: Files) -> duckdb.DuckDBPyRelation:
    """Scan Arrow files in place; a stream, which can be read but once, goes into a table."""
    connection, source = connect(), files.source
    try:
        with pa.OSFile(os.fspath(files.paths[0]), "rb") as stream:
            in_place = stream.read(6) == b"ARROW1"
        if in_place or len(files.paths) > 1:
            scanned = dataset_of(files.paths, None, "ipc", files.partitions, source)
            check_names(scanned.schema.names, source)
            _require_rows(scanned.count_rows(), source)
            return connection.from_arrow(scanned)
        with pa.OSFile(os.fspath(files.paths[0]), "rb") as stream, pa.ipc.open_stream(stream) as batches:
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


def _flat(relation: duckdb.DuckDBPyRelation, source: object, text: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Turn columns without values, and those in ``text``, into text; nested values and bytes stay what they are."""
    _require_columns(text, relation.columns, source)
    cells = []
    for name, type_ in column_types(relation):
        as_text = name in text or type_ == '"NULL"'
        cells.append(
            f"CAST({quoted_name(name)} AS VARCHAR) AS {quoted_name(name)}" if as_text else quoted_name(name)
        )
    return relation.project(", ".join(cells))


def _require_rows(count: int, source: object) -> None:
    if not count:
        raise InputError(f"{source} has columns but no rows.")


def _require_columns(text: Sequence[str], columns: Sequence[str], source: object) -> None:
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
