"""Vectors: a table's rows as points, to the precision of their type; and points as cells again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, CodeArray, FloatArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.schema import Schema
from discreet.core.tables.encoding import Codebook, ColumnType, column_type, in_stated_order, sorted_domain
from discreet.core.tables.table import Table

_MOST_INDICATORS = 16
"""How many categories of a column distances distinguish; rarer ones count as one."""
WIDEST = 1e150
"""The largest number that is taken: its square still is one."""
# The largest float below 2^63.
_FARTHEST = 2.0**63 - 1024


@dataclass(frozen=True, repr=False)
class Line:
    """A column of numbers, dates or ordered categories, as places on a line.

    ``origin`` is taken off whole numbers before they become floats, so that large ones keep their digits. ``low`` and
    ``high`` are the ends of what was observed, ``width`` their exact difference where numbers are whole. ``whole``
    columns come back rounded, others with as many ``decimals`` as were observed.
    """

    name: str
    type: pa.DataType
    origin: int
    whole: bool
    low: float
    high: float
    values: pa.Array | None = None
    width: int = 0
    decimals: int | None = None

    def cells(self, places: FloatArray) -> pa.Array:
        """Turn places into cells of the column's type; NaN is a null."""
        missing = np.isnan(places)
        filled = np.where(missing, self.low, places)
        if self.values is not None:
            index = np.clip(np.rint(filled), 0, len(self.values) - 1).astype(np.int64)
            return self.values.take(pa.array(index, mask=missing))
        if not self.whole:
            return _typed(rounded(filled, self.decimals), missing, self.type)
        nearest = np.rint(filled)
        if pa.types.is_floating(self.type) or pa.types.is_decimal(self.type):
            return _typed(nearest, missing, self.type)
        return _whole(nearest, missing, self)


@dataclass(frozen=True, repr=False)
class Vectors:
    """Rows as points: a place on each line (NaN where null), and a code in each category's book (0 where null)."""

    lines: tuple[Line, ...]
    places: FloatArray
    books: tuple[Codebook, ...]
    codes: CodeArray

    @classmethod
    def of(cls, table: Table, names: Sequence[str]) -> Vectors:
        """Read columns of a table: numbers and dates, categories with an order, and categories without one."""
        return cls.of_columns(table.source.columns(names), table.schema)

    @classmethod
    def of_columns(cls, columns: Mapping[str, pa.Array], schema: Schema) -> Vectors:
        """Read columns that are at hand."""
        if not columns or any(len(array) == 0 for array in columns.values()):
            raise InputError("The table has no rows.")
        lines, places, books, codes = [], [], [], []
        for name, array in columns.items():
            ordered = schema[name].ordered
            if ordered is None and column_type(array.type, name) is ColumnType.CATEGORY:
                book = Codebook(name, ColumnType.CATEGORY, array.type, sorted_domain(array))
                books.append(book)
                codes.append(book.encode(array))
                continue
            line, positions = _ordered(name, array, ordered) if ordered is not None else _line(name, array)
            lines.append(line)
            places.append(positions)
        n = len(next(iter(columns.values())))
        return cls(
            tuple(lines),
            np.stack(places, axis=1) if places else np.empty((n, 0)),
            tuple(books),
            np.stack(codes, axis=1) if codes else np.empty((n, 0), np.int32),
        )

    def beside(self, other: Vectors) -> Vectors:
        """Return the same rows with the columns of other vectors after these."""
        return Vectors(
            self.lines + other.lines,
            np.column_stack([self.places, other.places]),
            self.books + other.books,
            np.column_stack([self.codes, other.codes]),
        )

    @property
    def scale(self) -> FloatArray:
        """The standard deviation of each line, 1 where it does not vary."""
        return np.array([_unit(np.ascontiguousarray(column))[1] for column in self.places.T])

    def points(self, *, first: int | None = None) -> FloatArray:
        """Return standardized points for distances: every column has the variance 1 in all.

        A null stands at the mean of its line, and an indicator of nulls is a dimension of its own. A category has an
        indicator for each of its most frequent values. The means and variances are those of the ``first`` rows, or of
        all.
        """
        rows = slice(first)
        units = [_unit(np.ascontiguousarray(column[rows])) for column in self.places.T]
        points = self.places - [center for center, _ in units]
        points /= [spread for _, spread in units]
        further: list[FloatArray] = []
        # One pass finds out whether there is any null.
        if np.isnan(points.sum()):
            missing = np.isnan(points)
            points[missing] = 0.0
            share = missing[rows].mean(axis=0)
            further += [
                missing[:, at] / missing[rows, at].std() for at in np.flatnonzero((share > 0) & (share < 1))
            ]
        for codes, book in zip(self.codes.T, self.books, strict=True):
            further += _indicators(codes, book.n_codes, rows)
        points = np.column_stack([points, *further]) if further else points
        return np.ascontiguousarray(points) if points.shape[1] else np.zeros((len(points), 1))

    def frame(self, places: FloatArray, codes: CodeArray, order: Sequence[str]) -> pa.Table:
        """Turn points into a table with the columns in the given order."""
        cells = {line.name: line.cells(places[:, number]) for number, line in enumerate(self.lines)}
        for number, book in enumerate(self.books):
            labels = pa.concat_arrays([pa.nulls(1, book.values.type), book.values])
            cells[book.name] = labels.take(pa.array(codes[:, number], pa.int32()))
        return pa.table({name: cells[name] for name in order})


def _line(name: str, array: pa.Array) -> tuple[Line, FloatArray]:
    """Read numbers or dates as places."""
    missing = np.asarray(pc.is_null(array).to_numpy(zero_copy_only=False))
    type_ = array.type
    if pa.types.is_temporal(type_):
        small = pa.types.is_date32(type_) or pa.types.is_time32(type_)
        array = array.cast(pa.int32()).cast(pa.int64()) if small else array.cast(pa.int64())
    if not pa.types.is_integer(array.type):
        return _real(name, type_, array, missing)
    numbers = array.fill_null(0).to_numpy(zero_copy_only=False)
    known_numbers = numbers[~missing]
    origin = int(known_numbers.min()) if known_numbers.size else 0
    width = int(known_numbers.max()) - origin if known_numbers.size else 0
    if width > np.iinfo(np.int64).max:
        raise SchemaError(f"Column '{name}' spans a range too wide to distinguish whole numbers; rescale it.")
    numbers = np.where(missing, numbers.dtype.type(origin), numbers)
    places = (numbers - numbers.dtype.type(origin)).astype(np.float64)
    places[missing] = np.nan
    return Line(name, type_, origin, True, 0.0, float(width), width=width), places


def _real(name: str, type_: pa.DataType, array: pa.Array, missing: BoolArray) -> tuple[Line, FloatArray]:
    places = np.array(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    places[missing] = np.nan
    known_numbers = places[~missing]
    low, high = (float(known_numbers.min()), float(known_numbers.max())) if known_numbers.size else (0.0, 0.0)
    if max(-low, high) > WIDEST:
        raise SchemaError(f"Column '{name}' holds numbers too large to be squared; rescale it.")
    integral = bool(known_numbers.size) and bool((known_numbers == np.rint(known_numbers)).all())
    decimals = decimals_of(known_numbers.astype(np.float32) if pa.types.is_float32(type_) else known_numbers)
    return Line(name, type_, 0, integral, low, high, decimals=decimals), places


def _ordered(name: str, array: pa.Array, ordered: Sequence[object]) -> tuple[Line, FloatArray]:
    """Read categories with an order by their ranks."""
    values = in_stated_order(sorted_domain(array), ordered, name)
    codes = Codebook(name, ColumnType.ORDERED, array.type, values).encode(array).astype(np.float64)
    places = np.where(codes > 0, codes - 1, np.nan)
    ranks = places[~np.isnan(places)]
    low, high = (float(ranks.min()), float(ranks.max())) if ranks.size else (0.0, 0.0)
    return Line(name, array.type, 0, True, low, high, values), places


def _typed(numbers: FloatArray, missing: BoolArray, type_: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(type_):
        most = 10.0 ** (type_.precision - type_.scale) - 1
        numbers = np.clip(numbers, -most, most)
    return pa.array(numbers, mask=missing).cast(type_, safe=False)


def _whole(nearest: FloatArray, missing: BoolArray, line: Line) -> pa.Array:
    """Put the origin back on whole numbers, and keep within what the type holds and floats cannot distinguish."""
    type_, origin = line.type, line.origin
    integers: Any = (
        type_ if pa.types.is_integer(type_) else pa.int32() if type_.bit_width == 32 else pa.int64()
    )
    ends = np.iinfo(integers.to_pandas_dtype())
    room_below, room_above = int(ends.min) - origin, int(ends.max) - origin
    steps = np.clip(nearest, -_FARTHEST, _FARTHEST).astype(np.int64)
    # The high end may have been rounded up as a float: places up to it stay within the exact width.
    steps = np.where(nearest <= line.high, np.minimum(steps, line.width), steps)
    low, high = max(room_below, -(2**63)), min(room_above, 2**63 - 1)
    steps = np.clip(steps, low, high)
    # Both parts may wrap around, but their sum fits the type and is right.
    numbers = steps.astype(ends.dtype) + np.array(origin).astype(ends.dtype)
    return pa.array(numbers, integers, mask=missing).cast(type_)


def _unit(column: FloatArray) -> tuple[float, float]:
    """Return the mean and the standard deviation of what a column knows; 1 where it does not vary."""
    center = float(column.mean())
    if np.isnan(center):
        column = column[~np.isnan(column)]
        center = float(column.mean()) if column.size else 0.0
    if not column.size or column.min() == column.max():
        return center, 1.0
    apart = column - center
    spread = float(np.sqrt(np.square(apart, out=apart).mean()))
    return center, spread if spread > 0 else 1.0


def _indicators(codes: CodeArray, n_codes: int, rows: slice) -> list[FloatArray]:
    """Return an indicator of each frequent code, scaled so that their variances add up to 1."""
    counts = np.bincount(codes[rows], minlength=n_codes)
    frequent = np.argsort(-counts, kind="stable")[:_MOST_INDICATORS]
    frequent = frequent[counts[frequent] > 0]
    share = counts[frequent] / counts.sum()
    rest = 1.0 - share.sum()
    total = float((share * (1 - share)).sum() + rest * (1 - rest))
    if frequent.size < 2 or total <= 0:
        return []
    return [(codes == code) / np.sqrt(total) for code in frequent]


_MOST_DECIMALS = 12
_LARGEST_EXACT = 2.0**53
_SAMPLE = 1_000


def decimals_of(values: NDArray[Any]) -> int | None:
    """Return the fewest decimals that write every number exactly; None where that takes more than twelve.

    NaN and infinite numbers do not count. The type matters: 28.1 in single precision has one decimal as well.

    >>> import numpy as np
    >>> decimals_of(np.array([28.1, 30.0])), decimals_of(np.array([3.0])), decimals_of(np.array([2 / 3]))
    (1, 0, None)
    """
    # Larger numbers are whole, and written by any number of decimals.
    numbers = values[np.abs(values) < _LARGEST_EXACT]
    largest = float(np.abs(numbers).max(initial=0))
    # A number with more than twelve decimals is usually among the first ones; the others need not be tried then.
    at_least = _fewest(numbers[:_SAMPLE], largest, 0)
    return None if at_least is None else _fewest(numbers, largest, at_least)


def _fewest(numbers: NDArray[Any], largest: float, at_least: int) -> int | None:
    """Try one decimal after the other, on the numbers that the ones before did not write."""
    for decimals in range(at_least, _MOST_DECIMALS + 1):
        power = 10.0**decimals
        if largest * power >= _LARGEST_EXACT:
            return None
        numbers = numbers[
            (np.rint(numbers.astype(np.float64) * power) / power).astype(numbers.dtype) != numbers
        ]
        if not numbers.size:
            return decimals
    return None


def rounded(values: FloatArray, decimals: int | None) -> FloatArray:
    """Round numbers to a number of decimals; None leaves them as they are."""
    return values if decimals is None else np.round(values, decimals)
