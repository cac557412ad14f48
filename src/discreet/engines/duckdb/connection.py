"""The embedded DuckDB: one private, offline, memory-bounded connection per table, and what SQL is made of."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import duckdb
import pyarrow as pa

from discreet.core.engine import TextLayout
from discreet.core.errors import InputError
from discreet.core.params import require
from discreet.engines.atomic import scratch_folder
from discreet.engines.formats import DateOrder
from discreet.engines.sql.source import quoted_text
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


TUPLE_BYTES = 128
"""How much memory a distinct tuple takes at the most while a search gets it."""
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def most_tuples() -> int:
    """Return how many distinct tuples may be held: what DISCREET_MEMORY has room for, else half of the machine's."""
    limit = os.environ.get(MEMORY_VARIABLE)
    if limit is not None and _Size().admits(limit):
        number = float(re.split(r"[\sKMGT]", limit, maxsplit=1, flags=re.IGNORECASE)[0])
        return int(number * _UNITS[limit.strip("iBb")[-1].upper()]) // TUPLE_BYTES
    machine = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * 10**9
    )
    return machine // 2 // TUPLE_BYTES


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


_BATCH = 250_000


class _Relations:
    """What is known about relations that were made here, for as long as somebody has them."""

    def __init__(self) -> None:
        self.ours: WeakSet[Any] = WeakSet()
        """Those of our own connections, where nobody chose a collation."""
        self.unsorted: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        """The rows of those that `query_sorted` made, before they were sorted."""
        self.rows: WeakKeyDictionary[Any, pa.Table] = WeakKeyDictionary()
        """The rows of those that show a table in memory and nothing else."""


_made = _Relations()


def ours(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Note that a relation comes from a connection of ours; return it."""
    _made.ours.add(relation)
    return relation


def is_ours(relation: duckdb.DuckDBPyRelation) -> bool:
    """Whether a relation comes from a connection of ours, so that nobody chose a collation for its texts."""
    return relation in _made.ours


def showing(relation: duckdb.DuckDBPyRelation, rows: pa.Table | None) -> duckdb.DuckDBPyRelation:
    """Note that a relation shows rows in memory, which need not be fetched; return it."""
    if rows is not None:
        _made.rows[relation] = rows
    return relation


def rows_shown(relation: duckdb.DuckDBPyRelation) -> pa.Table | None:
    """Return the rows in memory that a relation shows; None where the engine has them."""
    return _made.rows.get(relation)


def in_any_order(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the same rows without sorting them, where `query_sorted` made the relation: counting needs no order.

    The engine would sort all rows again for every query.
    """
    unsorted: duckdb.DuckDBPyRelation = _made.unsorted.get(relation, relation)
    return unsorted


def query(
    relation: duckdb.DuckDBPyRelation, sql: str, mapping: pa.Table | None = None
) -> duckdb.DuckDBPyRelation:
    """Query a relation under the name ``source``, with an Arrow table at hand under the name ``mapping``.

    Both reach the engine under names drawn at random, so that no table of the user's connection is taken for them.
    """
    drawn = secrets.token_hex(8)
    source, table = f"discreet_source_{drawn}", f"discreet_mapping_{drawn}"
    names = [f"source AS NOT MATERIALIZED (SELECT * FROM {source})"]
    if mapping is not None:
        names.append(f"mapping AS NOT MATERIALIZED (SELECT * FROM {table})")
    # The engine looks for an unknown table among the variables of the function that calls it. A function with global
    # variables of its own, the Arrow table alone, shows it that one and leaves nothing behind.
    planned = FunctionType(_query.__code__, {table: mapping})
    try:
        result: duckdb.DuckDBPyRelation = planned(relation, source, f"WITH {', '.join(names)} {sql}")
    except duckdb.Error as error:
        raise InputError(f"The engine could not plan a query ({type(error).__name__}).") from None
    return result


def _query(relation: duckdb.DuckDBPyRelation, name: str, sql: str) -> duckdb.DuckDBPyRelation:
    return relation.query(name, sql)


def in_secret_order(relation: duckdb.DuckDBPyRelation, secret: int) -> duckdb.DuckDBPyRelation:
    """Return a relation's rows in an order that follows from a secret number of up to 256 bits, lazily."""
    number = f"discreet_place_{secrets.token_hex(8)}"
    numbered = query(relation, f"SELECT *, row_number() OVER () AS {number} FROM source")
    return query(
        numbered, f"SELECT * EXCLUDE ({number}) FROM source ORDER BY sha256('{secret:064x}' || {number})"
    )


def query_sorted(relation: duckdb.DuckDBPyRelation, sql: str, key: str) -> duckdb.DuckDBPyRelation:
    """Query a relation and sort its rows by a key."""
    result = query(relation, f"{sql} ORDER BY {key}")
    _made.unsorted[result] = query(relation, sql)
    return result


def schema_of(relation: duckdb.DuckDBPyRelation) -> pa.Schema:
    """Return the schema of a relation's rows as they leave the engine."""
    return relation.limit(0).to_arrow_table().schema


def fetch_batches(relation: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
    """Fetch a relation's rows, batch by batch."""
    try:
        yield from relation.to_arrow_reader(_BATCH)
    except duckdb.OutOfMemoryException:
        raise InputError(
            f"The engine ran out of memory, or of disk for temporary files: set {MEMORY_VARIABLE} to more, or TMPDIR "
            "to a folder with more room."
        ) from None
    except (duckdb.Error, pa.ArrowException) as error:
        raise InputError(f"The engine could not read the table ({type(error).__name__}).") from None
