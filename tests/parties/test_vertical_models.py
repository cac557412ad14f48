"""Models of columns of the same people at several parties equal those of the joined columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from tests.parties.open_protocols import (
    HorizontalTree,
    VerticalKMeans,
    VerticalNaiveBayes,
    VerticalRidge,
    VerticalStatistics,
    VerticalTree,
)
from tests.parties.splits import frame
from tests.parties.test_horizontal_models import checked, lloyd

from discreet.core.errors import InputError, ParameterError
from discreet.parties import PartyError, simulate
from discreet.parties.mining import model_from_dict, model_to_dict

NAMES = ("a", "b", "c", "d")
RANGES = dict.fromkeys(NAMES, (-8, 8))
STEP = 8 / (2**19 - 1)


def _columns(parties: int) -> dict[str, tuple[str, ...]]:
    if parties == 2:
        return {"p0": NAMES[:1], "p1": NAMES[1:]}
    return {"p0": NAMES[:2], "p1": NAMES[2:3], "p2": NAMES[3:]}


def _rows(seed: int, n: int) -> dict[str, Any]:
    """Values that the grid of 20 bits holds exactly, up to a rounding of floats."""
    rng = np.random.default_rng(seed)
    return {name: rng.integers(-50_000, 50_000, n) * STEP for name in NAMES}


def _inputs(rows: dict[str, Any], columns: dict[str, tuple[str, ...]], **more: Any) -> dict[str, Any]:
    found = {party: {name: rows[name] for name in held} for party, held in columns.items()}
    for party, extra in more.items():
        found[party] |= extra
    return found


sizes = given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(2, 3))


@settings(max_examples=6)
@sizes
def test_statistics_equal_those_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rows, columns = _rows(seed, n), _columns(parties)
    run = checked(VerticalStatistics(columns=columns, ranges=RANGES), _inputs(rows, columns))
    joined = np.column_stack([rows[name] for name in NAMES])
    for output in run.outputs.values():
        assert output.model.n == n
        assert np.allclose(output.model.mean, joined.mean(axis=0), atol=1e-9)
        assert np.allclose(output.model.covariance, np.cov(joined.T), atol=1e-9)


@settings(max_examples=6)
@sizes
def test_ridge_equals_that_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rows, columns = _rows(seed, n), _columns(parties)
    protocol = VerticalRidge(columns=columns, ranges=RANGES, target="b", alpha=0.01)
    run = checked(protocol, _inputs(rows, columns))
    used = [name for name in NAMES if name != "b"]
    oracle = Ridge(alpha=0.01, solver="cholesky").fit(frame(rows, used), rows["b"])
    for output in run.outputs.values():
        assert output.model.feature_names_in_.tolist() == used
        assert np.allclose(output.model.coef_, oracle.coef_, atol=1e-6)
        assert output.model.intercept_ == pytest.approx(oracle.intercept_, abs=1e-6)


@settings(max_examples=6)
@sizes
def test_gaussian_naive_bayes_equals_that_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rows, columns = _rows(seed, n), _columns(parties)
    labels = np.random.default_rng(seed).integers(0, 3, n)
    protocol = VerticalNaiveBayes(
        columns=columns, ranges=RANGES, target="t", holder="p1", classes=(0, 1, 2, 3)
    )
    run = checked(protocol, _inputs(rows, columns, p1={"t": labels}))
    oracle = GaussianNB().fit(frame(rows, NAMES), labels)
    for output in run.outputs.values():
        assert output.model.classes_.tolist() == oracle.classes_.tolist()
        assert np.allclose(output.model.theta_, oracle.theta_, atol=1e-9)
        assert np.allclose(output.model.var_, oracle.var_, atol=1e-9)
        assert np.allclose(output.model.class_prior_, oracle.class_prior_)


@settings(max_examples=6)
@sizes
def test_categorical_naive_bayes_equals_that_of_the_joined_columns(seed: int, n: int, parties: int) -> None:
    rng = np.random.default_rng(seed)
    rows = {name: rng.integers(0, 3, n) for name in NAMES}
    labels = rng.integers(0, 2, n)
    columns = {**_columns(parties), "holder": ()}
    protocol = VerticalNaiveBayes(
        columns=columns,
        categories=dict.fromkeys(NAMES, (0, 1, 2)),
        target="t",
        holder="holder",
        classes=(0, 1),
    )
    run = checked(protocol, _inputs(rows, columns, holder={"t": labels}))
    oracle = CategoricalNB(min_categories=3).fit(np.column_stack([rows[name] for name in NAMES]), labels)
    for output in run.outputs.values():
        for mine, theirs in zip(output.model.feature_log_prob_, oracle.feature_log_prob_, strict=True):
            assert np.allclose(mine, theirs)


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(["gini", "entropy"]), st.booleans())
def test_trees_equal_the_horizontal_one_of_the_joined_rows(
    seed: int, n: int, criterion: str, swapped: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = {
        "a": rng.uniform(0, 8, n),
        "b": rng.uniform(0, 8, n),
        "c": np.array(["u", "v"])[rng.integers(0, 2, n)],
    }
    labels = np.where((rows["a"] > rows["b"]) ^ (rng.random(n) < 0.1), "yes", "no")
    shared: dict[str, Any] = {
        "target": "t", "classes": ("no", "yes"), "categories": {"c": ("u", "v")},
        "ranges": {"a": (0, 8), "b": (0, 8)}, "bins": 4, "criterion": criterion, "max_depth": 3,
    }  # fmt: skip
    names = ("p1", "p0") if swapped else ("p0", "p1")
    columns = {"p0": ("a",), "p1": ("b", "c")}
    inputs = _inputs(rows, columns, p1={"t": labels})
    protocol = VerticalTree(columns=columns, holder="p1", **shared)
    run = checked(protocol, {name: inputs[name] for name in names})
    half = n // 2
    both = {**rows, "t": labels}
    pooled = simulate(
        HorizontalTree(columns=("a", "b", "c"), **shared),
        {"x": {k: v[:half] for k, v in both.items()}, "y": {k: v[half:] for k, v in both.items()}},
    )
    expected = model_to_dict(pooled.outputs["x"].model)
    for output in run.outputs.values():
        assert _unordered(output.model) == _unordered(model_from_dict(expected))


def _unordered(model: Any) -> str:
    """The tree as text, which does not depend on the order in which nodes were made."""
    return str(model.describe())


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 14), st.integers(1, 3), st.integers(2, 3))
def test_k_means_equals_lloyd_on_the_joined_columns(seed: int, n: int, k: int, parties: int) -> None:
    rng = np.random.default_rng(seed)
    rows = {name: rng.normal(size=n).clip(-8, 8) for name in NAMES}
    columns = _columns(parties)
    seeds = tuple(rng.choice(n, k, replace=False).tolist())
    protocol = VerticalKMeans(
        columns=columns, k=k, ranges=RANGES, init="given", seeds=seeds, max_rounds=4, bits=20
    )
    run = checked(protocol, _inputs(rows, columns))
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
    run = checked(protocol, _inputs(rows, columns))
    labels = run.outputs["p2"].model.labels_.reshape(3, 4)
    assert len(set(labels[:, 0])) == 3
    assert (labels == labels[:, :1]).all()
    assert run.outputs["p1"].model.cluster_centers_.shape == (3, 1)
    repeated = dict.fromkeys("abc", np.zeros(5))
    run = checked(protocol, _inputs(repeated, columns))
    assert len(set(run.outputs["p0"].model.labels_.tolist())) == 1


def test_different_numbers_of_rows_stop_all_parties() -> None:
    protocol = VerticalStatistics(columns={"p0": ("a",), "p1": ("b",)}, ranges={"a": (0, 1), "b": (0, 1)})
    with pytest.raises(PartyError, match="different numbers of rows"):
        simulate(protocol, {"p0": {"a": [0.5]}, "p1": {"b": [0.5, 0.5]}}, timeout=5)
    with pytest.raises(InputError, match="no rows"):
        simulate(protocol, {"p0": {"a": np.zeros(0)}, "p1": {"b": np.zeros(0)}}, timeout=5)
    with pytest.raises(InputError, match="beyond its range") as error:
        simulate(protocol, {"p0": {"a": [4711.5]}, "p1": {"b": [0.5]}}, timeout=5)
    assert "4711" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: VerticalStatistics(columns={"x": ("a",), "y": ("a",)}, ranges={"a": (0, 1)}),
            "different names",
        ),
        (
            lambda: VerticalStatistics(columns={"x": ("a",), "y": ("b",)}, ranges={"a": (0, 1)}),
            "range of 'b'",
        ),
        (lambda: VerticalRidge(columns={"x": ("a",)}, target="b", ranges={"a": (0, 1)}), "'target'"),
        (lambda: VerticalKMeans(columns={"x": ("a",)}, k=0, ranges={"a": (0, 1)}), "'k'"),
        (
            lambda: VerticalKMeans(columns={"x": ("a",)}, k=2, init="given", ranges={"a": (0, 1)}),
            "'seeds'",
        ),
        (
            lambda: VerticalNaiveBayes(columns={"x": ("a",)}, target="t", holder="z", classes=(0, 1)),
            "'holder'",
        ),
        (lambda: VerticalTree(columns={"x": ("a",)}, target="t", holder="z", classes=(0, 1)), "'holder'"),
    ],
)
def test_parameters_are_checked_by_name(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def test_a_session_must_name_every_party() -> None:
    protocol = VerticalStatistics(columns={"p0": ("a",), "p1": ("b",)}, ranges={"a": (0, 1), "b": (0, 1)})
    with pytest.raises(ParameterError, match="every party"):
        simulate(protocol, {"p0": {"a": [0.5]}, "p2": {"b": [0.5]}})
