"""Query auditing: sums (groups of 2) over 100K and 1M records after 500 others, commits, 50 clients, ACRO beside."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from measuring import PeerMissingError, fresh, peer
from rows import Row, failed, within

LIMITS = {100_000: 0.040, 1_000_000: 0.400}
EARLIER, MEASURED = 500, 60
CLIENTS = 50
SECONDS = float(os.environ.get("DISCREET_BENCH_SECONDS", "60"))


def run() -> list[Row]:
    """Measure each part in a process of its own."""
    rows = []
    for n, limit in LIMITS.items():
        found = fresh("audit", "sums", n)
        note = (
            f"rank {found['rank']}, {found['atoms']:,} atoms, {found['denied']} of {found['asked']} denied, "
            f"slowest {found['slowest'] * 1e3:.0f} ms; state {found['bytes'] / 1e6:.1f} MB, "
            f"added {found['added'] / 1e6:.0f} MB"
        )
        rows.append(
            within(f"a sum over {n:,} records after {EARLIER}, CPU", found["median"], limit, "s", note=note)
        )
    commits = fresh("audit", "commits")
    rows.append(
        Row(
            "durable commits a second, sets of 100K records",
            ours=f"{commits['rate']:,.0f}/s",
            note="as fast as the disk syncs; not judged",
        )
    )
    return [*rows, *_service(), *_acro()]


def _service() -> list[Row]:
    found = fresh("audit", "clients", SECONDS)
    what = f"{CLIENTS} clients for {SECONDS:g} s"
    note = (
        f"{found['answers']:,} answers, p50 {found['p50'] * 1e3:.0f} ms, {found['errors']} errors, "
        f"{found['lost']} lost"
    )
    return [
        within(f"{what}: errors and lost answers", found["errors"] + found["lost"], 0, "", note=note),
        Row(f"{what}: p99", found["p99"], "s", ours=f"{found['p99'] * 1e3:.0f} ms"),
    ]


def _acro() -> list[Row]:
    ours = fresh("audit", "sums", 100_000)
    try:
        theirs = peer("acro_crosstab", 100_000)
    except PeerMissingError as error:
        return [failed("ACRO's check of one table beside ours", str(error))]
    note = "not alike: ACRO checks a table of 1,000 means, alone; ours one sum, with all earlier ones"
    return [
        Row("one output checked, 100K records; ACRO's crosstab", theirs["seconds"] / ours["median"], "×",
            ours=f"{ours['median'] * 1e3:.1f} ms", peer=f"{theirs['seconds'] * 1e3:.0f} ms", note=note)
    ]  # fmt: skip


def sums(n: int) -> dict[str, Any]:
    """Ask a vault of n records random range queries, and time those after the first 500."""
    from discreet.output.audit import SumAuditor, Vault
    from measuring import highest_memory

    before = highest_memory()
    vault = Vault.in_memory(
        _table(n), sensitive=["balance"], public=["age", "zip", "sex"], auditor=SumAuditor(group=2)
    )
    rng = np.random.default_rng(0)
    taken, denied = [], 0
    for number in range(EARLIER + MEASURED):
        began = time.process_time()
        answer = vault.ask(_question(rng))
        if number >= EARLIER:
            taken.append(time.process_time() - began)
        denied += not answer
    space = vault._session._audit("", "balance").state.space
    return {
        "median": statistics.median(taken),
        "slowest": max(taken),
        "rank": space.rank,
        "atoms": int(space.sizes.size),
        "bytes": space.rows.nbytes + space.sets.nbytes,
        "added": highest_memory() - before,
        "denied": denied,
        "asked": EARLIER + MEASURED,
    }


def commits() -> dict[str, float]:
    """Append entries with sets of 100,000 records to a log on disk."""
    from discreet.output.audit.log import Log

    rng = np.random.default_rng(0)
    sets = [np.packbits(rng.random(100_000) < 0.5).tobytes() for _ in range(20)]
    with tempfile.TemporaryDirectory() as folder:
        log = Log.create(Path(folder) / "log.sqlite")
        began = time.perf_counter()
        for number in range(300):
            log.append("query", {"sql": "SELECT sum(balance) FROM data", "user": ""}, sets[number % 20])
        taken = time.perf_counter() - began
        log.close()
    return {"rate": 300 / taken}


def clients(seconds: float) -> dict[str, Any]:
    """Let 50 clients ask a service in a process of its own, and find every answer in its log afterwards."""
    import pyarrow.parquet as pq

    from discreet.output.audit import SumAuditor, Vault
    from discreet.output.audit.service.tokens import Tokens

    with tempfile.TemporaryDirectory() as temporary:
        data, folder = Path(temporary) / "data.parquet", Path(temporary) / "vault"
        pq.write_table(_table(100_000), data)
        public = ["age", "zip", "sex"]
        Vault.create(folder, data, sensitive=["balance"], public=public, auditor=SumAuditor(group=2)).close()
        head = {"Authorization": f"Bearer {Tokens(folder).issue('bench')}"}
        with _served(folder) as url:
            taken, answers, errors = _asked(url, head, seconds)
        with Vault.open(folder, wait=10) as vault:
            history = vault.history()
    known: dict[tuple[str, bool], int] = {}
    for one in history:
        known[one.sql, one.answered] = known.get((one.sql, one.answered), 0) + 1
    lost = 0
    for answer in answers:
        known[answer] = known.get(answer, 0) - 1
        lost += known[answer] < 0
    taken.sort()
    middle, last = taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
    return {"answers": len(taken), "errors": errors, "lost": lost, "p50": middle, "p99": last}


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve a vault by the command, in a process of its own."""
    import httpx

    from discreet.parties.network.local_run import free_ports

    (port,) = free_ports(1)
    command = [
        sys.executable,
        "-m",
        "discreet",
        "audit",
        "serve",
        str(folder),
        "--port",
        str(port),
        "--rate",
        "1e9",
    ]
    server = subprocess.Popen([*command, "--quiet"])
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                httpx.get(f"{url}/health")
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


def _asked(url: str, head: dict[str, str], seconds: float) -> tuple[list[float], list[tuple[str, bool]], int]:
    """Ask from 50 threads; gives the times, the outcomes, and the number of errors."""
    import httpx

    taken: list[float] = []
    answers: list[tuple[str, bool]] = []
    errors: list[str] = []
    until = time.monotonic() + seconds

    def client(seed: int) -> None:
        rng = np.random.default_rng(seed)
        with httpx.Client(base_url=url, headers=head, timeout=60) as http:
            while time.monotonic() < until:
                sql = _question(rng)
                began = time.perf_counter()
                try:
                    reply = http.post("/ask", json={"sql": sql})
                    taken.append(time.perf_counter() - began)
                    answers.append((sql, not reply.json()["denied"]))
                except (httpx.HTTPError, KeyError, json.JSONDecodeError) as error:
                    errors.append(type(error).__name__)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(CLIENTS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return taken, answers, len(errors)


def _table(n: int) -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(18, 68, n),
            "zip": rng.integers(0, 1000, n),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
            "balance": rng.integers(-100_000, 200_000, n),
        }
    )


def _question(rng: np.random.Generator) -> str:
    low, high = sorted(rng.integers(18, 68, 2).tolist())
    first, last = sorted(rng.integers(0, 1000, 2).tolist())
    sex = f" AND sex = '{'fm'[rng.integers(2)]}'" if rng.random() < 0.5 else ""
    return f"SELECT sum(balance) FROM data WHERE age BETWEEN {low} AND {high} AND zip BETWEEN {first} AND {last}{sex}"
