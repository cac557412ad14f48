"""Both sides of a protocol of two parties as processes of their own, which talk over TLS on the loopback."""

from __future__ import annotations

import hashlib
import json
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from measuring import fresh

NAMES = ("first", "second")


@dataclass(frozen=True)
class Taken:
    """Seconds by the clock until both sides are done, CPU seconds of each side, and the outputs as ``shown`` made them.

    Seconds are medians over the runs after the first.
    """

    wall: float
    cpu: tuple[float, float]
    bytes_sent: tuple[int, int]
    outputs: tuple[Any, Any]


def both(module: str, protocol: str, parameters: dict[str, Any], *, runs: int = 4) -> Taken:
    """Run both sides; ``module`` has ``inputs(protocol, index)`` for data and ``shown(output)`` for plain results."""
    with tempfile.TemporaryDirectory() as folder:
        session = _session(Path(folder), protocol, parameters)
        with ThreadPoolExecutor(2) as pool:
            calls = [pool.submit(fresh, "sides", "half", session, name, module, runs) for name in NAMES]
            found = [call.result() for call in calls]
    walls = [max(pair) for pair in zip(*(one["wall"] for one in found), strict=True)]
    return Taken(
        statistics.median(walls[1:]),
        (statistics.median(found[0]["cpu"][1:]), statistics.median(found[1]["cpu"][1:])),
        (found[0]["bytes"], found[1]["bytes"]),
        (found[0]["output"], found[1]["output"]),
    )


def half(session_file: str, name: str, module: str, runs: int) -> dict[str, Any]:
    """Run one side several times in one session; the first run compiles and loads."""
    from discreet.parties.network.session import PartySession
    from discreet.parties.network.transport import open_session

    session = PartySession.read(session_file)
    benchmark = import_module(module)
    data = benchmark.inputs(session.protocol, NAMES.index(name))
    wall, cpu, sent = [], [], 0
    with open_session(session, name, Path(session_file).parent / f"{name}.pem") as party:
        for _ in range(runs):
            party.send(party.peer, "benchmark.start")
            party.recv(party.peer, "benchmark.start", 0)
            sent = party.meter.bytes_sent
            began, spent = time.perf_counter(), time.process_time()
            output = session.protocol.run(party, data)
            wall.append(time.perf_counter() - began)
            cpu.append(time.process_time() - spent)
            sent = party.meter.bytes_sent - sent
    return {"wall": wall, "cpu": cpu, "bytes": sent, "output": benchmark.shown(output)}


def digest(data: bytes) -> str:
    """Return a short text that stands for a long output."""
    return hashlib.sha256(data).hexdigest()[:16]


def _session(folder: Path, protocol: str, parameters: dict[str, Any]) -> str:
    from discreet.parties.network.keys import make_keys
    from discreet.parties.network.local_run import free_ports

    entries = []
    for name, port in zip(NAMES, free_ports(len(NAMES)), strict=True):
        _, public, _ = make_keys(name, folder, address=f"127.0.0.1:{port}")
        entries.append(public.read_text())
    values = "\n".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items())
    text = "\n".join([*entries, "[protocol]", f'name = "{protocol}"', values, ""])
    path = folder / "session.toml"
    path.write_text(text)
    return str(path)
