"""What is sent to Spark: few queries, of what was written rather than of what would be worked out again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.engines.spark.test_spark import PATIENTS, invoke, lent, patients
from tests.servers import remote

from discreet import Table, other
from discreet.cli._app import app
from discreet.core.engine import engine_of
from discreet.core.errors import DiscreetError, InputError, OutputError
from discreet.core.release import Evidence, Release
from discreet.core.tables.source import source_of
from discreet.engines.spark import engine, session
from discreet.engines.spark import parquet as parts
from discreet.guarantees import KAnonymity
from discreet.measure.tables import table_cautions
from discreet.measure.tables.risk import MOST_SINGLED_OUT, SinglingOut, is_many
from discreet.publish import Generalization, Mondrian
from discreet.publish.recipes.recipe import Recipe

WITH_OTHERS = PATIENTS | {"dose": other(), "visits": other(), "ward": other()}


def with_others(n: int = 3000) -> pa.Table:
    """Return rows with three columns that are published as they are."""
    rows = patients(n).append_column("dose", pa.array([number % 3 / 2 for number in range(n)]))
    rows = rows.append_column("visits", pa.array([number % 2 for number in range(n)], pa.int32()))
    return rows.append_column(
        "ward", pa.array([None if number % 50 == 0 else f"w{number % 3}" for number in range(n)])
    )


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note whatever is fetched or written."""
    log: list[str] = []
    for module, name in ((session, "fetched"), (parts, "write_parts")):
        actual = getattr(module, name)

        def noted(*arguments: Any, actual: Any = actual, name: str = name) -> Any:
            log.append(name)
            return actual(*arguments)

        monkeypatch.setattr(module, name, noted)
    return log


def test_rows_are_worked_out_once_and_what_was_written_is_counted(tmp_path: Path, sent: list[str]) -> None:
    release = Mondrian(KAnonymity(20)).release(Table(lent(with_others()), WITH_OTHERS))
    # The tuples, and the columns that are published as they are.
    assert sent == ["fetched"] * 2
    sent.clear()
    release.write(tmp_path / "out", report=False)
    assert sent[0] == "write_parts"
    # The written tuples, all other columns, their few values, and those of the identifiers, which are not released.
    assert sent[1:] == ["fetched"] * 4
    sent.clear()
    assert release.verdict.ok
    assert release.figures.public.n_released == 3000
    assert release.cautions is not None
    assert sent == []


def test_a_job_judges_once(tmp_path: Path, sent: list[str]) -> None:
    parquet.write_table(with_others(), tmp_path / "rows.parquet")
    roles = ["--quasi", "age,zip", "--sensitive", "disease", "--identifier", "ssn", "--rest", "other"]
    ran = invoke(
        "anonymize", tmp_path / "rows.parquet", *roles, "-k", "20", "--out", tmp_path / "out", "--quiet"
    )
    assert ran.exit_code == 0, ran.output
    assert sent.count("write_parts") == 1
    assert sent.count("fetched") <= 7


def test_figures_of_written_rows_are_those_of_rows_in_memory(tmp_path: Path) -> None:
    records = []
    for name, rows in (("here", with_others()), ("there", lent(with_others()))):
        release = Mondrian(KAnonymity(20)).release(Table(rows, WITH_OTHERS))
        release.write(tmp_path / name, format="parquet", report=False)
        record = json.loads((tmp_path / name / "release.json").read_text(encoding="utf-8"))
        records.append({key: record[key] for key in ("rows", "risk", "verdict", "cautions", "columns")})
        records[-1]["codebook"] = (tmp_path / name / "codebook.csv").read_text(encoding="utf-8")
    assert records[0] == records[1]


def test_rows_that_did_not_all_arrive_are_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Mondrian(KAnonymity(20)).release(Table(lent(with_others()), WITH_OTHERS))
    actual = parts.write_parts
    monkeypatch.setattr(parts, "write_parts", lambda frame, *rest: actual(frame.limit(2999), *rest))
    with pytest.raises(OutputError, match="cannot be read back"):
        release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_rows_that_break_the_guarantee_once_written_are_not_published(tmp_path: Path) -> None:
    frame = lent(with_others()).drop("ssn")
    release = Mondrian(KAnonymity(20)).release(
        Table(frame, {k: v for k, v in WITH_OTHERS.items() if k != "ssn"})
    )
    wrong = Release(
        frame,
        KAnonymity(80),
        Evidence(3000),
        release.recipe,
        schema=release.schema,
        original=release.original,
    )
    with pytest.raises(DiscreetError, match="KAnonymity"):
        wrong.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_values_of_columns_are_fetched_only_where_they_are_few(sent: list[str]) -> None:
    frame = lent(with_others())
    lists = engine_of(frame).value_lists(frame, ["ssn", "ward", "dose"], 100)
    assert len(sent) == 2
    assert (lists["ssn"].n_distinct, lists["ssn"].n_known, len(lists["ssn"].values)) == (3000, 3000, 0)
    assert lists["ward"].values.to_pylist() == ["w0", "w1", "w2"]
    assert lists["ward"].n_known == lists["ward"].counts.sum() == 2940
    assert lists["dose"].values.to_pylist() == [number / 2 for number in range(3)]


@given(
    st.lists(
        st.tuples(st.sampled_from([None, *"abcdefgh"]), st.one_of(st.none(), st.integers(0, 40))),
        min_size=30,
        max_size=120,
    )
)
@settings(max_examples=10, deadline=None)
def test_few_singletons_by_a_sample_are_few(rows: list[tuple[str | None, int | None]]) -> None:
    columns = {
        "a": pa.array([a for a, _ in rows], pa.string()),
        "b": pa.array([b for _, b in rows], pa.int64()),
    }
    here, there = (
        SinglingOut(source.column_singletons(["a", "b"]), source)
        for source in map(source_of, (pa.table(columns), lent(pa.table(columns))))
    )
    assert there.columns == here.columns
    assert there.together == here.together
    if there.source.has_few_singletons(there.columns, MOST_SINGLED_OUT):
        assert not is_many(here.together)


@pytest.mark.parametrize("few", [True, False])
def test_combinations_are_sampled_where_there_are_many(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_FEWEST_SAMPLED", 1000)
    numbers, n_values = range(40_000), 5000 if few else 20_000
    rows = pa.table(
        {"a": [number % n_values for number in numbers], "b": [number // 20_000 for number in numbers]}
    )
    source = source_of(lent(rows))
    columns = source.column_singletons(["a", "b"])
    assert source.has_few_singletons(columns, MOST_SINGLED_OUT) is few
    assert is_many(source.singletons(["a", "b"])) is not few


def test_a_recipe_is_applied_where_the_rows_lie(tmp_path: Path) -> None:
    rows = with_others()
    Mondrian(KAnonymity(20)).release(Table(rows, WITH_OTHERS)).write(tmp_path / "first", format="parquet")
    (tmp_path / "new").mkdir()
    parquet.write_table(rows.slice(0, 500), tmp_path / "new" / "a.parquet")
    ran = invoke("apply", tmp_path / "first", tmp_path / "new", "--out", tmp_path / "second", "--quiet")
    assert ran.exit_code == 0, ran.output
    here = Recipe.read(tmp_path / "first").apply(rows.slice(0, 500)).frame
    there = parquet.read_table(tmp_path / "second" / "data.parquet")
    assert sorted(map(repr, there.to_pylist())) == sorted(map(repr, here.to_pylist()))
    with pytest.raises(InputError, match="not released together"):
        Recipe.read(tmp_path / "first").apply(lent(rows), released=rows)


def test_the_folder_of_a_release_is_checked_on_the_cluster(tmp_path: Path, sent: list[str]) -> None:
    Mondrian(KAnonymity(20)).release(Table(lent(with_others()), WITH_OTHERS)).write(
        tmp_path / "out", report=False
    )
    sent.clear()
    here = CliRunner().invoke(app, ["check", str(tmp_path / "out"), "--json"])
    assert sent == []
    there = invoke("check", tmp_path / "out", "--json")
    assert sent
    assert (there.exit_code, json.loads(there.output)) == (0, json.loads(here.output))
    assert invoke("check", tmp_path / "out", "-k", "500").exit_code == 1


def started(folder: Path) -> subprocess.Popen[str]:
    """Start a run, in a process of its own, that releases many rows of a folder into one named out."""
    if not (folder / "rows.parquet").exists():
        parquet.write_table(patients(200_000), folder / "rows.parquet")
    roles = ["--quasi", "age,zip", "--sensitive", "disease", "--identifier", "ssn", "-k", "80", "--quiet"]
    words = ["anonymize", str(folder / "rows.parquet"), *roles, "--out", str(folder / "out")]
    words += ["--engine", "spark", "--remote", remote()]
    # A process that was started in the background ignores interruptions, and so do those that it starts.
    program = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "from discreet.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_an_interruption_while_rows_are_written_leaves_nothing(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        while not list(tmp_path.glob(".out.*/*data.parquet*")):
            assert run.poll() is None, run.stdout and run.stdout.read()
            time.sleep(0.005)
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 128 + signal.SIGINT
        assert run.stdout is not None
        assert run.stdout.read().strip() == "error: interrupted; nothing was left half-written."
    time.sleep(1)  # the workers may still be at it, and must find nowhere to write
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_of_two_runs_into_one_folder_one_wins(tmp_path: Path) -> None:
    with started(tmp_path) as first, started(tmp_path) as second:
        said = [run.communicate(timeout=120)[0] for run in (first, second)]
    codes = [first.returncode, second.returncode]
    assert sorted(codes) == [0, 7], said
    refused = said[codes.index(7)].strip().splitlines()
    assert "is there already and not empty" in refused[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.private", "rows.parquet"]
    assert CliRunner().invoke(app, ["check", str(tmp_path / "out"), "--quiet"]).exit_code == 0


@pytest.mark.parametrize("n_people", [3000, 40, 4])
def test_repeated_people_are_found_after_a_look_at_a_sample(
    n_people: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_cautions, "_MANY_ROWS", 1000)
    monkeypatch.setattr(table_cautions, "_MANY_TIMES", 10)
    rows = patients(3000).set_column(0, "ssn", pa.array([f"p{number % n_people}" for number in range(3000)]))
    releases = [
        Generalization(KAnonymity(5), levels={"age": 1, "zip": 1}).release(Table(frame, PATIENTS))
        for frame in (rows, lent(rows))
    ]
    here, there = (
        [caution for caution in release.cautions if caution.code == "rows-not-people"] for release in releases
    )
    assert here == there
    assert bool(there) is (n_people == 4)
    source = source_of(lent(rows))
    n_classes = len(pc.unique(rows["zip"]))
    exact = source.small_classes(["zip"], "ssn", 5)
    assert (exact > 0) is (n_people == 4)
    if source.has_only_large_classes(["zip"], "ssn", 5, n_classes):
        assert exact == 0
    assert source.has_only_large_classes(["zip"], "ssn", 5, n_classes) is (n_people == 3000)
