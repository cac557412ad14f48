"""Rows that must fail however classes are divided: the bound, held against random divisions of random classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guarantees.small_tables import LETTERS, groups_of, letter_tree
from tests.oracles import tables as oracles

from discreet.core.hierarchy.bound import Hierarchy, build_hierarchy
from discreet.core.tables.groups import Groups
from discreet.guarantees import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)

Rows = list[dict[str, Any]]
TREE = letter_tree()
STEPS = tuple(tuple(float(abs(a - b)) for b in range(8)) for a in range(8))
TWISTED = tuple(tuple(0.0 if a == b else float((a * 3 + b * 5) % 7) for b in range(8)) for a in range(8))

BOUNDS = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.8, 1.0])
SINGLE: dict[str, st.SearchStrategy[Guarantee]] = {
    "k": st.builds(KAnonymity, st.integers(1, 5)),
    "distinct": st.builds(DistinctDiversity, st.integers(1, 4)),
    "entropy": st.builds(EntropyDiversity, st.sampled_from([1, 1.2, 1.5, 2, 2.5, 3])),
    "recursive": st.builds(RecursiveDiversity, st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 3)),
    "alpha-k": st.builds(AlphaKAnonymity, st.sampled_from([0.3, 1 / 3, 0.5, 0.75, 1.0]), st.integers(1, 3)),
    "beta": st.builds(BasicBetaLikeness, st.sampled_from([0.3, 1.0, 2.0])),
    "enhanced-beta": st.builds(EnhancedBetaLikeness, st.sampled_from([0.3, 1.0, 2.0])),
    "delta": st.builds(DeltaDisclosure, st.sampled_from([0.3, 1.0, 2.0])),
    "t": st.builds(TCloseness, BOUNDS),
    "t-ordered": st.builds(TCloseness, BOUNDS, st.just("ordered")),
    "t-tree": st.builds(TCloseness, BOUNDS, st.just("hierarchical")),
    "t-kl": st.builds(TCloseness, BOUNDS, st.just("kl")),
    "t-steps": st.builds(TCloseness, st.sampled_from([0.5, 1.0, 2.0]), st.just(STEPS)),
    "t-twisted": st.builds(TCloseness, st.sampled_from([0.5, 1.0, 2.0]), st.just(TWISTED)),
}
PROMISES = SINGLE | {
    "both": st.builds(lambda one, two: one & two, st.one_of(*SINGLE.values()), st.one_of(*SINGLE.values()))
}


@st.composite
def divided(draw: st.DrawFn) -> Rows:
    """Rows with a class, a part of it, whether the row is in the table at all, and two sensitive values."""
    row = st.fixed_dictionaries(
        {
            "class": st.sampled_from("uuvw"),
            "part": st.sampled_from("123"),
            "ward": st.sampled_from([None, "a", "a", "a", "b", "b", "c", "e"]),
            "pay": st.sampled_from([None, "a", "a", "b"]),
        }
    )
    return draw(st.lists(row, min_size=1, max_size=16))


def grouped(rows: Rows, by: Sequence[str], sensitive: Sequence[str] = ("ward", "pay")) -> Groups:
    return groups_of(rows, quasi=by, sensitive=sensitive, domain=list(LETTERS), hierarchy=TREE)


def failing_rows(guarantee: Guarantee, rows: Rows, left: Sequence[bool]) -> int:
    """The rows of the parts that are left out, or fail in a table without those."""
    stay = [row for row, out in zip(rows, left, strict=True) if not out]
    if not stay:
        return len(rows)
    groups = grouped(stay, ["class", "part"])
    return len(rows) - int(groups.sizes[guarantee.holds(groups)].sum())


@pytest.mark.parametrize("name", PROMISES)
@given(data=st.data(), rows=divided())
@settings(max_examples=60)
def test_no_division_has_fewer_failing_rows(name: str, data: st.DataObject, rows: Rows) -> None:
    guarantee = data.draw(PROMISES[name])
    groups = grouped(rows, ["class"])
    bound = guarantee.failing_at_least(groups)
    assert bound.shape == groups.sizes.shape
    assert ((bound >= 0) & (bound <= groups.sizes)).all()
    parts = grouped(rows, ["class", "part"])
    failing = ~guarantee.holds(parts)
    owner = dict.fromkeys((row["class"], row["part"]) for row in rows)
    number = {one: at for at, one in enumerate(dict.fromkeys(row["class"] for row in rows))}
    per_class = np.zeros(groups.n_groups)
    np.add.at(per_class, [number[one] for one, _ in owner], parts.sizes * failing)
    assert (bound <= per_class + 1e-9).all()


@pytest.mark.parametrize("name", PROMISES)
@given(data=st.data(), rows=divided())
@settings(max_examples=60)
def test_nor_when_parts_are_left_out_of_the_table(name: str, data: st.DataObject, rows: Rows) -> None:
    """Whole parts leave the table, as suppression leaves them out; the share that may leave is at least theirs."""
    guarantee = data.draw(PROMISES[name])
    parts = list(dict.fromkeys((row["class"], row["part"]) for row in rows))
    out = data.draw(st.sets(st.sampled_from(parts)))
    left = [(row["class"], row["part"]) in out for row in rows]
    moved = sum(left) / len(rows)
    moved = data.draw(st.sampled_from([moved, min(1.0, moved + 0.2), 1.0]))
    bound = guarantee.failing_at_least(grouped(rows, ["class"]), moved=moved)
    assert bound.sum() <= failing_rows(guarantee, rows, left) + 1e-9


@pytest.mark.parametrize("name", PROMISES)
@given(data=st.data(), rows=divided())
@settings(max_examples=60)
def test_a_class_that_passes_need_not_fail(name: str, data: st.DataObject, rows: Rows) -> None:
    """A class at its bound passes, so nothing of it must fail; a search without suppression takes any row to fail."""
    guarantee = data.draw(PROMISES[name])
    groups = grouped(rows, ["class"])
    assert not guarantee.failing_at_least(groups)[guarantee.holds(groups)].any()


@settings(max_examples=60)
@given(rows=divided(), nudge=st.sampled_from([0.0, 1e-12, -1e-12, 9e-10, -9e-10]))
def test_bounds_that_classes_just_reach(rows: Rows, nudge: float) -> None:
    """Rounding may put a class on either side of a bound that it reaches exactly."""
    groups = grouped(rows, ["class"], ["ward"])
    for distance in ("equal", "hierarchical"):
        for reached in TCloseness(1.0, distance).measure(groups):
            guarantee: Guarantee = TCloseness(float(np.clip(reached + nudge, 0, 1)), distance)
            held = guarantee.holds(groups)
            assert not guarantee.failing_at_least(groups)[held].any()
    for reached in EntropyDiversity(1).measure(groups):
        guarantee = EntropyDiversity(max(float(reached) + nudge, 1.0))
        assert not guarantee.failing_at_least(groups)[guarantee.holds(groups)].any()


def test_two_trees_over_the_same_counts() -> None:
    """What a promise remembers of one tree says nothing about another: {a, b} of each class passes in the second."""
    rows = [{"class": "u", "ward": letter} for letter in "aaaaab"]
    rows += [{"class": "v", "ward": letter} for letter in "bbbbba"]
    near, far = _tree(["x", "x"], ["y", "y"]), _tree(["x", "z"], ["x", "z"])
    asked = TCloseness(0.1, "hierarchical")
    for tree in (near, far):
        groups = groups_of(rows, domain=["a", "b"], hierarchy=tree)
        bound = asked.failing_at_least(groups)
        assert (bound <= 4).all()
        assert bound.tolist() == TCloseness(0.1, "hierarchical").failing_at_least(groups).tolist()


def _tree(low: list[str], high: list[str]) -> Hierarchy:
    return build_hierarchy(pa.array(["a", "b"]), [low, high, ["*", "*"]], column="ward", ordered=True)


def test_the_bound_is_of_use() -> None:
    """Where a class fails wholly, or is too far gone for any division, all or much of it is known to fail."""
    rows = [{"class": "u", "ward": "a"}] * 9 + [{"class": "u", "ward": "b"}]
    rows += [{"class": "v", "ward": letter} for letter in "ab" * 5]
    groups = groups_of(rows)
    assert KAnonymity(11).failing_at_least(groups).tolist() == [10, 10]
    assert DistinctDiversity(3).failing_at_least(groups).tolist() == [10, 10]
    assert AlphaKAnonymity(0.5, 2).failing_at_least(groups) == pytest.approx([8, 0], abs=1e-6)
    assert AlphaKAnonymity(0.5, 11).failing_at_least(groups).tolist() == [10, 10]
    held = math.log(oracles.effective_values([row["ward"] for row in rows[:10]]))
    entropy = EntropyDiversity(2).failing_at_least(groups)
    assert entropy == pytest.approx([10 * (math.log(2) - held) / (math.log(2) + math.log(0.9)), 0], abs=1e-6)
    assert RecursiveDiversity(4, 2).failing_at_least(groups).tolist() == [5, 0]
    both = KAnonymity(11) & EntropyDiversity(2)
    assert both.failing_at_least(groups).tolist() == [10, 10]
    distances = TCloseness(0.1).failing_at_least(groups)
    assert distances == pytest.approx([10 * 0.1 / (0.3 - 0.1), 10 * 0.1 / (0.7 - 0.1)], abs=1e-6)
    ways = 0.9 * math.log(0.9 / 0.7) + 0.1 * math.log(0.1 / 0.3)
    divergent = TCloseness(0.1, "kl").failing_at_least(groups)
    assert divergent[0] == pytest.approx(max(0.0, 10 * (ways - 0.1) / (math.log(0.9 / 0.7) - 0.1)), abs=1e-6)
    assert (TCloseness(0.1).failing_at_least(groups, moved=0.05) < distances).all()
