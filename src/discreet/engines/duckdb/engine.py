"""The embedded engine: DuckDB behind the verbs that every engine has; small relations are fetched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyRelation as Relation

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.engine import Engine, Facts, TextLayout, ValueType
from discreet.core.tables.encoding import combined
from discreet.core.tables.source import Replacement, Source
from discreet.engines.duckdb import large, writing
from discreet.engines.duckdb.admission import as_relation, is_unpublishable, normalize
from discreet.engines.duckdb.connection import (
    connect,
    fetch_batches,
    in_any_order,
    in_secret_order,
    origin_of,
    rows_shown,
    schema_of,
)
from discreet.engines.duckdb.large import RelationSource
from discreet.engines.frames import FrameSource, label_cells, refuse_repeated_names
from discreet.engines.sql.source import Normalized, quoted_name, text_columns, text_query

HELD_ROWS = 1_000_000
"""A relation of up to this many rows is fetched; a larger one stays in the engine."""
_HELD_BYTES = 256 << 20
_ESTIMATE = re.compile(r"~([\d,]+) rows?")


class HeldSource(FrameSource):
    """Rows of a small relation, in memory."""

    def __init__(self, native: duckdb.DuckDBPyRelation, normalized_rows: Normalized, rows: pa.Table) -> None:
        refuse_repeated_names(rows)
        super().__init__(native, nw.from_native(rows), lazy=False)
        self.rows = rows
        self._normalized = normalized_rows

    def _labeled(self, replacement: Replacement, codes: CodeArray) -> pa.Array:
        """Return the cells that stand for codes; the engine reads a dictionary as texts, and need not copy them."""
        labels = replacement.labels
        if not pa.types.is_string(labels.type) or labels.null_count:
            return label_cells(replacement, codes)
        index = replacement.index[codes]
        used = np.flatnonzero(np.bincount(index, minlength=len(labels)))
        used = used[np.asarray(pc.sort_indices(labels.take(pa.array(used))))]
        ranks = np.zeros(len(labels), np.int32)
        ranks[used] = np.arange(used.size)
        return pa.DictionaryArray.from_arrays(pa.array(ranks[index]), labels.take(pa.array(used)))

    def framed(
        self, rows: pa.Table, *, original_dtypes: Collection[str] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return rows made elsewhere as a relation of the same connection."""
        return as_relation(
            self.native, self._normalized, rows, self.names if original_dtypes is None else original_dtypes
        )


def relation_source(native: duckdb.DuckDBPyRelation) -> Source:
    """Take a relation into memory if it is small, and leave it in the engine otherwise."""
    rows = normalize(native)
    fetched = rows_shown(native)
    if fetched is None or fetched.num_rows > HELD_ROWS:
        fetched = _fetched(rows.relation) if _is_small(native) else None
    if fetched is None:
        return RelationSource(native, rows)
    return HeldSource(native, rows, fetched.rename_columns(list(rows.names)))


def _is_small(native: duckdb.DuckDBPyRelation) -> bool:
    """Return whether the engine expects few rows; where it does not say, it may be many."""
    # The engine's estimate stands in its plan alone.
    estimate = _ESTIMATE.search(native.explain())
    return estimate is not None and int(estimate[1].replace(",", "")) <= HELD_ROWS


def _fetched(native: duckdb.DuckDBPyRelation) -> pa.Table | None:
    """Fetch the rows, unless they turn out to be many."""
    parts: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in fetch_batches(native):
        parts.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows > HELD_ROWS or n_bytes > _HELD_BYTES:
            return None
    return pa.Table.from_batches(parts, parts[0].schema if parts else schema_of(native))


_EXACT_ROWS = 1_000_000
_CELLS_AT_ONCE = 4_000_000
_COLUMNS_AT_ONCE = 32
_WHOLE = {
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
}
_LARGEST = 1e308


class DuckDb(Engine):
    """DuckDB relations: files that were read, queries and tables of the user's.

    Examples
    --------
    >>> ages = duckdb.connect().sql("SELECT * FROM (VALUES (42), (42), (7)) AS people(age)")
    >>> ENGINE.value_counts(ages, "age")[1].tolist()
    [1, 2]
    """

    errors = (duckdb.Error,)

    def source(self, frame: Relation) -> Source:
        """Return the rows as searches and judgments use them."""
        return relation_source(frame)

    def value_types(self, frame: Relation) -> dict[str, ValueType]:
        """Return what the values of each column are."""
        return {name: _value_type(str(type_)) for name, type_ in zip(frame.columns, frame.types, strict=True)}

    def schema(self, frame: Relation) -> pa.Schema:
        """Return the names and Arrow types of the columns."""
        return schema_of(frame)

    def arrow(self, frame: Relation) -> pa.Table:
        """Return all rows as an Arrow table."""
        return frame.to_arrow_table()

    def batches(self, frame: Relation) -> Iterator[pa.RecordBatch]:
        """Return the rows batch by batch."""
        return fetch_batches(frame)

    def first_rows(self, frame: Relation, n: int) -> pa.Table:
        """Return the first rows."""
        return frame.limit(n).to_arrow_table()

    def select(self, frame: Relation, names: Sequence[str], *, numbers: Sequence[str] = ()) -> Relation:
        """Return a relation of some columns; those in ``numbers`` become floats."""
        cells = []
        for name in names:
            column = quoted_name(name)
            cells.append(f"CAST({column} AS DOUBLE) AS {column}" if name in numbers else column)
        return frame.project(", ".join(cells))

    def shuffled(self, frame: Relation, secret: int) -> Relation:
        """Return the rows in an order that follows from a secret number."""
        return in_secret_order(frame, secret)

    def framed(self, rows: pa.Table | pa.RecordBatchReader, *, like: Relation | None = None) -> Relation:
        """Return rows made elsewhere as a relation of a new connection."""
        del like
        return connect().from_arrow(rows)

    def facts(self, frame: Relation) -> list[Facts]:
        """Count what can be said about each column, some columns in each pass.

        Counting different values takes memory for every column that is counted at once, a few megabytes even where
        there are few rows. So the number of columns in a pass is bounded.
        """
        (n_rows,) = frame.aggregate("count(*)").fetchall()[0]
        exact = n_rows <= _EXACT_ROWS
        counted: list[Facts] = []
        for part in _parts(list(self.value_types(frame).items()), n_rows if exact else 1):
            questions = [sql for name, type_ in part for sql in _questions(name, type_, exact=exact)]
            answers = iter(frame.aggregate(", ".join(questions)).fetchall()[0])
            for name, type_ in part:
                n_known, n_distinct, *rest = (next(answers) for _ in range(5))
                counted.append(Facts(name, type_, n_rows, n_rows - n_known, n_distinct, *rest))
        return counted

    def value_sets(self, frame: Relation, names: Sequence[str]) -> dict[str, frozenset[Any]]:
        """Return the different values of columns that have few of them."""
        sets: dict[str, frozenset[Any]] = {}
        for part in _parts(names, 1):
            lists = frame.aggregate(
                ", ".join(f"list(DISTINCT {quoted_name(name)})" for name in part)
            ).fetchall()[0]
            sets |= {name: frozenset(values or ()) - {None} for name, values in zip(part, lists, strict=True)}
        return sets

    def value_counts(self, frame: Relation, name: str) -> tuple[pa.Array, IntArray]:
        """Return the different values of a column in order, null left out, and how often each occurs."""
        column = quoted_name(name)
        counted = frame.aggregate(f"{column} AS value, count(*)::BIGINT AS rows", column)
        table = counted.filter("value IS NOT NULL").to_arrow_table()
        values = combined(table["value"])
        order = pc.array_sort_indices(values)
        return values.take(order), np.asarray(table["rows"], np.int64)[np.asarray(order)]

    def outside_counts(
        self, frame: Relation, ranges: Mapping[str, tuple[float | None, float | None]]
    ) -> tuple[int, dict[str, tuple[int, int]]]:
        """Count, in one pass, the rows, and the values of columns that are not finite or out of range."""
        aggregates = ["count(*)"]
        for name, (low, high) in ranges.items():
            cell = f"CAST({quoted_name(name)} AS DOUBLE)"
            lowest = -_LARGEST if low is None else float(low)
            highest = _LARGEST if high is None else float(high)
            aggregates += [
                f"count(*) FILTER (WHERE {cell} IS NULL OR NOT isfinite({cell}))",
                f"count(*) FILTER (WHERE isfinite({cell}) AND ({cell} < {lowest!r} OR {cell} > {highest!r}))",
            ]
        n_rows, *counts = frame.aggregate(", ".join(aggregates)).fetchall()[0]
        return int(n_rows), dict(zip(ranges, zip(counts[::2], counts[1::2], strict=True), strict=True))

    def matching_texts(
        self, frame: Relation, expression: str, without: Collection[str] = ()
    ) -> Iterator[tuple[Facts, pa.Array]]:
        """Return facts of each column of texts or whole numbers, and its different texts with an expression in them."""
        types, rows = self.value_types(frame), in_any_order(frame)
        for name in text_columns(types, without):
            sql = text_query(quoted_name(name), expression, is_text=types[name] == "text")
            n_known, n_distinct, length, words, n_rows, likely = rows.query("source", sql).fetchall()[0]
            facts = Facts(name, types[name], n_rows, n_rows - n_known, n_distinct, length, words)
            yield facts, pa.array(likely or (), pa.large_string())

    def formula_cells(self, frame: Relation, without: Collection[str] = ()) -> int:
        """Count the cells and column names that a spreadsheet would run."""
        return large.count_formulas(in_any_order(frame), without)

    def defused(self, frame: Relation) -> Relation:
        """Return the relation with an apostrophe before every text that a spreadsheet would run."""
        return large.defused_relation(frame)

    def layout(self, frame: Relation) -> TextLayout | None:
        """Return how the text file was laid out that a relation comes from."""
        return origin_of(frame).layout

    def write(self, frame: Relation, path: Path, format_: str, *, packing: str, layout: TextLayout) -> None:
        """Stream the rows to a file."""
        writing.write(frame, path, format_, packing=packing, layout=layout)

    def typed(self, frame: Relation, types: Mapping[str, pa.DataType], *, decimal: str = ".") -> Relation:
        """Return some columns, those of text cast to the types they had."""
        return writing.cast_to_types(frame, types, decimal=decimal)

    def types_were_found(self, frame: Relation) -> bool:
        """Whether the types of columns were found in the values of a file."""
        return origin_of(frame).inference is not None

    def typed_by_others(self, original: Relation, remaining: Any, names: Sequence[str]) -> list[str]:
        """Name the columns whose type, found in all rows of a file, would be another by the kept rows alone."""
        inference = origin_of(original).inference
        return [] if inference is None else writing.typed_by_others(inference, original, remaining, names)


ENGINE = DuckDb()


def _value_type(type_: str) -> ValueType:
    """Return what the values of a type of the engine are.

    >>> [_value_type(name) for name in ("UBIGINT", "DECIMAL(18,3)", "TIMESTAMP", "INTEGER[]", "BIT")]
    ['whole', 'real', 'date', 'nested', 'other']
    """
    if is_unpublishable(type_):
        return "nested"
    if type_ in _WHOLE:
        return "whole"
    if type_.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        return "real"
    if type_.startswith(("DATE", "TIME")):
        return "date"
    if type_ == "VARCHAR":
        return "text"
    return "uuid" if type_ == "UUID" else "other"


def _parts(columns: Sequence[Any], n_rows: int) -> Iterator[Sequence[Any]]:
    at_once = max(1, min(_COLUMNS_AT_ONCE, _CELLS_AT_ONCE // max(n_rows, 1)))
    for start in range(0, len(columns), at_once):
        yield columns[start : start + at_once]


def _questions(name: str, type_: ValueType, *, exact: bool) -> list[str]:
    """Return five aggregates for a column: known values, different ones, mean length, mean spaces, and span."""
    column = quoted_name(name)
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    text = ["0.0", "0.0"]
    span = "NULL"
    if type_ == "text":
        text = [
            f"coalesce(avg(length({column})), 0)",
            f"coalesce(avg(length({column}) - length(replace({column}, ' ', ''))), 0)",
        ]
    elif type_ == "whole":
        span = f"max({column})::DOUBLE - min({column})::DOUBLE"
    return [f"count({column})", distinct, *text, span]
