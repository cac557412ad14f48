"""What follows from opened counts and sums by subtracting one's own rows, other runs or other columns is declared."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.parties import SecureSum, simulate
from discreet.parties.mining import (
    AnonymizeTogether,
    AssociationRules,
    HorizontalKMeans,
    HorizontalLogistic,
    HorizontalNaiveBayes,
    HorizontalQuantiles,
    HorizontalRidge,
    HorizontalStatistics,
    HorizontalTree,
    VerticalKMeans,
    VerticalNaiveBayes,
    VerticalRidge,
    VerticalRules,
    VerticalStatistics,
    VerticalTree,
)

CLASSES: dict[str, Any] = {"target": "t", "classes": ("no", "yes")}
LETTERS = {"x": ("p", "q"), "z": ("p", "q")}
RANGES = {"x": (0, 8), "z": (0, 8)}
APART = {"a": ("x",), "b": ("z",)}
ROWS_SPLIT = [
    HorizontalStatistics(columns=("x", "z"), ranges=RANGES),
    HorizontalRidge(columns=("x",), target="z"),
    HorizontalLogistic(columns=("x",), **CLASSES),
    HorizontalKMeans(columns=("x",), k=2),
    HorizontalNaiveBayes(columns=("x", "z"), **CLASSES),
    HorizontalNaiveBayes(columns=("x", "z"), categories=LETTERS, **CLASSES),
    HorizontalTree(columns=("x", "z"), ranges=RANGES, **CLASSES),
    HorizontalQuantiles(columns=("x",), ranges={"x": (0, 8)}),
    AssociationRules(5, items=("p", "q")),
    AnonymizeTogether(k=3, domain={"x": range(8)}),
    SecureSum(length=2),
]
COLUMNS_SPLIT = [
    VerticalStatistics(columns=APART, ranges=RANGES),
    VerticalRidge(columns=APART, ranges=RANGES, target="z"),
    VerticalNaiveBayes(columns=APART, ranges=RANGES, holder="a", **CLASSES),
    VerticalNaiveBayes(columns=APART, categories=LETTERS, holder="a", **CLASSES),
    VerticalTree(columns=APART, ranges=RANGES, holder="a", **CLASSES),
    VerticalKMeans(columns=APART, ranges=RANGES, k=2),
    VerticalRules({"a": ["x"], "b": ["z"]}, key="id", max_people=9, min_support=5),
]


@pytest.mark.parametrize("protocol", [*ROWS_SPLIT, *COLUMNS_SPLIT], ids=lambda protocol: protocol.name)
def test_several_runs_are_declared(protocol: Any) -> None:
    assert any("several runs" in sentence and "subtract" in sentence for sentence in protocol.leaks)
    assert len(set(protocol.leaks)) == len(protocol.leaks)


@pytest.mark.parametrize("protocol", ROWS_SPLIT, ids=lambda protocol: protocol.name)
def test_what_is_left_without_the_own_rows_is_declared(protocol: Any) -> None:
    assert any("subtract its own" in sentence for sentence in protocol.leaks)


def test_several_private_runs_add_up() -> None:
    private = HorizontalStatistics(columns=("x",), ranges={"x": (0, 8)}, epsilon=1.0)
    assert any("several runs" in sentence and "sum of their ε" in sentence for sentence in private.leaks)
    assert not any("fewer than" in sentence for sentence in private.leaks)


def ages(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    drawn = {name: np.round(rng.gamma(2, 12, 40).clip(0, 99)) for name in "abc"}
    return {name: {"age": age, "born": 2026 - age} for name, age in drawn.items()}


def counts_up_to(model: Any) -> dict[int, int]:
    """The rows below each age, from the histograms of both columns."""
    known = {}
    for name, (edges, counts) in model.histograms.items():
        cuts, sizes = (edges, counts) if name == "age" else (2026 - edges[::-1], counts[::-1])
        for cut, total in zip(cuts[1:-1], np.cumsum(sizes), strict=False):
            known[int(np.ceil(cut)) if name == "age" else int(np.floor(cut)) + 1] = int(total)
    return known


def test_columns_that_follow_from_each_other_are_declared_and_have_a_caution() -> None:
    """In one run: both histograms have no small count, but their difference has."""
    protocol = HorizontalStatistics(
        columns=("age", "born"), ranges={"age": (0, 100), "born": (1920, 2027)}, bins=8
    )
    small = 0
    for seed in range(4):
        rows = ages(seed)
        run = simulate(protocol, rows)
        known = sorted(counts_up_to(run.outputs["c"].model).items())
        pooled = np.concatenate([part["age"] for part in rows.values()])
        for (low, before), (high, after) in pairwise(known):
            assert after - before == ((pooled >= low) & (pooled < high)).sum()
            small += 0 < after - before < 5
        assert any("'age' and 'born'" in caution for caution in run.cautions["b"])
    assert small
    assert any("year of birth" in sentence for sentence in protocol.leaks)


@pytest.mark.parametrize("protocol", [*ROWS_SPLIT, *COLUMNS_SPLIT], ids=lambda protocol: protocol.name)
def test_only_protocols_that_join_places_of_several_columns_declare_it(protocol: Any) -> None:
    joins = (
        "tree" in protocol.name or protocol.name == "statistics" or bool(getattr(protocol, "categories", 0))
    )
    assert any("year of birth" in sentence for sentence in protocol.leaks) == joins


def test_columns_that_do_not_follow_from_each_other_have_no_caution() -> None:
    rng = np.random.default_rng(0)
    rows = {name: {"x": rng.uniform(0, 8, 40), "z": rng.uniform(0, 8, 40)} for name in "abc"}
    run = simulate(HorizontalStatistics(columns=("x", "z"), ranges=RANGES, bins=4), rows)
    assert not any("nearly alike" in caution for caution in run.cautions["a"])


def subset_sums(values: Any) -> Any:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


N_FEW = 14


def test_a_party_finds_the_class_of_every_row_as_declared() -> None:
    """From one column of its own: which of its rows add up to the mean and the variance of a class."""
    rng = np.random.default_rng(1)
    incomes, labels = rng.integers(20_000, 90_000, N_FEW), np.repeat(["yes", "no"], [6, N_FEW - 6])
    described: dict[str, Any] = {"columns": {"a": (), "b": ("income",)}, "ranges": {"income": (0, 100_000)}}
    protocol = VerticalNaiveBayes(holder="a", **described, **CLASSES)
    run = simulate(protocol, {"a": {"t": labels}, "b": {"income": incomes}})
    model = run.outputs["b"].model
    sizes, sums, squares = (subset_sums(v) for v in (np.ones(N_FEW), incomes, incomes.astype(float) ** 2))
    fits = (sizes == model.class_count_[1]) & (np.abs(sums / np.maximum(sizes, 1) - model.theta_[1, 0]) < 0.1)
    fits &= np.abs(squares / np.maximum(sizes, 1) - model.theta_[1, 0] ** 2 - model.var_[1, 0]) < 2e4
    [subset] = np.flatnonzero(fits)
    assert [bool(subset >> at & 1) for at in range(N_FEW)] == (labels == "yes").tolist()
    assert any("find the class of every row" in sentence for sentence in protocol.leaks)
    for name in "ab":
        assert any("'b' can be enough" in caution for caution in run.cautions[name])


@pytest.mark.parametrize("kind", [VerticalStatistics, VerticalRidge])
def test_a_party_finds_zeros_and_ones_with_few_columns_as_declared(kind: Any) -> None:
    rng = np.random.default_rng(2)
    ill = rng.permutation(np.repeat([1, 0], [6, N_FEW - 6]))
    owned = {"income": rng.integers(20_000, 90_000, N_FEW), "account": rng.integers(0, 90_000, N_FEW)}
    ranges = {"ill": (0, 1), "income": (0, 100_000), "account": (0, 100_000)}
    more = {"target": "ill"} if kind is VerticalRidge else {}
    protocol = kind(columns={"a": ("ill",), "b": tuple(owned)}, ranges=ranges, **more)
    run = simulate(protocol, {"a": {"ill": ill}, "b": owned})
    if kind is VerticalStatistics:
        model = run.outputs["b"].model
        n_ill, fits = round(model.mean[0] * N_FEW), True
        for at, values in enumerate(owned.values(), start=1):
            total = model.covariance[0, at] * (N_FEW - 1) + n_ill * model.mean[at]
            fits &= np.abs(subset_sums(values) - total) < 1
        [subset] = np.flatnonzero(fits & (subset_sums(np.ones(N_FEW)) == n_ill))
        assert [subset >> at & 1 for at in range(N_FEW)] == ill.tolist()
    assert any("few sets of rows add up" in sentence for sentence in protocol.leaks)
    assert any("value of every row in 'ill'" in caution for caution in run.cautions["a"])


def test_many_rows_have_no_caution_of_subsets() -> None:
    rng = np.random.default_rng(3)
    x, z = rng.integers(0, 8, (2, 300))
    bayes = VerticalNaiveBayes(columns={"a": (), "b": ("z",)}, ranges={"z": (0, 8)}, holder="a", **CLASSES)
    run = simulate(bayes, {"a": {"t": np.where(x > 3, "yes", "no")}, "b": {"z": z}})
    assert not any("enough" in caution for caution in run.cautions["b"])
    run = simulate(VerticalStatistics(columns=APART, ranges=RANGES), {"a": {"x": x}, "b": {"z": z}})
    assert not any("enough" in caution for caution in run.cautions["a"])


def test_the_class_of_rows_with_a_category_of_one_class_is_declared() -> None:
    protocol = VerticalNaiveBayes(columns=APART, categories=LETTERS, holder="a", **CLASSES)
    assert any("all in one class" in sentence for sentence in protocol.leaks)
    with pytest.raises(ParameterError):
        VerticalNaiveBayes(columns=APART, categories={"x": ("p", "q")}, holder="a", **CLASSES)
