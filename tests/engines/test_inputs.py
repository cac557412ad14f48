"""What a path names: folders, partitions, patterns, several files, standard input, tables of database files."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import sqlite3
import sys
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from discreet import Table, identifier, quasi
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError, SchemaError
from discreet.engines.files import read
from discreet.engines.inputs import partition_types

SECRET = "Sekretowski"
ROWS = pa.table({"age": [30, 31, None], "zip": ["02139", "1", None]})


def lines(frame: Any) -> list[str]:
    return sorted(map(repr, arrow_table(frame).to_pylist()))


def refused(path: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    assert caught.value.__cause__ is None
    assert "\n" not in str(caught.value)
    assert SECRET not in repr(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "csv.gz", "jsonl"])
def test_a_folder_a_pattern_and_a_list_are_the_rows_of_all_files(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "a [x]"
    folder.mkdir()
    parts = [ROWS, pa.table({"age": pa.array([7], pa.int64()), "zip": ["x"]})]
    files = [folder / f"part-{number}.{ending}" for number in range(2)]
    for rows, file in zip(parts, files, strict=True):
        put(rows, file)
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_text("sum")
    expected = lines(pa.concat_tables(parts))
    assert lines(read(folder)) == lines(read(files)) == expected
    assert lines(read(f"{tmp_path}/a*/part-?.{ending}")) == expected


def put(rows: pa.Table, file: Path) -> None:
    """Write rows by other means than ours."""
    name = file.name
    if name.endswith(".parquet"):
        parquet.write_table(rows, file)
    elif name.endswith(".arrow"):
        feather.write_feather(rows, file, compression="uncompressed")
    elif name.endswith(".jsonl"):
        import json

        file.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    else:
        text = ",".join(rows.column_names) + "\n"
        for row in rows.to_pylist():
            text += ",".join("" if cell is None else f'"{cell}"' for cell in row.values()) + "\n"
        file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


def test_types_of_text_are_those_of_the_values_of_all_files(tmp_path: Path) -> None:
    for number, cells in enumerate(("1", "02139", "x")):
        (tmp_path / f"{number}.csv").write_text(f"zip,n\n{cells},{number}\n")
    assert arrow_table(read(tmp_path)).to_pydict() == {"zip": ["1", "02139", "x"], "n": [0, 1, 2]}


@given(st.lists(st.one_of(st.none(), st.integers(), st.text(min_size=1, max_size=4)), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_partitions_are_columns_whose_values_are_kept(tmp_path_factory: Any, values: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("run=3") / "rows"
    texts = [None if value is None else str(value) for value in values]
    for number, text in enumerate(texts):
        named = "__HIVE_DEFAULT_PARTITION__" if text is None else quote(text, safe="")
        inner = folder / f"kind={named}"
        inner.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"age": [number]}), inner / f"{number}.parquet")
    found = arrow_table(read(folder))
    assert found.column_names == ["age", "kind"]
    written = dict(zip(found["age"].to_pylist(), found["kind"].to_pylist(), strict=True))
    assert [None if written[n] is None else str(written[n]) for n in range(len(texts))] == texts


def test_zip_codes_in_names_of_folders_stay_text_and_years_are_numbers(tmp_path: Path) -> None:
    inner = tmp_path / "year=2024" / "zip=02139" / "day=2024-05-01"
    inner.mkdir(parents=True)
    parquet.write_table(pa.table({"age": [1]}), inner / "a.parquet")
    expected = {"age": [1], "year": [2024], "zip": ["02139"], "day": [dt.date(2024, 5, 1)]}
    assert arrow_table(read(tmp_path)).to_pydict() == expected
    feather.write_feather(pa.table({"age": [1]}), inner / "a.arrow", compression="uncompressed")
    assert arrow_table(read(f"{tmp_path}/*/*/*/*.arrow")).to_pydict() == expected


def test_what_does_not_fit_together_is_one_line(tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("other", "mixed", "empty", "deep", "texts", "twice", "book")}
    for folder in places.values():
        folder.mkdir()
    parquet.write_table(ROWS, places["other"] / "a.parquet")
    parquet.write_table(pa.table({"age": [SECRET]}), places["other"] / "b.parquet")
    (places["mixed"] / "a.csv").write_text("a,b\n1,2\n")
    (places["mixed"] / "b.jsonl").write_text("{}")
    for inner in ("x=1", "y=1"):
        (places["deep"] / inner).mkdir()
        parquet.write_table(ROWS, places["deep"] / inner / "a.parquet")
    (places["texts"] / "a.csv").write_text("a,b\n1,2\n")
    (places["texts"] / "b.csv").write_text(f"b,a\n1,{SECRET}\n")
    (places["twice"] / "age=1").mkdir()
    parquet.write_table(ROWS, places["twice"] / "age=1" / "a.parquet")
    for name in "ab":
        (places["book"] / f"{name}.xlsx").write_bytes(b"PK\3\4")
    said = {name: refused(folder) for name, folder in places.items()}
    assert "other columns or types than the rest (2 kinds)" in said["other"]
    assert "several formats (csv, jsonl)" in said["mixed"]
    assert "names no file of data" in said["empty"]
    assert "name other partitions" in said["deep"]
    assert "b.csv has other columns, or another order of them" in said["texts"]
    assert "same name" in said["twice"]
    assert "several files" in said["book"]
    assert "several formats" in refused([places["mixed"] / "a.csv", places["mixed"] / "b.jsonl"])
    assert "names no file" in refused(f"{tmp_path}/*.nothing")
    assert refused([]) == "No file is named."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"age,zip\n30,02139\n", [{"age": 30, "zip": "02139"}]),
        (gzip.compress(b"age;zip\n30;02139\n", mtime=0), [{"age": 30, "zip": "02139"}]),
        (b'\xef\xbb\xbf {"age": 30}\n', [{"age": 30}]),
        (b'[{"age": 30}]', [{"age": 30}]),
    ],
)
def test_standard_input_is_read_in_the_format_that_it_shows(
    monkeypatch: pytest.MonkeyPatch, content: bytes, expected: list[Any]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert arrow_table(read("-")).to_pylist() == expected
    assert arrow_table(read("-")).to_pylist() == expected, "what is read once can be looked at again"


def test_binary_formats_come_through_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for write in (parquet.write_table, lambda rows, sink: feather.write_feather(rows, sink)):
        sink = io.BytesIO()
        write(ROWS, sink)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sink.getvalue())))
        assert lines(read("-")) == lines(ROWS)


def test_bad_standard_input_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for content, words in {
        b"": "is empty",
        f"a,b\n1,{SECRET},3\n".encode(): "Standard input, line 2: expected 2 fields, found 3",
        b"PAR1 cut": "not a Parquet file",
        gzip.compress(b"a,b\n1,2\n" * 99)[:-9]: "cut short or damaged",
    }.items():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        message = refused("-")
        assert message.startswith("Standard input")
        assert words in message


def test_whole_numbers_too_large_for_a_column_stay_text_in_json_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"n": {2**64 - 1}, "m": {2**63 - 1}}}\n{{"n": 1, "m": -1}}\n')
    expected = {"n": [str(2**64 - 1), "1"], "m": [2**63 - 1, -1]}
    assert arrow_table(read(tmp_path / "a.jsonl")).to_pydict() == expected


# Tables of database files


def sqlite_file(path: Path, *statements: str) -> Path:
    with sqlite3.connect(path) as session:
        for statement in statements:
            session.execute(statement)
    session.close()
    return path


def test_columns_of_sqlite_have_the_type_that_their_values_have(tmp_path: Path) -> None:
    table = 'the "patients"'
    file = sqlite_file(
        tmp_path / "clinic.db",
        'CREATE TABLE "the ""patients""" (a integer, b text, c real, d date, e boolean, f, g, h timestamp, i int, '
        "j date)",
        """INSERT INTO [the "patients"] VALUES
        (1, 'x', 1.5, '2020-01-02', 1, 'q', 9007199254740993, '2020-01-02 03:04:05', 9223372036854775807, 'soon'),
        (NULL, NULL, 2, NULL, 0, 3, 0.5, NULL, -9223372036854775808, '2020-01-02')""",
    )
    found = arrow_table(read(f"{file}?table={quote(table)}"))
    assert found.to_pylist() == [
        {"a": 1, "b": "x", "c": 1.5, "d": dt.date(2020, 1, 2), "e": True, "f": "q", "g": "9007199254740993",
         "h": dt.datetime.fromisoformat("2020-01-02 03:04:05"), "i": 2**63 - 1, "j": "soon"},
        {"a": None, "b": None, "c": 2.0, "d": None, "e": False, "f": "3", "g": "0.5", "h": None, "i": -(2**63),
         "j": "2020-01-02"},
    ]  # fmt: skip


def test_bytes_of_sqlite_can_only_be_dropped(tmp_path: Path) -> None:
    file = sqlite_file(
        tmp_path / "c.sqlite", "CREATE TABLE p (age, photo)", "INSERT INTO p VALUES (1, x'00'), (1, 'x')"
    )
    with pytest.raises(SchemaError, match="'photo'"):
        Table(read(file), {"age": quasi(), "photo": quasi()}).groups()
    assert Table(read(file), {"age": quasi(), "photo": identifier()}).n_rows == 2


def test_tables_and_views_of_duckdb_files_are_read_and_the_file_is_free_again(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE TABLE p AS SELECT 1 AS age, 'x' AS zip")
        session.execute("CREATE SCHEMA ward")
        session.execute("CREATE VIEW ward.v AS SELECT age + 1 AS age FROM p")
    assert arrow_table(read(f"{file}?table=p")).to_pylist() == [{"age": 1, "zip": "x"}]
    frame = read(f"{file}?table=ward.v")
    with duckdb.connect(str(file)) as session:
        session.execute("DROP VIEW ward.v")
    assert arrow_table(frame).to_pylist() == [{"age": 2}]


def test_database_files_that_cannot_be_read_are_one_line(tmp_path: Path) -> None:
    file = sqlite_file(tmp_path / "two.db", "CREATE TABLE a (x)", "CREATE TABLE b (x)")
    (tmp_path / "text.db").write_text(SECRET)
    (tmp_path / "torn.db").write_bytes(file.read_bytes()[:600])
    assert "has 2 tables" in refused(file)
    assert "no table of this name" in refused(f"{file}?table={SECRET.lower()}")
    assert "has columns but no rows" in refused(f"{file}?table=a")
    assert "neither a SQLite nor a DuckDB file" in refused(tmp_path / "text.db")
    assert "There is no file" in refused(f"{tmp_path}/none.db?table=a")
    assert "damaged" in refused(f"{tmp_path}/torn.db?table=a")
    used = tmp_path / "used.duckdb"
    with duckdb.connect(str(used)) as session:
        session.execute("CREATE TABLE p AS SELECT 1 AS age")
        assert "another program has it open" in refused(used)


@pytest.mark.parametrize(
    ("days", "type_"),
    [(["2024-01-31", "2024-02-29"], pa.date32()), (["2024-01-30", "2023-02-29"], pa.string())],
)
def test_partitions_are_dates_where_all_days_exist(days: list[str], type_: pa.DataType) -> None:
    names = [PurePath(f"day={day}/a.parquet") for day in days]
    assert partition_types(names, "visits") == {"day": type_}
