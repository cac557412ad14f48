"""What a query attack works on: the public columns that everyone knows, and a database that answers SQL."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public

_MOST_LISTED = 900


@public
@dataclass
class QueryTarget:
    """A database under attack: sums of one sensitive column, by SQL.

    Parameters
    ----------
    ask : callable
        Answers a statement with one number, or None where it is denied.
    public : mapping
        The public columns, which the attacker knows for every record.
    column : str
        The sensitive column.
    """

    ask: Callable[[str], float | None]
    public: Mapping[str, Sequence[Any]]
    column: str
    asked: int = 0
    answered: int = 0
    _columns: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._columns = {name: list(values) for name, values in self.public.items()}

    @property
    def n_records(self) -> int:
        """The number of records."""
        return len(next(iter(self._columns.values()), []))

    def total(self, condition: str) -> float | None:
        """Return the answer to a sum under a condition; None where it is denied or not a number."""
        self.asked += 1
        where = f" WHERE {condition}" if condition else ""
        answer = self.ask(f'SELECT sum("{self.column}") FROM data{where}')  # noqa: S608  # an attack is made of SQL
        if answer is None or not isinstance(answer, int | float) or not math.isfinite(answer):
            return None
        self.answered += 1
        return float(answer)

    def alone(self) -> list[int]:
        """Return the records that no other equals in all public columns: those an attacker can single out."""
        rows = list(zip(*self._columns.values(), strict=True))
        counts: dict[tuple[Any, ...], int] = {}
        for row in rows:
            counts[row] = counts.get(row, 0) + 1
        return [record for record, row in enumerate(rows) if counts[row] == 1]

    def alike(self, name: str, record: int) -> int:
        """Return how many records have a record's value in a public column."""
        values = self._columns[name]
        return sum(value == values[record] for value in values)

    def is_record(self, record: int, names: Sequence[str] | None = None) -> str:
        """Write the condition that holds for records equal to one in some public columns, all by default."""
        chosen = list(self._columns) if names is None else names
        return " AND ".join(equals(name, self._columns[name][record]) for name in chosen)

    def is_not_record(self, record: int, names: Sequence[str] | None = None) -> str:
        """Write the opposite of ``is_record``, nulls considered."""
        chosen = list(self._columns) if names is None else names
        return "(" + " OR ".join(differs(name, self._columns[name][record]) for name in chosen) + ")"

    def is_one_of(self, records: Sequence[int]) -> str:
        """Write the condition that holds for some records alone."""
        for name, values in self._columns.items():
            if None not in values and len(set(values)) == len(values) and len(records) <= _MOST_LISTED:
                return f'"{name}" IN ({", ".join(written(values[record]) for record in records)})'
        return " OR ".join(f"({self.is_record(record)})" for record in records)

    def where(self, name: str, value: Any) -> tuple[str, BoolArray]:
        """Write the condition that a column has a value, and return the records for which it holds."""
        return equals(name, value), np.array([cell == value for cell in self._columns[name]], np.bool_)


@public
@dataclass(frozen=True)
class QueryAttack:
    """The result of an attack: the number of targets, the number of queries, and the values it claims to know."""

    attack: str
    n_targets: int
    asked: int
    answered: int
    claims: Mapping[int, float]

    def pinned(self, truth: Sequence[float] | FloatArray, *, tolerance: float = 0.01) -> int:
        """Return for how many records the claimed value is right, up to a share of the column's range.

        Records without a finite true value do not count.
        """
        values = np.asarray(truth, np.float64)
        finite = values[np.isfinite(values)]
        near = tolerance * float(np.ptp(finite)) if finite.size else 0.0
        near += 1e-9 * float(np.abs(finite).max(initial=1.0))
        return sum(bool(abs(claimed - values[record]) <= near) for record, claimed in self.claims.items())


def equals(name: str, value: Any) -> str:
    """Write that a column has a value."""
    return f'"{name}" IS NULL' if value is None else f'"{name}" = {written(value)}'


def differs(name: str, value: Any) -> str:
    """Write that a column does not have a value."""
    return f'"{name}" IS NOT NULL' if value is None else f'"{name}" <> {written(value)} OR "{name}" IS NULL'


def written(value: Any) -> str:
    """Write a constant.

    >>> written("it's"), written(3), written(True)
    ("'it''s'", '3', 'TRUE')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, dt.date | dt.datetime):
        return f"'{value.isoformat(sep=' ') if isinstance(value, dt.datetime) else value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)
