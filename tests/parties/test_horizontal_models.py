"""Models of rows at several parties equal those of the pooled rows; the oracle is scikit-learn or the definition."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from tests.parties.inspector import assert_declared
from tests.parties.open_protocols import (
    HorizontalKMeans,
    HorizontalLogistic,
    HorizontalNaiveBayes,
    HorizontalQuantiles,
    HorizontalRidge,
    HorizontalStatistics,
    HorizontalTree,
)
from tests.parties.splits import by_party, frame, n_of, quarter, split_rows

from discreet.core.errors import InputError, ParameterError
from discreet.mine.noisy.tree_growing import Grower
from discreet.parties import Simulation, simulate
from discreet.parties.mining import model_from_dict, model_to_dict
from discreet.parties.mining.models.seeds import candidates, draw_seeds
from discreet.parties.mining.models.tree_protocol import tree_columns

XY = ("x", "y")


def checked(protocol: Any, inputs: dict[str, Any]) -> Simulation:
    """Run, and hold the frames against the declared ones, which depend on revealed facts alone."""
    run = simulate(protocol, inputs)
    names = tuple(inputs)
    assert len({str(facts) for facts in run.revealed.values()}) == 1
    assert_declared(run, protocol.frames(names, revealed=run.revealed[names[0]]), names)
    return run


def lloyd(rows: np.ndarray[Any, Any], centers: np.ndarray[Any, Any], max_rounds: int) -> tuple[Any, int]:
    """The definition: nearest center, the first of equals; means; an empty cluster keeps its center."""
    for number in range(max_rounds):
        labels = np.array([((row - centers) ** 2).sum(axis=1).argmin() for row in rows], int)
        means = [
            rows[labels == at].mean(axis=0) if (labels == at).any() else centers[at]
            for at in range(len(centers))
        ]
        if np.array_equal(means, centers):
            return centers, number + 1
        centers = np.array(means)
    return centers, max_rounds


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
        seeds, n_drawn = draw_seeds(_Alone(), grid, k=2, min_rows=1, random_bytes=os.urandom)  # type: ignore[arg-type]
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
    means, sizes = candidates(rows, min_rows=7)
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


@settings(max_examples=20)
@given(split_rows(min_rows=3))
def test_gaussian_naive_bayes_equals_scikit_learn(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {
        "x": quarter(rng.normal(size=n) * 5),
        "y": quarter(rng.normal(size=n) + 1000),
        "c": rng.integers(0, 3, n),
    }
    protocol = HorizontalNaiveBayes(columns=XY, target="c", classes=(0, 1, 2, 3))
    run = checked(protocol, by_party(rows, parts))
    oracle = GaussianNB().fit(frame(rows, XY), rows["c"])
    model = run.outputs["p0"].model
    assert model.classes_.tolist() == oracle.classes_.tolist()
    assert np.allclose(model.theta_, oracle.theta_)
    assert np.allclose(model.var_, oracle.var_, rtol=1e-6, atol=1e-7)
    assert np.allclose(model.class_prior_, oracle.class_prior_)
    again = model_from_dict(model_to_dict(model))
    assert (again.predict(frame(rows, XY)) == model.predict(frame(rows, XY))).all()


@settings(max_examples=20)
@given(split_rows())
def test_categorical_naive_bayes_equals_scikit_learn(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    codes = rng.integers(0, 3, (n, 2))
    letters = np.array(["u", "v", "w"])
    rows = {"x": letters[codes[:, 0]], "y": codes[:, 1], "c": rng.integers(0, 2, n) == 1}
    protocol = HorizontalNaiveBayes(
        columns=XY,
        target="c",
        classes=(False, True),
        categories={"x": ("u", "v", "w"), "y": (0, 1, 2)},
        alpha=0.5,
    )
    run = checked(protocol, by_party(rows, parts))
    oracle = CategoricalNB(alpha=0.5, min_categories=3).fit(codes, rows["c"])
    model = run.outputs["p1"].model
    assert np.allclose(model.class_log_prior_, oracle.class_log_prior_)
    for mine, theirs in zip(model.feature_log_prob_, oracle.feature_log_prob_, strict=True):
        assert np.allclose(mine, theirs)
    coded = frame({"x": codes[:, 0], "y": codes[:, 1]}, XY)
    assert (model.predict(coded) == oracle.predict(codes)).all()


@settings(max_examples=20)
@given(split_rows(max_rows=80), st.sampled_from(["gini", "entropy"]), st.integers(1, 5))
def test_trees_equal_the_one_of_the_pooled_rows(split: Any, criterion: str, min_leaf: int) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {"x": rng.uniform(-1, 11, n), "y": np.array(["u", "v", "w"])[rng.integers(0, 3, n)]}
    rows["c"] = np.array(["no", "yes"])[
        ((rows["x"] > 5) ^ (rows["y"] == "v") ^ (rng.random(n) < 0.1)).astype(int)
    ]
    protocol = HorizontalTree(
        columns=XY, target="c", classes=("no", "yes"), categories={"y": ("u", "v", "w")}, ranges={"x": (0, 10)},
        bins=8, criterion=criterion, max_depth=3, min_leaf=min_leaf,
    )  # fmt: skip
    run = checked(protocol, by_party(rows, parts))
    found = run.outputs["p0"].model
    pooled = simulate(protocol, {"all": rows, "none": {name: column[:0] for name, column in rows.items()}})
    assert model_to_dict(found) == model_to_dict(pooled.outputs["all"].model)
    assert found.tree_.counts[0].sum() == n
    leaves = found.tree_.leaves([rows["x"], rows["y"]])
    for leaf in np.unique(leaves):
        here = rows["c"][leaves == leaf]
        assert found.tree_.counts[leaf].tolist() == [(here == "no").sum(), (here == "yes").sum()]
        assert len(here) >= min(min_leaf, n)
    _assert_no_better_first_split(found, rows, protocol, criterion, min_leaf)
    again = model_from_dict(model_to_dict(found))
    assert (again.predict(frame(rows, XY)) == found.predict(frame(rows, XY))).all()


def _assert_no_better_first_split(
    model: Any, rows: Any, protocol: Any, criterion: str, min_leaf: int
) -> None:
    """The slow definition: every cut of numbers and every set of categories, by floating point."""
    columns = tree_columns(protocol.columns, protocol.categories, protocol.ranges, protocol.bins)
    yes = rows["c"] == "yes"
    sides = [rows["x"] < edge for edge in columns[0].edges[1:-1]]
    sides += [np.isin(rows["y"], chosen) for chosen in (["u"], ["v"], ["w"])]
    costs = [
        _cost(yes[side], criterion) + _cost(yes[~side], criterion)
        for side in sides
        if min(side.sum(), (~side).sum()) >= min_leaf
    ]
    whole = _cost(yes, criterion)
    best = min([*costs, whole])
    if model.tree_.column[0] < 0:
        assert best >= whole - 1e-9 or len(set(yes.tolist())) == 1
        return
    left = model.tree_.leaves([rows["x"], rows["y"]])
    under = {int(model.tree_.children[0, 0])}
    for node in range(len(model.tree_.column)):
        if node in under and model.tree_.column[node] >= 0:
            under |= set(model.tree_.children[node].tolist())
    side = np.isin(left, list(under))
    assert _cost(yes[side], criterion) + _cost(yes[~side], criterion) == pytest.approx(best, abs=1e-9)


def _cost(yes: np.ndarray[Any, Any], criterion: str) -> float:
    n, p = len(yes), yes.mean() if len(yes) else 0.0
    if criterion == "gini":
        return float(2 * n * p * (1 - p))
    return float(-n * sum(q * np.log(q) for q in (p, 1 - p) if q > 0))


def test_a_tree_by_gini_equals_that_of_local_mining() -> None:
    """The same histograms, grown by the trees of ``discreet.mine``."""
    rng = np.random.default_rng(5)
    rows = {"x": rng.uniform(0, 10, 400), "y": rng.uniform(0, 10, 400)}
    rows["c"] = np.where(rows["x"] + rows["y"] + rng.normal(size=400) > 10, 1, 0)
    protocol = HorizontalTree(
        columns=XY, target="c", classes=(0, 1), ranges={"x": (0, 10), "y": (0, 10)}, max_depth=4, min_leaf=5
    )
    run = checked(protocol, by_party(rows, np.array_split(np.arange(400), 3)))
    columns = tree_columns(XY, {}, protocol.ranges, protocol.bins)
    bins = np.column_stack([column.bins(rows[column.name]) for column in columns])
    grower = Grower(columns, bins, rows["c"].astype(np.int32), 2, strategy="global", max_depth=4, min_leaf=5)
    local = sorted(tuple(node.counts.tolist()) for node in grower.grow())
    assert sorted(map(tuple, run.outputs["p0"].model.tree_.counts.tolist())) == local


@settings(max_examples=20)
@given(split_rows(min_rows=2), st.floats(0.01, 10))
def test_ridge_equals_scikit_learn(split: Any, alpha: float) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {"x": quarter(rng.normal(size=n) * 3), "y": quarter(rng.normal(size=n) + 5000)}
    rows["t"] = quarter(2 * rows["x"] - rows["y"] + rng.normal(size=n))
    run = checked(HorizontalRidge(columns=XY, target="t", alpha=alpha), by_party(rows, parts))
    oracle = Ridge(alpha=alpha, solver="cholesky").fit(frame(rows, XY), rows["t"])
    model = run.outputs["p0"].model
    assert np.allclose(model.coef_, oracle.coef_, atol=1e-7)
    assert np.allclose(model.predict(frame(rows, XY)), oracle.predict(frame(rows, XY)), atol=1e-5)
    again = model_from_dict(model_to_dict(model))
    assert np.allclose(again.predict(frame(rows, XY)), model.predict(frame(rows, XY)))


@settings(max_examples=15)
@given(split_rows(min_rows=6), st.sampled_from([0.1, 1.0, 50.0]), st.integers(2, 3))
def test_logistic_regression_equals_scikit_learn(split: Any, C: float, n_classes: int) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {"x": rng.normal(size=n), "y": rng.normal(size=n), "c": rng.integers(0, n_classes, n)}
    rows["c"][:n_classes] = range(n_classes)
    protocol = HorizontalLogistic(columns=XY, target="c", classes=tuple(range(n_classes + 1)), C=C, tol=1e-10)
    run = checked(protocol, by_party(rows, parts))
    oracle = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(frame(rows, XY), rows["c"])
    model = run.outputs["p0"].model
    assert model.classes_.tolist() == oracle.classes_.tolist()
    assert np.allclose(model.coef_, oracle.coef_, atol=2e-4)
    assert np.allclose(model.predict_proba(frame(rows, XY)), oracle.predict_proba(frame(rows, XY)), atol=2e-4)
    again = model_from_dict(model_to_dict(model))
    assert (again.predict(frame(rows, XY)) == model.predict(frame(rows, XY))).all()


def test_parties_whose_arithmetic_differs_in_the_last_digits_still_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each thread solves with an error of its own: all stop in the same round, with the same model up to that."""
    solve, errors = np.linalg.lstsq, itertools.cycle([1 + 1e-13, 1 - 1e-13, 1.0])

    def inexact(*args: Any, **options: Any) -> Any:
        return [solve(*args, **options)[0] * next(errors)]

    monkeypatch.setattr(np.linalg, "lstsq", inexact)
    rng = np.random.default_rng(3)
    rows = {"x": rng.normal(size=90), "y": rng.normal(size=90)}
    rows["c"] = np.where(rows["x"] + rng.normal(size=90) > 0, 1, 0)
    protocol = HorizontalLogistic(columns=XY, target="c", classes=(0, 1), tol=1e-11)
    run = checked(protocol, by_party(rows, np.array_split(np.arange(90), 3)))
    found = [output.model.coef_ for output in run.outputs.values()]
    assert np.allclose(found[0], found[1], atol=1e-9)
    assert np.allclose(found[0], found[2], atol=1e-9)


@settings(max_examples=20)
@given(split_rows(min_rows=2))
def test_statistics_equal_the_pooled_ones(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    pooled = np.column_stack([quarter(rng.normal(size=n) * 3), quarter(rng.normal(size=n) + 1000)])
    rows = dict(zip(XY, pooled.T, strict=True))
    protocol = HorizontalStatistics(columns=XY, ranges={"x": (-10, 10)}, bins=5)
    run = checked(protocol, by_party(rows, parts))
    found = run.outputs["p0"].model
    assert found.n == n
    assert np.allclose(found.mean, pooled.mean(axis=0))
    assert np.allclose(found.covariance, np.cov(pooled.T), atol=1e-9)
    assert (
        found.histograms["x"][1].tolist()
        == np.histogram(np.clip(rows["x"], -10, 10), 5, (-10, 10))[0].tolist()
    )
    if n > 2:
        oracle = PCA(svd_solver="full").fit(pooled)
        assert np.allclose(found.pca().explained_variance_, oracle.explained_variance_, atol=1e-8)
    assert found.to_dict()["n"] == n


def test_principal_components_transform_as_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    pooled = rng.normal(size=(200, 3)) @ np.diag([3.0, 2.0, 0.5])
    names = ("a", "b", "c")
    rows = dict(zip(names, pooled.T, strict=True))
    run = checked(
        HorizontalStatistics(columns=names, fraction_bits=30),
        by_party(rows, np.array_split(np.arange(200), 2)),
    )
    model = run.outputs["p1"].model.pca(2)
    oracle = PCA(2).fit(pooled)
    assert np.allclose(
        np.abs(model.transform(frame(rows, names))), np.abs(oracle.transform(pooled)), atol=1e-5
    )
    assert np.allclose(model.explained_variance_ratio_, oracle.explained_variance_ratio_)
    assert model.noise_variance_ == pytest.approx(oracle.noise_variance_)
    again = model_from_dict(model_to_dict(model))
    assert np.allclose(again.transform(frame(rows, names)), model.transform(frame(rows, names)))


@settings(max_examples=8)
@given(split_rows(max_rows=25))
def test_quantiles_equal_the_definition(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    values = rng.integers(-3, 19, n)
    q = (0.0, 0.1, 0.5, 1.0)
    protocol = HorizontalQuantiles(columns=("x",), q=q, ranges={"x": (0, 15)}, bits=4)
    run = checked(protocol, by_party({"x": values}, parts))
    ordered = np.sort(np.clip(values, 0, 15))
    expected = [float(ordered[max(1, int(np.ceil(round(one * n, 9)))) - 1]) for one in q]
    for output in run.outputs.values():
        assert output.model["x"].tolist() == expected


@pytest.mark.parametrize(
    ("protocol", "columns"),
    [
        (HorizontalStatistics(columns=("x",)), ("x",)),
        (HorizontalRidge(columns=("x",), target="y"), XY),
        (HorizontalQuantiles(columns=("x",), ranges={"x": (0, 1)}, bits=2), ("x",)),
        (HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1)), XY),
        (HorizontalTree(columns=("x",), target="y", classes=(0, 1), ranges={"x": (0, 1)}), XY),
        (HorizontalLogistic(columns=("x",), target="y", classes=(0, 1)), XY),
    ],
)
def test_no_rows_anywhere_is_one_clear_error(protocol: Any, columns: Any) -> None:
    empty = {name: np.zeros(0, np.int64) for name in columns}
    with pytest.raises(InputError, match=r"nothing|no quantiles|fewer than two"):
        simulate(protocol, {"a": empty, "b": empty, "c": empty})


CANARY = 918273645.5


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"x": [1.0]}, "no column 'y'"),
        ({"x": [1.0, 2.0], "y": [1.0]}, "differ in length"),
        ({"x": [float("nan")], "y": [1.0]}, "missing"),
        ({"x": [None], "y": [1.0]}, "missing"),
        ({"x": ["one"], "y": [1.0]}, "must hold numbers"),
        ({"x": [CANARY], "y": [1.0]}, "beyond"),
        ({"x": [[1.0]], "y": [1.0]}, "one value for each row"),
        ([1.0], "frame"),
    ],
)
def test_bad_rows_are_refused_without_a_value(data: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        simulate(HorizontalRidge(columns=("x",), target="y"), {"a": data, "b": data}, timeout=5)
    assert str(CANARY) not in str(error.value)


def test_a_class_that_the_session_does_not_name_is_refused() -> None:
    protocol = HorizontalNaiveBayes(columns=("x",), target="y", classes=("a", "b"))
    with pytest.raises(InputError, match="1 values of column 'y'") as error:
        protocol.check_input({"x": [1.0], "y": ["secret"]}, ("a", "b"), "a")
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="numbers where"):
        protocol.check_input({"x": [1.0], "y": [3]}, ("a", "b"), "a")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: HorizontalKMeans(columns=(), k=2), "columns"),
        (lambda: HorizontalKMeans(columns=("x", "x"), k=2), "different names"),
        (lambda: HorizontalKMeans(columns=("x",), k=0), "'k'"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, init="given", centers=((1,),)), "'centers'"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, init="ranges"), "public range of 'x'"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, epsilon=1.0, ranges={"x": (0, 1)}), "seeds"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, ranges={"x": (1, 1)}), "low < high"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, ranges={"z": (0, 1)}), "no column"),
        (lambda: HorizontalNaiveBayes(columns=("x",), target="x", classes=(0, 1)), "'target'"),
        (lambda: HorizontalNaiveBayes(columns=("x",), target="y", classes=(0,)), "'classes'"),
        (lambda: HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, "1")), "'classes'"),
        (lambda: HorizontalTree(columns=("x",), target="y", classes=(0, 1)), "range of 'x'"),
        (lambda: HorizontalLogistic(columns=("x",), target="y", classes=(0, 1), epsilon=1.0), "no noise"),
        (lambda: HorizontalQuantiles(columns=("x",), q=(2.0,), ranges={"x": (0, 1)}), "'q'"),
    ],
)
def test_parameters_are_checked_by_name(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()
