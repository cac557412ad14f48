"""Cells that a spreadsheet would run, in relations: made harmless and counted by the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from discreet.core.errors import SchemaError
from discreet.core.tables.spreadsheet import FORMULA, NUMBER, QUOTED, formula_names
from discreet.engines.duckdb.connection import quoted_name, quoted_text
from discreet.engines.duckdb.queries import in_any_order, query

if TYPE_CHECKING:
    import duckdb


def defused_cell(cell: str, type_: str) -> str:
    """Write a cell with an apostrophe before a text that a spreadsheet would run; other cells stay."""
    if type_ != "VARCHAR":
        return cell
    return f"CASE WHEN {_runs(cell, QUOTED)} THEN '''' || {cell} ELSE {cell} END"


def defused_relation(frame: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation with an apostrophe before every text that a spreadsheet would run; such a name is refused."""
    if formula_names(pa.array(frame.columns, pa.string())):
        raise SchemaError("The name of a column starts as a formula of a spreadsheet does; rename it.")
    cells = [
        f"{defused_cell(f'c{number}', str(type_))} AS {quoted_name(name)}"
        for number, (name, type_) in enumerate(zip(frame.columns, frame.types, strict=True))
    ]
    columns = ", ".join(f"c{number}" for number in range(len(cells)))
    return query(frame, f"SELECT {', '.join(cells)} FROM source AS defused({columns})")


def count_formulas(frame: duckdb.DuckDBPyRelation) -> int:
    """Count the cells and column names of a relation that a spreadsheet would run."""
    texts = [
        number
        for number, type_ in enumerate(frame.types)
        if str(type_) == "VARCHAR" or str(type_).startswith("ENUM")
    ]
    names = formula_names(pa.array(frame.columns, pa.string()))
    if not texts:
        return names
    columns = ", ".join(f"c{number}" for number in range(len(frame.columns)))
    counts = " + ".join(
        f"count(*) FILTER (WHERE {_runs(f'CAST(c{number} AS VARCHAR)', FORMULA)})" for number in texts
    )
    totals = query(in_any_order(frame), f"SELECT {counts} FROM source AS counted({columns})").fetchall()
    return names + int(totals[0][0])


def _runs(cell: str, pattern: str) -> str:
    """Write whether a spreadsheet would run a text; the engine reads the same regular expressions as Arrow."""
    formula = f"regexp_matches({cell}, {quoted_text(pattern)})"
    return f"({formula} AND NOT regexp_matches({cell}, {quoted_text(NUMBER)}))"
