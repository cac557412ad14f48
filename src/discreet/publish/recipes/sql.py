"""A recipe of levels as SQL: the same generalization wherever the next rows live."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import pyarrow as pa

from discreet.core.errors import InputError
from discreet.core.hierarchy.bound import Hierarchy, type_named
from discreet.core.hierarchy.specs import Cuts, Flat, Intervals, Masked, Rows, spec_from_dict
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.schema import DROPPED, Role
from discreet.core.tables.labels import STAR, interval, text, value_kind
from discreet.publish.recipes.dialects import (
    DIALECTS,
    DIGITS,
    DOUBLE,
    Ansi,
    brackets,
    closed,
    decimals,
    exact,
    literal,
    quoted,
)
from discreet.publish.recipes.recipe import Recipe
from discreet.publish.recipes.recipe_parts import TOP

_LONG_AGO, _MONDAY = dt.date(1, 1, 1), dt.date(1969, 12, 29)


def statement(
    recipe: Recipe | Mapping[str, Any], table: str = "data", dialect: Literal["duckdb", "ansi"] = "duckdb"
) -> str:
    """Write the generalization of a recipe as one SELECT statement.

    Only columns that the recipe publishes are read, whatever else the table holds. Identifiers are left out, also those
    a release keeps as pseudonyms, since no key is in a recipe. A value that a tree does not know becomes the root, and
    so does a code longer than its mask, and a value that no published label takes in, where values of a column stand at
    several levels. Where a column of whole numbers meets a number between two of them, its
    interval is half-open, as `Recipe.apply` writes it.
    The statement generalizes; it suppresses no row and judges no guarantee.

    Parameters
    ----------
    recipe
        The recipe of a release that generalized each value to one level, or whole columns.
    table
        The table to read from.
    dialect
        ``"duckdb"``, or ``"ansi"`` for what most engines take.

    Examples
    --------
    >>> from discreet.guarantees import KAnonymity
    >>> recipe = {"format": 1, "guarantee": KAnonymity(2).to_dict(), "levels": {"sex": 1}, "columns": [
    ...     {"name": "sex", "role": "quasi", "type": "string"}, {"name": "disease", "role": "sensitive"}]}
    >>> print(statement(recipe))
    SELECT
      '*' AS "sex",
      "disease"
    FROM "data" AS source
    """
    require("statement", "table", table, InstanceOf((str,), "the name of a table"))
    require("statement", "dialect", dialect, OneOf(tuple(DIALECTS)))
    parsed = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
    if "levels" not in parsed.data:
        raise InputError(
            "The recipe holds boxes, not levels of whole columns, and boxes are no plain SQL: "
            "they are applied with `discreet apply`."
        )
    entries = [parsed.column(entry) for entry in parsed.data["columns"] if Role(entry["role"]) not in DROPPED]
    plan = DIALECTS[dialect](table, [entry["name"] for entry in entries])
    cells = [_cell(plan, entry, parsed) for entry in entries]
    listed = ",\n  ".join(
        quoted(entry["name"]) if cell is None else f"{cell} AS {quoted(entry['name'])}"
        for entry, cell in zip(entries, cells, strict=True)
    )
    return f"SELECT\n  {listed}\nFROM {plan.source()}"


def _cell(plan: Ansi, entry: Mapping[str, Any], recipe: Recipe) -> str | None:
    """Write one column's cell; None where it stays as it is."""
    levels = {**recipe.data["levels"], **recipe.private.get("levels", {})}
    level = levels.get(entry["name"], 0) if entry["role"] == Role.QUASI.value else 0
    if level == 0:
        return _cleaned(plan, entry, recipe)
    spec = _spec(entry.get("hierarchy"))
    if type(spec) not in _KINDS:
        raise InputError(
            f"The generalization of column '{entry['name']}' cannot be written as SQL: its hierarchy rests on "
            "knowledge that a database does not have. Apply the recipe with `discreet apply`."
        )
    height, writer = _KINDS[type(spec)]
    if isinstance(level, Mapping):
        return _cut_cell(plan, entry, recipe, spec, level)
    if level == TOP:
        level = height(spec)
    if not isinstance(level, int | float) or not 0 <= level <= height(spec):
        raise InputError(f"The recipe gives '{entry['name']}' a level that its hierarchy does not have.")
    if level == height(spec):
        return literal(spec.columns[-1][0] if isinstance(spec, Rows) else STAR)
    recipe.require_private(entry["name"], ["type"], entry)
    return writer(_Column(plan, entry["name"], type_named(entry["type"])), spec, int(level))


def _cut_cell(
    plan: Ansi, entry: Mapping[str, Any], recipe: Recipe, spec: Any, cut: Mapping[str, list[str]]
) -> str:
    """Write a cell that shows the one of its labels that is published, from the finest level up, or the root."""
    height, writer = _KINDS[type(spec)]
    recipe.require_private(entry["name"], ["type"], entry)
    column = _Column(plan, entry["name"], type_named(entry["type"]))
    cases = [f"WHEN {column.value} IS NULL THEN NULL"]
    for level in sorted(map(int, cut)):
        if level > height(spec):
            raise InputError(f"The recipe gives '{entry['name']}' a level that its hierarchy does not have.")
        labels = ", ".join(map(literal, cut[str(level)]))
        cell = plan.step(writer(column, spec, level) if level else column.text(column.value))
        cases.append(f"WHEN {cell} IN ({labels}) THEN {cell}")
    root = literal(spec.columns[-1][0] if isinstance(spec, Rows) else STAR)
    return "CASE " + "\n    ".join([*cases, f"ELSE {root}"]) + " END"


def _cleaned(plan: Ansi, entry: Mapping[str, Any], recipe: Recipe) -> str | None:
    """Write a quasi-identifier's own cell as it is judged: floats have one zero, and no NaN."""
    if entry["role"] != Role.QUASI.value:
        return None
    recipe.require_private(entry["name"], ["type"], entry)
    if not pa.types.is_floating(type_named(entry["type"])):
        return None
    column = quoted(entry["name"])
    # Adding 0 turns -0.0 into 0.0.
    return f"CASE WHEN {plan.is_nan(column)} THEN NULL ELSE {column} + 0 END"


def _spec(spec: Mapping[str, Any] | None) -> Any:
    if spec is None:
        return Flat()
    if "kind" in spec:
        return spec_from_dict(spec)
    tree = Hierarchy.from_dict(spec)
    levels = zip(tree.levels, tree.labels, strict=True)
    return Rows(tuple(tuple(str(labels[node]) for node in nodes[1:]) for nodes, labels in levels))


class _Column:
    """A column to be generalized: its name, its type, and how its values are written."""

    def __init__(self, plan: Ansi, name: str, type_: pa.DataType) -> None:
        self.plan, self.name, self.type = plan, name, type_
        self.kind = value_kind(type_)
        self.is_float = pa.types.is_floating(type_)
        self.is_discrete = pa.types.is_integer(type_) or pa.types.is_date(type_)
        self.is_integer = pa.types.is_integer(type_)
        if getattr(type_, "tz", None) is not None:
            raise self.refused("its type has a time zone; make it local time first")
        self.value = quoted(name)
        if self.is_float:
            cleaned = f"CASE WHEN {plan.is_nan(self.value)} THEN NULL ELSE CAST({self.value} AS {DOUBLE}) END"
            self.value = plan.step(cleaned)

    def refused(self, why: str) -> InputError:
        """Make the error for a column that cannot be written as SQL."""
        return InputError(f"The generalization of column '{self.name}' cannot be written as SQL: {why}.")

    def require(self, kind: str) -> None:
        """Refuse a type that a hierarchy does not fit."""
        if self.kind != kind:
            raise self.refused(f"its intervals need {kind}s, and its type is {self.type}")

    def or_broken(self, integral: str, broken: str) -> str:
        """Write a cell of whole numbers, and the one of a number between two of them, which the next rows may hold."""
        if not self.is_integer or integral == broken:
            return integral
        return f"CASE WHEN {self.value} <> FLOOR({self.value}) THEN {broken} ELSE {integral} END"

    def bound(self, point: Any) -> str:
        """Write a number or a date that values are compared with."""
        if self.kind == "date":
            return f"TIMESTAMP {literal(dt.datetime.fromisoformat(point).isoformat(' '))}"
        if self.is_float:
            # Without an exponent the number would be a decimal, and compared as one.
            return text(point) if "e" in text(point) else f"{text(point)}E0"
        return exact(Fraction(text(point)))

    def text(self, value: str) -> str:
        """Write a value as its canonical text, as the labels of trees and masks do."""
        written = f"CAST({value} AS {self.plan.varchar})"
        if self.kind == "text":
            return value
        if self.is_integer or pa.types.is_boolean(self.type) or pa.types.is_date(self.type):
            return written
        if self.is_float:
            return self.plan.float_text(value)
        if pa.types.is_timestamp(self.type):
            day = f"CAST(CAST({value} AS DATE) AS {self.plan.varchar})"
            clock = f"CASE WHEN {value} = CAST({value} AS DATE) THEN '' ELSE 'T' || SUBSTRING({written} FROM 12) END"
            return f"{day} || {clock}"
        if pa.types.is_decimal(self.type):
            trimmed = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {written}))"
            return trimmed if self.type.scale > 0 else written
        raise self.refused(f"values of the type {self.type} are written differently from engine to engine")


def _intervals(column: _Column, spec: Intervals, level: int) -> str:
    column.require("date" if spec.dated else "number")
    written = (_dates if spec.dated else _numbers)(column, spec, *spec.steps[level - 1])
    codes = [
        f"WHEN {column.value} {sign} {column.bound(end)} THEN {literal(f'{sign} {text(_point(end))}')}"
        for sign, end in (("<", spec.bottom), (">=", spec.top))
        if end is not None
    ]
    return f"CASE {' '.join(codes)} ELSE {written} END" if codes else written


def _numbers(column: _Column, spec: Intervals, unit: str, step: Any) -> str:
    """Write intervals of numbers exactly: in decimals, and what a decimal rounds up put right."""
    plan, width = column.plan, Fraction(step)
    origin = Fraction(text(spec.origin)) % width
    bottom, top = (None if end is None else Fraction(text(end)) for end in (spec.bottom, spec.top))
    constants = [constant for constant in (origin, width, bottom, top) if constant is not None]
    scales = [decimals(constant) for constant in constants]
    scale = max([*scales, column.type.scale if pa.types.is_decimal(column.type) else 0])
    if max(len(str(math.floor(abs(constant)))) for constant in constants) + scale > DIGITS:
        raise column.refused("its intervals have too many digits")
    number = plan.step(f"CAST({column.value} AS DECIMAL({DIGITS}, {scale}))")
    wide = exact(width)
    shifted = f"{number} - {exact(origin)}" if origin else number
    # The remainder of a negative number is negative in SQL; the second one brings it up.
    low = plan.step(f"{number} - MOD(MOD({shifted}, {wide}) + {wide}, {wide})")
    if column.is_float or column.is_integer:
        # Casting to a decimal rounds: a value below the start of its interval belongs to the one before.
        start = f"CAST({low} AS {DOUBLE})" if column.is_float else low
        low = plan.step(f"CASE WHEN {column.value} < {start} THEN {low} - {wide} ELSE {low} END")
    high = plan.clamped(f"{low} + {wide}", ">", None if top is None else exact(top))
    low = plan.clamped(low, "<", None if bottom is None else exact(bottom))
    first = plan.step(plan.number_text(low, scale))
    tight = closed(first, plan.step(plan.number_text(f"{high} - 1", scale))) if column.is_discrete else ""
    loose = brackets(first, plan.step(plan.number_text(high, scale)), ")")
    if tight and scale:
        tight = f"CASE WHEN {low} = FLOOR({low}) AND {high} = FLOOR({high}) THEN {tight} ELSE {loose} END"
    return column.or_broken(tight, loose) if tight else loose


def _dates(column: _Column, spec: Intervals, unit: str, width: int) -> str:
    """Write intervals of dates: months counted from year 0, days from year 1."""
    plan, day = column.plan, f"CAST({column.value} AS DATE)"
    start = _point(spec.origin).date() if isinstance(spec.origin, str) else None
    if unit == "M":
        origin = 0 if start is None else start.year * 12 + start.month - 1
        month = plan.step(f"EXTRACT(YEAR FROM {day}) * 12 + EXTRACT(MONTH FROM {day}) - 1")
        # Python's remainder is never negative, so that SQL's is not either.
        low = plan.step(f"{month} - MOD({month} + {-origin % width}, {width})")
        first, last, high = (
            plan.first_day(low),
            plan.last_day(f"{low} + {width - 1}"),
            plan.first_day(f"{low} + {width}"),
        )
    else:
        origin = ((start or _MONDAY) - _LONG_AGO).days
        past = plan.step(f"MOD({plan.day_number(day)} + {-origin % width}, {width})")
        first, last, high = (
            f"CAST(CAST({day} {shift} * INTERVAL '1' DAY AS DATE) AS {plan.varchar})"
            for shift in (f"- {past}", f"+ ({width - 1} - {past})", f"+ ({width} - {past})")
        )
    bottom, top = (None if end is None else _point(end) for end in (spec.bottom, spec.top))
    first = plan.clamped(plan.step(first), "<", None if bottom is None else literal(text(bottom)))
    if not column.is_discrete:
        high = plan.clamped(plan.step(high), ">", None if top is None else literal(text(top)))
        return brackets(first, high, ")")
    if any(end is not None and end.time() != dt.time() for end in (bottom, top)):
        raise column.refused("its bottom or top has a time of day, and its values have none")
    until = None if top is None else literal(text(top - dt.timedelta(days=1)))
    return closed(first, plan.clamped(plan.step(last), ">", until))


def _cuts(column: _Column, spec: Cuts, level: int) -> str:
    points = spec.levels[level - 1]
    column.require("date" if isinstance(points[0], str) else "number")
    ends = [None, *map(_point, points), None]
    written = []
    for discrete in (column.is_discrete, False):
        labels = [_between(low, high, discrete) for low, high in pairwise(ends)]
        cases = [
            f"WHEN {column.value} < {column.bound(point)} THEN {literal(label)}"
            for point, label in zip(points, labels[:-1], strict=True)
        ]
        last = f"WHEN {column.value} IS NOT NULL THEN {literal(labels[-1])}"
        written.append(f"CASE {' '.join([*cases, last])} END")
    return column.or_broken(*written)


def _between(low: Any, high: Any, discrete: bool) -> str:
    """Write the interval between two cuts, closed where whole numbers or days allow it."""
    if low is None or high is None or not discrete:
        return interval(low, high, closed="left")
    if isinstance(low, dt.datetime):
        midnight = low.time() == high.time() == dt.time()
        return interval(low, high - dt.timedelta(days=1)) if midnight else interval(low, high, closed="left")
    integral = float(low).is_integer() and float(high).is_integer()
    return interval(int(low), int(high) - 1) if integral else interval(low, high, closed="left")


def _masks(column: _Column, spec: Masked, level: int) -> str:
    """Write masks; a code longer than the width they are made for becomes the root."""
    if spec.width is None:
        raise column.refused("its masks have no width")
    plan, longest = column.plan, spec.width
    code = column.value if column.kind == "text" else plan.step(column.text(column.value))
    stars, n_visible = literal(spec.char * level), longest - level
    masked = f"SUBSTRING({code} FROM 1 FOR {n_visible}) || {stars}"
    if spec.from_ == "left":
        masked = f"{stars} || SUBSTRING({code} FROM CHAR_LENGTH({code}) - {n_visible} + 1)"
    return (
        f"CASE WHEN CHAR_LENGTH({code}) > {longest} THEN {literal(STAR)} "
        f"WHEN CHAR_LENGTH({code}) < {n_visible} THEN {code} ELSE {masked} END"
    )


def _rows(column: _Column, spec: Rows, level: int) -> str:
    """Write a tree's level, node by node."""
    code = column.value if column.kind == "text" else column.plan.step(column.text(column.value))
    nodes: dict[str, list[str]] = {}
    for leaf, label in zip(spec.columns[0], spec.columns[level], strict=True):
        nodes.setdefault(label, []).append(literal(leaf))
    cases = [f"WHEN {code} IN ({', '.join(leaves)}) THEN {literal(label)}" for label, leaves in nodes.items()]
    root = literal(spec.columns[-1][0])
    return "CASE " + "\n    ".join([*cases, f"WHEN {code} IS NOT NULL THEN {root}"]) + " END"


def _height(spec: Masked) -> float:
    """Return the level of a mask's root, as far as the specification says it."""
    masks = [
        label for label in (spec.levels, None if spec.width is None else spec.width - 1) if label is not None
    ]
    return min(masks) + 1 if masks else math.inf


def _point(point: Any) -> Any:
    return dt.datetime.fromisoformat(point).replace(tzinfo=None) if isinstance(point, str) else point


_Writer = Callable[[_Column, Any, int], str]
_KINDS: dict[type, tuple[Callable[[Any], float], _Writer]] = {
    Intervals: (lambda spec: len(spec.widths) + 1, _intervals),
    Cuts: (lambda spec: len(spec.levels) + 1, _cuts),
    Masked: (lambda spec: _height(spec), _masks),
    Rows: (lambda spec: len(spec.columns) - 1, _rows),
    Flat: (lambda spec: 1, _rows),
}
