"""A population inside the lattice search: counts at every node against labels matched one by one, the best node."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, from_mapping, intervals, quasi
from discreet.core.errors import InfeasibleError, SchemaError
from discreet.core.tables.label_coverage import LabelCover
from discreet.guarantees import KAnonymity, KMap
from discreet.publish import Incognito, OptimalLattice, Samarati
from discreet.publish.lattice.lattice import Lattice

AGES = st.sampled_from([1, 2, 11, 25, None])
KNOWN = st.tuples(st.sampled_from([1, 2, 3, 11, 12, 25, None]), st.sampled_from(["a", "b", "d", None]))
PEOPLE = st.lists(KNOWN, min_size=1, max_size=20)
ROWS = st.lists(st.tuples(AGES, st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=10)
TOWNS_OF_ALL = from_mapping({"a": ["north"], "b": ["north"], "c": ["south"], "d": ["south"]})
TOWNS = from_mapping({"a": ["north"], "b": ["north"], "c": ["south"]})


def table_of(rows: list[tuple[Any, ...]], towns: Any = None) -> Table:
    age, town = (list(column) for column in zip(*rows, strict=True))
    frame = pa.table({"age": pa.array(age, pa.int64()), "town": pa.array(town, pa.string())})
    return Table(frame, {"age": quasi(intervals(10)), "town": quasi(towns)})


def slow(lattice: Lattice, node: tuple[int, ...], population: Table) -> list[int]:
    """Match the labels of each class with each person."""
    groups, _, codes = lattice.groups(node)
    columns = [
        (name, pa.array(tree.labels[level], pa.string()), codes[column])
        for column, (name, tree, level) in enumerate(zip(lattice.names, lattice.trees, node, strict=True))
    ]
    assert groups.n_groups == len(codes[0])
    return LabelCover.of(columns).matches(population).tolist()


@given(rows=ROWS, people=PEOPLE)
@settings(max_examples=100, deadline=None)
def test_every_node_counts_as_labels_do(rows: list[tuple[Any, ...]], people: list[tuple[Any, ...]]) -> None:
    lattice, population = Lattice(table_of(rows, TOWNS)), table_of(people)
    for node in product(*map(range, lattice.dims)):
        assert lattice.groups(node)[0].cover.matches(population).tolist() == slow(lattice, node, population)


@given(rows=ROWS, people=PEOPLE, k=st.integers(1, 5), limit=st.integers(0, 3), trees=st.booleans())
@settings(max_examples=120, deadline=None)
@pytest.mark.parametrize("search", [OptimalLattice, Samarati, Incognito])
def test_the_best_node_by_enumeration(
    search: Any, trees: bool, rows: list[tuple[Any, ...]], people: list[tuple[Any, ...]], k: int, limit: int
) -> None:
    table, population = table_of(rows, TOWNS), table_of(people, TOWNS_OF_ALL if trees else None)
    lattice = Lattice(table)
    assert not trees or lattice.people(population).is_nested
    feasible = set()
    for node in product(*map(range, lattice.dims)):
        sizes = lattice.groups(node)[0].sizes.tolist()
        left = sum(size for size, n in zip(sizes, slow(lattice, node, population), strict=True) if n < k)
        if left <= limit and left < len(rows):
            feasible.add(node)
    publisher = search(KMap(k, population), max_suppressed=limit, measure="height")
    if not feasible:
        with pytest.raises(InfeasibleError):
            publisher.release(table)
        return
    release = publisher.release(table)
    assert tuple(release.evidence.levels.values()) in feasible
    # Levels rule others out in the searches for minimal nodes, which takes labels that the population can read.
    if search is OptimalLattice or (search is Samarati and trees):
        assert release.evidence.details["cost"] == min(map(sum, feasible))
    assert release.verdict.ok
    together = OptimalLattice(KMap(k, population) & KAnonymity(1), max_suppressed=limit, measure="height")
    assert together.release(table).evidence.details["cost"] == min(map(sum, feasible))


def test_a_population_that_lacks_a_column_is_named() -> None:
    bare = Table(pa.table({"age": [1, 2]}), {"age": quasi()})
    with pytest.raises(SchemaError, match="The population has no quasi-identifier 'town'"):
        OptimalLattice(KMap(2, bare)).release(table_of([(1, "a"), (2, "b")]))
    with pytest.raises(SchemaError, match="A population is a Table"):
        OptimalLattice(KMap(2, bare.frame)).release(table_of([(1, "a"), (2, "b")]))
