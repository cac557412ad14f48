"""Basic privacy, expected error and errors of itemsets, by slow definitions and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import mask as oracles_mask

from discreet.collect import EMask
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InputError, ParameterError
from discreet.measure import (
    average_basic_privacy,
    basic_privacy,
    expected_error,
    itemset_error,
    itemset_error_by_length,
)

shares = st.floats(0, 1)
supports = st.lists(shares, min_size=1, max_size=8)


def test_the_papers_check_value() -> None:
    assert average_basic_privacy(0.01, p=0.5, q=0.97) == pytest.approx(92.5, abs=0.05)


@given(supports, shares, shares, shares)
def test_the_exact_form_by_the_slow_definition(s: list[float], p: float, q: float, ones: float) -> None:
    of_ones, of_zeros = oracles_mask.basic_privacy(s, p, q), oracles_mask.basic_privacy_of_zeros(s, p, q)
    assert basic_privacy(s, p=p, q=q) == pytest.approx(of_ones, abs=1e-6)
    assert basic_privacy(s, p=p, q=q, ones=0.0) == pytest.approx(of_zeros, abs=1e-6)
    mixed = ones * of_ones + (1 - ones) * of_zeros
    assert basic_privacy(s, p=p, q=q, ones=ones) == pytest.approx(mixed, abs=1e-6)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8), shares, shares)
def test_the_average_form_is_never_below_the_exact_one(s: list[float], p: float, q: float) -> None:
    average = average_basic_privacy(float(np.mean(s)), p=p, q=q)
    assert average >= basic_privacy(s, p=p, q=q) - 1e-6
    assert basic_privacy([s[0]] * 3, p=p, q=q) == pytest.approx(average_basic_privacy(s[0], p=p, q=q))


def test_a_simulated_attacker_is_right_as_often_as_basic_privacy_says() -> None:
    rng = np.random.default_rng(2)
    s, p, q, n = 0.1, 0.6, 0.9, 400_000
    true = rng.random(n) < s
    seen = np.where(true, rng.random(n) < p, rng.random(n) >= q)
    believed = np.where(seen, true[seen].mean(), true[~seen].mean())
    guess = rng.random(n) < believed
    assert 100 * (1 - guess[true].mean()) == pytest.approx(average_basic_privacy(s, p=p, q=q), abs=1.5)


def test_extremes() -> None:
    assert basic_privacy([0.0, 0.0], p=0.5, q=1.0) == 100
    assert basic_privacy([0.3, 0.7], p=1, q=1) == pytest.approx(0)
    assert EMask(1, 1).basic_privacy(np.array([0.2])) == pytest.approx(0)


def test_a_channel_measures_baskets() -> None:
    shop = Baskets.from_lists([["a", "b"], ["a"], ["a", "c"], []])
    channel = EMask(0.5, 0.9)
    assert channel.basic_privacy(shop) == pytest.approx(basic_privacy([0.75, 0.25, 0.25], p=0.5, q=0.9))
    assert channel.average_basic_privacy(shop) == pytest.approx(average_basic_privacy(1.25 / 3, p=0.5, q=0.9))


def test_mistakes() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        basic_privacy([0.5, 1.5], p=0.5, q=0.9)
    with pytest.raises(InputError):
        basic_privacy([], p=0.5, q=0.9)
    for name, given_ in (
        ("p", {"p": 2, "q": 0.5}),
        ("q", {"p": 0.5, "q": -1}),
        ("ones", {"p": 0.5, "q": 0.9, "ones": 3}),
    ):
        with pytest.raises(ParameterError, match=f"'{name}'"):
            basic_privacy([0.5], **given_)  # type: ignore[arg-type]


def test_expected_error_is_the_spread_of_the_estimate() -> None:
    s, n, p, q = 0.1, 2_000, 0.5, 0.9
    true = np.arange(n) < s * n
    baskets = Baskets(np.concatenate([[0], np.cumsum(true)]), np.zeros(true.sum(), np.int32), pa.array([0]))
    estimates = [
        (EMask(p, q).perturb(baskets, random_state=seed).counts[0] - (1 - q) * n) / (p + q - 1) / n
        for seed in range(800)
    ]
    assert np.mean(estimates) == pytest.approx(
        s, abs=4 * s * EMask(p, q).expected_error(s, n) / math.sqrt(800)
    )
    assert np.std(estimates) / s == pytest.approx(float(expected_error(s, n, p=p, q=q)), rel=0.12)


def test_expected_error_is_infinite_where_nothing_can_be_recovered() -> None:
    assert expected_error(0.1, 100, p=0.4, q=0.6) == math.inf
    assert expected_error(0.0, 100, p=0.5, q=0.9) == math.inf


sets = st.dictionaries(
    st.sets(st.integers(0, 5), min_size=1, max_size=3).map(lambda one: tuple(sorted(one))), st.floats(0.1, 1)
)


@given(sets, sets)
def test_errors_of_itemsets_by_the_words_of_the_paper(true: dict, found: dict) -> None:
    error = itemset_error(true, found)
    if true:
        assert error.false_positives == pytest.approx(100 * len(set(found) - set(true)) / len(true))
        assert error.false_negatives == pytest.approx(100 * len(set(true) - set(found)) / len(true))
    else:
        assert math.isnan(error.false_positives)
    right = [one for one in true if one in found]
    if right:
        off = sum(abs(found[one] - true[one]) / true[one] for one in right) / len(right)
        assert error.support_error == pytest.approx(100 * off)
    else:
        assert math.isnan(error.support_error)
    levels = itemset_error_by_length(true, found)
    assert sum(level.n_true for level in levels.values()) == len(true)
    assert sum(level.n_found for level in levels.values()) == len(found)
