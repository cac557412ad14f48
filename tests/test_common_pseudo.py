"""The checks that every publisher of pseudo-data passes; the registry of methods names them."""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from discreet import Release, Table, publish, quasi, sensitive
from discreet.core.errors import InfeasibleError, InputError, ParameterError
from discreet.publish.pseudo.redraw import UnavoidableCopiesError
from tests import publishing
from tests.oracles import condensation as oracles
from tests.publishing import (
    KINDS,
    SEED,
    Options,
    Publisher,
    assert_seed_is_secret,
    discovered,
    every,
    made_as,
    planted,
    released_rows,
)
from tests.strategies import tables as strategies

VARIANTS: dict[str, list[Options]] = {
    "condensation": [
        {},
        {"segment": "nearest", "spread": "gaussian"},
        {"segment": "blocked", "noise": 0.1},
    ],
}
PUBLISHERS = discovered("table", "pseudo-data", VARIANTS)
every_publisher = every(PUBLISHERS)


def rows_of(release: Release) -> list[dict[str, str]]:
    return [{name: str(value) for name, value in row.items()} for row in released_rows(release)]


def many(n: int = 120) -> pa.Table:
    return strategies.frame(publishing.many(n, oldest=60))


@every_publisher
@given(rows=strategies.rows(), k=st.integers(1, 8))
@settings(max_examples=40)
def test_the_promise_is_kept_by_the_slow_definition(
    make: Publisher, rows: list[dict[str, Any]], k: int
) -> None:
    table = Table(strategies.frame(rows), strategies.plain_schema())
    try:
        release = make(k).release(table)
    except UnavoidableCopiesError:
        assert k > 1
        return
    except InfeasibleError:
        assert k > len(rows)
        return
    labels = np.repeat(np.arange(release.evidence.sizes.size), release.evidence.sizes)
    assert oracles.levels_are_kept(labels, [k] * len(rows))
    assert release.verdict.ok
    assert release.verdict.worst >= 0
    assert release.frame.num_rows + release.evidence.suppressed == len(rows)
    assert release.frame.schema == strategies.TYPES
    for name in ("city", "smoker", "disease"):
        assert set(release.frame[name].to_pylist()) <= {row[name] for row in rows}


@every_publisher
def test_infeasible_is_an_error_that_says_what_would_do(make: Publisher) -> None:
    with pytest.raises(InfeasibleError, match="at most 4 would do"):
        make(5).release(Table(many(4), strategies.plain_schema()))


@every_publisher
def test_one_row_and_no_row(make: Publisher) -> None:
    one = strategies.frame([{"age": 3, "day": None, "city": "Rome", "smoker": True, "disease": None}])
    release = make(1).release(Table(one, strategies.plain_schema()))
    assert release.frame.equals(one)
    with pytest.raises(InputError, match="no rows"):
        make(1).release(Table(one.slice(0, 0), strategies.plain_schema()))


@every_publisher
@given(rows=strategies.rows(), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_the_order_of_rows_and_columns_does_not_matter(
    make: Publisher, rows: list[dict[str, Any]], seed: int
) -> None:
    schema = strategies.plain_schema()
    frame = strategies.frame(rows)
    mixed = frame.take(np.random.default_rng(seed).permutation(len(rows))).select(frame.column_names[::-1])
    k = min(3, len(rows))
    release = make(k, avoid_copies=False).release(Table(frame, schema))
    again = make(k, avoid_copies=False).release(
        Table(mixed, {name: schema[name] for name in mixed.column_names})
    )
    assert again.frame.column_names == mixed.column_names
    assert again.verdict.ok
    assert again.evidence.sizes.sum() == release.evidence.sizes.sum()
    for name in ("city", "disease"):
        assert set(again.frame[name].to_pylist()) <= set(frame[name].to_pylist())


@every_publisher
def test_a_stronger_level_gives_no_smaller_groups(make: Publisher) -> None:
    table = Table(many(), strategies.plain_schema())
    for k in range(1, 9):
        assert make(k, random_state=0).release(table).evidence.sizes.min() >= k


@given(rows=strategies.rows())
@settings(max_examples=25)
def test_level_1_without_noise_returns_the_input(rows: list[dict[str, Any]]) -> None:
    frame = strategies.frame(rows)
    release = publish.Condensation(1).release(Table(frame, strategies.plain_schema()))
    assert sorted(map(str, release.frame.to_pylist())) == sorted(map(str, frame.to_pylist()))
    assert release.frame.schema == frame.schema


@every_publisher
def test_a_seed_gives_the_same_bytes_and_the_global_generator_is_untouched(make: Publisher) -> None:
    table = Table(many(), strategies.plain_schema())
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = make(3, random_state=7).release(table)
    assert first.frame.equals(make(3, random_state=7).release(table).frame)
    assert not first.frame.equals(make(3, random_state=8).release(table).frame)
    assert not make(3).release(table).frame.equals(make(3).release(table).frame)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    assert first.recipe["seed"] == 7
    assert make(3).release(table).recipe["seed"] is None


@every_publisher
def test_the_files_say_that_there_was_a_seed_and_not_which(make: Publisher, tmp_path: Path) -> None:
    release = make(3, random_state=SEED).release(Table(many(), strategies.plain_schema()))
    assert_seed_is_secret(release.write(tmp_path / "out"))


@every_publisher
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_agrees_and_comes_back_and_stays_as_it_was(make: Publisher, kind: str) -> None:
    schema = strategies.plain_schema()
    arrow = many()
    expected = make(3, random_state=1).release(Table(arrow, schema))
    frame = made_as(kind, arrow)
    release = make(3, random_state=1).release(Table(frame, schema))
    assert type(release.frame) is type(frame)
    assert rows_of(release) == rows_of(expected)
    assert release.verdict == expected.verdict
    untouched = replace(release, data=frame)
    assert rows_of(untouched) == [
        {name: str(value) for name, value in row.items()} for row in arrow.to_pylist()
    ]


@every_publisher
def test_a_pandas_index_does_not_matter(make: Publisher) -> None:
    frame = many().to_pandas()
    odd = frame.set_index(pd.Index(["same"] * len(frame)))
    release = make(3, random_state=1).release(Table(odd, strategies.plain_schema()))
    again = make(3, random_state=1).release(Table(frame, strategies.plain_schema()))
    pd.testing.assert_frame_equal(release.frame, again.frame)
    assert list(release.frame.index) == list(range(len(release.frame)))


def test_pandas_columns_keep_their_own_types() -> None:
    frame = pd.DataFrame(
        {
            "a": pd.array([1, 2, None, 4, 5, 6], "Int64"),
            "b": np.arange(6, dtype=np.int16),
            "c": pd.array(list("xyxyxy"), "string"),
            "d": pd.date_range("2020-01-01", periods=6, tz="UTC"),
            "e": pd.array([True, False] * 3, "boolean"),
            "f": pd.array([1.5, None] * 3, pd.ArrowDtype(pa.float32())),
            "g": pd.Categorical(list("uvuvuv")),
        }
    )
    made = publish.Condensation(2).release(Table(frame, {name: quasi() for name in frame})).frame
    for name in "abcdef":
        assert made[name].dtype == frame[name].dtype
    assert set(made["g"]) <= {"u", "v"}


UNIQUE_PEOPLE = {
    "categories": {"zip": list("aabbcccc"), "sex": list("pqpqrrrr")},
    "numbers": {"age": [20, 21, 30, 31, 60, 60, 60, 60], "visits": [1, 2, 1, 2, 5, 5, 6, 6]},
}
"""Four people with quasi-identifiers of their own, and four who share theirs: some rows cannot but be left out."""
LEVEL = 1e-6
"""The level of the test that two worlds have the same distribution; the draws are seeded, so no chance is in it."""


def world(known: dict[str, list[Any]], secret: Sequence[Any]) -> Table:
    roles = {name: quasi() for name in known} | {"ill": sensitive()}
    return Table(pa.table({**known, "ill": secret}), roles)


def without_secret(release: Release) -> pa.Table:
    return release.frame.drop(["ill"])


@every_publisher
@pytest.mark.parametrize(("name", "values"), [("categories", ("flu", None)), ("numbers", (0, 90))])
def test_no_assignment_of_sensitive_values_changes_what_else_is_drawn(
    make: Publisher, name: str, values: tuple[Any, Any]
) -> None:
    """With the same draws, the rows out and their quasi-identifiers are the same in all 64 worlds of six people."""
    known = {column: cells[:6] for column, cells in UNIQUE_PEOPLE[name].items()}
    first, *others = itertools.product(values, repeat=6)
    expected = make(2, random_state=0).release(world(known, first))
    for secret in others:
        release = make(2, random_state=0).release(world(known, secret))
        assert without_secret(release).equals(without_secret(expected))
        assert release.evidence.suppressed == expected.evidence.suppressed


@every_publisher
@pytest.mark.parametrize("known", UNIQUE_PEOPLE.values(), ids=UNIQUE_PEOPLE)
def test_the_number_of_rows_and_their_quasi_identifiers_have_one_distribution(
    make: Publisher, known: dict[str, list[Any]]
) -> None:
    """Whoever knows all but one person's sensitive value learns nothing from what is left out: a test by chi-square."""
    draws = 60
    counts: list[Counter[Any]] = []
    for number, dora in enumerate(("flu", "hiv")):
        table = world(known, ["flu", "hiv", "flu", dora, "flu", "hiv", "flu", "hiv"])
        releases = [make(2, random_state=draws * number + seed).release(table) for seed in range(draws)]
        outcomes = [without_secret(release) for release in releases]
        counts.append(Counter((rows.num_rows, frozenset(map(str, rows.to_pylist()))) for rows in outcomes))
    rare = [outcome for outcome, count in (counts[0] + counts[1]).items() if count < 10]
    table_of_counts = [
        [count[outcome] for outcome in (counts[0] + counts[1]) if outcome not in rare] for count in counts
    ]
    if rare:
        for row, count in zip(table_of_counts, counts, strict=True):
            row.append(sum(count[outcome] for outcome in rare))
    assert chi2_contingency(table_of_counts).pvalue > LEVEL


@every_publisher
def test_planted_identifiers_never_appear(make: Publisher, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    table = planted()
    release = make(4).release(table)
    assert release.frame.column_names == ["age", "disease", "ward"]
    told = [repr(release), repr(release.evidence), str(release.evidence.details), str(release.verdict)]
    told += [repr(table), str(release.recipe), caplog.text]
    with pytest.raises(InfeasibleError) as caught:
        make(400).release(table)
    told.append(str(caught.value))
    for text in [*told, str(rows_of(release))]:
        assert "SECRET" not in text
        assert "HIDDEN" not in text
    for text in told:
        assert "ILL" not in text


@every_publisher
def test_each_constraint_names_its_parameter(make: Publisher) -> None:
    table = Table(many(), strategies.plain_schema())
    with pytest.raises(ParameterError, match="'k' parameter of"):
        make(0).release(table)
    with pytest.raises(ParameterError, match="'random_state' parameter of"):
        make(2, random_state=-1).release(table)
    with pytest.raises(ParameterError, match="'table' parameter of"):
        make(2).release(table.frame)
