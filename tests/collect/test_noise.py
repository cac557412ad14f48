"""Noise: areas and widths by brute force, draws by their distribution, and the ε of Laplace noise by enumeration."""

from __future__ import annotations

import math
import subprocess
import sys
import tracemalloc
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest
from tests.oracles import noise as oracles_noise

from discreet.collect import (
    Density,
    Gaussian,
    Laplace,
    Uniform,
    noise_for_conditional_privacy,
    noise_from_dict,
)
from discreet.collect.additive_noise import conditional_privacy
from discreet.collect.clients import noise as noise_client
from discreet.collect.secure_random import Chance
from discreet.core.errors import InfeasibleError, ParameterError

KINDS = [Uniform, Gaussian, Laplace]
FALSE_ALARM = 1e-6
"""How often a right draw fails a test; seeds are fixed but for the client's, which draws from the system."""
spreads = st.floats(1e-3, 1e3)


@pytest.mark.parametrize("kind", KINDS)
@given(spread=spreads)
@settings(max_examples=20)
def test_cdf_area_and_width_follow_from_the_density(kind, spread: float) -> None:
    noise = kind(spread)
    reach = 40 * spread
    at = np.linspace(-reach, reach, 400_001)
    step = at[1] - at[0]
    cdf = np.cumsum(noise.pdf(at)) * step
    assert np.abs(cdf - noise.cdf(at)).max() < 1e-3
    area = np.cumsum(noise.cdf(at)) * step
    assert np.abs(area - noise.area(at)).max() < 1e-3 * reach
    assert np.isclose((noise.pdf(at) * at**2).sum() * step, noise.variance, rtol=1e-3)
    half = noise.width(0.95) / 2
    assert np.isclose(noise.cdf(np.array([half]))[0] - noise.cdf(np.array([-half]))[0], 0.95)
    held = noise.pdf(at) > 0
    entropy = -(noise.pdf(at)[held] * np.log2(noise.pdf(at)[held])).sum() * step
    assert np.isclose(entropy, noise.entropy, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [1.0, 0.3, 1e-6, 7e8])
def test_draws_have_the_distribution_and_lie_on_the_grid(kind, spread: float) -> None:
    noise = kind(spread)
    drawn = noise.draw(100_000, Chance(5, owner="test"))
    steps = drawn / noise.grid
    assert np.array_equal(steps, np.rint(steps))
    assert kstest(drawn, lambda at: noise.cdf(np.asarray(at))).pvalue > FALSE_ALARM
    assert noise.spread * 2.0**-17 < noise.grid <= noise.spread * 2.0**-16
    assert abs(drawn.var() / noise.variance - 1) < 0.05


@given(st.floats(0.2, 5), st.floats(-50, 50), st.floats(0.1, 3))
@settings(max_examples=30)
def test_the_loss_of_laplace_noise_is_never_above_its_epsilon(scale: float, low: float, span: float) -> None:
    noise = Laplace(scale)
    loss = oracles_noise.laplace_loss(scale, noise.grid, low, low + span)
    assert loss <= noise.epsilon(span)
    assert loss >= noise.epsilon(span) - 2.0**-14


def test_laplace_steps_are_as_frequent_as_the_geometric_law_says() -> None:
    noise = Laplace(1.0)
    steps = (noise.draw(400_000, Chance(1, owner="test")) / noise.grid).astype(int)
    alpha = math.exp(-noise.grid / noise.scale)
    inner = (np.abs(steps) <= 20).mean()
    chance = (1 - alpha) / (1 + alpha) * (1 + 2 * sum(alpha**k for k in range(1, 21)))
    assert abs(inner - chance) < 6 * math.sqrt(chance / steps.size)
    beyond = (np.abs(steps) > 10 / noise.grid).mean()
    assert abs(beyond - math.exp(-10)) < 6 * math.sqrt(math.exp(-10) / steps.size)


@pytest.mark.parametrize("kind", KINDS)
@given(st.floats(0.01, 5), st.floats(-1e3, 1e3), st.floats(0.1, 1e4), st.floats(0.5, 0.999))
def test_noise_for_a_privacy_has_that_width(kind, privacy, low, span, confidence) -> None:
    noise = kind.for_privacy(privacy, low=low, high=low + span, confidence=confidence)
    assert np.isclose(noise.width(confidence), privacy * ((low + span) - low))


@given(st.floats(1e-3, 50), st.floats(-100, 100), st.floats(0.1, 1e4))
def test_noise_for_an_epsilon_keeps_it_and_wastes_little(epsilon: float, low: float, span: float) -> None:
    noise = Laplace.for_epsilon(epsilon, low=low, high=low + span)
    kept = noise.epsilon((low + span) - low)
    assert kept <= epsilon
    assert kept > epsilon - 4e-5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.05, 0.3, 2.0])
def test_conditional_privacy_is_what_integrating_the_posterior_gives(kind, spread: float) -> None:
    edges, shares = np.array([0.0, 0.2, 0.7, 1.0]), np.array([0.2, 0.7, 0.1])
    mine = conditional_privacy(kind(spread), Density(edges, shares))
    slow = oracles_noise.conditional_privacy(kind(spread), edges, shares)
    assert np.isclose(mine, slow, rtol=5e-3)


def test_conditional_privacy_of_narrow_noise_costs_no_memory() -> None:
    wide = Density(np.linspace(0, 1e6, 51), np.full(50, 0.02))
    assert np.isclose(conditional_privacy(Gaussian(1e-3), wide), 2 ** Gaussian(1e-3).entropy, rtol=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_chosen_by_conditional_privacy(kind) -> None:
    truth = Density(np.array([0.0, 30.0, 100.0]), np.array([0.6, 0.4]))
    noise = noise_for_conditional_privacy(kind, 40.0, truth=truth)
    assert np.isclose(conditional_privacy(noise, truth), 40.0, rtol=1e-6)
    with pytest.raises(InfeasibleError):
        noise_for_conditional_privacy(kind, 100.0, truth=truth)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [1e-150, 1e150])
def test_the_widest_and_the_narrowest_noise_have_all_their_numbers(kind, spread: float) -> None:
    noise = kind(spread)
    told = [noise.variance, noise.entropy, noise.width(), noise.grid, noise.reach]
    assert np.isfinite(told).all()
    assert noise.variance > 0
    assert np.isfinite(noise.draw(100, Chance(1, owner="test"))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_noise_for_a_conditional_privacy_has_it_up_to_where_it_is_refused(kind) -> None:
    """For Gaussian noise of width s on an even [0, 1], 1 - 2^h(X|Z) comes to 1 / (24 s^2)."""
    even = Density(np.array([0.0, 1.0]), np.array([1.0]))
    noise = noise_for_conditional_privacy(kind, 0.9998, truth=even)
    assert noise.spread < 2_000
    if kind is Gaussian:
        assert np.isclose(noise.spread, math.sqrt(1 / (24 * 0.0002)), rtol=0.01)
    with pytest.raises(InfeasibleError, match=r"use 0\.9998 or less"):
        noise_for_conditional_privacy(kind, 1 - 1e-6, truth=even)


@pytest.mark.parametrize("kind", KINDS)
def test_conditional_privacy_of_many_intervals_is_worked_out_in_little_memory(kind) -> None:
    shares = np.random.default_rng(1).dirichlet(np.ones(600))
    fine = Density(np.linspace(0, 10, 601), shares)
    tracemalloc.start()
    found = conditional_privacy(kind(1.0), fine)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250e6
    coarse = Density(np.linspace(0, 10, 61), shares.reshape(60, 10).sum(axis=1))
    assert found < conditional_privacy(kind(1.0), coarse)


@pytest.mark.parametrize("kind", KINDS)
def test_a_noise_is_read_back(kind) -> None:
    assert noise_from_dict(kind(2.5).to_dict()) == kind(2.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "wide", None, True, 1e-200, 1e200])
def test_noise_of_no_width_is_refused_by_name(kind, bad) -> None:
    with pytest.raises(ParameterError, match=kind.__name__):
        kind(bad)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Gaussian.for_privacy(0, low=0, high=1), "privacy"),
        (lambda: Gaussian.for_privacy(1, low=1, high=1), "high"),
        (lambda: Gaussian.for_privacy(1, low=math.nan, high=1), "low"),
        (lambda: Gaussian.for_privacy(1, low=0, high=1, confidence=1.0), "confidence"),
        (lambda: Laplace.for_epsilon(0, low=0, high=1), "epsilon"),
        (lambda: Laplace.for_epsilon(1, low=2, high=1), "high"),
        (lambda: Laplace(1).epsilon(-1), "span"),
        (
            lambda: noise_for_conditional_privacy("gaussian", 1.0, truth=Density([0.0, 1.0], [1.0])),  # type: ignore[arg-type]
            "kind",
        ),
        (lambda: noise_from_dict({"noise": "pink", "spread": 1}), "noise"),
        (lambda: noise_from_dict({"noise": ["gaussian"], "spread": 1}), "noise"),
        (lambda: noise_from_dict({"noise": "gaussian"}), "sd"),
    ],
)
def test_each_constraint_names_its_parameter(make, name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}'"):
        make()


def test_the_client_runs_in_a_bare_interpreter(tmp_path: Path) -> None:
    copied = tmp_path / "client.py"
    copied.write_text(Path(noise_client.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    code = (
        f"import importlib.util as u, sys\ns = u.spec_from_file_location('client', {str(copied)!r})\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\n"
        "assert abs(m.add_noise(3.0, 'uniform', 0.5) - 3) < 0.501\n"
        "assert m.report_category('a', ['a', 'b'], [[1, 0], [0, 1]]) == 'a'\n"
        "assert m.report_unary('a', ['a', 'b'], 1, 1) == {'a': True, 'b': False}\n"
        "print([name for name in sys.modules if name in ('numpy', 'pyarrow', 'discreet', 'numba', 'scipy')])"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", KINDS)
def test_the_client_draws_what_the_collector_expects(kind) -> None:
    noise = kind(2.0)
    drawn = np.array([noise_client.add_noise(10.0, noise.name, 2.0) for _ in range(20_000)]) - 10
    assert kstest(drawn, lambda at: noise.cdf(np.asarray(at))).pvalue > FALSE_ALARM
    assert np.array_equal(drawn / noise.grid, np.rint(drawn / noise.grid))


def test_the_client_moves_values_into_the_range() -> None:
    assert abs(noise_client.add_noise(1e9, "uniform", 1.0, low=0, high=5) - 5) < 1.001
    assert abs(noise_client.add_noise(-1e9, "uniform", 1.0, low=0, high=5)) < 1.001
    assert abs(noise_client.add_noise(Decimal("2.5"), "uniform", 1.0) - 2.5) < 1.001  # type: ignore[arg-type]


def test_the_client_reports_categories_as_often_as_the_matrix_says() -> None:
    matrix = [[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.3, 0.3, 0.4]]
    names = ["a", "b", "c"]
    for row, name in zip(matrix, names, strict=True):
        seen = Counter(noise_client.report_category(name, names, matrix) for _ in range(10_000))
        for chance, other in zip(row, names, strict=True):
            assert abs(seen[other] - 10_000 * chance) <= 6 * math.sqrt(10_000 * chance * (1 - chance))
    bits = [noise_client.report_unary("b", names, 0.8, 0.9) for _ in range(10_000)]
    for name, chance in (("a", 0.1), ("b", 0.8), ("c", 0.1)):
        assert abs(sum(one[name] for one in bits) - 10_000 * chance) < 6 * math.sqrt(10_000 * 0.25)


@pytest.mark.parametrize(
    "call",
    [
        lambda: noise_client.add_noise(math.nan, "uniform", 1.0),
        lambda: noise_client.add_noise(1.0, "uniform", 0.0),
        lambda: noise_client.add_noise(1.0, "pink", 1.0),
        lambda: noise_client.add_noise(1e30, "uniform", 1.0),
        lambda: noise_client.add_noise(1.0, "uniform", 1.0, low=3, high=2),
        lambda: noise_client.add_noise(1.0, "uniform", 1.0, low=math.nan),
        lambda: noise_client.report_category("a", ["a", "b"], [[math.nan, 1.0], [0, 1]]),
        lambda: noise_client.report_category("a", ["a", "b"], [[1.0, math.nan], [0, 1]]),
        lambda: noise_client.report_category("x", ["a", "b"], [[1, 0], [0, 1]]),
        lambda: noise_client.report_category("a", ["a", "b"], [[0.5, 0.1], [0, 1]]),
        lambda: noise_client.report_unary("x", ["a"], 1, 1),
        lambda: noise_client.report_unary("a", ["a", "a", "b"], 0.9, 0.9),
        lambda: noise_client.report_category("a", ["a", "a"], [[1, 0], [0, 1]]),
        lambda: noise_client.report_category("b", ["a", "b"], [[1, 0]]),
        lambda: noise_client.add_noise(10**400, "uniform", 1.0),
        lambda: noise_client.report_unary("a", ["a", "b"], 0.5, 0.5),
    ],
)
def test_the_client_refuses_mistakes(call) -> None:
    with pytest.raises(ValueError):
        call()
