"""`discreet hierarchy`: a file to edit, checked without naming a value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import read
from discreet.core.hierarchy.specs import read_hierarchy
from discreet.engines.writing import write_frame
from discreet.job.hierarchy_files import check_hierarchy, suggest_hierarchy, write_hierarchy

SECRET = "Zebedee Quux"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = [
        f"{20 + n % 20},{['[0-10)', '[10-20)', '[20-30)'][n % 3]},{['Ulm', 'Bonn'][n % 2]}" for n in range(60)
    ]
    path.write_text("age,band,town\n" + "\n".join([*rows, f"33,[0-10),{SECRET}"]) + "\n")
    return path


def test_a_file_is_made_edited_checked_and_used(invoke, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "age.csv"
    made = invoke("hierarchy", "init", data, "--column", "age", "--out", out)
    assert made.exit_code == 0, made.output
    lines = out.read_text().splitlines()
    assert lines[0] == "20;[20, 24];[20, 29];[20, 39];*"
    out.write_text(out.read_text().replace("[20, 24]", "early twenties"))
    checked = invoke("hierarchy", "check", out, "--data", data, "--column", "age", "--json")
    plain = json.loads(checked.stdout)
    assert plain["ok"]
    assert plain["nodes"] == [20, 4, 2, 1, 1]
    for way in (f"age={out}", f"age=file:{out}"):
        release = tmp_path / f"release{len(way)}"
        ran = invoke("anonymize", data, "--quasi", "age", "--rest", "identifier", "-k", "3", "--hierarchy", way,
                     "--method", "generalization", "--level", "age=1", "--out", release, "--no-report")  # fmt: skip
        assert ran.exit_code == 0, ran.output
        assert "early twenties" in (release / "data.csv").read_text()


def test_a_way_can_be_named(invoke, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "age.csv"
    assert (
        invoke("hierarchy", "init", data, "--column", "age", "--how", "intervals:10", "--out", out).exit_code
        == 0
    )
    assert out.read_text().splitlines()[0] == "20;[20, 29];*"
    band = tmp_path / "band.csv"
    assert invoke("hierarchy", "init", data, "--column", "band", "--out", band).exit_code == 0
    assert band.read_text().splitlines()[0] == "[0-10);[0-20);*"


def test_gaps_are_counted_not_named(invoke, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "town.csv"
    out.write_text("Ulm;Germany;*\nNice;France;*\nRome;Italy;*\n")
    checked = invoke("hierarchy", "check", out, "--data", data, "--column", "town")
    assert checked.exit_code == 1
    assert "1 of 3 values" in checked.stdout
    assert "2 values, in 31 rows" in checked.stdout
    assert "2 values of the file are not in the column" in checked.stdout
    for word in ("Ulm", "Bonn", SECRET):
        assert word not in checked.output


def test_labels_that_name_rare_values_are_counted(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "town.csv"
    out.write_text(f"Ulm;{{Ulm, {SECRET}}};*\n{SECRET};{{Ulm, {SECRET}}};*\nBonn;Bonn;*\n", encoding="utf-8")
    assert check_hierarchy(out, read(data), "town").n_naming_rare == 1
    bound, _ = suggest_hierarchy(read(data), "town")
    write_hierarchy(bound, tmp_path / "made.csv")
    assert check_hierarchy(tmp_path / "made.csv", read(data), "town").n_naming_rare == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"{SECRET};a;*\n{SECRET};a;*\n", "more than once"),
        (f"a;{SECRET};x;*\nb;{SECRET};y;*\n", "more than one parent"),
        (f"a;b\nc;{SECRET}\n", "2 roots"),
        (f"a;b;*\nc;{SECRET}\n", "ragged"),
    ],
)
def test_what_is_no_tree_names_no_value(invoke, tmp_path: Path, content: str, words: str) -> None:
    out = tmp_path / "bad.csv"
    out.write_text(content)
    checked = invoke("hierarchy", "check", out)
    assert checked.exit_code == 2
    assert words in checked.stderr
    assert SECRET not in checked.output


def test_mistakes(invoke, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    out.write_text("mine")
    assert invoke("hierarchy", "init", data, "--column", "age", "--out", out).exit_code == 2
    assert out.read_text() == "mine"
    wrong = invoke("hierarchy", "init", data, "--column", "agge", "--out", tmp_path / "b.csv")
    assert wrong.exit_code == 2
    assert "did you mean 'age'" in wrong.stderr
    assert invoke("hierarchy", "check", out, "--data", data).exit_code == 2
    assert invoke("hierarchy", "check", tmp_path / "none.csv").exit_code == 2


CELL = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda one: one.strip()
)


@settings(max_examples=40)
@given(st.lists(CELL.map(str.strip), min_size=3, max_size=12, unique_by=lambda one: one.casefold()))
def test_what_is_written_is_read_back(tmp_path_factory: Any, values: list[str]) -> None:
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("hierarchy")
    frame = read(write_frame(pa.table({"v": values * 12}), folder / "data.parquet"))
    bound, _ = suggest_hierarchy(frame, "v")
    write_hierarchy(bound, folder / "v.csv")
    again = read_hierarchy(folder / "v.csv").bind(pa.array(values), column="v")
    for value in values:
        mine, theirs = bound.encode(pa.array([value]))[0], again.encode(pa.array([value]))[0]
        for level in range(bound.height):
            assert (
                bound.labels[level][bound.levels[level][mine]]
                == again.labels[level][again.levels[level][theirs]]
            )
