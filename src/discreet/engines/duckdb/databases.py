"""Rows in databases: tables of DuckDB and SQLite files, read and made; folders of Parquet files; a locked engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.core.errors import InputError, OutputError, SchemaError
from discreet.engines import sqlite
from discreet.engines.atomic import write_failure
from discreet.engines.duckdb.connection import connect, ours
from discreet.engines.formats import refuse_alike_names
from discreet.engines.sql.source import quoted_name, quoted_text
from discreet.engines.writing import published_batches

_MAGIC = b"DUCK"
_MEMORY = "512MB"
_THREADS = 1


@contextmanager
def reading_errors(path: Path) -> Iterator[None]:
    """Turn what the engine cannot read into an InputError that names the file."""
    try:
        yield
    except duckdb.Error as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}).") from None


def parquet_rows(files: Sequence[Path]) -> duckdb.DuckDBPyRelation:
    """Return the rows of Parquet files, one after the other."""
    names = ", ".join(quoted_text(str(file)) for file in files)
    return connect().sql(f"SELECT * FROM read_parquet([{names}], hive_partitioning = false)")


def database_table(path: Path, table: str | None) -> duckdb.DuckDBPyRelation:
    """Return the rows of a table of a DuckDB file, in their order; the only table unless one is named."""
    connection = connect()
    connection.execute(f"ATTACH {quoted_text(str(path))} AS attached (READ_ONLY)")
    tables = [
        str(name)
        for (name,) in connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'attached' AND schema_name = 'main'"
        ).fetchall()
    ]
    if table is None and len(tables) != 1:
        raise SchemaError(f"{path} has {len(tables)} tables; name one of them.")
    chosen = table or tables[0]
    if chosen not in tables:
        raise SchemaError(f"{path} has no table {chosen!r}.")
    return connection.sql(f"SELECT * FROM attached.main.{quoted_name(chosen)} ORDER BY rowid")


def stored_table(path: Path, table: str | None) -> duckdb.DuckDBPyRelation:
    """Return the rows of a table or a view of a DuckDB or SQLite file, copied, so that nobody waits for the file."""
    with path.open("rb") as stream:
        head = stream.read(len(sqlite.MAGIC))
    connection = connect()
    if head == sqlite.MAGIC:
        with sqlite.sqlite_session(path) as session:
            rows = sqlite.table_rows(session, path, table)
            connection.from_arrow(rows.schema.empty_table()).create("data")
            for batch in rows:
                connection.from_arrow(pa.Table.from_batches([batch])).insert_into("data")
    elif head[8:12] == _MAGIC:
        _attach(connection, path, "READ_ONLY")
        schema, chosen = _find(connection, path, table)
        # A view finds its tables where the file's own sessions would.
        connection.execute("USE attached.main")
        connection.execute(f"CREATE TABLE memory.main.data AS SELECT * FROM attached.{schema}.{chosen}")
        connection.execute("USE memory.main")
        connection.execute("DETACH attached")
    else:
        raise InputError(f"{path} is neither a SQLite nor a DuckDB file.")
    relation = connection.table("data")
    if not len(relation):
        raise InputError(f"{path} has columns but no rows.")
    return relation


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, mode: str) -> None:
    try:
        connection.execute(f"ATTACH {quoted_text(str(path))} AS attached ({mode})")
    except duckdb.Error as error:
        words = str(error)
        used = isinstance(error, duckdb.ResourceInUseException) or "lock" in words
        why = "another program has it open; close it there first" if used else write_failure(error)
        raise InputError(f"{path} cannot be opened: {why}.") from None


def _find(connection: duckdb.DuckDBPyConnection, path: Path, table: str | None) -> tuple[str, str]:
    """Return a table's schema and name, quoted; the only table unless one is named."""
    tables = _tables(connection)
    if table is not None:
        tables = [(schema, name) for schema, name in tables if table in (f"{schema}.{name}", name)]
        if not tables:
            raise InputError(f"{path}: there is no table of this name.")
    if len(tables) != 1:
        raise InputError(f"{path} has {len(tables)} tables that may be meant; name one as {path}?table=NAME.")
    schema, name = tables[0]
    return quoted_name(schema), quoted_name(name)


def _tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    rows = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'attached' UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'attached' AND NOT internal"
    ).fetchall()
    return [(str(schema), str(name)) for schema, name in rows]


def stored_tables(path: Path) -> list[str]:
    """Return the names of the tables and views of a DuckDB or SQLite file, with their schemas where they have any."""
    with path.open("rb") as stream:
        head = stream.read(len(sqlite.MAGIC))
    if head == sqlite.MAGIC:
        with sqlite.sqlite_session(path) as session:
            return sqlite.table_names(session)
    if head[8:12] != _MAGIC:
        raise InputError(f"{path} is neither a SQLite nor a DuckDB file.")
    connection = connect()
    _attach(connection, path, "READ_ONLY")
    return sorted(name if schema == "main" else f"{schema}.{name}" for schema, name in _tables(connection))


class NewDuckDbTable:
    """A new table of a DuckDB file; nobody sees it until it is committed."""

    def __init__(self, path: Path, table: str) -> None:
        self._path, self._name, self._shown = path, table, f"{path}?table={table}"
        self._is_new_file = not path.exists()
        self._table, self._is_committed = f"attached.main.{quoted_name(table)}", False
        self._connection = connect()
        _attach(self._connection, path, "READ_WRITE")
        self._connection.execute("BEGIN")

    def require_new(self) -> None:
        """Refuse a table that is there."""
        tables = "SELECT lower(table_name) FROM duckdb_tables() WHERE database_name = 'attached'"
        if (self._name.lower(),) in self._connection.execute(tables).fetchall():
            raise OutputError(
                f"{self._shown}: the table is there already, and no table is ever replaced; name a new one."
            )

    def fill(self, frame: Any) -> None:
        """Make the table and write the rows of a frame into it, as they are published."""
        rows = published_batches(frame)
        refuse_alike_names(rows.schema.names)
        with self._failures():
            self._connection.from_arrow(rows).query(
                "new_rows", f"CREATE TABLE {self._table} AS FROM new_rows"
            )

    @property
    def rows(self) -> duckdb.DuckDBPyRelation:
        """The rows as they lie in the table."""
        return ours(self._connection.sql(f"SELECT * FROM {self._table}"))

    def commit(self) -> None:
        """Publish the table."""
        with self._failures():
            self._connection.execute("COMMIT")
        self._is_committed = True

    def withdraw(self) -> None:
        """Remove the table, whether it was committed or not, and the file if it was made for it."""
        self._connection.execute(f"DROP TABLE {self._table}" if self._is_committed else "ROLLBACK")
        tables = "SELECT 1 FROM duckdb_tables() WHERE database_name = 'attached' LIMIT 1"
        is_empty = not self._connection.execute(tables).fetchall()
        self.close()
        if self._is_new_file and is_empty:
            for path in (self._path, self._path.with_name(f"{self._path.name}.wal")):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise OutputError(f"{self._shown} cannot be written: {write_failure(error)}.") from None


class LockedTable:
    """A table in an engine of its own, from which no file, no network and no setting can be reached.

    Examples
    --------
    >>> table = LockedTable(pa.table({"e": [0, 1, 2], "c0": [7, 8, 9]}), timeout=5)
    >>> table.column("SELECT e FROM elements WHERE c0 > ?", [7]).tolist()
    [1, 2]
    >>> table.close()
    """

    def __init__(self, rows: pa.Table, *, timeout: float) -> None:
        self.timeout = timeout
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": _MEMORY,
                "threads": _THREADS,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "allow_community_extensions": False,
                "temp_directory": "",
            },
        )
        self._connection.from_arrow(rows).create("elements")
        # Once the rows are in: from here on nothing outside can be reached, and no setting changed back.
        for setting in ("enable_progress_bar = false", "TimeZone = 'UTC'", "enable_external_access = false"):
            self._connection.execute(f"SET {setting}")
        self._connection.execute("SET lock_configuration = true")

    def column(self, sql: str, parameters: Sequence[Any]) -> Any:
        """Run a query with bound parameters over ``elements``; return its first column as an array.

        A query that takes too long is a TimeoutError, one that the engine cannot run an InputError.
        """
        timer = threading.Timer(self.timeout, self._connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            return next(iter(self._connection.execute(sql, parameters).fetchnumpy().values()))
        except duckdb.InterruptException:
            raise TimeoutError from None
        except duckdb.Error as error:
            raise InputError(f"The engine cannot run the query ({type(error).__name__}).") from None
        finally:
            timer.cancel()

    def close(self) -> None:
        """Close the engine."""
        self._connection.close()
