"""Measures of sketches: errors as predicted, more lost and less found out as sketches grow shorter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InputError, ParameterError
from discreet.measure import (
    accuracy_by_prior,
    cluster_cohesion,
    guess_attributes,
    link_sketches,
    neighbor_overlap,
    reconstruction_error,
)
from discreet.publish import DeltaSketch, SketchFamily

FAMILY = SketchFamily("a fixed key", components=400)


def rows(n: int = 300, *, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).poisson(0.15, (n, 60)) * np.linspace(0.5, 2, 60)


def test_the_reconstruction_error_is_what_the_slow_way_gives_and_what_is_predicted() -> None:
    records = rows(40)
    lengths = np.random.default_rng(1).integers(0, 50, 40)
    sketches = FAMILY.sketch(records, lengths=lengths)
    found = reconstruction_error(records, sketches, FAMILY, items=[3, 5, 1000])
    off, predicted = [], []
    for at in np.flatnonzero(lengths):
        estimates = sketches.take([at]).reconstruct([3, 5, 1000], FAMILY).values[0]
        for estimate, true in zip(estimates, [records[at, 3], records[at, 5], 0.0], strict=True):
            off.append((estimate - true) ** 2)
            predicted.append(((records[at] ** 2).sum() - true**2) / lengths[at])
    assert found.n_values == len(off)
    assert found.observed == pytest.approx(math.sqrt(np.mean(off)))
    assert found.predicted == pytest.approx(math.sqrt(np.mean(predicted)))
    assert reconstruction_error(rows(), FAMILY.sketch(rows()), FAMILY).ratio == pytest.approx(1, abs=0.05)


def test_shorter_sketches_lose_neighbors() -> None:
    overlaps = [neighbor_overlap(rows(), FAMILY.sketch(rows(), lengths=m), k=5) for m in (2, 40, 400)]
    assert overlaps == sorted(overlaps)
    assert overlaps[0] < 0.3 < 0.5 < overlaps[2]
    doubled = np.concatenate([rows(20), rows(20)])
    long = SketchFamily("key", components=4000).sketch(doubled)
    assert neighbor_overlap(doubled, long, k=1) == 1
    part = neighbor_overlap(rows(), FAMILY.sketch(rows()), sample=50, random_state=1)
    assert part == neighbor_overlap(rows(), FAMILY.sketch(rows()), sample=50, random_state=1)


def test_cohesion_by_hand_and_with_suppressed_records() -> None:
    records = np.array([[1.0, 0], [1, 1], [0, 2], [0, 0]])
    near = 0.5 * (2 / math.sqrt(5) + 3 / math.sqrt(10))
    assert cluster_cohesion(records, [0, 0, 1, 1]) == pytest.approx((2 * near + 1 + 0) / 4)
    apart = np.repeat(np.eye(2), 50, axis=0)
    labels = np.repeat([0, 1], 50)
    assert cluster_cohesion(apart, labels) == pytest.approx(1)
    loose = labels.copy()
    loose[::2] = -1
    assert cluster_cohesion(apart, loose, random_state=0) < 0.95
    assert cluster_cohesion(apart, loose, random_state=0) == cluster_cohesion(apart, loose, random_state=0)
    assert loose.min() == -1


def test_accuracy_counts_suppressed_records_with_the_share_of_their_class() -> None:
    assert accuracy_by_prior([1, 2, 2], [1, 1, 2], training=[1]) == pytest.approx(2 / 3)
    hidden = np.array([True, False, True])
    assert accuracy_by_prior([1, 2, 3], [1, 2, 3], suppressed=hidden, training=[1, 1, 2]) == pytest.approx(
        (2 / 3 + 1 + 0) / 3
    )


def test_a_larger_delta_leaves_less_to_guess() -> None:
    records = (rows() > 0).astype(float)
    found = []
    for delta in (0.05, 0.5, 3):
        release = DeltaSketch(delta, family=FAMILY).release(records)
        found.append(guess_attributes(records[release.order], release.data, FAMILY))
    aucs, right = [one.auc for one in found], [one.precision for one in found]
    assert aucs == sorted(aucs, reverse=True)
    assert right == sorted(right, reverse=True)
    assert aucs[0] > 0.95
    assert aucs[2] < 0.8
    assert found[0].by_chance == pytest.approx((records > 0).sum(axis=1).mean() / 60, abs=0.02)
    assert found[0].n_records <= 300


def test_a_guess_from_too_short_a_sketch_is_a_coin() -> None:
    """One component makes every estimate alike in size; only of values that are never negative it tells a little."""
    signed = rows() * np.where(np.arange(60) % 2, 1, -1)
    assert guess_attributes(signed, FAMILY.sketch(signed, lengths=1), FAMILY).auc == 0.5
    assert 0.5 < guess_attributes(rows(), FAMILY.sketch(rows(), lengths=1), FAMILY).auc < 0.7


def test_who_knows_all_finds_the_sketch_and_who_knows_little_does_not() -> None:
    records = rows(200)
    whole = link_sketches(records, FAMILY.sketch(records), FAMILY)
    assert whole.first == pytest.approx(1)
    assert whole.mean_rank == pytest.approx(1)
    ranks = [
        link_sketches(records, FAMILY.sketch(records, lengths=m), FAMILY, known=0.6, random_state=0).mean_rank
        for m in (400, 20, 3)
    ]
    assert ranks == sorted(ranks)
    blind = link_sketches(records, FAMILY.sketch(records), FAMILY, known=0.0)
    assert blind.mean_rank == 100.5
    assert blind.first == pytest.approx(1 / 200)
    part = link_sketches(records, FAMILY.sketch(records), FAMILY, sample=10, random_state=0)
    assert (part.n_sketches, part.n_candidates) == (10, 200)


def test_bad_input_is_refused() -> None:
    sketches = FAMILY.sketch(rows(10))
    none = FAMILY.sketch(rows(10), lengths=0)
    for measure in (reconstruction_error, guess_attributes, link_sketches):
        with pytest.raises(InputError, match="10 sketches, but 9 records"):
            measure(rows(9), sketches, FAMILY)
        with pytest.raises(InputError, match="There is no"):
            measure(rows(10), none, FAMILY)
    other = SketchFamily("other", components=400)
    for measure in (reconstruction_error, guess_attributes):
        with pytest.raises(InputError, match="different keys"):
            measure(rows(10), sketches, other)
    with pytest.raises(InputError, match="different keys"):
        link_sketches(rows(10), sketches, other)
    for measure in (guess_attributes, link_sketches, neighbor_overlap):
        beside = (rows(10), sketches) if measure is neighbor_overlap else (rows(10), sketches, FAMILY)
        for sample in (0, -1):
            with pytest.raises(ParameterError, match=f"'sample' parameter of {measure.__name__}"):
                measure(*beside, sample=sample, **({"k": 2} if measure is neighbor_overlap else {}))
    for lengths in (np.zeros(10, int), np.eye(1, 10, dtype=int)[0]):
        with pytest.raises(InputError, match="two sketches are the least"):
            neighbor_overlap(rows(10), FAMILY.sketch(rows(10), lengths=lengths), k=1)
    few = SketchFamily("a fixed key", components=5)
    for measure in (reconstruction_error, guess_attributes, link_sketches):
        with pytest.raises(InputError, match="only 5"):
            measure(rows(10), sketches, few)
    with pytest.raises(InputError, match="not a single one"):
        reconstruction_error(rows(10), sketches, FAMILY, items="tea")
    for truth, predicted in (([1, 2, 3], [1]), ([1, 2, 3], [1, 2]), ([], [])):
        with pytest.raises(InputError, match="as many"):
            accuracy_by_prior(truth, predicted, training=[1])
    with pytest.raises(InputError, match="as many"):
        accuracy_by_prior([1, 2], [1, 2], suppressed=np.array([True]), training=[1])
    with pytest.raises(ParameterError, match="'known'"):
        link_sketches(rows(10), sketches, FAMILY, known=1.5)
    with pytest.raises(ParameterError, match="'k'"):
        neighbor_overlap(rows(10), sketches, k=10)
    with pytest.raises(InputError, match="labels"):
        cluster_cohesion(rows(10), [-1] * 10)
