"""Writing results: a file whose content decides its form, or a folder with the record that marks it; all or nothing."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.engine import TextLayout, engine_of
from discreet.core.errors import DiscreetError, OutputError
from discreet.core.params import unknown
from discreet.engines.atomic import atomic_file, atomic_folder, write_failure
from discreet.engines.folders import FolderKind
from discreet.engines.formats import PACKED, WRITTEN, format_of
from discreet.engines.text.dialect import EDGES

if TYPE_CHECKING:
    import pyarrow as pa


_LAID_OUT = ("csv", "sav", "dta")
"""Formats that are written as the file was that the rows come from."""


def write_frame(
    frame: Any,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002
    *,
    layout: TextLayout | None = None,
) -> Path:
    """Write a pandas, Polars, PyArrow or DuckDB frame to a file, all or nothing, and return the file's path.

    Parameters
    ----------
    frame : frame
        What to write; a DuckDB relation is streamed. Row labels of pandas are not written.
    path : path
        The file; missing folders above it are made, an old file is replaced.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "xlsx", "sav", "dta"}, optional
        By default it follows from the ending of the name. Text is UTF-8; nulls and NaN are empty cells, in JSON null. A
        second ending .gz or .zst packs text.
    layout : Layout, optional
        The delimiter, quote and decimal mark of CSV; by default those of the CSV file that the frame comes from.
    """
    import pyarrow as pa

    target = Path(path)
    format_ = _format(target, format)
    engine = engine_of(frame)
    packing = PACKED.get(target.suffix.lower(), "none")
    try:
        with atomic_file(target) as temporary:
            chosen = layout or engine.layout(frame) if format_ in _LAID_OUT else None
            engine.write(frame, temporary, format_, packing=packing, layout=(chosen or TextLayout()).safe())
    except DiscreetError as error:
        failure: DiscreetError = error
    except (*engine.errors, pa.ArrowException, UnicodeError, TypeError, ValueError, OverflowError) as error:
        failure = OutputError(f"{target} cannot be written: {write_failure(error)}.")
    else:
        return target
    # The engine's own error may hold values, and is to be no context of this one.
    failure.__cause__ = failure.__context__ = None
    raise failure


def published_batches(frame: Any) -> pa.RecordBatchReader:
    """Return the rows of a frame batch by batch, as they may leave: enumerations as texts, nothing under nulls."""
    import pyarrow as pa

    from discreet.core.tables.publication import publishable

    engine = engine_of(frame)

    def rows(batch: pa.RecordBatch | pa.Table) -> pa.Table:
        table = publishable(pa.Table.from_batches([batch]))
        columns = [
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            for column in table.columns
        ]
        return pa.Table.from_arrays(columns, names=table.column_names)

    # The schema of a batch without rows, as it is published; every batch is cast to it.
    empty = engine.schema(frame).empty_table().to_batches(max_chunksize=1)
    schema = rows(empty[0] if empty else pa.RecordBatch.from_pylist([], engine.schema(frame))).schema
    batches = (part for batch in engine.batches(frame) for part in rows(batch).cast(schema).to_batches())
    return pa.RecordBatchReader.from_batches(schema, batches)


def _format(target: Path, name: str | None) -> str:
    if name is None:
        by_ending = format_of(target)
        if by_ending is None or not by_ending.written:
            endings = [f".{name}" for name in WRITTEN]
            raise OutputError(
                f"{target}: the ending names no format; use {', '.join(endings[:-1])} or {endings[-1]}."
            )
        name = by_ending.name
    if name not in WRITTEN:
        raise unknown("write_frame", "format", name, WRITTEN)
    return name


def write_file(content: Any, path: str | os.PathLike[str]) -> None:
    """Write one file of a result, complete or not at all.

    A function is called with the path. Text is written as it is, plain data as JSON where the name ends so, and record
    batches, columns or a frame as a table in the format of the ending.
    """
    import pyarrow as pa

    target = Path(path)
    if callable(content):
        content(target)
    elif isinstance(content, str):
        _write_text(content, target)
    elif isinstance(content, pa.RecordBatchReader):
        _write_stream(content, target)
    elif target.suffix == ".json" and isinstance(content, Mapping | list | tuple):
        _write_text(json_text(content), target)
    else:
        write_frame(pa.table(content) if isinstance(content, Mapping) else content, target)


def write_folder(
    folder: str | os.PathLike[str],
    kind: FolderKind,
    files: Mapping[str, Any],
    record: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> Path:
    """Write a folder of files, and last the record that marks its kind and lists them; return the folder.

    Only an earlier folder of the same kind is replaced, and only where that is allowed.
    """
    with atomic_folder(folder, kind, overwrite=overwrite) as temporary:
        for name, content in files.items():
            write_file(content, temporary / name)
        names = sorted(path.name for path in temporary.iterdir())
        write_file({**record, "files": names}, temporary / kind.mark)
    return Path(folder)


def json_text(record: Any) -> str:
    """Return plain data as JSON text, indented by one."""
    return json.dumps(json_ready(record), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def json_ready(record: Any) -> Any:
    """Return plain data for JSON, which has no infinity: a number that is not finite becomes None.

    >>> json_ready({"epsilon": float("inf"), "shares": (0.5, 0.5)})
    {'epsilon': None, 'shares': [0.5, 0.5]}
    """
    if isinstance(record, Mapping):
        return {str(name): json_ready(value) for name, value in record.items()}
    if isinstance(record, list | tuple):
        return [json_ready(value) for value in record]
    return None if isinstance(record, float) and not math.isfinite(record) else record


def _write_text(text: str, target: Path) -> None:
    with atomic_file(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _write_stream(reader: pa.RecordBatchReader, target: Path) -> None:
    """Write batches as they come; an error of ours in whatever makes them is raised as it was.

    The engine that pulls the batches would wrap it in an error of its own.
    """
    import pyarrow as pa

    from discreet.engines.duckdb.connection import connect

    failures: list[DiscreetError] = []

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            yield from reader
        except DiscreetError as error:
            failures.append(error)
            raise

    try:
        write_frame(connect().from_arrow(pa.RecordBatchReader.from_batches(reader.schema, batches())), target)
    except DiscreetError:
        if failures:
            raise failures[0] from None
        raise


_ALTERED = r"^[ \x{A0}]|[ \x{A0}]$|[\x00-\x1f]"
"""White space at the ends of a cell, and control characters, which are white space in part."""


def written_cells(path: Path, layout: TextLayout, types: Mapping[str, pa.DataType]) -> pa.Table | None:
    """Return columns of a text file in the types they had; None where only `read` says how a cell is read.

    Every byte of the file is parsed, and nothing is looked up in what it was written from. Cells that readers change,
    by taking white space off their ends or by reading their control characters in another way, are left to `read`, as
    are packed files and types that Arrow and the engine may write in different ways.
    """
    import pyarrow as pa
    from pyarrow import csv

    is_exact = (
        pa.types.is_string,
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_date32,
    )
    cells = dict.fromkeys(types, pa.dictionary(pa.int32(), pa.string()))
    simple = all(
        name == name.strip(EDGES) and any(is_kind(type_) for is_kind in is_exact)
        for name, type_ in types.items()
    )
    if path.suffix not in (".csv", ".tsv") or not types or not simple:
        return None
    parsing = csv.ParseOptions(
        delimiter=layout.delimiter, quote_char=layout.quote or False, newlines_in_values=True
    )
    converting = csv.ConvertOptions(
        column_types=cells, include_columns=list(types), null_values=[""], strings_can_be_null=True
    )
    try:
        rows = csv.read_csv(path, parse_options=parsing, convert_options=converting)
        columns = {name: _typed(rows.column(name), type_, layout) for name, type_ in types.items()}
    except (pa.ArrowException, OSError, KeyError):
        return None
    typed = {name: column for name, column in columns.items() if column is not None}
    return pa.table(typed) if len(typed) == len(columns) else None


def _typed(column: pa.ChunkedArray, type_: pa.DataType, layout: TextLayout) -> pa.DictionaryArray | None:
    """Cast the different cells of a column; None where one of them may be read in another way."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from discreet.core.tables.encoding import whole_array

    coded = whole_array(column)
    if pc.any(pc.match_substring_regex(coded.dictionary, _ALTERED)).as_py():
        return None
    texts = coded.dictionary
    if pa.types.is_floating(type_) and layout.decimal != ".":
        texts = pc.replace_substring(texts, layout.decimal, ".")
    return pa.DictionaryArray.from_arrays(coded.indices, texts.cast(type_))
