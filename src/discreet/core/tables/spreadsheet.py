"""Cells that a spreadsheet would run: text that starts as a formula does."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.engine import engine_of
from discreet.core.tables.labels import value_kind

_SKIPPED = r"[\pZ\p{Cc}\p{Cf}]*"
"""White space and invisible characters at the start, which many readers trim."""
FORMULA = "^" + _SKIPPED + r"[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
"""How a cell starts that a spreadsheet would run; the last four are the full-width forms."""
QUOTED = "^'*" + FORMULA[1:]
NUMBER = r"^'*[\pZ\p{Cf}]*[+\-]?(\d+(\.\d*)?|\.\d+)([eE][+\-]?\d+)?$"


def defused(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Put an apostrophe before texts that a spreadsheet would run; numbers are harmless and stay.

    Different texts stay different: one that already has apostrophes before its formula gets one more.

    >>> defused(pa.array(["=1+1", " =1+1", "'=1+1", "-5", "plain", None])).to_pylist()
    ["'=1+1", "' =1+1", "''=1+1", '-5', 'plain', None]
    """
    if pa.types.is_dictionary(column.type):
        return defused(column.cast(column.type.value_type)).dictionary_encode()
    if value_kind(column.type) != "text":
        return column
    wide = column.cast(pa.large_string())
    quoted = pc.binary_join_element_wise(
        pa.scalar("'", pa.large_string()), wide, pa.scalar("", pa.large_string())
    )
    return pc.if_else(_runs(wide, QUOTED), quoted, wide).cast(column.type)


def defused_text(text: Any) -> Any:
    """Put an apostrophe before one text that a spreadsheet would run; whatever else it is stays.

    >>> defused_text("@sum"), defused_text("milk"), defused_text(-5)
    ("'@sum", 'milk', -5)
    """
    return defused(pa.array([text], pa.string()))[0].as_py() if isinstance(text, str) else text


def formula_cells(frame: Any) -> int:
    """Count the cells and column names of a published frame that a spreadsheet would run."""
    return engine_of(frame).formula_cells(frame)


def formulas_in(names: list[str], texts: pa.Table) -> int:
    """Count the names and the cells of some columns of text that a spreadsheet would run."""
    return formula_names(pa.array(names, pa.string())) + sum(_count(column) for column in texts.columns)


def formula_names(names: pa.Array) -> int:
    """Count the names of columns that a spreadsheet would run: they are cells of the first line."""
    return _count(pa.chunked_array([names]))


def _count(column: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if value_kind(column.type) != "text":
        return 0
    counted = pc.value_counts(column.cast(pa.large_string()))
    return int(pc.sum(counted.field("counts").filter(_runs(counted.field("values"), FORMULA))).as_py() or 0)


def _runs(texts: Any, pattern: str) -> Any:
    """Return which texts a spreadsheet would run."""
    formula = pc.match_substring_regex(texts, pattern)
    return pc.fill_null(pc.and_not(formula, pc.match_substring_regex(texts, NUMBER)), False)
