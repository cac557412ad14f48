"""Post-randomization: the invariant matrix, its epsilon, unbiased shares, and the estimator that undoes it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.swapping import invariant_matrix, matrix_epsilon

from discreet.collect import Channels, Pram, RandomizedResponse
from discreet.collect.channels import channel_from_dict
from discreet.core.errors import InputError, ParameterError
from discreet.guarantees import LocalDP

COUNTS = st.lists(st.integers(1, 10_000), min_size=2, max_size=6)


@given(counts=COUNTS, redraw=st.floats(0, 0.99))
@settings(max_examples=100, deadline=None)
def test_the_shares_are_stationary_and_epsilon_is_the_largest_ratio(counts: list[int], redraw: float) -> None:
    channel = Pram(list(range(len(counts))), counts, redraw=redraw)
    shares = np.array(counts) / sum(counts)
    slow = invariant_matrix(shares.tolist(), redraw)
    np.testing.assert_allclose(channel.matrix, slow, atol=1e-12)
    np.testing.assert_allclose(shares @ channel.matrix, shares, atol=1e-12)
    if redraw > 1e-6:
        assert channel.epsilon == pytest.approx(matrix_epsilon(slow), rel=1e-6)
    if redraw == 0:
        assert channel.epsilon == np.inf


@given(counts=COUNTS, epsilon=st.floats(0.01, 8))
@settings(max_examples=60, deadline=None)
def test_an_epsilon_is_kept_and_nearly_used_up(counts: list[int], epsilon: float) -> None:
    values = np.repeat(np.arange(len(counts)), np.minimum(counts, 50))
    channel = Pram.of(values, epsilon=epsilon)
    assert epsilon * (1 - 1e-6) - 1e-9 <= channel.epsilon <= epsilon
    assert LocalDP(epsilon).check(channel).ok


def test_published_shares_are_unbiased_as_they_stand() -> None:
    truth = np.repeat(["a", "b", "c"], [700, 250, 50])
    channel = Pram.of(truth, redraw=0.6)
    counted = np.mean(
        [channel.count(channel.perturb(truth, random_state=seed)) for seed in range(300)], axis=0
    )
    np.testing.assert_allclose(counted, [700, 250, 50], atol=3)
    # A part of the rows has other shares: there the matrix must be undone.
    some = np.repeat(["a", "c"], [1000, 1000])
    reports = channel.perturb(some, random_state=1)
    plain = channel.count(reports) / 2000
    assert plain[2] < 0.3
    estimate = channel.reconstruct(reports, method="inverse")
    assert abs(estimate.shares[2] - 0.5) < 4 * estimate.standard_errors[2]


def test_it_is_a_channel_like_any_other() -> None:
    frame = pl.DataFrame({"drink": ["tea"] * 60 + ["coffee"] * 40})
    channel = Pram.of(frame["drink"], redraw=0.5)
    assert channel.categories == ("coffee", "tea")
    assert channel.shares == (0.4, 0.6)
    channels = Channels({"drink": channel})
    assert set(channels.perturb(frame, random_state=1)["drink"]) == {"tea", "coffee"}
    again = channel_from_dict(channel.to_dict())
    assert isinstance(again, RandomizedResponse)
    np.testing.assert_array_equal(again.matrix, channel.matrix)


def test_bad_input_is_one_clear_line() -> None:
    for values in (["a"], ["a", "a"], []):
        with pytest.raises(InputError, match="needs a column of at least two categories"):
            Pram.of(pa.array(values, pa.string()), redraw=0.5)
    with pytest.raises(InputError, match="1 of 3 values are null"):
        Pram.of(["a", None, "b"], redraw=0.5)
    with pytest.raises(ParameterError, match="'redraw' parameter of Pram must be a number"):
        Pram.of(["a", "b"], redraw=1.0)
    with pytest.raises(ParameterError, match="Pass either 'redraw' or 'epsilon'"):
        Pram.of(["a", "b"], redraw=0.5, epsilon=1)
