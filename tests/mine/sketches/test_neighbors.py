"""Nearest neighbors on sketches: the definition, suppressed records, and scikit-learn's own checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles import sketches as oracles

from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.records.sketches import Sketches
from discreet.mine import SketchNeighbors, SketchReconstruction
from discreet.publish import DeltaSketch, SketchFamily

RAGGED = st.lists(st.lists(st.integers(-3, 3).map(float), max_size=5), min_size=1, max_size=9)


def made(lists: list[list[float]]) -> Sketches:
    values = np.array([value for one in lists for value in one], np.float64)
    return Sketches(values, np.cumsum([0, *map(len, lists)]), "f")


@parametrize_with_checks(
    [SketchNeighbors(), SketchNeighbors(2, metric="cosine"), SketchNeighbors(4, weights="nearness")]
)
def test_it_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@given(
    train=RAGGED, queries=RAGGED, k=st.integers(1, 4), metric=st.sampled_from(["distance", "cosine", "dot"])
)
@settings(max_examples=150)
def test_neighbors_are_the_nearest_by_the_definition_the_first_of_equals(
    train: list[list[float]], queries: list[list[float]], k: int, metric: Any
) -> None:
    labels = [len(one) % 3 for one in train]
    if not any(train):
        with pytest.raises(InputError, match="no sketch to learn"):
            SketchNeighbors(k, metric=metric).fit(made(train), labels)
        return
    model = SketchNeighbors(k, metric=metric, shrink=0).fit(made(train), labels)
    held = [one for one in train if one]
    scores, places = model.kneighbors(made(queries))
    slow = {"distance": oracles.squared_distance, "cosine": oracles.cosine, "dot": oracles.dot}[metric]
    for query, score, near in zip(queries, scores, places, strict=True):
        if not query:
            assert (near == -1).all()
            continue
        every = np.array([slow(query, one) for one in held])
        best = np.sort(every if metric == "distance" else -every)[: near.size]
        np.testing.assert_allclose(score if metric == "distance" else -score, best, atol=1e-12)
        np.testing.assert_allclose(every[near], score, atol=1e-12)
        if metric == "distance":
            assert near.tolist() == np.argsort(every, kind="stable")[: near.size].tolist()


@given(
    train=RAGGED.filter(any),
    queries=RAGGED,
    k=st.integers(1, 4),
    metric=st.sampled_from(["distance", "cosine", "dot"]),
    shrink=st.sampled_from([0.5, 3.0, 100.0]),
)
@settings(max_examples=150)
def test_estimates_are_drawn_to_their_mean_the_more_the_fewer_components_they_rest_on(
    train: list[list[float]], queries: list[list[float]], k: int, metric: Any, shrink: float
) -> None:
    held = [one for one in train if one]
    codes = [len(one) % 3 for one in train]
    model = SketchNeighbors(k, metric=metric, shrink=shrink, weights="nearness").fit(made(train), codes)
    scores, places = model.kneighbors(made(queries))
    shares = model.predict_proba(made(queries))
    classes = np.array([len(one) % 3 for one in held])
    slow = {"distance": oracles.squared_distance, "cosine": oracles.cosine, "dot": oracles.dot}[metric]
    for query, score, near, share in zip(queries, scores, places, shares, strict=True):
        if not query:
            continue
        shared = np.array([min(len(query), len(one)) for one in held])
        every = np.array([slow(query, one) for one in held])
        mean = float((shared * every).sum() / shared.sum())
        drawn = mean + (every - mean) * shared / (shared + shrink)
        best = np.sort(drawn if metric == "distance" else -drawn)[: near.size]
        np.testing.assert_allclose(score if metric == "distance" else -score, best, atol=1e-9)
        np.testing.assert_allclose(drawn[near], score, atol=1e-9)
        votes = np.maximum(mean - score if metric == "distance" else score - mean, 0) ** 2
        if votes.max() > 1e-9:
            wanted = [votes[classes[near] == one].sum() / votes.sum() for one in model.classes_]
            np.testing.assert_allclose(share, wanted, atol=1e-6)


def test_a_long_sketch_that_is_surely_near_beats_short_ones_that_are_near_by_chance() -> None:
    rng = np.random.default_rng(4)
    query = rng.choice([-1.0, 1.0], 60)
    like = np.where(rng.random(60) < 0.1, -query, query).tolist()
    short = [[float(query[0])] for _ in range(5)]
    others = rng.choice([-1.0, 1.0], (20, 60)).tolist()
    train, labels = made([like, *short, *others]), ["like", *["short"] * 5, *["other"] * 20]
    asked = made([query.tolist()])
    assert SketchNeighbors(1, metric="cosine").fit(train, labels).predict(asked).tolist() == ["like"]
    assert SketchNeighbors(1, metric="cosine", shrink=0).fit(train, labels).predict(asked).tolist() == [
        "short"
    ]


def test_on_full_sketches_it_is_the_classifier_that_everybody_knows() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(400, 7)), rng.normal(size=(50, 7))
    labels = np.where(train[:, 0] > 0, "up", "down")
    ours = SketchNeighbors(5).fit(train, labels)
    theirs = KNeighborsClassifier(5).fit(train, labels)
    assert (ours.predict(test) == theirs.predict(test)).all()
    np.testing.assert_allclose(ours.predict_proba(test), theirs.predict_proba(test))


def test_suppressed_records_do_not_vote_and_are_classified_by_the_shares() -> None:
    train = made([[1.0, 1.0], [], [1.0, 0.9], [-1.0, -1.0]])
    model = SketchNeighbors(1).fit(train, ["a", "b", "a", "b"])
    assert model.predict_proba(made([[], [1.0]])).tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert model.predict(made([[-2.0]])).tolist() == ["b"]


def test_it_learns_from_delta_anonymous_sketches_made_apart() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 150)
    rows = rng.poisson(np.where(labels[:, None] == (np.arange(60) >= 30), 0.6, 0.05))
    family = SketchFamily("key", components=100)
    mixed = rng.permutation(300)
    train, test = mixed[:200], mixed[200:]
    learned = DeltaSketch(0.2, family=family).release(rows[train])
    asked = DeltaSketch(0.2, family=family).release(rows[test])
    model = SketchNeighbors(9, metric="cosine").fit(learned.data, labels[train][learned.order])
    assert model.score(asked.data, labels[test][asked.order]) > 0.85


def test_reconstruction_feeds_other_models() -> None:
    family = SketchFamily("key", components=300)
    rows = np.eye(4)[[0, 1, 2, 3, 0]] * 3
    sketches = family.sketch(rows)
    estimates = SketchReconstruction(family, range(4)).fit_transform(sketches)
    np.testing.assert_allclose(estimates, sketches.reconstruct(range(4), family).values)
    clear = SketchReconstruction(family, range(4), min_errors=5).fit(sketches)
    np.testing.assert_allclose(clear.transform(sketches).toarray(), rows)
    assert clear.get_feature_names_out().tolist() == ["0", "1", "2", "3"]
    with pytest.raises(InputError, match="1 records are suppressed"):
        clear.transform(family.sketch(rows, lengths=np.array([5, 5, 0, 5, 5])))
    with pytest.raises(ParameterError, match="'X'"):
        clear.transform(rows)


def test_bad_input_is_refused() -> None:
    one, other = SketchFamily("one"), SketchFamily("other")
    rows = np.eye(3)
    model = SketchNeighbors(1).fit(one.sketch(rows), [0, 1, 1])
    for sketches in (other.sketch(rows), one.sketch(rows).dense()):
        with pytest.raises((InputError, ValueError), match=r"another key|features"):
            model.predict(sketches)
    with pytest.raises(ParameterError, match="'n_neighbors'"):
        SketchNeighbors(0).fit(rows, [0, 1, 1])
    with pytest.raises(ParameterError, match="'shrink'"):
        SketchNeighbors(shrink=-1).fit(rows, [0, 1, 1])
    with pytest.raises(ParameterError, match="'weights'"):
        SketchNeighbors(weights="distance").fit(rows, [0, 1, 1])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'metric'"):
        SketchNeighbors(metric="taxi").fit(rows, [0, 1, 1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inconsistent"):
        SketchNeighbors(1).fit(one.sketch(rows), [0, 1])
    with pytest.raises(InputError, match="1 rows have no class"):
        SketchNeighbors(1).fit(one.sketch(rows), np.array(["a", None, "b"], object))
    with pytest.raises(SchemaError, match="no numbers") as caught:
        SketchNeighbors(1).fit([["planted"]], [0])
    assert "planted" not in str(caught.value)
    with pytest.raises(InputError, match=r"release\.data"):
        SketchNeighbors(1).fit(DeltaSketch(0.5, family=one).release(np.ones((2, 3))), [0, 1])
    with pytest.raises(InputError, match="squares overflow"):
        SketchNeighbors(1).fit(rows * 1e200, [0, 1, 1])
    with pytest.raises(InputError, match="not a single one"):
        SketchReconstruction(one, "tea").fit_transform(one.sketch(rows))
    with pytest.raises(InputError, match="only 5"):
        SketchReconstruction(SketchFamily("one", components=5), ["tea"]).fit(one.sketch(rows))
