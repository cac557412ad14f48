"""k-variance sketches: every pair judged by the slow definition, lengths that cannot be raised, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import k_variance as oracle
from tests.oracles import sketches as sketches_oracle

from discreet import Baskets
from discreet.core.errors import InfeasibleError, InputError, ParameterError, PromiseBrokenError
from discreet.core.tables.groups import Groups
from discreet.datasets import quest
from discreet.guarantees import DeltaAnonymity, KVariance, guarantee_from_dict
from discreet.guarantees.sketches import Gap
from discreet.publish import DeltaSketch, KVarianceSketch, SketchFamily
from discreet.publish.sketches.k_variance_sketch import Lengths

MOST = 12
FAMILY = SketchFamily("a key for tests", components=MOST)


@st.composite
def matrices(draw, least: int = 0) -> np.ndarray:
    n, width = draw(st.integers(2, 12)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = rng.integers(least, 4, (n, width)) * (rng.random((n, width)) < 0.6)
    rows[~rows.any(axis=1), 0] = 1
    return rows.astype(np.float64)


def judged(rows: np.ndarray, found: Lengths, *, reach: str = "whole", most: list[int] | None = None) -> None:
    plain, near, lengths = rows.tolist(), found.neighbors.tolist(), found.lengths.tolist()
    for place, row in enumerate(plain):
        assert near[place] == oracle.cosine_order(row, plain, place)[: len(near[place])]
    assert oracle.keeps(plain, near, lengths, reach=reach)
    assert not oracle.can_be_raised(plain, near, lengths, most or [MOST] * len(plain), reach=reach)


@given(matrices(), st.data())
@settings(max_examples=60)
def test_every_pair_is_kept_and_no_length_can_be_raised(rows: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rows) - 1))
    method = KVarianceSketch(k, family=FAMILY)
    found = method.lengths(rows)
    judged(rows, found)
    assert found.exact_pairs == 0
    assert (found.lengths > 0).all()
    release = method.release(rows)
    assert release.verdict.ok
    order = release.order
    assert release.data.equals(FAMILY.publish(rows[order], lengths=found.lengths[order]))


@given(matrices(-3), st.data())
@settings(max_examples=60)
def test_negative_values_take_the_exact_variance(rows: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rows) - 1))
    found = KVarianceSketch(k, family=FAMILY).lengths(rows)
    judged(rows, found)
    negative = (rows < 0).any(axis=1)
    assert found.exact_pairs == sum(
        bool(negative[i] or negative[j]) for i, near in enumerate(found.neighbors.tolist()) for j in near
    )


@given(matrices(-1), st.sampled_from([0.125, 0.5, 1.0, 4.0]), st.data())
@settings(max_examples=60)
def test_the_root_of_the_gap_depends_on_the_size_of_the_values(
    rows: np.ndarray, scale: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(rows) - 1))
    found = KVarianceSketch(k, family=FAMILY, gap="root").lengths(rows)
    judged(rows, found, reach="root")
    scaled = KVarianceSketch(k, family=FAMILY, gap="root").lengths(rows * scale)
    assert oracle.keeps(
        (rows * scale).tolist(), scaled.neighbors.tolist(), scaled.lengths.tolist(), reach="root"
    )
    np.testing.assert_allclose(scaled.caps, found.caps * scale**2)


def test_by_the_root_of_the_gap_a_pair_shares_as_many_components_as_its_sizes_and_its_product() -> None:
    """c = (‖X‖²‖Y‖² − (X·Y)²)/(‖X‖‖Y‖ − X·Y) = ‖X‖‖Y‖ + X·Y: here 2·2 + 3."""
    rows = np.array([[1.0, 1, 1, 1, 0], [1, 1, 1, 0, 1]])
    found = KVarianceSketch(1, family=FAMILY, gap="root").lengths(rows)
    assert found.caps.ravel().tolist() == [7.0, 7.0]
    assert sorted(found.lengths.tolist()) == [7, MOST]
    release = KVarianceSketch(1, family=FAMILY, gap="root").release(rows / 4)
    assert release.evidence.suppressed == 1
    assert release.verdict.ok
    with pytest.raises(InputError, match="another gap"):
        KVariance(1).check(release)


@given(matrices(-2), st.sampled_from([0.125, 0.5, 1.0, 4.0]), st.data())
@settings(max_examples=60)
def test_by_distances_every_pair_is_kept_and_no_length_can_be_raised(
    rows: np.ndarray, scale: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(rows) - 1))
    method = KVarianceSketch(k, family=FAMILY, gap="distance")
    found = method.lengths(rows)
    judged(rows, found, reach="distance")
    scaled = method.lengths(rows * scale)
    assert oracle.keeps(
        (rows * scale).tolist(), scaled.neighbors.tolist(), scaled.lengths.tolist(), reach="distance"
    )
    np.testing.assert_allclose(scaled.caps, found.caps * scale**2)
    if found.lengths.any():
        assert method.release(rows).verdict.ok


@given(st.integers(0, 2**32), st.integers(-450, 450), st.integers(-20, 20))
@settings(max_examples=60)
def test_caps_by_distance_are_exact_for_any_size_of_values_and_nearness(
    seed: int, power: int, nearer: int
) -> None:
    """By fractions: nothing is lost where records are of very unlike size, or nearly equal."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 1000, (2, 5)) * (rng.random((2, 5)) < 0.7) * 2.0**power
    rows[0, 0], rows[1, 1] = 2.0**power, 2.0 ** (power + nearer)
    if seed % 2:
        rows[1] = rows[0] * (1 + 2.0**-30 * rng.integers(0, 3, 5))
    found = KVarianceSketch(1, family=FAMILY, gap="distance").lengths(rows)
    squares = [(Fraction(a) - Fraction(b)) ** 2 for a, b in zip(*rows.tolist(), strict=True)]
    distance = sum(squares)
    cap = 2 * (distance**2 - sum(square**2 for square in squares)) / distance if distance else None
    wanted = np.inf if cap is None else float(cap)
    np.testing.assert_allclose(found.caps.ravel(), [wanted, wanted], rtol=1e-9, atol=1e-9)


def test_sets_that_differ_in_d_items_share_twice_as_many_components_less_two() -> None:
    rows = np.array([[1.0, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1]])
    method = KVarianceSketch(1, family=FAMILY, gap="distance")
    found = method.lengths(rows)
    assert found.caps.ravel().tolist() == [6.0, 6.0]
    assert sorted(found.lengths.tolist()) == [6, MOST]
    near = method.release(np.array([[1.0, 1, 0], [1, 1, 1]]))
    assert near.evidence.suppressed == 1
    assert near.verdict.ok
    equal = method.release(np.ones((3, 2)))
    assert equal.evidence.suppressed == 0
    assert equal.data.lengths.tolist() == [MOST] * 3
    with pytest.raises(InputError, match="another gap"):
        KVariance(1, "root").check(near)


def test_the_variance_of_estimated_distances_is_that_of_simulated_ones() -> None:
    """2,000 keys: the variance seen is within 6 standard errors of the formula; the keys are fixed besides."""
    rows = np.array([[3.0, 1, 2, 0, 1], [1, 1, 0, 2, 0]])
    keys, shared = 2000, 4
    seen = [
        SketchFamily(f"key {key}", components=shared).sketch(rows).squared_distance()[0, 1]
        for key in range(keys)
    ]
    exact = oracle.distance_variance(rows[0].tolist(), rows[1].tolist())
    squares = (rows[0] - rows[1]) ** 2
    assert exact == pytest.approx(2 * (squares.sum() ** 2 - (squares**2).sum()))
    assert np.var(seen) == pytest.approx(exact / shared, rel=6 * np.sqrt(4 / keys))


@given(
    matrices(),
    st.sampled_from([0.25, 0.5, 1.0, 3.0]),
    st.sampled_from(["whole", "root", "distance"]),
    st.data(),
)
@settings(max_examples=60)
def test_both_promises_are_kept_and_no_length_can_be_raised(
    rows: np.ndarray, delta: float, gap: Gap, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(rows) - 1))
    alone = DeltaSketch(delta, family=FAMILY)
    most = alone.lengths(rows)
    method = KVarianceSketch(KVariance(k, gap) & DeltaAnonymity(delta), family=FAMILY)
    found = method.lengths(rows)
    assert (found.lengths <= most).all()
    judged(rows, found, reach=gap, most=most.tolist())
    if not found.lengths.any():
        with pytest.raises(InfeasibleError, match="would be suppressed"):
            method.release(rows)
        return
    release = method.release(rows)
    assert sorted(release.order.tolist()) == np.flatnonzero(found.lengths).tolist()
    assert [part.ok for part in release.verdict.parts] == [True, True]
    for place, length in zip(release.order, release.data.lengths, strict=True):
        record = dict(enumerate(rows[place].tolist()))
        assert sketches_oracle.is_delta_anonymous(record, int(length), Fraction(delta))


def test_both_promises_are_judged_by_what_is_published(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).integers(0, 2, (30, 12))
    rows[~rows.any(axis=1), :2] = 1
    family = SketchFamily("a key", components=40)
    alone = DeltaSketch(0.5, family=family)
    release = KVarianceSketch(KVariance(2) & alone.guarantee, family=family).release(rows)
    assert release.guarantee == KVariance(2) & DeltaAnonymity(0.5)
    assert guarantee_from_dict(release.guarantee.to_dict()) == release.guarantee
    assert release.verdict.ok
    assert release.verdict.n_rows == len(release.data)
    told = json.loads((release.write(tmp_path / "kept") / "release.json").read_text())
    assert told["parameters"]["within"] == alone.recipe["parameters"]
    assert len(told["verdict"]["parts"]) == 2
    assert "worst" not in json.dumps(told)
    kept = release.order
    for lengths, broken in ((alone.lengths(rows)[kept], 0), (release.data.lengths + 20, 1)):
        longer = replace(release, data=family.sketch(rows[kept], lengths=lengths))
        assert not longer.verdict.ok
        assert not longer.verdict.parts[broken].ok
        assert longer.verdict.failing_rows > 0
        with pytest.raises(PromiseBrokenError):
            longer.write(tmp_path / "broken")
    assert not (tmp_path / "broken").exists()
    with pytest.raises(ParameterError, match="guarantee about a release of sketches"):
        release.guarantee.check(Groups(sizes=np.array([3, 4])))
    with pytest.raises(InputError, match="does not hold what δ-anonymity is judged by"):
        release.guarantee.check(KVarianceSketch(2, family=family).release(rows))


def test_suppression_is_where_a_single_component_reveals_too_much() -> None:
    rows = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, -1.0]])
    assert oracle.exact_variance(rows[0].tolist(), rows[1].tolist()) == 0
    found = KVarianceSketch(3, family=FAMILY).lengths(rows)
    judged(rows, found)
    release = KVarianceSketch(3, family=FAMILY).release(rows)
    assert release.evidence.suppressed == 2
    assert sorted(release.order.tolist()) == np.flatnonzero(found.lengths).tolist()
    assert len(release.data) == 2
    assert release.verdict.ok
    alike = KVarianceSketch(1, family=FAMILY).release(rows)
    assert alike.evidence.suppressed == 0
    assert alike.data.lengths.tolist() == [MOST] * 4


def test_the_paper_s_variance_is_a_lower_bound_only_without_negative_values() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        x, y = rng.integers(0, 4, (2, 5)).tolist()
        assert oracle.exact_variance(x, y) >= oracle.paper_variance(x, y) - 1e-9
    assert oracle.exact_variance([1, 1], [1, -1]) < oracle.paper_variance([1, 1], [1, -1])


def test_outliers_come_first() -> None:
    """Of a pair far apart the record whose k-th neighbor is farther is made short, and the other stays long."""
    rows = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [0, 0, 1, 0, 3.0]])
    lengths = KVarianceSketch(1, family=FAMILY).lengths(rows).lengths
    assert lengths[2] == 1
    assert lengths.max() == MOST


def test_more_neighbors_never_promise_less() -> None:
    baskets = quest("T10.I4.D1K.N100", random_state=4)
    release = KVarianceSketch(8, family=SketchFamily("x", components=50)).release(baskets)
    assert release.verdict.ok
    assert KVariance(3).check(release).ok
    with pytest.raises(InputError, match="8 neighbors"):
        KVariance(9).check(release)


def test_records_of_any_kind_agree() -> None:
    baskets = Baskets.from_lists([["a", "b"], ["b", "c", "d"], ["a", "d"], ["b", "d"]])
    method = KVarianceSketch(2, family=FAMILY, random_state=1)
    dicts = [dict.fromkeys(names, 1) for names in baskets.lists()]
    wanted = method.release(baskets)
    assert method.release(dicts).data.equals(wanted.data)
    names = baskets.names.to_pylist()
    assert method.release(baskets.to_sparse(), names=names).data.equals(wanted.data)
    scaled = baskets.to_sparse() * np.array([[1e150], [1e-150], [2.0], [1.0]])
    assert (method.lengths(scaled).lengths == method.lengths(baskets).lengths).all()


def test_partitions_are_said() -> None:
    baskets = quest("T10.I4.D2K.N100", random_state=4)
    family = SketchFamily("x", components=50)
    release = KVarianceSketch(5, family=family, partition=600).release(baskets)
    assert release.verdict.ok
    assert (
        release.evidence.details["neighbors"]
        == release.recipe["parameters"]["neighbors"]
        == "inside partitions"
    )
    assert release.recipe["parameters"]["partitions"] == release.evidence.details["partitions"] == 4
    exact = KVarianceSketch(5, family=family, partition=None).release(baskets)
    assert exact.evidence.details["neighbors"] == "exact"


@pytest.mark.parametrize(
    ("rows", "k", "error", "words"),
    [
        ([{"a": 1}, {"b": 1}], 2, InfeasibleError, "k=1 at most"),
        ([{"a": 1}], 1, InfeasibleError, "two records are the least"),
        ([{"a": 1}, {}, {"a": 2}, {"b": 0}], 1, InputError, "2 of the 4 records are all zeros"),
        ([{"a": 1}, {"b": float("nan")}], 1, InputError, "1 values of the records are NaN"),
        ([{"a": 1}, {"b": 1}], 0, ParameterError, "'k' parameter of KVarianceSketch"),
    ],
)
def test_bad_input(rows: list[dict[str, float]], k: int, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        KVarianceSketch(k, family=FAMILY).release(rows)


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="'family' parameter"):
        KVarianceSketch(3, family="key")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'partition' parameter"):
        KVarianceSketch(3, family=FAMILY, partition=1)
    with pytest.raises(ParameterError, match="'gap' parameter"):
        KVarianceSketch(3, family=FAMILY, gap="half")  # type: ignore[arg-type]
    with pytest.raises(
        ParameterError, match=r"'k' parameter of KVarianceSketch must be an int in .* or a KVariance"
    ):
        KVarianceSketch(DeltaAnonymity(0.5), family=FAMILY)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'gap' parameter of KVarianceSketch must be None or 'whole'"):
        KVarianceSketch(KVariance(3), family=FAMILY, gap="root")


@given(matrices(), st.data())
@settings(max_examples=30)
def test_neighbors_for_a_larger_k_serve_any_smaller_one(rows: np.ndarray, data: st.DataObject) -> None:
    most = data.draw(st.integers(1, len(rows) - 1))
    gap = data.draw(st.sampled_from(["whole", "root", "distance"]))
    near = KVarianceSketch(most, family=FAMILY).neighbors(rows)
    for k in range(1, most + 1):
        method = KVarianceSketch(k, family=FAMILY, gap=gap)
        again, first = method.lengths(rows, neighbors=near), method.lengths(rows)
        assert again.neighbors.tolist() == first.neighbors.tolist()
        assert again.lengths.tolist() == first.lengths.tolist()
        assert again.caps.tolist() == first.caps.tolist()


def test_neighbors_of_other_records_or_too_few_are_refused() -> None:
    rows = np.eye(4) + 1
    near = KVarianceSketch(1, family=FAMILY).neighbors(rows)
    for k, others in ((2, rows), (1, rows[:3])):
        with pytest.raises(InputError, match=f"the 1 nearest of 4 records; {k} of {len(others)} are needed"):
            KVarianceSketch(k, family=FAMILY).lengths(others, neighbors=near)
