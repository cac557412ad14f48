"""The embedded DuckDB: one private, offline, memory-bounded connection per table."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from discreet.core.params import require
from discreet.engines.scratch import private_folder
from discreet.kernels.threads import processors

DEFAULT_MEMORY = "700MB"
MEMORY_VARIABLE = "DISCREET_MEMORY"


@dataclass(frozen=True)
class _Size:
    """A size such as 500MB or 2GB."""

    def admits(self, value: object) -> bool:
        return isinstance(value, str) and bool(re.fullmatch(r"\d+(\.\d+)?\s*[KMGT]i?B", value, re.IGNORECASE))

    def __str__(self) -> str:
        return "a size such as '500MB' or '2GB'"


def connect(memory: str | None = None, *, threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """Open an in-memory DuckDB that spills to a private folder and never reaches the network.

    Parameters
    ----------
    memory : str, optional
        How much memory DuckDB may use; by default what DISCREET_MEMORY in the environment says, else 700MB.
    threads : int, optional
        How many threads it may use; by default as many as there are processors.
    """
    limit = memory or os.environ.get(MEMORY_VARIABLE) or DEFAULT_MEMORY
    require("connect", "memory", limit, _Size())
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": limit,
            "threads": threads or processors(),
            "temp_directory": str(private_folder()),
            "preserve_insertion_order": True,
            "allocator_background_threads": True,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
        },
    )
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def identifier(name: str) -> str:
    """Quote a column or table name for SQL.

    >>> identifier('the "zip" code')
    '"the ""zip"" code"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: os.PathLike[str]) -> str:
    """Quote a file name for SQL, so that no character of it is taken as a wildcard."""
    return literal("".join(f"[{char}]" if char in "*?[" else char for char in os.fspath(path)))


def keep_with(connection: Any, name: str, plain: Mapping[str, Any]) -> None:
    """Keep plain data with a connection, for the relations that come from it."""
    connection.execute(f"SET VARIABLE {name} = {literal(json.dumps(plain))}")


def kept_with(frame: Any, name: str) -> dict[str, Any] | None:
    """Return what was kept with the connection of a relation; None where nothing was, or for another frame."""
    if type(frame).__module__.split(".")[0].lstrip("_") != "duckdb":
        return None
    ((kept,),) = frame.query("__frame", f"SELECT getvariable('{name}')").fetchall()
    plain: dict[str, Any] | None = None if kept is None else json.loads(kept)
    return plain
