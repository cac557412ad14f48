"""Linkage by likelihood: ranks by the definition, ties, columns without noise, correlated noise, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import noise as oracles_noise

from discreet.collect import AdditiveNoise, CorrelatedNoise, Gaussian, Laplace, MultiplicativeNoise, Uniform
from discreet.core.errors import InputError, ParameterError
from discreet.measure import likelihood_linkage
from discreet.measure.noise import likelihood

NOISES = [Uniform(0.4), Gaussian(0.3), Laplace(0.2)]


@given(
    st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 0.75, 1.0])] * 2), min_size=1, max_size=12),
    st.sampled_from(NOISES),
    st.integers(0, 2**32),
)
@settings(max_examples=80, deadline=None)
def test_ranks_are_those_of_the_definition_with_ties_and_duplicates(records, noise, seed) -> None:
    records = np.array(records)
    noisy = AdditiveNoise(noise).perturb(records, random_state=seed)
    linked = likelihood_linkage(noisy, records, noise)
    ranks, first = oracles_noise.likelihood_ranks(noisy, records, noise)
    assert np.allclose(linked.ranks, ranks)
    assert np.allclose(linked.first_chances, first)
    assert linked.n_public == len(records)


@pytest.mark.parametrize("noise", NOISES)
def test_blocks_do_not_matter(noise, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    records = rng.random((60, 3))
    noisy = AdditiveNoise(noise).perturb(records, random_state=2)
    ranks = likelihood_linkage(noisy, records, noise).ranks
    monkeypatch.setattr(likelihood, "_BLOCK", 100)
    assert np.array_equal(likelihood_linkage(noisy, records, noise).ranks, ranks)


def test_a_uniform_prior_of_records_is_linked_as_often_as_expected() -> None:
    """Figures of an earlier prototype: n = 10,000 uniform, d = 8, .90, .27, .03, 0 at .25, .5, 1, 2 sd."""
    rng = np.random.default_rng(3)
    records = rng.random((10_000, 8))
    own = np.arange(300)
    for sd, expected in ((0.25, 0.90), (0.5, 0.27), (1.0, 0.03), (2.0, 0.0)):
        noise = Gaussian(sd / 12**0.5)
        noisy = AdditiveNoise(noise).perturb(records[own], random_state=rng)
        first = likelihood_linkage(noisy, records, noise, truth=own).first
        assert abs(first - expected) < 0.08


def test_strong_noise_leaves_nothing_and_none_leaves_all() -> None:
    records = np.random.default_rng(4).random((400, 2))
    weak, strong = (
        likelihood_linkage(AdditiveNoise(noise).perturb(records, random_state=1), records, noise)
        for noise in (Gaussian(1e-5), Gaussian(1e3))
    )
    assert weak.first == 1.0
    assert abs(strong.mean_rank / 200.5 - 1) < 0.1
    assert repr(weak) == "LikelihoodLinkage(400 noisy among 400 public, 100.0% ranked first)"


def test_a_column_that_was_not_hidden_must_agree() -> None:
    records = np.column_stack([np.arange(50) // 2, np.zeros(50)])
    channel = [None, AdditiveNoise(Laplace(1.0))]
    noisy = np.column_stack(
        [records[:, 0], AdditiveNoise(Laplace(1.0)).perturb(records[:, 1], random_state=1)]
    )
    linked = likelihood_linkage(noisy, records, channel)
    assert (linked.ranks == 1.5).all()
    assert linked.first == 0.5


def test_correlated_noise_is_judged_by_its_covariance() -> None:
    rng = np.random.default_rng(5)
    covariance = np.array([[1.0, 0.95], [0.95, 1.0]])
    records = rng.normal(size=(300, 2))
    channel = CorrelatedNoise(covariance)
    noisy = channel.perturb(records, random_state=1)
    aware, unaware = (likelihood_linkage(noisy, records, noise) for noise in (channel, Gaussian(1.0)))
    inverse = np.linalg.inv(covariance)
    for row in range(5):
        away = noisy[row] - records
        cost = np.einsum("ni,ij,nj->n", away, inverse, away)
        assert aware.ranks[row] == 1 + (cost < cost[row] - 1e-9).sum()
    assert aware.mean_rank < unaware.mean_rank


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda z, x: likelihood_linkage(z, x[:, :1], Gaussian(1.0)), InputError, "same columns"),
        (lambda z, x: likelihood_linkage(z[:2], x, Gaussian(1.0)), InputError, "'truth'"),
        (lambda z, x: likelihood_linkage(z, x, Gaussian(1.0), truth=[9] * 4), InputError, "'truth'"),
        (lambda z, x: likelihood_linkage(z, x, [Gaussian(1.0)]), ParameterError, "each of 2 columns"),
        (lambda z, x: likelihood_linkage(z, x, "noise"), ParameterError, "'channel'"),
        (lambda z, x: likelihood_linkage(z, x, None), ParameterError, "'channel'"),
        (lambda z, x: likelihood_linkage(z, x, CorrelatedNoise(np.eye(3))), ParameterError, "each of 2"),
        (
            lambda z, x: likelihood_linkage(z, x, MultiplicativeNoise(Gaussian(1.0))),
            ParameterError,
            "logarithms",
        ),
        (lambda z, x: likelihood_linkage(z + 4711, x, Uniform(1.0)), InputError, "4 noisy records could not"),
        (lambda z, x: likelihood_linkage(z * np.nan, x, Uniform(1.0)), InputError, "8 values of 'noisy'"),
        (lambda z, x: likelihood_linkage(z, [["Wilhelmina"]], Uniform(1.0)), InputError, "rows of numbers"),
    ],
)
def test_mistakes_are_refused_without_a_value(call, error, words: str) -> None:
    records = np.arange(8.0).reshape(4, 2)
    with pytest.raises(error, match=words) as caught:
        call(records + 0.1, records)
    assert "4711" not in str(caught.value)
    assert "Wilhelmina" not in str(caught.value)
