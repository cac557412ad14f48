"""Rows in several files or in a database: folders of Parquet files, tables of DuckDB files, a locked engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.core.errors import InputError, SchemaError
from discreet.engines.duckdb.connection import connect
from discreet.engines.sql.source import quoted_name, quoted_text

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
