"""k-means between parties equals Lloyd's algorithm on the pooled rows or the joined columns."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from tests.parties.mining.models.pooled import NAMES, RANGES, XY, checked, columns_of, inputs_of, lloyd
from tests.parties.open_protocols import (
    HorizontalKMeans,
    VerticalKMeans,
)
from tests.parties.splits import by_party, frame, n_of, quarter, split_rows

from discreet.core.errors import InputError
from discreet.parties import simulate
from discreet.parties.mining.models.seeds import candidates, draw_seeds


@settings(max_examples=25)
@given(split_rows(max_rows=40), st.integers(1, 4))
def test_k_means_equals_lloyd_on_the_pooled_rows(split: Any, k: int) -> None:
    rng, parts = split
    rows = quarter(rng.normal(size=(n_of(parts), 2)) * 3)
    first = quarter(rng.normal(size=(k, 2)) * 3)
    protocol = HorizontalKMeans(columns=XY, k=k, init="given", centers=tuple(map(tuple, first)), max_rounds=6)
    run = checked(protocol, by_party(dict(zip(XY, rows.T, strict=True)), parts))
    centers, n_rounds = lloyd(rows, first, 6)
    for number, part in enumerate(parts):
        model = run.outputs[f"p{number}"].model
        assert np.allclose(model.cluster_centers_, centers, rtol=0, atol=1e-9)
        assert model.n_iter_ == n_rounds
        gaps = ((rows[:, None] - centers) ** 2).sum(axis=2)
        assert model.inertia_ == pytest.approx(gaps.min(axis=1).sum(), abs=1e-3)
        assert model.labels_.tolist() == gaps[part].argmin(axis=1).tolist()


def test_k_means_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(at, 1, (100, 2)) for at in ((0, 0), (8, 8), (0, 9))])
    first = rows[[0, 100, 200]]
    protocol = HorizontalKMeans(
        columns=XY, k=3, init="given", centers=tuple(map(tuple, first)), fraction_bits=24
    )
    parts = np.array_split(rng.permutation(300), [10, 120])
    run = checked(protocol, by_party(dict(zip(XY, rows.T, strict=True)), parts))
    oracle = KMeans(3, init=first, n_init=1, tol=0).fit(rows)
    model = run.outputs["p1"].model
    assert np.allclose(model.cluster_centers_, oracle.cluster_centers_, atol=1e-6)
    assert model.inertia_ == pytest.approx(oracle.inertia_, rel=1e-5)
    named = frame(dict(zip(XY, rows.T, strict=True)), XY)
    assert (model.predict(named) == oracle.predict(rows)).all()


class _Alone:
    """Totals of one party."""

    def add(self, values: Any, *, words: int = 1) -> list[int]:
        del words
        return [int(value) for value in values]


def test_seeds_are_drawn_by_squared_distance() -> None:
    """Rows 0, 1 and 3: given the first seed, the second has chances of its squared distances."""
    counts: dict[tuple[float, float], int] = {}
    n = 2000
    grid = np.array([[0], [1], [3]])
    for _ in range(n):
        seeds, n_drawn, _ = draw_seeds(_Alone(), grid, k=2, min_rows=1, random_bytes=os.urandom)  # type: ignore[arg-type]
        assert n_drawn == 2
        pair = (float(seeds[0, 0]), float(seeds[1, 0]))
        counts[pair] = counts.get(pair, 0) + 1
    rows = (0.0, 1.0, 3.0)
    statistic = 0.0
    for first in rows:
        for second in rows:
            if first != second:
                chance = (first - second) ** 2 / sum((first - other) ** 2 for other in rows) / 3
                statistic += (counts.get((first, second), 0) - n * chance) ** 2 / (n * chance)
    assert statistic < 25
    assert all(first != second for first, second in counts)


def test_seeds_are_means_of_enough_rows_of_one_party() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(-1000, 1000, (333, 3))
    means, sizes, of = candidates(rows, min_rows=7)
    assert np.bincount(of).tolist() == sizes.tolist()
    assert np.allclose(means[4], rows[of == 4].mean(axis=0), atol=0.5)
    assert sizes.min() >= 7
    assert sizes.sum() == 333
    assert np.allclose((means * sizes[:, None]).sum(axis=0), rows.sum(axis=0), atol=len(sizes) * 7)
    assert candidates(rows[:6], min_rows=7)[0].shape == (0, 3)
    assert len(candidates(np.zeros((100, 2), np.int64), min_rows=1)[0]) == 1
    assert len(candidates(rng.integers(0, 9, (5000, 2)), min_rows=1)[0]) <= 2048


def test_k_means_plus_plus_runs_where_rows_repeat_and_stops_where_there_are_too_few() -> None:
    protocol = HorizontalKMeans(columns=("x",), k=3, min_rows=2)
    run = checked(protocol, {"a": {"x": [1.0, 1.0]}, "b": {"x": np.zeros(0)}, "c": {"x": [1.0]}})
    assert run.revealed["a"]["seeds"] == 1
    assert run.outputs["b"].model.cluster_centers_.tolist() == [[1.0]] * 3
    with pytest.raises(InputError, match="min_rows"):
        simulate(protocol, {"a": {"x": [1.0]}, "b": {"x": [2.0]}})


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 14), st.integers(1, 3), st.integers(2, 3))
def test_k_means_equals_lloyd_on_the_joined_columns(seed: int, n: int, k: int, parties: int) -> None:
    rng = np.random.default_rng(seed)
    rows = {name: rng.normal(size=n).clip(-8, 8) for name in NAMES}
    columns = columns_of(parties)
    seeds = tuple(rng.choice(n, k, replace=False).tolist())
    protocol = VerticalKMeans(
        columns=columns, k=k, ranges=RANGES, init="given", seeds=seeds, max_rounds=4, bits=20
    )
    run = checked(protocol, inputs_of(rows, columns))
    joined = np.column_stack([rows[name] for name in NAMES])
    centers, _ = lloyd(joined, joined[list(seeds)], 4)
    for output in run.outputs.values():
        assert np.allclose(output.model.cluster_centers_, centers, atol=1e-4)
        assert output.model.labels_.tolist() == run.outputs["p0"].model.labels_.tolist()


def test_k_means_draws_seeds_of_which_only_the_places_are_opened() -> None:
    """Three groups far apart: k-means++ finds one seed in each, whoever holds the columns."""
    rows = {"a": np.repeat([-7.0, 0.0, 7.0], 4), "b": np.tile([0.0, 0.01, 0.02, 0.03], 3)}
    rows["c"] = rows["b"]
    columns = {"p0": ("a",), "p1": ("b",), "p2": ("c",)}
    ranges = {"a": (-8, 8), "b": (0, 1), "c": (0, 1)}
    protocol = VerticalKMeans(columns=columns, k=3, ranges=ranges, bits=12, open_centers=False)
    run = checked(protocol, inputs_of(rows, columns))
    labels = run.outputs["p2"].model.labels_.reshape(3, 4)
    assert len(set(labels[:, 0])) == 3
    assert (labels == labels[:, :1]).all()
    assert run.outputs["p1"].model.cluster_centers_.shape == (3, 1)
    repeated = dict.fromkeys("abc", np.zeros(5))
    run = checked(protocol, inputs_of(repeated, columns))
    assert len(set(run.outputs["p0"].model.labels_.tolist())) == 1
