"""Group statistics: against exact fractions, merging in any order, and being saved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.oracles import condensation as oracles

from discreet.core.errors import InputError
from discreet.core.records.group_statistics import GroupStatistics


def statistics(values: np.ndarray, labels: np.ndarray, n_groups: int | None = None) -> GroupStatistics:
    count = int(labels.max()) + 1 if n_groups is None else n_groups
    levels = np.arange(1, len(values) + 1)
    return GroupStatistics.of(values, labels, levels, count)


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=st.floats(-1e3, 1e3, width=32)
    ),
    st.integers(1, 4),
    st.sampled_from([0.0, 1e6, -1e9]),
    st.integers(0, 99),
)
def test_statistics_are_the_exact_ones_to_rounding(
    values: np.ndarray, n_groups: int, shift: float, seed: int
) -> None:
    values = values + shift
    labels = np.random.default_rng(seed).integers(0, n_groups, len(values))
    found = statistics(values, labels, n_groups)
    spread = float(np.ptp(values)) + 1e-300
    for group in range(n_groups):
        members = values[labels == group]
        assert found.n[group] == len(members)
        assert found.levels[group] == (np.flatnonzero(labels == group) + 1).sum()
        assert found.largest[group] == (np.flatnonzero(labels == group) + 1).max(initial=0)
        if not len(members):
            continue
        mean, scatter = oracles.exact_statistics(members)
        atol = 4e-16 * np.abs(members).max() + 1e-14 * spread
        np.testing.assert_allclose(found.mean[group], [float(one) for one in mean], rtol=0, atol=atol)
        exact = [[float(one) for one in row] for row in scatter]
        np.testing.assert_allclose(found.scatter[group], exact, rtol=0, atol=1e-12 * len(members) * spread**2)


@given(st.integers(2, 60), st.integers(1, 5), st.integers(0, 999), st.sampled_from([0.0, 1.0, 1e9]))
def test_merging_gives_the_statistics_of_the_union(n: int, d: int, seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) + shift
    labels = rng.integers(0, 6, n)
    _, labels = np.unique(labels, return_inverse=True)
    parts = statistics(values, labels)
    into = rng.integers(0, 3, parts.n_groups)
    _, into = np.unique(into, return_inverse=True)
    merged = parts.merged(into, int(into.max()) + 1)
    whole = statistics(values, into[labels])
    assert (merged.n == whole.n).all()
    assert (merged.levels == whole.levels).all()
    assert (merged.largest == whole.largest).all()
    np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-15, atol=1e-14)
    np.testing.assert_allclose(merged.scatter, whole.scatter, rtol=1e-7, atol=1e-6 if shift else 1e-11)
    assert merged.n_rows == n


def test_raw_sums_would_have_lost_what_is_kept() -> None:
    values = np.random.default_rng(0).normal(size=(1000, 2)) + 1e9
    one = statistics(values, np.zeros(1000, np.int64))
    halves = statistics(values, np.repeat([0, 1], 500)).merged(np.array([0, 0]), 1)
    exact = np.array([[float(cell) for cell in row] for row in oracles.exact_statistics(values)[1]])
    np.testing.assert_allclose(one.scatter[0], exact, rtol=1e-9)
    np.testing.assert_allclose(halves.scatter[0], exact, rtol=1e-6)
    raw = values.T @ values - np.outer(values.sum(0), values.sum(0)) / 1000
    assert np.abs(raw - exact).max() > 100


def test_sums_and_covariance_are_the_papers() -> None:
    values = np.random.default_rng(1).normal(size=(40, 3))
    labels = np.repeat([0, 1], 20)
    found = statistics(values, labels)
    for group in (0, 1):
        members = values[labels == group]
        np.testing.assert_allclose(found.sums[group], members.sum(axis=0))
        np.testing.assert_allclose(found.second_sums[group], members.T @ members)
        np.testing.assert_allclose(found.covariance[group], np.cov(members.T, bias=True))
        assert found.ssq[group] == pytest.approx(((members - members.mean(axis=0)) ** 2).sum())


def test_eigenvalues_are_never_negative_and_give_the_covariance_back() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(60, 4))
    values[:, 3] = values[:, 0] - values[:, 1]
    values[:, 2] = 5.0
    found = statistics(values, np.repeat(np.arange(20), 3))
    eigenvalues, vectors = found.eigen()
    assert (eigenvalues >= 0).all()
    again = (vectors * eigenvalues[:, None, :]) @ vectors.transpose(0, 2, 1)
    np.testing.assert_allclose(again, found.covariance, atol=1e-12)


def test_groups_can_be_taken_put_together_and_be_none() -> None:
    values = np.random.default_rng(3).normal(size=(30, 2))
    found = statistics(values, np.arange(30) % 5)
    again = GroupStatistics.concat([found.take([0, 1]), found.take(slice(2, 5)), GroupStatistics.empty(2)])
    for name, array in found.to_arrays().items():
        np.testing.assert_array_equal(array, again.to_arrays()[name])
    assert GroupStatistics.empty(2).n_rows == 0
    assert "30 rows" in repr(found)


def test_arrays_come_back_and_broken_ones_are_refused() -> None:
    arrays = statistics(np.random.default_rng(4).normal(size=(9, 2)), np.arange(9) % 3).to_arrays()
    again = GroupStatistics.from_arrays(arrays)
    np.testing.assert_array_equal(again.scatter, arrays["scatter"])
    broken = [
        {name: array for name, array in arrays.items() if name != "mean"},
        arrays | {"mean": arrays["mean"][:2]},
        arrays | {"scatter": arrays["scatter"][:, :1]},
        arrays | {"n": arrays["n"].astype(float)},
        arrays | {"n": -arrays["n"]},
        arrays | {"mean": arrays["mean"] * np.nan},
    ]
    for one in broken:
        with pytest.raises(InputError, match="no group statistics"):
            GroupStatistics.from_arrays(one)
