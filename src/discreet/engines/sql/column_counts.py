"""What is counted of columns, each by itself: over its different values, and of all columns in one query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from discreet.core.engine import Facts, ValueType
from discreet.core.tables.source import Singletons
from discreet.engines.sql.source import has_identifier, is_formula


class ColumnCounts(NamedTuple):
    """Rows, rows with a value, different values, values of one row; means and span; formulas and likely identifiers."""

    n_rows: int
    n_known: int
    n_distinct: int
    n_singletons: int
    length: float
    words: float
    span: float | None
    n_formulas: int
    n_likely: int

    def facts(self, name: str, type_: ValueType) -> Facts:
        """Return what is said about the column."""
        n_missing = self.n_rows - self.n_known
        return Facts(name, type_, self.n_rows, n_missing, self.n_distinct, self.length, self.words, self.span)

    @property
    def singletons(self) -> Singletons:
        """The rows with a value that no other row has."""
        return Singletons(self.n_singletons, self.n_known, self.n_distinct)


def counts_query(columns: Mapping[str, ValueType], expression: str) -> str:
    """Write the query of the counts of columns, a line for each.

    Rows with the same value are brought together first, so that each different value is looked at once.
    """
    return " UNION ALL ".join(
        _counts(at, column, type_, expression) for at, (column, type_) in enumerate(columns.items())
    )


def column_counts(lines: pa.Table) -> list[ColumnCounts]:
    """Return what the query counted, in the order of its columns."""
    rows: list[dict[str, Any]] = lines.sort_by(lines.column_names[0]).to_pylist()
    return [ColumnCounts(*list(row.values())[1:]) for row in rows]


def _counts(at: int, column: str, type_: ValueType, expression: str) -> str:
    cells = dict.fromkeys(ColumnCounts._fields, "CAST(0 AS BIGINT)")
    cells |= {"length": "CAST(0 AS DOUBLE)", "words": "CAST(0 AS DOUBLE)", "span": "CAST(NULL AS DOUBLE)"}
    cells["n_rows"] = _total("n")
    if type_ == "nested":
        # Nothing is counted of what is neither judged nor published; some of it cannot be compared.
        return _line(at, cells, "SELECT count(*) AS n FROM source")
    cells["n_known"] = _total("CASE WHEN value IS NOT NULL THEN n END")
    cells["n_distinct"] = "CAST(count(value) AS BIGINT)"
    cells["n_singletons"] = _total("CASE WHEN n = 1 AND value IS NOT NULL THEN 1 END")
    if type_ == "text":
        n_spaces = "(length(value) - length(replace(value, ' ', '')))"
        cells["length"], cells["words"] = _mean("length(value)"), _mean(n_spaces)
        cells["n_formulas"] = _total(f"CASE WHEN {is_formula('value')} THEN n END")
    elif type_ == "whole":
        cells["span"] = "CAST(max(value) AS DOUBLE) - CAST(min(value) AS DOUBLE)"
    if type_ in ("text", "whole") and expression:
        likely = has_identifier("value", expression, is_text=type_ == "text")
        cells["n_likely"] = _total(f"CASE WHEN {likely} THEN 1 END")
    return _line(at, cells, f"SELECT {column} AS value, count(*) AS n FROM source GROUP BY {column}")


def _line(at: int, cells: Mapping[str, str], values: str) -> str:
    listed = ", ".join(f"{cell} AS {name}" for name, cell in cells.items())
    return f"SELECT {at} AS place, {listed} FROM ({values}) AS counted"


def _total(count: str) -> str:
    return f"CAST(coalesce(sum({count}), 0) AS BIGINT)"


def _mean(size: str) -> str:
    return f"CAST(coalesce(sum(n * {size}) / sum(CASE WHEN value IS NOT NULL THEN n END), 0) AS DOUBLE)"
