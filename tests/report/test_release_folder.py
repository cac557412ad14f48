from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from tests.report.releases import PLANTED, evil_release, planted_columns, planted_frame, released
from tests.written import METADATA

from discreet import Recipe, Table, quasi, read, sensitive
from discreet.core.errors import DiscreetError, OutputError, ParameterError, PromiseBrokenError
from discreet.guarantees import EntropyDiversity, KAnonymity, TCloseness
from discreet.kinds import written as tables
from discreet.report import folder as writing

FORMATS = ["csv", "tsv", "parquet", "arrow", "jsonl"]


@pytest.mark.parametrize("format", FORMATS)
def test_writes_data_recipe_and_report(tmp_path: Path, format: str) -> None:  # noqa: A002
    release = released(planted_frame(), planted_columns())
    folder = release.write(tmp_path / "out", format=format)  # type: ignore[arg-type]
    assert {one.name for one in folder.iterdir()} == {
        f"data.{format}",
        "release.json",
        "report.html",
        *METADATA,
    }
    record = json.loads((folder / "release.json").read_text(), parse_constant=pytest.fail)
    data = (folder / f"data.{format}").read_bytes()
    assert record["files"][f"data.{format}"] == {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
    }
    assert record["verdict"]["ok"] is True
    assert record["rows"] == {"in": 400, "out": 400, "suppressed": 0}
    assert record["risk"]["uniques"] == 0
    assert "loss" not in record
    assert record["method"] == "Mondrian"
    private = tmp_path / "out.private"
    assert set(tmp_path.iterdir()) == {folder, private}
    assert {one.name for one in private.iterdir()} == {
        "codebook-internal.csv",
        "digests.json",
        "rows.private.bin",
        "recipe.private.json",
        "report-internal.html",
    }
    assert private.stat().st_mode & 0o077 == 0
    assert all(one.stat().st_mode & 0o077 == 0 for one in private.iterdir())
    kept = json.loads((private / "recipe.private.json").read_text(), parse_constant=pytest.fail)
    assert kept["measures"]["risk_before"]["uniques"] > 0
    assert set(kept["measures"]["loss"]["columns"]) == {"age", "income", "born", "town", "job"}


def test_the_recipe_holds_no_planted_name_and_can_be_applied(tmp_path: Path) -> None:
    folder = released(planted_frame(), planted_columns()).write(tmp_path / "out", report=False)
    text = (folder / "release.json").read_text()
    assert PLANTED[0] not in text
    assert PLANTED[3] not in text
    assert PLANTED[4] not in text
    again = Recipe.read(folder / "release.json").apply(planted_frame())
    second = again.write(tmp_path / "again", report=False)
    assert json.loads((second / "release.json").read_text())["rows"]["in"] == 400
    assert not (second / "report.html").exists()


@pytest.mark.parametrize("make", [lambda one: one, pl.from_arrow, pa.Table.to_pandas, duckdb.from_arrow])
def test_every_kind_of_frame_is_written_alike(tmp_path: Path, make: Any) -> None:
    folder = released(make(planted_frame()), planted_columns()).write(tmp_path / "out")
    rows = read(folder / "data.csv").aggregate("count(*), min(age), count(DISTINCT town)").fetchall()
    expected = released(planted_frame(), planted_columns()).frame
    assert rows == [(400, min(expected["age"].to_pylist()), len(set(expected["town"].to_pylist())))]


def _tamper(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    honest = tables.write_frame
    monkeypatch.setattr(
        tables, "write_frame", lambda frame, *rest, **more: honest(change(frame), *rest, **more)
    )


def _alone(frame: pa.Table) -> pa.Table:
    towns = frame["town"].to_pylist()
    return frame.set_column(frame.column_names.index("town"), "town", [["elsewhere", *towns[1:]]])


def test_what_is_on_disk_is_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    release = released(planted_frame(), planted_columns())
    release.write(tmp_path / "out", report=False)
    before = (tmp_path / "out" / "data.csv").read_bytes()
    _tamper(monkeypatch, _alone)
    for format in FORMATS:  # noqa: A001
        with pytest.raises(PromiseBrokenError, match="does not keep the guarantee") as caught:
            release.write(tmp_path / "out", overwrite=True, format=format)  # type: ignore[arg-type]
        assert "elsewhere" not in str(caught.value)
        with pytest.raises(PromiseBrokenError):
            release.write(tmp_path / "new", format=format)  # type: ignore[arg-type]
    assert (tmp_path / "out" / "data.csv").read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "out.private"]


def test_lost_rows_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _tamper(monkeypatch, lambda frame: frame.slice(0, 0))
    with pytest.raises(OutputError, match="cannot be read back"):
        released(planted_frame(), planted_columns()).write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_release_is_never_written(tmp_path: Path) -> None:
    release = dataclasses.replace(released(planted_frame(), planted_columns()), guarantee=KAnonymity(300))
    with pytest.raises(PromiseBrokenError):
        release.write(tmp_path / "out")
    with pytest.raises(PromiseBrokenError):
        writing.write_release(release, tmp_path / "out", format="csv", report=True, overwrite=True)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_report_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("discreet.report.page.javascript", lambda: 1 / 0)
    with pytest.raises(DiscreetError, match=r"page\.py"):
        released(planted_frame(), planted_columns()).write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_old_folder_is_kept_unless_allowed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    release = released(planted_frame(), planted_columns())
    with pytest.raises(OutputError, match="not empty"):
        release.write(tmp_path / "out")
    with pytest.raises(OutputError, match="no earlier release"):
        release.write(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    release.write(tmp_path / "empty", report=False)
    release.write(tmp_path / "empty", report=False, overwrite=True)
    with pytest.raises(ParameterError, match="'format' parameter of write"):
        release.write(tmp_path / "new", format="xls")  # type: ignore[arg-type]


@pytest.mark.parametrize("format", FORMATS)
def test_values_that_look_like_others_survive(tmp_path: Path, format: str) -> None:  # noqa: A002
    n = 240
    frame = pa.table({
        "code": ["007", "7", "NA", "null", "1e3", "{a}", "true", None] * (n // 8),
        "number": pa.array([1.5, None, 1e-7, 1e22] * (n // 4)),
        "sure": [True, False, None] * (n // 3),
        "day": [dt.date(2024, 2, 29), None] * (n // 2),
        "moment": [dt.datetime(2024, 2, 29, 1, 2, 3, 4567), dt.datetime(1960, 1, 1)] * (n // 2),
        "while": [dt.timedelta(hours=9), dt.timedelta(days=40, seconds=1)] * (n // 2),
        "zoned": [dt.datetime(2024, 3, 31, 1, tzinfo=dt.UTC), None] * (n // 2),
        "clock": [dt.time(9, 5), dt.time(23, 59, 59, 1)] * (n // 2),
        "money": [Decimal("1.10"), Decimal("11.00"), Decimal("-2.25")] * (n // 3),
        "sick": ["a,b", 'q"q', "two\nlines", "tab\tbed"] * (n // 4),
    })  # fmt: skip
    columns = {name: quasi() for name in frame.column_names[:-1]} | {"sick": sensitive()}
    release = released(frame, columns, KAnonymity(5))  # type: ignore[arg-type]
    folder = release.write(tmp_path / "out", format=format, report=False)  # type: ignore[arg-type]
    back = tables.read_table(release, folder / f"data.{format}", format)
    assert back.n_rows == n
    assert sorted(back.groups().sizes) == sorted(release.groups().sizes)


@pytest.mark.parametrize("format", FORMATS)
def test_numbers_keep_their_order_for_distances(tmp_path: Path, format: str) -> None:  # noqa: A002
    pay = [2, 10, 9, 100, 30, 4] * 30
    frame = pa.table({"age": np.arange(180) % 7, "pay": pay, "grade": [1, 2, 3] * 60})
    columns = {"age": quasi(), "pay": sensitive(), "grade": sensitive(ordered=[3, 1, 2])}
    promise = KAnonymity(5) & TCloseness(0.3, of="pay", distance="ordered") & EntropyDiversity(2, of="grade")
    release = released(frame, columns, promise)  # type: ignore[arg-type]
    folder = release.write(tmp_path / "out", format=format, report=False)  # type: ignore[arg-type]
    verdict = promise.check(tables.read_table(release, folder / f"data.{format}", format))
    assert verdict == release.verdict


@pytest.mark.parametrize("format", FORMATS)
def test_a_single_column_of_nothing(tmp_path: Path, format: str) -> None:  # noqa: A002
    """An empty line may be no row to a reader; either every row is there, or nothing is written."""
    release = released(pa.table({"town": pa.array([None] * 6 + ["a"] * 6, pa.string())}), {"town": quasi()})
    try:
        folder = release.write(tmp_path / "out", format=format)  # type: ignore[arg-type]
    except OutputError:
        assert list(tmp_path.iterdir()) == []
        assert format in ("csv", "tsv")
    else:
        assert Table(read(folder / f"data.{format}"), {"town": quasi()}).n_rows == 12


@pytest.mark.parametrize("format", FORMATS)
def test_strange_names_survive(tmp_path: Path, format: str) -> None:  # noqa: A002
    folder = evil_release().write(tmp_path / "out", format=format)  # type: ignore[arg-type]
    assert (folder / "report.html").stat().st_size < 2_000_000


def test_what_a_format_cannot_tell_apart_is_refused(tmp_path: Path) -> None:
    """In CSV a null and an empty text look alike, so the figures of release.json would not be those of the file."""
    frame = pa.table({"age": [20] * 40, "ill": ["", "x", None, "y"] * 10})
    release = released(frame, {"age": quasi(), "ill": sensitive()}, KAnonymity(2) & EntropyDiversity(1.2))
    with pytest.raises(OutputError, match="write another format"):
        release.write(tmp_path / "out", format="csv", report=False)
    assert list(tmp_path.iterdir()) == []
    folder = release.write(tmp_path / "out", format="parquet", report=False)
    record = json.loads((folder / "release.json").read_text())
    assert record["verdict"]["parts"][1]["worst"] == pytest.approx(4)


@pytest.mark.parametrize("name", ["out/notes.txt", "out/sub/notes.txt", "out.private/diary.txt"])
def test_what_was_not_written_with_a_release_is_never_overwritten(tmp_path: Path, name: str) -> None:
    release = released(planted_frame(), planted_columns())
    release.write(tmp_path / "out")
    release.write(tmp_path / "out", overwrite=True)
    notes = tmp_path / name
    notes.parent.mkdir(exist_ok=True)
    notes.write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(OutputError, match="other files too"):
        release.write(tmp_path / "out", overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
