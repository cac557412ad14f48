"""Admission: the columns of a table in PostgreSQL, in types that are kept exactly; others can only be dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.core.errors import DiscreetError, InputError, SchemaError
from discreet.engines.addresses import Address
from discreet.engines.postgres.session import DatabaseSession, PostgresRelation, stated_digits
from discreet.engines.sql.source import Normalized, quoted_name

_AS_IT_IS = ("bool", "int2", "int4", "int8", "date", "time", "timestamp", "timestamptz")
_AS_TEXT = (
    "text", "varchar", "bpchar", "name", "citext", "uuid", "json", "jsonb", "inet", "cidr", "macaddr", "macaddr8",
    "timetz", "bit", "varbit", "xml", "char",
)  # fmt: skip
_FLOATS = {"float4": "real", "float8": "double precision"}
_DIGITS = 38
COLUMNS = """
SELECT a.attname::text, coalesce(b.typname, t.typname)::text, t.typtype::text,
  CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END::int8
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype
WHERE a.attrelid = $1::int8::oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_FIND = """
SELECT c.oid::int8, pg_catalog.has_table_privilege(c.oid, 'SELECT')
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.relname = $1 AND
  CASE WHEN $2 = '' THEN pg_catalog.pg_table_is_visible(c.oid) ELSE n.nspname = $2 END
"""


@dataclass(frozen=True, repr=False)
class TableColumns(Normalized):
    """Rows as they are judged, and the types of the columns that are not kept."""

    types: tuple[tuple[str, str], ...] = ()

    def refusal(self, name: str) -> DiscreetError:
        """Return why a column can only be dropped."""
        return SchemaError(
            f"Column '{name}' has the type {dict(self.types)[name]} of PostgreSQL, which is not kept exactly: drop it "
            "as an identifier, or read a view in which it is text."
        )


def table_relation(address: Address) -> PostgresRelation:
    """Return the rows of a table or a view, every column in a type that is kept."""
    table = address.table
    session = DatabaseSession(address)
    oid, quoted = find_table(session, table)
    refused: dict[str, str] = {}
    cells: dict[str, str] = {}
    for name, type_, category, modifier in session.execute(COLUMNS, [oid]):
        column = quoted_name(name)
        cell = _cell(session, quoted, column, name, type_, category, modifier)
        if cell is None:
            refused[name] = type_.removeprefix("_") + ("[]" if type_.startswith("_") else "")
            cell = "CAST(NULL AS bytea)"
        cells[name] = f"{cell} AS {column}"
    relation = PostgresRelation(
        session, f"SELECT {', '.join(cells.values())} FROM {quoted}", refused, cells, quoted
    )
    if not session.execute(f"SELECT 1 FROM {quoted} LIMIT 1"):
        raise InputError(f"{address} has columns but no rows.")
    return relation


def table_columns(relation: PostgresRelation) -> TableColumns:
    """Return the rows of a relation under names of our own."""
    names = tuple(relation.columns)
    cells = ", ".join(f"{quoted_name(name)} AS c{number}" for number, name in enumerate(names))
    return TableColumns(
        relation.query(f"SELECT {cells} FROM source"),
        names,
        (None,) * len(names),
        frozenset(relation.refused),
        tuple(relation.refused.items()),
    )


def find_table(session: DatabaseSession, table: str) -> tuple[int, str]:
    """Return the number of a table and its name as SQL has it; the schema may stand before a dot."""
    schema, dot, name = table.partition(".")
    # A dot may belong to the table's own name, which comes first, or stand behind a schema.
    for place, called in [("", table), *([(schema, name)] if dot else [])]:
        for oid, is_readable in session.execute(_FIND, [called, place]):
            if not is_readable:
                raise InputError(f"{session.address} cannot be read: permission denied.")
            return oid, f"{quoted_name(place)}.{quoted_name(called)}" if place else quoted_name(called)
    raise InputError(f"{session.address}: there is no table of this name.")


def _cell(
    session: DatabaseSession, table: str, column: str, name: str, type_: str, category: str, modifier: int
) -> str | None:
    """Write a cell in a type that is kept; None where its type is not."""
    if category == "e" or type_ in _AS_TEXT:
        # In the order of bytes, which depends on no locale.
        return f'CAST({column} AS text) COLLATE "C"'
    if type_ in _AS_IT_IS:
        return f"CAST({column} AS {type_})"
    if type_ == "oid":
        return f"CAST({column} AS int8)"
    if type_ in _FLOATS:
        float_ = _FLOATS[type_]
        # Adding 0 turns -0.0 into 0.0.
        return f"CASE WHEN {column} = 'NaN' THEN NULL ELSE CAST({column} + 0 AS {float_}) END"
    if type_ == "numeric":
        precision, scale = _digits(session, table, column, name, modifier)
        return f"CAST(nullif({column}, 'NaN') AS numeric({precision}, {scale}))"
    return None


def _digits(session: DatabaseSession, table: str, column: str, name: str, modifier: Any) -> tuple[int, int]:
    """Return how many digits a column of numbers has, and how many of them behind the point."""
    if modifier >= 0:
        precision, scale = stated_digits(modifier)
    else:
        finite = f"{column} NOT IN ('NaN', 'Infinity', '-Infinity')"
        asked = (
            f"SELECT coalesce(max(scale(trim_scale({column}))) FILTER (WHERE {finite}), 0)::int8, "
            f"coalesce(max(length(trunc(abs({column}))::text)) FILTER (WHERE {finite}), 1)::int8, "
            f"count(*) FILTER (WHERE {column} IN ('Infinity', '-Infinity')) FROM {table}"
        )
        ((scale, whole, infinite),) = session.execute(asked)
        if infinite:
            raise SchemaError(
                f"Column '{name}' holds infinite values ({infinite} rows); clean or drop them first."
            )
        precision = whole + scale
    if precision > _DIGITS:
        raise SchemaError(f"Column '{name}' holds numbers of more than {_DIGITS} digits; make it text first.")
    return precision, scale
