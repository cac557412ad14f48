"""The different cells of text columns, and small files as columns of codes: each different cell is tested once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa

from discreet.core.tables.encoding import whole_array
from discreet.engines.duckdb.connection import Conventions
from discreet.engines.duckdb.inference import Inferred, infer

RAW, DISTINCT = "raw", "distinct_values"
"""The tables of all cells as texts, and of the different ones."""
SMALLEST = 1 << 17
"""The fewest rows whose different cells are collected first in a table."""
_SAMPLE = 1 << 13
_COUNTED_AT_ONCE = 32


def distinct_values(connection: duckdb.DuckDBPyConnection, cells: Sequence[str]) -> dict[str, str]:
    """Collect the distinct values of columns that seem to have few; return the table of each such column.

    What is tested of a column's values, whether they have white space around them and what types they are of, is the
    same of the distinct ones, which are tested in no time. The shorter columns of the table end in nulls.
    """
    few = _repeated(connection, cells)
    if few:
        lists = ", ".join(f"unnest(list(DISTINCT {cell})) AS {cell}" for cell in few)
        connection.execute(f"CREATE TABLE {DISTINCT} AS SELECT {lists} FROM {RAW}")
    return dict.fromkeys(few, DISTINCT)


def _repeated(connection: duckdb.DuckDBPyConnection, cells: Sequence[str]) -> list[str]:
    sample: list[int] = []
    # DuckDB sets a megabyte aside for every column whose different values it counts.
    for first in range(0, len(cells), _COUNTED_AT_ONCE):
        counts = ", ".join(f"count(DISTINCT {cell})" for cell in cells[first : first + _COUNTED_AT_ONCE])
        (row,) = connection.execute(f"SELECT {counts} FROM (SELECT * FROM {RAW} LIMIT {_SAMPLE})").fetchall()
        sample += row
    return [cell for cell, count in zip(cells, sample, strict=True) if count <= _SAMPLE // 8]


def padded_cells(
    connection: duckdb.DuckDBPyConnection, cells: Sequence[str], distinct: Mapping[str, str]
) -> dict[str, bool]:
    """Return for each column whether white space is at the end of any of its cells."""
    edge = "[\\s\\v\\x{A0}]"
    answers: dict[str, bool] = {}
    for table in (RAW, DISTINCT):
        tested = [cell for cell in cells if distinct.get(cell, RAW) == table]
        tests = ", ".join(f"bool_or(regexp_matches({cell}, '^{edge}|{edge}$'))" for cell in tested)
        if tested:
            (row,) = connection.execute(f"SELECT {tests} FROM {table}").fetchall()
            answers |= dict(zip(tested, row, strict=True))
    return answers


def coded_rows(
    connection: duckdb.DuckDBPyConnection,
    rows: pa.Table,
    free: Sequence[str],
    conventions: Conventions,
) -> tuple[pa.Table, Inferred] | None:
    """Return the rows of ``raw``, which are in memory, in the types they are of; None where cells must be trimmed.

    A column with few different cells becomes a dictionary of them. Each is tested, and converted, once.
    """
    cells = rows.column_names
    coded = {
        cell: whole_array(rows.column(cell).dictionary_encode()) for cell in _repeated(connection, cells)
    }
    columns = {cell: coded.get(cell, rows.column(cell)) for cell in cells}
    longest = max((len(column.dictionary) for column in coded.values()), default=0)
    if coded:
        connection.register(
            DISTINCT, pa.table({cell: _filled(column.dictionary, longest) for cell, column in coded.items()})
        )
    distinct = dict.fromkeys(coded, DISTINCT)
    try:
        if any(padded_cells(connection, cells, distinct).values()):
            return None
        inferred = infer(connection, RAW, free, conventions, distinct)
        for table in (RAW, DISTINCT):
            changed = {
                cell: expression
                for cell, expression in inferred.expressions.items()
                if expression != cell and distinct.get(cell, RAW) == table
            }
            if changed:
                chosen = ", ".join(f"{expression} AS {cell}" for cell, expression in changed.items())
                typed = connection.sql(f"SELECT {chosen} FROM {table}").to_arrow_table()
                for cell in changed:
                    values = whole_array(typed.column(cell))
                    columns[cell] = values.take(coded[cell].indices) if table == DISTINCT else values
    finally:
        if coded:
            connection.unregister(DISTINCT)
    return pa.table(columns), inferred


def _filled(values: pa.Array, length: int) -> pa.Array:
    return pa.concat_arrays([values, pa.nulls(length - len(values), values.type)])
