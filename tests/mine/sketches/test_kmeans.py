"""k-means on sketches: k-means where lengths agree, sensible where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles import sketches as oracles

from discreet.core.errors import InputError, ParameterError
from discreet.core.records.sketches import Sketches
from discreet.mine import SketchKMeans
from discreet.publish import DeltaSketch, SketchFamily

RAGGED = st.lists(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=5), min_size=3, max_size=12)


@parametrize_with_checks([SketchKMeans()])
def test_it_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@given(lists=RAGGED, k=st.integers(1, 3), seed=st.integers(0, 5))
@settings(max_examples=60)
def test_every_sketch_is_with_its_nearest_centroid(lists: list[list[float]], k: int, seed: int) -> None:
    values = np.array([value for one in lists for value in one])
    sketches = Sketches(values, np.cumsum([0, *map(len, lists)]), "f")
    model = SketchKMeans(k, random_state=seed).fit(sketches)
    ends = model.centroids_.indptr
    centroids = [model.centroids_.values[ends[c] : ends[c + 1]].tolist() for c in range(k)]
    total = 0.0
    for one, label in zip(lists, model.labels_, strict=True):
        apart = [oracles.squared_distance(one, centroid) for centroid in centroids]
        assert apart[label] == pytest.approx(np.nanmin(apart))
        total += apart[label]
    assert model.inertia_ == pytest.approx(total)
    assert (model.predict(sketches) == model.labels_).all()
    assert model.score(sketches) == pytest.approx(-total)
    again = SketchKMeans(k, random_state=seed).fit(sketches)
    assert (again.labels_ == model.labels_).all()


def test_on_full_sketches_it_is_as_good_as_the_k_means_that_everybody_knows() -> None:
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(center, 1, (60, 4)) for center in (0, 6, 12)])
    ours = SketchKMeans(3, random_state=0).fit(points)
    theirs = KMeans(3, n_init=3, random_state=0).fit(points)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    assert ours.inertia_ * points.shape[1] == pytest.approx(theirs.inertia_)
    assert np.sort(ours.cluster_centers_, axis=0) == pytest.approx(np.sort(theirs.cluster_centers_, axis=0))


def test_clusters_are_found_in_delta_anonymous_sketches() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], 150)
    rows = rng.poisson(np.where(labels[:, None] == np.arange(90) // 30, 0.6, 0.02))
    release = DeltaSketch(0.2, family=SketchFamily("key", components=100)).release(rows)
    found = SketchKMeans(3, random_state=0).fit_predict(release.data)
    assert adjusted_rand_score(labels[release.order], found) > 0.8


def test_suppressed_records_are_in_no_cluster() -> None:
    sketches = SketchFamily("key", components=9).sketch(np.eye(4), lengths=np.array([9, 0, 5, 2]))
    model = SketchKMeans(2, random_state=0).fit(sketches)
    assert (model.labels_ < 0).tolist() == [False, True, False, False]
    assert (model.predict(sketches) < 0).tolist() == [False, True, False, False]


def test_alike_records_and_as_many_clusters_as_records() -> None:
    assert set(SketchKMeans(2, random_state=0).fit_predict(np.ones((5, 3)))) <= {0, 1}
    assert sorted(SketchKMeans(4, random_state=0).fit_predict(np.eye(4)).tolist()) == [0, 1, 2, 3]


def test_bad_input_is_refused() -> None:
    for name in ("n_clusters", "n_init", "max_iter"):
        with pytest.raises(ParameterError, match=f"'{name}'"):
            SketchKMeans(**{name: 0}).fit(np.eye(9))
    with pytest.raises(ParameterError, match=r"'n_clusters' .* \[1, 3\]"):
        SketchKMeans(4).fit(np.eye(3))
    with pytest.raises(InputError, match="squares overflow"):
        SketchKMeans(2).fit(np.array([[1e200], [-1e200], [0.0]]))
    family = SketchFamily("key")
    with pytest.raises(InputError, match="no sketch"):
        SketchKMeans(1).fit(family.sketch(np.eye(2), lengths=0))
    model = SketchKMeans(1).fit(family.sketch(np.eye(2)))
    with pytest.raises(InputError, match="another key"):
        model.predict(SketchFamily("other").sketch(np.eye(2)))
