"""Sums of the values of few rows determine them: so few rows are refused, and the attack shows why."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

from discreet.core.errors import InputError, ParameterError
from discreet.parties import simulate
from discreet.parties.mining import (
    HorizontalLogistic,
    HorizontalNaiveBayes,
    HorizontalRidge,
    HorizontalStatistics,
    VerticalNaiveBayes,
    VerticalRidge,
    VerticalStatistics,
)
from discreet.parties.mining.models import logistic
from discreet.parties.mining.models.model_protocol import least_rows

BINARY: dict[str, Any] = {"target": "ill", "classes": (0, 1)}


def test_two_rows_are_their_mean_and_variance() -> None:
    protocol = HorizontalNaiveBayes(columns=("income",), min_count=1, **BINARY)
    rows = {
        "a": {"income": [30_000.0] * 6, "ill": [0] * 6},
        "b": {"income": [10_118.97], "ill": [1]},
        "c": {"income": [100_756.25], "ill": [1]},
    }
    model = simulate(protocol, rows).outputs["a"].model
    middle, apart = model.theta_[1, 0], np.sqrt(model.var_[1, 0])
    assert [middle - apart, middle + apart] == pytest.approx([10_118.97, 100_756.25], abs=0.01)


@pytest.mark.parametrize("least", [2, 3])
def test_naive_bayes_of_numbers_admits_no_classes_of_two_or_three(least: int) -> None:
    ranges = {"income": (0, 1e5)}
    for make in (
        lambda: HorizontalNaiveBayes(columns=("income",), min_count=least, **BINARY),
        lambda: VerticalNaiveBayes(
            columns={"a": ("income",), "b": ()}, holder="b", ranges=ranges, min_count=least, **BINARY
        ),
    ):
        with pytest.raises(ParameterError, match="must be 1 or at least 4 for columns of numbers"):
            make()
    HorizontalNaiveBayes(columns=("x",), categories={"x": ("p", "q")}, min_count=least, **BINARY)
    noisy = {"epsilon": 1.0, "ranges": ranges}
    HorizontalNaiveBayes(columns=("income",), min_count=least, **noisy, **BINARY)


def test_three_ages_follow_from_their_sum_and_squares() -> None:
    """Nearly always: the sums have as many bits as the values."""
    known: dict[tuple[int, int], int] = {}
    for ages in combinations_with_replacement(range(40, 70), 3):
        key = sum(ages), sum(age * age for age in ages)
        known[key] = known.get(key, 0) + 1
    assert sum(n == 1 for n in known.values()) > 0.6 * len(known)
    assert least_rows(1) == 4


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_statistics_need_more_rows_than_their_sums_determine(n_columns: int) -> None:
    columns = tuple("wxyz"[:n_columns])
    rng = np.random.default_rng(0)

    def parts(n: int) -> dict[str, Any]:
        values = rng.integers(0, 90, (n, n_columns))
        return {
            name: dict(zip(columns, values[at::3].T.tolist(), strict=True)) for at, name in enumerate("abc")
        }

    needed = max(5, least_rows(n_columns))
    for protocol in (
        HorizontalStatistics(columns=columns),
        *([HorizontalRidge(columns=columns[1:], target="w")] if n_columns > 1 else []),
    ):
        with pytest.raises(InputError, match=f"fewer than {needed} rows together"):
            simulate(protocol, parts(needed - 1))
        simulate(protocol, parts(needed))


def test_products_over_columns_need_as_many_rows() -> None:
    owned = {"a": ("w", "x", "y"), "b": ("z",)}
    ranges = dict.fromkeys("wxyz", (0, 90))
    values = np.random.default_rng(1).integers(0, 90, (7, 4))
    for protocol in (
        VerticalStatistics(columns=owned, ranges=ranges),
        VerticalRidge(columns=owned, ranges=ranges, target="z"),
    ):
        for n in (6, 7):
            rows = {
                "a": dict(zip("wxy", values[:n, :3].T.tolist(), strict=True)), "b": {"z": values[:n, 3].tolist()}
            }  # fmt: skip
            if n == 6:
                with pytest.raises(InputError, match="fewer than 7 rows"):
                    simulate(protocol, rows)
            else:
                simulate(protocol, rows)


VALUES, LABELS = np.array([31.0, 42.0, 55.0, 47.0, 58.0, 63.0]), np.array([0, 0, 0, 1, 1, 1])


def _split(values: Any, labels: Any) -> dict[str, Any]:
    return {name: {"x": values[at::3], "ill": labels[at::3]} for at, name in enumerate("abc")}


def test_the_rounds_of_logistic_regression_determine_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the opened sums and the sizes of the classes alone, all values come out."""
    opened: list[tuple[Any, Any]] = []
    original = logistic._Problem._summed

    def summed(problem: Any, at: Any) -> Any:
        sums = original(problem, at)
        if problem.first:
            loss, gradient, hessian = sums
            opened.append((at.copy(), np.concatenate([[loss], gradient, hessian[np.triu_indices(2)]])))
        return sums

    monkeypatch.setattr(logistic._Problem, "_summed", summed)
    protocol = HorizontalLogistic(columns=("x",), min_count=1, **BINARY)
    assert any("can determine the values of few rows" in sentence for sentence in protocol.leaks)
    simulate(protocol, _split(VALUES, LABELS))
    first = opened[0][1]
    mean = first[4] * 4 / 6
    spread = np.sqrt((first[5] - 1) * 4 / 6 - mean**2)
    scale = np.array([1, 1, mean, 1, mean, mean**2])

    def misfit(guess: Any) -> Any:
        rows = np.column_stack([np.ones(6), mean + spread * guess])
        parts = []
        for at, sums in opened[:6]:
            scores = rows @ at
            chances = 1 / (1 + np.exp(-scores))
            weights = chances * (1 - chances)
            hessian = (rows * weights[:, None]).T @ rows + np.diag([0.0, 1.0])
            loss = np.logaddexp(0, scores).sum() - LABELS @ scores + at[1] ** 2 / 2
            gradient = (chances - LABELS) @ rows + [0, at[1]]
            parts.append((np.concatenate([[loss], gradient, hessian[np.triu_indices(2)]]) - sums) / scale)
        return np.concatenate(parts)

    rng = np.random.default_rng(0)
    tried = [
        least_squares(misfit, rng.normal(LABELS - 0.5, 1), xtol=1e-15, ftol=1e-15, gtol=1e-15)
        for _ in range(12)
    ]
    best = mean + spread * min(tried, key=lambda solution: solution.cost).x
    assert np.sort(best[:3]).round().tolist() == [31, 42, 55]
    assert np.sort(best[3:]).round().tolist() == [47, 58, 63]


def test_logistic_regression_opens_fewer_sums_than_the_rows_have_values() -> None:
    protocol = HorizontalLogistic(columns=("x",), **BINARY)
    assert any("Rounds stop before" in sentence for sentence in protocol.leaks)
    rng = np.random.default_rng(2)
    values = rng.normal(50, 15, 60).round(1)
    labels = (values + rng.normal(0, 15, 60) > 50).astype(int)
    with pytest.raises(InputError, match="59 rows together, and 60 are needed"):
        simulate(protocol, _split(values[:59], labels[:59]))
    run = simulate(protocol, _split(values, labels))
    assert run.revealed["a"]["rounds"] <= 10
