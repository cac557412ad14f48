"""Writing frames: a file in any format, complete or not at all."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.core.errors import DiscreetError, OutputError
from discreet.core.params import unknown
from discreet.engines.atomic import atomic_file, write_failure
from discreet.engines.formats import PACKED, WRITTEN, format_of
from discreet.engines.sheets import MOST_ROWS, write_sheet
from discreet.engines.text.layout import Layout, layout_of

_BATCH = 1 << 17
_DELIMITED = ("csv", "tsv")
PARQUET_COMPRESSION = "snappy"
"""How columns of Parquet files are packed."""
_NARROWED = {
    "HUGEINT": "DECIMAL(38, 0)",
    "UHUGEINT": "DECIMAL(38, 0)",
    **dict.fromkeys(("TIME WITH TIME ZONE", "TIME_NS", "BIT", "BIGNUM"), "VARCHAR"),
}
"""Types that Parquet or Arrow files store less exactly than the engine, and a type that keeps all digits."""
_UNWRITTEN = {
    "infinite": "infinite numbers, which JSON cannot write; clean them first, or choose another format",
    "nul": "NUL characters, which files of delimited text cannot hold; clean them first, drop the column, or choose "
    "another format, such as parquet",
}
"""What a format cannot write, as it is marked in the engine's error and as it is explained."""


def write_frame(
    frame: Any,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002
    *,
    layout: Layout | None = None,
) -> Path:
    """Write a pandas, Polars, PyArrow or DuckDB frame to a file, all or nothing, and return the file's path.

    Parameters
    ----------
    frame : frame
        What to write; a DuckDB relation is streamed. Row labels of pandas are not written.
    path : path
        The file; missing folders above it are made, an old file is replaced.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "xlsx"}, optional
        By default it follows from the ending of the name. Text is UTF-8; nulls and NaN are empty cells, in JSON null. A
        second ending .gz or .zst packs text.
    layout : Layout, optional
        The delimiter, quote and decimal mark of CSV; by default those of the CSV file that the frame comes from.
    """
    import duckdb
    import pyarrow as pa

    target = Path(path)
    kind = _format(target, format)
    try:
        with atomic_file(target) as temporary:
            chosen = layout or layout_of(frame) if kind == "csv" else None
            _emit(
                frame, temporary, kind, PACKED.get(target.suffix.lower(), "none"), (chosen or Layout()).safe()
            )
    except DiscreetError as error:
        failure: DiscreetError = error
    except (duckdb.Error, pa.ArrowException, UnicodeError, TypeError, ValueError, OverflowError) as error:
        failure = OutputError(f"{target} cannot be written: {write_failure(error)}.")
    else:
        return target
    failure.__cause__ = failure.__context__ = None
    raise failure


def _format(target: Path, name: str | None) -> str:
    if name is None:
        found = format_of(target)
        if found is None or not found.written:
            endings = [f".{name}" for name in WRITTEN]
            raise OutputError(
                f"{target}: the ending names no format; use {', '.join(endings[:-1])} or {endings[-1]}."
            )
        name = found.name
    if name not in WRITTEN:
        raise unknown("write_frame", "format", name, WRITTEN)
    return name


def _emit(frame: Any, temporary: Path, kind: str, packing: str, layout: Layout) -> None:
    """Write rows as they may leave: relations are cleaned by the engine, other frames by `publishable`."""
    import pyarrow as pa

    from discreet.core.tables.publication import publishable

    relation = type(frame).__module__.split(".")[0].lstrip("_") == "duckdb"
    names = list(frame.columns) if relation else None
    if not relation:
        frame = _readable(publishable(_arrow_table(frame)), kind)
        names = frame.column_names
    if kind != "arrow" and (relation or kind != "parquet"):
        _refuse_alike_names(names or [])
    if kind == "arrow":
        reader = _cleaned(frame, kind, ".").to_arrow_reader(_BATCH) if relation else frame.to_reader(_BATCH)
        with reader, pa.OSFile(str(temporary), "wb") as sink:
            _stream(reader, sink, scrub=relation)
    elif kind == "parquet" and not relation:
        from pyarrow import parquet

        parquet.write_table(frame, str(temporary), compression=PARQUET_COMPRESSION)
    elif kind == "xlsx":
        cleaned = _cleaned(frame, kind, ".").limit(MOST_ROWS).to_arrow_table() if relation else frame
        write_sheet(cleaned, temporary)
    else:
        _copy_out(frame if relation else _relation(frame), temporary, kind, packing, layout)


def _stream(reader: Any, sink: Any, *, scrub: bool) -> None:
    """Write batches as an Arrow file without metadata; those of an engine are scrubbed one by one."""
    import pyarrow as pa

    from discreet.core.tables.publication import publishable

    empty = publishable(reader.schema.empty_table()) if scrub else reader.schema.empty_table()
    with pa.ipc.new_file(sink, empty.schema) as writer:
        for batch in reader:
            writer.write(publishable(pa.Table.from_batches([batch])) if scrub else batch)


def _readable(rows: Any, kind: str) -> Any:
    """Turn numbers of 16 bits into those of 32, which every reader knows; refuse by name what none knows."""
    import pyarrow as pa

    for place, field in enumerate(rows.schema):
        if pa.types.is_float16(field.type):
            rows = rows.set_column(place, field.name, rows.column(place).cast(pa.float32()))
        if pa.types.is_decimal256(field.type):
            raise OutputError(
                f"Column '{field.name}' holds decimals of more than 38 digits; make it text first."
            )
        if kind == "parquet" and pa.types.is_interval(field.type):
            raise OutputError(
                f"Column '{field.name}' holds intervals, which Parquet cannot write; make it text first, or choose "
                "another format."
            )
    return rows


def _refuse_alike_names(names: Sequence[str]) -> None:
    """Refuse names that the engine, which ignores case, would change."""
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            raise OutputError(
                f"Columns '{seen[name.casefold()]}' and '{name}' differ only in upper and lower case; rename one."
            )
        seen[name.casefold()] = name


def _arrow_table(frame: Any) -> Any:
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all()
    if type(frame).__module__.split(".")[0] == "pandas":
        return pa.Table.from_pandas(frame.rename(columns=str), preserve_index=False)
    from discreet.core.tables.admission import in_memory

    return in_memory(frame).to_arrow()


def _relation(table: Any) -> Any:
    """Return rows in memory to an engine of one thread: with several, a full disk has been seen to stop it for ever."""
    from discreet.engines.duckdb.connection import connect

    return connect(threads=1).from_arrow(table)


def _copy_out(relation: Any, temporary: Path, kind: str, packing: str, layout: Layout) -> None:
    """Stream a relation to a text or Parquet file through DuckDB; it is read once, since it may be gone then."""
    import duckdb

    from discreet.engines.duckdb.connection import literal

    options = {
        "csv": f"FORMAT csv, HEADER true, DELIMITER {literal(layout.delimiter)}",
        "tsv": "FORMAT csv, HEADER true, DELIMITER '\t'",
        "jsonl": "FORMAT json, ARRAY false",
        "parquet": f"FORMAT parquet, COMPRESSION {PARQUET_COMPRESSION.replace('none', 'uncompressed')}",
    }[kind]
    names = list(relation.columns)
    relation = _cleaned(relation, kind, layout.decimal)
    if kind != "parquet":
        options += f", COMPRESSION '{packing}'"
    if kind in _DELIMITED:
        quote = literal(layout.quote)
        options += f", NULLSTR '', QUOTE {quote}, ESCAPE {quote}"
    target = literal(str(temporary))
    try:
        view = f"discreet_frame_{secrets.token_hex(8)}"
        relation.query(view, f"COPY (SELECT * FROM {view}) TO {target} ({options}, USE_TMP_FILE false)")
    except duckdb.Error as error:
        found = re.search(r"unwritten (\w+) (\d+)", str(error))
        if found is None:
            raise
        raise OutputError(f"Column '{names[int(found[2])]}' holds {_UNWRITTEN[found[1]]}.") from None


def _cleaned(relation: Any, kind: str, decimal: str) -> Any:
    """Select all columns as they were judged: NaN as null, one zero, and texts instead of an engine's enumeration.

    A null alone on its line of CSV is "" so that the line counts. JSON cannot write infinite numbers, nor delimited
    text the NUL character; one ends the writing with an error that names its column.
    """
    from discreet.engines.duckdb.connection import identifier, literal
    from discreet.engines.duckdb.queries import run

    cells = []
    for place, (name, type_) in enumerate(zip(relation.columns, map(str, relation.types), strict=True)):
        cell = column = f"c{place}"
        if type_ in ("FLOAT", "DOUBLE"):
            infinite = (
                f"WHEN isinf({column}) THEN error('unwritten infinite {place}') " if kind == "jsonl" else ""
            )
            zero = f"CAST(0 AS {type_})"
            cell = f"CASE WHEN isnan({column}) THEN NULL {infinite}ELSE {column} + {zero} END"
        elif type_.startswith("ENUM"):
            cell = f"CAST({column} AS VARCHAR)"
        if kind in _DELIMITED and type_.startswith(("VARCHAR", "ENUM", "JSON")):
            cell = f"CASE WHEN contains({cell}, chr(0)) THEN error('unwritten nul {place}') ELSE {cell} END"
        elif kind in ("parquet", "arrow") and type_ in _NARROWED:
            cell = f"CAST({column} AS {_NARROWED[type_]})"
        if kind == "csv" and decimal != "." and type_.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
            cell = f"replace(CAST({cell} AS VARCHAR), '.', {literal(decimal)})"
        if kind in _DELIMITED and len(relation.columns) == 1:
            cell = f"coalesce(CAST({cell} AS VARCHAR), '')"
        cells.append(f"{cell} AS {identifier(name)}")
    columns = ", ".join(f"c{place}" for place in range(len(relation.columns)))
    return run(relation, f"SELECT {', '.join(cells)} FROM source AS cleaned({columns})")
