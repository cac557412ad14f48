"""Hierarchies over a line: nested intervals and nested cuts of numbers and dates."""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, build_hierarchy, domain_of
from discreet.core.params import require
from discreet.core.tables.labels import STAR, datetimes, interval, text, value_kind

Point = int | float | str
_UNITS = {
    "day": ("D", 1),
    "week": ("D", 7),
    "month": ("M", 1),
    "quarter": ("M", 3),
    "year": ("M", 12),
    "decade": ("M", 120),
}
# Days and months before 1970: December 29, 1969 was a Monday, and year 0 is where years are counted from.
_A_MONDAY = -3
_YEAR_ZERO = -1970 * 12


@public
def intervals(
    *widths: float | str,
    origin: float | str | dt.date = 0,
    bottom: float | str | dt.date | None = None,
    top: float | str | dt.date | None = None,
    unit: str | None = None,
) -> Intervals:
    """Make nested intervals, the finest first, for numbers or dates.

    Parameters
    ----------
    *widths : number or str
        The width at each level, every one a multiple of the one before. Dates take widths in ``unit``, or
        words: ``intervals("month", "quarter", "year")``. Weeks begin on Monday.
    origin : number, or a date
        Where an interval begins; years begin there too: ``intervals("year", origin="2024-04-01")``.
    bottom, top : number or date, optional
        Bottom and top coding: values below ``bottom``, and from ``top`` on, fall into one node each.
    unit : {"day", "week", "month", "quarter", "year", "decade"}, optional
        What the widths of dates count.

    Examples
    --------
    >>> ages = intervals(5, 10, top=90).bind(pa.array([21, 24, 26, 93]), column="age")
    >>> ages.labels[1:]
    ([None, '[20, 24]', '[25, 29]', '>= 90'], [None, '[20, 29]', '>= 90'], ['*'])
    """
    require(
        "intervals",
        "unit",
        unit,
        _Condition(unit is None or unit in _UNITS, "None or one of " + ", ".join(_UNITS)),
    )
    words = (
        bool(widths) and unit is None and all(isinstance(width, str) and width in _UNITS for width in widths)
    )
    numbers = bool(widths) and all(_is_number(width) and width > 0 for width in widths)  # type: ignore[operator]
    integral = unit is None or all(isinstance(width, Integral) for width in widths)
    require(
        "intervals",
        "widths",
        widths,
        _Condition(words or (numbers and integral), "positive numbers, or words for dates"),
    )
    spec = Intervals(tuple(_point(width) for width in widths), _point(origin), _end(bottom), _end(top), unit)
    nested = all(_divides(fine, coarse) for fine, coarse in pairwise(spec.steps))
    require(
        "intervals",
        "widths",
        widths,
        _Condition(nested, "widths of which each is a multiple of the one before"),
    )
    for name, end in (("origin", spec.origin), ("bottom", spec.bottom), ("top", spec.top)):
        fits = end is None or (name == "origin" and end == 0) or _is_date(end) == spec.dated
        require("intervals", name, end, _Condition(fits, "a date" if spec.dated else "a number"))
    apart = spec.bottom is None or spec.top is None or _position(spec.bottom) < _position(spec.top)
    require("intervals", "top", top, _Condition(apart, "above the bottom"))
    return spec


def cuts(*levels: Sequence[float | str | dt.date]) -> Cuts:
    """Make nested intervals between cut points, the finest level first.

    Each level keeps some cuts of the one before. A cut belongs to the interval above it; below the first and
    from the last cut on the intervals are open.

    >>> cuts([18, 40, 65], [40]).bind(pa.array([3, 18, 64, 80]), column="age").labels[1:]
    ([None, '< 18', '[18, 39]', '[40, 64]', '>= 65'], [None, '< 40', '>= 40'], ['*'])
    """
    points = tuple(tuple(_point(cut) for cut in level) for level in levels)
    kinds = {"date" if _is_date(cut) else type(cut) for level in points for cut in level}
    alike = kinds == {"date"} or (bool(kinds) and kinds <= {int, float})
    rising = alike and all(level and list(level) == sorted(set(level), key=_position) for level in points)
    require("cuts", "levels", levels, _Condition(rising, "lists of ascending numbers, or of ascending dates"))
    nested = all(set(coarse) <= set(fine) for fine, coarse in pairwise(points))
    require("cuts", "levels", levels, _Condition(nested, "lists of which each holds cuts of the one before"))
    return Cuts(points)


@dataclass(frozen=True)
class Intervals(HierarchySpec):
    """Nested intervals of equal width; made by `intervals`."""

    kind: ClassVar[str] = "intervals"

    widths: tuple[Point, ...]
    origin: Point = 0
    bottom: Point | None = None
    top: Point | None = None
    unit: str | None = None

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """The unit (days ``D``, months ``M``, none for numbers) and the number of units of each level."""
        steps = []
        for width in self.widths:
            unit, size = _UNITS[str(width if self.unit is None else self.unit)] if self.dated else ("", 1)
            steps.append((unit, size if isinstance(width, str) else size * _exact(width)))
        return steps

    @property
    def dated(self) -> bool:
        """Whether the intervals are of dates."""
        return self.unit is not None or isinstance(self.widths[0], str)

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Put each value in its interval, level by level, below ``*``."""
        leaves = domain_of(domain)
        line = _Line.of(leaves, self.dated, self.bottom, self.top, column)
        n_endless = sum(isinstance(at, float) and not line.is_coded(at) for at in line.values)
        if n_endless:
            raise HierarchyError(
                f"Column '{column}': {n_endless} infinite values lie in no interval; give bottom and top."
            )
        bins = self._date_bins if self.dated else self._number_bins
        upper = [line.named(*bins(step, leaves, line)) for step in self.steps]
        return build_hierarchy(leaves, [*upper, [STAR] * len(leaves)], column=column, ordered=True)

    def _number_bins(self, step: tuple[str, Any], leaves: pa.Array, line: _Line) -> tuple[list[int], _Ends]:
        origin, width = _exact(self.origin), step[1]
        bins = [0 if isinstance(at, float) else (at - origin) // width for at in line.values]
        return bins, lambda k: (origin + k * width, origin + (k + 1) * width)

    def _date_bins(self, step: tuple[str, Any], leaves: pa.Array, line: _Line) -> tuple[list[int], _Ends]:
        unit, width = step
        origin = _A_MONDAY if unit == "D" else _YEAR_ZERO
        if isinstance(self.origin, str):
            origin = int(_position(self.origin).astype(f"datetime64[{unit}]").astype(np.int64))
        units = datetimes(leaves).astype(f"datetime64[{unit}]").astype(np.int64)

        def ends(k: int) -> tuple[Any, Any]:
            edges = np.array([origin + k * width, origin + (k + 1) * width]).astype(f"datetime64[{unit}]")
            low, high = edges.astype("datetime64[D]")
            return low, high

        return ((units - origin) // width).tolist(), ends


@dataclass(frozen=True, repr=False)
class Cuts(HierarchySpec):
    """Nested intervals between given cut points; made by `cuts`."""

    kind: ClassVar[str] = "cuts"

    levels: tuple[tuple[Point, ...], ...]

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Put each value between its two cuts, level by level, below ``*``."""
        leaves = domain_of(domain)
        line = _Line.of(leaves, isinstance(self.levels[0][0], str), None, None, column)
        upper = [self._level([_position(cut) for cut in level], line) for level in self.levels]
        return build_hierarchy(leaves, [*upper, [STAR] * len(leaves)], column=column, ordered=True)

    def _level(self, points: list[Any], line: _Line) -> list[str]:
        edges = [None, *points, None]
        bins = [bisect_right(points, at) for at in line.values]
        return line.named(bins, lambda k: (edges[k], edges[k + 1]))

    def __repr__(self) -> str:
        return f"Cuts({', '.join(str(len(level)) for level in self.levels)} cuts)"


_Ends = Callable[[int], tuple[Any, Any]]


@dataclass(frozen=True, repr=False)
class _Line:
    """The leaves as exact numbers or moments, and how intervals among them are written."""

    values: list[Any]
    discrete: bool
    bottom: Any
    top: Any

    @classmethod
    def of(cls, leaves: pa.Array, dated: bool, bottom: Point | None, top: Point | None, column: str) -> _Line:
        """Arrange the leaves on the line of their kind, numbers or dates."""
        actual = value_kind(leaves.type)
        needed = "date" if dated else "number"
        if len(leaves) and actual != needed:
            advice = " Give the widths of dates a unit." if actual == "date" else ""
            raise HierarchyError(
                f"Column '{column}' is of type {leaves.type}, its intervals need {needed}s.{advice}"
            )
        values: list[Any] = (
            list(datetimes(leaves)) if dated else [_exact(value) for value in leaves.to_pylist()]
        )
        discrete = pa.types.is_date(leaves.type) or pa.types.is_integer(leaves.type)
        low, high = (None if end is None else _position(end) for end in (bottom, top))
        return cls(values, discrete, low, high)

    def is_coded(self, at: Any) -> bool:
        """Return whether bottom or top coding takes the value."""
        return bool(
            (self.bottom is not None and at < self.bottom) or (self.top is not None and at >= self.top)
        )

    def named(self, bins: Sequence[int], ends: _Ends) -> list[str]:
        """Write the interval of each value: its bin, whose ends are given, or the coded bottom or top."""
        names: dict[int, str] = {}
        written = []
        for at, number in zip(self.values, bins, strict=True):
            if self.is_coded(at):
                low = self.bottom is not None and at < self.bottom
                written.append(self._written(None, self.bottom) if low else self._written(self.top, None))
                continue
            if number not in names:
                low, high = ends(number)
                low = low if self.bottom is None or low is None else max(low, self.bottom)
                high = high if self.top is None or high is None else min(high, self.top)
                names[number] = self._written(low, high)
            written.append(names[number])
        return written

    def _written(self, low: Any, high: Any) -> str:
        if self.discrete and low is not None and high is not None and _is_whole(low) and _is_whole(high):
            before = high.astype("datetime64[D]") - 1 if isinstance(high, np.datetime64) else high - 1
            return interval(_as_written(low), _as_written(before))
        return interval(_as_written(low), _as_written(high), closed="left")


@dataclass(frozen=True)
class _Condition:
    """A condition on parameters already judged, with its wording."""

    holds: bool
    wording: str

    def admits(self, value: object) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.wording


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _is_date(point: Point) -> bool:
    try:
        return isinstance(point, str) and bool(dt.datetime.fromisoformat(point))
    except ValueError:
        return False


def _point(value: object) -> Point:
    """Bring a parameter to an int, a float or the ISO text of a date."""
    if _is_number(value):
        return int(value) if isinstance(value, Integral) else float(value)  # type: ignore[arg-type]
    return text(value)


def _end(value: object) -> Point | None:
    return None if value is None else _point(value)


def _exact(value: Any) -> Any:
    """Return a number as int or fraction, as it is written; the infinite stay floats."""
    if isinstance(value, int) or not math.isfinite(value):
        return value
    return Fraction(text(value))


def _position(point: Point) -> Any:
    """Return a number exactly, a date's text as a moment."""
    if not isinstance(point, str):
        return _exact(point)
    return np.datetime64(dt.datetime.fromisoformat(point).replace(tzinfo=None))


def _divides(fine: tuple[str, Any], coarse: tuple[str, Any]) -> bool:
    if fine[0] == coarse[0]:
        return bool(coarse[1] % fine[1] == 0)
    return fine == ("D", 1) and coarse[0] == "M"


def _is_whole(value: Any) -> bool:
    if isinstance(value, np.datetime64):
        return bool(value.astype("datetime64[D]") == value)
    return bool(value.denominator == 1)


def _as_written(value: Any) -> Any:
    """Return an exact number as int or float, a moment without its idle precision."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value
