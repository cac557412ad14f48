"""What an engine that speaks SQL does with a frame, by queries written once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.adapters import MEMORY, load
from discreet.core.arrays import IntArray
from discreet.core.engine import Engine, Facts, TextLayout, ValueType
from discreet.core.errors import DiscreetError, OutputError, SchemaError
from discreet.core.tables.encoding import combined
from discreet.core.tables.publication import formula_names, publishable
from discreet.engines.formats import PARQUET_COMPRESSION, refuse_alike_names
from discreet.engines.sql.column_counts import ColumnCounts, column_counts, counts_query
from discreet.engines.sql.source import (
    SqlSource,
    defused_cell,
    has_identifier,
    quoted_name,
    select_list,
    text_columns,
)

_CASTS = (
    (pa.types.is_integer, "BIGINT"),
    (pa.types.is_floating, "DOUBLE"),
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_date, "DATE"),
    (pa.types.is_timestamp, "TIMESTAMP"),
)
_LARGEST = 1e308
_COLUMNS_AT_ONCE = 32


class SqlEngine(Engine):
    """An engine whose frames are queried in SQL; a subclass says how a query runs and how its rows are fetched."""

    most_texts = ""
    """The clause that bounds how many texts are fetched which may hold an identifier."""

    @abstractmethod
    def query(self, frame: Any, sql: str, mapping: pa.Table | None = None) -> Any:
        """Query a frame under the name ``source``, in the SQL of DuckDB, with a table named ``mapping`` beside it."""

    @abstractmethod
    def source(self, frame: Any) -> SqlSource:
        """Return the rows as searches and judgments use them."""

    def value_types(self, frame: Any) -> dict[str, ValueType]:
        """Return what the values of each column are."""
        return {field.name: _value_type(field.type) for field in self.schema(frame)}

    def arrow(self, frame: Any) -> pa.Table:
        """Return all rows as an Arrow table."""
        return pa.Table.from_batches(self.batches(frame), self.schema(frame))

    def first_rows(self, frame: Any, n: int) -> pa.Table:
        """Return the first rows."""
        return self._fetched(self.query(frame, f"SELECT * FROM source LIMIT {int(n)}"))

    def _counted(self, frame: Any, sql: str) -> pa.Table:
        """Fetch the few rows of a query that counts."""
        return self._fetched(self.query(frame, sql))

    def _fetched(self, counted: Any) -> pa.Table:
        """Fetch the few rows of a query that counts, or of the first rows."""
        return pa.Table.from_batches(self.batches(counted), self.schema(counted))

    def select(self, frame: Any, names: Sequence[str], *, numbers: Sequence[str] = ()) -> Any:
        """Return a frame of some columns; those in ``numbers`` become floats."""
        cells = [
            f"CAST({quoted_name(name)} AS DOUBLE)" if name in numbers else quoted_name(name) for name in names
        ]
        return self.query(frame, f"SELECT {select_list(cells, names)} FROM source")

    def shuffled(self, frame: Any, secret: int) -> Any:
        """Return the rows in an order that follows from a secret number."""
        return self.source(frame).shuffled(secret)

    def facts(self, frame: Any) -> list[Facts]:
        """Count what can be said about each column."""
        types = self.value_types(frame)
        counts = self.column_counts(frame, list(types))
        return [counts[name].facts(name, type_) for name, type_ in types.items()]

    def column_counts(
        self, frame: Any, names: Sequence[str], expression: str | None = None
    ) -> dict[str, ColumnCounts]:
        """Count columns by themselves, some of them in each query; texts with an expression in them if there is one."""
        types, counts = self.value_types(frame), []
        for start in range(0, len(names), _COLUMNS_AT_ONCE):
            columns = {quoted_name(name): types[name] for name in names[start : start + _COLUMNS_AT_ONCE]}
            counts += column_counts(self._counted(frame, counts_query(columns, expression or "")))
        return dict(zip(names, counts, strict=True))

    def value_sets(self, frame: Any, names: Sequence[str]) -> dict[str, frozenset[Any]]:
        """Return the different values of columns that have few of them."""
        return {name: frozenset(self.value_counts(frame, name)[0].to_pylist()) for name in names}

    def value_counts(self, frame: Any, name: str) -> tuple[pa.Array, IntArray]:
        """Return the different values of a column in order, null left out, and how often each occurs."""
        column = quoted_name(name)
        counted = self._counted(
            frame,
            f"SELECT {column} AS value, CAST(count(*) AS BIGINT) AS n FROM source "
            f"WHERE {column} IS NOT NULL GROUP BY {column}",
        )
        values = combined(counted["value"])
        order = pc.array_sort_indices(values)
        return values.take(order), np.asarray(counted["n"], np.int64)[np.asarray(order)]

    def outside_counts(
        self, frame: Any, ranges: Mapping[str, tuple[float | None, float | None]]
    ) -> tuple[int, dict[str, tuple[int, int]]]:
        """Count, in one pass, the rows, and the values of columns that are not finite or out of range."""
        aggregates = ["CAST(count(*) AS BIGINT)"]
        for name, (low, high) in ranges.items():
            cell = f"CAST({quoted_name(name)} AS DOUBLE)"
            # NaN is above infinity in every one of these engines, and so fails the second comparison.
            finite = f"({cell} > CAST('-Infinity' AS DOUBLE) AND {cell} < CAST('Infinity' AS DOUBLE))"
            lowest = -_LARGEST if low is None else float(low)
            highest = _LARGEST if high is None else float(high)
            ends = [f"CAST({end!r} AS DOUBLE)" for end in (lowest, highest)]
            outside = f"({cell} < {ends[0]} OR {cell} > {ends[1]})"
            aggregates += [
                f"CAST(count(CASE WHEN {condition} THEN 1 END) AS BIGINT)"
                for condition in (f"{cell} IS NULL OR NOT {finite}", f"{finite} AND {outside}")
            ]
        sql = f"SELECT {', '.join(f'{count} AS a{at}' for at, count in enumerate(aggregates))} FROM source"
        n_rows, *counts = (int(column[0].as_py()) for column in self._counted(frame, sql).columns)
        return n_rows, dict(zip(ranges, zip(counts[::2], counts[1::2], strict=True), strict=True))

    def matching_texts(
        self, frame: Any, expression: str, without: Collection[str] = ()
    ) -> Iterator[tuple[Facts, pa.Array]]:
        """Return facts of each column of texts or whole numbers, and its different texts with an expression in them."""
        types = self.value_types(frame)
        counts = self.column_counts(frame, text_columns(types, without), expression)
        for name, counted in counts.items():
            facts, column = counted.facts(name, types[name]), quoted_name(name)
            if not counted.n_likely:
                yield facts, pa.array([], pa.string())
                continue
            like = has_identifier(column, expression, is_text=facts.is_text)
            texts = f"SELECT DISTINCT {column} FROM source WHERE {column} IS NOT NULL"
            sql = f"SELECT CAST({column} AS VARCHAR) AS value FROM ({texts}) AS texts WHERE {like}{self.most_texts}"
            yield facts, combined(self._counted(frame, sql)["value"])

    def formula_cells(self, frame: Any, without: Collection[str] = ()) -> int:
        """Count the cells and column names that a spreadsheet would run."""
        types = self.value_types(frame)
        texts = [name for name, type_ in types.items() if type_ == "text" and name not in without]
        counts = self.column_counts(frame, texts).values()
        return formula_names(pa.array(list(types), pa.string())) + sum(each.n_formulas for each in counts)

    def defused(self, frame: Any) -> Any:
        """Return the frame with an apostrophe before every text that a spreadsheet would run."""
        types = self.value_types(frame)
        if formula_names(pa.array(list(types), pa.string())):
            raise SchemaError("The name of a column starts as a formula of a spreadsheet does; rename it.")
        cells = [defused_cell(quoted_name(name), is_text=type_ == "text") for name, type_ in types.items()]
        return self.query(frame, f"SELECT {select_list(cells, list(types))} FROM source")

    def layout(self, frame: Any) -> TextLayout | None:
        """Return None: a table comes from no file of text."""
        del frame
        return None

    def write(self, frame: Any, path: Path, format_: str, *, packing: str, layout: TextLayout) -> None:
        """Write the rows to a file, batch by batch."""
        schema = self.schema(frame)
        rows = (publishable(pa.Table.from_batches([batch])) for batch in self.batches(frame))
        if format_ == "parquet":
            from pyarrow import parquet

            with parquet.ParquetWriter(str(path), schema, compression=PARQUET_COMPRESSION) as writer:
                for part in rows:
                    writer.write_table(part)
        elif format_ == "arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as batches:
                for part in rows:
                    batches.write_table(part)
        else:
            refuse_alike_names(schema.names)
            stream = pa.RecordBatchReader.from_batches(
                schema, (batch for part in rows for batch in part.to_batches())
            )
            load(MEMORY).write(stream, path, format_, packing=packing, layout=layout)

    def typed(self, frame: Any, types: Mapping[str, pa.DataType], *, decimal: str = ".") -> Any:
        """Return some columns, those of text cast to the types they had."""
        del decimal
        read_types = {field.name: field.type for field in self.schema(frame)}
        if set(types) - set(read_types):
            raise OutputError("The written columns cannot be typed again (a column is missing).")
        cells = [_typed_cell(quoted_name(name), read_types[name], type_) for name, type_ in types.items()]
        try:
            return self.query(frame, f"SELECT {select_list(cells, list(types))} FROM source")
        except DiscreetError:
            raise OutputError("The written columns cannot be typed again.") from None

    def types_were_found(self, frame: Any) -> bool:
        """Return False: a table states its types."""
        del frame
        return False

    def typed_by_others(self, original: Any, remaining: Any, names: Sequence[str]) -> list[str]:
        """Return nothing: the types of a table were not found in its values."""
        del original, remaining, names
        return []


def _typed_cell(column: str, read_type: pa.DataType, type_: pa.DataType) -> str:
    """Write a column of text in the type it had."""
    if not pa.types.is_string(read_type) or pa.types.is_string(type_):
        return column
    if pa.types.is_decimal(type_):
        return f"CAST({column} AS DECIMAL({type_.precision}, {type_.scale}))"
    return f"CAST({column} AS {next(sql for is_one, sql in _CASTS if is_one(type_))})"


def _value_type(type_: pa.DataType) -> ValueType:
    """Return what the values of an Arrow type are."""
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    if pa.types.is_integer(type_):
        return "whole"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "real"
    if pa.types.is_temporal(type_):
        return "date"
    return "nested" if pa.types.is_nested(type_) or pa.types.is_binary(type_) else "other"
