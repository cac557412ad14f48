"""The embedded engine: DuckDB behind the verbs that every engine has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyRelation as Relation

from discreet.core.arrays import IntArray
from discreet.core.engine import Engine, Facts, Layout, ValueType
from discreet.core.tables.source import Source
from discreet.engines.duckdb import facts, retyping, spreadsheet, writing
from discreet.engines.duckdb.connection import connect, identifier, origin_of
from discreet.engines.duckdb.queries import batches, schema_of, shuffled
from discreet.engines.duckdb.small import relation_source


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
        return facts.value_types(frame)

    def schema(self, frame: Relation) -> pa.Schema:
        """Return the names and Arrow types of the columns."""
        return schema_of(frame)

    def arrow(self, frame: Relation) -> pa.Table:
        """Return all rows as an Arrow table."""
        return frame.to_arrow_table()

    def batches(self, frame: Relation) -> Iterator[pa.RecordBatch]:
        """Return the rows batch by batch."""
        return batches(frame)

    def first_rows(self, frame: Relation, n: int) -> pa.Table:
        """Return the first rows."""
        return frame.limit(n).to_arrow_table()

    def select(self, frame: Relation, names: Sequence[str], *, numbers: Sequence[str] = ()) -> Relation:
        """Return a relation of some columns; those in ``numbers`` become floats."""
        cells = []
        for name in names:
            column = identifier(name)
            cells.append(f"CAST({column} AS DOUBLE) AS {column}" if name in numbers else column)
        return frame.project(", ".join(cells))

    def shuffled(self, frame: Relation, secret: int) -> Relation:
        """Return the rows in an order that follows from a secret number."""
        return shuffled(frame, secret)

    def framed(self, rows: pa.Table | pa.RecordBatchReader, *, like: Relation | None = None) -> Relation:
        """Return rows made elsewhere as a relation of a new connection."""
        del like
        return connect().from_arrow(rows)

    def facts(self, frame: Relation) -> list[Facts]:
        """Count what can be said about each column without showing its values."""
        return facts.facts(frame)

    def value_sets(self, frame: Relation, names: Sequence[str]) -> dict[str, frozenset[Any]]:
        """Return the different values of columns that have few of them."""
        return facts.value_sets(frame, names)

    def value_counts(self, frame: Relation, name: str) -> tuple[pa.Array, IntArray]:
        """Return the different values of a column in order, and how often each occurs."""
        return facts.value_counts(frame, name)

    def outside_counts(
        self, frame: Relation, ranges: Mapping[str, tuple[float, float]]
    ) -> tuple[int, dict[str, tuple[int, int]]]:
        """Return the number of rows, and how many values of each column are not finite or out of range."""
        return facts.outside_counts(frame, ranges)

    def formula_cells(self, frame: Relation) -> int:
        """Count the cells and column names that a spreadsheet would run."""
        return spreadsheet.formula_cells(frame)

    def defused(self, frame: Relation) -> Relation:
        """Return the relation with an apostrophe before every text that a spreadsheet would run."""
        return spreadsheet.defused(frame)

    def layout(self, frame: Relation) -> Layout | None:
        """Return how the text file was laid out that a relation comes from."""
        return origin_of(frame).layout

    def write(self, frame: Relation, path: Path, format_: str, *, packing: str, layout: Layout) -> None:
        """Stream the rows to a file."""
        writing.write(frame, path, format_, packing=packing, layout=layout)

    def typed(self, frame: Relation, types: Mapping[str, pa.DataType], *, decimal: str = ".") -> Relation:
        """Return some columns, those of text cast to the types they had."""
        return retyping.typed(frame, types, decimal=decimal)

    def types_were_found(self, frame: Relation) -> bool:
        """Whether the types of columns were found in the values of a file."""
        return origin_of(frame).inference is not None

    def typed_by_others(self, original: Relation, remaining: Any, names: Sequence[str]) -> list[str]:
        """Name the columns whose type, found in all rows of a file, would be another by the kept rows alone."""
        inference = origin_of(original).inference
        return [] if inference is None else retyping.typed_by_others(inference, original, remaining, names)


ENGINE = DuckDb()
