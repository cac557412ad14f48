"""Sessions with PostgreSQL, and relations in them: queries whose rows stay in the database until they are fetched."""

from __future__ import annotations

import contextlib
import getpass
import re
import secrets
import sys
import weakref
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from discreet.core.errors import DiscreetError, InputError, NetworkError
from discreet.engines.addresses import Address
from discreet.engines.formats import package
from discreet.engines.sql.transpile import transpiled

_NUMERIC_HEADER = 4
_REASONS = (
    (r"password authentication failed|no password supplied", "the password is wrong, or none was given"),
    (
        r"[Cc]onnection refused|could not connect|No such file or directory|timeout expired",
        "no server answers",
    ),
    (r"could not translate host name", "no server has this name"),
    (r'role "[^"]*" does not exist', "the server does not know the user"),
    (r'database "[^"]*" does not exist', "the server has no such database"),
    (r"no pg_hba.conf entry", "the server does not admit this user from here"),
    (r"definition of service|service file", "the service is not in the service file"),
    (r"invalid (URI|connection option|port)|missing \"=\"", "the address is not valid"),
)
_CANCELED = "canceling statement due to user request"
_passwords: dict[str, str] = {}
"""Passwords that were typed, by server; they last as long as the process."""
_STATES = {
    "42501": "permission denied",
    "42P01": "the table is gone",
    "42P07": "the table is there already",
    "23505": "another run is making the same table, or has made it",
    "53100": "the disk of the server is full",
    "53200": "the server is out of memory",
    "57014": "the server canceled the query",
    "25006": "the database is read-only, and temporary tables are needed",
}


class DatabaseSession:
    """A connection in which all queries see the same rows: one transaction that only reads, and temporary tables."""

    def __init__(self, address: Address, *, reads: bool = True) -> None:
        driver = package("adbc_driver_postgresql.dbapi", "postgres", "PostgreSQL")
        self.address = address
        self.errors: tuple[type[Exception], ...] = (driver.Error,)
        with self.failures("cannot be reached", NetworkError):
            self._connection = self._connected(driver)
        self._finalizer = weakref.finalize(self, _close, self._connection)
        if reads:
            self.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        # Floats are written in the fewest digits that are exact.
        for setting in ("TimeZone = 'UTC'", "extra_float_digits = 1", "client_min_messages = error"):
            self.execute(f"SET LOCAL {setting}")

    def _connected(self, driver: Any) -> Any:
        """Connect; where a password is needed and none is known, ask for it on the terminal, once for each server."""
        name = self.address.login
        try:
            return driver.connect(self.address.connection_with(_passwords.get(name)), autocommit=False)
        except driver.Error as error:
            if "no password supplied" not in str(error) or not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
        password = getpass.getpass(f"Password for {name}: ")
        connection = driver.connect(self.address.connection_with(password), autocommit=False)
        _passwords[name] = password
        return connection

    @contextlib.contextmanager
    def failures(self, what: str, kind: type[InputError] = InputError) -> Iterator[None]:
        """Turn what the driver raises into one line that holds no value and no password."""
        failure: DiscreetError | None = None
        try:
            yield
        except DiscreetError:
            raise
        except (*self.errors, pa.ArrowException, OSError) as error:
            if _CANCELED in str(error):
                # The driver takes Ctrl-C for itself while it waits, and cancels the query.
                raise KeyboardInterrupt from None
            failure = kind(f"{self.address} {what}: {_reason(error)}.")
        if failure is not None:
            raise failure from None

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement; return the rows of its answer, if it has one."""
        with self.failures("cannot be read"), self._connection.cursor() as cursor:
            cursor.execute(sql, tuple(parameters) or None)
            return cursor.fetchall() if cursor.description else []

    def schema(self, sql: str) -> pa.Schema:
        """Return the names and Arrow types of a query's columns."""
        with self.failures("cannot be read"), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({sql}) AS described LIMIT 0")
            return pa.schema(
                [pa.field(field.name, _type(field)) for field in cursor.fetch_record_batch().schema]
            )

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Fetch the rows of a query, batch by batch."""
        with self.failures("cannot be read"), self._connection.cursor() as cursor:
            cursor.execute(sql)
            for batch in cursor.fetch_record_batch():
                yield _typed(batch)

    def lent(self, rows: pa.Table) -> str:
        """Put a small table into the session; return the query of its rows."""
        name = f"discreet_{secrets.token_hex(8)}"
        stored = pa.table({field.name: _storable(rows.column(at)) for at, field in enumerate(rows.schema)})
        self.ingest(name, stored, mode="create", temporary=True)
        # Nothing but this gathers statistics of a temporary table, and plans of joins need them.
        self.execute(f"ANALYZE {name}")
        # The driver stores decimals without their digits, which `_type` looks for.
        cells = [
            f'CAST("{field.name}" AS numeric({field.type.precision}, {field.type.scale})) AS "{field.name}"'
            if pa.types.is_decimal(field.type)
            else f'"{field.name}"'
            for field in rows.schema
        ]
        return f"SELECT {', '.join(cells)} FROM {name}"

    def ingest(self, name: str, rows: pa.Table | pa.RecordBatchReader, **options: Any) -> None:
        """Store rows in a table."""
        with self.failures("cannot be written"), self._connection.cursor() as cursor:
            cursor.adbc_ingest(name, rows, **options)

    def append(self, schema: str | None, name: str, rows: pa.RecordBatchReader) -> None:
        """Append rows to a table; an error of ours among the rows is raised as it is."""
        failures: list[DiscreetError] = []

        def watched() -> Iterator[pa.RecordBatch]:
            try:
                yield from rows
            except DiscreetError as error:
                failures.append(error)
                raise

        reader = pa.RecordBatchReader.from_batches(rows.schema, watched())
        try:
            self.ingest(name, reader, mode="append", db_schema_name=schema)
        except DiscreetError:
            if failures:
                raise failures[0] from None
            raise

    def commit(self) -> None:
        """Make what was written stay."""
        with self.failures("cannot be written"):
            self._connection.commit()

    def close(self) -> None:
        """End the session; what was not committed is gone."""
        self._finalizer()


@dataclass(frozen=True, repr=False, eq=False)
class PostgresRelation:
    """Rows in a database, as a query of a session says; ``refused`` has the types of columns that are not kept."""

    session: DatabaseSession
    sql: str
    refused: dict[str, str] = field(default_factory=dict)
    cells: dict[str, str] = field(default_factory=dict)
    table: str = ""

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and Arrow types of the columns."""
        return self.session.schema(self.sql)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def narrowed(self, names: Collection[str]) -> str:
        """Write the query of some columns of a table alone; casts of others may hold digits of their values."""
        return f"SELECT {', '.join(cell for name, cell in self.cells.items() if name in names)} FROM {self.table}"

    def query(self, sql: str, mapping: pa.Table | None = None) -> PostgresRelation:
        """Query the relation under the name ``source``, in the SQL of DuckDB, with a table beside it."""
        # A query that is named twice would be stored as a whole first.
        names = [f"source AS NOT MATERIALIZED ({self.sql})"]
        if mapping is not None:
            names.append(f"mapping AS NOT MATERIALIZED ({self.session.lent(mapping)})")
        return PostgresRelation(self.session, f"WITH {', '.join(names)} {transpiled(sql, 'postgres')}")

    def __repr__(self) -> str:
        return f"PostgresRelation({self.session.address})"


def _close(connection: Any) -> None:
    with contextlib.suppress(Exception):
        connection.close()


def _reason(error: Exception) -> str:
    """Return why a statement failed; the driver's own message may hold values."""
    state, words = getattr(error, "sqlstate", None), str(error)
    if state in _STATES:
        return _STATES[state]
    if (state or "").startswith(("08", "57P")) or re.search(
        r"server closed|terminating|no connection", words
    ):
        return "the server closed the connection"
    for pattern, reason in _REASONS:
        if re.search(pattern, words):
            return reason
    return f"the database failed ({type(error).__name__}{f' {state}' if state else ''})"


def _type(field: pa.Field) -> pa.DataType:
    """Return the Arrow type of a column: decimals by what the database says of them, other extensions as text."""
    metadata = field.metadata or {}
    if metadata.get(b"POSTGRESQL:type") == b"numeric":
        modifier = int(metadata.get(b"POSTGRESQL:typmod", b"-1"))
        if modifier < 0:
            return pa.string()
        return pa.decimal128(*stated_digits(modifier))
    return pa.string() if isinstance(field.type, pa.BaseExtensionType) else field.type


def stated_digits(modifier: int) -> tuple[int, int]:
    """Return how many digits a type of numbers has room for, and how many of them behind the point.

    PostgreSQL keeps numeric(p, s) as 2^16 p + s + 4, with s in 11 bits and a sign. Numbers of numeric(5, -2) end in two
    zeros and have seven digits; those of numeric(2, 5) have five behind the point.

    >>> [stated_digits((p << 16) + (s & 0x7FF) + 4) for p, s in ((10, 2), (5, -2), (2, 5))]
    [(10, 2), (7, 0), (5, 5)]
    """
    stated = modifier - _NUMERIC_HEADER
    precision, scale = stated >> 16, ((stated & 0x7FF) ^ 0x400) - 0x400
    return (precision - scale, 0) if scale < 0 else (max(precision, scale), scale)


def _typed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with plain types."""
    columns = []
    for described, column in zip(batch.schema, batch.columns, strict=True):
        type_ = _type(described)
        stored = column.storage if isinstance(column, pa.ExtensionArray) else column
        columns.append(stored if stored.type == type_ else stored.cast(type_))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _storable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that the driver stores: whole numbers have signs there."""
    kind = column.type
    if pa.types.is_unsigned_integer(kind) or pa.types.is_int8(kind):
        return column.cast(pa.int64())
    return column.cast(pa.string()) if pa.types.is_null(kind) else column
