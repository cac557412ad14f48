"""Searches of lattices: against the clock, too large to visit, with keys too wide to pack; what they promise anyway."""

from __future__ import annotations

import math
import time
import tracemalloc
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import tables as strategies

from discreet import Release, Table, from_mapping, intervals, masked, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.guarantees import (
    AlphaKAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from discreet.publish import OptimalLattice
from discreet.publish.lattice import anytime, roll_up, search
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.lattice.measures import MEASURES
from discreet.publish.lattice.scoring import Scorer
from discreet.publish.lattice.search import Search, score_all
from discreet.publish.tables import optimal_lattice

GUARANTEES: list[Guarantee] = [
    KAnonymity(5),
    DistinctDiversity(2),
    EntropyDiversity(1.8),
    RecursiveDiversity(3.0, 2),
    TCloseness(0.3),
    AlphaKAnonymity(0.7, 3),
    KAnonymity(3) & TCloseness(0.4, "ordered"),
]


@pytest.fixture(scope="module")
def people() -> Table:
    """75 nodes: too many for no search, few enough to know the best."""
    rng = np.random.default_rng(0)
    frame = pa.table(
        {
            "a": rng.integers(0, 50, 300),
            "b": rng.integers(0, 50, 300),
            "c": rng.integers(0, 9, 300),
            "s": rng.choice(list("aaabc"), 300),
        }
    )
    trees = {"a": quasi(intervals(5, 10, 20)), "b": quasi(intervals(5, 10, 20)), "c": quasi(intervals(3))}
    return Table(frame, trees | {"s": sensitive()})


@pytest.fixture
def descents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every lattice too large to search but by descents."""
    monkeypatch.setattr(optimal_lattice, "SMALL_SEARCH", 1)
    monkeypatch.setattr(optimal_lattice, "LARGEST_SEARCH", 1)
    monkeypatch.setattr(time, "monotonic", time.process_time)  # a busy machine must not shorten a search


def least_of(table: Table, guarantee: Guarantee, **more: Any) -> float:
    return cost_of(OptimalLattice(guarantee, visit="all", **more).release(table))


def cost_of(release: Release) -> float:
    return float(release.evidence.details["cost"])  # type: ignore[arg-type]


def is_honest(release: Release, least: float) -> bool:
    """A checked release whose bound is no more than the best, which is no more than its cost."""
    details = release.evidence.details
    near = 1e-9 * max(1.0, least)
    bound, cost = float(details["bound"]), cost_of(release)  # type: ignore[arg-type]
    proven = cost <= least + near if details["optimal"] else True
    return release.verdict.ok and bound <= least + near and least <= cost + near and proven


# --- by descents ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("descents")
@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("measure", MEASURES)
def test_descents_are_honest_and_find_the_best_of_few(people: Table, measure: str, share: float) -> None:
    for guarantee in GUARANTEES:
        try:
            least = least_of(people, guarantee, measure=measure, max_suppressed=share)
        except InfeasibleError:
            continue
        release = OptimalLattice(
            guarantee, measure=measure, max_suppressed=share, time_limit=0.15, random_state=1
        ).release(people)
        assert is_honest(release, least), guarantee
        assert cost_of(release) == pytest.approx(least), guarantee


@pytest.mark.usefixtures("descents")
@pytest.mark.parametrize("how", ["mean", "maximum", "geometric"])
@pytest.mark.parametrize("measure", ["loss", "entropy", "precision"])
def test_descents_are_honest_under_weights_and_limits(people: Table, measure: str, how: Any) -> None:
    asked = {
        "measure": measure, "aggregate": how, "max_suppressed": 0.1, "weights": {"a": 0.2, "b": 2.0},
        "lowest": {"a": 1}, "highest": {"b": 3},
    }  # fmt: skip
    least = least_of(people, KAnonymity(4), **asked)
    release = OptimalLattice(KAnonymity(4), time_limit=0.2, random_state=1, **asked).release(people)  # type: ignore[arg-type]
    assert is_honest(release, least)
    assert cost_of(release) == pytest.approx(least)


@pytest.mark.usefixtures("descents")
@given(
    rows=strategies.rows(max_size=15),
    guarantee=st.sampled_from([KAnonymity(2), DistinctDiversity(2), EntropyDiversity(1.5), TCloseness(0.4)]),
    measure=st.sampled_from(list(MEASURES)),
    share=st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=40)
def test_a_bound_is_never_above_the_best(rows: Any, guarantee: Guarantee, measure: str, share: float) -> None:
    table = Table(strategies.frame(rows), strategies.tree_schema())
    try:
        least = least_of(table, guarantee, measure=measure, max_suppressed=share)
    except InfeasibleError:
        return
    release = OptimalLattice(
        guarantee, measure=measure, max_suppressed=share, time_limit=0.03, random_state=0
    ).release(table)
    assert is_honest(release, least)


@pytest.mark.usefixtures("descents")
@pytest.mark.parametrize("measure", MEASURES)
def test_bounds_from_several_groups_of_columns(
    people: Table, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes over fewer columns are larger: what class sizes cost there says nothing about the whole."""
    monkeypatch.setattr(anytime, "_GROUP_NODES", 6)
    for guarantee in (KAnonymity(5), DistinctDiversity(2)):
        asked = {"measure": measure, "max_suppressed": 0.1, "weights": {"a": 0.5}}
        release = OptimalLattice(guarantee, time_limit=0.1, random_state=1, **asked).release(people)  # type: ignore[arg-type]
        assert is_honest(release, least_of(people, guarantee, **asked))


@pytest.mark.usefixtures("descents")
def test_a_top_that_fails_is_not_the_end() -> None:
    """The whole table breaks the promise; its classes, with some rows suppressed, keep it."""
    town = {f"t{number}": f"r{number // 2}" for number in range(6)}
    frame = pa.table(
        {"a": [f"t{number % 6}" for number in range(60)], "b": list("xxyyzz") * 10, "s": list("xyxxxx") * 10}
    )
    table = Table(frame, {"a": quasi(from_mapping(town)), "b": quasi(masked()), "s": sensitive()})
    guarantee = AlphaKAnonymity(0.5, 2)
    least = least_of(table, guarantee, max_suppressed=0.7)
    release = OptimalLattice(guarantee, max_suppressed=0.7, time_limit=0.5, random_state=0).release(table)
    assert is_honest(release, least)


@pytest.mark.usefixtures("descents")
def test_a_plateau_below_the_top_is_crossed() -> None:
    """Codes that begin alike: the first steps down from the top gain nothing."""
    columns = {f"q{number}": [f"{row:08d}" for row in range(20)] for number in range(3)}
    table = Table(pa.table(columns), {name: quasi(masked()) for name in columns})
    release = OptimalLattice(KAnonymity(2), time_limit=0.5, random_state=0).release(table)
    assert cost_of(release) == pytest.approx(9 / 19)


@pytest.mark.usefixtures("descents")
def test_no_node_at_all_is_said(people: Table) -> None:
    with pytest.raises(InfeasibleError, match=r"KAnonymity\(k=301\).*300 of 300 rows.*ask for less"):
        OptimalLattice(KAnonymity(301), max_suppressed=0.5, time_limit=0.2).release(people)


# --- against the clock ------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["loss", "discernibility"])
@pytest.mark.parametrize("guarantee", [KAnonymity(5), DistinctDiversity(2)], ids=repr)
def test_no_time_at_all_still_gives_a_release(people: Table, guarantee: Guarantee, measure: str) -> None:
    """Running out of time is not the same as there being no node: the top keeps these promises."""
    release = OptimalLattice(guarantee, measure=measure, time_limit=1e-6).release(people)
    assert is_honest(release, least_of(people, guarantee, measure=measure))


@pytest.mark.parametrize("limit", [0.001, 0.01, 5.0])
def test_the_best_so_far_and_its_bound(people: Table, limit: float) -> None:
    least = least_of(people, KAnonymity(5), max_suppressed=0.05)
    release = OptimalLattice(KAnonymity(5), max_suppressed=0.05, time_limit=limit).release(people)
    assert is_honest(release, least)
    if limit == 5.0:
        assert release.evidence.details["optimal"]
        assert cost_of(release) == pytest.approx(least)


@pytest.fixture(scope="module")
def wide() -> Table:
    """390,625 nodes of 5,000 rows; to visit all of them takes many seconds."""
    rng = np.random.default_rng(1)
    columns = {f"q{number}": rng.integers(0, 16, 5_000) for number in range(8)}
    return Table(pa.table(columns), {name: quasi(intervals(2, 4, 8)) for name in columns})


@pytest.mark.parametrize("small", [1, 10**6])
@pytest.mark.parametrize("measure", ["loss", "entropy", "discernibility"])
def test_a_time_limit_is_kept_within_reason(
    wide: Table, measure: str, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimal_lattice, "SMALL_SEARCH", small)
    OptimalLattice(KAnonymity(5), measure=measure, lowest=dict.fromkeys(wide.schema.quasi, 3)).release(wide)
    begun = time.process_time()
    release = OptimalLattice(KAnonymity(5), measure=measure, time_limit=0.4).release(wide)
    assert time.process_time() - begun < 3.0
    details = release.evidence.details
    assert release.verdict.ok
    assert 0 <= details["bound"] <= details["cost"]  # type: ignore[operator]


# --- too large --------------------------------------------------------------------------------------


def test_a_lattice_of_more_than_a_billion_nodes_is_refused_at_once() -> None:
    columns = {f"q{number}": [f"{row:08d}" for row in range(20)] for number in range(10)}
    table = Table(pa.table(columns), {name: quasi(masked()) for name in columns})
    assert table.n_rows == 20
    tracemalloc.start()
    begun = time.process_time()
    try:
        for visit in ("best", "all"):
            with pytest.raises(ParameterError, match=r"3,486,784,401 nodes.*time_limit"):
                OptimalLattice(KAnonymity(2), visit=visit).release(table)  # type: ignore[arg-type]
        assert time.process_time() - begun < 2.0
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    release = OptimalLattice(KAnonymity(2), time_limit=1.0, random_state=3).release(table)
    assert release.verdict.ok
    assert release.evidence.details["n_nodes"] == 9**10
    assert 9 / 19 - 1e-9 <= cost_of(release) < 1.0
    assert release.evidence.details["bound"] <= 9 / 19 + 1e-9  # type: ignore[operator]


def test_every_node_is_not_visited_where_there_are_too_many(
    people: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimal_lattice, "LARGEST_VISIT", 74)
    with pytest.raises(ParameterError, match="75 nodes"):
        OptimalLattice(KAnonymity(2), visit="all", time_limit=1.0).release(people)


# --- other ways to the same node --------------------------------------------------------------------


def scorer_of(table: Table, guarantee: Guarantee, measure: str, share: float) -> Scorer:
    lattice = Lattice(table)
    cost = MEASURES[measure](lattice, np.ones(len(lattice.names)), "mean")
    return Scorer(lattice, guarantee, cost, math.floor(share * table.n_rows))


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_keys_too_wide_to_pack_give_the_same(
    people: Table, measure: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for guarantee in GUARANTEES:
        packed = scorer_of(people, guarantee, measure, share)
        assert packed.is_packed
        best = Search(packed).best()
        with monkeypatch.context() as patch:
            patch.setattr(roll_up, "WIDEST_KEY", 5)
            counted = scorer_of(people, guarantee, measure, share)
            assert not counted.is_packed
            again = Search(counted).best()
            every = score_all(counted)
        assert (best is None) == (again is None) == (not every.feasible.any())
        if best is not None and again is not None:
            assert again.cost == pytest.approx(best.cost, rel=1e-9)
            assert every.cost.min() == pytest.approx(best.cost, rel=1e-9)


def test_really_wide_keys() -> None:
    rng = np.random.default_rng(5)
    columns = {f"q{number}": rng.integers(0, 2_000, 400) for number in range(7)}
    roles = {name: quasi(intervals(1_000) if name < "q2" else None) for name in columns}
    frame = pa.table({**columns, "s": rng.choice(list("abc"), 400)})
    table = Table(frame, roles | {"s": sensitive()})
    assert not scorer_of(table, KAnonymity(2), "loss", 0.0).is_packed
    for guarantee in (KAnonymity(4), EntropyDiversity(2)):
        least = least_of(table, guarantee, max_suppressed=0.1)
        release = OptimalLattice(guarantee, max_suppressed=0.1).release(table)
        assert is_honest(release, least)
        assert release.evidence.details["optimal"]


@pytest.mark.parametrize("room", [0, 100, 10**6])
def test_room_for_kept_nodes_changes_nothing(
    people: Table, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [least_of(people, guarantee, max_suppressed=0.1) for guarantee in GUARANTEES]
    monkeypatch.setattr(roll_up, "_MOST_KEPT", room)
    for guarantee, least in zip(GUARANTEES, expected, strict=True):
        assert cost_of(OptimalLattice(guarantee, max_suppressed=0.1).release(people)) == pytest.approx(least)


@pytest.mark.parametrize("how", ["mean", "maximum", "geometric"])
def test_bands_of_rough_floors_change_nothing(
    people: Table, how: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lattice sorted in bands, by floors a little too low."""
    monkeypatch.setattr(search, "_ONE_BAND", 5)
    monkeypatch.setattr(search, "_BAND", 7)
    monkeypatch.setattr(search, "_SAMPLE", 20)
    for measure in MEASURES:
        for guarantee in GUARANTEES:
            for share in (0.0, 0.1):
                asked = {"measure": measure, "aggregate": how, "max_suppressed": share}
                least = least_of(people, guarantee, **asked)
                release = OptimalLattice(guarantee, **asked).release(people)  # type: ignore[arg-type]
                assert cost_of(release) == pytest.approx(least, rel=1e-6)


@given(
    rows=strategies.rows(max_size=20),
    share=st.sampled_from([0.0, 0.2]),
    measure=st.sampled_from(list(MEASURES)),
)
@settings(max_examples=60)
def test_each_bound_is_at_most_the_next(rows: Any, share: float, measure: str) -> None:
    """Floors never fall on the way up; floor, relaxed and exact cost never fall either."""
    table = Table(strategies.frame(rows), strategies.tree_schema())
    for how in ("mean", "maximum", "geometric"):
        lattice = Lattice(table, highest={"day": 1, "age": 2})
        weights = np.array([1.0, 0.25, 0.5, 1.0])
        cost = MEASURES[measure](lattice, weights, how)  # type: ignore[arg-type]
        floors = cost.floors()
        rough = cost.floors(rough=True)
        for guarantee in (KAnonymity(2), DistinctDiversity(2)):
            scorer = Scorer(lattice, guarantee, cost, math.floor(share * table.n_rows))
            for number in range(lattice.n_nodes):
                node = lattice.node(number)
                floor = cost.floor(node)
                assert floor == pytest.approx(floors[lattice.place(node)], abs=1e-12)
                assert rough[lattice.place(node)] <= floor + 1e-6
                for up in lattice.successors(node):
                    assert cost.floor(up) >= floor - 1e-12
                stats = scorer.relaxed(node)
                score = scorer.exact(node)
                if score.feasible:
                    relaxed = float(cost.relaxed(floor, stats))
                    assert floor - 1e-9 <= relaxed <= score.cost + 1e-9 * max(1.0, score.cost)
                    if guarantee.by_size and cost.relaxed_is_exact:
                        assert relaxed == pytest.approx(score.cost)
