"""Samarati: the least height, every minimal node of it, against a search of every node."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import tables as strategies

from discreet import Hierarchy, Schema, Table, intervals, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import (
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from discreet.publish import Samarati
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.publisher import kept_groups

GUARANTEES = st.one_of(
    st.builds(KAnonymity, st.integers(2, 6)),
    st.builds(DistinctDiversity, st.integers(2, 4)),
    st.builds(EntropyDiversity, st.sampled_from([1.5, 2, 3])),
    st.builds(RecursiveDiversity, st.sampled_from([1.0, 2.0, 5.0]), st.integers(1, 3)),
    st.builds(TCloseness, st.sampled_from([0.0, 0.2, 0.5])),
    st.builds(DeltaDisclosure, st.sampled_from([0.5, 1.5])),
    st.builds(lambda k, t: KAnonymity(k) & TCloseness(t), st.integers(2, 4), st.sampled_from([0.2, 0.5])),
)
SHARES = st.sampled_from([0, 0.1, 0.5])
SCHEMAS = [
    pytest.param(strategies.plain_schema(), id="plain"),
    pytest.param(strategies.tree_schema(), id="trees"),
]


def lowest_feasible(table: Table, guarantee: Guarantee, share: float) -> tuple[int, list[dict[str, int]]]:
    """The least height at which some node keeps the promise, and all its nodes that do, by looking at every node."""
    lattice = Lattice(table)
    nodes = itertools.product(*(range(top + 1) for top in lattice.top))
    by_height: dict[int, list[dict[str, int]]] = {}
    for node in nodes:
        groups, *_ = lattice.groups(node)
        kept = kept_groups(guarantee, groups)
        if groups.sizes[~kept].sum() <= math.floor(share * table.n_rows) and kept.any():
            by_height.setdefault(sum(node), []).append(lattice.levels(node))
    return min(by_height.items(), default=(-1, []))


@pytest.mark.parametrize("schema", SCHEMAS)
@given(rows=strategies.rows(max_size=25), guarantee=GUARANTEES, share=SHARES)
@settings(max_examples=80)
def test_the_height_is_the_least_at_which_a_node_keeps_the_promise(
    schema: Schema, rows: list[dict[str, Any]], guarantee: Guarantee, share: float
) -> None:
    table = Table(strategies.frame(rows), schema)
    height, nodes = lowest_feasible(table, guarantee, share)
    search = Samarati(guarantee, max_suppressed=share)
    assert search.minimal_nodes(table) == nodes
    if not nodes:
        with pytest.raises(InfeasibleError, match=f"of {len(rows)} rows"):
            search.release(table)
        return
    release = search.release(table)
    assert release.evidence.details["height"] == height
    assert release.evidence.details["minimal"] == nodes
    assert release.evidence.levels in nodes
    assert release.verdict.ok


@pytest.mark.parametrize("measure", ["loss", "entropy", "discernibility", "average_class_size", "precision"])
@given(rows=strategies.rows(min_size=5, max_size=25))
@settings(max_examples=15)
def test_no_minimal_node_costs_less_than_the_one_released(measure: str, rows: list[dict[str, Any]]) -> None:
    from discreet.publish import OptimalLattice

    table = Table(strategies.frame(rows), strategies.tree_schema())
    release = Samarati(KAnonymity(2), max_suppressed=0.3, measure=measure).release(table)
    details = release.evidence.details
    costs = [
        OptimalLattice(KAnonymity(2), measure=measure, max_suppressed=0.3, lowest=node, highest=node)
        .release(table)
        .evidence.details["cost"]
        for node in details["minimal"]
    ]
    assert details["cost"] == pytest.approx(min(costs))
    assert details["cost"] == pytest.approx(costs[details["minimal"].index(release.evidence.levels)])


def worked_table() -> Table:
    """Four rows whose 2-anonymous nodes are those of figure 20.3: all from <Z2, A2> and from <Z1, A3> on."""
    frame = pa.table({"zip": [0, 2, 1, 3], "age": [0, 2, 4, 6]})
    return Table(frame, {"zip": quasi(intervals(2, 4)), "age": quasi(intervals(2, 4))})


def test_the_minimal_generalizations_of_figure_20_3() -> None:
    release = Samarati(KAnonymity(2)).release(worked_table())
    assert release.evidence.details["height"] == 4
    assert release.evidence.details["minimal"] == [{"zip": 1, "age": 3}, {"zip": 2, "age": 2}]


def test_heights_are_halved() -> None:
    frame = pa.table({"a": list(range(2000)), "b": list(range(2000))})
    widths = [2**i for i in range(1, 11)]
    table = Table(frame, {"a": quasi(intervals(*widths)), "b": quasi(intervals(*widths))})
    details = Samarati(KAnonymity(16)).release(table).evidence.details
    assert details["height"] == lowest_feasible(table, KAnonymity(16), 0)[0]
    assert len(details["heights"]) <= 6
    assert details["checked"] < details["n_nodes"]


def test_a_height_below_one_that_fails_is_found_where_merging_breaks_classes() -> None:
    """Level 0 leaves out three rows; above, they join a class that kept the promise and break it."""
    frame = pa.table({"age": [0, 0, 1, 1, 1, 8, 8, 8, 8], "ill": list("abaaaabab")})
    table = Table(frame, {"age": quasi(intervals(2, 4)), "ill": sensitive()})
    release = Samarati(EntropyDiversity(2), max_suppressed=0.34).release(table)
    assert (release.evidence.details["height"], release.evidence.suppressed) == (0, 3)
    for level in (1, 2, 3):
        lattice = Lattice(table)
        groups, *_ = lattice.groups((level,))
        assert groups.sizes[~EntropyDiversity(2).holds(groups)].sum() > 3


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
    table = adult(shared_data, names)
    height, nodes = lowest_feasible(table, guarantee, share)
    details = Samarati(guarantee, max_suppressed=share).release(table).evidence.details
    assert (details["height"], details["minimal"]) == (height, nodes)


def adult(shared_data: Path, names: list[str]) -> Table:
    folder = shared_data / "adult-arx"
    frame = pa.csv.read_csv(folder / "adult.csv.gz", parse_options=pa.csv.ParseOptions(delimiter=";"))
    columns = {name: quasi(Hierarchy.read(folder / f"adult_hierarchy_{name}.csv")) for name in names}
    return Table(frame.select([*names, "occupation"]), columns | {"occupation": sensitive()})


def test_bad_parameters_are_named() -> None:
    table = worked_table()
    with pytest.raises(ParameterError, match="'max_suppressed' parameter of Samarati"):
        Samarati(KAnonymity(2), max_suppressed=1.5).release(table)
    with pytest.raises(ParameterError, match="'measure' parameter of Samarati"):
        Samarati(KAnonymity(2), measure="beauty").minimal_nodes(table)
    with pytest.raises(ParameterError, match="'table' parameter of Samarati"):
        Samarati(KAnonymity(2)).minimal_nodes(table.frame)
    with pytest.raises(SchemaError, match="sensitive"):
        Samarati(EntropyDiversity(2)).release(table)


def test_a_lattice_too_large_is_refused_with_its_size() -> None:
    frame = pa.table({f"q{i}": [1, 2] for i in range(30)})
    table = Table(frame, {name: quasi() for name in frame.column_names})
    with pytest.raises(ParameterError, match=f"{2**30:,} nodes"):
        Samarati(KAnonymity(2)).release(table)


def test_an_infeasible_promise_tells_what_would_do() -> None:
    frame = pa.table({"age": [1, 1, 2, 3], "ill": ["a", "b", "a", "a"]})
    table = Table(frame, {"age": quasi(), "ill": sensitive()})
    with pytest.raises(InfeasibleError, match=r"suppresses 2 of 4 rows \(50.00%\); allow max_suppressed=0.5"):
        Samarati(EntropyDiversity(2), max_suppressed=0.25).release(table)
    assert Samarati(EntropyDiversity(2), max_suppressed=0.5).release(table).evidence.suppressed == 2
