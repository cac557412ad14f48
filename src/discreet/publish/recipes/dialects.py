"""Two ways to write SQL: standard, and DuckDB's own; both work values out in steps before the cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

DIGITS = 38
DOUBLE = "DOUBLE PRECISION"
_STEP = re.compile(r"\bstep_\d+\b")


class Ansi:
    """What is worked out before the cells, in steps that may use earlier ones, in standard SQL."""

    varchar = "VARCHAR(100)"

    def __init__(self, table: str, columns: Sequence[str]) -> None:
        self.table = quoted(table)
        self.columns = [quoted(name) for name in columns]
        self._taken = {name.casefold() for name in columns}
        self._depth: dict[str, int] = {}
        self._layers: list[list[str]] = []

    def step(self, expression: str) -> str:
        """Work a value out after all steps it uses, and give its name."""
        number = len(self._depth) + 1
        # The table may have a column of that name.
        while (name := f"step_{number}") in self._taken or name in self._depth:
            number += 1
        depth = 1 + max((self._depth.get(used, -1) for used in _STEP.findall(expression)), default=-1)
        self._depth[name] = depth
        if depth == len(self._layers):
            self._layers.append([])
        self._layers[depth].append(f"{expression} AS {name}")
        return name

    def clamped(self, expression: str, sign: str, limit: str | None) -> str:
        """Bring a value back to a limit where it lies beyond."""
        if limit is None:
            return expression if _STEP.fullmatch(expression) else self.step(expression)
        return self.step(f"CASE WHEN {expression} {sign} {limit} THEN {limit} ELSE {expression} END")

    def source(self) -> str:
        """Return the table with the steps, a subquery for each depth; the innermost reads known columns only."""
        source = f"{self.table} AS source"
        for depth, steps in enumerate(self._layers):
            listed = ",\n  ".join([*(["source.*"] if depth else self.columns), *steps])
            source = f"(\nSELECT\n  {listed}\nFROM {source}\n) AS source"
        return source

    def is_nan(self, value: str) -> str:
        """Return whether a float is no number."""
        return f"LOWER(CAST({value} AS {self.varchar})) = 'nan'"

    def number_text(self, value: str, scale: int) -> str:
        """Write a decimal as labels do."""
        return self.float_text(f"CAST({value} AS {DOUBLE})") if scale else f"CAST({value} AS {self.varchar})"

    def float_text(self, value: str) -> str:
        """Write a float as labels do, whole numbers whole."""
        integer = f"CAST(CAST({value} AS DECIMAL({DIGITS}, 0)) AS {self.varchar})"
        is_whole = f"{value} = FLOOR({value}) AND ABS({value}) < 1E21"
        return f"CASE WHEN {is_whole} THEN {integer} ELSE CAST({value} AS {self.varchar}) END"

    def first_day(self, month: str) -> str:
        """Write the first day of a month, counted from year 0."""
        return f"{self._year_and_month(month)} || '-01'"

    def last_day(self, month: str) -> str:
        """Write the last day of a month, counted from year 0."""
        year = self._year(month)
        leap = f"MOD({year}, 4) = 0 AND (MOD({year}, 100) <> 0 OR MOD({year}, 400) = 0)"
        days = (
            f"CASE WHEN MOD({month}, 12) IN (3, 5, 8, 10) THEN '-30' WHEN MOD({month}, 12) <> 1 THEN '-31' "
            f"WHEN {leap} THEN '-29' ELSE '-28' END"
        )
        return f"{self._year_and_month(month)} || {days}"

    def day_number(self, day: str) -> str:
        """Count the days from the first of year 1."""
        # Years that begin in March end with the leap day, and one formula counts the days of their months.
        month = f"MOD(EXTRACT(MONTH FROM {day}) + 9, 12)"
        year = self.step(
            f"EXTRACT(YEAR FROM {day}) - CASE WHEN EXTRACT(MONTH FROM {day}) <= 2 THEN 1 ELSE 0 END"
        )
        leaps = f"FLOOR({year} / 4) - FLOOR({year} / 100) + FLOOR({year} / 400)"
        months = f"FLOOR((153 * {month} + 2) / 5) + EXTRACT(DAY FROM {day}) - 307"
        return self.step(f"CAST(365 * {year} + {leaps} + {months} AS INTEGER)")

    def _year_and_month(self, month: str) -> str:
        year = self._year(month)
        padded = f"SUBSTRING(CAST({year} + 10000 AS {self.varchar}) FROM 2 FOR 4)"
        written = f"CASE WHEN {year} < 1000 THEN {padded} ELSE CAST({year} AS {self.varchar}) END"
        return f"{written} || '-' || SUBSTRING(CAST(MOD({month}, 12) + 101 AS {self.varchar}) FROM 2 FOR 2)"

    def _year(self, month: str) -> str:
        return self.step(f"CAST(({month} - MOD({month}, 12)) / 12 AS INTEGER)")


class DuckDB(Ansi):
    """The same in DuckDB's own words, which are fewer."""

    varchar = "VARCHAR"

    def is_nan(self, value: str) -> str:
        """Return whether a float is no number."""
        return f"isnan({value})"

    def first_day(self, month: str) -> str:
        """Write the first day of a month, counted from year 0."""
        return f"CAST(make_date(({month}) // 12, ({month}) % 12 + 1, 1) AS VARCHAR)"

    def last_day(self, month: str) -> str:
        """Write the last day of a month, counted from year 0."""
        return f"CAST(last_day(make_date(({month}) // 12, ({month}) % 12 + 1, 1)) AS VARCHAR)"

    def day_number(self, day: str) -> str:
        """Count the days from the first of year 1."""
        return f"({day} - DATE '0001-01-01')"


def brackets(low: str, high: str, closing: str) -> str:
    """Write an interval of two texts."""
    return f"'[' || {low} || ', ' || {high} || '{closing}'"


def closed(first: str, last: str) -> str:
    """Write an interval of two texts, or one where both are the same."""
    return f"CASE WHEN {first} = {last} THEN {first} ELSE {brackets(first, last, ']')} END"


def decimals(number: Fraction) -> int:
    """Count the decimals of a number that is written in decimals."""
    return next(scale for scale in range(400) if (number * 10**scale).denominator == 1)


def exact(number: Fraction) -> str:
    """Write a number in decimals, exactly.

    >>> exact(Fraction(-5, 2)), exact(Fraction(10**9))
    ('-2.5', 'CAST(1000000000 AS DECIMAL(38, 0))')
    """
    scale = decimals(number)
    digits = str(abs(int(number * 10**scale))).rjust(scale + 1, "0")
    integer, rest = digits[: len(digits) - scale], digits[len(digits) - scale :]
    written = f"{'-' if number < 0 else ''}{integer}{'.' if rest else ''}{rest}"
    return written if len(digits) < 10 else f"CAST({written} AS DECIMAL({DIGITS}, {scale}))"


def quoted(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


def literal(written: str) -> str:
    """Quote a text."""
    return "'" + written.replace("'", "''") + "'"


DIALECTS: dict[str, type[Ansi]] = {"duckdb": DuckDB, "ansi": Ansi}
"""The ways to write SQL, by name."""
