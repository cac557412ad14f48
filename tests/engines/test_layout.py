"""Formats are declared once, and CSV goes out laid out as it came in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet import Table, other, quasi, read
from discreet.core.engine import TextLayout, engine_of
from discreet.engines.formats import ALL, PACKED, WRITTEN, format_of, output_format, stem
from discreet.engines.writing import write_frame
from discreet.guarantees import KAnonymity
from discreet.publish import Condensation, Mondrian

GERMAN = "alter;größe;ort\n" + "".join(f"{20 + n % 7};{160 + n % 5},5;Ulm\n" for n in range(40))


def _layout(frame: Any) -> TextLayout | None:
    return engine_of(frame).layout(frame)


def test_no_ending_belongs_to_two_formats() -> None:
    endings = [ending for one in ALL for ending in one.endings]
    assert len(set(endings)) == len(endings)
    assert not set(endings) & set(PACKED)


def test_what_can_be_written_can_be_read_back(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    for name in WRITTEN:
        path = write_frame(table, tmp_path / f"data.{name}")
        assert format_of(path).name == name  # type: ignore[union-attr]
        assert read(path).fetchall() == [(1, "x"), (2, "y")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.csv.gz", "csv"), ("a.SAV", "sav"), ("a.xls", "xlsx"), ("a.dat", "csv"), ("a.pq", "parquet")],
)
def test_output_follows_the_input(name: str, kind: str) -> None:
    assert output_format(Path(name)) == kind


def test_stems() -> None:
    assert [stem(Path(name)) for name in ("adult.csv.gz", "a.b.parquet", "plain")] == [
        "adult",
        "a.b",
        "plain",
    ]


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        ("a,b\n1,x\n", TextLayout()),
        ("a;b\n1,5;x\n", TextLayout(";", '"', ",")),
        ("a|b\n1.5|x\n", TextLayout("|", '"', ".")),
        ("a;b\n1.234,5;x\n", TextLayout(";", '"', ",")),
    ],
)
def test_the_layout_of_a_file_stays_with_its_rows(tmp_path: Path, content: str, layout: TextLayout) -> None:
    path = tmp_path / "data.csv"
    path.write_text(content)
    assert _layout(read(path)) == layout
    assert _layout(read(path).project("b")) == layout
    again = write_frame(read(path), tmp_path / "again.csv")
    assert read(again).fetchall() == read(path).fetchall()
    assert again.read_text().splitlines()[0] == content.splitlines()[0]


def test_frames_that_come_from_no_file_have_no_layout(tmp_path: Path) -> None:
    assert _layout(pa.table({"a": [1]})) is None
    assert _layout(read(write_frame(pa.table({"a": [1]}), tmp_path / "a.parquet"))) is None


def test_a_release_is_written_as_its_input_was(tmp_path: Path) -> None:
    path = tmp_path / "leute.csv"
    path.write_text(GERMAN)
    table = Table(read(path), {"alter": quasi(), "größe": quasi(), "ort": other()})
    for publisher in (Mondrian(KAnonymity(5)), Condensation(5, random_state=1)):
        release = publisher.release(table)
        folder = release.write(tmp_path / type(publisher).__name__, report=False)
        lines = (folder / "data.csv").read_text().splitlines()
        assert lines[0] == "alter;größe;ort"
        assert len(lines) == 41
    pseudo = [line.split(";")[1] for line in lines[1:]]
    assert all(len(cell.partition(",")[2]) <= 1 and "." not in cell for cell in pseudo)
    assert any("," in cell for cell in pseudo)


@pytest.mark.parametrize(
    ("delimiter", "quote"), [("\t", '"'), ("|", "'"), (" ", '"'), ("§", '"'), (";", "x")]
)
def test_odd_delimiters_come_back_or_fall_back(tmp_path: Path, delimiter: str, quote: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(GERMAN.replace(";", delimiter).replace(",5", ".5"))
    frame = read(path, delimiter=delimiter, quote=quote)
    release = Mondrian(KAnonymity(5)).release(
        Table(frame, {"alter": quasi(), "größe": other(), "ort": other()})
    )
    folder = release.write(tmp_path / "release", report=False)
    head = (folder / "data.csv").read_text().splitlines()[0]
    assert head == (
        "alter,größe,ort" if delimiter == "§" or quote == "x" else f"alter{delimiter}größe{delimiter}ort"
    )


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_release_in_every_format(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "leute.csv"
    path.write_text(GERMAN)
    release = Mondrian(KAnonymity(5)).release(
        Table(read(path), {"alter": quasi(), "größe": other(), "ort": other()})
    )
    folder = release.write(tmp_path / "release", format=kind, report=False)
    assert len(read(folder / f"data.{kind}").fetchall()) == 40


def test_ambiguous_marks_fall_back(tmp_path: Path) -> None:
    table = pa.table({"a": ["x;y"], "b": [1.5]})
    for layout in (TextLayout(";", ";"), TextLayout("ab"), TextLayout("a"), TextLayout("\n")):
        assert write_frame(table, tmp_path / "a.csv", layout=layout).read_text() == "a,b\nx;y,1.5\n"
    assert (
        write_frame(table, tmp_path / "a.csv", layout=TextLayout(";", "'", ",")).read_text()
        == "a;b\n'x;y';1,5\n"
    )
