"""Spark: rows are counted, released, written and judged on the cluster, and none of them comes to the driver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.engines.mixed import mixed_rows, released
from tests.servers import spark

from discreet import Table, quasi
from discreet.guarantees import DistinctDiversity, KAnonymity
from discreet.publish import (
    GlobalRecoding,
    Incognito,
    LocalRecoding,
    Mondrian,
    OptimalLattice,
    Samarati,
)

METHODS = [
    Mondrian(KAnonymity(5) & DistinctDiversity(2, of="disease")),
    OptimalLattice(KAnonymity(5), max_suppressed=0.2),
    Samarati(KAnonymity(5)),
    Incognito(KAnonymity(5)),
    LocalRecoding(KAnonymity(5)),
    GlobalRecoding(KAnonymity(5)),
]


def lent(rows: pa.Table) -> Any:
    """Return rows as a frame on the cluster."""
    return spark().createDataFrame(rows)


def lines(frame: Any) -> list[str]:
    """Return the rows of a small released frame, sorted."""
    rows = frame if isinstance(frame, pa.Table) else frame.toArrow()
    return sorted(map(repr, rows.to_pylist()))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_the_release_is_that_of_rows_in_memory(method: Any) -> None:
    here, there = (released(frame, method) for frame in (mixed_rows(), lent(mixed_rows())))
    assert type(there.frame) is type(lent(mixed_rows()))
    assert there.verdict.ok
    assert there.verdict == here.verdict
    assert lines(there.frame) == lines(here.frame)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=3)),
            st.one_of(st.none(), st.floats(allow_infinity=False, width=32)),
            st.one_of(st.none(), st.decimals("-99", "99", places=2, allow_nan=False)),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=10)
def test_tuples_are_those_of_rows_in_memory(rows: list[tuple[Any, ...]]) -> None:
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    types = (pa.string(), pa.float32(), pa.decimal128(4, 2))
    table = pa.table({name: pa.array(columns[name], type_) for name, type_ in zip("abc", types, strict=True)})
    here, there = (Table(frame, dict.fromkeys("abc", quasi())) for frame in (table, lent(table)))
    assert there.tuples.codes.tolist() == here.tuples.codes.tolist()
    assert there.tuples.counts.tolist() == here.tuples.counts.tolist()
    values = [[book.values.to_pylist() for book in table_.encoded.values()] for table_ in (here, there)]
    assert values[0] == values[1]


def test_a_release_is_a_folder_that_was_read_back_and_judged(tmp_path: Path) -> None:
    rows = mixed_rows().drop_columns(["age"])
    release = released(lent(rows), Mondrian(KAnonymity(5)))
    release.write(tmp_path / "out", format="parquet")
    parts = sorted((tmp_path / "out" / "data.parquet").iterdir())
    assert [part.name for part in parts] == [f"part-{number:05d}.parquet" for number in range(len(parts))]
    back = parquet.read_table(tmp_path / "out" / "data.parquet")
    expected = released(rows, Mondrian(KAnonymity(5))).frame
    assert lines(back) == lines(expected)
    assert {field.name: field.type for field in back.schema} == {
        field.name: field.type for field in expected.schema
    }
    record = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert record["rows"]["out"] == 240
    assert set(record["files"]) == {"data.parquet", "codebook.csv", "report.html"}
    assert record["verdict"]["ok"]
