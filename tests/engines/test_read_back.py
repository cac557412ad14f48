"""Columns of a text file that was just written, beside what `read` finds in it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.engine import TextLayout
from discreet.engines.files import read
from discreet.engines.writing import write_frame, written_cells

TEXTS = st.text(alphabet="ab ,;\"'\t\n\u00a0é=1", max_size=3)
COLUMNS = {
    pa.string(): TEXTS,
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.date32(): st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    pa.bool_(): st.booleans(),
}
LAYOUTS = [TextLayout(), TextLayout(";", "'", ",")]


@given(st.data())
def test_cells_are_those_that_readers_find(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    layout, n_rows = data.draw(st.sampled_from(LAYOUTS)), data.draw(st.integers(1, 4))
    types = data.draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=2, max_size=4))
    columns = {
        f"column {number}": pa.array(
            data.draw(st.lists(st.none() | COLUMNS[type_], min_size=n_rows, max_size=n_rows)), type_
        )
        for number, type_ in enumerate(types)
    }
    path = write_frame(pa.table(columns), tmp_path_factory.mktemp("written") / "data.csv", layout=layout)
    cells = written_cells(path, layout, {name: column.type for name, column in columns.items()})
    if cells is None:
        return
    texts = read(path, delimiter=layout.delimiter, quote=layout.quote, nulls=("",), text=tuple(columns))
    for name, column in columns.items():
        found = cells[name].combine_chunks().dictionary_decode()
        shown = pa.array([None if value == "" else value for value in column.to_pylist()], column.type)
        assert found.equals(shown), name
        if column.type == pa.string():
            assert found.to_pylist() == [value for (value,) in texts.project(f'"{name}"').fetchall()]


@pytest.mark.parametrize(
    ("value", "type_", "name"),
    [
        (" a", pa.string(), "data.csv"),
        ("a\u00a0", pa.string(), "data.csv"),
        ("a\nb", pa.string(), "data.csv"),
        (dt.datetime(2024, 1, 1), pa.timestamp("us"), "data.csv"),
        ("a", pa.string(), "data.csv.gz"),
    ],
)
def test_what_readers_may_change_is_left_to_them(
    tmp_path: Path, value: Any, type_: pa.DataType, name: str
) -> None:
    table = pa.table({"a": pa.array([value], type_), "b": ["x"]})
    path = write_frame(table, tmp_path / name)
    assert written_cells(path, TextLayout(), {"a": type_, "b": pa.string()}) is None


def test_a_file_that_lacks_a_column_is_left_to_readers(tmp_path: Path) -> None:
    path = write_frame(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "data.csv")
    assert written_cells(path, TextLayout(), {"c": pa.string()}) is None
    assert written_cells(tmp_path / "none.csv", TextLayout(), {"a": pa.string()}) is None
