"""The engine for tables in PostgreSQL: rows are counted and recoded in the database, and come out when written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from discreet.core.adapters import MEMORY, load
from discreet.core.tables.publication import publishable
from discreet.engines.postgres.admission import table_columns
from discreet.engines.postgres.session import PostgresRelation
from discreet.engines.sql.engine import SqlEngine
from discreet.engines.sql.source import SqlSource


class PostgresSource(SqlSource):
    """Rows of a table in PostgreSQL."""

    def __init__(self, native: PostgresRelation) -> None:
        super().__init__(native, table_columns(native))

    def _query(
        self, relation: PostgresRelation, sql: str, mapping: pa.Table | None = None
    ) -> PostgresRelation:
        return relation.query(sql, mapping)

    def _batches(self, relation: PostgresRelation) -> Iterator[pa.RecordBatch]:
        return relation.session.batches(relation.sql)

    def _schema(self, relation: PostgresRelation) -> pa.Schema:
        return relation.schema

    def framed(self, rows: pa.Table) -> PostgresRelation:
        """Return rows made elsewhere as a relation of the same session."""
        return PostgresRelation(self.native.session, self.native.session.lent(publishable(rows)))


class Postgres(SqlEngine):
    """Tables in PostgreSQL."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:  # type: ignore[override]
        """What writing a file of the rows raises."""
        errors: tuple[type[Exception], ...] = load(MEMORY).errors
        return errors

    def query(self, frame: PostgresRelation, sql: str, mapping: pa.Table | None = None) -> PostgresRelation:
        """Query a table under the name ``source``, with an Arrow table under the name ``mapping``."""
        return frame.query(sql, mapping)

    def source(self, frame: PostgresRelation) -> PostgresSource:
        """Return the rows as searches and judgments use them."""
        return PostgresSource(frame)

    def schema(self, frame: PostgresRelation) -> pa.Schema:
        """Return the names and Arrow types of the columns."""
        return frame.schema

    def batches(self, frame: PostgresRelation) -> Iterator[pa.RecordBatch]:
        """Return the rows batch by batch."""
        return frame.session.batches(frame.sql)

    def framed(self, rows: pa.Table | pa.RecordBatchReader, *, like: Any = None) -> Any:
        """Return rows made elsewhere as a relation of the same session; without one they stay in memory."""
        if like is None:
            return load(MEMORY).framed(rows)
        table = rows.read_all() if isinstance(rows, pa.RecordBatchReader) else rows
        return PostgresRelation(like.session, like.session.lent(table))


ENGINE = Postgres()
