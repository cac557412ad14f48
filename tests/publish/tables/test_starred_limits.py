"""Limits on the starred cells of single columns: kept by what is released, refused where nothing keeps them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, from_mapping, intervals, quasi
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import KAnonymity
from discreet.publish import LocalRecoding, LocalSuppression, OptimalLattice

ROWS = st.lists(
    st.tuples(st.sampled_from([1, 2, 11, 21, 45, None]), st.sampled_from("abc")), min_size=2, max_size=14
)
TOWNS = from_mapping({"a": ["north"], "b": ["north"], "c": ["south"]})


def table_of(rows: list[tuple[Any, ...]]) -> Table:
    ages, towns = zip(*rows, strict=True)
    frame = pa.table({"age": pa.array(ages, pa.int64()), "town": list(towns)})
    return Table(frame, {"age": quasi(intervals(10)), "town": quasi(TOWNS)})


@pytest.mark.parametrize("method", [LocalRecoding, LocalSuppression])
@given(rows=ROWS, share=st.sampled_from([0.0, 0.2, 0.5]), limit=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_what_is_released_keeps_the_limit(
    method: Any, rows: list[tuple[Any, ...]], share: float, limit: int
) -> None:
    search = method(KAnonymity(2), max_cells={"age": share}, max_suppressed=limit)
    try:
        release = search.release(table_of(rows))
    except InfeasibleError:
        return
    released = release.frame.to_pylist()
    left = len(rows) - len(released)
    assert left <= limit
    assert left + sum(row["age"] == "*" for row in released) <= share * len(rows) + 1e-9
    assert release.verdict.verified


def test_a_limit_moves_the_stars_to_the_other_column() -> None:
    rows = [(age, town) for age in (1, 11, 21, 45) for town in ("a", "b", "c")]
    free = LocalRecoding(KAnonymity(2), random_state=0).release(table_of(rows)).frame.to_pylist()
    bound = LocalRecoding(KAnonymity(2), max_cells={"town": 0.0}, random_state=0).release(table_of(rows))
    starred = LocalRecoding(KAnonymity(2), max_cells={"age": 0.0}, random_state=0).release(table_of(rows))
    assert not any(row["town"] == "*" for row in bound.frame.to_pylist())
    assert not any(row["age"] == "*" for row in starred.frame.to_pylist())
    assert len(free) == len(rows)


def test_limits_that_cannot_be_are_refused() -> None:
    rows = [(1, "a"), (21, "c")]
    with pytest.raises(InfeasibleError, match="max_cells"):
        LocalRecoding(KAnonymity(2), max_cells={"age": 0.0, "town": 0.0}).release(table_of(rows))
    with pytest.raises(SchemaError, match="no quasi-identifier"):
        LocalRecoding(KAnonymity(2), max_cells={"pay": 0.5}).release(table_of(rows))
    with pytest.raises(ParameterError, match="max_cells"):
        LocalRecoding(KAnonymity(2), max_cells={"age": 1.5}).release(table_of(rows))
    with pytest.raises(TypeError):
        OptimalLattice(KAnonymity(2), max_cells={"age": 0.5})  # type: ignore[call-arg]
