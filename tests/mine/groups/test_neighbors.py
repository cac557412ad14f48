"""Nearest groups: the slow definition, streams, levels, what was condensed before, and scikit-learn's own checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles import groups as oracle

from discreet.core.errors import InfeasibleError, InputError, ParameterError, SchemaError
from discreet.mine import GroupNeighborsClassifier, GroupNeighborsRegressor
from discreet.publish import Condensation, StreamCondensation


@parametrize_with_checks(
    [
        GroupNeighborsClassifier(Condensation(2, random_state=0)),
        GroupNeighborsClassifier(StreamCondensation(1, init_number=4, random_state=0), n_neighbors=3),
        GroupNeighborsRegressor(Condensation(2, random_state=0), n_neighbors=2),
        GroupNeighborsRegressor(StreamCondensation(2, init_number=4, random_state=0)),
    ]
)
def test_they_are_estimators(estimator: Any, check: Any) -> None:
    check(estimator)


@st.composite
def data(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Records with ties, duplicates and constants, their classes, and records to be classified."""
    n, d = draw(st.integers(4, 40)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    values = rng.integers(0, draw(st.sampled_from([1, 2, 9])), (n, d)).astype(np.float64)
    classes = np.concatenate([np.arange(4) % 2, rng.integers(0, 2, n - 4)])
    return values, classes, rng.integers(-1, 10, (5, d)) + rng.random((5, d))


@given(rows=data(), k=st.integers(1, 5), weights=st.sampled_from(["n", "uniform"]), streams=st.booleans())
@settings(max_examples=60)
def test_both_are_the_slow_definitions(rows: Any, k: int, weights: Any, streams: bool) -> None:
    values, classes, queries = rows
    how: Any = (
        StreamCondensation(2, init_number=2, random_state=0) if streams else Condensation(2, random_state=0)
    )
    model = GroupNeighborsClassifier(how, n_neighbors=k, weights=weights).fit(values, classes)
    found = model.predict_proba(queries)
    for query, shares in zip(queries, found, strict=True):
        near = oracle.nearest(model.statistics_, query, k)
        expected = oracle.voted(model.statistics_, model.group_classes_.tolist(), near, weights)
        np.testing.assert_allclose(shares, [expected.get(label, 0.0) for label in (0, 1)], atol=1e-12)
    target = values.sum(axis=1)
    numbers = GroupNeighborsRegressor(how, n_neighbors=k, weights=weights).fit(values, target)
    for query, predicted in zip(queries, numbers.predict(queries), strict=True):
        near = oracle.nearest(numbers.statistics_, query, k)
        assert predicted == pytest.approx(oracle.averaged(numbers.statistics_, near, weights))


def cloud(n: int = 300, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 3 * classes[:, None], np.array(["a", "b", "c"])[classes]


def test_batches_are_the_whole_and_new_classes_may_come() -> None:
    X, y = cloud()
    how = StreamCondensation(5, init_number=20, random_state=0)
    model = GroupNeighborsClassifier(how)
    early = y != "c"
    model.partial_fit(X[early], y[early])
    assert model.classes_.tolist() == ["a", "b"]
    model.partial_fit(X[~early], y[~early])
    assert model.classes_.tolist() == ["a", "b", "c"]
    for stream, label in zip(model.condensed_, "abc", strict=True):
        alone = StreamCondensation(5, init_number=20, random_state=0).partial_fit(X[y == label])
        np.testing.assert_array_equal(stream.statistics_.mean, alone.statistics_.mean)
    assert model.score(X, y) > 0.9
    numbers = GroupNeighborsRegressor(how)
    for part in np.split(np.arange(300), 3):
        numbers.partial_fit(X[part], X[part, 0])
    alone = StreamCondensation(5, init_number=20, random_state=0).partial_fit(np.column_stack([X, X[:, 0]]))
    np.testing.assert_array_equal(numbers.statistics_.mean, alone.statistics_.mean)


def test_streams_that_still_wait_are_counted_and_can_be_condensed_now() -> None:
    X, y = cloud(30)
    model = GroupNeighborsClassifier(StreamCondensation(2, init_number=50)).partial_fit(X, y)
    with pytest.raises(NotFittedError, match="3 of 3 streams have no groups yet"):
        model.predict(X)
    assert model.initialize().score(X, y) > 0.8
    assert not hasattr(GroupNeighborsClassifier(Condensation(2)), "partial_fit")
    assert not hasattr(GroupNeighborsRegressor(), "partial_fit")


def test_levels_of_records_are_kept_and_no_record_is() -> None:
    X, y = cloud()
    levels = np.random.default_rng(1).integers(2, 9, 300)
    for how in (Condensation(random_state=0), StreamCondensation(init_number=40, random_state=0)):
        model = GroupNeighborsClassifier(how).fit(X, y, k=levels)
        kept = model.statistics_
        assert (kept.n >= kept.largest).all()
        assert kept.levels.sum() == levels.sum()
        assert kept.n_rows == 300
        assert (
            GroupNeighborsRegressor(how).fit(X, X[:, 0], k=levels).statistics_.largest.max() == levels.max()
        )
    with pytest.raises(InfeasibleError):
        GroupNeighborsClassifier(Condensation(101)).fit(X, y)


def test_what_was_condensed_before_is_taken_as_it_is(tmp_path: Path) -> None:
    X, y = cloud()
    streams = {
        label: StreamCondensation(5, init_number=20, random_state=0).fit(X[y == label]) for label in "cab"
    }
    saved = {label: stream.save(tmp_path / f"{label}.bin") for label, stream in streams.items()}
    loaded = {label: StreamCondensation.load(path) for label, path in saved.items()}
    model = GroupNeighborsClassifier(StreamCondensation(5)).fit_groups(loaded)
    fitted = GroupNeighborsClassifier(StreamCondensation(5, init_number=20, random_state=0)).fit(X, y)
    assert model.predict(X).tolist() == fitted.predict(X).tolist()
    whole = Condensation(5, target="number", random_state=0).fit(X, X[:, 0])
    numbers = GroupNeighborsRegressor(n_neighbors=2).fit_groups(whole)
    assert np.abs(numbers.predict(X) - X[:, 0]).mean() < 0.6
    with pytest.raises(SchemaError, match="2 different numbers of columns"):
        GroupNeighborsClassifier().fit_groups({"a": loaded["a"], "b": whole})


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"weights": "size"}, "weights"),
        ({"condensation": 5}, "condensation"),
    ],
)
def test_a_wrong_parameter_is_named(wrong: dict[str, Any], name: str) -> None:
    X, y = cloud(30)
    with pytest.raises(ParameterError, match=f"'{name}' parameter of GroupNeighborsClassifier"):
        GroupNeighborsClassifier(**wrong).fit(X, y)


def test_bad_rows_are_refused_by_their_count() -> None:
    X, y = cloud(30)
    target = X[:, 0].copy()
    target[3] = np.nan
    with pytest.raises(InputError, match="1 values of y"):
        GroupNeighborsRegressor().fit(X, target)
    with pytest.raises(SchemaError, match="features"):
        GroupNeighborsClassifier(Condensation(2)).fit(X, y).predict(X[:, :1])


@pytest.mark.parametrize(("name", "expected"), [("ionosphere", 0.85), ("ecoli", 0.77), ("pima", 0.69)])
def test_the_paper_s_sets_are_classified_near_the_baseline(
    shared_data: Path, name: str, expected: float
) -> None:
    from experiments.condensation.data import samples

    sample = next(one for one in samples(shared_data) if one.name == name)
    scores = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(sample.values))
        cut = len(order) // 4
        counts = np.bincount(sample.target[order[cut:]])
        levels = np.minimum(10, counts)[sample.target[order[cut:]]]
        model = GroupNeighborsClassifier(Condensation(segment="nearest", random_state=seed))
        model.fit(sample.values[order[cut:]], sample.target[order[cut:]], k=levels)
        scores.append(model.score(sample.values[order[:cut]], sample.target[order[:cut]]))
    assert np.mean(scores) > expected - 0.03
