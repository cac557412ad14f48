"""Columns of numbers in a relation: which they are, which of their values noise cannot hide, and their batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from discreet.engines.duckdb.connection import identifier
from discreet.engines.duckdb.queries import batches

if TYPE_CHECKING:
    import duckdb

_INTEGERS = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
_NUMBERS = {*_INTEGERS, "INTEGER", "UINTEGER", "FLOAT", "DOUBLE"}


def is_numeric(type_: str) -> bool:
    """Whether a column of the engine's type holds numbers."""
    return type_ in _NUMBERS or (type_.startswith("DECIMAL(") and type_.endswith(")"))


def with_doubles(
    relation: duckdb.DuckDBPyRelation, numbers: Collection[str], *, dropped: Collection[str] = ()
) -> duckdb.DuckDBPyRelation:
    """Return a relation without the dropped columns, and with those of numbers in double precision."""
    cells = (
        f"{_double(name)} AS {identifier(name)}" if name in numbers else identifier(name)
        for name in relation.columns
        if name not in dropped
    )
    return relation.project(", ".join(cells))


def without(relation: duckdb.DuckDBPyRelation, names: Collection[str]) -> duckdb.DuckDBPyRelation | None:
    """Return a relation without some columns; None where no other is left."""
    others = [identifier(name) for name in relation.columns if name not in names]
    return relation.project(", ".join(others)) if others else None


def count_unfit(
    relation: duckdb.DuckDBPyRelation, ranges: Mapping[str, tuple[float | None, float | None]]
) -> tuple[int, dict[str, tuple[int, int]]]:
    """Count the rows, and in each column what is null, NaN or infinite and what lies outside its range; one pass."""
    aggregates = ["count(*)"]
    for name, (low, high) in ranges.items():
        cell = _double(name)
        lowest = "-1e308" if low is None else repr(float(low))
        highest = "1e308" if high is None else repr(float(high))
        aggregates += [
            f"count(*) FILTER (WHERE {cell} IS NULL OR NOT isfinite({cell}))",
            f"count(*) FILTER (WHERE isfinite({cell}) AND ({cell} < {lowest} OR {cell} > {highest}))",
        ]
    n_rows, *counts = relation.aggregate(", ".join(aggregates)).fetchall()[0]
    return int(n_rows), dict(zip(ranges, zip(counts[::2], counts[1::2], strict=True), strict=True))


def doubles(relation: duckdb.DuckDBPyRelation, name: str) -> Iterator[pa.Array]:
    """Fetch a column of numbers in double precision, batch by batch."""
    for batch in batches(relation.project(f"{_double(name)} AS {identifier(name)}")):
        yield batch.column(0)


def _double(name: str) -> str:
    return f"CAST({identifier(name)} AS DOUBLE)"
