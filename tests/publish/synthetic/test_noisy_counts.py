"""Noise and private choices: their scale, what they cost, and how far one row moves what they are about."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import synthetic as oracles

from discreet.core.errors import InternalError
from discreet.publish.synthetic.junction_tree import JunctionTree
from discreet.publish.synthetic.marginal_model import MarginalModel
from discreet.publish.synthetic.noisy_counts import Budget
from discreet.publish.synthetic.synthesizer import ExactCounts


@pytest.mark.parametrize("sigma", [0.7, 3.0, 40.0])
def test_noise_has_its_scale_and_its_cost(sigma: float) -> None:
    budget = Budget(10.0)
    noise = budget.count(np.full(40_000, 5), sigma) - 5
    assert (noise == np.rint(noise)).all()
    assert abs(noise.mean()) < 5 * sigma / 200
    assert noise.var() == pytest.approx(sigma**2, rel=0.05)
    # One record that differs moves two cells by one: the cost is 2 / (2 sigma^2).
    assert budget.costs == [pytest.approx(1 / sigma**2, rel=1e-6)]
    assert budget.costs[0] >= 1 / sigma**2


def test_a_sum_of_costs_is_what_a_third_each_buys() -> None:
    budget = Budget(0.3)
    sigma = budget.sigma_of(0.1 / 4)
    assert sigma == pytest.approx(math.sqrt(4 / 0.1), rel=1e-6)
    for _ in range(4):
        budget.count(np.zeros(3, np.int64), sigma)
    assert budget.left == pytest.approx(0.2, rel=1e-6)


def test_more_than_is_left_is_never_spent() -> None:
    budget = Budget(0.1)
    with pytest.raises(InternalError, match="privacy budget"):
        budget.count(np.zeros(3, np.int64), 1.0)
    assert budget.costs == []
    with pytest.raises(InternalError, match="privacy budget"):
        budget.choose([1.0, 2.0], 0.2)
    assert budget.costs == []


def test_choices_follow_the_exponential_mechanism() -> None:
    """Of two scores that are g apart and move by 2, the better has the odds exp(epsilon g / (2 * 2))."""
    rho, gap, n = 0.5, 2.0, 2_000
    epsilon = math.sqrt(8 * rho)
    budget = Budget(rho * n * 1.01)
    share = sum(budget.choose([0.0, gap], rho) for _ in range(n)) / n
    likely = 1 / (1 + math.exp(-epsilon * gap / 4))
    assert abs(share - likely) < 5 * math.sqrt(likely * (1 - likely) / n) + 0.02
    assert budget.costs[0] == pytest.approx(rho, rel=1e-6)
    assert max(budget.costs) <= rho


def test_with_a_large_budget_the_best_is_chosen() -> None:
    assert Budget(1e7).choose([3.0, 50.0, 49.0, -7.0], 1e6) == 1


@given(seed=st.integers(0, 10**6), n_rows=st.integers(1, 30))
def test_one_row_moves_counts_and_scores_no_farther_than_is_charged(seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 4, 3))
    rows = np.stack([rng.integers(0, n, n_rows) for n in shape], axis=1)
    neighbor = rows.copy()
    neighbor[rng.integers(n_rows)] = [rng.integers(n) for n in shape]
    model = MarginalModel(shape, n_rows, JunctionTree.of([(0, 1), (2,)], shape))
    model.potentials = [rng.normal(size=each.shape) for each in model.potentials]
    for n in (1, 2, 3):
        for columns in combinations(range(3), n):
            first, second = ExactCounts(rows, shape), ExactCounts(neighbor, shape)
            np.testing.assert_array_equal(first.of(columns), oracles.counted(rows, shape, columns))
            assert np.linalg.norm(first.of(columns) - second.of(columns)) <= math.sqrt(2)
            assert abs(first.distance(columns, model) - second.distance(columns, model)) <= 2 + 1e-9
