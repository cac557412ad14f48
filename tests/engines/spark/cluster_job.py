"""A release on a cluster of two workers; one is killed after the rows were counted, one while they are written.

It is run by itself, since it starts Java. The driver may fetch less than the rows take.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet import Table, identifier, other, quasi, read, sensitive
from discreet.engines.spark import session as sessions
from discreet.guarantees import KAnonymity
from discreet.publish import Mondrian

ROLES = {"ssn": identifier(), "age": quasi(), "zip": quasi(), "disease": sensitive(), "dose": other()}
EXECUTOR = b"CoarseGrainedExecutorBackend"


N_ROWS = 400_000


def rows(n: int = N_ROWS) -> pa.Table:
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


def kill_while_writing(folder: Path, killed: list[int]) -> None:
    """Kill a worker once files are being written, and before they are all there."""
    while not list(folder.glob(".out.*/*data.parquet*/_temporary/*/_temporary/*/*.parquet")):
        time.sleep(0.005)
    killed.append(executors()[0])
    os.kill(killed[-1], signal.SIGKILL)
    assert list(folder.glob(".out.*/*data.parquet*/_temporary"))


def main(folder: Path) -> None:
    """Release the rows of a folder, kill a worker before and one while they are written, and compare with memory."""
    here = rows()
    (folder / "rows").mkdir()
    for part in range(4):
        parquet.write_table(here.slice(part * N_ROWS // 4, N_ROWS // 4), folder / "rows" / f"{part}.parquet")
    frame = read(folder / "rows", engine="spark", master="local-cluster[2,1,1024]")
    with pytest.raises(Exception, match="maxResultSize"):  # of Java, whatever its class
        frame.toArrow()
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
    killing = threading.Thread(target=kill_while_writing, args=(folder, killed), daemon=True)
    killing.start()
    release.write(folder / "out", report=False)
    killing.join(1)
    assert len(killed) == 2
    expected = Mondrian(KAnonymity(20)).release(Table(here, ROLES))
    there = parquet.read_table(folder / "out" / "data.parquet")
    assert release.verdict == expected.verdict
    assert Counter(map(repr, there.to_pylist())) == Counter(map(repr, expected.frame.to_pylist()))
    print("the same rows")  # noqa: T201
    frame.sparkSession.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
