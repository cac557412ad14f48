"""Record linkage: found again by equal and by nearest rows, beside slow definitions."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.collect import RankSwapping
from discreet.core.errors import InputError, SchemaError
from discreet.measure import record_linkage

ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 4), st.integers(0, 3), st.sampled_from("ab")),
    min_size=1,
    max_size=12,
)


def by_definition(before: list[tuple], after: list[tuple]) -> tuple[float, float, float, float]:
    """Look at every pair of rows; the third value must be equal, the others have ranks."""
    n = len(before)

    def rank(column: int, value: object) -> float:
        below = sum(
            (row[column] is not None, row[column] or 0) < (value is not None, value or 0) for row in before
        )
        same = sum(row[column] == value for row in before)
        return (below + same / 2) / n

    def far(person: tuple, row: tuple) -> float:
        if person[2] != row[2]:
            return math.inf
        return math.dist([rank(c, person[c]) for c in (0, 1)], [rank(c, row[c]) for c in (0, 1)])

    equal = [[other for other in range(n) if after[other] == person] for person in before]
    nearest = 0.0
    for place, person in enumerate(before):
        distances = [far(person, row) for row in after]
        best = [other for other in range(n) if distances[other] <= min(distances) + 1e-9]
        nearest += (place in best) / len(best)
    return (
        sum(bool(found) for found in equal) / n,
        sum(len(found) == 1 for found in equal) / n,
        sum(found == [place] for place, found in enumerate(equal)) / n,
        nearest / n,
    )


@given(ROWS, st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_found_is_what_comparing_all_pairs_finds(before: list[tuple], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(before))))
    # Swapped inside the classes of the third column, whose rows keep theirs.
    after = [
        (before[other][0], before[other][1], row[2]) if before[other][2] == row[2] else row
        for row, other in zip(before, order, strict=True)
    ]
    frames = [
        pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.Int64, "z": pl.String}, orient="row")
        for rows in (before, after)
    ]
    found = record_linkage(*frames, on=["x", "y"], within=["z"])
    assert (found.equal, found.alone, found.right, found.nearest) == pytest.approx(
        by_definition(before, after)
    )


def test_swapping_hides_from_whoever_knows_everything() -> None:
    rng = np.random.default_rng(2)
    people = pl.DataFrame(
        {
            "age": rng.integers(18, 80, 1500),
            "pay": rng.normal(size=1500),
            "town": rng.choice(["A", "B"], 1500),
        }
    )
    swapped = RankSwapping(["age", "pay"], window=0.1, within=["town"]).perturb(people, random_state=1)
    before, after = (
        record_linkage(people, frame, on=["age", "pay"], within=["town"]) for frame in (people, swapped)
    )
    assert before.right == before.nearest == 1
    assert after.right < 0.01
    assert 0.001 < after.nearest < 0.1


def test_texts_have_no_nearest_row() -> None:
    frame = pl.DataFrame({"town": ["A", "A", "B"]})
    found = record_linkage(frame, frame, on=["town"])
    assert (found.equal, found.alone, found.nearest) == (1, pytest.approx(1 / 3), None)


def test_tables_that_do_not_belong_together_are_refused() -> None:
    frame = pl.DataFrame({"a": [1, 2]})
    for other in (frame.head(1), frame.head(0)):
        with pytest.raises(InputError, match="same rows"):
            record_linkage(frame, other, on=["a"])
    with pytest.raises(InputError, match="at least one"):
        record_linkage(frame.head(0), frame.head(0), on=["a"])
    with pytest.raises(SchemaError, match="'b' is not in both"):
        record_linkage(frame, frame, on=["b"])
