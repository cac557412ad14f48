"""Reconstruction by a kernel density: the formula by direct summation, shares of any data, bandwidths, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import noise as oracles_noise

from discreet.collect import AdditiveNoise, Density, Gaussian, Histogram, Laplace, Reconstruction, Uniform
from discreet.collect.reconstruct.kernel import kernel_shares
from discreet.core.errors import InfeasibleError, InputError, ParameterError

NOISES = [Uniform(0.4), Gaussian(0.15), Laplace(0.12)]
KINDS = [Uniform, Gaussian, Laplace]


@pytest.mark.parametrize("noise", NOISES)
def test_the_characteristic_function_is_the_mean_of_a_wave(noise) -> None:
    for t in (0.0, 0.7, 3.0, 11.0):
        slow = oracles_noise.characteristic(noise, t)
        assert np.isclose(noise.characteristic(np.array([t]))[0], slow, atol=1e-4)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("bandwidth", [0.05, 0.12])
def test_shares_are_those_of_the_formula_summed_directly(noise, bandwidth) -> None:
    rng = np.random.default_rng(3)
    noisy = rng.choice([0.2, 0.7], 80) + rng.normal(0, 0.1, 80)
    edges = np.linspace(-0.1, 1.1, 13)
    counted = Histogram.of(noisy, width=0.004)
    fast = kernel_shares(noise, counted.counts.astype(float), counted.edges, edges, bandwidth)
    at = np.linspace(edges[0], edges[-1], 12 * 25 + 1)
    heights = np.maximum(oracles_noise.kernel_density(noisy, at, noise, bandwidth, steps=3000), 0)
    areas = ((heights[1:] + heights[:-1]) / 2).reshape(12, 25).sum(axis=1)
    assert np.allclose(fast, areas / areas.sum(), atol=2e-3)


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.25, 0.5, 0.875, 1.0]), min_size=4, max_size=30),
    st.sampled_from(NOISES),
    st.sampled_from(["silverman", "cv", 0.05, 3]),
    st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_any_values_become_shares_or_are_refused(values, noise, bandwidth, seed) -> None:
    channel = AdditiveNoise(noise, low=0, high=1)
    noisy = channel.perturb(np.array(values), random_state=seed)
    try:
        density = channel.reconstruct(noisy, intervals=4, method="kernel", bandwidth=bandwidth)
    except InfeasibleError:
        return
    assert density.n == len(values)
    assert density.converged
    assert (density.shares >= 0).all()
    assert np.isclose(density.shares.sum(), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_many_values_come_near_the_truth_and_nearer_than_few(kind) -> None:
    noise = kind(0.1 * kind(1.0).unit_precision ** 0.5)
    channel = AdditiveNoise(noise, low=0, high=1)
    rng = np.random.default_rng(5)
    edges = np.linspace(0, 1, 21)
    losses = []
    for n in (300, 200_000):
        true = np.where(rng.random(n) < 0.5, rng.normal(0.3, 0.08, n), rng.normal(0.7, 0.08, n)).clip(0, 1)
        truth = Density(edges, np.histogram(true, edges)[0] / n)
        density = channel.reconstruct(
            channel.perturb(true, random_state=rng), intervals=20, method="kernel", bandwidth="cv"
        )
        losses.append(truth.distance(density))
    assert losses[1] < min(losses[0], 0.13)


def test_batches_and_an_unknown_range_are_taken_as_by_the_other_methods() -> None:
    rng = np.random.default_rng(1)
    noisy = AdditiveNoise(Gaussian(5.0)).perturb(rng.normal(50, 10, 20_000), random_state=2)
    how = Reconstruction(Gaussian(5.0), 30, method="kernel", bandwidth="cv")
    together = how.reconstruct(how.histogram(noisy[:5000]) + how.histogram(noisy[5000:]))
    assert np.array_equal(together.shares, how.reconstruct(noisy).shares)
    assert abs(together.mean - 50) < 0.5


def test_one_value_many_times_is_found_again() -> None:
    channel = AdditiveNoise(Uniform(0.3), low=0, high=1)
    density = channel.reconstruct(
        channel.perturb(np.full(5000, 0.55), random_state=1), intervals=10, method="kernel", bandwidth=0.03
    )
    assert density.shares.argmax() == 5


def test_a_small_bandwidth_gets_finer_bins() -> None:
    fine = Reconstruction(Gaussian(1.0), 10, low=0, high=1, method="kernel", bandwidth=1e-3)
    assert fine.histogram([0.5]).width <= 1e-3


@pytest.mark.parametrize("bad", [0, -1.0, "wide", None, np.inf])
def test_a_wrong_bandwidth_names_its_parameter(bad) -> None:
    with pytest.raises(ParameterError, match="'bandwidth' parameter of Reconstruction"):
        Reconstruction(Gaussian(1.0), method="kernel", bandwidth=bad).reconstruct([1.0, 2.0])


def test_bands_and_values_out_of_reach_are_refused() -> None:
    how = Reconstruction(Uniform(1.0), 2, low=0, high=1, method="kernel")
    with pytest.raises(ParameterError, match="takes none; take 'em'"):
        how.reconstruct([0.5, 0.6, 0.7], band=0.9)
    with pytest.raises(InputError, match="1 of 4 noisy values lie where"):
        how.reconstruct([0.5, 0.6, 0.7, 918.0])


def test_an_estimate_without_any_share_is_refused() -> None:
    counts, bins = np.ones(4), np.arange(5.0)
    with pytest.raises(InfeasibleError, match="nowhere above 0"):
        kernel_shares(Uniform(1.0), counts, bins, np.array([1e6, 2e6]), 1.0)
