"""Records of a stream: lines of JSON or CSV become rows of numbers and privacy levels; no error holds a value."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import InstanceOf, IntIn, OneOf, require

LineFormat = Literal["csv", "jsonl"]
# Squares stay below 1e300, which leaves room for their sums.
_WIDEST = 1e150
_HIGHEST = 2**53
"""The highest level that a float distinguishes from the next; no stream has as many records."""


@dataclass(frozen=True, repr=False)
class Batch:
    """Rows of numbers, a level for each where the stream has levels, and how many lines were left out."""

    values: FloatArray
    levels: IntArray | None = None
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Batch({len(self)} rows, {self.skipped} skipped)"


class BadLineError(InputError):
    """A line that holds no record; the message says where and in which column."""


class Records:
    """How lines are read as records.

    Parameters
    ----------
    columns
        The columns to condense, all of them numbers. Others are passed over.
    level
        The column that holds each record's privacy level.
    format
        ``"csv"`` or ``"jsonl"``, an object a line.
    delimiter
        What separates the cells of CSV.
    max_level
        The largest level taken; a record with a higher one is a bad line.
    bad
        Whether a bad line is refused with an error, or passed over and counted.
    """

    def __init__(
        self,
        columns: Sequence[str],
        *,
        level: str | None = None,
        format: LineFormat = "csv",  # noqa: A002
        delimiter: str = ",",
        max_level: int | None = None,
        bad: Literal["refuse", "skip"] = "refuse",
    ) -> None:
        require(self, "format", format, OneOf(("csv", "jsonl")))
        require(self, "bad", bad, OneOf(("refuse", "skip")))
        require(self, "max_level", max_level, IntIn(1), InstanceOf((type(None),), "None"))
        require(self, "delimiter", delimiter, _Character())
        if not columns or len(set(columns)) != len(columns) or level in columns:
            raise SchemaError("A stream needs columns with different names, none of them that of the levels.")
        self.columns = tuple(columns)
        self.level = level
        self.format = format
        self.delimiter = delimiter
        self.max_level = max_level
        self.bad = bad
        self._names = (*self.columns, *(() if level is None else (level,)))
        self._places = tuple(range(len(self._names)))
        self._width = len(self._names)

    @property
    def has_header(self) -> bool:
        """Whether the first line of a file may name the columns."""
        return self.format == "csv"

    def read_header(self, line: bytes) -> None:
        """Find the columns in the first line of CSV; without it, cells are the columns in order, then the level."""
        try:
            names = [name.strip() for name in self._cells(line.removeprefix(b"\xef\xbb\xbf"))]
        except (csv.Error, UnicodeDecodeError, StopIteration):
            raise InputError("The first line of the stream cannot be read as names of columns.") from None
        missing = [name for name in self._names if name not in names]
        if missing:
            raise SchemaError(
                f"The stream has no column {', '.join(repr(name) for name in missing)}; its first line names "
                f"{len(names)} columns."
            )
        self._places = tuple(names.index(name) for name in self._names)
        self._width = len(names)

    def read(self, lines: Sequence[bytes], first: int) -> tuple[Batch, int, BadLineError | None]:
        """Read lines; return the batch, how many lines went into it, and the error that stopped it, if one did."""
        rows: list[list[float]] = []
        skipped = 0
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                rows.append(self._row(line))
            except BadLineError as error:
                if self.bad == "refuse":
                    named = BadLineError(f"Line {first + number:,} of the stream {error}")
                    return self._batch(rows, skipped), number, named
                skipped += 1
        return self._batch(rows, skipped), len(lines), None

    def _batch(self, rows: list[list[float]], skipped: int) -> Batch:
        values = np.array(rows, np.float64).reshape(len(rows), len(self._names))
        if self.level is None:
            return Batch(values, None, skipped)
        return Batch(np.ascontiguousarray(values[:, :-1]), values[:, -1].astype(np.int64), skipped)

    def _row(self, line: bytes) -> list[float]:
        cells = self._of_json(line) if self.format == "jsonl" else self._of_csv(line)
        row = [_number(cell, name) for cell, name in zip(cells, self._names, strict=True)]
        if self.level is not None:
            level = row[-1]
            if level < 1 or level != math.floor(level):
                raise BadLineError(f"has no whole number of at least 1 in column '{self.level}'.")
            most = _HIGHEST if self.max_level is None else min(self.max_level, _HIGHEST)
            if level > most:
                raise BadLineError(f"has a level above {most} in column '{self.level}'.")
        return row

    def _of_json(self, line: bytes) -> list[Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise BadLineError("is no JSON.") from None
        if not isinstance(record, dict):
            raise BadLineError("is no JSON object.")
        for name in self._names:
            if name not in record:
                raise BadLineError(f"has no column '{name}'.")
        return [record[name] for name in self._names]

    def _of_csv(self, line: bytes) -> list[Any]:
        try:
            cells = self._cells(line)
        except (csv.Error, UnicodeDecodeError, StopIteration):
            raise BadLineError("cannot be read as cells.") from None
        if len(cells) != self._width:
            raise BadLineError(f"has {len(cells)} cells where {self._width} are expected.")
        return [cells[number] for number in self._places]

    def _cells(self, line: bytes) -> list[str]:
        text = line.decode()
        # Without a quote only delimiters separate cells, and no reader need be made.
        if '"' not in text:
            return text.rstrip("\r\n").split(self.delimiter)
        return next(csv.reader([text], delimiter=self.delimiter, strict=True))


def _number(cell: Any, name: str) -> float:
    """Read a cell as a finite number that can be squared."""
    # Python takes True for 1, and reads the text 1_000 as a number.
    readable = type(cell) in (float, int) or (type(cell) is str and "_" not in cell)
    if readable:
        try:
            number = float(cell)
        except (ValueError, OverflowError):
            number = math.nan
        # False for NaN as well.
        if abs(number) <= _WIDEST:
            return number
    raise BadLineError(f"holds no number in column '{name}', or one too large.")


class _Character:
    """A delimiter."""

    def admits(self, value: object) -> bool:
        return isinstance(value, str) and len(value) == 1 and value not in '"\r\n'

    def __str__(self) -> str:
        return "one character"
