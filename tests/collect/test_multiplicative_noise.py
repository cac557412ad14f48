"""Multiplicative noise: additive on logarithms, in proportion, recovered, and refused where no factor hides."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.collect import AdditiveNoise, Channels, Gaussian, Laplace, MultiplicativeNoise, Uniform
from discreet.collect.channels import channel_from_dict
from discreet.core.errors import DiscreetError, InputError, ParameterError
from discreet.guarantees import LocalDP
from discreet.mine import ReconstructedTree

NOISES = [Uniform(0.7), Gaussian(0.5), Laplace(0.4)]


@given(
    st.lists(st.floats(1e-100, 1e100), min_size=1, max_size=20),
    st.sampled_from(NOISES),
    st.integers(0, 2**32),
)
@settings(max_examples=60)
def test_it_is_additive_noise_on_logarithms(values, noise, seed) -> None:
    reports = MultiplicativeNoise(noise).perturb(values, random_state=seed)
    added = AdditiveNoise(noise).perturb(np.log(values), random_state=seed)
    np.testing.assert_array_equal(reports, np.exp(added))
    assert (reports > 0).all()
    assert np.isfinite(reports).all()


def test_large_and_small_values_are_hidden_in_proportion() -> None:
    channel = MultiplicativeNoise(Gaussian(0.3))
    small, large = (channel.perturb(np.full(5000, x), random_state=1) / x for x in (0.01, 5e6))
    assert abs(np.log(small).std() / np.log(large).std() - 1) < 0.05
    within = np.maximum(small, 1 / small) <= channel.factor(0.95)
    assert abs(within.mean() - 0.95) < 0.02


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("method", ["em", "bayes", "kernel"])
def test_the_distribution_is_recovered(noise, method) -> None:
    rng = np.random.default_rng(4)
    pay = rng.lognormal(8, 0.5, 20_000).clip(300, 60_000)
    channel = MultiplicativeNoise(noise, low=300, high=60_000)
    density = channel.reconstruct(channel.perturb(pay, random_state=rng), intervals=30, method=method)
    assert (density.edges[0], density.edges[-1]) == (300, 60_000)
    assert np.allclose(np.diff(np.log(density.edges)), np.diff(np.log(density.edges))[0])
    assert np.allclose(density.ppf([0.25, 0.5, 0.75]) / np.quantile(pay, [0.25, 0.5, 0.75]), 1, atol=0.12)


def test_edges_are_those_of_values() -> None:
    channel = MultiplicativeNoise(Uniform(0.1))
    reports = channel.perturb(np.repeat([15.0, 150.0], 500), random_state=1)
    density = channel.reconstruct(reports, intervals=[10, 30, 100, 200])
    assert np.allclose(density.edges, [10, 30, 100, 200])
    assert np.allclose(density.shares, [0.5, 0, 0.5], atol=0.02)
    with pytest.raises(InputError, match="1 values of 'intervals'"):
        channel.reconstruct(reports, intervals=[0, 30, 100])
    with pytest.raises(InputError, match="1 values of 'noisy' are 0"):
        channel.reconstruct([*reports, -4711.0])


def test_its_epsilon_is_that_of_the_logarithms() -> None:
    low, high = np.log(20), np.log(2000)
    channel = MultiplicativeNoise(Laplace.for_epsilon(1.5, low=low, high=high), low=20, high=2000)
    assert channel.epsilon <= 1.5
    assert LocalDP(1.5).check(channel).ok
    assert not LocalDP(1.4).check(channel).ok
    assert MultiplicativeNoise(Gaussian(1.0), low=20, high=2000).epsilon == np.inf
    assert channel.privacy() == pytest.approx(channel.noise.width() / (high - low))


def test_it_travels_as_plain_data_and_in_frames() -> None:
    channel = MultiplicativeNoise(Gaussian(0.2), low=1, high=1000)
    again = channel_from_dict(json.loads(json.dumps(channel.to_dict())))
    assert repr(again) == repr(channel)
    with pytest.raises(ParameterError, match="true or false"):
        channel_from_dict(channel.to_dict() | {"multiplicative": 1})
    frame = pl.DataFrame({"pay": [10.0, 20.0, 400.0] * 100, "x": range(300)})
    channels = Channels({"pay": again})
    noisy = channels.perturb(frame, random_state=1)
    assert noisy["x"].equals(frame["x"])
    assert channels.reconstruct(noisy, pay={"intervals": 5})["pay"].n == 300
    assert channel.perturb(frame, columns=["pay"], random_state=1).equals(noisy)
    bad = frame.with_columns(pay=pl.when(pl.col("x") == 3).then(-4711.0).otherwise(pl.col("pay")))
    with pytest.raises(InputError, match="1 values of 'pay' are 0") as caught:
        channels.perturb(bad)
    assert "4711" not in str(caught.value)


def test_learners_refuse_it_and_take_its_logarithms() -> None:
    rng = np.random.default_rng(1)
    pay = rng.uniform(10, 1000, 3000)
    classes = pay < 100
    channel = MultiplicativeNoise(Uniform(0.3), low=10, high=1000)
    noisy = channel.perturb(pay, random_state=2)[:, None]
    with pytest.raises(ParameterError, match="ReconstructedTree learns from its logarithms"):
        ReconstructedTree([channel]).fit(noisy, classes)
    tree = ReconstructedTree([channel.additive]).fit(np.log(noisy), classes)
    assert tree.score(np.log(pay)[:, None], classes) > 0.95


def test_wide_noise_is_refused() -> None:
    with pytest.raises(DiscreetError, match="spread of 8 or less"):
        MultiplicativeNoise(Laplace(8.1)).perturb([1.0])
