"""Transpiling: our queries, written in the SQL of DuckDB, for another engine. SQLGlot writes them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from discreet.engines.formats import package

_CATEGORIES = {r"\pZ": "Z", r"\p{Cc}": "Cc", r"\p{Cf}": "Cf"}
_LAST = 0x110000


def transpiled(
    sql: str, dialect: str, columns: Mapping[str, str] | None = None, tables: Mapping[str, str] | None = None
) -> str:
    """Return a query in the SQL of another engine, ``postgres`` or ``spark``, with other names of columns and tables.

    >>> transpiled("SELECT CAST(isnan(a) AS VARCHAR) FROM source", "spark")
    'SELECT CAST(ISNAN(a) AS STRING) FROM source'
    """
    sqlglot = package("sqlglot", dialect, f"The engine {dialect}")
    rewrite = _DIALECTS[dialect]
    tree = sqlglot.parse_one(sql, read="duckdb").transform(rewrite, copy=False)
    for column in tree.find_all(sqlglot.exp.Column) if columns else ():
        column.this.set("this", (columns or {}).get(column.name, column.name))
    for table in tree.find_all(sqlglot.exp.Table) if tables else ():
        if table.name in (tables or {}):
            renamed = sqlglot.exp.to_table((tables or {})[table.name], alias=table.alias or table.name)
            table.replace(renamed)
    written: str = tree.sql(dialect=dialect)
    return written


def _postgres(node: Any) -> Any:
    """Rewrite what PostgreSQL says otherwise: bytes and texts are apart, and no index finds what may be null."""
    from sqlglot import exp

    if isinstance(node, exp.NullSafeEQ):
        # PostgreSQL hashes plain equality alone: null is joined as the empty text, and the nulls are compared
        # apart.
        left, right = node.this.sql("postgres"), node.expression.sql("postgres")
        same = " = ".join(f"coalesce(CAST({side} AS TEXT) COLLATE \"C\", '')" for side in (left, right))
        return _raw(f"({same} AND ({left} IS NULL) = ({right} IS NULL))", "postgres")
    if isinstance(node, exp.SHA2):
        return _raw(f"encode(sha256({_bytes(node.this)}), 'hex')", "postgres")
    if isinstance(node, exp.RegexpLike):
        pattern = _raw(_quoted(_postgres_pattern(node.expression.this)), "postgres")
        return exp.RegexpLike(this=node.this, expression=pattern)
    return node


def _bytes(node: Any) -> str:
    """Write what a digest is taken of as bytes: a text, or bytes joined to bytes."""
    from sqlglot import exp

    if isinstance(node, exp.DPipe) and any(isinstance(part, exp.Unhex) for part in node.flatten()):
        return " || ".join(_bytes(part) for part in node.flatten())
    if isinstance(node, exp.Unhex):
        inner = node.this
        if isinstance(inner, exp.SHA2):
            return f"sha256({_bytes(inner.this)})"
        return f"decode({inner.sql('postgres')}, 'hex')"
    text = node.this if isinstance(node, exp.Encode) else node
    return f"convert_to({text.sql('postgres')}, 'UTF8')"


def _unchanged(node: Any) -> Any:
    return node


_DIALECTS: dict[str, Callable[[Any], Any]] = {"postgres": _postgres, "spark": _unchanged}


def _raw(sql: str, dialect: str) -> Any:
    import sqlglot

    return sqlglot.parse_one(sql, read=dialect)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@cache
def _postgres_pattern(pattern: str) -> str:
    """Write a regular expression as PostgreSQL reads it, which knows no categories of characters."""
    for name, category in _CATEGORIES.items():
        pattern = pattern.replace(name, _ranges(category))
    return re.sub(r"\\x\{(\w{4})\}", r"\\u\1", pattern)


def _ranges(category: str) -> str:
    """Return the characters of a category as ranges inside brackets."""
    starts = [
        code
        for code in range(1, _LAST)
        if _is_of(code, category) and not (code > 1 and _is_of(code - 1, category))
    ]
    return "".join(f"\\U{start:08x}-\\U{_end(start, category):08x}" for start in starts)


def _is_of(code: int, category: str) -> bool:
    return code < _LAST and unicodedata.category(chr(code)).startswith(category)


def _end(start: int, category: str) -> int:
    while _is_of(start + 1, category):
        start += 1
    return start
