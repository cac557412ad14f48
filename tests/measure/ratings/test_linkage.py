"""The attack on ratings: its definition, what it finds in public ratings, and what it refuses."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import ratings as oracle

from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.measure import ratings_linkage

COLUMNS = {"person": "who", "item": "film", "value": "stars"}
PAIRS = st.tuples(st.integers(1, 3).map(float), st.sampled_from([0.0, 10.0, 40.0]))
RECORDS = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=2, max_size=2, unique=True).flatmap(
        lambda items: st.fixed_dictionaries(dict.fromkeys(items, PAIRS))
    ),
    min_size=2,
    max_size=8,
)


def frame(records: list[dict[str, tuple[float, float]]]) -> pa.Table:
    rows = [
        {"who": f"person {number}", "film": item, "stars": rating, "day": day * 86_400}
        for number, record in enumerate(records)
        for item, (rating, day) in record.items()
    ]
    return pa.Table.from_pylist(rows)


def films(**changed: Any) -> dict[str, Any]:
    return {"who": ["A", "A", "B"], "film": ["x", "y", "x"], "stars": [1, 2, 3]} | changed


@settings(max_examples=60)
@given(records=RECORDS, dated=st.booleans())
def test_every_person_against_every_record(
    records: list[dict[str, tuple[float, float]]], dated: bool
) -> None:
    found = ratings_linkage(
        frame(records), **COLUMNS, time="day" if dated else None, known=[2], days=0.0, random_state=0
    ).by_known[0]
    right, sure, unique = zip(
        *(oracle.looked_for(number, records, dated=dated) for number in range(len(records))), strict=True
    )
    assert found.right == pytest.approx(np.mean(right))
    assert (found.sure, found.unique) == (pytest.approx(np.mean(sure)), pytest.approx(np.mean(unique)))
    assert (found.right_among_sure is None) == (not any(sure))


def test_twice_the_same_seed_is_twice_the_same_and_fewer_people_are_as_many_as_wanted() -> None:
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 30, (300, 2)), axis=0)
    rated = pa.table({"who": pairs[:, 0], "film": pairs[:, 1], "stars": rng.integers(1, 6, len(pairs))})
    first, second = (ratings_linkage(rated, **COLUMNS, n_targets=5, random_state=1) for _ in range(2))
    assert first == second
    assert {risk.n_targets for risk in first.by_known} == {5}


def test_dates_and_times_and_seconds_are_the_same() -> None:
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 3, 1)]
    seconds = [int(dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC).timestamp()) for day in days]
    timed = [pa.array(days), pa.array(days).cast(pa.timestamp("ns")), pa.array(seconds)]
    outcomes = [
        ratings_linkage(pa.table(films(t=times)), **COLUMNS, time="t", known=[1], random_state=2)
        for times in timed
    ]
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_numbers_that_nobody_has_are_left_out() -> None:
    found = ratings_linkage(pd.DataFrame(films()), **COLUMNS, random_state=0)
    assert [(risk.n_known, risk.n_targets) for risk in found.by_known] == [(1, 2), (2, 1)]
    assert (found.n_people, found.n_items, found.n_ratings, found.days) == (2, 2, 3, None)
    with pytest.raises(InputError, match="Nobody has that many ratings"):
        ratings_linkage(pd.DataFrame(films()), **COLUMNS, known=[3])


@pytest.mark.parametrize(
    ("changed", "words", "message"),
    [
        ({"stars": [1, None, 3]}, {}, "Column 'stars': 1 of 3 cells are empty"),
        ({"who": ["A", None, "B"]}, {}, "Column 'who': 1 of 3 cells are empty"),
        ({"film": ["x", "x", "x"]}, {}, "1 ratings are of an item that the same person has rated already"),
        ({"who": ["A", "A", "A"], "film": ["x", "y", "z"]}, {}, "two people or more"),
        ({"stars": ["planted", "2", "3"]}, {}, "Column 'stars' must hold numbers"),
        ({}, {"item": "movie"}, "no column 'movie'"),
        ({}, {"item": "who"}, "different columns"),
        ({}, {"time": "t"}, "no column 't'"),
        ({"t": ["planted", "b", "c"]}, {"time": "t"}, "dates, times or numbers of seconds"),
        ({}, {"known": [0]}, "'known' parameter of ratings_linkage"),
        ({}, {"known": []}, "'known' parameter of ratings_linkage"),
        ({}, {"error": -1}, "'error' parameter of ratings_linkage"),
        ({}, {"n_targets": 0}, "'n_targets' parameter of ratings_linkage"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], words: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ParameterError, SchemaError), match=message) as refused:
        ratings_linkage(pa.table(films(**changed)), **COLUMNS | words)
    assert "planted" not in str(refused.value)


EXPECTED = {
    (0.0, None): [0.20, 0.74, 0.94, 1.0, 1.0, 1.0],
    (1.0, None): [0.14, 0.33, 0.52, 0.63, 0.76, 0.85],
    (1.0, "timestamp"): [0.76, 0.90, 0.95, 0.96, 0.97, 0.995],
}


@pytest.mark.parametrize(("error", "time"), EXPECTED)
def test_public_ratings(error: float, time: str | None, shared_data: Path) -> None:
    rated = pyarrow.csv.read_csv(shared_data / "movielens-small" / "ratings.csv.gz")
    columns = {"person": "userId", "item": "movieId", "value": "rating", "time": time}
    found = ratings_linkage(rated, **columns, error=error, n_targets=610, random_state=0)
    assert [risk.right for risk in found.by_known] == pytest.approx(EXPECTED[error, time], abs=0.08)
