"""Attacks on noise: they strip what theory says from correlated columns, nothing from independent ones or from
noise shaped like the data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.collect import CorrelatedNoise
from discreet.core.errors import DiscreetError, InputError
from discreet.measure import pca_attack, spectral_attack

N, WIDTH, HIDDEN = 5_000, 20, 3


def correlated(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (
        rng.normal(0, 3, (N, HIDDEN)) @ rng.normal(size=(HIDDEN, WIDTH))
        + rng.normal(0, 0.05, (N, WIDTH))
        + 40
    )


def independent_noise(true: np.ndarray, sd: float = 2.0) -> np.ndarray:
    return true + np.random.default_rng(7).normal(0, sd, true.shape)


@pytest.mark.parametrize("method", ["spectral", "components", "bayes"])
def test_independent_noise_on_correlated_columns_is_stripped_but_for_the_datas_directions(
    method: str,
) -> None:
    """Of 20 directions the data fill 3, and only the noise in those stays: 85 in a hundred go, give or take one."""
    true = correlated()
    seen = independent_noise(true)
    attack = (
        spectral_attack(seen, noise=4.0, truth=true)
        if method == "spectral"
        else pca_attack(seen, noise=4.0, truth=true, method=method)
    )
    assert attack.components == HIDDEN
    assert abs(attack.stripped - (1 - HIDDEN / WIDTH)) < 0.02
    assert attack.stripped_by_column.shape == (WIDTH,)


@pytest.mark.parametrize("method", ["spectral", "components", "bayes"])
def test_noise_shaped_like_the_data_resists(method: str) -> None:
    true = correlated()
    shape = np.cov(true.T)
    channel = CorrelatedNoise.like(shape, ratio=4.0 / np.diag(shape).mean())
    seen = channel.perturb(true, random_state=1)
    if method == "spectral":
        attack = spectral_attack(seen, noise=channel.covariance, truth=true)
    else:
        attack = pca_attack(seen, noise=channel.covariance, truth=true, method=method)
    ratio = 4.0 / np.diag(shape).mean()
    alone = ratio / (1 + ratio)
    assert attack.stripped < alone + 0.03


def test_independent_columns_reveal_nothing_beyond_their_spread() -> None:
    rng = np.random.default_rng(3)
    true = rng.normal(0, 5, (N, WIDTH))
    seen = independent_noise(true)
    assert abs(spectral_attack(seen, noise=4.0, truth=true).stripped) < 0.01
    bayes = pca_attack(seen, noise=4.0, truth=true, method="bayes")
    assert abs(bayes.stripped - 4 / (25 + 4)) < 0.02


def test_noise_of_several_variances_is_whitened_first() -> None:
    true = correlated(1)
    sds = np.linspace(0.5, 4, WIDTH)
    seen = true + np.random.default_rng(8).normal(0, 1, true.shape) * sds
    attack = spectral_attack(seen, noise=sds**2, truth=true)
    assert attack.components == HIDDEN
    assert attack.stripped > 0.75


def test_a_direction_without_data_does_not_blow_a_guess_up() -> None:
    """Few rows: the noisy covariance less the noise's is below 0 in some direction, which is kept when asked for."""
    for seed in range(60):
        seen = np.random.default_rng(seed).normal(0, 1, (4, 3))
        found = pca_attack(seen, noise=1.0, method="bayes", components=3).estimate
        away, guessed = seen - seen.mean(axis=0), found - seen.mean(axis=0)
        assert np.linalg.norm(guessed) <= np.linalg.norm(away) * (1 + 1e-9)


def test_pure_noise_is_seen_as_such() -> None:
    seen = np.random.default_rng(9).normal(0, 2, (N, WIDTH))
    attack = spectral_attack(seen, noise=4.0, truth=np.zeros_like(seen))
    assert attack.components <= 1
    assert attack.stripped > 0.9


def test_without_the_truth_there_is_a_guess_but_no_judgment() -> None:
    attack = spectral_attack(independent_noise(correlated()), noise=4.0)
    assert attack.estimate.shape == (N, WIDTH)
    with pytest.raises(InputError, match="truth"):
        _ = attack.stripped
    assert "stripped" not in repr(attack)


@pytest.mark.parametrize(
    "call",
    [
        lambda: spectral_attack(np.zeros((5, 1)), noise=1.0),
        lambda: spectral_attack(np.zeros((3, 4)), noise=1.0),
        lambda: spectral_attack(np.full((9, 2), math.nan), noise=1.0),
        lambda: spectral_attack(np.zeros((9, 2)), noise=0.0),
        lambda: spectral_attack(np.zeros((9, 2)), noise=[1.0, 2.0, 3.0]),
        lambda: spectral_attack(np.zeros((9, 2)), noise="x"),
        lambda: spectral_attack(np.ones((9, 2)), noise=1.0, truth=np.ones((9, 2))),
        lambda: spectral_attack(np.zeros((9, 2)), noise=1.0, truth=np.zeros((8, 2))),
        lambda: pca_attack(np.zeros((9, 2)), noise=1.0, method="magic"),
        lambda: pca_attack(np.zeros((9, 2)), noise=1.0, components=3),
        lambda: pca_attack(np.zeros((9, 2)), noise=[[1.0, 2.0], [2.0, 1.0]]),
    ],
)
def test_mistakes_are_refused(call) -> None:
    with pytest.raises(DiscreetError):
        call()
