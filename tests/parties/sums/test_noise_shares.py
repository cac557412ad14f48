"""Shares of noise: exact distributions, whole noise from as many shares as must be honest, and ε-private sums."""

from __future__ import annotations

import math
import os
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import nbinom
from tests.parties.inspector import assert_absent, view_bytes
from tests.parties.mining.models.pooled import checked

from discreet.core.errors import InputError, InternalError, ParameterError
from discreet.parties import simulate
from discreet.parties.mining import (
    HorizontalKMeans,
    HorizontalNaiveBayes,
    HorizontalRidge,
    HorizontalStatistics,
    HorizontalTree,
)
from discreet.parties.mining.models import horizontal
from discreet.parties.sums import noise_shares as drawing
from discreet.parties.sums.noise_shares import noise_shares


def _chi_square(drawn: Any, chance: Any, values: range) -> float:
    """The statistic per degree of freedom; values beyond the range count together."""
    n, counts = len(drawn), Counter(np.asarray(drawn).tolist())
    expected = [n * chance(value) for value in values]
    found = [counts.get(value, 0) for value in values]
    rest = n - sum(expected)
    pairs = [*zip(found, expected, strict=True), (n - sum(found), rest)]
    return sum((one - other) ** 2 / other for one, other in pairs if other > 0.5) / len(pairs)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3, 2), Fraction(5)])
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_as_many_shares_as_must_be_honest_add_up_to_the_discrete_laplace(scale: Fraction, parts: int) -> None:
    drawn = sum(
        noise_shares(4000, scale=scale, min_honest=parts, random_bytes=os.urandom) for _ in range(parts)
    )
    ratio = math.exp(-1 / scale)
    assert _chi_square(drawn, lambda x: (1 - ratio) / (1 + ratio) * ratio ** abs(x), range(-12, 13)) < 2.5


@pytest.mark.parametrize("parts", [2, 5])
def test_one_share_is_a_negative_binomial_of_that_order(parts: int) -> None:
    coins = drawing._Coins(os.urandom)
    drawn = [drawing._polya(coins, Fraction(4), parts) for _ in range(5000)]
    ratio = math.exp(-1 / 4)
    assert _chi_square(drawn, lambda x: nbinom.pmf(x, 1 / parts, 1 - ratio), range(12)) < 2.5


def test_large_scales_are_drawn_whole() -> None:
    """Scales beyond 64 bits need integers without limit; the urn needs many words."""
    huge = noise_shares(50, scale=Fraction(10**9), min_honest=1, random_bytes=os.urandom)
    assert 10**8 < np.abs(huge).mean() < 10**10
    wide = sum(
        noise_shares(60, scale=Fraction(10**5), min_honest=3, random_bytes=os.urandom) for _ in range(3)
    )
    assert 4 * 10**4 < np.abs(wide).mean() < 2.5 * 10**5


def test_uniform_integers_are_uniform() -> None:
    coins = drawing._Coins(os.urandom)
    assert _chi_square([coins.below(5) for _ in range(5000)], lambda _: 0.2, range(5)) < 4
    assert coins.below(1) == 0


XY = ("x", "y")
ROWS = {
    name: {"x": np.linspace(0, 10, 200), "y": np.linspace(10, 0, 200), "c": (np.arange(200) > 99).astype(int)}
    for name in ("p0", "p1", "p2")
}
RANGES = {"x": (0, 10), "y": (0, 10)}


def _protocols(epsilon: float, min_honest: int) -> list[Any]:
    shared: dict[str, Any] = {"epsilon": epsilon, "min_honest": min_honest}
    return [
        HorizontalKMeans(columns=XY, k=2, init="ranges", ranges=RANGES, max_rounds=4, **shared),
        HorizontalNaiveBayes(columns=XY, target="c", classes=(0, 1), ranges=RANGES, **shared),
        HorizontalTree(columns=XY, target="c", classes=(0, 1), ranges=RANGES, bins=8, max_depth=2, **shared),
        HorizontalRidge(columns=("x",), target="y", ranges=RANGES, **shared),
        HorizontalStatistics(columns=XY, ranges=RANGES, bins=4, **shared),
    ]


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("min_honest", [1, 2])
def test_a_large_epsilon_gives_nearly_the_exact_model(number: int, min_honest: int) -> None:
    protocol = _protocols(10_000.0, min_honest)[number]
    found = checked(protocol, ROWS).outputs["p1"].model
    if isinstance(protocol, HorizontalKMeans):
        assert ((found.cluster_centers_ >= 0) & (found.cluster_centers_ <= 10)).all()
    elif isinstance(protocol, HorizontalNaiveBayes):
        exact = (
            simulate(HorizontalNaiveBayes(columns=XY, target="c", classes=(0, 1)), ROWS).outputs["p0"].model
        )
        assert np.allclose(found.theta_, exact.theta_, atol=0.05)
        assert np.allclose(found.var_, exact.var_, atol=0.1)
    elif isinstance(protocol, HorizontalTree):
        assert found.tree_.counts[0].tolist() == [300, 300]
    elif isinstance(protocol, HorizontalRidge):
        assert np.allclose(found.coef_, [-1], atol=0.01)
    else:
        assert np.allclose(found.mean, [5, 5], atol=0.05)
        assert found.covariance[0, 1] == pytest.approx(-found.covariance[0, 0], rel=0.02)


@pytest.mark.parametrize("number", range(5))
def test_a_small_epsilon_still_gives_a_model(number: int) -> None:
    run = checked(_protocols(0.5, 2)[number], ROWS)
    assert run.outputs["p0"].parties == ("p0", "p1", "p2")


def test_counts_have_noise_of_the_declared_scale() -> None:
    """A histogram of one column has a sensitivity of one, and half of ε."""
    protocol = HorizontalStatistics(columns=("x",), ranges={"x": (0, 10)}, bins=200, epsilon=1.0)
    rows = {name: {"x": np.repeat(np.linspace(0.025, 9.975, 200), 40)} for name in ("a", "b")}
    rows["c"] = {"x": np.zeros(0)}
    counts = simulate(protocol, rows).outputs["a"].model.histograms["x"][1]
    ratio = math.exp(-0.5)
    assert np.std(counts - 80) == pytest.approx(math.sqrt(3 * 2 * ratio / (1 - ratio) ** 2), rel=0.35)


def test_what_a_row_changes_never_exceeds_the_declared_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise, the values of each sum with one row more differ by no more than its sensitivity, in units."""
    seen: list[tuple[list[int], int]] = []

    def record(self: Any, own: Any, unit: int, share: Any, sensitivity: int, touched: int) -> Any:
        rounded = [(2 * value + unit) // (2 * unit) for value in own]
        steps = sensitivity if unit == 1 else sensitivity // unit + 1 + touched
        seen.append((rounded, steps))
        return [0] * len(own)

    monkeypatch.setattr(horizontal.Totals, "_noisy", record)
    rng = np.random.default_rng(0)
    for protocol in _protocols(1.0, 1):
        for extreme in (0.0, 10.0, 99.0, 3.3):
            rows = {"x": rng.uniform(0, 10, 9), "y": rng.uniform(0, 10, 9), "c": rng.integers(0, 2, 9)}
            more = {name: np.append(column, 1 if name == "c" else extreme) for name, column in rows.items()}
            empty = {name: column[:0] for name, column in rows.items()}
            both = []
            for own in (rows, more):
                seen.clear()
                with suppress(InputError):  # zeros everywhere leave nothing to learn from
                    simulate(protocol, {"a": own, "b": empty, "c": empty}, coins=b"same")
                both.append([one for one in seen if any(one[0])])
            for (less, steps), (much, _) in zip(*both, strict=False):
                assert sum(abs(a - b) for a, b in zip(less, much, strict=True)) <= steps


def test_the_shares_of_epsilon_add_up_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []
    exact = horizontal.Totals._noisy

    def count(self: Any, own: Any, unit: int, share: Any, sensitivity: int, touched: int) -> Any:
        if self._party.index == 0:
            spent.append(share)
        return exact(self, own, unit, share, sensitivity, touched)

    monkeypatch.setattr(horizontal.Totals, "_noisy", count)
    for protocol in _protocols(5.0, 1):
        spent.clear()
        simulate(protocol, ROWS)
        assert sum(spent) <= 1
        assert sum(spent) == 1 or isinstance(protocol, HorizontalTree)


def test_exact_sums_never_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    n_rows = 40_147  # far more than the noise, so that every run has an answer
    rows = {"a": {"x": np.full(7, 3.0)}, "b": {"x": np.full(n_rows, 3.0)}, "c": {"x": np.zeros(0)}}
    protocol = HorizontalStatistics(columns=("x",), ranges={"x": (0, 4)}, bins=4, epsilon=0.1)
    exact: set[int] = set()
    noisy = horizontal.Totals._noisy

    def watch(self: Any, own: Any, *args: Any) -> Any:
        exact.update(int(value) for value in own)
        return noisy(self, own, *args)

    monkeypatch.setattr(horizontal.Totals, "_noisy", watch)
    runs = [simulate(protocol, rows) for _ in range(5)]
    telling = [value for value in exact if value >= 2**24]  # shorter ones occur among random bytes by chance
    assert telling
    for run in runs:
        for value in telling:
            assert_absent(value, view_bytes(run.transcript.frames))
    # The noise may be 0 once, but not five times.
    assert {run.outputs["a"].model.n for run in runs} != {7 + n_rows}


def test_a_sum_without_noise_is_refused_where_epsilon_is_set() -> None:
    class Careless(HorizontalStatistics):
        def run(self, party: Any, data: Any) -> Any:
            return horizontal.Totals(party, self).add([1])

    with pytest.raises(InternalError):
        careless = Careless(columns=("x",), ranges={"x": (0, 1)}, epsilon=1.0)
        simulate(careless, {"a": [], "b": [], "c": []}, timeout=5)
    with pytest.raises(ParameterError, match="'epsilon'"):
        HorizontalStatistics(columns=("x",), ranges={"x": (0, 1)}, epsilon=1e-9)


def test_more_honest_parties_than_there_are_is_refused() -> None:
    with pytest.raises(ParameterError, match="'min_honest'"):
        simulate(HorizontalStatistics(columns=("x",), min_honest=4), {name: {"x": [1]} for name in "abc"})
