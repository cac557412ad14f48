"""Facts and counts about the columns of a relation, in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.engine import Facts, ValueType, sorted_counts
from discreet.core.tables.encoding import combined
from discreet.engines.duckdb.admission import is_unpublishable
from discreet.engines.duckdb.connection import identifier

if TYPE_CHECKING:
    import duckdb

_EXACT_ROWS = 1_000_000
_CELLS_AT_ONCE = 4_000_000
_COLUMNS_AT_ONCE = 32
_WHOLE = {
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
}
_NUMBER_LIMIT = 1e308


def value_type(type_: str) -> ValueType:
    """Return what the values of a type of the engine are.

    >>> [value_type(name) for name in ("UBIGINT", "DECIMAL(18,3)", "TIMESTAMP", "INTEGER[]", "BIT")]
    ['whole', 'real', 'date', 'nested', 'other']
    """
    if is_unpublishable(type_):
        return "nested"
    if type_ in _WHOLE:
        return "whole"
    if type_.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        return "real"
    if type_.startswith(("DATE", "TIME")):
        return "date"
    if type_ == "VARCHAR":
        return "text"
    return "uuid" if type_ == "UUID" else "other"


def value_types(relation: duckdb.DuckDBPyRelation) -> dict[str, ValueType]:
    """Return what the values of each column are."""
    return {
        name: value_type(str(type_)) for name, type_ in zip(relation.columns, relation.types, strict=True)
    }


def facts(relation: duckdb.DuckDBPyRelation) -> list[Facts]:
    """Count what can be said about each column, some columns in each pass.

    Counting different values takes memory for every column that is counted at once, a few megabytes even where
    there are few rows. So the number of columns in a pass is bounded.
    """
    columns = list(value_types(relation).items())
    (n_rows,) = relation.aggregate("count(*)").fetchall()[0]
    exact = n_rows <= _EXACT_ROWS
    counted: list[Facts] = []
    for part in _parts(columns, n_rows if exact else 1):
        questions = [sql for name, type_ in part for sql in _questions(identifier(name), type_, exact=exact)]
        answers = iter(relation.aggregate(", ".join(questions)).fetchall()[0])
        for name, type_ in part:
            n_known, n_distinct, *rest = (next(answers) for _ in range(5))
            counted.append(Facts(name, type_, n_rows, n_rows - n_known, n_distinct, *rest))
    return counted


def value_sets(relation: duckdb.DuckDBPyRelation, names: Sequence[str]) -> dict[str, frozenset[Any]]:
    """Return the different values of columns that have few of them."""
    sets: dict[str, frozenset[Any]] = {}
    for part in _parts(names, 1):
        lists = relation.aggregate(
            ", ".join(f"list(DISTINCT {identifier(name)})" for name in part)
        ).fetchall()[0]
        sets |= {name: frozenset(values or ()) - {None} for name, values in zip(part, lists, strict=True)}
    return sets


def value_counts(relation: duckdb.DuckDBPyRelation, name: str) -> tuple[pa.Array, IntArray]:
    """Return the different values of a column in order, null left out, and how often each occurs."""
    column = identifier(name)
    counted = relation.aggregate(f"{column} AS value, count(*)::BIGINT AS rows", column)
    table = counted.filter("value IS NOT NULL").to_arrow_table()
    return sorted_counts(combined(table["value"]), table["rows"])


def outside_counts(
    relation: duckdb.DuckDBPyRelation, ranges: Mapping[str, tuple[float, float]]
) -> tuple[int, dict[str, tuple[int, int]]]:
    """Count, in one pass, the rows, and the values of columns that are no finite numbers or lie out of range."""
    aggregates = ["count(*)"]
    for name, ends in ranges.items():
        cell = f"CAST({identifier(name)} AS DOUBLE)"
        low, high = (repr(min(max(float(end), -_NUMBER_LIMIT), _NUMBER_LIMIT)) for end in ends)
        aggregates += [
            f"count(*) FILTER (WHERE {cell} IS NULL OR NOT isfinite({cell}))",
            f"count(*) FILTER (WHERE isfinite({cell}) AND ({cell} < {low} OR {cell} > {high}))",
        ]
    n_rows, *counts = relation.aggregate(", ".join(aggregates)).fetchall()[0]
    return int(n_rows), dict(zip(ranges, zip(counts[::2], counts[1::2], strict=True), strict=True))


def _parts(columns: Sequence[Any], n_rows: int) -> Iterator[Sequence[Any]]:
    at_once = max(1, min(_COLUMNS_AT_ONCE, _CELLS_AT_ONCE // max(n_rows, 1)))
    for start in range(0, len(columns), at_once):
        yield columns[start : start + at_once]


def _questions(column: str, type_: ValueType, *, exact: bool) -> list[str]:
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    text = ["0.0", "0.0"]
    span = "NULL"
    if type_ == "text":
        text = [
            f"coalesce(avg(length({column})), 0)",
            f"coalesce(avg(length({column}) - length(replace({column}, ' ', ''))), 0)",
        ]
    elif type_ == "whole":
        span = f"max({column})::DOUBLE - min({column})::DOUBLE"
    return [f"count({column})", distinct, *text, span]
