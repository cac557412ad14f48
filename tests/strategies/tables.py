"""Generated tables for the property tests: as rows for the oracles, and as frames for the library."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from discreet import Schema, from_mapping, intervals, quasi, sensitive

Rows = list[dict[str, Any]]

CITIES = ("Łódź", "東京", "Rome", "Oslo", "a, b", "*")
REGIONS = {"Łódź": "east", "東京": "east", "Rome": "south", "Oslo": "north", "a, b": "north", "*": "north"}
TYPES = pa.schema(
    [
        ("age", pa.int64()),
        ("day", pa.date32()),
        ("city", pa.string()),
        ("smoker", pa.bool_()),
        ("disease", pa.string()),
    ]
)


def rows(*, min_size: int = 1, max_size: int = 40) -> st.SearchStrategy[Rows]:
    """Rows with ties, duplicates, constants and nulls in every column."""
    row = st.fixed_dictionaries(
        {
            "age": st.none() | st.integers(18, 24) | st.integers(-(10**12), 10**12),
            "day": st.none() | st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 9)),
            "city": st.none() | st.sampled_from(CITIES),
            "smoker": st.none() | st.booleans(),
            "disease": st.none() | st.sampled_from("abcd"),
        }
    )
    return st.lists(row, min_size=min_size, max_size=max_size)


@st.composite
def clusters(draw: st.DrawFn, *, max_clusters: int = 5) -> Rows:
    """Rows in a few clusters of neighbors, so that most guarantees keep several classes apart, some only just."""
    table = []
    for number in range(draw(st.integers(2, max_clusters))):
        base = {"age": 20 + 100 * number, "day": dt.date(2020 + number, 1, 1), "city": CITIES[number]}
        near = {"age": base["age"] + draw(st.integers(0, 2)), "day": base["day"], "city": base["city"]}
        # Each value as often in most clusters, and nearly so in the others: at the bounds of many guarantees.
        values = draw(st.permutations("abcd")) * 3
        table += [
            {**draw(st.sampled_from([base, near])), "smoker": number % 2 == 0, "disease": disease}
            for disease in values[: draw(st.sampled_from([8, 12, 8, 12, 8, 12, 9, 11]))]
        ]
    return draw(st.permutations(table))


def frame(table: Rows) -> pa.Table:
    """The rows as an Arrow table."""
    return pa.Table.from_pylist(table, schema=TYPES)


def plain_schema() -> Schema:
    """Every quasi-identifier without a tree."""
    return Schema(
        {"age": quasi(), "day": quasi(), "city": quasi(), "smoker": quasi(), "disease": sensitive()}
    )


def tree_schema() -> Schema:
    """Trees over numbers, dates and categories."""
    return Schema(
        {
            "age": quasi(intervals(5, 10, 100)),
            "day": quasi(intervals("month", "year")),
            "city": quasi(from_mapping(REGIONS)),
            "smoker": quasi(),
            "disease": sensitive(),
        }
    )
