"""What surrounds a search: a million rows from CSV to CSV beside DuckDB's copy, reports, explore, and first use."""

from __future__ import annotations

import statistics
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from large_file import CHUNK, ROLES, _chunk
from lattice_adult import SUPPRESSED
from measuring import DataMissingError, fresh, peak, process, shared_data
from mondrian_adult import adult_csv
from rows import Row, failed, skipped, within
from start import command

ROWS = 1_000_000
LEVELS = ["--hierarchy", "age=intervals:5,10,20", "--hierarchy", "zip=mask", "--hierarchy", "education=flat"]
METHODS = {"mondrian": [], "optimal": ["--method", "optimal", "--max-suppressed", "0.05"]}
TIMES = 4.0
"""How many times the search and a copy of the file the whole may take."""
REPORTS = {"Adult": 0.5, "the hospital table": 3.0}
EXPLORE, FIRST_USE, ADULT = 30.0, 3.0, 0.7
_BYTECODE = tempfile.TemporaryDirectory()
"""Where Python writes its bytecode, and finds it from the second run on, as it does for users."""


class RunError(Exception):
    """A command failed; says which and how."""


def run() -> list[Row]:
    """Run the commands as processes of their own."""
    rows = []
    for measure in (million_rows, adult, reports_on_adult, hospital, first_use):
        try:
            rows += measure()
        except DataMissingError as error:
            rows.append(skipped(measure.__name__, str(error)))
        except RunError as error:
            rows.append(failed(measure.__name__, str(error)))
    return rows


def million_rows() -> list[Row]:
    """Compare the whole way of a million rows with the search and DuckDB's copy of the file."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = write_csv(folder / "visits.csv", ROWS)
        copied = fresh("whole_runs", "copy", str(source), str(folder / "copy.csv"))
        for method, words in METHODS.items():
            arguments = [*ROLES, *LEVELS, *words, "--other", "visits", "-k", "5", "--no-report"]
            out = ["--out", folder / method, "--overwrite"]
            taken = statistics.median(_seconds("anonymize", source, *arguments, *out) for _ in range(3))
            search = fresh("whole_runs", "search", str(source), method)
            rows.append(
                within(
                    f"1M rows, CSV to CSV, {method}, over the search and DuckDB's copy of the file",
                    taken / (search["seconds"] + copied), TIMES, "×", ours=f"{taken:.2f} s",
                    peer=f"{search['seconds']:.2f} + {copied:.2f} s", note=f"{search['tuples']:,} distinct tuples",
                )
            )  # fmt: skip
    return rows


def search(source: str, method: str) -> dict[str, Any]:
    """Time the search alone on the coded table, and count its distinct tuples."""
    import time

    import discreet
    from discreet import Table, flat, intervals, masked, quasi
    from discreet.guarantees import KAnonymity
    from discreet.publish import Mondrian
    from lattice_adult import search as best

    trees = {"age": intervals(5, 10, 20), "zip": masked(), "education": flat()}
    names = ("age", "sex", "zip", "education", "marital")

    def table(frame: Any) -> Any:
        return Table(frame, {name: quasi(trees.get(name)) for name in names})

    frame = discreet.read(source).project(", ".join(names))
    for rows in (frame.limit(20_000), frame):
        coded = table(rows)
        n_tuples = int(coded.tuples.counts.size)
        began = time.process_time()
        if method == "mondrian":
            Mondrian(KAnonymity(5)).partition(coded)
        else:
            best(coded, KAnonymity(5), SUPPRESSED)
        seconds = time.process_time() - began
    return {"seconds": seconds, "tuples": n_tuples}


def copy(source: str, target: str) -> float:
    """Time DuckDB's own reading and writing of a CSV file."""
    import duckdb

    def work() -> None:
        duckdb.sql(f"COPY (SELECT * FROM read_csv('{source}')) TO '{target}' (HEADER)")

    work()
    return peak(work).seconds


def adult() -> list[Row]:
    """Time Adult from CSV to CSV without a report, once everything is compiled."""
    with tempfile.TemporaryDirectory() as name:
        words = _adult_words(adult_csv(Path(name)))
        out = ["--no-report", "--overwrite", "--out", Path(name) / "release"]
        taken = [_seconds(*words, *out) for _ in range(6)][1:]
    return [within("Adult, CSV to CSV, no report, CPU", statistics.median(taken), ADULT, "s")]


def reports_on_adult() -> list[Row]:
    """Time what a report adds to a run on Adult."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = _adult_words(adult_csv(folder))
        return [
            _report(
                "Adult", lambda *more: _seconds(*words, *more, "--out", folder / "release", "--overwrite")
            )
        ]


def _report(data: str, seconds: Any) -> Row:
    """Judge the median of what a report adds, in pairs of runs with and without one."""
    seconds()
    pairs = [(seconds(), seconds("--no-report")) for _ in range(3)]
    added = statistics.median(whole - rest for whole, rest in pairs)
    return within(f"a report on {data}, CPU that it adds to a run", added, REPORTS[data], "s")


def hospital() -> list[Row]:
    """Time what a report adds to a run on the hospital table, and explore."""
    archive = shared_data("diabetes130") / "dataset_diabetes.zip"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with zipfile.ZipFile(archive) as packed:
            source = packed.extract("dataset_diabetes/diabetic_data.csv", folder)
        job, without = folder / "job.toml", folder / "without.toml"
        _seconds("init", source, "--out", job)
        text = job.read_text(encoding="utf-8")
        without.write_text(
            text.replace('folder = "release"', 'folder = "release"\nreport = false'), encoding="utf-8"
        )

        def seconds(*more: str) -> float:
            return _seconds("run", without if more else job, "--out", folder / "release", "--overwrite")

        explored = _seconds("explore", job)
        return [
            _report("the hospital table", seconds),
            within("explore, the hospital table, CPU", explored, EXPLORE, "s"),
        ]


def first_use() -> list[Row]:
    """Time Adult from CSV to CSV where no kernel was compiled before, and where only what `make demo` compiles was."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = _adult_words(adult_csv(folder))
        taken = []
        for number in range(3):
            cache = {"NUMBA_CACHE_DIR": str(folder / f"cache{number}")}
            out = ["--no-report", "--out", folder / f"release{number}"]
            taken.append(_seconds(*words, *out, environment=cache))
        cache = {"NUMBA_CACHE_DIR": str(folder / "compiled")}
        seconds, _, code = process([sys.executable, "-m", "discreet.publish.first_use"], environment=cache)
        if code:
            raise RunError("discreet.publish.first_use failed")
        diverse = [*words[: words.index("-k")], "-k", "5", "-l", "2", "--method", "mondrian", "--no-report"]
        after = _seconds(*diverse, "--out", folder / "diverse", environment=cache)
    what = "first use: Adult, CSV to CSV, no kernel in the cache, CPU"
    return [
        within(what, statistics.median(taken), FIRST_USE, "s"),
        within(
            "first use: Adult by Mondrian with diversity, after the set-up of `make demo`, CPU",
            after, FIRST_USE, "s", note=f"the set-up compiles for {seconds:.0f} s",
        ),
    ]  # fmt: skip


def _adult_words(source: Path) -> list[Any]:
    """Return the command that protects Adult: the best lattice node for k = 5, salaries sensitive."""
    trees = shared_data("adult-arx")
    *columns, label = source.read_text(encoding="utf-8").partition("\n")[0].split(";")
    words: list[Any] = ["anonymize", source, "--quasi", ",".join(columns), "--sensitive", label]
    for column in columns:
        words += ["--hierarchy", f"{column}={trees / f'adult_hierarchy_{column}.csv'}"]
    return [*words, "-k", "5", "--method", "optimal", "--max-suppressed", str(SUPPRESSED)]


def _seconds(*words: Any, environment: dict[str, str] | None = None) -> float:
    """Return the CPU seconds of a command."""
    seconds, _, code = process([*command(), *words], bytecode=Path(_BYTECODE.name), environment=environment)
    if code:
        raise RunError(f"{words[0]} left with exit code {code}")
    return seconds


def write_csv(target: Path, n_rows: int) -> Path:
    """Write the table of visits as CSV, chunk by chunk."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, CHUNK):
        chunk = _chunk(pa, rng, start, min(CHUNK, n_rows - start))
        writer = writer or csv.CSVWriter(str(target), chunk.schema)
        writer.write(chunk)
    if writer is not None:
        writer.close()
    return target


if __name__ == "__main__":
    for row in run():
        print(row.what, row.ours, row.peer, row.shown, row.asked, row.state, row.note, file=sys.stdout)
