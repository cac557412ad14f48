"""Population uniques against populations that are known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Table, person, quasi
from discreet.core.errors import ParameterError
from discreet.measure import population_uniques


def table_of(values: object) -> Table:
    return Table(pa.table({"key": values}), {"key": quasi()})


def zipf(size: int, exponent: float, seed: int) -> np.ndarray:
    """People whose values are frequent and rare, as names and places are."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, size + 1) ** exponent
    return rng.choice(size, size, p=shares / shares.sum())


def n_uniques(values: np.ndarray) -> int:
    return int((np.unique(values, return_counts=True)[1] == 1).sum())


@pytest.mark.parametrize(("exponent", "share"), [(0.8, 0.05), (0.8, 0.1), (1.0, 0.02), (1.2, 0.1)])
def test_small_samples_of_a_known_population(exponent: float, share: float) -> None:
    population = zipf(40_000, exponent, seed=1)
    sample = np.random.default_rng(2).choice(population, int(share * population.size), replace=False)
    estimate = population_uniques(table_of(sample), population.size)
    assert estimate.model == "pitman"
    # The shares of a Zipf law are not Pitman's, so that only the order of magnitude is met.
    assert 0.5 <= estimate.dankar / n_uniques(population) <= 2


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_large_samples_of_a_known_population(share: float) -> None:
    population = zipf(20_000, 0.9, seed=3)
    sample = np.random.default_rng(4).choice(population, int(share * population.size), replace=False)
    estimate = population_uniques(table_of(sample), population.size)
    assert estimate.model in ("snb", "zayatz")
    assert estimate.dankar == pytest.approx(n_uniques(population), rel=0.35)


def test_shifted_negative_binomial_finds_its_own_population() -> None:
    rng = np.random.default_rng(5)
    sizes = 1 + rng.negative_binomial(0.8, 0.2, 30_000)
    population = np.repeat(np.arange(sizes.size), sizes)
    sample = rng.choice(population, population.size // 2, replace=False)
    estimate = population_uniques(table_of(sample), population.size)
    assert estimate.snb == pytest.approx(n_uniques(population), rel=0.1)


def test_pitman_finds_its_own_population() -> None:
    """A partition drawn by Ewens' and Pitman's rule, customer by customer."""
    theta, alpha, size = 50.0, 0.4, 20_000
    rng = np.random.default_rng(6)
    sizes: list[int] = []
    draws = rng.random(size)
    owner = np.zeros(size, np.int64)
    for number in range(size):
        if draws[number] * (number + theta) < theta + alpha * len(sizes):
            owner[number] = len(sizes)
            sizes.append(1)
        else:
            weights = np.array(sizes) - alpha
            owner[number] = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum()))
            sizes[owner[number]] += 1
    sample = rng.choice(owner, 1_000, replace=False)
    assert population_uniques(table_of(sample), size).pitman == pytest.approx(n_uniques(owner), rel=0.2)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=30), st.integers(1, 50))
def test_any_sample_has_an_estimate(values: list[int], factor: int) -> None:
    estimate = population_uniques(table_of(values), len(values) * factor)
    assert 0 <= estimate.dankar <= estimate.population_size * (1 + 1e-9)
    if factor == 1 or estimate.sample_uniques == 0:
        assert estimate.dankar == estimate.sample_uniques
    for model in (estimate.pitman, estimate.snb):
        assert model is None or np.isfinite(model)


def test_all_rows_unique_means_all_people() -> None:
    estimate = population_uniques(table_of(list(range(50))), 5_000)
    assert (estimate.pitman, estimate.model, estimate.dankar) == (None, "zayatz", pytest.approx(5_000))


def test_people_are_counted() -> None:
    frame = pa.table({"who": [1, 1, 2, 3], "key": [1, 1, 2, 2]})
    assert population_uniques(Table(frame, {"who": person(), "key": quasi()}), 3).sample_uniques == 1


@pytest.mark.parametrize("size", [0, 3, 2.5, None])
def test_too_small_a_population_is_refused(size: object) -> None:
    with pytest.raises(ParameterError, match="The 'population_size' parameter of population_uniques must be"):
        population_uniques(table_of([1, 2, 3, 4]), size)  # type: ignore[arg-type]
