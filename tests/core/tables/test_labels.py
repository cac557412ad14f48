"""Labels: what is written is read back, and covers what it should."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.tables import labels
from discreet.core.tables.labels import (
    Any_,
    Exact,
    Interval,
    MaskLabel,
    SetOf,
    interval,
    parse_label,
    set_of,
    text,
    texts,
)

NUMBERS = pa.array([-5, 0, 19, 20, 25, 29, 30, 90, 1000])
words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=8)


def covered(label: str, values: pa.Array) -> list[object]:
    return list(values.filter(pa.array(parse_label(label).covers(values))).to_pylist())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (39, "39"),
        (2.0, "2"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (np.float32(0.5), "0.5"),
        (np.int8(4), "4"),
        (True, "true"),
        ("as it is ", "as it is "),
        (Decimal("2.50"), "2.5"),
        (Decimal("1E+2"), "100"),
        (dt.date(2024, 1, 31), "2024-01-31"),
        (dt.datetime.fromisoformat("2024-01-31"), "2024-01-31"),
        (dt.datetime.fromisoformat("2024-01-31T12:30:00.100"), "2024-01-31T12:30:00.1"),
        (np.datetime64("2024-01-31"), "2024-01-31"),
        (pa.scalar(7), "7"),
    ],
)
def test_text_of_a_scalar(value: object, expected: str) -> None:
    assert text(value) == expected


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, -3]),
        pa.array([0.5, None, 2.0, 1e20]),
        pa.array([True, None, False]),
        pa.array(["a", None, ""]),
        pa.array(["a", None, "a"]).dictionary_encode(),
        pa.array([dt.date(2024, 1, 31), None]),
        pa.array(["2024-01-31 01:02:03.000004", None, "1960-01-01"]).cast(pa.timestamp("us")),
        pa.array([dt.datetime(2024, 7, 1, tzinfo=dt.UTC), None], pa.timestamp("us", "Europe/Paris")),
        pa.array([Decimal("1.50"), None]),
        pa.array([dt.time(12, 30), None]),
    ],
)
def test_texts_agree_with_text(values: pa.Array) -> None:
    expected = [None if value is None else text(value) for value in values.to_pylist()]
    assert texts(values).to_pylist() == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("[20, 29]", [20, 25, 29]),
        ("[20, 30)", [20, 25, 29]),
        ("[20,30[", [20, 25, 29]),
        ("]20, 30]", [25, 29, 30]),
        ("(20, 30)", [25, 29]),
        ("20-29", [20, 25, 29]),
        ("20 – 29", [20, 25, 29]),
        ("[-5, 0]", [-5, 0]),
        ("[-inf, 0]", [-5, 0]),
        ("[19.5, 20.5]", [20]),
        ("< 20", [-5, 0, 19]),
        ("<20", [-5, 0, 19]),
        ("<= 20", [-5, 0, 19, 20]),
        ("≤20", [-5, 0, 19, 20]),
        (">= 90", [90, 1000]),
        ("≥90", [90, 1000]),
        (">90", [1000]),
        ("25", [25]),
        ("25.0", [25]),
        ("{20, 90, x}", [20, 90]),
        ("*", NUMBERS.to_pylist()),
        ("*****", NUMBERS.to_pylist()),
        ("2*", [20, 25, 29]),
        ("**0", [0, 20, 30, 90]),
        ("thirty", []),
        ("30-20", []),
        ("", []),
    ],
)
def test_covers_numbers(label: str, expected: list[int]) -> None:
    assert covered(label, NUMBERS) == expected
    assert covered(label, NUMBERS.cast(pa.float64())) == expected
    assert covered(label, NUMBERS.cast(pa.decimal128(30, 2))) == [Decimal(one) for one in expected]
    assert covered(label, NUMBERS.dictionary_encode()) == expected


@pytest.mark.parametrize(
    "label", ["[2024-01-01, 2024-02-01)", "[2024-01-01, 2024-01-31]", "{2024-01-01, 2024-01-31}"]
)
def test_covers_dates_and_timestamps(label: str) -> None:
    days = [dt.date(2023, 12, 31), dt.date(2024, 1, 1), dt.date(2024, 1, 31), dt.date(2024, 2, 1)]
    dates = pa.array(days)
    assert covered(label, dates) == days[1:3]
    assert parse_label(label).covers(dates.cast(pa.timestamp("ms"))).tolist() == [False, True, True, False]


def test_bounds_of_zoned_timestamps_are_local_unless_they_name_a_zone() -> None:
    at = pa.array([dt.datetime(2023, 12, 31, 23, 30, tzinfo=dt.UTC)], pa.timestamp("us", "Europe/Paris"))
    assert parse_label("[2024-01-01, 2024-01-31]").covers(at).tolist() == [True]
    assert parse_label(">= 2024-01-01T00:00:00Z").covers(at).tolist() == [False]
    assert parse_label("<= 2024-01-01T00:30:00+01:00").covers(at).tolist() == [True]
    assert parse_label(texts(at)[0].as_py()).covers(at).tolist() == [True]


def test_no_label_but_the_star_covers_null() -> None:
    for values in (pa.array([None, 20.0, float("nan")]), pa.array([None, "20", None])):
        for label in ("[0, 90]", "20", "{20, 30}", "2*", "< 90", "0-90"):
            assert parse_label(label).covers(values)[[0, 2]].tolist() == [False, False]
            assert not parse_label(label).covers_null
        assert parse_label("*").covers(values).all()
    assert parse_label("*").covers_null


def test_intervals_mean_nothing_to_text_but_themselves() -> None:
    values = pa.array(["20", "20-29", "25", "[20, 29]"])
    assert covered("20-29", values) == ["20-29"]
    assert covered("[20, 29]", values) == ["[20, 29]"]
    assert covered("[2024-13-45, 2024-14-01]", pa.array([dt.date(2024, 1, 1)])) == []


def test_masks_show_a_beginning_or_an_end() -> None:
    codes = pa.array(["02", "0213", "02139", "02140", "021399", "12139"])
    assert covered("021**", codes) == ["0213", "02139", "02140"]
    assert covered("**139", codes) == ["02139", "12139"]
    assert isinstance(parse_label("0**1"), Exact)


def test_kinds_of_labels() -> None:
    kinds = {
        "*": Any_,
        "a": Exact,
        "[1, 2]": Interval,
        "{a, b}": SetOf,
        "a*": MaskLabel,
        "*a": MaskLabel,
        "<=50K": Exact,
    }
    kinds |= {"{a": Exact, "{a}b}": Exact, "[a, b]": Exact, "2024-01-31": Exact, "{}": SetOf}
    assert {label: type(parse_label(label)) for label in kinds} == kinds


@given(st.integers(), st.integers())
def test_closed_intervals_of_ints_round_trip(one: int, other: int) -> None:
    low, high = min(one, other), max(one, other)
    read = parse_label(interval(low, high))
    if low == high:
        assert read == Exact(str(low))
    else:
        assert read == Interval(f"[{low}, {high}]", str(low), str(high))


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2, unique=True), st.booleans())
def test_intervals_of_floats_cover_exactly_theirs(ends: list[float], both: bool) -> None:
    low, high = sorted(ends)
    values = pa.array([np.nextafter(low, -np.inf), low, high, np.nextafter(high, np.inf)])
    read = parse_label(interval(low, high, closed="both" if both else "left"))
    assert read.covers(values).tolist() == [False, True, both, False]
    assert parse_label(interval(None, high, closed="left")).covers(values)[2:].tolist() == [False, False]
    assert parse_label(interval(low, None)).covers(values)[:2].tolist() == [False, True]


@given(st.datetimes(), st.datetimes())
def test_intervals_of_moments_cover_theirs(one: dt.datetime, other: dt.datetime) -> None:
    low, high = min(one, other), max(one, other)
    assert parse_label(interval(low, high)).covers(pa.array([low, high], pa.timestamp("us"))).all()


@given(st.lists(words, min_size=1, unique=True), st.lists(words))
def test_sets_cover_exactly_their_members(members: list[str], others: list[str]) -> None:
    label = set_of(members)
    values = pa.array(members + others, pa.string())
    expected = [value in members or value == label for value in members + others]
    assert parse_label(label).covers(values).tolist() == expected


@given(words)
def test_every_label_covers_its_own_text(label: str) -> None:
    assert labels.parse_label(label).covers(pa.array([label])).tolist() == [True]


def test_an_interval_without_ends_is_anything() -> None:
    assert interval(None, None) == "*"
