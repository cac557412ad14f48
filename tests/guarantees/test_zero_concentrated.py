"""Zero-concentrated costs as (epsilon, delta): never below the exact loss, never above the simple bound."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import synthetic as oracles

from discreet.core.errors import ParameterError
from discreet.core.release import Evidence, Release
from discreet.core.schema import Schema, quasi
from discreet.guarantees import DifferentialPrivacy
from discreet.guarantees.answers import COSTS, SpentBudget, epsilon_of, rho_of

RHOS = st.floats(1e-6, 50)
DELTAS = st.floats(1e-12, 0.1)


@given(rho=RHOS, delta=DELTAS)
def test_the_conversion_lies_between_the_exact_loss_and_the_simple_bound(rho: float, delta: float) -> None:
    epsilon = epsilon_of(rho, delta)
    assert epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / delta)) + 1e-9
    if epsilon < 600:
        assert oracles.gaussian_delta(rho, epsilon) <= delta * (1 + 1e-6) + 1e-15


@given(epsilon=st.floats(1e-3, 100), delta=DELTAS)
def test_the_budget_of_an_epsilon_is_the_largest_that_keeps_it(epsilon: float, delta: float) -> None:
    rho = rho_of(epsilon, delta)
    assert epsilon_of(rho, delta) <= epsilon
    assert epsilon_of(rho * 1.0001, delta) > epsilon * 0.99


def test_figures_of_the_formula_by_hand() -> None:
    """At rho = 0.1 and delta = 1e-6 the least is near the order 11.5, found on a fine grid of orders."""
    by_hand = min(
        a * 0.1 + math.log((a - 1) / a) - (math.log(1e-6) + math.log(a)) / (a - 1)
        for a in (1 + n / 1000 for n in range(1, 60_000))
    )
    assert epsilon_of(0.1, 1e-6) == pytest.approx(by_hand, rel=1e-4)
    assert epsilon_of(0.0, 1e-6) == 0
    assert epsilon_of(0.1, 0.0) == math.inf


def synthetic(costs: list[float]) -> Release:
    return Release(
        data=None, kind="synthetic-data", schema=Schema({"a": quasi()}), guarantee=DifferentialPrivacy(1, 1e-6),
        evidence=Evidence(1, details={COSTS: costs}), recipe={},
    )  # fmt: skip


def test_a_release_is_judged_by_what_its_measurements_cost() -> None:
    rho = rho_of(1, 1e-6) * (1 - 1e-9)
    kept = synthetic([rho / 4] * 4).verdict
    assert kept.ok
    assert kept.basis.value == "by construction"
    assert kept.worst == pytest.approx(1, rel=1e-9)
    assert not synthetic([rho / 4] * 5).verdict.ok
    assert not DifferentialPrivacy(1).check(synthetic([rho / 4])).ok
    assert SpentBudget([], 1e-6).privacy_loss() == (0.0, 0.0)


def test_a_table_without_evidence_is_refused() -> None:
    release = Release(
        data=None, kind="table", schema=Schema({"a": quasi()}), guarantee=DifferentialPrivacy(1, 1e-6),
        evidence=Evidence(1), recipe={},
    )  # fmt: skip
    with pytest.raises(ParameterError, match="synthetic tables"):
        DifferentialPrivacy(1, 1e-6).check(release)
