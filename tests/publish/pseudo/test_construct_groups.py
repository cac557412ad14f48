"""ConstructGroups: every level kept by the slow definition, the squared error never rising, nobody lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import condensation as oracles

from discreet.core.errors import InfeasibleError
from discreet.core.records.group_statistics import GroupStatistics
from discreet.kernels.points.condensing import blocked_mdav, mdav
from discreet.kernels.points.neighbors import groups_by_distance, nearest, spacing
from discreet.publish.pseudo.construct_groups import Grouping, construct_by_class, construct_groups
from discreet.publish.pseudo.microaggregation import METHODS, SegmentMethod, segment

LEVELS = st.lists(st.integers(1, 7) | st.sampled_from([1, 2, 12, 20]), min_size=1, max_size=60)
RISING = {"segment", "segment alone", "numerical test", "resolve"}
"""The steps that may raise the squared error: they add records, or have no choice."""


def points(n: int, d: int, seed: int, *, ties: bool = False) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=(n, d))
    return values.round(0) if ties else values


def grouped(
    values: np.ndarray, levels: np.ndarray, method: SegmentMethod = "auto", seed: int = 0
) -> Grouping:
    return construct_groups(values, levels, method=method, rng=np.random.default_rng(seed))


@given(
    levels=LEVELS,
    d=st.integers(1, 4),
    seed=st.integers(0, 999),
    ties=st.booleans(),
    method=st.sampled_from(METHODS),
)
@settings(max_examples=250)
def test_no_group_violates_a_level_and_nobody_is_lost(
    levels: list[int], d: int, seed: int, ties: bool, method: SegmentMethod
) -> None:
    asked = np.minimum(np.array(levels), len(levels))
    values = points(len(levels), d, seed, ties=ties)
    found = grouped(values, asked, method, seed)
    assert found.labels.min() == 0
    assert set(found.labels.tolist()) == set(range(found.n_groups))
    assert oracles.levels_are_kept(found.labels, asked)
    parts = [oracles.exact_sums(values[found.labels == group]) for group in range(found.n_groups)]
    assert [sum(column) for column in zip(*parts, strict=True)] == oracles.exact_sums(values)
    statistics = GroupStatistics.of(values, found.labels, asked, found.n_groups)
    assert statistics.n_rows == len(levels)
    assert statistics.levels.sum() == asked.sum()
    np.testing.assert_allclose(statistics.sums.sum(axis=0), values.sum(axis=0), atol=1e-9)
    assert found.ssq == pytest.approx(oracles.squared_error(values, found.labels), abs=1e-9)


@given(levels=LEVELS, d=st.integers(1, 3), seed=st.integers(0, 999), ties=st.booleans())
@settings(max_examples=250)
def test_the_squared_error_never_rises_through_cannibalize_and_attrition(
    levels: list[int], d: int, seed: int, ties: bool
) -> None:
    asked = np.minimum(np.array(levels), len(levels))
    found = grouped(points(len(levels), d, seed, ties=ties), asked, seed=seed)
    before = 0.0
    for step in found.steps:
        if step.step not in RISING:
            assert step.ssq <= before + 1e-9
        before = step.ssq


@given(levels=LEVELS, seed=st.integers(0, 999))
@settings(max_examples=100)
def test_the_result_is_never_worse_than_segment_alone(levels: list[int], seed: int) -> None:
    asked = np.minimum(np.array(levels), len(levels))
    values = points(len(levels), 2, seed)
    rng = np.random.default_rng(0)
    alone, count = np.empty(len(levels), np.int64), 0
    for level in np.unique(asked):
        rows = asked == level
        own = (
            np.arange(rows.sum()) if level == 1 else segment(values[rows], int(level), method="mdav", rng=rng)
        )
        alone[rows] = own + count
        count = int(alone[rows].max()) + 1
    if oracles.levels_are_kept(alone, asked):
        assert grouped(values, asked).ssq <= oracles.squared_error(values, alone) + 1e-9


def test_the_outlier_of_figure_1_joins_the_group_of_the_lower_level() -> None:
    lower = [[0.0, 0.0], [0.2, 0.1], [0.1, 0.2]]
    higher = [[10.0, 10.0], [10.1, 10.0], [10.0, 10.1], [10.1, 10.1], [0.3, 0.3]]
    found = grouped(np.array(lower + higher), np.array([3] * 3 + [4] * 5), "mdav")
    assert found.n_groups == 2
    assert len(set(found.labels[[0, 1, 2, 7]].tolist())) == 1
    assert len(set(found.labels[3:7].tolist())) == 1
    assert [step.step for step in found.steps] == ["segment", "segment", "cannibalize", "attrition"]


def test_the_unnatural_pair_of_figure_6_is_dissolved() -> None:
    pair = [[0.0, 0.0], [10.0, 10.0]]
    near = [[0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [10.1, 10.0], [10.0, 10.1], [10.1, 10.1]]
    found = grouped(np.array(pair + near), np.array([2] * 2 + [3] * 6), "mdav")
    assert found.n_groups == 2
    assert found.labels[0] == found.labels[2]
    assert found.labels[1] == found.labels[5]


def test_a_deficient_top_level_takes_in_its_nearest_groups() -> None:
    values = np.concatenate([points(20, 2, 0), points(20, 2, 1) + 50])
    levels = np.array([2] * 39 + [9])
    found = grouped(values, levels)
    mine = found.labels == found.labels[39]
    assert 9 <= mine.sum() <= 11
    assert (np.flatnonzero(mine) >= 20).all()
    assert found.steps[-1].step == "resolve"


def test_levels_above_the_number_of_records_are_refused_with_what_would_do() -> None:
    with pytest.raises(InfeasibleError, match=r"2 of the 5 records .* at most 5 would do"):
        grouped(points(5, 2, 0), np.array([1, 1, 1, 6, 9]))
    classes = np.array([0, 0, 0, 1, 1])
    with pytest.raises(InfeasibleError, match=r"2 of the 2 records in a class"):
        construct_by_class(
            points(5, 2, 0), np.full(5, 3), classes, method="auto", rng=np.random.default_rng(0)
        )


@given(n=st.integers(1, 60), k=st.integers(2, 6), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_mdav_is_the_textbooks(n: int, k: int, seed: int) -> None:
    values = points(max(n, k), 3, seed)
    labels = mdav(values, k)
    found = {frozenset(np.flatnonzero(labels == group).tolist()) for group in range(labels.max() + 1)}
    assert found == set(oracles.plain_mdav(values, k))


@given(n=st.integers(30, 300), k=st.integers(2, 9), seed=st.integers(0, 99), ties=st.booleans())
@settings(max_examples=60)
def test_blocks_hold_groups_of_k_to_twice_k(n: int, k: int, seed: int, ties: bool) -> None:
    labels = blocked_mdav(points(n, 3, seed, ties=ties), k, 30)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert sizes.sum() == n


def test_blocks_cost_little_and_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    values = points(6000, 4, 0)
    exact = oracles.squared_error(values, mdav(values, 10))
    labels = blocked_mdav(values, 10, 1500)
    assert oracles.squared_error(values, labels) < 1.2 * exact
    monkeypatch.setattr("discreet.kernels.threads.processors", lambda: 1)
    assert (blocked_mdav(values, 10, 1500) == labels).all()


@given(n=st.integers(2, 80), d=st.integers(1, 4), seed=st.integers(0, 99), ties=st.booleans())
@settings(max_examples=60)
def test_neighbors_are_those_of_looking_at_every_point(n: int, d: int, seed: int, ties: bool) -> None:
    values, asked = points(n, d, seed, ties=ties), points(7, d, seed + 1)
    _, apart = nearest(values, asked)
    np.testing.assert_allclose(apart, [oracles.nearest_distance(values, one) for one in asked])
    own = spacing(values, np.arange(n))
    expected = [oracles.nearest_distance(np.delete(values, row, axis=0), values[row]) for row in range(n)]
    np.testing.assert_allclose(own, expected)


@given(n=st.integers(4, 60), k=st.integers(2, 4), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_the_papers_segment_takes_each_seed_with_its_nearest(n: int, k: int, seed: int) -> None:
    values = points(n, 2, seed)
    seeds = np.random.default_rng(seed).permutation(n)
    labels = groups_by_distance(values, seeds, k)
    free = set(range(n))
    for group in range(n // k):
        first = next(int(row) for row in seeds if int(row) in free)
        near = sorted(free, key=lambda row: float(((values[row] - values[first]) ** 2).sum()))[:k]
        assert set(np.flatnonzero(labels == group).tolist()) == set(near)
        free -= set(near)
    assert set(np.flatnonzero(labels < 0).tolist()) == free


def test_degenerate_points_are_grouped_all_the_same() -> None:
    cases: list[tuple[Any, Any]] = [
        (np.zeros((1, 2)), np.array([1])),
        (np.zeros((50, 3)), np.full(50, 7)),
        (points(5, 30, 0), np.array([2, 2, 3, 3, 5])),
        (np.column_stack([points(40, 1, 0), np.ones(40)]), np.full(40, 4)),
    ]
    for values, levels in cases:
        for method in METHODS:
            assert oracles.levels_are_kept(grouped(values, levels, method).labels, levels)
