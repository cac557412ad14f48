"""Relations written to files, streamed by the engine; and typed again as what they were made from."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.core.engine import TextLayout
from discreet.core.errors import OutputError
from discreet.core.tables.publication import publishable
from discreet.engines import formats
from discreet.engines.duckdb.connection import Inference, query
from discreet.engines.duckdb.inference import infer
from discreet.engines.formats import refuse_alike_names
from discreet.engines.sheets import MOST_ROWS, write_sheet
from discreet.engines.sql.source import inner_names, quoted_name, quoted_text, select_list
from discreet.engines.statistics import write_statistics

_BATCH = 1 << 17
_DELIMITED = ("csv", "tsv")
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


def write(
    relation: duckdb.DuckDBPyRelation, path: Path, format_: str, *, packing: str, layout: TextLayout
) -> None:
    """Write a relation's rows as they were judged."""
    if format_ == "arrow":
        with (
            _cleaned(relation, format_, ".").to_arrow_reader(_BATCH) as reader,
            pa.OSFile(str(path), "wb") as sink,
        ):
            _stream(reader, sink)
        return
    refuse_alike_names(relation.columns)
    if format_ == "xlsx":
        write_sheet(_cleaned(relation, format_, ".").limit(MOST_ROWS).to_arrow_table(), path)
    elif formats.format_named(format_).reader == "statistics":
        rows = publishable(_cleaned(relation, format_, ".").to_arrow_table())
        write_statistics(rows, path, format_, layout.labels)
    else:
        _copy_out(relation, path, format_, packing, layout)


def _stream(reader: Any, sink: Any) -> None:
    """Write batches as an Arrow file without metadata, each of them scrubbed."""
    with pa.ipc.new_file(sink, publishable(reader.schema.empty_table()).schema) as writer:
        for batch in reader:
            writer.write(publishable(pa.Table.from_batches([batch])))


def _copy_out(
    relation: duckdb.DuckDBPyRelation, path: Path, format_: str, packing: str, layout: TextLayout
) -> None:
    """Stream a relation to a text or Parquet file; it is read once, since it may be gone then."""
    options = {
        "csv": f"FORMAT csv, HEADER true, DELIMITER {quoted_text(layout.delimiter)}",
        "tsv": "FORMAT csv, HEADER true, DELIMITER '\t'",
        "jsonl": "FORMAT json, ARRAY false",
        "parquet": f"FORMAT parquet, COMPRESSION {formats.PARQUET_COMPRESSION.replace('none', 'uncompressed')}",
    }[format_]
    names = list(relation.columns)
    relation = _cleaned(relation, format_, layout.decimal)
    if format_ != "parquet":
        options += f", COMPRESSION '{packing}'"
    if format_ in _DELIMITED:
        quote = quoted_text(layout.quote)
        options += f", NULLSTR '', QUOTE {quote}, ESCAPE {quote}"
    try:
        view = f"discreet_frame_{secrets.token_hex(8)}"
        relation.query(
            view, f"COPY (SELECT * FROM {view}) TO {quoted_text(str(path))} ({options}, USE_TMP_FILE false)"
        )
    except duckdb.Error as error:
        mark = re.search(r"unwritten (\w+) (\d+)", str(error))
        if mark is None:
            raise
        raise OutputError(f"Column '{names[int(mark[2])]}' holds {_UNWRITTEN[mark[1]]}.") from None


def _cleaned(relation: duckdb.DuckDBPyRelation, format_: str, decimal: str) -> duckdb.DuckDBPyRelation:
    """Select all columns as they were judged: NaN as null, one zero, and texts instead of an engine's enumeration.

    A null alone on its line of CSV is "" so that the line counts. JSON cannot write infinite numbers, nor delimited
    text the NUL character; one ends the writing with an error that names its column.
    """
    cells = []
    for number, type_ in enumerate(map(str, relation.types)):
        cell = column = f"c{number}"
        if type_ in ("FLOAT", "DOUBLE"):
            infinite = (
                f"WHEN isinf({column}) THEN error('unwritten infinite {number}') "
                if format_ == "jsonl"
                else ""
            )
            zero = f"CAST(0 AS {type_})"
            cell = f"CASE WHEN isnan({column}) THEN NULL {infinite}ELSE {column} + {zero} END"
        elif type_.startswith("ENUM"):
            cell = f"CAST({column} AS VARCHAR)"
        if format_ in _DELIMITED and type_.startswith(("VARCHAR", "ENUM", "JSON")):
            cell = f"CASE WHEN contains({cell}, chr(0)) THEN error('unwritten nul {number}') ELSE {cell} END"
        elif format_ in ("parquet", "arrow") and type_ in _NARROWED:
            cell = f"CAST({column} AS {_NARROWED[type_]})"
        if format_ == "csv" and decimal != "." and type_.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
            cell = f"replace(CAST({cell} AS VARCHAR), '.', {quoted_text(decimal)})"
        if format_ in _DELIMITED and len(relation.columns) == 1:
            cell = f"coalesce(CAST({cell} AS VARCHAR), '')"
        cells.append(cell)
    columns = inner_names(len(cells))
    return query(relation, f"SELECT {select_list(cells, relation.columns)} FROM source AS cleaned({columns})")


_WHOLE = "{x} IS NULL OR ({x} = floor({x}) AND abs({x}) < 1e15)"


def cast_to_types(
    relation: duckdb.DuckDBPyRelation, types: Mapping[str, pa.DataType], *, decimal: str
) -> duckdb.DuckDBPyRelation:
    """Choose columns of a written file, and cast those that were read as text to the types they had."""
    empty = pa.table({name: pa.array([], type_) for name, type_ in types.items()})
    engine_types = [str(type_) for type_ in query(relation, "SELECT * FROM mapping", empty).types]
    read_types = {name: str(type_) for name, type_ in zip(relation.columns, relation.types, strict=True)}
    try:
        return relation.project(
            ", ".join(
                _typed_cell(name, read_types[name], type_, decimal)
                for name, type_ in zip(types, engine_types, strict=True)
            )
        )
    except (duckdb.Error, KeyError) as error:
        raise OutputError(f"The written columns cannot be typed again ({type(error).__name__}).") from None


def _typed_cell(name: str, read_type: str, type_: str, decimal: str) -> str:
    """Write one column as SQL; durations become numbers, since only those have an order."""
    column = quoted_name(name)
    text = column if type_ == "VARCHAR" or decimal == "." else f"replace({column}, '{decimal}', '.')"
    cell = f"CAST({text} AS {type_})" if read_type == "VARCHAR" else column
    interval = "INTERVAL" in (read_type, type_ if read_type == "VARCHAR" else "")
    return f"{f'epoch_us({cell})' if interval else cell} AS {column}"


def typed_by_others(
    inference: Inference,
    original: duckdb.DuckDBPyRelation,
    remaining: duckdb.DuckDBPyRelation,
    names: Sequence[str],
) -> list[str]:
    """Name the columns whose type, found in the values of a file, would be another by the kept rows alone.

    That is text that would be read as numbers or dates, fractions that would be whole numbers, and a type of a column
    without values. Columns that were read as text on purpose rest on no row.
    """
    types = dict(zip(original.columns, map(str, original.types), strict=True))
    free = [name for name in names if name not in inference.text]
    cells = {name: f"c{number}" for number, name in enumerate(free)}
    if not cells:
        return []
    chosen = ", ".join(f"{quoted_name(name)} AS {cell}" for name, cell in cells.items())
    all_rows, kept_rows = (
        _Rows(query(rows, f"SELECT {chosen} FROM source")) for rows in (original, remaining)
    )
    texts = [cell for name, cell in cells.items() if types[name] == "VARCHAR"]
    read = infer(kept_rows, "source", texts, inference.conventions).expressions
    changed = [cell for cell in texts if read[cell] != cell]
    before = infer(all_rows, "source", changed, inference.conventions).expressions if changed else {}
    affected = {cell for cell in changed if before[cell] != read[cell]}
    typed = [cell for name, cell in cells.items() if types[name] != "VARCHAR"]
    broken = [cell for name, cell in cells.items() if types[name] == "DOUBLE"]
    if typed:
        true, remaining_facts = (rows.facts(typed, broken) for rows in (all_rows, kept_rows))
        affected |= {cell for cell, fact in true if true[cell, fact] != remaining_facts[cell, fact]}
    return [name for name, cell in cells.items() if cell in affected]


@dataclass(frozen=True, repr=False)
class _Rows:
    """Some rows, as something that runs queries."""

    relation: Any

    def execute(self, sql: str, /) -> Any:
        """Run a query over the rows, which it calls ``source``."""
        return query(self.relation, sql)

    def facts(self, typed: Sequence[str], broken: Sequence[str]) -> dict[tuple[str, str], bool]:
        """Return which columns have values, and which have whole numbers only."""
        facts = {(cell, "held"): f"count({cell}) > 0" for cell in typed}
        facts |= {
            (cell, "whole"): f"coalesce(bool_and({_WHOLE.replace('{x}', cell)}), true)" for cell in broken
        }
        (answers,) = self.execute(f"SELECT {', '.join(facts.values())} FROM source").fetchall()
        return dict(zip(facts, answers, strict=True))
