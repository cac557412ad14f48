"""Admission: a relation's columns under names of our own, in types that are judged as they are published."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from discreet.core.errors import InputError, SchemaError
from discreet.core.tables.publication import publishable
from discreet.engines.duckdb.connection import is_ours, ours, query, showing
from discreet.engines.sql.source import Normalized, inner_names, quoted_text, select_list

if TYPE_CHECKING:
    import duckdb

_AS_TEXT = ("TIME WITH TIME ZONE", "UUID", "BIT", "BIGNUM", "JSON")
"""Types that are judged by their text, and get their type back when they are published."""
_WIDE = ("HUGEINT", "UHUGEINT")
_FLOATS = ("FLOAT", "DOUBLE")
_UNPUBLISHABLE = ("STRUCT", "MAP", "UNION", "BLOB", "VARIANT", "GEOMETRY")
_PROBES, _SIMILAR = ("a", "á"), ("A", "a\u0301", "a ")
"""Texts, and others that a collation may take for the same."""
_HOLDS = (
    ("BIGINT", -(2**63), 2**63 - 1),
    ("UBIGINT", 0, 2**64 - 1),
    ("DECIMAL(38, 0)", 1 - 10**38, 10**38 - 1),
)


def normalize(native: duckdb.DuckDBPyRelation) -> Normalized:
    """Rename a relation's columns by their places, and clean them."""
    names, types = tuple(native.columns), [str(type_) for type_ in native.types]
    refused = frozenset(name for name, type_ in zip(names, types, strict=True) if is_unpublishable(type_))
    collated = set() if is_ours(native) else _collated(native, types)
    cells, back = [], []
    for number, (name, type_) in enumerate(zip(names, types, strict=True)):
        cell, original_type = _normalized_cell(f"c{number}", type_, collated=number in collated)
        if type_ in _WIDE:
            cell, original_type = f"CAST({cell} AS {_narrowest(native, number, name)})", type_
        cells.append(f"{cell} AS c{number}")
        back.append(original_type)
    renamed = query(native, f"SELECT {', '.join(cells)} FROM source AS normalized({inner_names(len(names))})")
    return Normalized(renamed, names, tuple(back), refused)


def is_unpublishable(type_: str) -> bool:
    """Return whether a type of the engine holds nested values or bytes.

    >>> [is_unpublishable(type_) for type_ in ("INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "VARCHAR", "BIT")]
    [True, True, True, False, False]
    """
    return type_.endswith("]") or type_.startswith(_UNPUBLISHABLE)


def _normalized_cell(column: str, type_: str, *, collated: bool) -> tuple[str, str | None]:
    """Write a cell as it is judged, and say the type it had where that is another."""
    if is_unpublishable(type_):
        return "CAST(NULL AS BLOB)", None
    if type_ in _AS_TEXT:
        return f"CAST({column} AS VARCHAR)", type_
    if type_.startswith("ENUM"):
        return f"CAST({column} AS VARCHAR)", None
    # Adding 0 turns -0.0 into 0.0.
    if type_ in _FLOATS:
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} + CAST(0 AS {type_}) END", None
    if collated:
        return f'({column} COLLATE "binary")', None
    return column, None


def _collated(native: duckdb.DuckDBPyRelation, types: Sequence[str]) -> set[int]:
    """Return the columns of text in which the engine takes different texts for the same."""
    texts = [number for number, type_ in enumerate(types) if type_ == "VARCHAR"]
    if not texts:
        return set()
    chosen = ", ".join(f"c{number}" for number in texts)
    same = ", ".join(f"c{number} IN ({', '.join(map(quoted_text, _SIMILAR))})" for number in texts)
    probes = ", ".join(f"({quoted_text(probe)})" for probe in _PROBES)
    # The probes stand in columns with the relation's own collations, and none of its rows with them.
    sql = (
        f"SELECT {same} FROM (SELECT {chosen} FROM (SELECT * FROM source LIMIT 0) AS probed"
        f"({inner_names(len(types))}) UNION ALL SELECT {', '.join(['probe'] * len(texts))} "
        f"FROM (VALUES {probes}) AS probes(probe))"
    )
    answers = zip(*query(native, sql).fetchall(), strict=True)
    return {number for number, equal in zip(texts, answers, strict=True) if any(equal)}


def _narrowest(native: duckdb.DuckDBPyRelation, number: int, name: str) -> str:
    """Return the type that holds a column of very wide whole numbers exactly and has an order."""
    import duckdb

    column = f"c{number}"
    columns = inner_names(len(native.columns))
    try:
        ends = query(
            native, f"SELECT min({column}), max({column}) FROM source AS ranged({columns})"
        ).fetchall()[0]
    except duckdb.Error as error:
        raise InputError(f"The engine could not read the table ({type(error).__name__}).") from None
    low, high = (0 if end is None else int(end) for end in ends)
    for type_, least, most in _HOLDS:
        if least <= low and high <= most:
            return type_
    raise SchemaError(f"Column '{name}' holds whole numbers of more than 38 digits; make it text first.")


def as_relation(
    native: duckdb.DuckDBPyRelation, rows: Normalized, table: pa.Table, original_dtypes: Collection[str]
) -> duckdb.DuckDBPyRelation:
    """Return a table as a relation of the same connection; columns with cells as they came get their types back."""
    names = table.column_names
    cells = [
        rows.outer(name, f"c{at}") if name in original_dtypes else f"c{at}" for at, name in enumerate(names)
    ]
    sql = f"SELECT {select_list(cells, names)} FROM mapping AS framed({inner_names(len(names))})"
    published = publishable(table)
    relation = query(native, sql, published)
    is_same = all(cell == f"c{at}" for at, cell in enumerate(cells)) and all(
        map(_is_simple, published.schema.types)
    )
    return ours(showing(relation, published if is_same else None)) if is_ours(native) else relation


def _is_simple(type_: pa.DataType) -> bool:
    """Return whether the engine hands a column of this type back as it came."""
    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    return bool(
        pa.types.is_string(inner)
        or pa.types.is_integer(type_)
        or pa.types.is_float64(type_)
        or pa.types.is_date32(type_)
    )
