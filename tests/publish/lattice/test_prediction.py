"""The levels at which classes predict a column best, by enumeration; the sensitive column decides, and is named."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, from_mapping, intervals, other, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import DistinctDiversity, KAnonymity
from discreet.publish import Generalization, OptimalLattice

KNOWN = st.tuples(st.sampled_from([1, 2, 11, 21, None]), st.sampled_from(["a", "b", "c"]))
ROWS = st.lists(st.tuples(KNOWN, st.sampled_from("xyz"), st.sampled_from("pq")), min_size=1, max_size=14)
TOWNS = from_mapping({"a": ["north"], "b": ["north"], "c": ["south"]})


def table_of(rows: list[tuple[Any, ...]]) -> Table:
    flat = [(*known, *more) for known, *more in rows]
    age, town, s, z = (list(column) for column in zip(*flat, strict=True))
    frame = pa.table({"age": pa.array(age, pa.int64()), "town": town, "s": s, "z": z})
    roles = {"age": quasi(intervals(10)), "town": quasi(TOWNS), "s": sensitive(), "z": sensitive()}
    return Table(frame, roles)


def missed(rows: list[dict[str, Any]], k: int, target: str) -> tuple[int, int]:
    """Return how many rows are missed, and how many of them because their class is too small."""
    classes: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        classes.setdefault((row["age"], row["town"]), []).append(row[target])
    n_missed = n_left = 0
    for values in classes.values():
        if len(values) < k:
            n_left += len(values)
        else:
            n_missed += len(values) - max(Counter(values).values())
    return n_missed + n_left, n_left


@given(rows=ROWS, k=st.integers(1, 4), limit=st.integers(0, 6), target=st.sampled_from(["s", "z"]))
@settings(max_examples=80, deadline=None)
def test_the_best_node_by_enumeration(rows: list[tuple[Any, ...]], k: int, limit: int, target: str) -> None:
    table, costs = table_of(rows), []
    for node in product(range(3), range(3)):
        levels = dict(zip(("age", "town"), node, strict=True))
        released = Generalization(KAnonymity(1), levels=levels).release(table).frame.to_pylist()
        n_missed, n_left = missed(released, k, target)
        if n_left <= limit and n_left < len(rows):
            costs.append(n_missed / len(rows))
    search = OptimalLattice(KAnonymity(k), max_suppressed=limit, target=target)
    if not costs:
        with pytest.raises(InfeasibleError):
            search.release(table)
        return
    for visit in ("best", "all"):
        release = OptimalLattice(KAnonymity(k), max_suppressed=limit, target=target, visit=visit).release(
            table
        )
        assert release.evidence.details["cost"] == pytest.approx(min(costs))
        assert release.verdict.ok


def test_values_count_as_having_decided() -> None:
    people = [(1, "a"), (21, "c")]
    table = table_of([(known, value, "p") for known in people for value in "xyxy"])
    assert (
        OptimalLattice(DistinctDiversity(2, of="s"), target="s").release(table).evidence.details["minimality"]
    )
    assert not OptimalLattice(DistinctDiversity(2, of="s")).release(table).evidence.details["minimality"]


def test_a_target_is_a_sensitive_column() -> None:
    table = table_of([((1, "a"), "x", "p")] * 2)
    with pytest.raises(SchemaError, match="'target' parameter names 'age', which is no sensitive column"):
        OptimalLattice(KAnonymity(2), target="age").release(table)
    with pytest.raises(ParameterError, match="'target' parameter of OptimalLattice must be None or the name"):
        OptimalLattice(KAnonymity(2), target=3)
    bare = Table(pa.table({"age": [1, 1], "s": ["x", "x"]}), {"age": quasi(), "s": other()})
    with pytest.raises(SchemaError, match="no sensitive column"):
        OptimalLattice(KAnonymity(2), target="s").release(bare)
