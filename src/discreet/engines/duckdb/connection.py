"""The embedded DuckDB: one private, offline, memory-bounded connection per table."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass

import duckdb

from discreet.core.engine import TextLayout
from discreet.core.params import require
from discreet.engines.formats import DateOrder
from discreet.engines.scratch import scratch_folder
from discreet.kernels.threads import processors

DEFAULT_MEMORY = "700MB"
MEMORY_VARIABLE = "DISCREET_MEMORY"
_ORIGIN = "discreet_origin"


@dataclass(frozen=True)
class Conventions:
    """How a file writes numbers and dates, as far as it is known beforehand."""

    delimiter: str = ","
    decimal: str | None = None
    thousands: str | None = None
    dates: DateOrder | None = None


@dataclass(frozen=True)
class Inference:
    """How the types of a file were found in its values: by which conventions, and which columns stayed text."""

    conventions: Conventions
    text: tuple[str, ...]


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
            "temp_directory": str(scratch_folder()),
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


def quoted_name(name: str) -> str:
    """Quote a column or table name for SQL.

    >>> quoted_name('the "zip" code')
    '"the ""zip"" code"'
    """
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Quote a text for SQL.

    >>> quoted_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quoted_file(path: os.PathLike[str]) -> str:
    """Quote a file name for SQL, so that no character of it is taken as a wildcard."""
    return quoted_text("".join(f"[{char}]" if char in "*?[" else char for char in os.fspath(path)))


@dataclass(frozen=True)
class Origin:
    """What is known about the file that a connection holds: how its text was laid out, and how types were found."""

    layout: TextLayout | None = None
    inference: Inference | None = None


def keep_origin(connection: duckdb.DuckDBPyConnection, origin: Origin) -> None:
    """Keep the origin of the rows with their connection.

    A relation that the user derives from one of ours has nothing in common with it but the connection. So the fields
    travel as one variable of the connection, and are read back by `origin_of` alone.
    """
    connection.execute(f"SET VARIABLE {_ORIGIN} = {quoted_text(json.dumps(asdict(origin)))}")


def origin_of(relation: duckdb.DuckDBPyRelation) -> Origin:
    """Return the origin of a relation's rows, also after selections and filters; an empty one where none is known."""
    ((fields,),) = relation.query("__frame", f"SELECT getvariable('{_ORIGIN}')").fetchall()
    if fields is None:
        return Origin()
    layout, inference = json.loads(fields).values()
    return Origin(
        None if layout is None else TextLayout(**layout),
        None
        if inference is None
        else Inference(Conventions(**inference["conventions"]), tuple(inference["text"])),
    )
