"""A release on a cluster of two workers, one of which is killed in the middle: run by itself, since it starts Java."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from discreet import Table, identifier, other, quasi, read, sensitive
from discreet.engines.spark import session as sessions
from discreet.guarantees import KAnonymity
from discreet.publish import Mondrian

ROLES = {"ssn": identifier(), "age": quasi(), "zip": quasi(), "disease": sensitive(), "dose": other()}
EXECUTOR = b"CoarseGrainedExecutorBackend"


def rows(n: int = 20_000) -> pa.Table:
    """Return rows with nulls and -0.0."""
    return pa.table(
        {
            "ssn": [f"planted-{number:05d}" for number in range(n)],
            "age": [None if number % 97 == 0 else 20 + number * 7 % 60 for number in range(n)],
            "zip": [f"{number * 13 % 40:05d}" for number in range(n)],
            "disease": [["flu", "cold", None][number * 11 % 3] for number in range(n)],
            "dose": [[-0.0, 0.5, None][number % 3] for number in range(n)],
        }
    )


def executors() -> list[int]:
    """Return the processes that work for this one."""
    ours = {os.getpid()}
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return [pid for pid in ours if EXECUTOR in Path(f"/proc/{pid}/cmdline").read_bytes()]


def main(folder: Path) -> None:
    """Release the rows of a folder, kill a worker before the rows are recoded, and compare with this machine."""
    (folder / "rows").mkdir()
    for part in range(4):
        parquet.write_table(rows().slice(part * 5000, 5000), folder / "rows" / f"{part}.parquet")
    frame = read(folder / "rows", engine="spark", master="local-cluster[2,1,1024]")
    killed: list[int] = []
    fetch = sessions.fetched

    def fetched(counted: Any) -> pa.Table:
        table = fetch(counted)
        if not killed:
            killed.append(executors()[0])
            os.kill(killed[0], signal.SIGKILL)
        assert "planted" not in str(table.to_pydict())
        return table

    sessions.fetched = fetched
    release = Mondrian(KAnonymity(20)).release(Table(frame, ROLES))
    release.write(folder / "out", report=False)
    assert killed
    here = Mondrian(KAnonymity(20)).release(Table(rows(), ROLES))
    there = parquet.read_table(folder / "out" / "data.parquet")
    assert release.verdict == here.verdict
    assert sorted(map(repr, there.to_pylist())) == sorted(map(repr, here.frame.to_pylist()))
    print("the same rows")  # noqa: T201
    frame.sparkSession.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
