"""The data behind a vault: a file, a folder of Parquet files or a table of a DuckDB file, and its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.errors import InputError, SchemaError
from discreet.engines.duckdb.connection import connect, identifier, literal
from discreet.engines.files import read, require_file

_DATABASES = (".duckdb", ".ddb")
_BLOCK = 1 << 20


def fetch(path: Path, columns: Sequence[str], *, table: str | None = None) -> pa.Table:
    """Return some columns of the data as an Arrow table, in the order of its rows."""
    import duckdb

    try:
        relation = _relation(path, table)
        missing = [name for name in columns if name not in relation.columns]
        if missing:
            raise SchemaError(f"{path} has no column {', '.join(repr(name) for name in missing)}.")
        fetched = relation.project(", ".join(identifier(name) for name in columns)).to_arrow_table()
    except duckdb.Error as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}).") from None
    if not fetched.num_rows:
        raise InputError(f"{path} has columns but no rows.")
    return fetched


def fingerprint(path: Path) -> str:
    """Return a digest of the data's bytes; it changes when any of them does."""
    digest = hashlib.sha256()
    files = _parquet_files(path) if path.is_dir() else [path]
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    if path.suffix.lower() in _DATABASES and path.with_name(path.name + ".wal").exists():
        raise InputError(f"{path} has changes that are not written to it yet; close what writes to it first.")
    for file in files:
        digest.update(f"{file.relative_to(path) if path.is_dir() else ''}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _relation(path: Path, table: str | None) -> Any:
    if path.is_dir():
        names = ", ".join(literal(str(file)) for file in _parquet_files(path))
        return connect().sql(f"SELECT * FROM read_parquet([{names}], hive_partitioning = false)")  # noqa: S608
    if path.suffix.lower() in _DATABASES:
        return _database_table(path, table)
    if table is not None:
        raise SchemaError("A table is named only where the data is a DuckDB file.")
    return read(path)


def _database_table(path: Path, table: str | None) -> Any:
    require_file(path)
    connection = connect()
    connection.execute(f"ATTACH {literal(str(path))} AS held (READ_ONLY)")
    tables = [
        str(name)
        for (name,) in connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'held' AND schema_name = 'main'"
        ).fetchall()
    ]
    if table is None and len(tables) != 1:
        raise SchemaError(f"{path} has {len(tables)} tables; name one of them.")
    chosen = table or tables[0]
    if chosen not in tables:
        raise SchemaError(f"{path} has no table {chosen!r}.")
    return connection.sql(f"SELECT * FROM held.main.{identifier(chosen)} ORDER BY rowid")  # noqa: S608


def _parquet_files(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*.parquet") if file.is_file())
    if not files:
        raise InputError(f"{folder} holds no Parquet file.")
    return files
