"""A generated Parquet file of 20 million rows, judged and generalized to given levels by the command line."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from measuring import fresh, highest_memory
from rows import Row, failed, within

ROWS = int(os.environ.get("DISCREET_BENCH_ROWS", 20_000_000))
CHUNK = 500_000
MEMORY = 2e9
EDUCATION = [f"education {number:02d}" for number in range(16)]
DIAGNOSES = [f"diagnosis {number:02d}" for number in range(30)]
MARITAL = ["divorced", "married", "separated", "single", "widowed"]

ROLES = ["--quasi", "age,sex,zip,education,marital", "--sensitive", "diagnosis", "--identifier", "patient"]
CHECK = ["-k", "5", "-l", "2"]
LEVELS = [
    "--other", "visits", "--method", "generalization", "-k", "5", "--max-suppressed", "0.05",
    "--hierarchy", "age=intervals:5,10,20", "--level", "age=2", "--hierarchy", "zip=mask", "--level", "zip=3",
    "--hierarchy", "education=flat", "--level", "education=0",
]  # fmt: skip


def run() -> list[Row]:
    """Judge the file, and generalize it, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "visits.parquet"
        fresh("large_file", "generate", str(source), ROWS)
        out = str(Path(folder) / "release")
        return [
            *_measured("check", ["check", str(source), *ROLES, *CHECK, "--json"], (0, 1)),
            *_measured(
                "anonymize", ["anonymize", str(source), *ROLES, *LEVELS, "--out", out, "--json"], (0,)
            ),
        ]


def _measured(shown: str, words: list[str], good: tuple[int, ...]) -> list[Row]:
    """Run a command; ``good`` names the exit codes that mean it did its work."""
    what = f"discreet {shown}, {ROWS / 1e6:g}M rows"
    found = fresh("large_file", "command", words)
    if found["code"] not in good:
        return [failed(what, f"left with exit code {found['code']}: {found['said']}")]
    note = f"{found['cpu']:.0f} s of CPU, {found['wall']:.0f} s by the clock"
    return [within(f"{what}, highest memory", found["memory"], MEMORY, "B", note=note)]


def generate(target: str, n_rows: int) -> int:
    """Write the file chunk by chunk; gives its size."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    writer: Any = None
    for start in range(0, n_rows, CHUNK):
        chunk = _chunk(pa, rng, start, min(CHUNK, n_rows - start))
        if writer is None:
            writer = parquet.ParquetWriter(target, chunk.schema)
        writer.write_table(chunk)
    writer.close()
    return Path(target).stat().st_size


def _chunk(pa: Any, rng: np.random.Generator, start: int, size: int) -> Any:
    """Draw some rows: 900 ZIP codes, large towns first, and ages in a broad bell."""
    zips = [f"{10_000 + 97 * number:05d}" for number in range(900)]
    towns = (900 * rng.random(size) ** 2).astype(np.int32)
    return pa.table({
        "patient": np.arange(start, start + size),
        "age": rng.normal(48, 20, size).clip(0, 99).astype(np.int64),
        "sex": pa.array(["female", "male"]).take(pa.array(rng.integers(0, 2, size))),
        "zip": pa.array(zips).take(pa.array(towns)),
        "education": pa.array(EDUCATION).take(pa.array(rng.binomial(15, 0.5, size))),
        "marital": pa.array(MARITAL).take(pa.array(rng.integers(0, 5, size))),
        "diagnosis": pa.array(DIAGNOSES).take(pa.array((30 * rng.random(size) ** 3).astype(np.int32))),
        "visits": rng.poisson(4, size),
    })  # fmt: skip


def command(words: list[str]) -> dict[str, Any]:
    """Run the command line in this very process; gives its exit code, memory at its highest and seconds."""
    import contextlib
    import io

    from discreet.cli._app import app

    said = io.StringIO()
    code: Any = 0
    began = time.perf_counter()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            app.main(words)
        except SystemExit as left:
            code = left.code
    wall = time.perf_counter() - began
    return {
        "code": code,
        "said": said.getvalue()[-300:],
        "memory": highest_memory(),
        "cpu": time.process_time(),
        "wall": wall,
    }
