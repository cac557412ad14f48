"""Recipes as SQL: run by DuckDB, each statement gives the cells that the publisher gave."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import (
    Recipe,
    Release,
    Table,
    flat,
    from_mapping,
    icd,
    identifier,
    intervals,
    masked,
    other,
    quasi,
    sensitive,
    tree,
)
from discreet.core.errors import InputError, ParameterError
from discreet.core.hierarchy.specs import cuts
from discreet.guarantees import KAnonymity
from discreet.publish import Generalization, Mondrian
from discreet.publish.recipes.sql import statement

DIALECTS = ["duckdb", "ansi"]
TOWNS = ["Łódź", "it's", 'say "hi"', "東京", "a, b", "", "*", "50%"]
DAYS = st.dates(dt.date(1890, 1, 1), dt.date(2110, 12, 31))
MOMENTS = st.datetimes(dt.datetime(1890, 1, 1), dt.datetime(2110, 12, 31)) | DAYS.map(
    lambda day: dt.datetime(day.year, day.month, day.day)
)
FLOATS = (
    st.floats(-1e6, 1e6)
    | st.integers(-60, 60).map(lambda one: one / 10)
    | st.integers(-60, 60).map(lambda one: one * 0.1)
    | st.sampled_from([0.3, -0.0, float("nan"), 5e-324, -5e-324, 1e-5, 2.675])
)
INTEGERS = st.integers(-60, 60) | st.integers(-(2**62), 2**62)
DECIMALS = st.decimals(-1000, 1000, places=2)
CODES = st.text("0123456789", max_size=6) | st.text(max_size=5).filter(lambda one: "\0" not in one)

CASES: dict[str, tuple[Any, pa.DataType, st.SearchStrategy[Any]]] = {
    "whole intervals": (intervals(5, 10, 20), pa.int64(), INTEGERS),
    "moved intervals": (intervals(7, 14, origin=-3), pa.int32(), st.integers(-100, 100)),
    "coded intervals": (intervals(5, 10, bottom=-12, top=33), pa.int64(), st.integers(-60, 60)),
    "single numbers": (intervals(1, 2), pa.int16(), st.integers(-9, 9)),
    "halves of whole numbers": (intervals(2.5, 5, bottom=-7.5), pa.int64(), st.integers(-60, 60)),
    "tenths": (intervals(0.1, 0.5, 1), pa.float64(), FLOATS),
    "small": (intervals(0.00001, 0.0001), pa.float64(), st.floats(-1, 1)),
    "moved tenths": (intervals(0.3, 0.9, origin=0.1, bottom=-2.05, top=4.2), pa.float64(), FLOATS),
    "whole of floats": (intervals(5, 10), pa.float64(), FLOATS),
    "short floats": (intervals(0.25, 1), pa.float32(), st.floats(-100, 100, width=32)),
    "money": (intervals(0.5, 2), pa.decimal128(9, 2), DECIMALS),
    "months": (intervals("month", "quarter", "year"), pa.date32(), DAYS),
    "weeks": (intervals("day", "week"), pa.date32(), DAYS),
    "three days": (intervals(3, 9, unit="day", origin="2001-02-03"), pa.date32(), DAYS),
    "decades": (intervals(1, 10, unit="year"), pa.date32(), DAYS),
    "fiscal years": (intervals("quarter", "year", origin="2024-02-01"), pa.date32(), DAYS),
    "coded dates": (intervals("month", "year", bottom="1950-01-01", top="2000-01-01"), pa.date32(), DAYS),
    "moments": (intervals("day", "week"), pa.timestamp("us"), MOMENTS),
    "months of moments": (
        intervals("month", "quarter", bottom="1950-05-17T06:00:00", top="2000-03-04"),
        pa.timestamp("us"),
        MOMENTS,
    ),
    "cuts": (cuts([-5, 18, 19, 40, 65], [18, 65]), pa.int64(), INTEGERS),
    "broken cuts": (cuts([-0.5, 17.5, 40]), pa.int64(), st.integers(-60, 60)),
    "cuts of floats": (cuts([-0.3, 0.1, 0.3, 2.675], [0.3]), pa.float64(), FLOATS),
    "cuts of money": (cuts([-3.25, 10]), pa.decimal128(9, 2), DECIMALS),
    "cuts of moments": (cuts(["1950-05-17", "2000-03-04T06:00:00"]), pa.timestamp("us"), MOMENTS),
    "masks": (masked(width=9), pa.string(), CODES),
    "masks from the left": (masked("#", "left", width=9), pa.string(), CODES),
    "two masks": (masked(levels=2, width=9), pa.string(), CODES),
    "masked numbers": (masked(width=25), pa.int64(), INTEGERS),
    "masked floats": (masked(from_="left", width=30), pa.float64(), FLOATS),
    "masked money": (masked(width=12), pa.decimal128(9, 2), DECIMALS),
    "masked dates": (masked(), pa.date32(), DAYS),
    "masked moments": (masked(width=26), pa.timestamp("us"), MOMENTS),
    "masked answers": (masked(levels=1, width=5), pa.bool_(), st.booleans()),
    "flat": (flat(), pa.string(), CODES),
    "nothing": (None, pa.float64(), FLOATS.map(lambda one: one + 0.0)),
    "a mapping": (
        from_mapping({town: f"{'o' if len(town) > 4 else chr(39)} {len(town) % 2}" for town in TOWNS}),
        pa.string(),
        st.sampled_from(TOWNS),
    ),
    "a tree": (
        tree({"'all'": {"east \\": {"far": ["Łódź", "東京"]}, 'w"est': ["it's", "a, b", "*"]}}),
        pa.string(),
        st.sampled_from(["Łódź", "東京", "it's", "a, b", "*"]),
    ),
    "a tree of numbers": (
        tree({"low": [-1, 2, 0.5], "high": [10.25, 300, 1e22]}),
        pa.float64(),
        st.sampled_from([-1.0, 2.0, 0.5, 10.25, 300.0, 1e22]),
    ),
    "a tree of days": (
        tree({"old": ["1999-12-31"], "new": ["2000-01-01", "2024-02-29"]}),
        pa.date32(),
        st.sampled_from([dt.date(1999, 12, 31), dt.date(2000, 1, 1), dt.date(2024, 2, 29)]),
    ),
}  # fmt: skip
NAMES = st.sampled_from(["age", 'the "zip"', "it's", "größe 東", "step_1", "SELECT", "a;--", "source"])


def recipe_of(release: Release) -> Recipe:
    """Read the two parts of a release's recipe from text."""
    return Recipe(json.loads(json.dumps(release.recipe)), json.loads(json.dumps(release.private)))


@cache
def database() -> duckdb.DuckDBPyConnection:
    """Return the database of all tests: to open one costs several times what a statement does."""
    return duckdb.connect()


def run(written: str, frame: pa.Table, name: str = "data") -> pa.Table:
    """Run a statement on a table."""
    database().register(name, frame)
    try:
        return database().sql(written).to_arrow_table()
    finally:
        database().unregister(name)


def cells(recipe: Any, frame: pa.Table, dialect: Any, name: str) -> dict[int, object]:
    """Run the statement of a recipe, and return the cells by row."""
    made = run(statement(recipe, table="the table's", dialect=dialect), frame, "the table's")
    assert made.column_names == [name, "row no"]
    return dict(zip(made["row no"].to_pylist(), made[name].to_pylist(), strict=True))


@pytest.mark.parametrize("case", CASES)
@given(st.data())
def test_duckdb_gives_the_cells_of_the_release(case: str, data: st.DataObject) -> None:
    spec, type_, values = CASES[case]
    column = pa.array(data.draw(st.lists(st.none() | values, min_size=1, max_size=12)), type_)
    if column.null_count == len(column):
        return
    name = data.draw(NAMES)
    frame = pa.table({"id": ["x"] * len(column), name: column, "row no": range(len(column))})
    table = Table(frame, {"id": identifier(), name: quasi(spec), "row no": other(allow_unique=True)})
    hierarchy = table.encoded[name].hierarchy
    level = data.draw(st.integers(0, 1 if hierarchy is None else hierarchy.height))
    release = Generalization(KAnonymity(1), levels={name: level}).release(table)
    expected = dict(zip(release.frame["row no"].to_pylist(), release.frame[name].to_pylist(), strict=True))
    for dialect in DIALECTS:
        found = cells(recipe_of(release), frame, dialect, name)
        assert list(map(repr, map(found.get, range(len(column))))) == list(
            map(repr, map(expected.get, range(len(column))))
        )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_many_columns_at_once(dialect: Any) -> None:
    n = 300
    frame = pa.table({
        "id": [f"secret {one}" for one in range(n)],
        "age": [None if one % 50 == 0 else one % 90 - 3 for one in range(n)],
        "pay": [one * 0.7 for one in range(n)],
        "born": [dt.date(1950, 1, 1) + dt.timedelta(days=37 * one) for one in range(n)],
        "zip": [f"{one * 7919 % 100000:05d}" for one in range(n)],
        "town": [TOWNS[one % 8] for one in range(n)],
        "sick": [f"d{one % 5}" for one in range(n)],
        "row no": range(n),
    })  # fmt: skip
    columns = {
        "id": identifier(pseudonym="a key that is long enough"),
        "age": quasi(intervals(5, 10, top=80)),
        "pay": quasi(intervals(0.5, 2)),
        "born": quasi(intervals("month", "year")),
        "zip": quasi(masked()),
        "town": quasi(),
        "sick": sensitive(),
        "row no": other(allow_unique=True),
    }
    levels = {"age": 1, "pay": 2, "born": 2, "zip": 3, "town": 1}
    release = Generalization(KAnonymity(1), levels=levels).release(Table(frame, columns))
    written = statement(recipe_of(release), dialect=dialect)
    made = run(written, frame).sort_by("row no")
    wanted = release.frame.drop_columns(["id"]).sort_by("row no")
    assert made.column_names == wanted.column_names
    for name in wanted.column_names:
        assert made[name].to_pylist() == wanted[name].to_pylist(), name
    assert "secret" not in written


def test_days_between_cuts_end_on_a_day() -> None:
    frame = pa.table({"day": [dt.date(2020, 1, 5), dt.date(2020, 6, 1), dt.date(2020, 6, 20)]})
    spec = cuts(["2020-02-01", "2020-06-15"])
    recipe = recipe_of(
        Generalization(KAnonymity(1), levels={"day": 1}).release(Table(frame, {"day": quasi(spec)}))
    )
    assert run(statement(recipe), frame)["day"].to_pylist() == [
        "< 2020-02-01",
        "[2020-02-01, 2020-06-14]",
        ">= 2020-06-15",
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_value_that_the_tree_does_not_know_becomes_the_root(dialect: Any) -> None:
    frame = pa.table({"town": ["Ulm", "Nice"]})
    spec = from_mapping({"Ulm": "Germany", "Nice": "France"})
    recipe = recipe_of(
        Generalization(KAnonymity(1), levels={"town": 1}).release(Table(frame, {"town": quasi(spec)}))
    )
    towns = run(statement(recipe, dialect=dialect), pa.table({"town": ["Ulm", "Oslo", None]}))["town"]
    assert towns.to_pylist() == ["Germany", "*", None]


def test_standard_sql_knows_nothing_of_duckdb() -> None:
    frame = pa.table({
        "age": [1.5, 2.5], "day": [dt.date(2020, 1, 5)] * 2, "week": [dt.date(2020, 1, 5)] * 2, "zip": ["11", "22"],
    })  # fmt: skip
    columns = {
        "age": quasi(intervals(0.5)),
        "day": quasi(intervals("month")),
        "week": quasi(intervals("week")),
        "zip": quasi(masked()),
    }
    levels = {"age": 1, "day": 1, "week": 1, "zip": 1}
    recipe = recipe_of(Generalization(KAnonymity(1), levels=levels).release(Table(frame, columns)))
    written = statement(recipe, dialect="ansi")
    for word in ("isnan", "make_date", "last_day", "//", "::", "%", "HUGEINT", "AS VARCHAR)"):
        assert word not in written
    assert "make_date" in statement(recipe)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns_that_the_recipe_does_not_know_are_not_read(dialect: Any) -> None:
    """An extra column once took the place of a step, and its values came out as labels."""
    frame = pa.table({"age": [21, 27, 34], "pay": [1.5, 2.5, 3.5], "born": [dt.date(2020, 1, 5)] * 3})
    columns = {"age": quasi(intervals(5, 10)), "pay": quasi(intervals(2)), "born": quasi(intervals("month"))}
    release = Generalization(KAnonymity(1), levels={"age": 2, "pay": 1, "born": 1}).release(
        Table(frame, columns)
    )
    written = statement(recipe_of(release), dialect=dialect)
    for one in range(1, 40):
        extra = {f"step_{one}": ["a person's name"] * 3, "source": [{"age": 99}] * 3}
        made = run(written, pa.table(frame.to_pydict() | extra))
        assert made.column_names == ["age", "pay", "born"]
        assert sorted(made["age"].to_pylist()) == ["[20, 29]", "[20, 29]", "[30, 39]"]
        assert set(made["pay"].to_pylist()) == {"[0, 2)", "[2, 4)"}


def test_hierarchies_that_no_database_knows_are_refused() -> None:
    table = Table(pa.table({"diag": ["E11.9", "E11.8", "I10"]}), {"diag": quasi(icd(10))})
    recipe = recipe_of(Generalization(KAnonymity(1), levels={"diag": 1}).release(table))
    with pytest.raises(InputError, match="'diag' cannot be written as SQL"):
        statement(recipe)


def test_boxes_are_refused() -> None:
    table = Table(pa.table({"age": [1, 2, 3, 4]}), {"age": quasi()})
    with pytest.raises(InputError, match="discreet apply"):
        statement(recipe_of(Mondrian(KAnonymity(2)).release(table)))


def test_what_has_no_sql_is_refused_by_name() -> None:
    moments = pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 2, pa.timestamp("us", tz="UTC"))
    clocks = pa.array([dt.time(9)] * 2)
    for array, spec in ((moments, intervals("month")), (clocks, masked())):
        table = Table(pa.table({"when": array}), {"when": quasi(spec)})
        recipe = recipe_of(Generalization(KAnonymity(1), levels={"when": 1}).release(table))
        with pytest.raises(InputError, match="'when' cannot be written as SQL"):
            statement(recipe)
    table = Table(pa.table({"when": [Decimal("1.5")]}), {"when": quasi(intervals(10, 20))})
    recipe = recipe_of(Generalization(KAnonymity(1), levels={"when": 1}).release(table))
    with pytest.raises(InputError, match="'when' a level"):
        statement({**recipe.data, "levels": {"when": 9}})
    with pytest.raises(ParameterError, match="'dialect' parameter of statement"):
        statement(recipe, dialect="oracle")  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "spec",
    [
        intervals(10, 20),
        intervals(10, bottom=25, top=55),
        intervals(2.5, 10),
        cuts([30, 40, 45]),
        cuts([39.5]),
    ],
)
def test_a_broken_number_in_a_column_of_whole_ones_is_not_rounded(spec: Any, dialect: Any) -> None:
    whole = pa.table({"age": [20, 25, 31, 38, 41, 48, 59], "row no": range(7)})
    columns = {"age": quasi(spec), "row no": other(allow_unique=True)}
    made = Generalization(KAnonymity(1), levels={"age": 1}).release(Table(whole, columns))
    recipe = recipe_of(made)
    broken = pa.table({"age": [39.7, 39.2, 29.999, 44.5, 24.99, 59.5, None], "row no": range(7)})
    applied = recipe.apply(broken)
    wanted = dict(zip(applied.frame["row no"].to_pylist(), applied.frame["age"].to_pylist(), strict=True))
    assert cells(recipe, broken, dialect, "age") == wanted
    assert cells(
        recipe, whole.cast(pa.schema({"age": pa.float64(), "row no": pa.int64()})), dialect, "age"
    ) == cells(recipe, whole, dialect, "age")
