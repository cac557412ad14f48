r"""Labels: how a released cell is written, and how it is read back.

==================  =====================================================
``*``               anything
``[20, 29]``        numbers or dates from 20 to 29; ``[20, 30)`` leaves 30 out
``< 20``, ``>= 90`` bottom and top coding
``{a, b}``          one of these values; ``,``, ``{``, ``}`` and ``\`` are escaped by ``\``
``021**``           a code with this beginning (``**139``: this end), each star one character at most
other text          exactly this value, or the node of a hierarchy with this name
==================  =====================================================

ARX's ``[20, 30[``, ``]20, 30]``, ``20-29``, ``<20`` and ``≥90`` are read as well.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import BoolArray

STAR = "*"
ValueKind = Literal["number", "date", "text", "other"]
_LARGEST_PLAIN = 1e21
_WRITTEN_ALIKE = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_null)

_NUMBER = r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf)"
_DATE = r"-?\d{4,}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
_BRACKETS = re.compile(rf"([\[\](])\s*({_DATE}|{_NUMBER})\s*,\s*({_DATE}|{_NUMBER})\s*([\[\])])")
_COMPARED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_DATE}|{_NUMBER})")
_HYPHENED = re.compile(r"(\d+(?:\.\d+)?)\s?[-–]\s?(\d+(?:\.\d+)?)")
_PREFIX = re.compile(r"([^*]+)\*+", re.DOTALL)
_SUFFIX = re.compile(r"\*+([^*]+)", re.DOTALL)
_ESCAPED = re.compile(r"[\\,{}]")
_ITEM = re.compile(r"(?:\\.|[^\\,{}])*", re.DOTALL)


def value_kind(kind: pa.DataType) -> ValueKind:
    """Return whether a column's type holds numbers, dates (timestamps too), text, or something else."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    return "other"


def text(value: object) -> str:
    """Write one value as its canonical text.

    >>> [text(value) for value in (39, 2.0, 0.1, True, "a", dt.date(2024, 2, 1))]
    ['39', '2', '0.1', 'true', 'a', '2024-02-01']
    """
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if isinstance(value, np.datetime64):
        return _trimmed(str(value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        integral = value.is_integer() and abs(value) < _LARGEST_PLAIN
        return str(int(value)) if integral else repr(value)
    if isinstance(value, Decimal):
        # Adding 0 turns -0 into 0.
        return format(value.normalize() + 0, "f")
    if isinstance(value, dt.datetime):
        return value.isoformat() if value.tzinfo else _trimmed(value.isoformat())
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def texts(values: pa.Array) -> pa.Array:
    """Write every value of an array as its canonical text; nulls stay null."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return texts(values.dictionary).take(values.indices)
    if value_kind(kind) == "text" or any(is_a(kind) for is_a in _WRITTEN_ALIKE):
        return values.cast(pa.string())
    if value_kind(kind) == "date" and getattr(kind, "tz", None) is None:
        written = (_trimmed(value) for value in np.datetime_as_string(datetimes(values)))
        return pa.array([None if value == "NaT" else value for value in written], pa.string())
    return pa.array([None if value is None else text(value) for value in values.to_pylist()], pa.string())


def datetimes(values: pa.Array) -> np.ndarray[Any, np.dtype[np.datetime64]]:
    """Return dates and timestamps as datetime64, with a time zone as local time; null is NaT."""
    if getattr(values.type, "tz", None) is not None:
        values = pc.local_timestamp(values)
    times: np.ndarray[Any, np.dtype[np.datetime64]] = values.to_numpy(zero_copy_only=False)
    return times


def interval(low: object, high: object, *, closed: Literal["both", "left"] = "both") -> str:
    """Write an interval; an end that is None is open.

    >>> interval(20, 29), interval(20, 30, closed="left"), interval(7, 7)
    ('[20, 29]', '[20, 30)', '7')
    >>> interval(None, 20, closed="left"), interval(None, 20), interval(90, None)
    ('< 20', '<= 20', '>= 90')
    """
    if low is None and high is None:
        return STAR
    if low is None:
        return f"{'<' if closed == 'left' else '<='} {text(high)}"
    if high is None:
        return f">= {text(low)}"
    if low == high:
        return text(low)
    return f"[{text(low)}, {text(high)}{']' if closed == 'both' else ')'}"


def set_of(values: Sequence[str]) -> str:
    r"""Write a set of values; a single value stands for itself where it cannot be misread.

    >>> set_of(["flu", "cough, dry"]), set_of(["flu"])
    ('{flu, cough\\, dry}', 'flu')
    """
    if len(values) == 1 and isinstance(parse_label(values[0]), Exact):
        return values[0]
    return "{" + ", ".join(_ESCAPED.sub(r"\\\g<0>", value) for value in values) + "}"


@dataclass(frozen=True)
class Label:
    """What a released cell says; ``raw`` is its text, which a label always covers."""

    raw: str

    @property
    def covers_null(self) -> bool:
        """Whether the label may stand for a null: only ``*`` may."""
        return False

    def covers(self, values: pa.Array) -> BoolArray:
        """Return for each value whether the label may stand for it."""
        return _among(values, [self.raw])


@dataclass(frozen=True)
class Any_(Label):  # noqa: N801
    """Anything: ``*``."""

    @property
    def covers_null(self) -> bool:
        """Whether the label may stand for a null: this one may."""
        return True

    def covers(self, values: pa.Array) -> BoolArray:
        """Cover every value, null included."""
        return np.ones(len(values), dtype=np.bool_)


@dataclass(frozen=True)
class Exact(Label):
    """One value, or the name of a hierarchy's node."""


@dataclass(frozen=True)
class Interval(Label):
    """Numbers or dates between two bounds, given as text; a bound that is None is open."""

    low: str | None
    high: str | None
    closed_low: bool = True
    closed_high: bool = True

    def covers(self, values: pa.Array) -> BoolArray:
        """Cover the numbers or dates between the bounds; of text only the label's own."""
        values = _decoded(values)
        inside = ~np.asarray(values.is_null(nan_is_null=True))
        for bound, closed, sign in ((self.low, self.closed_low, 1), (self.high, self.closed_high, -1)):
            if bound is not None:
                order = _compared(values, bound)
                if order is None:
                    return _among(values, [self.raw])
                inside &= (order * sign > 0) | ((order == 0) if closed else False)
        return inside


@dataclass(frozen=True)
class SetOf(Label):
    """One of several values."""

    items: tuple[str, ...]

    def covers(self, values: pa.Array) -> BoolArray:
        """Cover the values of the set."""
        return _among(values, [*self.items, self.raw])


@dataclass(frozen=True)
class MaskLabel(Label):
    """Codes with a visible beginning or end, and no more characters than the mask has."""

    visible: str
    from_: Literal["left", "right"]

    def covers(self, values: pa.Array) -> BoolArray:
        """Cover the codes that show what is visible and are no longer than the mask."""
        written = texts(_decoded(values))
        starts = pc.starts_with if self.from_ == "right" else pc.ends_with
        matching = pc.and_(
            starts(written, self.visible), pc.less_equal(pc.utf8_length(written), len(self.raw))
        )
        return np.asarray(matching.fill_null(False))


def parse_label(label: str) -> Label:
    r"""Read a released cell.

    >>> parse_label("[20, 30)").covers(pa.array([19, 20, 29, 30]))
    array([False,  True,  True, False])
    >>> parse_label("{flu, cough\\, dry}").items
    ('flu', 'cough, dry')
    """
    if label and not label.strip(STAR):
        return Any_(label)
    if match := _BRACKETS.fullmatch(label):
        opening, low, high, closing = match.groups()
        return Interval(label, low, high, opening == "[", closing == "]")
    if match := _COMPARED.fullmatch(label):
        sign, bound = match.groups()
        if sign in ("<", "<=", "≤"):
            return Interval(label, None, bound, closed_high=sign != "<")
        return Interval(label, bound, None, closed_low=sign != ">")
    if (match := _HYPHENED.fullmatch(label)) and float(match[1]) <= float(match[2]):
        return Interval(label, match[1], match[2])
    if label.startswith("{") and label.endswith("}") and (items := _items(label[1:-1])) is not None:
        return SetOf(label, items)
    if match := _PREFIX.fullmatch(label):
        return MaskLabel(label, match[1], "right")
    if match := _SUFFIX.fullmatch(label):
        return MaskLabel(label, match[1], "left")
    return Exact(label)


def _items(inside: str) -> tuple[str, ...] | None:
    """Split the inside of a set label at its plain commas, or give None where it is no set."""
    items, at = [], 0
    while at <= len(inside):
        item_match = _ITEM.match(inside, at)
        end = item_match.end() if item_match else at
        if end < len(inside) and inside[end] != ",":
            return None
        item = inside[at:end]
        items.append(re.sub(r"\\(.)", r"\1", item.removeprefix(" ") if at else item, flags=re.DOTALL))
        at = end + 1
    return tuple(items) if inside else ()


def _among(values: pa.Array, items: Sequence[str]) -> BoolArray:
    """Return for each value whether it is one of the items, numbers and dates whatever way written."""
    values = _decoded(values)
    kind = value_kind(values.type)
    inside = np.zeros(len(values), np.bool_)
    if kind == "number" and not pa.types.is_decimal(values.type):
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        for item in items:
            if re.fullmatch(_NUMBER, item):
                inside |= numbers == _number(item)
    else:
        spellings = {*items, *(_canonical(item, kind) for item in items)}
        inside |= np.asarray(pc.is_in(texts(values), value_set=pa.array(sorted(spellings), pa.string())))
    inside &= ~np.asarray(values.is_null(nan_is_null=True))
    return inside


def _canonical(item: str, kind: ValueKind) -> str:
    if kind == "number" and re.fullmatch(_NUMBER, item) and "inf" not in item:
        return text(Decimal(item))
    return _trimmed(item.replace(" ", "T")) if kind == "date" and re.fullmatch(_DATE, item) else item


def _compared(values: pa.Array, bound: str) -> np.ndarray[Any, np.dtype[np.int8]] | None:
    """Return the sign of value minus bound, or None where the two cannot be compared; null gives anything."""
    kind = value_kind(values.type)
    numbers: Any
    limit: Any
    if kind == "number" and re.fullmatch(_NUMBER, bound):
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        limit = Decimal(bound) if pa.types.is_decimal(values.type) else _number(bound)
    elif kind == "date" and re.fullmatch(_DATE, bound):
        try:
            numbers, limit = _aligned(values, bound)
        except ValueError:
            return None
    else:
        return None
    return np.asarray(numbers > limit, dtype=np.int8) - np.asarray(numbers < limit, dtype=np.int8)


def _aligned(values: pa.Array, bound: str) -> tuple[Any, np.datetime64]:
    """Bring dates and a bound to one clock: the universal one where both have a zone, else the local one."""
    zone = _ZONE.search(bound[10:])
    if zone and getattr(values.type, "tz", None):
        universal = dt.datetime.fromisoformat(bound).astimezone(dt.UTC).replace(tzinfo=None)
        return values.cast(pa.timestamp(values.type.unit)).to_numpy(zero_copy_only=False), np.datetime64(
            universal
        )
    return datetimes(values), np.datetime64(bound.removesuffix(zone[0] if zone else ""))


def _number(written: str) -> int | float:
    return int(written) if re.fullmatch(r"[+-]?\d+", written) else float(written)


def _decoded(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _trimmed(moment: str) -> str:
    """Drop zeros after the second, and midnight."""
    if "." in moment:
        moment = moment.rstrip("0").rstrip(".")
    return moment.removesuffix("T00:00:00")
