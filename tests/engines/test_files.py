from __future__ import annotations

import datetime as dt
import gc
import gzip
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from discreet.core.errors import InputError, ParameterError
from discreet.engines.duckdb import coded_text, delimited
from discreet.engines.duckdb.connection import connect
from discreet.engines.duckdb.files import column_types
from discreet.engines.files import read

SECRET = "Sekretowski"


def put(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    return read(path, **options).fetchall()


def column(folder: Path, values: list[str], delimiter: str = ",", **options: Any) -> tuple[str, list[Any]]:
    """Read one column of the given cells beside a column of text, and give its type and values."""
    lines = [f"x{delimiter}y"] + [f'"{value}"{delimiter}w' for value in values]
    relation = read(put(folder, "\n".join(lines) + "\n"), **options)
    return column_types(relation)[0][1], [row[0] for row in relation.fetchall()]


def refused(path: Path, **options: Any) -> str:
    """Read a file that must be refused, and check that the refusal is one line without the secret."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    message = str(error)
    assert "\n" not in message
    assert SECRET.lower() not in repr(error).lower()
    return message


# Types


@pytest.mark.parametrize(
    ("cells", "type_", "values"),
    [
        (["1", "-20", "0"], "BIGINT", [1, -20, 0]),
        (["9223372036854775807", "-9223372036854775808"], "BIGINT", [2**63 - 1, -(2**63)]),
        (["9223372036854775808", "1"], "VARCHAR", ["9223372036854775808", "1"]),
        (["123456789012345678901", "1.5"], "VARCHAR", ["123456789012345678901", "1.5"]),
        (["2139", "02139"], "VARCHAR", ["2139", "02139"]),
        (["1.5", "02139"], "VARCHAR", ["1.5", "02139"]),
        (["+41", "2"], "VARCHAR", ["+41", "2"]),
        (["1E5", "2"], "VARCHAR", ["1E5", "2"]),
        (["1_000", "2"], "VARCHAR", ["1_000", "2"]),
        (["0x10", "2"], "VARCHAR", ["0x10", "2"]),
        (["1.5", "2", ".25", "-0.0"], "DOUBLE", [1.5, 2.0, 0.25, 0.0]),
        (["1e-05", "1.5e3", "2e+20"], "DOUBLE", [1e-05, 1500.0, 2e20]),
        (["1.5e999", "1"], "VARCHAR", ["1.5e999", "1"]),
        (["inf", "1"], "VARCHAR", ["inf", "1"]),
        (["-inf", "1.5"], "VARCHAR", ["-inf", "1.5"]),
        (["Infinity", "1.5"], "VARCHAR", ["Infinity", "1.5"]),
        (["1,5", "2", "0,123"], "DOUBLE", [1.5, 2.0, 0.123]),
        (["1,234,567", "12"], "BIGINT", [1234567, 12]),
        (["1,234", "12"], "BIGINT", [1234, 12]),
        (["1,234.5", "12"], "DOUBLE", [1234.5, 12.0]),
        (["1,234", "5678"], "VARCHAR", ["1,234", "5678"]),
        (["1.234.567,8", "1,5"], "DOUBLE", [1234567.8, 1.5]),
        (["1.234.567", "12"], "BIGINT", [1234567, 12]),
        (["1 234", "12"], "BIGINT", [1234, 12]),
        (["1\u00a0234,5", "12\u202f000"], "DOUBLE", [1234.5, 12000.0]),
        (["1'234.5", "12"], "DOUBLE", [1234.5, 12.0]),
        (["9,223,372,036,854,775,808", "1"], "VARCHAR", ["9,223,372,036,854,775,808", "1"]),
        (["1.234", "2.500"], "DOUBLE", [1.234, 2.5]),
        (["true", "FALSE"], "BOOLEAN", [True, False]),
        (["true", "yes"], "VARCHAR", ["true", "yes"]),
        (["1", "true"], "VARCHAR", ["1", "true"]),
        (["2020-02-29", "1999-12-31"], "DATE", [dt.date(2020, 2, 29), dt.date(1999, 12, 31)]),
        (["2021-02-29", "1999-12-31"], "VARCHAR", ["2021-02-29", "1999-12-31"]),
        (["31/12/2020", "1/2/2020"], "DATE", [dt.date(2020, 12, 31), dt.date(2020, 2, 1)]),
        (["12/31/2020", "1/2/2020"], "DATE", [dt.date(2020, 12, 31), dt.date(2020, 1, 2)]),
        (["31.12.2020", "01.02.2020"], "DATE", [dt.date(2020, 12, 31), dt.date(2020, 2, 1)]),
        (["2020/12/31", "2020/1/2"], "DATE", [dt.date(2020, 12, 31), dt.date(2020, 1, 2)]),
        (["1/2/2020", "3/4/2020"], "VARCHAR", ["1/2/2020", "3/4/2020"]),
        (["31/12/2020", "12/31/2020"], "VARCHAR", ["31/12/2020", "12/31/2020"]),
        (["31/12/2020", "31.12.2020"], "VARCHAR", ["31/12/2020", "31.12.2020"]),
        (["31/12/20", "1/2/20"], "VARCHAR", ["31/12/20", "1/2/20"]),
        (["2020-01-02T03:04:05", "2020-01-02 03:04"], "TIMESTAMP",
         [dt.datetime.fromisoformat("2020-01-02 03:04:05"), dt.datetime.fromisoformat("2020-01-02 03:04:00")]),
        (["2020-01-02T03:04:05+02:00", "2020-01-02T03:04:05Z"], "TIMESTAMP",
         [dt.datetime.fromisoformat("2020-01-02 01:04:05"), dt.datetime.fromisoformat("2020-01-02 03:04:05")]),
        (["2020-01-02", "2020-01-02 03:04"], "VARCHAR", ["2020-01-02", "2020-01-02 03:04"]),
        (["NA", "", "NULL"], "VARCHAR", [None, None, None]),
        (["None", "NA"], "VARCHAR", ["None", None]),
        (["1", "?", " NaN "], "BIGINT", [1, None, None]),
    ],
)  # fmt: skip
def test_type_of_a_column(tmp_path: Path, cells: list[str], type_: str, values: list[Any]) -> None:
    assert column(tmp_path, cells) == (type_, values)


def test_a_column_gets_its_type_from_its_first_values_however_many_nulls_come_before(tmp_path: Path) -> None:
    lines = ["full,late,never", *["a,,"] * 1500, "b,7,", "c,8,"]
    found = column_types(read(put(tmp_path, "\n".join(lines) + "\n")))
    assert found == [("full", "VARCHAR"), ("late", "BIGINT"), ("never", "VARCHAR")]


@pytest.mark.parametrize(
    ("cells", "delimiter", "options", "type_", "values"),
    [
        (["1,234"], ";", {}, "DOUBLE", [1.234]),
        (["1,234"], ";", {"decimal": "."}, "BIGINT", [1234]),
        (["1,234"], ",", {"decimal": ","}, "DOUBLE", [1.234]),
        (["1.234"], ";", {}, "DOUBLE", [1.234]),
        (["1.234"], ";", {"decimal": ","}, "BIGINT", [1234]),
        (["1.234"], ",", {"thousands": "."}, "BIGINT", [1234]),
        (["1,234"], ",", {"thousands": ""}, "VARCHAR", ["1,234"]),
        (["1 234"], ",", {"thousands": ""}, "VARCHAR", ["1 234"]),
        (["1/2/2020"], ",", {"dates": "dmy"}, "DATE", [dt.date(2020, 2, 1)]),
        (["1/2/2020"], ",", {"dates": "mdy"}, "DATE", [dt.date(2020, 1, 2)]),
        (["31/12/2020"], ",", {"dates": "mdy"}, "VARCHAR", ["31/12/2020"]),
        (["1/2/2020"], ",", {"dates": "ymd"}, "VARCHAR", ["1/2/2020"]),
        (["-", "1"], ",", {"nulls": ["-"]}, "BIGINT", [None, 1]),
        (["", "a"], ",", {"nulls": ["-"]}, "VARCHAR", ["", "a"]),
        (["NA", "a"], ",", {"nulls": []}, "VARCHAR", ["NA", "a"]),
        (["a,b", "1"], ",", {"nulls": ["a,b"]}, "BIGINT", [None, 1]),
        (["12", "7"], ",", {"text": ["x"]}, "VARCHAR", ["12", "7"]),
    ],
)
def test_options_decide(
    tmp_path: Path, cells: list[str], delimiter: str, options: dict[str, Any], type_: str, values: list[Any]
) -> None:
    assert column(tmp_path, cells, delimiter, **options) == (type_, values)


def test_one_odd_value_far_down_keeps_the_column_text(tmp_path: Path) -> None:
    cells = [str(number) for number in range(1, 30_001)] + ["02139"]
    type_, values = column(tmp_path, cells)
    assert type_ == "VARCHAR"
    assert values == cells


def test_a_late_fraction_makes_whole_numbers_decimal(tmp_path: Path) -> None:
    type_, values = column(tmp_path, ["7"] * 5000 + ["0.5"])
    assert type_ == "DOUBLE"
    assert values == [7.0] * 5000 + [0.5]


def test_the_file_decides_what_one_column_leaves_open(tmp_path: Path) -> None:
    european = put(tmp_path, "a;b\n1,5;1.234\n2,25;987\n")
    assert rows(european) == [(1.5, 1234), (2.25, 987)]
    english = put(tmp_path, "a;b\n1.5;1,234\n2.25;987\n")
    assert rows(english) == [(1.5, 1234), (2.25, 987)]


@given(st.data())
def test_many_rows_are_typed_by_their_distinct_values(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cells = st.sampled_from(["1", "1.5", "1,5", "2024-01-31", " padded", "true", "x", "NA", ""])
    columns = [data.draw(st.lists(cells, min_size=20, max_size=20)) for _ in range(2)]
    columns.append([f"{data.draw(cells)}{number}" for number in range(20)])
    lines = [";".join(f'"{cell}"' for cell in record) for record in zip(*columns, strict=True)]
    path = put(tmp_path_factory.mktemp("many"), "few;other;many\n" + "\n".join(lines) + "\n")
    options = {"nulls": data.draw(st.sampled_from([(), ("NA",), (" padded",), ("1;5",)]))}
    expected = read(path, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "SMALLEST", 1)
        patch.setattr(delimited, "_SMALL", data.draw(st.sampled_from([0, delimited._SMALL])))
        patch.setattr(coded_text, "_SAMPLE", data.draw(st.sampled_from([8, 80])))
        typed = read(path, **options)
    assert column_types(typed) == column_types(expected)
    assert typed.fetchall() == expected.fetchall()


@given(
    st.lists(st.integers(-(10**25), 10**25) | st.none(), min_size=1).filter(
        lambda x: any(y is not None for y in x)
    )
)
@example([-(2**63), 2**63 - 1])
@example([2**63])
def test_integers_survive(tmp_path_factory: pytest.TempPathFactory, values: list[int | None]) -> None:
    cells = ["" if value is None else str(value) for value in values]
    type_, read_back = column(tmp_path_factory.mktemp("ints"), cells)
    fits = all(value is None or -(2**63) <= value < 2**63 for value in values)
    assert type_ == ("BIGINT" if fits else "VARCHAR")
    assert [None if value is None else int(value) for value in read_back] == values


# Delimiters, quotes, lines, encodings


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_delimiters_and_line_ends(tmp_path: Path, delimiter: str, line_end: str, end: str) -> None:
    lines = [["a", "b", "c"], ["1", '"x, y; z| ""q"""', "u"], ["2", '"two\nlines"', "v"]]
    content = "\n".join(delimiter.join(line) for line in lines) + end
    path = put(tmp_path, content.replace("\n", line_end), "data.txt")
    assert rows(path) == [(1, 'x, y; z| "q"', "u"), (2, f"two{line_end}lines", "v")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\r\n1,x\n2,y\r\n3,z\n", [(1, "x"), (2, "y"), (3, "z")]),
        ("a,b\n1,x\n   \n2,y\n", [(1, "x"), (2, "y")]),
        ("\n\na,b\n1,x\n", [(1, "x")]),
        ("a,b\n1,x\n\n2,y\n", [(1, "x"), (2, "y")]),
        ("a , b\n 1 , x y \n\t2,\u00a0z\n", [(1, "x y"), (2, "z")]),
        ('a, b\n1, "x, y"\n', [(1, "x, y")]),
        ("a,b\n1,5\" pipe\n", [(1, '5" pipe')]),
        ('"a\nb",c\n1,x\n', [(1, "x")]),
        ("a,b\n1,\n,\n", [(1, None), (None, None)]),
        ("a\n1\n\n3\n\n\n", [(1,), (None,), (3,)]),
        ('a\nx\n""\n', [("x",), (None,)]),
        ("a\nx\r\n\ny\n\n", [("x",), (None,), ("y",)]),
        ("sum\n1 234\n", [(1234,)]),
        ("Größe,名\n1,x\n", [(1, "x")]),
        ("2019,2020,2021\n1,2,3\n", [(1, 2, 3)]),
    ],
)  # fmt: skip
def test_odd_but_readable_text(tmp_path: Path, content: str, expected: list[tuple[Any, ...]]) -> None:
    assert rows(put(tmp_path, content)) == expected


@pytest.mark.parametrize("length", [10_000, 3_000_000, 10_000_000])
def test_long_cells(tmp_path: Path, length: int) -> None:
    path = put(tmp_path, f"a,b\n1,{'é' * 10}{'z' * length}\n2,y\n")
    assert read(path).project("a, length(b)").fetchall() == [(1, length + 10), (2, 1)]


def test_no_header_and_no_quote(tmp_path: Path) -> None:
    path = put(tmp_path, '1,"x\n2,y\n')
    relation = read(path, header=False, quote="")
    assert column_types(relation) == [("column1", "BIGINT"), ("column2", "VARCHAR")]
    assert relation.fetchall() == [(1, '"x'), (2, "y")]


@pytest.mark.parametrize(
    ("codec", "encoding"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8-sig", "utf-8"),
        ("utf-16", None),
        ("utf-16-le", "utf-16-le"),
        ("utf-32", None),
        ("latin-1", "latin-1"),
        ("cp1252", "cp1252"),
    ],
)
@pytest.mark.parametrize("header", [True, False])
def test_encodings(tmp_path: Path, codec: str, encoding: str | None, header: bool) -> None:
    content = ("name,n\n" if header else "") + "Zoë,1\nÅsa,2\n"
    path = put(tmp_path, content.encode(codec))
    assert rows(path, encoding=encoding, header=header) == [("Zoë", 1), ("Åsa", 2)]


@pytest.mark.parametrize("name", ["a.csv", "b.CSV", "c.tsv", "d.txt", "e.dat", "f", "g[1]*?.csv", "it's.csv"])
def test_names_of_delimited_files(tmp_path: Path, name: str) -> None:
    mark = "\t" if name.endswith("tsv") else ","
    folder = tmp_path / "year=2020"
    folder.mkdir()
    (folder / "g1x.csv").write_text("other,file\n8,9\n")
    path = put(folder, f"a{mark}b\n1{mark}02\n", name)
    assert rows(path) == [(1, "02")]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_compressed_text(tmp_path: Path, suffix: str, kind: str) -> None:
    plain = {"csv": "a,b\n1,02\n", "jsonl": '{"a": 1, "b": "02"}\n'}[kind].encode()
    packed = gzip.compress(plain) if suffix == ".gz" else pa.compress(plain, "zstd", asbytes=True)
    assert rows(put(tmp_path, packed, f"data.{kind}{suffix}")) == [(1, "02")]


# Columnar files and JSON


def write_columnar(table: pa.Table, path: Path, chunk: int = 2) -> None:
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".arrows":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=chunk)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=chunk)


COLUMNAR = ["data.parquet", "data.arrow", "data.feather", "data.ipc", "data.arrows"]


@pytest.mark.parametrize("name", COLUMNAR)
def test_columnar_files(tmp_path: Path, name: str) -> None:
    table = pa.table(
        {
            "n": pa.array([1, None, 3]),
            "zip": ["02139", "1", None],
            "day": pa.array([dt.date(2020, 1, 2), None, None]),
            "word": pa.array(["a", "b", "a"]).dictionary_encode(),
            "nothing": pa.nulls(3),
        }
    )
    write_columnar(table, tmp_path / name)
    relation = read(tmp_path / name, text=["n"])
    assert [type_ for _, type_ in column_types(relation)] == [
        "VARCHAR",
        "VARCHAR",
        "DATE",
        "VARCHAR",
        "VARCHAR",
    ]
    first = ("1", "02139", dt.date(2020, 1, 2), "a", None)
    assert relation.fetchall() == [first, (None, "1", None, "b", None), ("3", None, None, "a", None)]
    assert len(relation.fetchall()) == 3


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
def test_columnar_files_are_scanned_in_order_and_in_place(tmp_path: Path, name: str) -> None:
    query = "SELECT range AS i, repeat('x', 50) || range AS s FROM range(300_000)"
    write_columnar(connect().sql(query).to_arrow_table(), tmp_path / name, chunk=10_000)
    relation = read(tmp_path / name)
    assert [row[0] for row in relation.project("i").fetchall()] == list(range(300_000))
    assert relation.query("r", "SELECT count(*) FROM duckdb_tables() WHERE NOT internal").fetchall() == [(0,)]


def test_json_lines(tmp_path: Path) -> None:
    content = """
        {"n": 1, "zip": "02139", "x": 1, "day": "2020-01-02", "b": true, "mix": 1, "big": 12345678901234567890123}
        {"zip": "1", "x": 2.5, "day": null, "b": false, "mix": "a", "a/b\\"~c": "é\\n"}
    """
    relation = read(put(tmp_path, content, "data.jsonl"))
    assert column_types(relation) == [
        ("n", "BIGINT"),
        ("zip", "VARCHAR"),
        ("x", "DOUBLE"),
        ("day", "DATE"),
        ("b", "BOOLEAN"),
        ("mix", "VARCHAR"),
        ("big", "VARCHAR"),
        ('a/b"~c', "VARCHAR"),
    ]
    assert relation.fetchall() == [
        (1, "02139", 1.0, dt.date(2020, 1, 2), True, "1", "12345678901234567890123", None),
        (None, "1", 2.5, None, False, "a", None, "é\n"),
    ]


@pytest.mark.parametrize("name", ["data.json", "data.ndjson"])
def test_json_array(tmp_path: Path, name: str) -> None:
    assert rows(put(tmp_path, '[{"a": 1},\n {"a": 2}]', name)) == [(1,), (2,)]


# Bad input


GOOD = f"name,age\n{SECRET},41\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("name,age\n", "no rows"),
        (GOOD + f"{SECRET}\n", "line 3: expected 2 fields, found 1"),
        (GOOD + f'"{SECRET}\n\n",7\n{SECRET},5,6\n', "line 6: expected 2 fields, found 3"),
        (GOOD + f'"{SECRET},5\n', "line 3: a quoted field is never closed"),
        (GOOD + f'"{SECRET}"x,5\n', "line 3: a quoted field"),
        (GOOD + f"{SECRET}\0,5\n", "NUL byte on line 3"),
        (f"{SECRET},{SECRET}\n1,2\n", "columns 1 and 2 have the same name"),
        (f"{SECRET},{SECRET.upper()}\n1,2\n", "columns 1 and 2 have the same name"),
        (f"{SECRET},\n1,2\n", "column 2 has no name"),
        (f"{SECRET},41,1.5\nx,2,3\n", "looks like data"),
        (f"{SECRET},1970-01-31\nx,1971-01-31\n", "looks like data"),
        (f"{SECRET} {'z' * 300},b\nx,y\n", "looks like data"),
        (GOOD.encode() + f"{SECRET}é,5\n".encode("latin-1"), 'not UTF-8 text (line 3); try encoding="cp1252"'),
        (GOOD.encode() + f"{SECRET},5".encode() + b"\xc3", "not UTF-8 text"),
        ("\ufeff".encode("utf-16-le") + GOOD.encode("utf-16-le")[:-1], "not utf-16 text"),
    ],
)  # fmt: skip
def test_bad_delimited_text(tmp_path: Path, content: str | bytes, said: str) -> None:
    assert said in refused(put(tmp_path, content)).replace("is not", "not")


def test_a_late_ragged_row_is_named_by_its_line(tmp_path: Path) -> None:
    content = GOOD + f"{SECRET},1\n" * 200_000 + f"{SECRET},1,2\n" + f"{SECRET},1\n" * 50_000
    assert "line 200003: expected 2 fields, found 3" in refused(put(tmp_path, content))


def test_wrong_given_encoding(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD.encode() + f"{SECRET}é,5\n".encode("latin-1"))
    assert "not utf-8 text" in refused(path, encoding="utf-8")
    assert "not ascii text" in refused(path, encoding="ascii")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f'{{"a": "{SECRET}"}}\n{{"a": {SECRET}}}\n', "line 2: not valid JSON"),
        (f'{{"a": 1}}\n\n{{"a": "{SECRET}"\n', "line 3: not valid JSON"),
        (f'{{"a": 1}}\n["{SECRET}"]\n', "line 2: not a JSON object"),
        (f'{{"a": 1, "A": "{SECRET}"}}\n', "columns 1 and 2 have the same name"),
        (f'[{{"a": "{SECRET}"}}, 5]', "not a JSON array of objects"),
        (f'[{{"a": "{SECRET}"}}, ', "not a JSON array of objects"),
        ("[]", "no rows"),
        ("{}\n", "no columns"),
        ("\n", "no rows"),
        ("", "is empty"),
    ],
)
def test_bad_json(tmp_path: Path, content: str, said: str) -> None:
    assert said in refused(put(tmp_path, content, "data.jsonl"))


@pytest.mark.parametrize("name", COLUMNAR)
def test_nested_columns_stay_or_become_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_columnar(pa.table({"a": [["x"]], "b": [{"c": 1}], "d": [b"e"]}), path)
    assert [str(type_) for type_ in read(path).types] == ["VARCHAR[]", "STRUCT(c BIGINT)", "BLOB"]
    assert read(path, text=("a", "b", "d")).fetchall() == [("[x]", "{'c': 1}", "e")]


def test_nested_json_stays_or_becomes_text(tmp_path: Path) -> None:
    path = put(tmp_path, '{"a": 1, "b": {"c": "x"}}\n{"a": 2, "b": [1]}\n', "data.jsonl")
    assert [str(type_) for type_ in read(path).types] == ["BIGINT", "BLOB"]
    assert read(path, text=("b",)).fetchall() == [(1, '{"c":"x"}'), (2, "[1]")]


@pytest.mark.parametrize("name", COLUMNAR)
def test_bad_columnar_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    good = pa.table({"a": [SECRET] * 1000, "b": [str(number) for number in range(1000)]})
    write_columnar(good, path)
    whole = path.read_bytes()
    assert "that can be read" in refused(put(tmp_path, GOOD, name)).replace(
        "a Parquet file", "that can be read"
    )
    assert "cut short" in refused(put(tmp_path, whole[: len(whole) // 2], name))
    assert "is empty" in refused(put(tmp_path, b"", name))
    write_columnar(good.slice(0, 0), path)
    assert "no rows" in refused(path)
    write_columnar(pa.table([[SECRET], [SECRET]], names=["a", "A"]), path)
    assert "columns 1 and 2 have the same name" in refused(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_broken_archives(tmp_path: Path, suffix: str) -> None:
    plain = (GOOD + "".join(f"{SECRET}{number * 7919},{number}\n" for number in range(50_000))).encode()
    packed = gzip.compress(plain) if suffix == ".gz" else pa.compress(plain, "zstd", asbytes=True)
    path = put(tmp_path, packed[: len(packed) // 2], "data.csv" + suffix)
    assert "cut short" in refused(path)
    assert "is not a" in refused(put(tmp_path, GOOD, "data.csv" + suffix))
    assert "is empty" in refused(put(tmp_path, b"", "data.csv" + suffix))


def test_places_that_are_no_files(tmp_path: Path) -> None:
    assert "There is no file" in refused(tmp_path / "missing.csv")
    assert "names no file of data" in refused(tmp_path)


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, GOOD)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, f"no {SECRET}")

    monkeypatch.setattr(Path, "open", denied)
    assert "permission denied" in refused(path)


def test_text_must_name_columns_that_exist(tmp_path: Path) -> None:
    assert "no column 'nmae'" in refused(put(tmp_path, GOOD), text=["nmae"])


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ""},
        {"delimiter": ",,"},
        {"quote": "''"},
        {"decimal": ";"},
        {"decimal": ",", "thousands": ","},
        {"dates": "dym"},
        {"encoding": "klingon"},
        {"encoding": "hex"},
    ],
)
def test_wrong_options(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(reversed(options))):
        read(put(tmp_path, GOOD), **options)


# Connections and scratch space


def test_the_relation_outlives_everything_else(tmp_path: Path) -> None:
    relation = read(put(tmp_path, "a,b\n1,x\n"))
    (tmp_path / "data.csv").unlink()
    gc.collect()
    assert relation.filter("a = 1").fetchall() == [(1, "x")]


def test_memory_is_bounded_and_the_network_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def setting(name: str) -> Any:
        found = connect().execute("SELECT current_setting(?)", [name]).fetchone()
        return found and found[0]

    assert setting("memory_limit") in ("667.5 MiB", "700.0 MB")
    monkeypatch.setenv("DISCREET_MEMORY", "200MiB")
    assert setting("memory_limit") == "200.0 MiB"
    assert setting("autoinstall_known_extensions") is False
    assert setting("autoload_known_extensions") is False
    folder = Path(setting("temp_directory"))
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    monkeypatch.setenv("DISCREET_MEMORY", "plenty")
    with pytest.raises(ParameterError, match="memory"):
        connect()


def test_a_table_larger_than_memory_spills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_MEMORY", "150MB")
    path = tmp_path / "big.csv"
    query = (
        "SELECT range AS i, md5(range::VARCHAR) AS a, md5((range + 1)::VARCHAR) AS b FROM range(2_000_000)"
    )
    connect().sql(query).write_csv(str(path))
    relation = read(path)
    assert relation.aggregate("count(*), max(i), count(DISTINCT a[1:2])").fetchall() == [
        (2_000_000, 1_999_999, 256)
    ]


def run(code: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    here = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": here}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def test_scratch_space_vanishes_and_leftovers_of_killed_runs_too(tmp_path: Path) -> None:
    path = put(tmp_path, f"a\n{SECRET}é\n".encode("latin-1"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    reading = f"from discreet.engines.files import read; r = read({str(path)!r}, encoding='latin-1')"
    done = run(f"{reading}; import os, signal; os.kill(os.getpid(), signal.SIGKILL)", scratch)
    assert done.returncode == -9, done.stderr
    assert len(list(scratch.iterdir())) == 1
    assert not [
        file for file in scratch.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()
    ]
    done = run(f"{reading}; print(r.fetchall())", scratch)
    assert done.returncode == 0, done.stderr
    assert list(scratch.iterdir()) == []


# Real files


def test_real_files(shared_data: Path) -> None:
    adult = read(shared_data / "adult-arx" / "adult.csv.gz")
    assert len(adult) == 30_162
    assert dict(column_types(adult))["age"] == "BIGINT"
    assert "looks like data" in refused(shared_data / "adult-uci" / "adult.data.gz")
    uci = read(shared_data / "adult-uci" / "adult.data.gz", header=False)
    assert len(uci) == 32_561
    assert uci.aggregate("count(*) FILTER (WHERE column2 IS NULL)").fetchall() == [(1_836,)]


def test_errors_of_duckdb_never_come_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise duckdb.IOException(f"No space left on device: {SECRET}")

    monkeypatch.setattr("discreet.engines.duckdb.coded_text.infer", failing)
    assert "temporary files is full" in refused(put(tmp_path, GOOD))
