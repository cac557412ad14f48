"""The data behind a vault: a file, a folder of Parquet files or a table of a DuckDB file, and its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.engine import arrow_table, engine_of
from discreet.core.errors import InputError, SchemaError
from discreet.engines.files import read, require_file

_DATABASES = (".duckdb", ".ddb")
_BLOCK = 1 << 20


def fetch(path: Path, columns: Sequence[str], *, table: str | None = None) -> pa.Table:
    """Return some columns of the data as an Arrow table, in the order of its rows."""
    from discreet.engines.duckdb.databases import reading_errors

    with reading_errors(path):
        frame = _frame(path, table)
        engine = engine_of(frame)
        held = engine.value_types(frame)
        missing = [name for name in columns if name not in held]
        if missing:
            raise SchemaError(f"{path} has no column {', '.join(repr(name) for name in missing)}.")
        fetched = arrow_table(engine.select(frame, columns))
    if not fetched.num_rows:
        raise InputError(f"{path} has columns but no rows.")
    return fetched


def data_fingerprint(path: Path) -> str:
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


def _frame(path: Path, table: str | None) -> Any:
    from discreet.engines.duckdb.databases import database_table, parquet_rows

    if path.is_dir():
        return parquet_rows(_parquet_files(path))
    if path.suffix.lower() in _DATABASES:
        require_file(path)
        return database_table(path, table)
    if table is not None:
        raise SchemaError("A table is named only where the data is a DuckDB file.")
    return read(path)


def _parquet_files(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*.parquet") if file.is_file())
    if not files:
        raise InputError(f"{folder} holds no Parquet file.")
    return files
