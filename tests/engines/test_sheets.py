"""Spreadsheets: what people keep in Excel and OpenDocument files, read with its types and written without traps."""

from __future__ import annotations

import datetime as dt
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import xlsxwriter

from discreet import read
from discreet.core.errors import InputError, OutputError
from discreet.engines.duckdb.files import column_types
from discreet.engines.writing import write_frame

SECRET = "Zebedee Quux"
CONTENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.2"><office:body><office:spreadsheet><table:table table:name="one">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""

MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">
<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>"""


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for row, cells in enumerate(rows):
                for column, cell in enumerate(cells):
                    if isinstance(cell, dt.date):
                        sheet.write_datetime(row, column, cell, day)
                    elif isinstance(cell, str):
                        sheet.write_string(row, column, cell)
                    elif cell is not None:
                        sheet.write(row, column, cell)
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = [
        ["age", "zip", "bmi", "born", "member", "note"],
        [34, "02139", 28.1, dt.date(1990, 2, 1), True, " a "],
        [51, "10001", 30, dt.date(1973, 5, 9), False, "?"],
        [None, "94110", None, None, None, 7],
    ]
    return workbook(tmp_path / "people.xlsx", {"first": rows, "second": [["x"], [1]]})


def test_cells_keep_their_types(people: Path) -> None:
    frame = read(people)
    assert column_types(frame) == [
        ("age", "BIGINT"), ("zip", "VARCHAR"), ("bmi", "DOUBLE"), ("born", "DATE"), ("member", "BOOLEAN"),
        ("note", "VARCHAR"),
    ]  # fmt: skip
    assert frame.fetchall() == [
        (34, "02139", 28.1, dt.date(1990, 2, 1), True, "a"),
        (51, "10001", 30.0, dt.date(1973, 5, 9), False, None),
        (None, "94110", None, None, None, "7"),
    ]


def test_a_sheet_is_chosen_by_name_or_number(people: Path) -> None:
    assert read(people, sheet="second").columns == ["x"]
    assert read(people, sheet=2).columns == ["x"]
    assert read(people, sheet="2").columns == ["x"]
    for wrong in ("third", 3):
        with pytest.raises(InputError, match="no sheet"):
            read(people, sheet=wrong)


def test_options_for_reading(people: Path, tmp_path: Path) -> None:
    assert column_types(read(people, text=["age"]))[0] == ("age", "VARCHAR")
    bare = workbook(tmp_path / "bare.xlsx", {"a": [[1, "x"], [2, "NA"]]})
    assert read(bare, header=False).fetchall() == [(1, "x"), (2, None)]
    with pytest.raises(InputError, match="looks like data"):
        read(bare)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "empty"),
        ([["a", "b"]], "no rows"),
        ([["a", "a"], [1, 2]], "same name"),
        ([["a", ""], [1, 2]], "no name"),
    ],
)
def test_sheets_that_are_no_table(tmp_path: Path, rows: list[list[Any]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(workbook(tmp_path / "odd.xlsx", {"a": rows}))


def test_a_damaged_file_shows_nothing(tmp_path: Path) -> None:
    for name in ("data.xlsx", "data.xls", "data.ods"):
        path = tmp_path / name
        path.write_text(SECRET)
        with pytest.raises(InputError, match="not a spreadsheet") as caught:
            read(path)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_open_document_sheets(tmp_path: Path) -> None:
    def cell(value: str) -> str:
        kind = "float" if value.replace(".", "").isdigit() else "string"
        number = f' office:value="{value}"' if kind == "float" else ""
        return f'<table:table-cell office:value-type="{kind}"{number}><text:p>{value}</text:p></table:table-cell>'

    rows = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>"
        for row in (["age", "town"], ["34", "Ulm"])
    )
    path = tmp_path / "data.ods"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("META-INF/manifest.xml", MANIFEST)
        packed.writestr("content.xml", CONTENT.format(rows=rows))
    assert read(path).fetchall() == [(34, "Ulm")]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    table = pa.table(
        {
            "n": pa.array([1, None, 3]),
            "x": pa.array([0.5, float("nan"), 2.25]),
            "t": pa.array(["=1+1", "http://a.b", "0042"]),
            "d": pa.array([dt.date(2024, 1, 2), None, dt.date(1999, 12, 31)]),
            "m": pa.array([dt.datetime(2024, 1, 2, 3, 4, 5)] * 3),
            "b": pa.array([True, False, None]),
        }
    )
    path = write_frame(table, tmp_path / "data.xlsx")
    found = read(path).fetchall()
    assert found == [
        (1, 0.5, "=1+1", dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4, 5), True),
        (None, None, "http://a.b", None, dt.datetime(2024, 1, 2, 3, 4, 5), False),
        (3, 2.25, "0042", dt.date(1999, 12, 31), dt.datetime(2024, 1, 2, 3, 4, 5), None),
    ]
    with zipfile.ZipFile(path) as packed:
        sheet = packed.read("xl/worksheets/sheet1.xml").decode()
        assert "<f>" not in sheet
        assert "hyperlink" not in sheet


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2]})
    first, second = (write_frame(table, tmp_path / name).read_bytes() for name in ("a.xlsx", "b.xlsx"))
    assert first == second


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="1,048,575 rows"):
        write_frame(pa.table({"a": pa.nulls(1_048_576, pa.int8())}), tmp_path / "data.xlsx")
    assert not (tmp_path / "data.xlsx").exists()


def test_without_the_package_the_way_to_install_it_is_named(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[excel\]'"):
        read(people)
    with pytest.raises(OutputError, match=r"pip install 'discreet\[excel\]'"):
        write_frame(pa.table({"a": [1]}), people.with_name("new.xlsx"))


def test_a_spreadsheet_called_text_is_named_for_what_it_is(people: Path) -> None:
    with pytest.raises(InputError, match="spreadsheet, not text"):
        read(people.rename(people.with_suffix(".csv")))
