"""Secure sum: 100,000 values among 10 parties, each a process of its own over TLS; 50 parties in one process."""

from __future__ import annotations

import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from measuring import cpu, fresh
from rows import Row, within

LENGTH, PARTIES, MANY, TIMES = 100_000, 10, 50, 7
SECONDS = 0.030


def run() -> list[Row]:
    """Sum over loopback TLS by masks and by the ring; what a party costs is the median over parties and sums."""
    found = {method: _among_processes(method) for method in ("masks", "ring")}
    masks, ring = found["masks"], found["ring"]
    plain = fresh("secure_sum", "plain", LENGTH)
    many = fresh("secure_sum", "many", 1000)
    party = statistics.median(one["seconds"] for one in masks[1:])
    mean = statistics.mean(one["seconds"] for one in masks)
    what = f"{LENGTH:,} values, {PARTIES} parties, CPU of a party"
    note = f"{masks[1]['sent'] / 1e6:.2f} MB sent, {masks[1]['rounds']} rounds; adding alone takes {plain * 1e3:.1f} ms"
    return [
        within(f"{what}, masks", party, SECONDS, "s", note=note),
        within(f"{what}, masks, mean with the collector", mean, SECONDS, "s"),
        within(
            f"{what}, masks, the collector",
            masks[0]["seconds"],
            SECONDS,
            "s",
            note="receives nine vectors, sends nine results",
        ),
        Row(f"{what}, ring", statistics.median(one["seconds"] for one in ring), "s"),
        Row("opening the session: 45 connections, CPU of a party", masks[1]["opening"], "s"),
        Row(f"1,000 values, {MANY} parties in one process, all of them", many, "s"),
    ]


def _among_processes(method: str) -> list[dict[str, Any]]:
    from discreet.parties.network.keys import make_keys
    from discreet.parties.network.local_run import free_ports

    names = [f"party{number}" for number in range(PARTIES)]
    with tempfile.TemporaryDirectory() as folder:
        entries = []
        for name, port in zip(names, free_ports(len(names)), strict=True):
            _, public, _ = make_keys(name, folder, address=f"127.0.0.1:{port}")
            entries.append(public.read_text())
        protocol = f'[protocol]\nname = "secure-sum"\nlength = {LENGTH}\nmethod = "{method}"\n'
        Path(folder, "session.toml").write_text(
            "timeout = 120\nconnect_timeout = 120\n" + "".join(entries) + protocol
        )
        with ThreadPoolExecutor(PARTIES) as pool:
            return list(pool.map(lambda name: fresh("secure_sum", "half", folder, name), names))


def half(folder: str, name: str) -> dict[str, Any]:
    """Run one party: a sum to warm up and several to measure; gives CPU seconds, all threads counted."""
    import numpy as np

    from discreet.parties.network.session import PartySession
    from discreet.parties.network.transport import open_session

    session = PartySession.read(Path(folder, "session.toml"))
    vector = np.arange(LENGTH)
    taken = []
    began = time.process_time()
    with open_session(session, name, Path(folder, f"{name}.pem")) as party:
        opening = time.process_time() - began
        for _ in range(TIMES + 1):
            began, sent, rounds = time.process_time(), party.meter.bytes_sent, party.meter.rounds
            total = session.protocol.run(party, vector)
            taken.append(time.process_time() - began)
        assert (total.values == PARTIES * vector).all()
    return {
        "seconds": statistics.median(taken[1:]),
        "opening": opening,
        "sent": party.meter.bytes_sent - sent,
        "rounds": party.meter.rounds - rounds,
    }


def plain(length: int) -> float:
    """Add the vectors as they are."""
    import numpy as np

    vectors = [np.arange(length) for _ in range(PARTIES)]
    return cpu(lambda: np.sum(vectors, axis=0))


def many(length: int) -> float:
    """Sum among many parties in one process."""
    from discreet.parties import SecureSum, simulate

    protocol = SecureSum(length=length)
    inputs = {f"party{number}": list(range(length)) for number in range(MANY)}
    return cpu(lambda: simulate(protocol, inputs), times=3)
