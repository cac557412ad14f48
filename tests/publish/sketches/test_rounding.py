"""Published sketches on their grids: right on average, the same everywhere, and mute to one who has no key."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from discreet.publish import DeltaSketch, KVarianceSketch, SketchFamily
from discreet.publish.sketches.client import grid, rounded_sketch, sketch_record

WEIGHTS = st.one_of(st.integers(1, 9), st.floats(0.01, 9), st.sampled_from([0.6, 0.8, 1017.0, 1e-9, 1e12]))
RECORDS = st.lists(st.dictionaries(st.integers(0, 20), WEIGHTS, max_size=7), min_size=1, max_size=6)


def all_sums(values: list[float]) -> set[float]:
    """Every sum of the values, with any signs."""
    return {sum(signs) for signs in product(*((-value, value) for value in values))}


def whole_sums(values: list[float]) -> set[float]:
    """Every whole number up to the sum of the values, of its parity."""
    total = int(sum(values))
    return {float(one) for one in range(-total, total + 1, 2)}


@given(st.lists(st.integers(1, 12), min_size=1, max_size=7))
def test_values_are_counts_where_every_whole_sum_can_occur(values: list[int]) -> None:
    numbers = [float(value) for value in values]
    assert (grid(numbers) is None) == (all_sums(numbers) == whole_sums(numbers))


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9).filter(lambda one: grid(one) is not None))
def test_the_grid_is_a_power_of_two_of_about_half_the_length(values: list[float]) -> None:
    unit = grid(values)
    assert unit is not None
    assert math.frexp(unit)[0] == 0.5
    squares = sum(value**2 for value in values)
    assert 2 * unit**2 * 0.999 <= squares < 8 * unit**2 * 1.001
    assert grid([-value for value in values]) == unit


def test_texts_of_length_one_have_one_grid() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 200):
        row = rng.random(n) + 0.01
        assert grid((row / np.linalg.norm(row)).tolist()) == (None if n == 1 else 0.5)


@given(RECORDS, st.binary(min_size=1, max_size=40))
@settings(max_examples=60)
def test_the_family_and_the_client_round_alike(records: list[dict[int, float]], key: bytes) -> None:
    published = SketchFamily(key, components=9).publish(records, lengths=9)
    expected = [rounded_sketch(record, key, sketch_record(record, key, 9)) for record in records]
    assert published.dense().tolist() == expected


def test_rounding_is_right_on_average_and_never_off_by_a_step() -> None:
    rng = np.random.default_rng(1)
    rows = rng.random((40, 12)) * (rng.random((40, 12)) < 0.7) + np.eye(40, 12)
    units = np.array([grid(row[row > 0].tolist()) for row in rows])
    off = []
    for number in range(30):
        family = SketchFamily(f"key {number}", components=50)
        published = family.publish(rows, lengths=50).dense()
        off.append((published - family.sketch(rows).dense()) / units[:, None])
        assert np.array_equal(published, np.round(published / units[:, None]) * units[:, None])
    errors = np.array(off)
    assert np.abs(errors).max() < 1
    assert abs(errors.mean()) < 5 * errors.std() / math.sqrt(errors.size)
    again = family.publish(rows[::-1], lengths=50).dense()
    assert np.array_equal(again, published[::-1])


def texts(n: int) -> list[str]:
    rng = np.random.default_rng(7)
    return [" ".join(f"word{one}" for one in rng.integers(0, 80, size)) for size in rng.integers(6, 15, n)]


def likelihoods(values: np.ndarray, unit: float, reach: int) -> np.ndarray:
    """How likely each multiple of the unit is as a component of a record, to one who does not know the signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    below = np.floor(sums / unit)
    up = sums / unit - below
    found = np.zeros(2 * reach + 2)
    np.add.at(found, below.astype(int) + reach, (1 - up) / sums.size)
    np.add.at(found, below.astype(int) + reach + 1, up / sums.size)
    return found


@pytest.mark.parametrize("components", [8, 64])
def test_texts_are_not_found_without_the_key(components: int) -> None:
    """The attacker knows every text, weights it as the publisher does, and asks which explains a sketch best."""
    matrix = TfidfVectorizer().fit_transform(texts(150))
    rows = [matrix.data[a:b] for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    family = SketchFamily("a key nobody knows", components=components)
    release = DeltaSketch(0.5 / components, family=family).release(matrix)
    reach, unit = 20, 0.5
    known = np.log(np.array([likelihoods(row, unit, reach) for row in rows]) + 1e-12)
    found = 0.0
    for record, sketch in zip(
        release.order, np.split(release.data.values, release.data.indptr[1:-1]), strict=True
    ):
        whole = sketch / unit
        assert np.array_equal(whole, np.round(whole))
        score = known[:, whole.astype(int) + reach].sum(axis=1)
        found += (score[record] == score.max()) / (score == score.max()).sum()
    assert found / len(release.order) < 0.08


@pytest.mark.parametrize("k_variance", [False, True])
def test_releases_under_two_keys_have_no_value_that_links_records(k_variance: bool) -> None:
    """Exact sums would be the same numbers under every key; on the grid hardly any number is rare."""
    matrix = TfidfVectorizer().fit_transform(texts(150))
    for key in ("one key", "another key"):
        family = SketchFamily(key, components=32)
        method = KVarianceSketch(5, family=family) if k_variance else DeltaSketch(0.02, family=family)
        sizes = np.unique(np.abs(method.release(matrix).data.values))
        assert sizes.size <= 10


def test_counts_stay_exact() -> None:
    rows = np.random.default_rng(3).poisson(0.7, (50, 30)).astype(float)
    rows[:, 0] = 1
    counts = [row for row in rows if grid(row[row > 0].tolist()) is None]
    assert len(counts) > 40
    family = SketchFamily("key", components=20)
    published = family.publish(np.array(counts), lengths=20)
    assert published.equals(family.sketch(np.array(counts)))
