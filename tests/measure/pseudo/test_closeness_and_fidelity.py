"""Measures of pseudo-data: likeness, closeness and membership, by slow definitions and on data that must show them."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import condensation as oracles

from discreet import Table, identifier, quasi
from discreet.core.errors import ParameterError, SchemaError
from discreet.measure import (
    closeness,
    closeness_between,
    closest_records,
    covariance_compatibility,
    fidelity,
    fidelity_between,
    membership,
    membership_of_points,
    neighbor_accuracy,
)
from discreet.publish import Condensation

RNG = np.random.default_rng(0)


def table(**columns: object) -> Table:
    return Table(pa.table(columns), {name: quasi() for name in columns})


def test_covariance_compatibility_is_the_correlation_of_the_entries() -> None:
    first, second = RNG.normal(size=(50, 3)), RNG.normal(size=(70, 3)) * [1, 2, 3]
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    entries = [[np.cov(one.T, bias=True)[pair] for pair in pairs] for one in (first, second)]
    expected = np.corrcoef(entries)[0, 1]
    assert covariance_compatibility(first, second) == pytest.approx(expected)
    assert covariance_compatibility(first, first * 3 + 5) == 1.0
    assert covariance_compatibility(first, first * [1, -1, 1]) < 1
    assert math.isnan(covariance_compatibility(first[:, :1], second[:, :1]))
    assert math.isnan(covariance_compatibility(first, np.zeros((9, 3))))


def test_distances_of_columns_are_the_textbooks() -> None:
    one = table(x=[1.0, 2.0, 3.0, None], c=["a", "a", "b", None])
    other = table(x=[1.0, 1.0, 1.0, 1.0], c=["a", "c", "c", "c"])
    found = fidelity_between(one, other)
    assert found.columns == {"x": 0.5, "c": 0.75}
    assert found.largest_distance == 0.75
    assert fidelity_between(one, one).columns == {"x": 0.0, "c": 0.0}
    assert found.to_dict()["n_original"] == 4


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=30),
    st.lists(st.floats(-5, 5), min_size=1, max_size=30),
)
def test_the_distance_of_numbers_is_the_largest_difference_of_the_distribution_functions(
    one: list[float], other: list[float]
) -> None:
    expected = max(
        abs(sum(x <= at for x in one) / len(one) - sum(x <= at for x in other) / len(other))
        for at in one + other
    )
    assert fidelity_between(table(x=one), table(x=other)).columns["x"] == pytest.approx(expected)


def test_good_pseudo_data_is_distinguished_from_bad() -> None:
    values = RNG.normal(size=(800, 3)) @ RNG.normal(size=(3, 3))
    original = table(a=values[:, 0], b=values[:, 1], c=values[:, 2])
    release = Condensation(10, random_state=0).release(original)
    good = fidelity(release)
    assert good.covariance_compatibility > 0.99
    assert good.largest_distance < 0.06
    alone = table(**{name: RNG.permutation(original.frame[name].to_numpy()) for name in "abc"})
    assert fidelity_between(original, alone).covariance_compatibility < good.covariance_compatibility
    assert fidelity_between(original, alone).largest_distance == 0


@given(st.integers(2, 30), st.integers(1, 20), st.integers(0, 99))
def test_closeness_is_that_of_looking_at_every_pair(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, pseudo = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    pseudo[0] = original[0]
    found = closest_records(original, pseudo)
    apart = [oracles.nearest_distance(original, one) for one in pseudo]
    own = [oracles.nearest_distance(np.delete(original, row, axis=0), original[row]) for row in range(n)]
    assert found.distance == pytest.approx(np.median(apart))
    assert found.spacing == pytest.approx(np.median(own))
    assert found.copies == sum(one == 0 for one in apart) / m
    assert found.n_looked_at == m


def test_copies_are_seen_and_condensed_data_keeps_its_distance() -> None:
    values = RNG.normal(size=(600, 2))
    original = table(a=values[:, 0], b=values[:, 1])
    copied = closeness(Condensation(1, random_state=0).release(original))
    assert copied.copies == 1.0
    assert copied.ratio == 0.0
    kept = closeness(Condensation(10, random_state=0).release(original))
    assert kept.copies == 0.0
    assert kept.ratio > 0.5
    assert closeness_between(original, original).to_dict() == copied.to_dict()
    lonely = closest_records(np.zeros((1, 2)), np.ones((3, 2)))
    assert lonely.distance == pytest.approx(math.sqrt(2))
    assert math.isnan(lonely.ratio)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 99), st.booleans())
def test_membership_is_the_share_of_pairs(n: int, m: int, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    members, others, pseudo = rng.normal(size=(n, 2)), rng.normal(size=(m, 2)), rng.normal(size=(9, 2))
    if ties:
        members, others, pseudo = members.round(0), others.round(0), pseudo.round(0)
    expected = oracles.auc(
        [oracles.nearest_distance(pseudo, one) for one in members],
        [oracles.nearest_distance(pseudo, one) for one in others],
    )
    found = membership_of_points(members, others, pseudo)
    assert found.auc == pytest.approx(expected)
    assert (found.n_members, found.n_others) == (n, m)


def test_membership_is_certain_for_copies_and_near_a_coin_for_condensed_data() -> None:
    values = np.random.default_rng(1).normal(size=(2000, 3))
    parts = [table(a=one[:, 0], b=one[:, 1], c=one[:, 2]) for one in (values[:1000], values[1000:])]
    copied = Condensation(1, random_state=0).release(parts[0])
    assert membership(parts[0], parts[1], copied.table).auc == 1.0
    kept = Condensation(20, random_state=0).release(parts[0])
    found = membership(parts[0], parts[1], kept.table)
    assert 0.4 < found.auc < 0.62
    assert found.to_dict()["n_others"] == 1000


def test_neighbor_accuracy_compares_both_on_the_same_rows() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 4)) * [1, 100, 1, 1]
    y = np.where(X[:, 0] + X[:, 1] / 100 > 0, "up", "down")
    train, test = (X[:600], y[:600]), (X[600:], y[600:])
    pseudo = Condensation(10, random_state=0).fit_resample(*train)
    found = neighbor_accuracy(train, pseudo, test, n_neighbors=3)
    assert found.original > 0.85
    assert found.ratio > 0.93
    wrong = neighbor_accuracy(train, (train[0], train[1][::-1]), test)
    assert wrong.pseudo < 0.7
    assert neighbor_accuracy(train, train, test).ratio == 1.0
    years = np.rint(X[:, 0] * 3)
    close = neighbor_accuracy(
        (X[:600], years[:600]), (X[:600], years[:600]), (X[600:], years[600:]), within=1
    )
    assert close.original == close.pseudo > 0.4


def test_what_cannot_be_compared_is_named() -> None:
    one = Table(pa.table({"id": ["a"], "x": [1]}), {"id": identifier(), "x": quasi()})
    with pytest.raises(SchemaError, match="no column in common"):
        fidelity_between(one, table(y=[1]))
    with pytest.raises(SchemaError, match="'x' has another type"):
        fidelity_between(one, table(x=["HIDDEN"]))
    with pytest.raises(ParameterError, match="'release' parameter of fidelity"):
        fidelity(one)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'others' parameter of membership"):
        membership(one, None, one)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'n_neighbors' parameter"):
        neighbor_accuracy(([[1.0]], [1]), ([[1.0]], [1]), ([[1.0]], [1]), n_neighbors=0)
