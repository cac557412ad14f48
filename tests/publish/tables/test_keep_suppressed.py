"""Suppressed rows that stay: the class of stars by plain counting, the best node by enumeration, bad input."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import tables as oracles

from discreet import Table, from_mapping, intervals, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.guarantees import DeltaPresence, DistinctDiversity, KAnonymity, KMap, TCloseness
from discreet.publish import Generalization, OptimalLattice

ROWS = st.lists(
    st.tuples(st.sampled_from([1, 2, 11, 21, None]), st.sampled_from("abc"), st.sampled_from("xyz")),
    min_size=1,
    max_size=14,
)
TOWNS = from_mapping({"a": ["north"], "b": ["north"], "c": ["south"]})
STARS = ("*", "*")


def table_of(rows: list[tuple[Any, ...]]) -> Table:
    age, town, value = (list(column) for column in zip(*rows, strict=True))
    frame = pa.table({"age": pa.array(age, pa.int64()), "town": town, "s": value})
    return Table(frame, {"age": quasi(intervals(10)), "town": quasi(TOWNS), "s": sensitive()})


def classes_of(rows: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], list[Any]]:
    classes: dict[tuple[Any, ...], list[Any]] = {}
    for *known, value in rows:
        classes.setdefault(tuple(known), []).append(value)
    return classes


def published(release: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in release.frame.to_pylist()]


def least_starred(rows: list[tuple[Any, ...]], k: int) -> int:
    """Return how many rows are starred at a node: those of small classes, and the smallest others until k are."""
    sizes = sorted(Counter(row[:2] for row in rows).values())
    starred = sum(size for size in sizes if size < k)
    for taken, size in enumerate(size for size in sizes if size >= k):
        if starred == 0 or starred >= k:
            break
        assert taken == 0
        starred += size
    return starred


@given(rows=ROWS, k=st.integers(2, 4), limit=st.integers(0, 8))
@settings(max_examples=100, deadline=None)
def test_the_best_node_by_enumeration(rows: list[tuple[Any, ...]], k: int, limit: int) -> None:
    table = table_of(rows)
    search = OptimalLattice(KAnonymity(k), max_suppressed=limit, keep_suppressed=True, measure="precision")
    costs = {}
    for node in product(range(3), range(3)):
        levels = dict(zip(("age", "town"), node, strict=True))
        top = Generalization(KAnonymity(1), levels=levels).release(table)
        starred = least_starred(published(top), k)
        if starred <= limit and (starred == 0 or starred < len(rows)):
            share = starred / len(rows)
            if starred == 0 and len(rows) < k:
                continue
            costs[node] = sum(level / 2 * (1 - share) + share for level in node) / 2
    if not costs:
        with pytest.raises(InfeasibleError):
            search.release(table)
        return
    release = search.release(table)
    assert release.evidence.details["cost"] == pytest.approx(min(costs.values()))
    assert len(published(release)) == len(rows)
    assert release.evidence.suppressed == 0
    assert min(len(values) for values in classes_of(published(release)).values()) >= k
    assert Counter(row[2] for row in published(release)) == Counter(row[2] for row in rows)
    assert release.verdict.verified


@given(rows=ROWS, t=st.sampled_from([0.2, 0.4, 0.6]))
@settings(max_examples=80, deadline=None)
def test_classes_and_stars_are_compared_with_the_table_before_suppression(
    rows: list[tuple[Any, ...]], t: float
) -> None:
    everyone = [row[2] for row in rows]
    publisher = OptimalLattice(TCloseness(t), max_suppressed=1.0, keep_suppressed=True)
    release = publisher.release(table_of(rows))
    for values in classes_of(published(release)).values():
        assert oracles.variational_distance(values, everyone) <= t + 1e-9
    every = OptimalLattice(TCloseness(t), max_suppressed=1.0, keep_suppressed=True, visit="all")
    assert every.release(table_of(rows)).evidence.details["cost"] == pytest.approx(
        release.evidence.details["cost"]
    )


def test_a_class_of_stars_that_is_too_small_takes_in_the_smallest_class(tmp_path: Path) -> None:
    rows = [(1, "a", "x")] * 4 + [(11, "a", "x")] * 3 + [(21, "c", "y")]
    publisher = Generalization(KAnonymity(3), levels={}, max_suppressed=4, keep_suppressed=True)
    release = publisher.release(table_of(rows))
    assert {known: len(values) for known, values in classes_of(published(release)).items()} == {
        ("1", "a"): 4,
        STARS: 4,
    }
    assert release.evidence.details["starred"] == 4
    assert sorted(release.evidence.sizes.tolist()) == [4, 4]
    assert [caution.code for caution in release.cautions if caution.code == "starred-rows"]
    folder = release.write(tmp_path / "release")
    assert "*,*,x" in (folder / "data.csv").read_text() or any(
        "*,*" in path.read_text() for path in folder.glob("*.csv")
    )
    with pytest.raises(InfeasibleError, match="max_suppressed=4"):
        Generalization(KAnonymity(3), levels={}, max_suppressed=3, keep_suppressed=True).release(
            table_of(rows)
        )


def test_values_of_starred_rows_are_judged_too() -> None:
    rows = [(1, "a", "x"), (1, "a", "y"), (11, "c", "x"), (21, "c", "x"), (2, "b", "x"), (2, "b", "z")]
    publisher = Generalization(DistinctDiversity(2), levels={}, max_suppressed=4, keep_suppressed=True)
    values = classes_of(published(publisher.release(table_of(rows))))[STARS]
    assert len(values) == 4
    assert len(set(values)) >= 2


def test_stars_may_be_anybody_of_a_population() -> None:
    rows = [(1, "a", "x")] * 3 + [(21, "c", "y")]
    population = table_of([*rows, *rows, (21, "c", "y")])
    kept = {"levels": {}, "max_suppressed": 1, "keep_suppressed": True}
    assert Generalization(KMap(5, population), **kept).release(table_of(rows)).verdict.ok
    presence = DeltaPresence(0.0, 0.5, population)
    with pytest.raises(InfeasibleError, match="keep_suppressed=False"):
        Generalization(presence & KAnonymity(2), **{**kept, "max_suppressed": 3}).release(
            table_of([*rows, (2, "b", "x"), (2, "b", "x")])
        )


def test_bad_input_is_one_line() -> None:
    with pytest.raises(ParameterError, match="'keep_suppressed' parameter of OptimalLattice must be a bool"):
        OptimalLattice(KAnonymity(2), keep_suppressed="yes")
