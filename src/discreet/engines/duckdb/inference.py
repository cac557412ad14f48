"""What the cells of a text column are: numbers, dates, booleans or text, judged on every value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.engines.duckdb.connection import Conventions
from discreet.engines.sql.source import quoted_text

Answers = dict[str, bool | None]

_FIRST_LOOK = 1000
_BATCH = 64
_MARKS = {",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "'"}
_INTEGER = "-?(0|[1-9][0-9]*)"
_ONE_GROUP = "-?[1-9][0-9]{0,2},[0-9]{3}"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_ZONE = "(Z|[-+][0-9]{2}(:?[0-9]{2})?)"
_FINITE = "BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308"
_IN_OUR_ERA = ">= DATE '0001-01-01'"
_DATES = [f"{order} {separator}" for order in ("ymd", "dmy", "mdy") for separator in "/.-"]
_WITH_COMMA = {"comma", ".,", " ,"}
_ORDER = [
    "integer",
    "point",
    "comma",
    ",.",
    ".,",
    " .",
    " ,",
    "'.",
    "boolean",
    "date",
    "timestamp",
    "zoned",
    *_DATES,
]


class Queryable(Protocol):
    """What runs SQL: a connection, or a relation behind one."""

    def execute(self, query: str, /) -> Any:
        """Run a statement, and return its result."""
        ...


@dataclass(frozen=True)
class _CellType:
    """One thing a column may be: its cells' pattern, and a test, a conversion and questions in SQL over {x}."""

    pattern: str
    test: str
    value: str
    questions: Mapping[str, str]


@dataclass(frozen=True)
class Inferred:
    """For each column the SQL expression that converts it, and whether decimal commas were read."""

    expressions: dict[str, str]
    decimal_comma: bool


def infer(
    connection: Queryable,
    table: str,
    columns: Sequence[str],
    rules: Conventions | None,
    distinct: Mapping[str, str] | None = None,
) -> Inferred:
    """Find for each column the SQL expression that converts it; a column that stays text is itself.

    Kinds that do not fit the first rows are dropped at once; what is left is tested on every row of the
    table, the plainest first. Without rules only ISO dates and timestamps are looked for. Columns in ``distinct`` are
    tested in the table of their distinct values instead.
    """
    kinds = dict(_iso_kinds() if rules is None else _kinds(rules))
    rules = rules or Conventions()
    likely = _likely(connection, table, columns, kinds)
    findings: dict[str, Answers] = {column: {} for column in likely}
    for stage in (_integers, _plain_decimals, _rest):
        candidates = {
            column: {name: left[name] for name in stage(left)}
            for column, left in likely.items()
            if not _fits(findings[column])
        }
        for source in dict.fromkeys((table, *(distinct or {}).values())):
            tested = {
                column: kinds_
                for column, kinds_ in candidates.items()
                if (distinct or {}).get(column, table) == source
            }
            for column, facts in _examine(connection, source, tested):
                findings[column] |= facts
    comma = _writes_comma(findings.values(), rules)
    expressions = {column: column for column in columns}
    read = set()
    for column, facts in findings.items():
        chosen = _choose(facts, rules, comma)
        if chosen is not None:
            kind = kinds[chosen]
            read.add(chosen)
            no_fraction = "fraction" in kind.questions and not facts[f"{chosen} fraction"]
            expressions[column] = (_cast(kind.value, "BIGINT") if no_fraction else kind.value).replace(
                "{x}", column
            )
    return Inferred(expressions, bool(read & _WITH_COMMA))


def _likely(
    connection: Queryable, table: str, columns: Sequence[str], kinds: Mapping[str, _CellType]
) -> dict[str, dict[str, _CellType]]:
    """Return for each column with values the kinds whose pattern fits the first of them, if any does."""
    likely: dict[str, dict[str, _CellType]] = {}
    if not columns:
        return likely
    first = connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT {_FIRST_LOOK}").fetchall()
    for number, column in enumerate(columns):
        values = {row[number] for row in first} - {None} or _first_values(connection, table, column)
        left = {
            name: kind for name, kind in kinds.items() if all(re.fullmatch(kind.pattern, x) for x in values)
        }
        if values and left:
            likely[column] = left
    return likely


def _first_values(connection: Queryable, table: str, column: str) -> set[str]:
    """Return the first values of a column whose first rows are null."""
    query = f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {_FIRST_LOOK}"
    return {value for (value,) in connection.execute(query).fetchall()}


def _integers(left: Iterable[str]) -> set[str]:
    return {"integer"} & set(left)


def _plain_decimals(left: Iterable[str]) -> set[str]:
    """Choose the plain decimals, with the grouped numbers that look the same."""
    pairs = {"point": ".,", "comma": ",."}
    return {name for mark in pairs if mark in left for name in (mark, pairs[mark]) if name in left}


def _rest(left: Iterable[str]) -> set[str]:
    return set(left) - _integers(left) - _plain_decimals(left)


def _examine(
    connection: Queryable, source: str, candidates: Mapping[str, Mapping[str, _CellType]]
) -> Iterator[tuple[str, Answers]]:
    """Test the wanted kinds of each column, many columns in one pass; None means there was no value."""
    columns = [column for column, kinds in candidates.items() if kinds]
    for start in range(0, len(columns), _BATCH):
        batch = columns[start : start + _BATCH]
        questions = [
            (column, question, sql.replace("{x}", column))
            for column in batch
            for name, kind in candidates[column].items()
            for question, sql in _questions(name, kind)
        ]
        selected = ", ".join(sql for _, _, sql in questions)
        (answers,) = connection.execute(f"SELECT {selected} FROM {source}").fetchall()
        facts: dict[str, Answers] = {column: {} for column in batch}
        for (column, question, _), answer in zip(questions, answers, strict=True):
            facts[column][question] = answer
        yield from facts.items()


def _questions(name: str, kind: _CellType) -> Iterator[tuple[str, str]]:
    yield name, f"bool_and(coalesce({kind.test}, false)) FILTER (WHERE {{x}} IS NOT NULL)"
    for question, sql in kind.questions.items():
        yield f"{name} {question}", sql


def _kinds(rules: Conventions) -> Iterator[tuple[str, _CellType]]:
    yield "integer", _kind(_INTEGER, "CAST({x} AS BIGINT)")
    for name, mark in (("point", "."), ("comma", ",")):
        if rules.decimal in (None, mark) and rules.thousands != mark:
            yield name, _decimal(mark)
    for separator, mark in (",.", ".,", " .", " ,", "'."):
        if rules.decimal in (None, mark) and rules.thousands in (None, separator):
            yield separator + mark, _grouped(separator, mark)
    yield "boolean", _kind("(?i)(true|false)", "CAST({x} AS BOOLEAN)")
    yield from _iso_kinds()
    for order, separators in (("dmy", "/.-"), ("mdy", "/.-"), ("ymd", "/.")):
        if rules.dates in (None, order):
            for separator in separators:
                yield f"{order} {separator}", _date(order, separator)


def _kind(pattern: str, value: str, limit: str = "IS NOT NULL", **questions: str) -> _CellType:
    """Make a kind from the pattern of its cells, their conversion, and what the converted value must be."""
    attempt = value.replace("CAST(", "TRY_CAST(").replace("strptime(", "try_strptime(")
    return _CellType(pattern, f"({_matches(pattern)} AND {attempt} {limit})", value, questions)


def _decimal(mark: str) -> _CellType:
    """Make the kind of plain decimals; a bare exponent needs a sign, and whole numbers at most 15 digits."""
    integer = "(0|[1-9][0-9]*)"
    pattern = (
        f"-?({integer}?{_MARKS[mark]}[0-9]+([eE][-+]?[0-9]+)?|{integer}[eE][-+][0-9]+|0|[1-9][0-9]{{0,14}})"
    )
    clear = f"bool_or(contains({{x}}, ',') AND NOT {_matches(_ONE_GROUP)})"
    value = f"CAST(replace({{x}}, '{mark}', '.') AS DOUBLE)"
    return _kind(pattern, value, _FINITE, **({"clear": clear} if mark == "," else {}))


def _grouped(separator: str, mark: str) -> _CellType:
    pattern = f"-?(0|[1-9][0-9]{{0,2}}({_MARKS[separator]}[0-9]{{3}})*)({_MARKS[mark]}[0-9]+)?"
    bare = f"regexp_replace({{x}}, {quoted_text(_MARKS[separator])}, '', 'g')"
    value = f"CAST(replace({bare}, '{mark}', '.') AS DOUBLE)"
    huge = f"bool_or(TRY_CAST({bare} AS BIGINT) IS NULL)"
    return _kind(pattern, value, _FINITE, fraction=f"bool_or(contains({{x}}, '{mark}'))", huge=huge)


def _date(order: str, separator: str) -> _CellType:
    widths = {"d": "[0-9]{1,2}", "m": "[0-9]{1,2}", "y": "[0-9]{4}"}
    codes = {"d": "%d", "m": "%m", "y": "%Y"}
    pattern = _MARKS.get(separator, separator).join(widths[part] for part in order)
    layout = quoted_text(separator.join(codes[part] for part in order))
    return _kind(pattern, f"CAST(strptime({{x}}, {layout}) AS DATE)", _IN_OUR_ERA)


def _iso_kinds() -> Iterator[tuple[str, _CellType]]:
    """Return the kinds that need no convention; times with a zone are turned into UTC."""
    yield "date", _kind(_DAY, "CAST({x} AS DATE)", _IN_OUR_ERA)
    yield "timestamp", _kind(_DAY + _TIME, "CAST({x} AS TIMESTAMP)", _IN_OUR_ERA)
    yield "zoned", _kind(_DAY + _TIME + _ZONE, "(CAST({x} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')", _IN_OUR_ERA)


def _matches(pattern: str) -> str:
    return f"regexp_full_match({{x}}, {quoted_text(pattern)})"


def _cast(value: str, type_: str) -> str:
    return value.replace("AS DOUBLE", f"AS {type_}")


def _writes_comma(findings: Iterable[Answers], rules: Conventions) -> bool | None:
    """Return whether the file as a whole writes decimal commas; None when its columns do not decide."""
    if rules.decimal is not None:
        return rules.decimal == ","
    comma = point = False
    for facts in findings:
        if facts.get("integer"):
            continue
        comma |= bool(facts.get("comma") and facts["comma clear"])
        comma |= bool(facts.get(".,") and not facts.get("point") and not facts.get("comma"))
        point |= bool(facts.get("point") and not facts.get(".,"))
        point |= bool(facts.get(",.") and not facts.get("comma") and not facts.get("point"))
    return comma if comma != point else None


def _fits(facts: Answers) -> set[str]:
    return {name for name in _ORDER if facts.get(name)}


def _choose(facts: Answers, rules: Conventions, comma: bool | None) -> str | None:
    """Choose the kind of a column among those that every value passed; None leaves it text."""
    fits = _fits(facts)
    fits -= {name for name in fits if facts.get(f"{name} huge") and not facts[f"{name} fraction"]}
    if "integer" in fits:
        return "integer"
    if "point" in fits and ".," in fits and comma:
        return ".,"
    # 1,234 may be a fraction or a grouped number: the rest of the file decides, or else the delimiter.
    if "comma" in fits and "point" not in fits and not facts["comma clear"]:
        prefers = rules.delimiter == ";" if comma is None else comma
        fits.discard(",." if prefers else "comma")
    # Where day first and month first both fit every value, nobody knows which is meant, and the column stays
    # text.
    for separator in "/.-":
        if {f"dmy {separator}", f"mdy {separator}"} <= fits:
            fits -= {f"dmy {separator}", f"mdy {separator}"}
    return next((name for name in _ORDER if name in fits), None)
