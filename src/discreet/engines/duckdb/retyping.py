"""Types of columns that were read from text: given again to written files, and compared with those of fewer rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from discreet.core.errors import OutputError
from discreet.engines.duckdb.connection import Inference, quoted_name
from discreet.engines.duckdb.inference import infer
from discreet.engines.duckdb.queries import query

_WHOLE = "{x} IS NULL OR ({x} = floor({x}) AND abs({x}) < 1e15)"


def cast_to_types(
    relation: duckdb.DuckDBPyRelation, types: Mapping[str, pa.DataType], *, decimal: str
) -> duckdb.DuckDBPyRelation:
    """Choose columns of a written file, and cast those that were read as text to the types they had."""
    empty = pa.table({name: pa.array([], type_) for name, type_ in types.items()})
    engine_types = [str(type_) for type_ in query(relation, "SELECT * FROM mapping", empty).types]
    read_types = {name: str(type_) for name, type_ in zip(relation.columns, relation.types, strict=True)}
    try:
        return relation.project(
            ", ".join(
                _typed_cell(name, read_types[name], type_, decimal)
                for name, type_ in zip(types, engine_types, strict=True)
            )
        )
    except (duckdb.Error, KeyError) as error:
        raise OutputError(f"The written columns cannot be typed again ({type(error).__name__}).") from None


def _typed_cell(name: str, read_type: str, type_: str, decimal: str) -> str:
    """Write one column as SQL; durations become numbers, since only those have an order."""
    column = quoted_name(name)
    text = column if type_ == "VARCHAR" or decimal == "." else f"replace({column}, '{decimal}', '.')"
    cell = f"CAST({text} AS {type_})" if read_type == "VARCHAR" else column
    interval = "INTERVAL" in (read_type, type_ if read_type == "VARCHAR" else "")
    return f"{f'epoch_us({cell})' if interval else cell} AS {column}"


def typed_by_others(
    inference: Inference,
    original: duckdb.DuckDBPyRelation,
    remaining: duckdb.DuckDBPyRelation,
    names: Sequence[str],
) -> list[str]:
    """Name the columns whose type, found in the values of a file, would be another by the kept rows alone.

    That is text that would be read as numbers or dates, fractions that would be whole numbers, and a type of a column
    without values. Columns that were read as text on purpose rest on no row.
    """
    types = dict(zip(original.columns, map(str, original.types), strict=True))
    free = [name for name in names if name not in inference.text]
    cells = {name: f"c{number}" for number, name in enumerate(free)}
    if not cells:
        return []
    chosen = ", ".join(f"{quoted_name(name)} AS {cell}" for name, cell in cells.items())
    all_rows, kept_rows = (
        _Rows(query(rows, f"SELECT {chosen} FROM source")) for rows in (original, remaining)
    )
    texts = [cell for name, cell in cells.items() if types[name] == "VARCHAR"]
    read = infer(kept_rows, "source", texts, inference.conventions).expressions
    changed = [cell for cell in texts if read[cell] != cell]
    before = infer(all_rows, "source", changed, inference.conventions).expressions if changed else {}
    affected = {cell for cell in changed if before[cell] != read[cell]}
    typed = [cell for name, cell in cells.items() if types[name] != "VARCHAR"]
    broken = [cell for name, cell in cells.items() if types[name] == "DOUBLE"]
    if typed:
        true, remaining_facts = (rows.facts(typed, broken) for rows in (all_rows, kept_rows))
        affected |= {cell for cell, fact in true if true[cell, fact] != remaining_facts[cell, fact]}
    return [name for name, cell in cells.items() if cell in affected]


@dataclass(frozen=True, repr=False)
class _Rows:
    """Some rows, as something that runs queries."""

    relation: Any

    def execute(self, sql: str, /) -> Any:
        """Run a query over the rows, which it calls ``source``."""
        return query(self.relation, sql)

    def facts(self, typed: Sequence[str], broken: Sequence[str]) -> dict[tuple[str, str], bool]:
        """Return which columns have values, and which have whole numbers only."""
        facts = {(cell, "held"): f"count({cell}) > 0" for cell in typed}
        facts |= {
            (cell, "whole"): f"coalesce(bool_and({_WHOLE.replace('{x}', cell)}), true)" for cell in broken
        }
        (answers,) = self.execute(f"SELECT {', '.join(facts.values())} FROM source").fetchall()
        return dict(zip(facts, answers, strict=True))
