"""Trees between parties equal the one of the pooled rows or the joined columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.mining.models.pooled import XY, checked, inputs_of
from tests.parties.open_protocols import (
    HorizontalTree,
    VerticalTree,
)
from tests.parties.splits import by_party, frame, n_of, split_rows

from discreet.mine.noisy.tree_growing import Grower
from discreet.parties import simulate
from discreet.parties.mining import model_from_dict, model_to_dict
from discreet.parties.mining.models.tree_protocol import tree_columns


@settings(max_examples=20)
@given(split_rows(max_rows=80), st.sampled_from(["gini", "entropy"]), st.integers(1, 5))
def test_trees_equal_the_one_of_the_pooled_rows(split: Any, criterion: str, min_leaf: int) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {"x": rng.uniform(-1, 11, n), "y": np.array(["u", "v", "w"])[rng.integers(0, 3, n)]}
    rows["c"] = np.array(["no", "yes"])[
        ((rows["x"] > 5) ^ (rows["y"] == "v") ^ (rng.random(n) < 0.1)).astype(int)
    ]
    protocol = HorizontalTree(
        columns=XY, target="c", classes=("no", "yes"), categories={"y": ("u", "v", "w")}, ranges={"x": (0, 10)},
        bins=8, criterion=criterion, max_depth=3, min_leaf=min_leaf,
    )  # fmt: skip
    run = checked(protocol, by_party(rows, parts))
    found = run.outputs["p0"].model
    pooled = simulate(protocol, {"all": rows, "none": {name: column[:0] for name, column in rows.items()}})
    assert model_to_dict(found) == model_to_dict(pooled.outputs["all"].model)
    assert found.tree_.counts[0].sum() == n
    leaves = found.tree_.leaves([rows["x"], rows["y"]])
    for leaf in np.unique(leaves):
        here = rows["c"][leaves == leaf]
        assert found.tree_.counts[leaf].tolist() == [(here == "no").sum(), (here == "yes").sum()]
        assert len(here) >= min(min_leaf, n)
    _assert_no_better_first_split(found, rows, protocol, criterion, min_leaf)
    again = model_from_dict(model_to_dict(found))
    assert (again.predict(frame(rows, XY)) == found.predict(frame(rows, XY))).all()


def _assert_no_better_first_split(
    model: Any, rows: Any, protocol: Any, criterion: str, min_leaf: int
) -> None:
    """The slow definition: every cut of numbers and every set of categories, by floating point."""
    columns = tree_columns(protocol.columns, protocol.categories, protocol.ranges, protocol.bins)
    yes = rows["c"] == "yes"
    sides = [rows["x"] < edge for edge in columns[0].edges[1:-1]]
    sides += [np.isin(rows["y"], chosen) for chosen in (["u"], ["v"], ["w"])]
    costs = [
        _cost(yes[side], criterion) + _cost(yes[~side], criterion)
        for side in sides
        if min(side.sum(), (~side).sum()) >= min_leaf
    ]
    whole = _cost(yes, criterion)
    best = min([*costs, whole])
    if model.tree_.column[0] < 0:
        assert best >= whole - 1e-9 or len(set(yes.tolist())) == 1
        return
    left = model.tree_.leaves([rows["x"], rows["y"]])
    under = {int(model.tree_.children[0, 0])}
    for node in range(len(model.tree_.column)):
        if node in under and model.tree_.column[node] >= 0:
            under |= set(model.tree_.children[node].tolist())
    side = np.isin(left, list(under))
    assert _cost(yes[side], criterion) + _cost(yes[~side], criterion) == pytest.approx(best, abs=1e-9)


def _cost(yes: np.ndarray[Any, Any], criterion: str) -> float:
    n, p = len(yes), yes.mean() if len(yes) else 0.0
    if criterion == "gini":
        return float(2 * n * p * (1 - p))
    return float(-n * sum(q * np.log(q) for q in (p, 1 - p) if q > 0))


def test_a_tree_by_gini_equals_that_of_local_mining() -> None:
    """The same histograms, grown by the trees of ``discreet.mine``."""
    rng = np.random.default_rng(5)
    rows = {"x": rng.uniform(0, 10, 400), "y": rng.uniform(0, 10, 400)}
    rows["c"] = np.where(rows["x"] + rows["y"] + rng.normal(size=400) > 10, 1, 0)
    protocol = HorizontalTree(
        columns=XY, target="c", classes=(0, 1), ranges={"x": (0, 10), "y": (0, 10)}, max_depth=4, min_leaf=5
    )
    run = checked(protocol, by_party(rows, np.array_split(np.arange(400), 3)))
    columns = tree_columns(XY, {}, protocol.ranges, protocol.bins)
    bins = np.column_stack([column.bins(rows[column.name]) for column in columns])
    grower = Grower(columns, bins, rows["c"].astype(np.int32), 2, strategy="global", max_depth=4, min_leaf=5)
    local = sorted(tuple(node.counts.tolist()) for node in grower.grow())
    assert sorted(map(tuple, run.outputs["p0"].model.tree_.counts.tolist())) == local


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(["gini", "entropy"]), st.booleans())
def test_trees_equal_the_horizontal_one_of_the_joined_rows(
    seed: int, n: int, criterion: str, swapped: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = {
        "a": rng.uniform(0, 8, n),
        "b": rng.uniform(0, 8, n),
        "c": np.array(["u", "v"])[rng.integers(0, 2, n)],
    }
    labels = np.where((rows["a"] > rows["b"]) ^ (rng.random(n) < 0.1), "yes", "no")
    shared: dict[str, Any] = {
        "target": "t", "classes": ("no", "yes"), "categories": {"c": ("u", "v")},
        "ranges": {"a": (0, 8), "b": (0, 8)}, "bins": 4, "criterion": criterion, "max_depth": 3,
    }  # fmt: skip
    names = ("p1", "p0") if swapped else ("p0", "p1")
    columns = {"p0": ("a",), "p1": ("b", "c")}
    inputs = inputs_of(rows, columns, p1={"t": labels})
    protocol = VerticalTree(columns=columns, holder="p1", **shared)
    run = checked(protocol, {name: inputs[name] for name in names})
    half = n // 2
    both = {**rows, "t": labels}
    pooled = simulate(
        HorizontalTree(columns=("a", "b", "c"), **shared),
        {"x": {k: v[:half] for k, v in both.items()}, "y": {k: v[half:] for k, v in both.items()}},
    )
    expected = model_to_dict(pooled.outputs["x"].model)
    for output in run.outputs.values():
        assert _unordered(output.model) == _unordered(model_from_dict(expected))


def _unordered(model: Any) -> str:
    """The tree as text, which does not depend on the order in which nodes were made."""
    return str(model.describe())
