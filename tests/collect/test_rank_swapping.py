"""Rank swapping: exact marginals, windows, classes, frames, bad input, and linkage before and after."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.swapping import is_rank_swap

from discreet import Table, quasi
from discreet.collect import RankSwapping
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.measure import linkage

NUMBERS = st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=40)


@given(values=NUMBERS, window=st.sampled_from([0.05, 0.1, 0.3, 1.0]), seed=st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_values_change_places_within_the_window(values: list[int | None], window: float, seed: int) -> None:
    frame = pa.table({"x": pa.array(values, pa.int64())})
    swapping = RankSwapping(["x"], window=window)
    if len(values) > 1 and window * len(values) < 1:
        with pytest.raises(ParameterError, match="'window' parameter of RankSwapping lets no value move"):
            swapping.perturb(frame, random_state=seed)
        return
    after = swapping.perturb(frame, random_state=seed)["x"].to_pylist()
    assert is_rank_swap(values, after, window)
    share = sum(a != b for a, b in zip(values, after, strict=True)) / len(values)
    changed = swapping.changed(frame, pa.table({"x": pa.array(after, pa.int64())}))
    assert changed["x"] == changed["rows"] == pytest.approx(share)


def people(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "age": rng.integers(18, 90, n),
            "pay": rng.lognormal(10, 1, n).round(2),
            "town": rng.choice(["A", "B", "C"], n),
            "sick": rng.random(n) < 0.2,
        }
    )


def test_categories_move_within_their_classes() -> None:
    frame = people()
    swapped = RankSwapping(["town", "sick", "age"], window=0.2, within=["pay"]).perturb
    with pytest.raises(ParameterError, match="leaves every row alone"):
        swapped(frame)
    swapping = RankSwapping(["sick", "age"], window=0.2, within=["town"])
    after = swapping.perturb(frame, random_state=1)
    for town in "ABC":
        old, new = (rows.filter(pa.compute.equal(rows["town"], town)) for rows in (frame, after))
        for name in ("sick", "age"):
            assert Counter(old[name].to_pylist()) == Counter(new[name].to_pylist())
    assert after["town"].equals(frame["town"])
    assert after["pay"].equals(frame["pay"])
    changed = swapping.changed(frame, after)
    assert 0.1 < changed["sick"] < 0.6
    assert changed["age"] > 0.8
    assert max(changed["sick"], changed["age"]) <= changed["rows"] <= 1


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame], ids=["arrow", "polars", "pandas"])
def test_every_kind_of_frame_comes_back_with_its_rows_in_order(make: Any) -> None:
    columns = {"x": list(range(50)), "town": ["A", "B"] * 25}
    frame = make(columns)
    if make is pd.DataFrame:
        frame = frame.set_index(pd.Index(range(100, 150)))
    after = RankSwapping(["x", "town"], window=0.1).perturb(frame, random_state=2)
    assert type(after) is type(frame)
    values = after["x"].to_list() if make is not pa.table else after["x"].to_pylist()
    assert is_rank_swap(columns["x"], values, 0.1)
    assert values != columns["x"]
    assert RankSwapping(["x"]).changed(frame, after)["x"] > 0.8
    if make is pd.DataFrame:
        assert after.index.tolist() == list(range(100, 150))


def test_linkage_pins_fewer_true_rows_after_swapping() -> None:
    frame = people().append_column("id", pa.array(range(400)))
    roles = {"age": quasi(), "pay": quasi(allow_unique=True)}
    swapped = RankSwapping(["pay", "age"], window=0.1).perturb(frame, random_state=1)
    before = linkage(Table(frame.select(["age", "pay"]), roles), frame, on=["age", "pay"])
    after = linkage(Table(swapped.select(["age", "pay"]), roles), frame, on=["age", "pay"])
    assert before.records_pinned_share == 1.0
    assert after.records_pinned_share < 0.05


def test_bad_input_is_one_clear_line() -> None:
    frame = people(30)
    with pytest.raises(SchemaError, match="The frame has no column 'zip'"):
        RankSwapping(["zip"]).perturb(frame)
    with pytest.raises(InputError, match="A list has no columns"):
        RankSwapping(["age"]).perturb([1, 2])
    with pytest.raises(InputError, match="must have the same rows"):
        RankSwapping(["age"]).changed(frame, frame.slice(1))
    one = pa.table({"age": [31]})
    assert RankSwapping(["age"]).perturb(one).equals(one)
    constant = pa.table({"age": [31] * 30})
    assert RankSwapping(["age"]).perturb(constant).equals(constant)
    assert RankSwapping(["age"]).changed(constant, constant) == {"age": 0.0, "rows": 0.0}


def test_the_nearest_row_is_the_true_one_less_often_the_wider_the_window() -> None:
    """The attacker that docs/noise.md speaks of: ranks are near, so the nearest row is often the true one."""
    frame = people()
    points = ranks(frame)
    right = []
    for window in (0.02, 0.05, 0.2):
        swapped = RankSwapping(["age", "pay"], window=window).perturb(frame, random_state=1)
        apart = np.abs(points[:, None] - ranks(swapped)[None]).max(axis=2)
        right.append(float(np.mean(apart.argmin(axis=1) == np.arange(len(points)))))
    assert right[0] > right[1] > right[2]
    assert right[0] > 0.3
    assert right[2] < 0.1


def ranks(frame: pa.Table) -> Any:
    return np.stack([frame[name].to_pandas().rank().to_numpy() for name in ("age", "pay")], axis=1)
