"""Incognito: every minimal node, against a search of every node by the slow definitions; join, prune and roots."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
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

from discreet import Hierarchy, Schema, Table, intervals, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.guarantees import (
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    KMap,
    RecursiveDiversity,
    TCloseness,
)
from discreet.publish import Incognito
from discreet.publish.lattice import roll_up
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.incognito import join_candidates, prune_candidates, roots
from discreet.publish.tables.publisher import kept_groups

Node = tuple[int, ...]
GUARANTEES = st.one_of(
    st.builds(KAnonymity, st.integers(2, 6)),
    st.builds(DistinctDiversity, st.integers(2, 4)),
    st.builds(EntropyDiversity, st.sampled_from([1.5, 2, 3])),
    st.builds(RecursiveDiversity, st.sampled_from([1.0, 2.0, 5.0]), st.integers(1, 3)),
    st.builds(TCloseness, st.sampled_from([0.0, 0.2, 0.5])),
    st.builds(DeltaDisclosure, st.sampled_from([0.5, 1.5])),
)
OPTIONS = list(itertools.product([True, False], [True, False]))
SCHEMAS = [
    pytest.param(strategies.plain_schema(), id="plain"),
    pytest.param(strategies.tree_schema(), id="trees"),
]


def keeps(guarantee: Guarantee, values: list[Any], everyone: list[Any]) -> bool:
    """Judge the sensitive values of one class by the slow definitions."""
    match guarantee:
        case KAnonymity():
            return len(values) >= guarantee.k
        case DistinctDiversity():
            return oracles.distinct_values(values) >= guarantee.l
        case EntropyDiversity():
            return oracles.effective_values(values) >= guarantee.l * (1 - 1e-9)
        case RecursiveDiversity():
            return oracles.is_recursively_diverse(values, guarantee.c, guarantee.l)
        case TCloseness():
            return oracles.variational_distance(values, everyone) <= guarantee.t + 1e-9
        case DeltaDisclosure():
            return oracles.log2_ratio(values, everyone) < guarantee.delta - 1e-9
    raise AssertionError(guarantee)


def is_feasible_slowly(table: Table, guarantee: Guarantee, share: float) -> Callable[[Node], bool]:
    """Leave out broken classes of a node, again and again where that moves the whole, and count the rows."""
    lattice = Lattice(table)
    rows = table.frame.to_pylist()
    codes = [np.repeat(table.codes(name), table.tuples.counts).tolist() for name in lattice.names]
    ill = table.sensitive_codes()["disease"][0]
    diseases = np.repeat(ill, table.tuples.counts).tolist()

    def is_feasible(node: Node) -> bool:
        classes: dict[Node, list[Any]] = {}
        for row in range(len(rows)):
            key = tuple(int(lattice.trees[c].levels[level][codes[c][row]]) for c, level in enumerate(node))
            classes.setdefault(key, []).append(diseases[row])
        kept = list(classes.values())
        while True:
            everyone = [value for values in kept for value in values]
            still = [values for values in kept if keeps(guarantee, values, everyone)]
            if len(still) == len(kept):
                return len(rows) - len(everyone) <= math.floor(share * len(rows)) and len(everyone) > 0
            kept = still

    return is_feasible


def is_feasible_by_groups(table: Table, guarantee: Guarantee, share: float) -> Callable[[Node], bool]:
    lattice = Lattice(table)

    def is_feasible(node: Node) -> bool:
        groups, *_ = lattice.groups(node)
        kept = kept_groups(guarantee, groups)
        return bool(groups.sizes[~kept].sum() <= math.floor(share * table.n_rows) and kept.any())

    return is_feasible


def minimal(table: Table, is_feasible: Callable[[Node], bool]) -> set[Node]:
    """Every feasible node such that no other feasible node is at most as high in every column."""
    nodes = itertools.product(*(range(top + 1) for top in Lattice(table).top))
    feasible = [node for node in nodes if is_feasible(node)]
    return {
        node
        for node in feasible
        if not any(low != node and all(a <= b for a, b in zip(low, node, strict=True)) for low in feasible)
    }


def found(nodes: list[dict[str, int]]) -> set[Node]:
    as_tuples = {tuple(node.values()) for node in nodes}
    assert len(as_tuples) == len(nodes)
    return as_tuples


@pytest.mark.parametrize("schema", SCHEMAS)
@given(
    rows=strategies.rows(max_size=25),
    guarantee=GUARANTEES,
    share=st.sampled_from([0, 0.1, 0.5]),
    options=st.sampled_from(OPTIONS),
)
@settings(max_examples=60)
def test_the_minimal_nodes_are_those_of_a_search_of_every_node(
    schema: Schema,
    rows: list[dict[str, Any]],
    guarantee: Guarantee,
    share: float,
    options: tuple[bool, bool],
) -> None:
    table = Table(strategies.frame(rows), schema)
    expected = minimal(table, is_feasible_slowly(table, guarantee, share))
    search = Incognito(guarantee, max_suppressed=share, super_roots=options[0], precompute=options[1])
    assert found(search.minimal_nodes(table)) == expected
    if not expected:
        with pytest.raises(InfeasibleError, match=f"of {len(rows)} rows"):
            search.release(table)
        return
    release = search.release(table)
    assert found(release.evidence.details["minimal"]) == expected
    assert tuple(release.evidence.levels.values()) in expected
    assert release.verdict.ok


@pytest.mark.parametrize(
    "names", [["age", "sex", "race"], ["age", "education", "marital-status", "workclass", "race"]]
)
@pytest.mark.parametrize(
    ("guarantee", "share"),
    [
        (KAnonymity(5), 0),
        (KAnonymity(5), 0.02),
        (EntropyDiversity(3), 0.02),
        (TCloseness(0.2, "equal"), 0.05),
    ],
    ids=str,
)
def test_adult(shared_data: Path, names: list[str], guarantee: Guarantee, share: float) -> None:
    folder = shared_data / "adult-arx"
    frame = pa.csv.read_csv(folder / "adult.csv.gz", parse_options=pa.csv.ParseOptions(delimiter=";"))
    columns = {name: quasi(Hierarchy.read(folder / f"adult_hierarchy_{name}.csv")) for name in names}
    table = Table(frame.select([*names, "occupation"]), columns | {"occupation": sensitive()})
    nodes = found(Incognito(guarantee, max_suppressed=share).minimal_nodes(table))
    assert nodes == minimal(table, is_feasible_by_groups(table, guarantee, share))


def nodes_in(*nodes: str) -> np.ndarray:
    """Nodes written as digits, the levels of their columns, as an array over four levels each."""
    array = np.zeros((4,) * len(nodes[0]), np.bool_)
    for node in nodes:
        array[tuple(map(int, node))] = True
    return array


def test_the_join_and_the_prune_of_figure_20_4() -> None:
    zip_code, profession, age = 0, 1, 2
    passed = {
        (zip_code, age): nodes_in("33", "32", "23", "22", "13"),
        (zip_code, profession): nodes_in("33", "32", "23", "22", "31"),
        (profession, age): nodes_in("33", "32", "23"),
    }
    columns = (zip_code, profession, age)
    joined = join_candidates(columns, passed)
    in_the_figure = ["333", "332", "323", "233", "232", "322", "223", "313", "222", "312"]
    assert (joined == nodes_in(*in_the_figure)).all()
    pruned = prune_candidates(columns, joined, passed)
    assert (pruned == nodes_in("333", "332", "323", "233", "232", "223")).all()
    assert roots(pruned) == [(2, 2, 3), (2, 3, 2)]


def test_the_minimal_generalizations_of_figure_20_3() -> None:
    table = Table(
        pa.table({"zip": [0, 2, 1, 3], "age": [0, 2, 4, 6]}),
        {"zip": quasi(intervals(2, 4)), "age": quasi(intervals(2, 4))},
    )
    details = Incognito(KAnonymity(2)).release(table).evidence.details
    assert details["minimal"] == [{"zip": 1, "age": 3}, {"zip": 2, "age": 2}]
    assert details["candidates"] == [8, 6]


def test_a_part_that_fails_does_not_rule_out_the_whole_where_merging_breaks_classes() -> None:
    """By ward alone five rows would be left out; by ward and bed only three."""
    frame = pa.table(
        {"ward": [0] * 5 + [1] * 4, "bed": [0, 0, 1, 1, 1, 2, 2, 2, 2], "ill": list("abaaaabab")}
    )
    table = Table(frame, {"ward": quasi(), "bed": quasi(), "ill": sensitive()})
    search = Incognito(EntropyDiversity(2), max_suppressed=0.34)
    assert search.minimal_nodes(table) == [{"ward": 0, "bed": 0}]


def generated(n_rows: int = 300) -> Table:
    rng = np.random.default_rng(3)
    frame = pa.table(
        {f"q{i}": rng.binomial(40, 0.3, n_rows) for i in range(4)} | {"ill": rng.integers(0, 4, n_rows)}
    )
    return Table(frame, {f"q{i}": quasi(intervals(3, 9, 18)) for i in range(4)} | {"ill": sensitive()})


@pytest.mark.parametrize("guarantee", [KAnonymity(4), EntropyDiversity(2), TCloseness(0.4)], ids=str)
def test_options_change_how_often_rows_are_counted_and_nothing_else(guarantee: Guarantee) -> None:
    table = generated()
    told = {
        options: Incognito(guarantee, max_suppressed=0.2, super_roots=options[0], precompute=options[1])
        .release(table)
        .evidence.details
        for options in OPTIONS
    }
    for details in told.values():
        for name in ("minimal", "candidates", "checked"):
            assert details[name] == told[True, True][name]
        assert details["cost"] == pytest.approx(told[True, True]["cost"])
    assert told[True, True]["from_rows"] == told[False, True]["from_rows"] == 1
    assert 1 < told[True, False]["from_rows"] <= 2**4 - 1
    assert told[True, False]["from_rows"] < told[False, False]["from_rows"] < told[False, False]["checked"]


def test_subsets_prune_most_of_the_lattice() -> None:
    details = Incognito(KAnonymity(5)).release(generated()).evidence.details
    assert details["candidates"][-1] < details["n_nodes"] / 2
    assert details["checked"] < details["n_nodes"] / 2


@pytest.mark.parametrize("widest", [3, 9, 15])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("guarantee", [KAnonymity(4), EntropyDiversity(2)], ids=str)
def test_keys_too_wide_to_pack(
    monkeypatch: pytest.MonkeyPatch, widest: int, options: tuple[bool, bool], guarantee: Guarantee
) -> None:
    table = generated(60)
    search = Incognito(guarantee, max_suppressed=0.2, super_roots=options[0], precompute=options[1])
    expected = search.minimal_nodes(table)
    monkeypatch.setattr(roll_up, "WIDEST_KEY", widest)
    details = search.release(table).evidence.details
    assert details["minimal"] == expected
    assert 1 < details["from_rows"] <= details["checked"]


def test_what_classes_describe_in_a_population() -> None:
    population = Table(
        pa.table({f"q{i}": [*range(30), *range(30)] for i in range(4)}), {f"q{i}": quasi() for i in range(4)}
    )
    table = generated(40)
    guarantee = KMap(3, population)
    nodes = found(Incognito(guarantee, max_suppressed=0.3).minimal_nodes(table))
    assert nodes == minimal(table, is_feasible_by_groups(table, guarantee, 0.3))


def test_bad_parameters_are_named() -> None:
    table = generated(10)
    with pytest.raises(ParameterError, match="'super_roots' parameter of Incognito"):
        Incognito(KAnonymity(2), super_roots=1).release(table)
    with pytest.raises(ParameterError, match="'precompute' parameter of Incognito"):
        Incognito(KAnonymity(2), precompute="yes").minimal_nodes(table)
    with pytest.raises(ParameterError, match="'max_suppressed' parameter of Incognito"):
        Incognito(KAnonymity(2), max_suppressed=-0.1).release(table)
    with pytest.raises(ParameterError, match="'measure' parameter of Incognito"):
        Incognito(KAnonymity(2), measure="beauty").release(table)


def test_a_lattice_too_large_is_refused_with_its_size() -> None:
    frame = pa.table({f"q{i}": [1, 2] for i in range(14)})
    table = Table(frame, {name: quasi() for name in frame.column_names})
    with pytest.raises(
        ParameterError, match=f"{3**14 - 1:,} nodes .the lattice of all columns has {2**14:,}"
    ):
        Incognito(KAnonymity(2)).release(table)
