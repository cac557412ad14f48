"""Rows written beside the folder: files, standard output, tables of database files; all or nothing, none replaced."""

from __future__ import annotations

import datetime as dt
import decimal
import errno
import gzip
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from discreet import Table, identifier, other, quasi, read, sensitive
from discreet.cli._app import app
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError, OutputError
from discreet.engines import destinations
from discreet.guarantees import KAnonymity
from discreet.publish import Mondrian

USER_ERROR = 2
DAY = dt.datetime.fromisoformat("2030-01-01 12:00:00")


def rows(n: int = 60) -> pa.Table:
    """Return rows of types that not every format has."""
    return pa.table(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": [20 + number * 7 % 40 for number in range(n)],
            "city": [["Zürich", 'a "quoted", one', None, "tab\there"][number % 4] for number in range(n)],
            "dose": pa.array([decimal.Decimal(number % 4) / 4 for number in range(n)], pa.decimal128(30, 2)),
            "weight": [[-0.0, 1e300, None, 0.1][number % 4] for number in range(n)],
            "seen": pa.array(
                [DAY + dt.timedelta(hours=number % 4) for number in range(n)], pa.timestamp("us")
            ),
            "huge": pa.array([2**64 - 1 - number % 4 for number in range(n)], pa.uint64()),
            "ok": [None if number % 4 == 3 else number % 2 == 0 for number in range(n)],
            "born": pa.array([dt.date(1, 1, 1) if number % 4 else None for number in range(n)]),
            "disease": [["flu", "cold", "asthma"][number % 3] for number in range(n)],
        }
    )


ROLES = {
    "name": identifier(),
    "age": quasi(),
    "city": quasi(),
    "disease": sensitive(),
    **dict.fromkeys(("dose", "weight", "seen", "huge", "ok", "born"), other()),
}
PLACES = [
    "rows.csv.gz",
    "rows.tsv.zst",
    "rows.parquet",
    "rows.arrow",
    "rows.jsonl",
    "c.db?table=k5",
    "c.duckdb?table=k5",
]


def release() -> Any:
    return Mondrian(KAnonymity(5)).release(Table(rows(), ROLES))


@pytest.mark.parametrize("place", PLACES)
def test_the_rows_are_those_of_the_release(tmp_path: Path, place: str) -> None:
    made = release()
    made.write(tmp_path / "out", to=str(tmp_path / place), report=False)
    found, expected = (arrow_table(frame) for frame in (read(str(tmp_path / place)), made.frame))
    assert found.column_names == expected.column_names
    assert texts(found) == texts(expected)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def texts(table: pa.Table) -> list[str]:
    """Return rows as texts, numbers by what they are worth: formats have different types for them."""

    def text(cell: Any) -> str:
        if isinstance(cell, str):
            return cell
        return (
            ""
            if cell is None
            else f"{cell}".lower()
            if isinstance(cell, bool)
            else str(cell).removesuffix(".000000")
        )

    return sorted("|".join(_number(text(cell)) for cell in row.values()) for row in table.to_pylist())


def _number(text: str) -> str:
    try:
        return str(decimal.Decimal(text.lower()).normalize())
    except decimal.InvalidOperation:
        return text.lower().replace(" 12:", "t12:").replace("t", " ").replace("-01-01 00:00:00", "-01-01")


def anonymize(data: Path, out: Path, *more: str) -> Result:
    words = ["anonymize", str(data), "--quasi", "age,city", "--sensitive", "disease", "--identifier", "name",
             "--rest", "other", "-k", "5", "--out", str(out), "--no-report", *more]  # fmt: skip
    return CliRunner().invoke(app, words)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    parquet.write_table(rows().drop_columns(["huge"]), folder / "rows.parquet")
    return folder / "rows.parquet"


def test_standard_output_has_the_rows_and_nothing_else(tmp_path: Path, data: Path) -> None:
    result = anonymize(data, tmp_path / "out", "--to", "-", "--format", "csv")
    assert result.exit_code == 0
    assert result.stdout == (tmp_path / "out" / "data.csv").read_text(encoding="utf-8")
    assert "verified" in result.stderr


@pytest.mark.parametrize("place", PLACES)
def test_what_is_there_is_never_replaced(tmp_path: Path, data: Path, place: str) -> None:
    to = str(tmp_path / place)
    assert anonymize(data, tmp_path / "out", "--to", to, "--quiet").exit_code == 0
    before = (tmp_path / place.partition("?")[0]).read_bytes()
    result = anonymize(data, tmp_path / "again", "--to", to)
    assert (result.exit_code, result.output.count("\n")) == (USER_ERROR, 1)
    assert "there already" in result.output
    assert not (tmp_path / "again").exists()
    assert (tmp_path / place.partition("?")[0]).read_bytes() == before


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("failing", ["commit", "fill", "swap"])
@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()], ids=["full", "stop"]
)
def test_rows_appear_with_the_folder_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, failing: str, failure: BaseException
) -> None:
    made = release()
    unused = destinations._destination(str(tmp_path / place), None)
    unused.withdraw()
    owner = type(unused)

    def fail(*arguments: Any) -> None:
        raise failure

    if failing == "swap":
        monkeypatch.setattr("discreet.engines.atomic._swap", fail)
    else:
        monkeypatch.setattr(owner, failing, fail)
    with pytest.raises((OutputError, InputError, KeyboardInterrupt)):
        made.write(tmp_path / "out", to=str(tmp_path / place), report=False)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    made.write(tmp_path / "out", to=str(tmp_path / place), report=False)


def test_a_table_is_added_to_the_file_that_is_read(tmp_path: Path, data: Path) -> None:
    for name in ("clinic.db", "clinic.duckdb"):
        assert anonymize(data, tmp_path / f"{name}1", "--to", f"{tmp_path}/{name}?table=k5").exit_code == 0
        words = ["--rest", "other", "-k", "6", "--no-report", "--out", str(tmp_path / f"{name}2")]
        words += ["--quasi", "age,city", "--sensitive", "disease", "--to", f"{tmp_path}/{name}?table=k6"]
        result = CliRunner().invoke(app, ["anonymize", f"{tmp_path}/{name}?table=k5", *words])
        assert result.exit_code == 0, result.output
    with sqlite3.connect(tmp_path / "clinic.db") as session:
        names = [name for (name,) in session.execute("SELECT name FROM sqlite_schema ORDER BY name")]
    session.close()
    assert names == ["k5", "k6"]
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        assert connection.execute("SELECT count(*) FROM k6").fetchall() == [(60,)]


@pytest.mark.parametrize("name", ["c.db", "c.duckdb"])
def test_of_two_runs_into_one_table_one_wins(tmp_path: Path, name: str) -> None:
    made, outcomes = [release(), release()], list[str]()
    to = f"{tmp_path}/{name}?table=k5"

    def write(number: int) -> None:
        try:
            made[number].write(tmp_path / f"out{number}", to=to, report=False)
            outcomes.append("written")
        except (OutputError, InputError) as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("written") == 1
    (refusal,) = (outcome for outcome in outcomes if outcome != "written")
    assert any(words in refusal for words in ("there already", "another program"))
    assert len(list(tmp_path.glob("out?"))) == 1
    assert arrow_table(read(to)).num_rows == 60


def test_places_that_cannot_be_are_refused_before_any_work(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for to, words in {
        "rows.exotic": "the ending names no format",
        "rows": "the ending names no format",
        f"{tmp_path}/none/rows.csv": "there is no folder",
        f"{tmp_path}/none/c.db?table=a": "there is no folder",
        f"{tmp_path}/c.db": "name the new table",
        f"{tmp_path}/rows.csv?table=a": "named as a database",
        f"{out}/rows.csv": "which is written as a whole",
        "ftp://host/rows.csv": "no reader for ftp://",
    }.items():
        with pytest.raises((OutputError, InputError, ValueError), match=words) as refusal:
            release().write(out, to=to, report=False)
        assert "\n" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_and_an_interruption_leave_nothing(tmp_path: Path, data: Path) -> None:
    limited = (
        "import resource, sys, threading, signal\n"
        "if sys.argv[1] == 'full': resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))\n"
        "from discreet.engines import sqlite\n"
        "if sys.argv[1] == 'stop':\n"
        "    sqlite.NewSqliteTable.commit = lambda table: signal.raise_signal(signal.SIGINT)\n"
        "from discreet.cli._app import start\n"
        "sys.argv[1:2] = []\n"
        "start()\n"
    )
    big = data.with_name("big.parquet")
    parquet.write_table(pa.concat_tables([rows().drop_columns(["huge"])] * 200), big)
    words = ["anonymize", str(big), "--quasi", "age,city", "--sensitive", "disease", "--identifier", "name", "--rest",
             "other", "-k", "5", "--no-report", "--out", str(tmp_path / "out")]  # fmt: skip
    words += ["--to", f"{tmp_path}/c.db?table=k5"]
    for how, code in {"full": USER_ERROR, "stop": 128 + signal.SIGINT}.items():
        run = subprocess.run(
            [sys.executable, "-c", limited, how, *words], capture_output=True, text=True, check=False
        )
        assert run.returncode == code, run.stderr
        assert run.stderr.strip().count("\n") == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_packed_files_are_packed(tmp_path: Path) -> None:
    release().write(tmp_path / "out", to=str(tmp_path / "rows.csv.gz"), report=False)
    assert gzip.decompress((tmp_path / "rows.csv.gz").read_bytes()).startswith(b"age,city,")
