"""Mining uncertain records: range counts by the slow definition, and the kernel vote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles import uncertain as oracles

from discreet import Table, UncertainPoints, quasi
from discreet.core.errors import InputError, ParameterError
from discreet.mine import KernelVote, expected_range_counts
from discreet.publish import UncertainRecords


def records(shape: str = "gaussian", n: int = 30) -> UncertainPoints:
    rng = np.random.default_rng(1)
    return UncertainPoints(("x", "y"), rng.normal(size=(n, 2)), rng.uniform(0.2, 2.0, (n, 2)), shape)


@pytest.mark.parametrize("shape", ["gaussian", "uniform"])
def test_range_counts_are_those_of_the_slow_definition(shape: str) -> None:
    low = np.array([[-1.0, -1.0], [0.0, -np.inf], [-np.inf, -np.inf]])
    high = np.array([[1.0, 0.5], [0.3, np.inf], [np.inf, np.inf]])
    known = records(shape)
    counts = expected_range_counts(known, low, high)
    slow = [
        oracles.range_count(known.centers, known.spreads, a, b, shape) for a, b in zip(low, high, strict=True)
    ]
    assert counts == pytest.approx(slow)
    assert counts[-1] == pytest.approx(len(known))


def test_boxes_that_do_not_fit_are_refused() -> None:
    for low, high, message in (
        ([0.0], [1.0], "2 columns"),
        ([0, 0], [1, -1], "must not be above"),
        (["a", 0], [1, 1], "numbers"),
    ):
        with pytest.raises(InputError, match=message):
            expected_range_counts(records(), low, high)


def test_points_are_read_from_a_release_and_from_its_frame() -> None:
    values = np.random.default_rng(0).normal(size=(60, 2))
    label = pa.array(["a", "b"] * 30)
    table = Table(
        pa.table({"x": values[:, 0], "y": values[:, 1], "of": label}),
        {name: quasi() for name in ("x", "y", "of")},
    )
    release = UncertainRecords(3, label="of", random_state=0).release(table)
    from_release, from_frame = (
        UncertainPoints.of(release),
        UncertainPoints.of(release.frame, spread="gaussian"),
    )
    assert np.array_equal(from_release.centers, from_frame.centers)
    assert from_release.others is not None
    model = KernelVote().fit(from_release, from_release.others["of"])
    assert model.predict_proba(values).sum(axis=1) == pytest.approx(1)
    with pytest.raises(ParameterError, match="spread"):
        UncertainPoints.of(release.frame)
    with pytest.raises(InputError, match="no uncertain records"):
        UncertainPoints.of(table.frame, spread="gaussian")


@pytest.mark.parametrize("wrong", [np.zeros((30, 2)), np.full((30, 2), np.nan), np.ones((30, 1))])
def test_spreads_that_do_not_fit_are_refused(wrong: np.ndarray) -> None:
    with pytest.raises(InputError):
        UncertainPoints(("x", "y"), records().centers, wrong)


@pytest.mark.parametrize("shape", ["gaussian", "uniform"])
def test_the_vote_is_the_sum_of_densities(shape: str) -> None:
    known = records(shape)
    y = np.arange(30) % 3
    points = np.random.default_rng(2).normal(size=(9, 2))
    shares = KernelVote().fit(known, y).predict_proba(points)
    for point, share in zip(points, shares, strict=True):
        voices = np.zeros(3)
        for center, spread, label in zip(known.centers, known.spreads, y, strict=True):
            if shape == "gaussian":
                density = np.prod(np.exp(-(((point - center) / spread) ** 2) / 2) / spread)
            else:
                density = np.prod((np.abs(point - center) <= spread / 2) / spread)
            voices[label] += density
        assert share == pytest.approx(voices / voices.sum() if voices.sum() else [1 / 3] * 3)


def test_the_best_neighbor_alone_may_vote() -> None:
    known = records()
    nearest = known.log_densities(known.centers).argmax(axis=1)
    y = np.arange(30) % 4
    assert KernelVote(1).fit(known, y).predict(known.centers).tolist() == y[nearest].tolist()


def test_points_out_of_reach_get_the_shares_of_the_classes() -> None:
    known = records("uniform")
    far = KernelVote().fit(known, np.arange(30) % 3 == 0).predict_proba([[90.0, 90.0]])
    assert far.tolist() == [[20 / 30, 10 / 30]]


@parametrize_with_checks([KernelVote()])
def test_scikit_learns_checks_pass(estimator: KernelVote, check: Any) -> None:
    check(estimator)


def test_wide_records_weigh_less() -> None:
    known = UncertainPoints(("x",), np.array([[0.0], [1.0], [40.0]]), np.array([[0.1], [0.1], [30.0]]))
    weights = known.weights
    assert weights[0] == weights[1] > 10 * weights[2]
    assert known.scale[0] == pytest.approx(0.5, rel=0.1)
