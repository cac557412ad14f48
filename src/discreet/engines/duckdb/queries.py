"""Queries on a relation: our names for it and for a small table beside it, which nothing of the user's can have."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import duckdb
import pyarrow as pa

from discreet.core.errors import InputError

_BATCH = 250_000


class _Relations:
    """What is known about relations that were made here, for as long as somebody has them."""

    def __init__(self) -> None:
        self.ours: WeakSet[Any] = WeakSet()
        """Those of our own connections, where nobody chose a collation."""
        self.unsorted: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        """The rows of those that `run_sorted` made, before they were sorted."""


_made = _Relations()


def ours(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Note that a relation comes from a connection of ours; return it."""
    _made.ours.add(relation)
    return relation


def is_ours(relation: duckdb.DuckDBPyRelation) -> bool:
    """Whether a relation comes from a connection of ours, so that nobody chose a collation for its texts."""
    return relation in _made.ours


def in_any_order(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the same rows without sorting them, where `run_sorted` made the relation: counting needs no order.

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
    except (duckdb.Error, pa.ArrowException) as error:
        raise InputError(f"The engine could not read the table ({type(error).__name__}).") from None
