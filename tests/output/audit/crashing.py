"""Run as a process: forks children that ask a vault and are killed, at a named point or at any time."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.output.audit import log, private, session, sums
from discreet.output.audit.auditor import Question
from discreet.output.audit.gate import columns
from discreet.output.audit.vault import Vault

POINTS: dict[str, tuple[Any, str, bool]] = {
    "before parsing": (session, "read_statement", True),
    "after parsing": (session, "read_statement", False),
    "after finding the set": (session.Selector, "members", False),
    "before deciding": (sums.SumAudit, "decide", True),
    "after deciding": (sums.SumAudit, "decide", False),
    "before the commit": (log.Log, "append", True),
    "between the commit and its head": (log.os, "pwrite", True),
    "after the commit": (log.Log, "append", False),
    "before looking at values": (columns.SecretColumn, "truth", True),
    "after looking at values": (columns.SecretColumn, "truth", False),
    "before taking the state over": (sums.SumAudit, "answer", True),
    "after taking the state over": (sums.SumAudit, "answer", False),
    "before drawing noise": (private, "noisy", True),
    "after drawing noise": (private, "noisy", False),
    "before answering": (session.Session, "_answer", True),
    "after answering": (session.Session, "_answer", False),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def armed(function: Callable[..., Any], before: bool, left: list[int]) -> Callable[..., Any]:
    def wrapped(*given: Any, **named: Any) -> Any:
        left[0] -= 1
        if before and left[0] < 0:
            die()
        found = function(*given, **named)
        if left[0] < 0:
            die()
        return found

    return wrapped


def child(folder: str, sqls: list[str], out: int, point: str | None, calls: int) -> None:
    """Open the vault and ask; every answer is written down before the next question."""
    with Vault.open(folder) as vault:
        os.write(out, b"opened\n")
        if point is not None:
            owner, name, before = POINTS[point]
            setattr(owner, name, armed(getattr(owner, name), before, [calls]))
        for sql in sqls:
            found = vault.ask(sql)
            answer = None if not found else found.rows[0][0]
            os.write(out, (json.dumps([sql, answer]) + "\n").encode())


def one_run(folder: str, sqls: list[str], point: str | None, calls: int, delay: float) -> list[Any]:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            child(folder, sqls, writing, point, calls)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        if point is None:
            if calls:
                stream.readline()
            time.sleep(delay)
            os.kill(pid, signal.SIGKILL)
        lines = [line for line in stream.read().splitlines() if line.endswith("]")]
    _, status = os.waitpid(pid, 0)
    return [os.WIFSIGNALED(status), [json.loads(line) for line in lines]]


def warm() -> None:
    """Load what the children need, so that each starts at once; no connection may be open when forking."""
    import duckdb
    import flint
    import numpy as np
    import opendp.prelude
    import sqlglot

    del duckdb, flint, opendp
    sqlglot.parse("SELECT sum(a) FROM data WHERE b IN ('c')", dialect="duckdb")
    audit = sums.SumAuditor(group=2, minimum_set_size=0).over(columns.SecretColumn.of([1, 2, 3, 4]))
    for members in ([1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]):
        audit.ask(Question("sum", (np.array(members, bool),)), [Fraction(0)])


def main() -> None:
    plan = json.loads(sys.stdin.read())
    warm()
    rng = random.Random(plan["seed"])
    results = []
    for run in plan["runs"]:
        sqls = rng.sample(plan["sqls"], len(plan["sqls"]))
        delay = rng.uniform(*plan["delay"])
        results.append(one_run(plan["vault"], sqls, run["point"], run["calls"], delay))
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
