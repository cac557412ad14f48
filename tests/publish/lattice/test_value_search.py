"""The compiled search under rules about sensitive values: the same as asking the guarantee node by node."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, from_mapping, intervals, person, quasi, sensitive
from discreet.core.errors import SchemaError
from discreet.core.guarantee import ClassRule
from discreet.guarantees import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from discreet.guarantees.per_unit import counted_by_unit
from discreet.publish import OptimalLattice
from discreet.publish.lattice import search, value_cells, value_search
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.lattice.measures import MEASURES
from discreet.publish.lattice.scoring import Scorer
from discreet.publish.lattice.search import Search
from discreet.publish.lattice.value_search import ValueSearch

WARDS = {"a": ["s", "*"], "b": ["s", "*"], "c": ["t", "*"], "d": ["t", "*"], "e": ["e", "*"]}
BOUNDS = st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
SINGLE = st.one_of(
    st.builds(DistinctDiversity, st.integers(1, 4), of=st.sampled_from([None, "ward", "pay"])),
    st.builds(EntropyDiversity, st.sampled_from([1, 1.3, 1.8, 2, 2.5]), of=st.sampled_from([None, "ward"])),
    st.builds(RecursiveDiversity, st.sampled_from([0.7, 1.0, 3.0]), st.integers(1, 3), of=st.just("ward")),
    st.builds(AlphaKAnonymity, st.sampled_from([0.4, 0.5, 0.8]), st.integers(1, 3), of=st.just("ward")),
    st.builds(TCloseness, BOUNDS, st.sampled_from(["equal", "ordered", "kl"]), of=st.just("ward")),
    st.builds(TCloseness, BOUNDS, st.sampled_from(["equal", "hierarchical"])),
)
GUARANTEES = st.one_of(
    SINGLE,
    st.builds(lambda k, guarantee: KAnonymity(k) & guarantee, st.integers(1, 6), SINGLE),
    st.builds(lambda first, second: first & second, SINGLE, SINGLE),
)


def table_of(seed: int, n_rows: int, n_values: int) -> Table:
    """Rows with nulls, ties and skewed values; every column with a tree."""
    rng = np.random.default_rng(seed)
    letters = np.array([None, *"abcde"], object)
    skew = np.array([1, 12, 6, 3, 2, 1][: n_values + 1], float)
    draw = lambda: rng.choice(letters[: n_values + 1], n_rows, p=skew / skew.sum())  # noqa: E731
    frame = pa.table(
        {
            "a": pa.array(rng.integers(0, 20, n_rows)),
            "b": pa.array([None if x == 7 else int(x) for x in rng.integers(0, 8, n_rows)]),
            "c": pa.array(rng.integers(0, 3, n_rows)),
            "ward": pa.array(draw().tolist(), pa.string()),
            "pay": pa.array(draw().tolist(), pa.string()),
        }
    )
    tree = from_mapping(WARDS)
    roles = {"a": quasi(intervals(5, 10)), "b": quasi(intervals(4)), "c": quasi()}
    return Table(frame, roles | {"ward": sensitive(tree), "pay": sensitive(tree)})


def scorer_of(
    table: Table, guarantee: Guarantee, measure: str = "loss", how: Any = "mean", share: float = 0.0
) -> Scorer:
    lattice = Lattice(table)
    cost = MEASURES[measure](lattice, np.array([1.0, 0.5, 0.25]), how)
    return Scorer(lattice, guarantee, cost, math.floor(share * table.n_rows))


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.sampled_from([1, 4, 30, 200, 600]),
    n_values=st.integers(1, 5),
    guarantee=GUARANTEES,
    measure=st.sampled_from(list(MEASURES)),
    how=st.sampled_from(["mean", "mean", "maximum", "geometric"]),
    share=st.sampled_from([0.0, 0.05, 0.2, 0.5]),
)
@settings(max_examples=300)
def test_equal_to_asking_the_guarantee_node_by_node(
    seed: int, n_rows: int, n_values: int, guarantee: Guarantee, measure: str, how: Any, share: float
) -> None:
    """The same least cost; and every node judged on the way has the score that the guarantee leads to."""
    table = table_of(seed, n_rows, n_values)
    fast, slow = (scorer_of(table, guarantee, measure, how, share) for _ in range(2))
    rules = guarantee.class_rules(table.schema.sensitive)
    assert ValueSearch.fits(fast.lattice, rules)
    found = Search(fast)
    best = found.best()
    every = [slow.exact(slow.lattice.node(number)) for number in range(slow.lattice.n_nodes)]
    least = min(score.cost for score in every)
    assert (best.cost if best else math.inf) == pytest.approx(least, rel=1e-9)
    assert found.bound == pytest.approx(least, rel=1e-9)
    for score in fast.scores.values():
        expected = slow.exact(score.node)
        assert score.feasible == expected.feasible
        assert score.cost == pytest.approx(expected.cost, rel=1e-9)
        if score.rules_out:
            assert not score.exact
            assert score.suppressed <= expected.suppressed
            assert score.classes >= expected.classes
            below = (s for s in every if all(low <= up for low, up in zip(s.node, score.node, strict=True)))
            assert not any(other.feasible for other in below)
        elif score.exact:
            assert (score.suppressed, score.classes) == (expected.suppressed, expected.classes)


def test_fewer_nodes_are_judged_than_there_are() -> None:
    table = table_of(3, 600, 5)
    for guarantee in (EntropyDiversity(2.5), TCloseness(0.2, "hierarchical"), RecursiveDiversity(1.0, 2)):
        scorer = scorer_of(table, KAnonymity(2) & guarantee, share=0.05)
        Search(scorer).best()
        assert 0 < len(scorer.scores) < scorer.lattice.n_nodes


@pytest.mark.parametrize("known", [1, 2, 4096])
@pytest.mark.parametrize("judged", [1, 4096])
def test_room_changes_nothing(known: int, judged: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(5, 600, 4)
    guarantee = KAnonymity(3) & TCloseness(0.2)
    expected = Search(scorer_of(table, guarantee, share=0.1)).best()
    monkeypatch.setattr(value_search, "_MOST_KNOWN", known)
    monkeypatch.setattr(value_search, "_MOST_JUDGED", judged)
    monkeypatch.setattr(value_search, "_MOST_ROLLED", 1)
    monkeypatch.setattr(value_cells, "_MOST_LOGS", 2)
    assert Search(scorer_of(table, guarantee, share=0.1)).best() == expected


def test_a_large_lattice_is_searched_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(6, 600, 4)
    guarantee = KAnonymity(3) & TCloseness(0.2)
    expected = Search(scorer_of(table, guarantee, share=0.1)).best()
    for name, value in (("_ONE_BAND", 2), ("_BAND", 3), ("_SAMPLE", 5)):
        monkeypatch.setattr(search, name, value)
    best = Search(scorer_of(table, guarantee, share=0.1)).best()
    assert best is not None
    assert expected is not None
    assert best.cost == pytest.approx(expected.cost, abs=1e-4)


def test_past_the_deadline_nothing_more_is_judged() -> None:
    scorer = scorer_of(table_of(7, 200, 4), KAnonymity(3) & TCloseness(0.2))
    assert Search(scorer, deadline=time.monotonic() - 1.0).best() is None
    assert not scorer.scores


def test_what_is_no_list_of_rules_is_asked_node_by_node() -> None:
    table = table_of(8, 200, 4)
    names = table.schema.sensitive
    lattice = Lattice(table)
    for guarantee in (TCloseness(0.2, (1 - np.eye(5)).tolist()), BasicBetaLikeness(1.0)):
        assert (KAnonymity(2) & guarantee).class_rules(names) is None
        assert not ValueSearch.fits(lattice, guarantee.class_rules(names))
    visits = pa.table({"who": [1, 1, 2, 2], "a": [1, 1, 1, 1], "ward": list("abab")})
    units = Table(visits, {"who": person(), "a": quasi(), "ward": sensitive()})
    assert counted_by_unit(DistinctDiversity(2), units).class_rules(("ward",)) is None
    assert not ValueSearch.fits(lattice, KAnonymity(2).class_rules(names))


def test_too_many_values_are_not_counted_in_rows_of_cells() -> None:
    rng = np.random.default_rng(9)
    frame = pa.table({"a": rng.integers(0, 9, 900), "s": rng.permutation(900)})
    table = Table(frame, {"a": quasi(intervals(3)), "s": sensitive()})
    guarantee = DistinctDiversity(3)
    assert not ValueSearch.fits(Lattice(table), guarantee.class_rules(("s",)))
    assert OptimalLattice(guarantee).best(table) == {"a": 0}


def test_a_tree_that_is_missing_is_named() -> None:
    frame = pa.table({"a": [1, 2, 3, 4], "s": list("aabb")})
    table = Table(frame, {"a": quasi(intervals(2)), "s": sensitive()})
    with pytest.raises(SchemaError, match="needs a hierarchy for the column 's'"):
        OptimalLattice(TCloseness(0.2, "hierarchical")).release(table)


def test_bounds_that_hold_whatever_leaves_the_table() -> None:
    assert math.isnan(ClassRule("ordered", "s", 0.2).certain(0.1))
    assert math.isnan(ClassRule("equal", "s", 0.2).certain(1.0))
    assert ClassRule("equal", "s", 0.2).certain(0.1) == pytest.approx(0.3)
    assert ClassRule("divergence", "s", 0.2).certain(0.1) == pytest.approx(0.2 - math.log(0.9))
    assert ClassRule("largest share", "s", 0.2).certain(0.1) == pytest.approx(0.2)
