"""Bad input: one clear line, exit code 2, nothing written, and never a data value."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.planted import ROLES, SECRET

from discreet import read

HEADER = "name,age,zip,disease\n"
ROW = f"{SECRET},33,02103,{SECRET}\n"


def csv_of(text: str | bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "data.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


def parquet_cut_short(folder: Path) -> Path:
    path = folder / "data.parquet"
    path.write_bytes(b"PAR1" + SECRET.encode() * 9)
    return path


def infinite(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "data.parquet"
    ages = [1.0, float("inf"), float("-inf"), 4.0]
    pq.write_table(
        pa.table({"name": [SECRET] * 4, "age": ages, "zip": ["1"] * 4, "disease": [SECRET] * 4}), path
    )
    return path


def nested(folder: Path) -> Path:
    path = folder / "data.jsonl"
    path.write_text(json.dumps({"name": SECRET, "age": {"years": 3}, "zip": "1", "disease": SECRET}) + "\n")
    return path


BAD = {
    "no such file": lambda folder: folder / "nowhere.csv",
    "a folder": lambda folder: folder,
    "an empty file": csv_of(""),
    "only blank lines": csv_of("\n\n\n"),
    "only a header": csv_of(HEADER),
    "duplicate columns": csv_of("name,age,age,disease\n" + ROW * 9),
    "a missing column": csv_of("name,age,disease\n" + f"{SECRET},33,{SECRET}\n" * 9),
    "no header": csv_of(ROW * 9),
    "a ragged row": csv_of(HEADER + ROW * 5 + f"{SECRET},33\n" + ROW * 5),
    "a row too long": csv_of(HEADER + ROW * 5 + f"{SECRET},33,1,2,3,{SECRET}\n" + ROW * 5),
    "a quote never closed": csv_of(HEADER + ROW * 5 + f'"{SECRET},33,1,2\n' + ROW * 5),
    "a wrong encoding": csv_of((HEADER + ROW * 5 + f"{SECRET},33,02103,é{SECRET}\n").encode("latin-1")),
    "bytes of nothing": csv_of(bytes(range(256)) * 9),
    "k larger than the table": csv_of(HEADER + ROW * 3),
    "a Parquet file cut short": parquet_cut_short,
    "infinite numbers": infinite,
    "nested values": nested,
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line(process, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    out = tmp_path / "out" / "release"
    ran = process("anonymize", make(tmp_path), *ROLES, "-k", 5, "--out", out)
    assert ran.returncode in (2, 6), ran.stderr
    assert ran.stdout == ""
    lines = ran.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("try: "))
    assert SECRET not in ran.stderr
    assert not out.exists()
    assert not out.parent.exists() or not any(out.parent.iterdir())


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
def test_bad_input_is_json_for_machines(invoke, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    result = invoke("anonymize", make(tmp_path), *ROLES, "-k", 5, "--out", tmp_path / "release", "--json")
    assert result.exit_code in (2, 6)
    error = json.loads(result.stdout)["error"]
    assert error["code"] == result.exit_code
    assert error["message"]
    assert SECRET not in result.output
    assert result.stderr == ""


@pytest.mark.parametrize("command", ["check", "risk", "init"])
@pytest.mark.parametrize("bad", ["an empty file", "only a header", "a ragged row", "a wrong encoding"])
def test_other_commands_refuse_it_too(invoke, tmp_path: Path, command: str, bad: str) -> None:
    roles = [] if command == "init" else ["--quasi", "age"]
    target = tmp_path / "job.toml"
    result = invoke(command, BAD[bad](tmp_path), *roles, *(["--out", target] if command == "init" else []))
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert SECRET not in result.output
    assert not target.exists()


def test_nulls_and_nan_and_mixed_types_and_long_cells_are_fine(invoke, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    ages = ["", "NaN", "33", "34", "unknown", "x" * 10_000]
    rows = [f"{SECRET},{age},,{disease}" for age in ages for disease in ("flu", "cold", "y" * 10_000)]
    path.write_text(HEADER + "\n".join(rows) + "\n")
    out = tmp_path / "release"
    result = invoke("anonymize", path, *ROLES, "-k", 3, "--out", out)
    assert result.exit_code == 0, result.output
    assert "verified" in result.stdout
    assert SECRET not in (out / "data.csv").read_text()


def test_an_all_null_column_works_as_null(invoke, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age,zip,disease\n" + "".join(f"{20 + one % 2},,d{one % 3}\n" for one in range(12)))
    out = tmp_path / "release"
    roles = ["--quasi", "age,zip", "--sensitive", "disease"]
    assert invoke("anonymize", path, *roles, "-k", 6, "--out", out).exit_code == 0
    cells = [line.split(",")[1] for line in (out / "data.csv").read_text().splitlines()[1:]]
    assert set(cells) <= {"", '""'}
    judged = json.loads(invoke("check", out / "data.csv", *roles, "--json").stdout)
    assert judged["measures"][0]["worst"] == 6


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_target(process, patients: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    ran = process("anonymize", patients, *ROLES, "-k", 5, "--out", locked / "release")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: ")
    assert not any(locked.iterdir())


@pytest.mark.parametrize("target", ["/proc/release", "/dev/null/release"])
def test_a_target_that_cannot_be(process, patients: Path, target: str) -> None:
    if not Path(target).parent.exists():
        pytest.skip("this system has no such place")
    ran = process("anonymize", patients, *ROLES, "-k", 5, "--out", target)
    assert ran.returncode == 2, ran.stderr
    assert len(ran.stderr.splitlines()) <= 2
    assert SECRET not in ran.stderr


def test_a_target_that_is_a_file(invoke, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert (
        invoke("anonymize", patients, *ROLES, "-k", 5, "--out", tmp_path / "file", "--overwrite").exit_code
        == 2
    )
    assert (tmp_path / "file").read_text() == "mine"


def test_a_bug_of_ours_shows_no_value(process, patients: Path, tmp_path: Path) -> None:
    broken = tmp_path / "sitecustomize.py"
    broken.write_text(
        "import discreet.job\n"
        f"def run(job, tell): hidden = {SECRET!r}; raise ZeroDivisionError({SECRET!r})\n"
        "discreet.job.run = run\n"
    )
    ran = process("anonymize", patients, *ROLES, "-k", 5, "--out", tmp_path / "o", PYTHONPATH=str(tmp_path))
    assert ran.returncode == 70
    assert "ZeroDivisionError" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert SECRET not in ran.stderr
    told = process(
        "--debug", "anonymize", patients, *ROLES, "-k", 5, "--out", tmp_path / "o", PYTHONPATH=str(tmp_path)
    )
    assert told.returncode == 70
    assert "sitecustomize.py:2 in run" in told.stderr
    assert SECRET not in told.stderr


def start(data: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "discreet", "anonymize", str(data), *ROLES, "-k", "5", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "data.csv"
    rows = "".join(f"{SECRET},{one % 90},{one % 9999:05d},d{one % 17}\n" for one in range(300_000))
    path.write_text(HEADER + rows)
    return path


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)])
@pytest.mark.parametrize("after", [0.6, 1.2])
def test_an_interrupted_run_leaves_nothing(
    many: Path, tmp_path: Path, number: signal.Signals, after: float
) -> None:
    running = start(many, tmp_path / "release")
    time.sleep(after)
    running.send_signal(number)
    _, told = running.communicate(timeout=60)
    if running.returncode == 0:
        assert (tmp_path / "release" / "release.json").is_file()
        return
    if running.returncode == -number:  # it came before the process could listen
        assert not any(tmp_path.iterdir())
        return
    assert running.returncode == 130, told
    assert [line for line in told.splitlines() if line] == [
        "error: interrupted; nothing was left half-written."
    ]
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
def test_a_killed_run_leaves_no_release_and_the_next_one_works(many: Path, tmp_path: Path) -> None:
    for after in (0.5, 1.0, 1.5):
        running = start(many, tmp_path / "release")
        time.sleep(after)
        running.kill()
        running.communicate(timeout=60)
        if (tmp_path / "release").exists():
            assert (tmp_path / "release" / "release.json").is_file()
            return
    last = start(many, tmp_path / "release")
    _, told = last.communicate(timeout=120)
    assert last.returncode == 0, told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release", "release.private"]


@pytest.mark.skipif(os.name == "nt", reason="file sizes are limited as POSIX has it")
def test_a_full_target_leaves_nothing(many: Path, tmp_path: Path) -> None:
    limited = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from discreet.cli import main\nmain()"
    )
    parquet = tmp_path / "data.parquet"
    parquet.write_bytes(_as_parquet(many))
    out = tmp_path / "out" / "release"
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            limited,
            "anonymize",
            str(parquet),
            *ROLES,
            "-k",
            "5",
            "--out",
            str(out),
            "--format",
            "csv",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "full" in ran.stderr
    assert len(ran.stderr.splitlines()) <= 2
    assert not any(out.parent.iterdir())


def _as_parquet(path: Path) -> bytes:
    import io

    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(arrow_csv.read_csv(path), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("command", ["anonymize", "check", "risk", "explore", "condense", "init", "fit"])
def test_a_file_without_a_header_shows_nobody(invoke, tmp_path: Path, command: str) -> None:
    path = tmp_path / "headless.csv"
    rows = [f"{SECRET},{sex},Hepatitis-{SECRET},x{one}" for one, sex in enumerate(["female", "male"] * 4)]
    path.write_text("\n".join(rows) + "\n")
    out = ["--out", str(tmp_path / "out")]
    given = {
        "anonymize": ["--quasi", "age", "-k", "2", *out], "check": ["--quasi", "age", "-k", "2"],
        "risk": ["--quasi", "age"], "explore": ["--quasi", "age", "-k", "2"],
        "condense": ["-k", "2", "--rest", "quasi", *out], "init": [], "fit": ["--target", "x", *out],
    }  # fmt: skip
    result = invoke(command, str(path), *given[command])
    assert result.exit_code == 2
    assert SECRET not in result.output


@pytest.mark.parametrize("command", ["anonymize", "check", "risk"])
def test_names_of_a_file_are_not_listed_where_none_was_right(invoke, tmp_path: Path, command: str) -> None:
    path = tmp_path / "headless.csv"
    path.write_text("".join(f"{SECRET}{'x' * one},s{one},Hepatitis{one}\n" for one in range(4)))
    rest = ["-k", "2", *(["--out", str(tmp_path / "out")] if command == "anonymize" else [])]
    result = invoke(command, str(path), "--quasi", "age,zip", *([] if command == "risk" else rest))
    assert result.exit_code == 2
    assert SECRET not in result.output
    assert "Hepatitis" not in result.output


def test_columns_of_several_answers_and_repeated_headers_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("age,cough\n33,cough\n34,\nage,cough\n35,cough\n")
    assert read(path).columns == ["age", "cough"]
