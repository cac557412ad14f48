"""Microaggregation: classes of means by plain counting, sums that stay, squared errors, bad input, recipes."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.microaggregation import best_line_error, smallest_class, squared_error

from discreet import Recipe, Table, from_mapping, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import DeltaPresence, DistinctDiversity, KAnonymity, KMap
from discreet.publish import Microaggregation, Mondrian

NUMBERS = st.none() | st.integers(0, 5) | st.integers(-1000, 1000)
ROWS = st.lists(
    st.tuples(NUMBERS, st.none() | st.integers(0, 3), st.sampled_from("st")), min_size=1, max_size=40
)


def table_of(rows: list[tuple[Any, ...]]) -> Table:
    columns = [list(column) for column in zip(*rows, strict=True)]
    frame = pa.table(
        {"x": pa.array(columns[0], pa.int64()), "y": pa.array(columns[1], pa.int64()), "s": columns[2]}
    )
    return Table(frame, {"x": quasi(), "y": quasi(), "s": sensitive()})


@given(rows=ROWS, k=st.integers(1, 6))
@settings(max_examples=120, deadline=None)
def test_classes_are_large_enough_and_sums_stay(rows: list[tuple[Any, ...]], k: int) -> None:
    if len(rows) < k:
        with pytest.raises(InfeasibleError, match="No release can keep the guarantee"):
            Microaggregation(KAnonymity(k)).release(table_of(rows))
        return
    release = Microaggregation(KAnonymity(k)).release(table_of(rows))
    released = [tuple(row.values()) for row in release.frame.to_pylist()]
    assert smallest_class([row[:2] for row in released]) >= k
    assert release.verdict.verified
    assert Counter(row[2] for row in released) == Counter(row[2] for row in rows)
    for column in range(2):
        old, new = ([row[column] for row in some] for some in (rows, released))
        if None not in old and None not in new:
            # A mean has one decimal, so each row may be off by half of it.
            assert sum(new) == pytest.approx(sum(old), abs=0.05 * len(rows) + 1e-9)
            assert min(old) <= min(new) <= max(new) <= max(old)


@given(values=st.lists(st.integers(0, 200), min_size=6, max_size=30), k=st.integers(2, 4))
@settings(max_examples=80, deadline=None)
def test_groups_on_a_line_are_not_far_from_the_best(values: list[int], k: int) -> None:
    table = Table(pa.table({"x": values}), {"x": quasi()})
    group_of = Microaggregation(KAnonymity(k)).divide(table)[0]
    assert int(np.bincount(group_of, table.tuples.counts).min()) >= k
    points = [[float(table.encoded["x"].values[int(code) - 1].as_py())] for code in table.codes("x")]
    rows = np.repeat(np.arange(len(points)), table.tuples.counts)
    error = squared_error([points[at] for at in rows], group_of[rows].tolist())
    best, spread = best_line_error(values, k), squared_error([[float(v)] for v in values], [0] * len(values))
    assert best - 1e-6 <= error <= spread + 1e-6


def test_enough_equal_rows_stay_exact_and_near_rows_share_a_mean() -> None:
    table = Table(pa.table({"x": [10, 10, 10, 50, 51, 52, 90, 94]}), {"x": quasi()})
    release = Microaggregation(KAnonymity(2)).release(table)
    assert Counter(release.frame["x"].to_pylist()) == {10.0: 3, 51.0: 3, 92.0: 2}


def test_groups_that_break_a_promise_about_values_join_the_nearest() -> None:
    frame = pa.table({"x": [1, 2, 11, 12, 91, 92], "s": ["a", "a", "b", "b", "a", "b"]})
    release = Microaggregation(DistinctDiversity(2)).release(Table(frame, {"x": quasi(), "s": sensitive()}))
    assert Counter(release.frame["x"].to_pylist()) == {6.5: 4, 91.5: 2}
    assert release.evidence.details["minimality"]
    assert release.verdict.ok


def test_categories_and_trees_are_published_by_boxes() -> None:
    frame = pa.table({"x": [1, 2, 9, 9], "town": ["A", "B", "C", "C"], "region": ["u", "v", "w", "w"]})
    roles = {"x": quasi(), "town": quasi(), "region": quasi(from_mapping({"u": "n", "v": "n", "w": "s"}))}
    release = Microaggregation(KAnonymity(2)).release(Table(frame, roles))
    assert {tuple(row.values()) for row in release.frame.to_pylist()} == {
        (1.5, "{A, B}", "n"),
        (9.0, "C", "w"),
    }


def test_weights_say_which_column_matters() -> None:
    frame = pa.table({"x": [0, 0, 9, 9], "y": [0, 9, 0, 9]})
    for heavy, light in (("x", "y"), ("y", "x")):
        release = Microaggregation(KAnonymity(2), weights={heavy: 10.0}).release(
            Table(frame, {"x": quasi(), "y": quasi()})
        )
        assert set(release.frame[heavy].to_pylist()) == {0, 9}
        assert set(release.frame[light].to_pylist()) == {4.5}


def test_new_rows_get_the_means_by_the_private_part_alone(tmp_path: Path) -> None:
    table = Table(pa.table({"x": [10, 12, 50, 52, 90, 94]}), {"x": quasi()})
    Microaggregation(KAnonymity(2)).release(table).write(tmp_path / "release")
    recipe = Recipe.read(tmp_path / "release" / "release.json")
    assert "cells" not in recipe.data
    applied = recipe.apply(pa.table({"x": [10, 11, 90, 91]}))
    assert Counter(applied.frame["x"].to_pylist()) == {11.0: 2, 92.0: 2}
    strange = recipe.apply(pa.table({"x": [10, 11, 70, 74]}))
    assert Counter(strange.frame["x"].to_pylist()) == {11.0: 2, 72.0: 2}


def test_bad_input_is_one_clear_line() -> None:
    table = Table(pa.table({"x": [1, 2]}), {"x": quasi()})
    with pytest.raises(InfeasibleError, match="asks for class size >= 3, and the whole table as one class"):
        Microaggregation(KAnonymity(3)).release(table)
    with pytest.raises(ParameterError, match="'weights' parameter of Microaggregation"):
        Microaggregation(KAnonymity(2), weights={"x": -1.0}).release(table)
    with pytest.raises(SchemaError, match="A weight is given for 'z'"):
        Microaggregation(KAnonymity(2), weights={"z": 1.0}).release(table)
    constant = Table(pa.table({"x": [7] * 5}), {"x": quasi()})
    assert Microaggregation(KAnonymity(3)).release(constant).frame["x"].to_pylist() == [7] * 5
    one = Table(pa.table({"x": [7]}), {"x": quasi()})
    assert Microaggregation(KAnonymity(1)).release(one).frame["x"].to_pylist() == [7]


@pytest.mark.parametrize("publisher", [Microaggregation, partial(Mondrian, summary="mean")])
def test_means_are_not_compared_with_a_population(publisher: Any) -> None:
    """A mean describes nobody, so a guarantee that counts matching people would come out broken."""
    population = Table(pa.table({"age": list(range(20, 60))}), {"age": quasi()})
    table = Table(pa.table({"age": [20, 21, 30, 31, 40, 41]}), {"age": quasi()})
    guarantees = (
        DeltaPresence(0.0, 0.9, population),
        KMap(2, population),
        KAnonymity(2) & KMap(2, population),
    )
    for guarantee in guarantees:
        with pytest.raises(ParameterError, match="means, which describe nobody of a population"):
            publisher(guarantee).release(table)
