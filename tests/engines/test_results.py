"""Results: one writer for files and folders, which replaces nothing foreign and leaves nothing half-written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.core.errors import InputError, OutputError
from discreet.engines.files import read
from discreet.engines.folders import FolderKind
from discreet.engines.writing import write_file, write_folder

KIND = FolderKind("result of a test", "record.json", lists_files=True)


def test_the_content_decides_the_form(tmp_path: Path) -> None:
    write_file({"epsilon": float("inf"), "shares": [0.5]}, tmp_path / "figures.json")
    assert json.loads((tmp_path / "figures.json").read_text()) == {"epsilon": None, "shares": [0.5]}
    write_file({"age": [1, 2]}, tmp_path / "columns.csv")
    assert (tmp_path / "columns.csv").read_text() == "age\n1\n2\n"
    write_file("<p>page</p>", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == b"<p>page</p>"
    write_file(lambda path: path.write_text("by itself"), tmp_path / "own.txt")
    assert (tmp_path / "own.txt").read_text() == "by itself"
    batches = pa.table({"age": list(range(1000))}).to_batches(max_chunksize=10)
    write_file(pa.RecordBatchReader.from_batches(batches[0].schema, batches), tmp_path / "stream.parquet")
    assert read(tmp_path / "stream.parquet").to_arrow_table().num_rows == 1000


def test_an_error_amid_a_stream_is_raised_as_it_was_and_leaves_nothing(tmp_path: Path) -> None:
    first = pa.record_batch({"age": list(range(10))})

    def broken() -> Iterator[pa.RecordBatch]:
        yield first
        raise InputError("3 values cannot be hidden.")

    with pytest.raises(InputError, match="3 values cannot be hidden") as refused:
        write_file(pa.RecordBatchReader.from_batches(first.schema, broken()), tmp_path / "out.csv")
    assert refused.value.__cause__ is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_lists_its_files_and_no_foreign_one_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "result"
    record = {"discreet": "0.1"}
    write_folder(folder, KIND, {"rows.csv": {"age": [1]}, "page.html": "<p>"}, record)
    assert json.loads((folder / "record.json").read_text()) == record | {"files": ["page.html", "rows.csv"]}
    with pytest.raises(OutputError, match="overwriting"):
        write_folder(folder, KIND, {}, record)
    write_folder(folder, KIND, {"rows.csv": {"age": [2]}}, record, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == ["record.json", "rows.csv"]
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="not overwritten"):
        write_folder(folder, KIND, {}, record, overwrite=True)
    assert (folder / "thesis.txt").read_text() == "years of work"


def test_a_content_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise InputError("no more rows.")

    with pytest.raises(InputError):
        write_folder(tmp_path / "result", KIND, {"rows.csv": {"age": [1]}, "own": fail}, {"discreet": "0.1"})
    assert list(tmp_path.iterdir()) == []
