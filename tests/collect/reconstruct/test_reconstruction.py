"""Reconstruction: the papers' steps, the truth from exact frequencies, likelihoods that never fall, honest bands."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import noise as oracles_noise

from discreet.collect import (
    AdditiveNoise,
    Density,
    Gaussian,
    Histogram,
    Laplace,
    NotConvergedWarning,
    Reconstruction,
    Uniform,
)
from discreet.collect.reconstruct.em import Rule, likelihood, run_em
from discreet.core.errors import InputError, ParameterError

KINDS = [Uniform, Gaussian, Laplace]


def plateau(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0.25, 0.75, n)


@pytest.mark.parametrize("noise", [Uniform(0.4), Gaussian(0.3), Laplace(0.2)])
def test_the_chance_of_a_bin_is_what_summing_gives(noise) -> None:
    bins, edges = np.array([-1.0, -0.2, 0.1, 0.15, 2.0]), np.array([0.0, 0.1, 0.5, 0.9])
    chances = likelihood(noise, bins, edges)
    for i in range(4):
        for j in range(3):
            slow = oracles_noise.chance_of_bin(noise, bins[i], bins[i + 1], edges[j], edges[j + 1])
            assert np.isclose(chances[i, j], slow, atol=1e-4)
    everything = likelihood(noise, np.array([-1e3, 0.3, 1e3]), edges).sum(axis=0)
    assert np.allclose(everything, 1)


@given(
    st.lists(st.integers(0, 50), min_size=4, max_size=12),
    st.integers(2, 5),
    st.sampled_from([Uniform(0.7), Gaussian(0.4), Laplace(0.3)]),
)
@settings(max_examples=60)
def test_a_step_of_em_is_the_written_out_one_and_never_lowers_the_likelihood(counts, k, noise) -> None:
    counts = np.array(counts, float)
    bins = np.linspace(-1, 2, counts.size + 1)
    chances = likelihood(noise, bins, np.linspace(0, 1, k + 1))
    counts[chances.sum(axis=1) <= 0] = 0
    if not counts.sum():
        return
    seen = counts > 0
    one = run_em(counts[None, seen], [chances[seen]], Rule("change", 1e-300, 1))
    slow = oracles_noise.em_step(counts, chances, np.full(k, 1 / k))
    assert np.allclose(one.shares[0], slow, atol=1e-12)
    many = run_em(counts[None, seen], [chances[seen]], Rule("change", 1e-300, 40))
    assert (np.diff(many.trace) >= -1e-9 * np.abs(many.trace[:-1])).all()
    slow = oracles_noise.log_likelihood(counts, chances, many.shares[0])
    assert np.isclose(many.trace[-1], slow)


@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.floats(0.05, 2))
@settings(max_examples=25)
def test_the_likelihood_of_a_reconstruction_never_falls(seed: int, kind, spread: float) -> None:
    rng = np.random.default_rng(seed)
    true = rng.beta(rng.uniform(0.3, 3), rng.uniform(0.3, 3), 500)
    channel = AdditiveNoise(kind(spread), low=0, high=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        found = channel.reconstruct(
            channel.perturb(true, random_state=seed),
            intervals=12,
            stop="change",
            tolerance=1e-9,
            max_steps=60,
        )
    assert (np.diff(found.trace) >= -1e-9 * np.abs(found.trace[:-1])).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_binned_step_of_bayes_is_the_papers_on_every_value(kind) -> None:
    noise = kind(0.3)
    rng = np.random.default_rng(1)
    noisy = rng.random(400) * 1.2 - 0.1
    width = noise.spread / 2000
    edges = np.linspace(0, 1, 9)
    counted = Histogram.of(noisy, width=width)
    chances = likelihood(noise, counted.edges, edges, exact=False)
    seen = counted.counts > 0
    one = run_em(counted.counts[None, seen].astype(float), [chances[seen]], Rule("change", 1e-300, 1))
    slow = oracles_noise.bayes_step(noisy, (edges[1:] + edges[:-1]) / 2, np.full(8, 1 / 8), noise)
    assert np.allclose(one.shares[0], slow, atol=2e-3)


@pytest.mark.parametrize("noise", [Uniform(0.35), Gaussian(0.06), Laplace(0.1)])
def test_exact_expected_frequencies_return_the_truth(noise) -> None:
    edges = np.linspace(0, 1, 9)
    truth = np.array([0.05, 0.2, 0.1, 0.0, 0.15, 0.3, 0.15, 0.05])
    how = Reconstruction(noise, 8, low=0, high=1, stop="change", tolerance=1e-9, max_steps=60_000)
    width = how._bin_width()
    first = math.floor((0 - noise.reach) / width)
    last = math.ceil((1 + noise.reach) / width)
    bins = np.arange(first, last + 1) * width
    expected = likelihood(noise, bins, edges) @ truth
    counted = Histogram(width, first, np.rint(expected * 1e15).astype(np.int64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        found = how.reconstruct(counted)
    assert np.abs(found.shares - truth).max() < 2e-3


@pytest.mark.parametrize("kind", [Uniform, Laplace])
def test_the_error_falls_with_n(kind) -> None:
    """Means of six seeds, whose spread is a tenth of the differences asked for: a right one never fails."""
    channel = AdditiveNoise(kind.for_privacy(0.5, low=0, high=1), low=0, high=1)
    edges = np.linspace(0, 1, 21)
    truth = Density(edges, np.where((edges[:-1] >= 0.25 - 1e-9) & (edges[1:] <= 0.75 + 1e-9), 0.1, 0.0))
    errors = []
    for n in (1_000, 10_000, 100_000):
        seeds = range(6)
        found = [
            channel.reconstruct(
                channel.perturb(plateau(n, np.random.default_rng(seed)), random_state=seed), intervals=20
            )
            for seed in seeds
        ]
        errors.append(np.mean([one.distance(truth) for one in found]))
    assert errors[1] < 0.75 * errors[0]
    assert errors[2] < 0.75 * errors[1]


@pytest.mark.parametrize(("kind", "privacy"), [(Uniform, 0.5), (Uniform, 1.0), (Gaussian, 0.25)])
def test_the_band_covers_about_as_often_as_it_says(kind, privacy: float) -> None:
    """Of 20 intervals and 8 seeds at least 85 in a hundred lie in a band of 95; seeds are fixed."""
    channel = AdditiveNoise(kind.for_privacy(privacy, low=0, high=1), low=0, high=1)
    truth = np.histogram(plateau(1_000_000, np.random.default_rng(1)), np.linspace(0, 1, 21))[0] / 1e6
    inside = []
    for seed in range(8):
        noisy = channel.perturb(plateau(10_000, np.random.default_rng(seed)), random_state=seed)
        found = channel.reconstruct(noisy, intervals=20, band=0.95, random_state=seed)
        assert found.lower is not None
        assert found.upper is not None
        assert ((found.lower <= found.shares) & (found.shares <= found.upper)).all()
        inside.append(((found.lower <= truth) & (truth <= found.upper)).mean())
    assert np.mean(inside) > 0.85


def test_a_band_narrows_with_n_and_is_the_same_for_a_seed() -> None:
    channel = AdditiveNoise(Uniform(0.3), low=0, high=1)
    widths = []
    for n in (2_000, 50_000):
        noisy = channel.perturb(plateau(n, np.random.default_rng(0)), random_state=0)
        one, other = (channel.reconstruct(noisy, intervals=15, band=0.9, random_state=3) for _ in range(2))
        assert np.array_equal(one.lower, other.lower)
        widths.append((one.upper - one.lower).mean())
    assert widths[1] < widths[0] / 2


def test_batches_reconstruct_like_the_whole() -> None:
    channel = AdditiveNoise(Gaussian(0.2), low=0, high=1)
    noisy = channel.perturb(plateau(20_000, np.random.default_rng(2)), random_state=2)
    how = channel.reconstruction(20)
    merged = how.histogram(noisy[:7_000]) + how.histogram(noisy[7_000:])
    assert np.array_equal(how.reconstruct(merged).shares, how.reconstruct(noisy).shares)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_bounds_are_found(kind) -> None:
    noise = kind(0.1)
    true = np.random.default_rng(3).uniform(10, 12, 50_000)
    noisy = AdditiveNoise(noise).perturb(true, random_state=3)
    found = Reconstruction(noise, 40).reconstruct(noisy)
    assert abs(found.mean - true.mean()) < 0.02
    assert found.cdf(10 - 0.15) < 0.02
    assert found.cdf(12 + 0.15) > 0.98
    half = Reconstruction(noise, 40, low=10).reconstruct(noisy)
    assert half.edges[0] == 10


def test_values_at_the_ends_of_bounded_noise_are_not_called_impossible() -> None:
    channel = AdditiveNoise(Uniform(50.0), low=0, high=100)
    counted = channel.reconstruction(50).histogram(
        np.concatenate([[150.0, 150.0004, -50.0004], np.full(100, 50.0)])
    )
    assert channel.reconstruction(50).reconstruct(counted).n == 103


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(1.0)])
def test_far_chances_are_the_same_on_both_sides(noise) -> None:
    edges, far = np.linspace(-1, 1, 5), np.array([20.0, 20.5, 21.0])
    above, below = likelihood(noise, far, edges), likelihood(noise, -far[::-1], edges)
    assert (above > 0).all()
    assert np.allclose(above, below[::-1, ::-1], rtol=1e-6)
    slow = oracles_noise.chance_of_bin(noise, -20.5, -20.0, edges[0], edges[1])
    assert np.isclose(below[-1, 0], slow, rtol=1e-3)


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(0.3)])
@pytest.mark.parametrize("far", [-50.0, -12.5, 22.5, 60.0])
def test_a_report_that_noise_would_never_make_is_refused_on_either_side(noise, far: float) -> None:
    how = Reconstruction(noise, 10, low=0, high=10)
    assert how.reconstruct([-4.0, 14.0] + [5.0] * 100).n == 102
    with pytest.raises(InputError, match="1 of 101 noisy values"):
        how.reconstruct([far] + [5.0] * 100)


@pytest.mark.parametrize("ends", [{"low": 1_000}, {"high": -1_000}, {"low": 8.0}, {"high": -8.0}])
def test_one_end_of_the_range_that_cannot_be_is_refused(ends) -> None:
    noisy = AdditiveNoise(Gaussian(0.5)).perturb(np.random.default_rng(0).normal(0, 1, 2_000), random_state=1)
    with pytest.raises(InputError, match="range"):
        Reconstruction(Gaussian(0.5), 10, **ends).reconstruct(noisy)


def test_an_impossible_value_is_refused_by_its_count() -> None:
    with pytest.raises(InputError, match="2 of 102 noisy values"):
        Reconstruction(Uniform(1.0), 10, low=0, high=10).reconstruct([50.0, -50.0] + [5.0] * 100)


@pytest.mark.parametrize(
    ("noisy", "words"),
    [
        ([1.0, 2.0], "2 noisy values cannot distinguish 10 intervals"),
        ([math.nan] + [1.0] * 20, "1 of the noisy values are null, NaN"),
        ([math.inf] + [1.0] * 20, "1 of the noisy values are null, NaN"),
        (["a"] * 20, "must be numbers"),
        ([], "no values"),
        ([1e300] + [1.0] * 20, "bins"),
        ([1.79e308, -1.79e308] + [1.0] * 20, "bins"),
    ],
)
def test_bad_input_is_refused(noisy, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Reconstruction(Gaussian(1.0), 10, low=0, high=10).reconstruct(noisy)


def test_one_that_does_not_converge_warns_and_returns_the_best() -> None:
    noisy = AdditiveNoise(Gaussian(0.3)).perturb(plateau(5_000, np.random.default_rng(0)), random_state=0)
    with pytest.warns(NotConvergedWarning, match="3 steps"):
        found = Reconstruction(Gaussian(0.3), 10, low=0, high=1, max_steps=3).reconstruct(noisy)
    assert not found.converged
    assert found.iterations == 3
    assert "not converged" in repr(found)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"noise": 1.0}, "noise"),
        ({"intervals": 1}, "intervals"),
        ({"intervals": [1.0, 0.0, 2.0]}, "intervals"),
        ({"intervals": "many"}, "intervals"),
        ({"intervals": [0.0, 1.0, math.inf]}, "intervals"),
        ({"intervals": [-math.inf, 0.0, 1.0]}, "intervals"),
        ({"intervals": [[0.0], [1.0, 2.0]]}, "intervals"),
        ({"low": "a"}, "low"),
        ({"low": 1.0, "high": 1.0}, "high"),
        ({"intervals": [0.0, 1.0, 2.0], "low": 0.0}, "intervals"),
        ({"method": "magic"}, "method"),
        ({"stop": "never"}, "stop"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_each_constraint_names_its_parameter(options, name: str) -> None:
    given = {"noise": Gaussian(1.0), "intervals": 10} | options
    with pytest.raises(ParameterError, match=f"'{name}'"):
        Reconstruction(given.pop("noise"), given.pop("intervals"), **given).reconstruct([1.0] * 50)


@pytest.mark.parametrize(("band", "resamples", "name"), [(1.0, 60, "band"), (0.9, 1, "resamples")])
def test_the_bands_constraints_name_their_parameter(band, resamples, name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}'"):
        Reconstruction(Gaussian(1.0), 5, low=0, high=1).reconstruct(
            [0.5] * 50, band=band, resamples=resamples
        )


def test_a_chart_shows_the_band_the_truth_and_the_noise() -> None:
    from discreet.report.pictures import chart

    channel = AdditiveNoise(Gaussian(0.2), low=0, high=1)
    noisy = channel.perturb(plateau(2_000, np.random.default_rng(0)), random_state=0)
    found = channel.reconstruct(noisy, intervals=10, band=0.9, random_state=0)
    spec = chart(
        found,
        truth=Density(np.array([0.25, 0.75]), np.array([1.0])),
        noisy=Histogram.of(noisy, width=0.01),
    )
    assert all(f'"what": "{what}"' in json.dumps(spec) for what in ("reconstructed", "true", "noisy"))
    assert len(spec["layer"]) == 2
    assert len(chart(found)["layer"]) == 2
    assert found.frame().column_names == ["low", "high", "share", "density", "lower", "upper"]


def test_unknown_bounds_do_not_squeeze_few_values_behind_wide_noise() -> None:
    true = np.random.default_rng(5).uniform(0, 1, 400)
    noisy = AdditiveNoise(Gaussian(1.0)).perturb(true, random_state=5)
    found = Reconstruction(Gaussian(1.0), 20).reconstruct(noisy)
    assert found.edges[0] < 0.2
    assert found.edges[-1] > 0.8
