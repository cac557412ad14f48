"""Tables beyond memory, 97 % of whose tuples are distinct: CPU and memory as rows grow tenfold."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import fresh
from rows import Row, failed, within

ROWS = int(os.environ.get("DISCREET_BENCH_ROWS", 100_000_000))
MEMORY = os.environ.get("DISCREET_MEMORY", "400MB")
"""What the engine may use, and what distinct tuples may take: with 400MB, those of 10M rows exceed it."""
CPU_GROWTH, MEMORY_GROWTH, LIMIT = 12.0, 1.25, 2e9
ROLES = [
    "--quasi",
    "age,sex,zip,education,marital,job,days",
    "--sensitive",
    "diagnosis",
    "--identifier",
    "patient",
]
STEPS: dict[str, tuple[list[str], list[str], tuple[int, ...]]] = {
    "check": (["-k", "5", "-l", "2"], [], (0, 1)),
    "anonymize": (
        [
            "--method", "generalization", "-k", "5", "-l", "2", "--max-suppressed", "0.05", "--no-report",
            "--hierarchy", "age=intervals:5,10,20", "--level", "age=3", "--hierarchy", "zip=mask", "--level", "zip=4",
            "--hierarchy", "days=intervals:30,90,180", "--level", "days=3", "--hierarchy", "education=flat",
            "--level", "education=1", "--hierarchy", "marital=flat", "--level", "marital=1",
            "--hierarchy", "job=flat", "--level", "job=1", "--level", "sex=0",
        ],
        ["--out"],
        (0,),
    ),
}  # fmt: skip


def run() -> list[Row]:
    """Judge and generalize a table and one of a tenth of its rows, each in a process of its own."""
    small, large = measured(ROWS // 10), measured(ROWS)
    rows = []
    for step in STEPS:
        what = f"discreet {step}, {ROWS / 1e7:g}M to {ROWS / 1e6:g}M rows"
        for taken in (small[step], large[step]):
            if "failure" in taken:
                return [*rows, failed(what, taken["failure"])]
        cpu, memory = ([taken[step][key] for taken in (small, large)] for key in ("cpu", "memory"))
        rows += [
            within(
                f"{what}: CPU", cpu[1] / cpu[0], CPU_GROWTH, "×", note=f"{cpu[0]:.0f} s and {cpu[1]:.0f} s"
            ),
            within(f"{what}: highest memory", memory[1] / memory[0], MEMORY_GROWTH, "×"),
            within(f"{what}: highest memory of the larger", memory[1], LIMIT, "B"),
        ]
    return rows


def measured(n_rows: int) -> dict[str, dict[str, Any]]:
    """Return the CPU seconds and the highest memory of each step for a table of so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "visits.parquet"
        fresh("beyond_memory", "generate", str(source), n_rows)
        taken = {}
        for step, (words, out, good) in STEPS.items():
            place = [*out, str(Path(folder) / "release")] if out else []
            command = [step, str(source), *ROLES, *words, *place, "--json"]
            found = fresh("large_file", "command", command, environment={"DISCREET_MEMORY": MEMORY})
            if found["code"] not in good:
                found["failure"] = f"left with exit code {found['code']}: {found['said']}"
            taken[step] = found
    return taken


def generate(target: str, n_rows: int) -> int:
    """Write the table: cells follow from the number of the row by a hash, every 33rd row repeats the one before."""
    import duckdb

    def drawn(number: int) -> str:
        return f"(hash(j * 10 + {number}) / 18446744073709551616.0)"

    connection = duckdb.connect(config={"memory_limit": "800MB", "threads": 1})
    connection.execute(f"""
        COPY (SELECT i AS patient, ({drawn(1)} * 99)::INT AS age,
            CASE WHEN {drawn(2)} < 0.5 THEN 'f' ELSE 'm' END AS sex,
            lpad(({drawn(3)} * {drawn(4)} * 99999)::INT::VARCHAR, 5, '0') AS zip,
            'e' || (({drawn(5)} * 15)::INT) AS education, 'm' || (({drawn(6)} * 4)::INT) AS marital,
            'j' || (({drawn(7)} * 20)::INT) AS job, ({drawn(8)} * 365)::INT AS days,
            'd' || ((pow(hash(i * 10 + 9) / 18446744073709551616.0, 3) * 30)::INT) AS diagnosis
        FROM (SELECT i, CASE WHEN i % 33 = 32 THEN i - 1 ELSE i END AS j FROM range({n_rows}) AS t(i)))
        TO '{target}' (FORMAT parquet, ROW_GROUP_SIZE 122880)""")
    return Path(target).stat().st_size


def stages(n_rows: int) -> None:
    """Print the CPU seconds of each stage of generalizing and writing, in this process."""
    import discreet.cli._progress
    from discreet.cli._app import app

    began = time.process_time()

    def shown(stage: str) -> None:
        print(f"{time.process_time() - began:8.2f} s  {stage}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        source = str(Path(folder) / "visits.parquet")
        generate(source, n_rows)
        began = time.process_time()
        discreet.cli._progress._log_stage = shown
        words, _, _ = STEPS["anonymize"]
        app.main(
            ["anonymize", source, *ROLES, *words, "--out", str(Path(folder) / "release"), "--quiet"],
            standalone_mode=False,
        )
        shown("End")


def main() -> None:
    """Print the curve for the numbers of rows on the command line, as the table of docs/scaling.md."""
    if sys.argv[1:2] == ["--stages"]:
        stages(int(sys.argv[2]))
        return
    print("| rows | judged, CPU | memory | generalized and written, CPU | memory |\n|---|---|---|---|---|")
    for words in sys.argv[1:]:
        taken = measured(int(words))
        cells = (f"{taken[step]['cpu']:.0f} s | {taken[step]['memory'] / 1e6:,.0f} MB" for step in STEPS)
        print(f"| {int(words):,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
