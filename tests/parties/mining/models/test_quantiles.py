"""Quantiles between parties equal the definition on the pooled rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.oracles.coarse_tables import quantile_ranks
from tests.parties.mining.models.pooled import checked
from tests.parties.open_protocols import (
    HorizontalQuantiles,
)
from tests.parties.splits import by_party, n_of, split_rows

from discreet.parties import mining, simulate


@settings(max_examples=8)
@given(split_rows(max_rows=25))
def test_quantiles_equal_the_definition(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    values = rng.integers(-3, 19, n)
    q = (0.0, 0.1, 0.5, 1.0)
    protocol = HorizontalQuantiles(columns=("x",), q=q, ranges={"x": (0, 15)}, bits=4)
    run = checked(protocol, by_party({"x": values}, parts))
    ordered = np.sort(np.clip(values, 0, 15))
    expected = [float(ordered[max(1, int(np.ceil(round(one * n, 9)))) - 1]) for one in q]
    for output in run.outputs.values():
        assert output.model["x"].tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_no_cell_between_two_quantiles_has_few_rows(seed: int) -> None:
    """With a share for each row, quantiles would be the rows themselves, but for those at the ends."""
    rng = np.random.default_rng(seed)
    values = rng.choice(60_000, 30, replace=False)
    q = tuple(round((at + 0.5) / 30, 4) for at in range(30))
    protocol = mining.HorizontalQuantiles(columns=("x",), q=q, ranges={"x": (0, 65_535)})
    run = checked(protocol, {name: {"x": values[at::3]} for at, name in enumerate("abc")})
    opened = np.unique(run.outputs["a"].model["x"])
    assert opened.size > 1
    edges = [-np.inf, *opened, np.inf]
    for low, high in pairwise(edges):
        assert ((values > low) & (values <= high)).sum() >= 5 - (high == np.inf)
    assert any("fewer than 5 rows between" in caution for caution in run.cautions["a"])


def test_quantiles_that_are_near_each_other_are_joined_by_exact_arithmetic() -> None:
    """A tenth of fifty rows is five, and of 49 fewer; shares whose difference has a large denominator are safe."""
    for n, n_opened in ((50, 3), (49, 2)):
        protocol = mining.HorizontalQuantiles(
            columns=("x",), q=(0.6, 0.4, 0.5), ranges={"x": (0, 63)}, bits=6
        )
        run = checked(protocol, {name: {"x": np.arange(n)[at::3]} for at, name in enumerate("abc")})
        opened = run.outputs["b"].model["x"]
        assert len(set(opened.tolist())) == n_opened
        assert opened.tolist() == [float(rank - 1) for rank in quantile_ranks((0.6, 0.4, 0.5), n, 5)]
    odd = mining.HorizontalQuantiles(columns=("x",), q=(1 / 3, 0.9999999 / 7), ranges={"x": (0, 63)}, bits=6)
    run = simulate(odd, {name: {"x": np.arange(60)[at::3]} for at, name in enumerate("abc")})
    assert run.outputs["a"].model["x"].tolist() == [19.0, 8.0]


def test_leaks_say_that_a_quantile_is_the_value_of_a_row() -> None:
    for least in (1, 5):
        protocol = mining.HorizontalQuantiles(columns=("x",), ranges={"x": (0, 63)}, min_count=least)
        assert any("is the value of a row" in sentence for sentence in protocol.leaks)
        assert any("between it and the one below" in sentence for sentence in protocol.leaks) == (least > 1)
