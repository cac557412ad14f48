"""Facts: what can be counted about the columns of a table without showing any of their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.engines.duckdb.connection import identifier
from discreet.engines.files import describe

if TYPE_CHECKING:
    import duckdb

_EXACT_ROWS = 1_000_000
_CELLS_AT_ONCE = 4_000_000
_COLUMNS_AT_ONCE = 32
_UNIQUE = 0.9
_WHOLE = (
    "BIGINT",
    "INTEGER",
    "SMALLINT",
    "TINYINT",
    "UBIGINT",
    "UINTEGER",
    "USMALLINT",
    "UTINYINT",
    "HUGEINT",
)
_REAL = ("FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True)
class Facts:
    """What can be said about a column without showing any of it."""

    name: str
    type: str
    n_rows: int
    n_missing: int
    n_distinct: int
    length: float = 0.0
    words: float = 0.0
    span: float | None = None

    @property
    def is_text(self) -> bool:
        """Whether the column holds text."""
        return self.type == "VARCHAR"

    @property
    def is_whole(self) -> bool:
        """Whether the column holds whole numbers."""
        return self.type in _WHOLE

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.is_whole or self.type.startswith(_REAL)

    @property
    def n_known(self) -> int:
        """The number of rows that have a value."""
        return self.n_rows - self.n_missing

    @property
    def uniqueness(self) -> float:
        """The share of different values among those that are there."""
        return self.n_distinct / max(self.n_known, 1)

    @property
    def missing(self) -> float:
        """The share of rows without a value."""
        return self.n_missing / max(self.n_rows, 1)

    @property
    def is_numbered(self) -> bool:
        """Whether the column counts the rows: whole numbers, all different, with hardly a gap."""
        close = self.span is not None and self.span < 2 * self.n_rows
        return self.is_whole and self.uniqueness > _UNIQUE and close


def look(relation: duckdb.DuckDBPyRelation) -> list[Facts]:
    """Count what can be said about each column, some columns in each pass.

    Counting different values takes memory for every column that is counted at once, a few megabytes even where
    there are few rows. So the number of columns in a pass is bounded.
    """
    columns = describe(relation)
    (n_rows,) = relation.aggregate("count(*)").fetchall()[0]
    exact = n_rows <= _EXACT_ROWS
    facts: list[Facts] = []
    for part in _parts(columns, n_rows if exact else 1):
        queried = [
            column for name, type_ in part for column in _questions(identifier(name), type_, exact=exact)
        ]
        answers = iter(relation.aggregate(", ".join(queried)).fetchall()[0])
        for name, type_ in part:
            n_known, n_distinct, *rest = (next(answers) for _ in range(5))
            facts.append(Facts(name, type_, n_rows, n_rows - n_known, n_distinct, *rest))
    return facts


def value_sets(relation: duckdb.DuckDBPyRelation, names: Sequence[str]) -> dict[str, frozenset[Any]]:
    """Return the different values of columns that have few of them."""
    sets: dict[str, frozenset[Any]] = {}
    for part in _parts(names, 1):
        queried = ", ".join(f"list(DISTINCT {identifier(name)})" for name in part)
        lists = relation.aggregate(queried).fetchall()[0]
        sets |= {name: frozenset(values or ()) - {None} for name, values in zip(part, lists, strict=True)}
    return sets


def _parts(columns: Sequence[Any], n_rows: int) -> Iterator[Sequence[Any]]:
    at_once = max(1, min(_COLUMNS_AT_ONCE, _CELLS_AT_ONCE // max(n_rows, 1)))
    for start in range(0, len(columns), at_once):
        yield columns[start : start + at_once]


def _questions(column: str, type_: str, *, exact: bool) -> list[str]:
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    text = ["0.0", "0.0"]
    span = "NULL"
    if type_ == "VARCHAR":
        text = [
            f"coalesce(avg(length({column})), 0)",
            f"coalesce(avg(length({column}) - length(replace({column}, ' ', ''))), 0)",
        ]
    elif type_ in _WHOLE:
        span = f"max({column})::DOUBLE - min({column})::DOUBLE"
    return [f"count({column})", distinct, *text, span]
