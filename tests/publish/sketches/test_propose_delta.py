"""A proposed δ: long enough sketches where values can be hidden at all, in any unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.arrays import FloatArray
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.kinds.sketches import SHORT
from discreet.measure import distance_error, reconstruction_error
from discreet.publish import DeltaSketch, KVarianceSketch, SketchFamily, propose_delta

FAMILY = SketchFamily("a key of sixteen bytes", components=128)


def texts(n: int = 200, *, unit: bool) -> FloatArray:
    rng = np.random.default_rng(0)
    rows = rng.random((n, 500)) * (rng.random((n, 500)) < 0.1)
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.asarray(rows / lengths if unit else rows * 100)


@pytest.mark.parametrize("unit", [True, False])
def test_the_unit_of_the_values_does_not_matter(unit: bool) -> None:
    rows = texts(unit=unit)
    proposal = propose_delta(rows)
    release = DeltaSketch(proposal.delta, family=FAMILY).release(rows)
    assert np.median(release.data.lengths) == pytest.approx(64, abs=4)
    assert np.median(release.data.lengths) == proposal.median_length
    assert release.evidence.suppressed == proposal.suppressed == 0
    assert not release.cautions


def test_texts_of_length_1_get_hardly_a_component_by_the_delta_of_baskets_and_a_caution() -> None:
    release = DeltaSketch(0.2, family=FAMILY).release(texts(unit=True))
    assert release.data.longest <= 4
    (caution,) = release.cautions
    assert caution.code == "short-sketches"
    assert caution.public
    assert str(int(np.median(release.data.lengths))) in caution.text


def test_short_baskets_stay_short_and_single_items_are_hopeless() -> None:
    baskets = [dict.fromkeys(range(1 + number % 3), 1) for number in range(300)]
    proposal = propose_delta(baskets)
    assert proposal.delta == 0.2
    assert proposal.hopeless == proposal.suppressed == 100
    release = DeltaSketch(0.2, family=FAMILY).release(baskets)
    assert {one.code for one in release.cautions} == {"short-sketches", "suppressed-records"}
    assert np.median(release.data.lengths) == proposal.median_length < SHORT


@given(
    st.lists(st.lists(st.floats(0.01, 100), min_size=1, max_size=12), min_size=1, max_size=20),
    st.integers(1, 300),
)
@settings(max_examples=60, deadline=None)
def test_what_is_foreseen_is_what_comes(values: list[list[float]], components: int) -> None:
    rows = [dict(enumerate(one)) for one in values]
    if all(len(one) == 1 for one in values):
        with pytest.raises(InfeasibleError, match="more than one item"):
            propose_delta(rows, components=components)
        return
    proposal = propose_delta(rows, components=components)
    spare = [sum(x * x for x in one) - max(one) ** 2 for one in values if len(one) > 1]
    largest = [max(one) for one in values if len(one) > 1]
    wanted = max(2 * np.median(spare) / components, 0.2 * np.median(largest) ** 2)
    assert proposal.delta == pytest.approx(wanted, rel=0.06)
    lengths = DeltaSketch(proposal.delta, family=SketchFamily("key", components)).lengths(rows)
    assert abs(int((lengths == 0).sum()) - proposal.suppressed) <= 1


def test_components_are_checked() -> None:
    with pytest.raises(ParameterError, match="'components' parameter of propose_delta"):
        propose_delta([{"a": 1, "b": 1}], components=0)


def test_the_error_of_distances_is_as_expected() -> None:
    rows = np.random.default_rng(0).random((400, 300)) < 0.1
    long = SketchFamily("another key", components=64)
    first, second = long.sketch(rows[:200].astype(float)), long.sketch(rows[200:].astype(float))
    true = (rows[:200] != rows[200:]).sum(axis=1)
    off = first.squared_distance(second, paired=True) / true - 1
    assert np.sqrt(np.mean(off**2)) == pytest.approx(distance_error(first.lengths).relative, rel=0.15)


def test_pairs_share_what_the_shorter_has() -> None:
    lengths = np.random.default_rng(1).integers(0, 100, 3001)
    held = lengths[lengths > 0]
    shorter = np.minimum.outer(held, held)[np.triu_indices(held.size, 1)]
    assert distance_error(lengths).shared == pytest.approx(np.median(shorter), abs=1)
    assert np.isnan(distance_error([0, 0]).relative)


def test_measures_follow_suppressed_records_by_their_order() -> None:
    rows = np.vstack([texts(20, unit=True), np.eye(5, 500)])
    family = SketchFamily("a fixed key", components=64)
    release = DeltaSketch(propose_delta(rows).delta, family=family).release(rows)
    assert release.evidence.suppressed == 5
    assert reconstruction_error(rows[release.order], release.data, family).ratio == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize(
    ("key", "is_short"), [("fifteen letters", True), (b"\x00" * 15, True), ("ß" * 8, False)]
)
def test_a_key_that_may_be_guessed_is_a_caution_for_the_owner(key: str | bytes, is_short: bool) -> None:
    family = SketchFamily(key, components=60)
    baskets = [dict.fromkeys(range(number % 7, 40), 1) for number in range(30)]
    for publisher in (DeltaSketch(0.2, family=family), KVarianceSketch(2, family=family)):
        found = [one for one in publisher.release(baskets).cautions if one.code == "short-key"]
        assert len(found) == is_short
        assert not any(one.public for one in found)
