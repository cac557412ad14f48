"""The checks that every publisher of generalized tables passes; the registry of methods names them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Schema, Table
from discreet.core.errors import DiscreetError, InfeasibleError, InputError, ParameterError
from discreet.core.registry import METHODS
from discreet.guarantees import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    MaxRisk,
    PopulationUniqueness,
    PrivacyDegree,
    RecursiveDiversity,
    TCloseness,
)
from tests.oracles import tables as oracles
from tests.publishing import (
    KINDS,
    Options,
    Publisher,
    discovered,
    every,
    made_as,
    many,
    planted,
    released_rows,
)
from tests.strategies import tables as strategies

VARIANTS: dict[str, list[Options]] = {
    "mondrian": [{}, {"strict": False}],
    "optimal": [
        {},
        {"measure": "discernibility", "max_suppressed": 0.2},
        {"visit": "all", "max_suppressed": 0.1},
        {"keep_suppressed": True, "max_suppressed": 0.4},
    ],
    "local": [{}, {"measure": "discernibility", "max_suppressed": 0.2, "max_rounds": 5}],
    "samarati": [{}, {"max_suppressed": 0.2}],
    "incognito": [{}, {"max_suppressed": 0.2, "super_roots": False, "precompute": False}],
    "generalization": [
        lambda guarantee: {
            "levels": {} if guarantee == KAnonymity(1) else {"age": 1},
            "max_suppressed": 0.99,
        }
    ],
}
PUBLISHERS = discovered("table", "table", VARIANTS)
SCHEMAS = [
    pytest.param(strategies.plain_schema(), id="plain"),
    pytest.param(strategies.tree_schema(), id="trees"),
]
every_publisher = every(PUBLISHERS)


def multiset(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    names = sorted(rows[0]) if rows else []
    return Counter(tuple(str(row[name]) for name in names) for row in rows)


Judge = Callable[[Any, Sequence[Any], Sequence[Any]], bool]
"""A slow definition: a guarantee, the sensitive values of a class, and those of all released rows."""

JUDGES: dict[type[Guarantee], Judge] = {
    KAnonymity: lambda promise, values, _: len(values) >= promise.k,
    DistinctDiversity: lambda promise, values, _: oracles.distinct_values(values) >= promise.l,
    EntropyDiversity: lambda promise, values, _: oracles.effective_values(values) >= promise.l * (1 - 1e-9),
    RecursiveDiversity: lambda promise, values, _: oracles.is_recursively_diverse(
        values, promise.c, promise.l
    ),
    TCloseness: lambda promise, values, everyone: (
        oracles.variational_distance(values, everyone) <= promise.t + 1e-9
    ),
    MaxRisk: lambda promise, values, _: 1 / len(values) <= promise.highest + 1e-9,
    # Where nothing may be unique, nobody may be alone.
    PopulationUniqueness: lambda promise, values, _: promise.highest == 0 and len(values) > 1,
    AlphaKAnonymity: lambda promise, values, _: (
        len(values) >= promise.k and oracles.largest_share(values) <= promise.alpha + 1e-9
    ),
    BasicBetaLikeness: lambda promise, values, everyone: (
        oracles.relative_gain(values, everyone) <= promise.beta + 1e-9
    ),
    EnhancedBetaLikeness: lambda promise, values, everyone: oracles.is_enhanced_beta_like(
        values, everyone, promise.beta + 1e-9
    ),
    PrivacyDegree: lambda promise, values, _: oracles.largest_share(values) <= 1 / promise.p + 1e-9,
    DeltaDisclosure: lambda promise, values, everyone: (
        (promise.absent == "ignored" or set(values) == set(everyone))
        and oracles.log2_ratio(values, everyone) < promise.delta + 1e-9
    ),
}
GUARANTEES = st.one_of(
    st.builds(KAnonymity, st.integers(1, 8)),
    st.builds(DistinctDiversity, st.integers(1, 4)),
    st.builds(EntropyDiversity, st.sampled_from([1, 1.5, 2, 3])),
    st.builds(RecursiveDiversity, st.sampled_from([1.0, 2.0, 5.0]), st.integers(1, 3)),
    st.builds(TCloseness, st.sampled_from([0.0, 0.2, 0.5])),
    st.builds(AlphaKAnonymity, st.sampled_from([0.4, 0.5, 0.8]), st.integers(2, 5)),
    st.builds(MaxRisk, st.sampled_from([0.15, 0.25, 1 / 3, 1.0])),
    st.builds(PopulationUniqueness, st.just(0.0), sampling=st.sampled_from([0.01, 0.5, 1.0])),
    st.builds(PrivacyDegree, st.integers(1, 4)),
    st.builds(BasicBetaLikeness, st.sampled_from([0.5, 1.0, 3.0])),
    st.builds(EnhancedBetaLikeness, st.sampled_from([0.5, 1.0, 3.0])),
    st.builds(
        DeltaDisclosure, st.sampled_from([0.5, 1.0, 2.0]), absent=st.sampled_from(["ignored", "counted"])
    ),
)


def breaks(guarantee: Guarantee, rows: list[dict[str, Any]]) -> list[bool]:
    """Judge the classes of released rows by the slow definitions."""
    everyone = [row["disease"] for row in rows]
    classes = oracles.equivalence_classes(rows, ["age", "day", "city", "smoker"])
    judge = JUDGES[type(guarantee)]
    return [not judge(guarantee, [row["disease"] for row in members], everyone) for members in classes]


def test_every_guarantee_about_classes_has_a_slow_definition() -> None:
    """What is compared with a population is judged in the tests of those guarantees."""
    assert set(METHODS["mondrian"].guarantees) - {"KMap", "DeltaPresence"} == {
        kind.__name__ for kind in JUDGES
    }


def judged(make: Publisher, schema: Schema, rows: list[dict[str, Any]], guarantee: Guarantee) -> str:
    """Judge a release of rows, and return how much there was to judge."""
    try:
        release = make(guarantee).release(Table(strategies.frame(rows), schema))
    except InfeasibleError:
        return "infeasible"
    released = released_rows(release)
    assert len(released) == len(rows) - release.evidence.suppressed
    broken = breaks(guarantee, released)
    assert not any(broken)
    assert release.verdict.ok
    untouched = Counter(row["disease"] for row in released)
    assert not untouched - Counter(row["disease"] for row in rows)
    return "one class" if len(broken) == 1 else "several classes"


@every_publisher
@pytest.mark.parametrize("schema", SCHEMAS)
@given(rows=strategies.rows(), guarantee=GUARANTEES)
@settings(max_examples=25)
def test_the_guarantee_is_kept_on_odd_tables(
    make: Publisher, schema: Schema, rows: list[dict[str, Any]], guarantee: Guarantee
) -> None:
    judged(make, schema, rows, guarantee)


@every_publisher
@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_guarantee_is_kept_where_there_are_several_classes(make: Publisher, schema: Schema) -> None:
    outcomes: Counter[str] = Counter()

    @given(rows=strategies.clusters(), guarantee=GUARANTEES)
    @settings(max_examples=40)
    def judge(rows: list[dict[str, Any]], guarantee: Guarantee) -> None:
        outcomes[judged(make, schema, rows, guarantee)] += 1

    judge()
    # A release of one class keeps nearly everything, so it judges nearly nothing.
    assert outcomes["several classes"] >= 0.7 * outcomes.total()


@every_publisher
def test_infeasible_is_an_error_that_says_what_would_do(make: Publisher) -> None:
    table = Table(strategies.frame([dict.fromkeys(strategies.TYPES.names)] * 4), strategies.plain_schema())
    with pytest.raises(InfeasibleError, match="4"):
        make(KAnonymity(5)).release(table)
    with pytest.raises(InfeasibleError):
        make(EntropyDiversity(2)).release(table)


@every_publisher
def test_one_row_and_no_row(make: Publisher) -> None:
    one = strategies.frame([{"age": 3, "day": None, "city": "Rome", "smoker": True, "disease": None}])
    assert make(KAnonymity(1)).release(Table(one, strategies.plain_schema())).verdict.ok
    with pytest.raises(InputError, match="no rows"):
        make(KAnonymity(1)).release(Table(one.slice(0, 0), strategies.plain_schema()))


@every_publisher
@pytest.mark.parametrize("schema", SCHEMAS)
@given(rows=strategies.rows(), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_the_order_of_rows_and_columns_does_not_matter(
    make: Publisher, schema: Schema, rows: list[dict[str, Any]], seed: int
) -> None:
    frame = strategies.frame(rows)
    mixed = frame.take(np.random.default_rng(seed).permutation(len(rows)))
    mixed = mixed.select(frame.column_names[::-1])
    try:
        release = make(KAnonymity(2), random_state=seed).release(Table(frame, schema))
    except InfeasibleError:
        return
    turned = Schema({name: schema[name] for name in reversed(list(schema))})
    again = make(KAnonymity(2), random_state=seed).release(Table(mixed, turned))
    assert again.frame.column_names == mixed.column_names
    if list(schema.quasi) == list(turned.quasi):
        assert multiset(released_rows(again)) == multiset(released_rows(release))
    assert again.verdict.ok


@every_publisher
@given(rows=strategies.rows())
@settings(max_examples=25)
def test_a_shuffled_table_gives_the_same_release(make: Publisher, rows: list[dict[str, Any]]) -> None:
    schema = strategies.plain_schema()
    frame = strategies.frame(rows)
    try:
        release = make(KAnonymity(3), random_state=1).release(Table(frame, schema))
    except InfeasibleError:
        return
    again = make(KAnonymity(3), random_state=1).release(
        Table(frame.take(list(range(len(rows)))[::-1]), schema)
    )
    assert multiset(released_rows(again)) == multiset(released_rows(release))


@every_publisher
@pytest.mark.parametrize("schema", SCHEMAS)
@given(rows=strategies.rows())
@settings(max_examples=25)
def test_a_stronger_parameter_gives_no_weaker_measure(
    make: Publisher, schema: Schema, rows: list[dict[str, Any]]
) -> None:
    table = Table(strategies.frame(rows), schema)
    worst = 0.0
    for k in range(1, 6):
        try:
            release = make(KAnonymity(k)).release(table)
        except InfeasibleError:
            break
        assert release.verdict.worst >= k
        assert release.verdict.worst >= min(worst, k)
        worst = release.verdict.worst


@every_publisher
@given(rows=strategies.rows())
@settings(max_examples=25)
def test_k_1_returns_the_input(make: Publisher, rows: list[dict[str, Any]]) -> None:
    frame = strategies.frame(rows)
    release = make(KAnonymity(1)).release(Table(frame, strategies.plain_schema()))
    assert multiset(release.frame.to_pylist()) == multiset(frame.to_pylist())
    assert release.frame.schema.types == frame.schema.types


@every_publisher
def test_a_seed_gives_the_same_bytes_and_the_global_generator_is_untouched(make: Publisher) -> None:
    table = Table(strategies.frame(many()), strategies.plain_schema())
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = make(KAnonymity(3), random_state=7).release(table)
    second = make(KAnonymity(3), random_state=7).release(table)
    assert first.frame.equals(second.frame)
    assert not first.frame.equals(make(KAnonymity(3), random_state=8).release(table).frame)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    assert first.recipe["seed"] == 7
    assert make(KAnonymity(3)).release(table).recipe["seed"] is None


@every_publisher
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_agrees_and_comes_back_and_stays_as_it_was(make: Publisher, kind: str) -> None:
    schema = strategies.plain_schema()
    arrow = strategies.frame(many())
    expected = make(KAnonymity(3), random_state=1).release(Table(arrow, schema))
    frame = made_as(kind, arrow)
    copy = made_as(kind, arrow)
    release = make(KAnonymity(3), random_state=1).release(Table(frame, schema))
    assert type(release.frame) is type(frame)
    assert multiset(_plain(released_rows(release))) == multiset(_plain(released_rows(expected)))
    assert release.verdict == expected.verdict
    assert _same(frame, copy)


@every_publisher
def test_a_pandas_index_does_not_matter(make: Publisher) -> None:
    schema = strategies.plain_schema()
    frame = strategies.frame(many()).to_pandas()
    odd = frame.set_index(pd.Index(["same"] * len(frame)))
    release = make(KAnonymity(3), random_state=1).release(Table(odd, schema))
    again = make(KAnonymity(3), random_state=1).release(Table(frame, schema))
    pd.testing.assert_frame_equal(release.frame, again.frame)
    assert list(release.frame.index) == list(range(len(release.frame)))


@every_publisher
def test_planted_identifiers_never_appear(make: Publisher, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    table = planted()
    release = make(KAnonymity(4)).release(table)
    assert release.frame.column_names == ["card", "age", "disease", "ward"]
    assert len(set(release.frame["card"].to_pylist())) == release.frame.num_rows
    shown = [
        str(released_rows(release)),
        repr(release),
        repr(release.evidence),
        str(release.verdict),
        repr(table),
    ]
    shown += [repr(table.encoded), repr(table.groups()), repr(table.tuples), str(release.recipe), caplog.text]
    for text in shown:
        assert "SECRET" not in text
        assert "HIDDEN" not in text
    for text in shown[1:]:
        assert "ILL" not in text
    with pytest.raises(DiscreetError) as caught:
        make(KAnonymity(400)).release(table)
    assert "SECRET" not in str(caught.value)
    assert "ILL" not in str(caught.value)


@every_publisher
def test_each_constraint_names_its_parameter(make: Publisher) -> None:
    table = Table(strategies.frame(many()), strategies.plain_schema())
    with pytest.raises(ParameterError, match="'guarantee' parameter of"):
        make(5).release(table)
    with pytest.raises(ParameterError, match="'random_state' parameter of"):
        make(KAnonymity(2), random_state=-1).release(table)
    with pytest.raises(ParameterError, match="'table' parameter of"):
        make(KAnonymity(2)).release(table.frame)


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: None if value is pd.NA else value for name, value in row.items()} for row in rows]


def _same(frame: Any, copy: Any) -> bool:
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return sorted(map(str, frame.fetchall())) == sorted(map(str, copy.fetchall()))
    if isinstance(frame, pl.LazyFrame):
        return frame.collect().equals(copy.collect())
    return bool(frame.equals(copy))
