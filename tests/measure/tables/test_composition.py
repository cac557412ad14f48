"""Intersections and differences of releases, against trying every point and against releases of known people."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import repeated as oracle

from discreet import Table, person, quasi, sensitive, tree
from discreet.errors import InputError, SchemaError
from discreet.guarantees import KAnonymity
from discreet.measure import composition
from discreet.measure.tables.label_overlaps import common_tree
from discreet.publish import Mondrian

AGES, TOWNS = range(6), ("ab", "ac", "b")
GRID = (list(AGES), [*TOWNS, "ad", "dc", "elsewhere"])
AGE = st.one_of(
    st.just("*"), st.sampled_from([str(age) for age in AGES]),
    st.tuples(st.integers(0, 4), st.integers(1, 5)).map(lambda ends: f"[{min(ends)}, {max(ends)}]"),
)  # fmt: skip
TOWN = st.sampled_from(["*", "ab", "ac", "b", "a*", "*c", "{ab, b}", "{ac, b}"])
ROWS = st.lists(st.tuples(AGE, TOWN, st.sampled_from("xyz")), min_size=1, max_size=7)


def described(label: str, column: str) -> frozenset[Any]:
    """What a label covers, written out by hand."""
    if label == "*":
        return frozenset(GRID[0] if column == "age" else GRID[1])
    if column == "age":
        ends = [int(end) for end in label.strip("[]").split(", ")]
        return frozenset(range(ends[0], ends[-1] + 1))
    if label == "a*":
        return frozenset({"ab", "ac", "ad"})
    if label == "*c":
        return frozenset({"ac", "dc"})
    return frozenset(label.strip("{}").split(", "))


def classes(rows: list[tuple[str, str, str]]) -> list[oracle.Class]:
    found: dict[Any, Counter[str]] = {}
    for age, town, illness in rows:
        found.setdefault((age, town), Counter())[illness] += 1
    return [
        ((described(age, "age"), described(town, "town")), values) for (age, town), values in found.items()
    ]


def table(rows: list[tuple[str, str, str]]) -> Table:
    columns = dict(zip(("age", "town", "illness"), map(list, zip(*rows, strict=True)), strict=True))
    return Table(pa.table(columns), {"age": quasi(), "town": quasi(), "illness": sensitive()})


@settings(max_examples=200, deadline=None)
@given(releases=st.lists(ROWS, min_size=2, max_size=3))
def test_intersections_are_those_of_every_point(releases: list[Any]) -> None:
    found = composition([table(rows) for rows in releases])
    expected = oracle.figures([classes(rows) for rows in releases], GRID)
    assert found.n_combinations == expected["n_combinations"]
    assert found.smallest == expected["smallest"]
    assert found.values["illness"] == expected["values"]
    assert found.disclosed["illness"] == expected["disclosed"]
    assert found.rows_at_risk["illness"] == expected["rows_at_risk"]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 3))
def test_nobody_who_is_in_both_has_a_value_that_is_ruled_out(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(int(rng.integers(20, 40)), "xyz"[int(rng.integers(3))]) for _ in range(14)]
    parts = [rows[:11], rows[3:]]
    tables = [
        Table(
            pa.table(
                {"who": list(range(len(part))), "age": [a for a, _ in part], "illness": [i for _, i in part]}
            ),
            {"who": person(), "age": quasi(), "illness": sensitive()},
        )
        for part in parts
    ]
    released = [Mondrian(KAnonymity(k)).release(each).table for each in tables]
    found = composition(released)
    assert found.n_combinations > 0
    assert found.smallest >= 1
    # Who is in both: the least left of their values is no less than what the figures say.
    frames = [each.frame.to_pylist() for each in released]
    for age, illness in rows[3:11]:
        left = [{row["illness"] for row in frame if oracle_covers(row["age"], age)} for frame in frames]
        common = set.intersection(*left)
        assert illness in common
        assert len(common) >= found.values["illness"]


def oracle_covers(label: str, age: int) -> bool:
    ends = [int(end) for end in str(label).strip("[]").split(", ")] if label != "*" else [0, 100]
    return ends[0] <= age <= ends[-1]


def test_differences_show_who_came() -> None:
    before = [("[0, 2]", "*", "x"), ("[0, 2]", "*", "y"), ("[3, 5]", "*", "x"), ("[3, 5]", "*", "z")]
    after = [*before, ("[3, 5]", "*", "z"), ("[3, 5]", "*", "z")]
    (difference,) = composition([table(before), table(after)]).differences
    assert (difference.regions, difference.grown, difference.shrunk) == (2, 1, 0)
    assert (difference.fewest, difference.disclosed) == (2, 1)
    (back,) = composition([table(after), table(before)]).differences
    assert (back.grown, back.shrunk, back.fewest, back.disclosed) == (0, 1, 2, 1)
    (same,) = composition([table(before), table(before)]).differences
    assert (same.grown, same.shrunk, same.fewest, same.disclosed) == (0, 0, None, 0)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, more=ROWS)
def test_differences_of_growing_tables_count_newcomers(rows: list[Any], more: list[Any]) -> None:
    (difference,) = composition([table(rows), table(rows + more)]).differences
    if difference.fewest is not None:
        assert 1 <= difference.fewest <= len(more)
    assert difference.shrunk == 0


@settings(max_examples=60, deadline=None)
@given(releases=st.lists(ROWS, min_size=2, max_size=3), more=ROWS, at=st.integers(0, 3))
def test_another_release_hides_nothing(releases: list[Any], more: Any, at: int) -> None:
    """Every figure of fewer releases is there beside those of more, wherever the other one stands."""

    def every(tables: list[Any]) -> tuple[set[Any], set[Any]]:
        found = composition([table(rows) for rows in tables])
        parts = [each for each in (found, *found.parts) if each.n_combinations]
        return (
            {(each.smallest, each.values["illness"], each.disclosed["illness"]) for each in parts},
            {(each.fewest, each.fewest_disclosed) for each in found.differences},
        )

    fewer, larger = every(releases), every([*releases[:at], more, *releases[at:]])
    assert fewer[0] <= larger[0]
    assert fewer[1] <= larger[1]


def test_names_of_groups_need_their_hierarchy() -> None:
    spec = tree({"north": ["Oslo", "Bergen"], "south": ["Rome", "Nice"]})
    roles = {"town": quasi(), "illness": sensitive()}
    first = Table(pa.table({"town": ["north", "north"], "illness": ["x", "y"]}), roles)
    second = Table(pa.table({"town": ["Oslo", "Rome"], "illness": ["x", "x"]}), roles)
    assert composition([first, second], {"town": spec}).n_combinations == 1
    assert composition([first, second]).n_combinations == 0
    with pytest.raises(SchemaError, match="different hierarchies"):
        common_tree("town", [spec.to_dict(), tree({"all": ["Oslo", "Rome"]}).to_dict()])
    with pytest.raises(InputError, match="private folders"):
        common_tree("town", [True, spec.to_dict()])
    with pytest.raises(SchemaError, match="code system"):
        common_tree("code", [{"kind": "icd", "version": 10}] * 2)
    assert common_tree("age", [{"kind": "intervals", "widths": [5]}, {"kind": "masked"}, None]) is None


def test_releases_that_cannot_be_compared_are_refused() -> None:
    one = Table(pa.table({"age": ["1"], "illness": ["x"]}), {"age": quasi(), "illness": sensitive()})
    other = Table(pa.table({"town": ["1"], "illness": ["x"]}), {"town": quasi(), "illness": sensitive()})
    with pytest.raises(InputError, match="share no quasi-identifier"):
        composition([one, other])
    with pytest.raises(InputError, match="share no sensitive column"):
        composition([one, Table(pa.table({"age": ["1"]}), {"age": quasi()})])
    with pytest.raises(InputError, match="Two or more"):
        composition([one])


def test_dates_and_open_ends_overlap_as_they_should() -> None:
    roles = {"day": quasi(), "illness": sensitive()}

    def release(label: str) -> Table:
        return Table(pa.table({"day": [label], "illness": ["x"]}), roles)

    for first, second, n in [
        ("[2024-01-01, 2024-01-31]", "[2024-01-31, 2024-02-29]", 1),
        ("[2024-01-01, 2024-01-31]", "[2024-02-01, 2024-02-29]", 0),
        ("[2024-01-01, 2024-01-31)", "2024-01-31", 0),
        ("< 20", ">= 20", 0),
        ("<= 20", ">= 20", 1),
        ("[10, 20)", "[20, 30)", 0),
        ("[10, 20)", "15", 1),
        (">= 90", "*", 1),
    ]:
        assert composition([release(first), release(second)]).n_combinations == n, (first, second)
