"""SPSS, Stata and SAS files: types, value labels, missing values."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from discreet import Table, other, quasi, read, sensitive
from discreet.core.errors import InputError, OutputError
from discreet.engines.duckdb.files import column_types
from discreet.engines.writing import write_frame
from discreet.guarantees import KAnonymity
from discreet.publish import Mondrian

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0, None],
        "age": [34.0, 99.0, 21.0, 50.0],
        "bmi": [28.1, 30.5, None, 22.0],
        "born": [dt.date(1990, 1, 2), dt.date(1925, 3, 4), dt.date(2003, 5, 6), dt.date(1974, 7, 8)],
        "town": ["Ulm", "Bonn", "", "Ulm"],
    }
)
LABELS = {"sex": {1: "Male", 2: "Female"}, "age": {99: "refused"}}
CODES = [(1, 34), (2, 99), (1, 21), (None, 50)]


def written(path: Path) -> Path:
    kind = path.suffix
    if kind in (".sav", ".zsav"):
        pyreadstat.write_sav(FRAME, str(path), variable_value_labels=LABELS, compress=kind == ".zsav")
    elif kind == ".dta":
        pyreadstat.write_dta(FRAME, str(path), variable_value_labels={"sex": LABELS["sex"]})
    elif kind == ".por":
        pyreadstat.write_por(FRAME, str(path))
    else:
        pyreadstat.write_xport(FRAME, str(path))
    return path


@pytest.mark.parametrize("kind", [".sav", ".zsav", ".dta", ".por", ".xpt"])
def test_types_and_values(tmp_path: Path, kind: str) -> None:
    frame = read(written(tmp_path / f"data{kind}"), labels=False)
    found = {name.lower(): type_ for name, type_ in column_types(frame)}
    assert found == {"sex": "BIGINT", "age": "BIGINT", "bmi": "DOUBLE", "born": "DATE", "town": "VARCHAR"}
    rows = frame.fetchall()
    assert [row[:2] for row in rows] == CODES
    assert [row[2] for row in rows] == [28.1, 30.5, None, 22.0]
    assert rows[0][3] == dt.date(1990, 1, 2)
    assert [row[4] for row in rows] == ["Ulm", "Bonn", None, "Ulm"]


@pytest.mark.parametrize("kind", [".sav", ".dta"])
def test_labels_are_used_where_they_cover_every_value(tmp_path: Path, kind: str) -> None:
    frame = read(written(tmp_path / f"data{kind}"))
    assert [row[0] for row in frame.fetchall()] == ["Male", "Female", "Male", None]
    assert dict(column_types(frame))["age"] == "BIGINT"


def test_labels_that_two_codes_share_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "data.sav"
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"a": {1: "yes", 2: "yes"}})
    assert read(path).fetchall() == [(1,), (2,)]


def test_values_that_the_author_calls_missing_are_nulls(tmp_path: Path) -> None:
    path = tmp_path / "data.sav"
    pyreadstat.write_sav(FRAME, str(path), missing_ranges={"age": [99]})
    assert [row[1] for row in read(path).fetchall()] == [34, None, 21, 50]


def test_options_for_reading(tmp_path: Path) -> None:
    frame = read(written(tmp_path / "data.sav"), labels=False, text=["sex"], nulls=["Bonn"])
    assert dict(column_types(frame))["sex"] == "VARCHAR"
    assert [row[4] for row in frame.fetchall()] == ["Ulm", None, None, "Ulm"]


@pytest.mark.parametrize("kind", [".sav", ".dta", ".sas7bdat", ".xpt", ".por"])
def test_a_damaged_file_shows_nothing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"data{kind}"
    path.write_text("Zebedee Quux " * 50)
    with pytest.raises(InputError, match=r"can be read") as caught:
        read(path)
    assert "Zebedee" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_without_the_package_the_way_to_install_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "data.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[statistics\]'"):
        read(path)


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_labels_survive_in_a_release(tmp_path: Path, kind: str) -> None:
    """First use (15): a release of an SPSS file was CSV without a word, and its labels were gone."""
    frame = pd.DataFrame(
        {"sex": [1, 2] * 10, "age": [30, 31] * 10, "pain": [3, 1] * 10, "score": [7, 99] * 10}
    )
    labels = {
        "sex": {1: "Male", 2: "Female", 9: "Unknown"},
        "pain": {1: "none", 3: "severe"},
        "score": {99: "refused"},
    }
    about = {"sex": "Sex at birth", "pain": "Pain on admission"}
    path = tmp_path / f"visits.{kind}"
    getattr(pyreadstat, f"write_{kind}")(frame, str(path), column_labels=about, variable_value_labels=labels)
    columns = {"sex": quasi(), "age": quasi(), "pain": sensitive(), "score": other()}
    release = Mondrian(KAnonymity(5)).release(Table(read(path), columns))
    folder = release.write(tmp_path / "release", format=kind)
    values, metadata = getattr(pyreadstat, f"read_{kind}")(str(folder / f"data.{kind}"), output_format="dict")
    assert sorted(values["pain"])[0::10] == [1, 3]
    assert sorted(values["sex"])[0::10] == [1, 2]
    assert metadata.variable_value_labels == {
        "sex": {1: "Male", 2: "Female"},
        "pain": {1: "none", 3: "severe"},
        "score": {99: "refused"},
    }
    assert metadata.column_names_to_labels["pain"] == "Pain on admission"
    assert release.write(tmp_path / "again", format=kind)
    assert (tmp_path / "again" / f"data.{kind}").read_bytes() == (folder / f"data.{kind}").read_bytes()


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_names_and_values_that_the_format_cannot_hold_are_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(OutputError, match="rename 'a-b'"):
        write_frame(pa.table({"a-b": [1]}), tmp_path / f"x.{kind}")
    with pytest.raises(OutputError, match="below 2\\^53"):
        write_frame(pa.table({"a": [2**60]}), tmp_path / f"x.{kind}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_types_come_back(tmp_path: Path, kind: str) -> None:
    rows = pa.table(
        {
            "n": [1, None, 3],
            "x": [0.5, None, float("nan")],
            "t": ["ä", None, "b"],
            "b": [True, False, None],
            "day": [dt.date(2020, 1, 2), None, dt.date(1950, 3, 4)],
        }
    )
    write_frame(rows, tmp_path / f"x.{kind}")
    again = read(tmp_path / f"x.{kind}").fetchall()
    assert again == [
        (1, 0.5, "ä", "true", dt.date(2020, 1, 2)),
        (None, None, None, "false", None),
        (3, None, "b", None, dt.date(1950, 3, 4)),
    ]
