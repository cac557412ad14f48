"""Local recoding: the promise by slow definitions, never worse than the single node it starts from, limits, recipes."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import tables as oracles
from tests.strategies import tables as strategies

from discreet import Recipe, Table, from_mapping, intervals, masked, quasi, read_hierarchy, sensitive
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.guarantees import (
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    KMap,
    TCloseness,
)
from discreet.measure import loss, loss_between
from discreet.publish import LocalRecoding, OptimalLattice
from discreet.publish.lattice.lattice import Lattice

QUASI = ["age", "day", "city", "smoker"]
SCHEMAS = st.sampled_from([strategies.plain_schema(), strategies.tree_schema()])


def keeps(guarantee: Guarantee, members: list[Any], everyone: list[Any]) -> bool:
    match guarantee:
        case KAnonymity():
            return len(members) >= guarantee.k
        case DistinctDiversity():
            return oracles.distinct_values(members) >= guarantee.l
        case EntropyDiversity():
            return oracles.effective_values(members) >= guarantee.l * (1 - 1e-9)
        case TCloseness():
            return oracles.variational_distance(members, everyone) <= guarantee.t + 1e-9
    raise AssertionError(guarantee)


@given(
    rows=strategies.rows(),
    schema=SCHEMAS,
    parts=st.tuples(
        st.builds(KAnonymity, st.integers(1, 4)),
        st.one_of(
            st.builds(DistinctDiversity, st.integers(1, 3)),
            st.builds(EntropyDiversity, st.sampled_from([1.5, 2])),
            st.builds(TCloseness, st.sampled_from([0.1, 0.3, 0.5])),
        ),
    ),
    share=st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    max_rounds=st.sampled_from([1, 7, 1000]),
)
@settings(max_examples=150)
def test_the_promise_is_kept_and_the_loss_is_never_worse(
    rows: list[dict[str, Any]],
    schema: Any,
    parts: tuple[Guarantee, Guarantee],
    share: float,
    max_rounds: int,
) -> None:
    table = Table(strategies.frame(rows), schema)
    guarantee = parts[0] & parts[1]
    try:
        plain = OptimalLattice(guarantee, max_suppressed=share).release(table)
    except InfeasibleError:
        plain = None
    try:
        release = LocalRecoding(guarantee, max_suppressed=share, max_rounds=max_rounds).release(table)
    except InfeasibleError:
        assert plain is None
        return
    released = release.frame.to_pylist()
    everyone = [row["disease"] for row in released]
    for members in oracles.equivalence_classes(released, QUASI):
        assert all(keeps(part, [row["disease"] for row in members], everyone) for part in parts)
    assert release.verdict.ok
    assert len(rows) - len(released) == release.evidence.suppressed <= math.floor(share * len(rows))
    assert release.evidence.sizes.sum() == len(released)
    assert loss(release).total == pytest.approx(release.evidence.details["loss"])
    if plain is not None:
        assert loss(release).total <= loss(plain).total + 1e-12


@given(
    rows=strategies.rows(min_size=4),
    delta=st.sampled_from([0.5, 1.0, 2.0]),
    share=st.sampled_from([0.0, 0.5]),
)
@settings(max_examples=60)
def test_a_promise_that_unions_may_break_holds_in_the_release(
    rows: list[dict[str, Any]], delta: float, share: float
) -> None:
    table = Table(strategies.frame(rows), strategies.tree_schema())
    try:
        release = LocalRecoding(DeltaDisclosure(delta), max_suppressed=share).release(table)
    except InfeasibleError:
        return
    assert release.verdict.ok


def towns(ages: list[int | None], zips: list[str]) -> Table:
    columns = {"age": quasi(intervals(10, 20)), "zip": quasi(masked())}
    return Table(pa.table({"age": pa.array(ages, pa.int64()), "zip": zips}), columns)


def test_common_rows_stay_exact_and_rare_rows_are_blurred() -> None:
    table = towns([24] * 5 + [25, 26, 71, None], ["10598"] * 5 + ["10547"] * 2 + ["90345"] * 2)
    release = LocalRecoding(KAnonymity(2)).release(table)
    shown = Counter(tuple(row.values()) for row in release.frame.to_pylist())
    assert shown == {("24", "10598"): 5, ("[20, 29]", "10547"): 2, ("*", "90345"): 2}
    assert release.evidence.levels is None
    assert [part["rows"] for part in release.evidence.details["rounds"]] == [5, 2, 2]


def test_the_last_row_joins_others_or_is_left_out_where_it_may_be() -> None:
    table = towns([24] * 30 + [38, 38, 71], ["10598"] * 30 + ["90345", "90345", "00501"])
    whole = LocalRecoding(KAnonymity(2)).release(table)
    assert whole.frame.num_rows == 33
    assert sorted(whole.evidence.sizes) == [3, 30]
    release = LocalRecoding(KAnonymity(2), max_suppressed=0.05).release(table)
    assert release.evidence.suppressed == 1
    assert Counter(release.frame["age"].to_pylist()) == {24: 30, 38: 2}
    assert loss(release).total < loss(whole).total


def test_as_many_groups_are_opened_again_as_the_last_rows_need() -> None:
    towns_of = [name for name in "uvwxyz" for _ in range(2)] + ["t"] * 3
    table = Table(
        pa.table({"town": towns_of, "illness": ["a", "b"] * 6 + ["a"] * 3}),
        {"town": quasi(), "illness": sensitive()},
    )
    release = LocalRecoding(EntropyDiversity(1.9)).release(table)
    assert sorted(release.evidence.sizes) == [2, 2, 11]
    assert release.verdict.ok


def test_cells_are_starred_beyond_the_highest_level_only_where_allowed() -> None:
    table = towns([21, 22, 23, 24, 25, 26], ["10598"] * 2 + ["10547"] * 2 + ["90345", "89119"])
    limits: dict[str, Any] = {"lowest": {"age": 1}, "highest": {"zip": 1}}
    with pytest.raises(InfeasibleError, match="2 of 6 rows"):
        LocalRecoding(KAnonymity(2), cells=False, **limits).release(table)
    release = LocalRecoding(KAnonymity(2), **limits).release(table)
    shown = Counter(tuple(row.values()) for row in release.frame.to_pylist())
    assert shown == {("[20, 29]", "10598"): 2, ("[20, 29]", "10547"): 2, ("[20, 29]", "*"): 2}
    assert release.verdict.ok
    limits["max_suppressed"] = 0.4
    assert LocalRecoding(KAnonymity(2), cells=False, **limits).release(table).evidence.suppressed == 2
    assert LocalRecoding(KAnonymity(2), **limits).release(table).evidence.suppressed == 0


def test_groups_that_read_alike_are_judged_as_one() -> None:
    towns_of = {"x": "y", "u": "x", "v": "x", "w": "y"}
    cities = ["x"] * 4 + ["u", "u", "v", "v"] + ["w"] * 4
    illness = ["a", "b", "c", "a", "d", "d", "e", "d", "a", "b", "d", "e"]
    table = Table(
        pa.table({"city": cities, "illness": illness}),
        {"city": quasi(from_mapping(towns_of)), "illness": sensitive()},
    )
    for guarantee in (KAnonymity(4), EntropyDiversity(1.5), DeltaDisclosure(1.3), DeltaDisclosure(2.0)):
        release = LocalRecoding(guarantee, max_suppressed=0.7).release(table)
        assert release.verdict.ok
    release = LocalRecoding(KAnonymity(4)).release(table)
    assert Counter(release.frame["city"].to_pylist()) == {"x": 8, "w": 4}
    assert sorted(release.groups().sizes) == [4, 8]


@given(
    rows=strategies.rows(),
    k=st.integers(1, 5),
    limits=st.tuples(st.integers(0, 2), st.integers(0, 2)).map(sorted),
    cells=st.booleans(),
)
@settings(max_examples=60)
def test_levels_stay_within_their_limits_but_for_stars(
    rows: list[dict[str, Any]], k: int, limits: list[int], cells: bool
) -> None:
    table = Table(strategies.frame(rows), strategies.tree_schema())
    between = {"lowest": {"age": limits[0]}, "highest": {"age": limits[1]}}
    try:
        release = LocalRecoding(KAnonymity(k), max_suppressed=0.3, cells=cells, **between).release(table)
    except InfeasibleError:
        return
    assert release.verdict.ok
    levels = {part["levels"]["age"] for part in release.evidence.details["rounds"]}
    height = Lattice(table).top[0]
    assert levels <= {*range(limits[0], limits[1] + 1), *([height] if cells else [])}


def test_a_population_hides_rows_that_are_alone_in_the_table() -> None:
    population = towns([24, 24, 24, 38, 39, 71], ["10598"] * 3 + ["90345", "90345", "00501"])
    table = towns([24, 38, 71], ["10598", "90345", "00501"])
    release = LocalRecoding(KMap(2, population)).release(table)
    assert release.verdict.ok
    assert ("24", "10598") in zip(*release.frame.to_pydict().values(), strict=True)


def test_constant_columns_nulls_and_one_row() -> None:
    table = Table(
        pa.table({"a": ["x"] * 4, "b": pa.array([None] * 4, pa.string()), "c": [1, 1, 2, 3]}),
        {"a": quasi(), "b": quasi(), "c": quasi()},
    )
    release = LocalRecoding(KAnonymity(2)).release(table)
    assert release.frame["a"].to_pylist() == ["x"] * 4
    assert release.frame["b"].to_pylist() == [None] * 4
    assert Counter(release.frame["c"].to_pylist()) == {"1": 2, "*": 2}
    one = Table(pa.table({"a": [1]}), {"a": quasi()})
    assert LocalRecoding(KAnonymity(1)).release(one).frame["a"].to_pylist() == [1]
    with pytest.raises(InfeasibleError, match="1 of 1 rows"):
        LocalRecoding(KAnonymity(2), max_suppressed=1.0).release(one)


def test_each_constraint_names_its_parameter() -> None:
    table = towns([1, 2], ["1", "2"])
    with pytest.raises(ParameterError, match="'guarantee' parameter of LocalRecoding must be a guarantee"):
        LocalRecoding(OptimalLattice(KAnonymity(2))).release(table)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'max_rounds' parameter of LocalRecoding"):
        LocalRecoding(KAnonymity(2), max_rounds=0).release(table)
    with pytest.raises(ParameterError, match="'cells' parameter of LocalRecoding"):
        LocalRecoding(KAnonymity(2), cells=1).release(table)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'max_suppressed' parameter of LocalRecoding"):
        LocalRecoding(KAnonymity(2), max_suppressed=2.0).release(table)


@pytest.mark.parametrize("share", [0.0, 0.05])
@pytest.mark.parametrize("trees", [True, False])
def test_a_recipe_protects_the_same_rows_alike(trees: bool, share: float) -> None:
    rng = np.random.default_rng(3)
    n = 400
    frame = pa.table(
        {
            "age": pa.array([None if one < 22 else int(one) for one in rng.integers(20, 50, n)], pa.int64()),
            "zip": [f"{code:05d}" for code in rng.geometric(0.1, n)],
            "disease": rng.choice(["flu", "cold", "hiv"], n),
        }
    )
    columns = {
        "age": quasi(intervals(5, 20) if trees else None),
        "zip": quasi(masked(levels=3) if trees else None),
        "disease": sensitive(),
    }
    publisher = LocalRecoding(KAnonymity(3) & EntropyDiversity(1.5), max_suppressed=share)
    release = publisher.release(Table(frame, columns))
    assert len(release.evidence.details["rounds"]) > 2
    again = Recipe(json.loads(json.dumps(release.recipe))).apply(frame, max_suppressed=share)
    order = [(name, "ascending") for name in frame.column_names]
    assert again.frame.sort_by(order).equals(release.frame.sort_by(order))
    assert again.evidence.suppressed == release.evidence.suppressed
    assert sorted(again.evidence.sizes) == sorted(release.evidence.sizes)
    assert loss(again).total == pytest.approx(loss(release).total)


def test_adult_costs_less_than_arx_needs_for_it(shared_data: Path) -> None:
    folder = shared_data / "adult-arx"
    frame = pyarrow.csv.read_csv(
        pa.input_stream(folder / "adult.csv.gz"), parse_options=pyarrow.csv.ParseOptions(delimiter=";")
    )
    frame = pa.table({name: frame[name].cast(pa.string()) for name in frame.column_names})
    roles = {
        name: quasi(read_hierarchy(folder / f"adult_hierarchy_{name}.csv")) for name in frame.column_names
    }
    table = Table(frame, roles)
    publisher = LocalRecoding(KAnonymity(5))
    publisher.release(table)
    begun = time.process_time()
    release = publisher.release(table)
    assert time.process_time() - begun < 2.9
    assert release.verdict.ok
    assert release.evidence.suppressed == 0
    assert loss(release).total < 0.0535
    assert loss_between(table, release.table).total == pytest.approx(loss(release).total)
