"""New rows under an old recipe: truthful cells, nobody left out needlessly, and no difference between months."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publishing import KINDS, made_as, released_rows

from discreet import Recipe, Release, Table, intervals, masked, quasi, sensitive
from discreet.core.errors import InfeasibleError
from discreet.core.tables.labels import parse_label
from discreet.guarantees import DistinctDiversity, KAnonymity, TCloseness
from discreet.publish import Generalization, GlobalRecoding, LocalRecoding, Mondrian, OptimalLattice


def visits(seed: int, n: int, *, oldest: int = 60) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, oldest, n),
            "zip": [f"{code:05d}" for code in rng.integers(1000, 1020, n)],
            "disease": rng.choice(["flu", "cold", "hiv", "gout"], n),
        }
    )


def roles(*, trees: bool = True) -> dict[str, Any]:
    return {
        "age": quasi(intervals(5, 20) if trees else None),
        "zip": quasi(masked() if trees else None),
        "disease": sensitive(),
    }


def recipe_of(release: Release, *, private: bool = True) -> Recipe:
    return Recipe(json.loads(json.dumps(release.recipe)), release.private if private else None)


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("trees", [True, False])
@pytest.mark.parametrize(
    "publisher",
    [Mondrian(KAnonymity(5)), LocalRecoding(KAnonymity(5)), GlobalRecoding(KAnonymity(5))],
    ids=["Mondrian", "LocalRecoding", "GlobalRecoding"],
)
def test_a_small_month_keeps_all_its_rows(publisher: Any, trees: bool, private: bool) -> None:
    old = publisher.release(Table(visits(0, 3000), roles(trees=trees)))
    new = visits(1, 150, oldest=70)
    applied = recipe_of(old, private=private).apply(new)
    assert applied.verdict.ok
    assert applied.evidence.suppressed == 0
    assert applied.frame.num_rows == 150


def test_levels_are_raised_as_far_as_needed() -> None:
    old = Generalization(KAnonymity(5), levels={"age": 1, "zip": 3}).release(Table(visits(0, 3000), roles()))
    applied = recipe_of(old).apply(visits(1, 60))
    assert applied.verdict.ok
    assert applied.evidence.suppressed == 0
    assert all(level >= old.evidence.levels[name] for name, level in applied.evidence.levels.items())
    with pytest.raises(InfeasibleError):
        recipe_of(old).apply(visits(1, 60), misfits="suppress")


def test_the_share_that_may_be_left_out_is_the_recipes_own() -> None:
    publisher = OptimalLattice(KAnonymity(5), max_suppressed=0.3)
    recipe = recipe_of(publisher.release(Table(visits(0, 400), roles())))
    assert recipe.max_suppressed == 0.3
    local = LocalRecoding(KAnonymity(5), max_suppressed=0.2).release(Table(visits(0, 400), roles()))
    assert recipe_of(local).max_suppressed == 0.2
    assert recipe_of(Mondrian(KAnonymity(5)).release(Table(visits(0, 400), roles()))).max_suppressed == 0


@settings(max_examples=40, deadline=None)
@given(
    ages=st.lists(st.integers(0, 99), min_size=8, max_size=40),
    private=st.booleans(),
    coarsen=st.booleans(),
)
def test_every_cell_is_true_and_every_class_large_enough(
    ages: list[int], private: bool, coarsen: bool
) -> None:
    old = Mondrian(KAnonymity(4), random_state=1).release(
        Table(pa.table({"age": list(range(20, 60)) * 3}), {"age": quasi()})
    )
    misfits = "coarsen" if coarsen else "suppress"
    try:
        new = recipe_of(old, private=private).apply(
            pa.table({"age": ages, "own": ages}).select(["age"]),
            misfits=misfits,
            max_suppressed=1.0,
            random_state=1,
        )
    except InfeasibleError:
        assert not coarsen
        return
    cells = Counter(map(str, new.frame["age"].to_pylist()))
    assert all(count >= 4 for count in cells.values())
    assert sum(cells.values()) == len(ages) - new.evidence.suppressed
    taken = Counter(ages)
    for cell, count in cells.items():
        held = parse_label(cell).covers(pa.array(sorted(taken)))
        assert sum(taken[age] for age, inside in zip(sorted(taken), held, strict=True) if inside) >= count


@pytest.mark.parametrize("kind", KINDS)
def test_old_and_new_rows_together(kind: str) -> None:
    old = Mondrian(KAnonymity(5)).release(Table(visits(0, 500), roles()))
    new = made_as(kind, visits(1, 40))
    whole = recipe_of(old).apply(new, released=old.frame, joined_known=False)
    assert whole.verdict.ok
    rows = released_rows(whole)
    assert len(rows) == 540 - whole.evidence.suppressed
    before = Counter(tuple(row.values()) for row in old.frame.to_pylist())
    assert not before - Counter(tuple(row.values()) for row in rows)


@pytest.mark.parametrize("promise", [KAnonymity(5), KAnonymity(3) & DistinctDiversity(2)], ids=str)
def test_the_difference_of_two_months_isolates_nobody(promise: Any) -> None:
    old = Mondrian(promise).release(Table(visits(0, 500), roles()))
    whole = recipe_of(old).apply(visits(1, 60), released=old.frame)
    assert whole.verdict.ok
    difference = Counter(tuple(row.values()) for row in whole.frame.to_pylist())
    difference.subtract(tuple(row.values()) for row in old.frame.to_pylist())
    rows = [
        dict(zip(whole.frame.column_names, key, strict=True))
        for key, n in difference.items()
        for _ in range(n)
    ]
    assert len(rows) == 60
    alone = Table(pa.Table.from_pylist(rows), {"age": quasi(), "zip": quasi(), "disease": sensitive()})
    assert promise.check(alone).ok


def test_counting_together_needs_less_coarsening() -> None:
    old = Mondrian(KAnonymity(5)).release(Table(visits(0, 2000), roles(trees=False)))
    new = visits(1, 40)
    apart = recipe_of(old).apply(new, released=old.frame)
    together = recipe_of(old).apply(new, released=old.frame, joined_known=False)
    labels = set(old.frame["age"].to_pylist())
    known = [sum(row["age"] in labels for row in one.frame.to_pylist()) for one in (apart, together)]
    assert known[0] < known[1]


def test_a_promise_about_the_whole_table_is_judged_for_the_whole_table() -> None:
    old = Mondrian(KAnonymity(5) & TCloseness(0.4)).release(Table(visits(0, 500), roles()))
    whole = recipe_of(old).apply(visits(1, 60), released=old.frame)
    assert whole.verdict.ok
