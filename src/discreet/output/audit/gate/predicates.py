"""Predicates on public columns, and the confined engine that evaluates them over elements."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray
from discreet.core.errors import InputError
from discreet.output.audit.auditor import QueryError
from discreet.output.audit.gate.columns import PublicColumn

_MOST_DIGITS = 19


@dataclass(frozen=True)
class Constant:
    """A number, text, truth value, date or time of the statement."""

    value: Any


@dataclass(frozen=True)
class Compare:
    """A public column against a constant."""

    sign: str
    column: str
    constant: Constant


@dataclass(frozen=True)
class In:
    """A public column among constants."""

    column: str
    constants: tuple[Constant, ...]


@dataclass(frozen=True)
class IsNull:
    """A public column without a value."""

    column: str


@dataclass(frozen=True)
class Not:
    """The opposite of a predicate."""

    part: Predicate


@dataclass(frozen=True)
class And:
    """All of several predicates."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Or:
    """Any of several predicates."""

    parts: tuple[Predicate, ...]


Predicate = Compare | In | IsNull | Not | And | Or


def constant(value: Any, *, is_text: bool, negative: bool, kind: str) -> Constant:
    """Return a constant of the column's kind; others are refused.

    >>> constant("2020-02-29", is_text=True, negative=False, kind="date").value
    datetime.date(2020, 2, 29)
    """
    if kind == "number" and not is_text and not isinstance(value, bool):
        return Constant(_number(value, negative=negative))
    if kind == "truth value" and isinstance(value, bool):
        return Constant(value)
    if is_text and not negative:
        if kind == "text":
            return Constant(value)
        try:
            if kind == "date":
                return Constant(dt.date.fromisoformat(value))
            if kind == "time":
                return Constant(dt.datetime.fromisoformat(value).replace(tzinfo=None))
        except ValueError:
            raise QueryError(
                "Dates are compared with constants such as '2020-02-29', times with '2020-02-29 12:30'."
            ) from None
    raise QueryError(
        f"A constant does not fit the kind of its column, which holds {kind}s. Nothing is converted."
    )


def _number(text: str, *, negative: bool) -> int | float:
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise QueryError("A number of the statement cannot be read.") from None
    if not exact:  # whatever its exponent
        return 0
    # The exponent goes first: it may be of nine digits, which arithmetic with decimals does not survive.
    if not exact.is_finite() or exact.adjusted() > _MOST_DIGITS or exact.copy_abs() >= 1 << 63:
        raise QueryError("Numbers must be finite and below 2**63.")
    number = int(exact) if exact == exact.to_integral_value() else float(exact)
    return -number if negative else number


class Selector:
    """An engine over the elements, with the public columns alone: no file, no network, no setting can be reached."""

    def __init__(self, columns: Sequence[PublicColumn], n_elements: int, *, timeout: float) -> None:
        import pyarrow as pa

        from discreet.engines.duckdb.databases import LockedTable

        self.n_elements = n_elements
        self._names = {column.name: f"c{place}" for place, column in enumerate(columns)}
        arrays = {"e": pa.array(np.arange(n_elements))}
        for column in columns:
            values = pa.array(column.values, column.type)
            arrays[self._names[column.name]] = values.take(pa.array(column.codes))
        self._table = LockedTable(pa.table(arrays), timeout=timeout)

    def members(self, where: Predicate | None) -> BoolArray:
        """Return which elements a predicate selects."""
        chosen = np.zeros(self.n_elements, np.bool_)
        if where is None:
            chosen[:] = True
            return chosen
        bound: list[Any] = []
        condition = self._sql(where, bound)
        found = self._fetch(f"SELECT e FROM elements WHERE {condition}", bound)  # noqa: S608  # of c0, c1, … and ? alone
        chosen[found] = True
        return chosen

    def close(self) -> None:
        """Close the engine."""
        self._table.close()

    def _fetch(self, sql: str, bound: Sequence[Any]) -> Any:
        try:
            return self._table.column(sql, bound)
        except TimeoutError:
            raise QueryError(f"The statement took longer than {self._table.timeout:g} seconds.") from None
        except InputError:
            raise QueryError("The engine cannot evaluate the condition.") from None

    def _sql(self, node: Predicate, bound: list[Any]) -> str:
        """Write a predicate with its constants as bound parameters."""
        if isinstance(node, And | Or):
            word = " AND " if isinstance(node, And) else " OR "
            return f"({word.join(self._sql(part, bound) for part in node.parts)})"
        if isinstance(node, Not):
            return f"(NOT {self._sql(node.part, bound)})"
        column = self._names[node.column]
        if isinstance(node, IsNull):
            return f"({column} IS NULL)"
        if isinstance(node, In):
            bound += [one.value for one in node.constants]
            return f"({column} IN ({', '.join('?' * len(node.constants))}))"
        bound.append(node.constant.value)
        return f"({column} {node.sign} ?)"


def kinds(columns: Sequence[PublicColumn]) -> Mapping[str, str]:
    """Return the kinds of public columns by name."""
    return {column.name: column.kind for column in columns}
