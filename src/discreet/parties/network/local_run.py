"""Local runs: all parties of a session on this machine, each a process of its own, over TLS on the loopback."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import OutputError
from discreet.parties.errors import PartyError
from discreet.parties.network.keys import make_keys


@dataclass(frozen=True)
class LocalRun:
    """What the parties wrote, by their names, and the seconds by the clock until the last one was done."""

    folders: dict[str, Path]
    seconds: float

    def transcript(self, name: str) -> dict[str, Any]:
        """Return the record that a party wrote of its run."""
        text = (self.folders[name] / "transcript.json").read_text(encoding="utf-8")
        record: dict[str, Any] = json.loads(text)
        return record


def write_session(
    folder: Path,
    protocol: str,
    parameters: Mapping[str, Any],
    names: tuple[str, ...],
    *,
    timeout: float = 60.0,
) -> Path:
    """Make keys for all parties and write the session file they share, with free ports of the loopback."""
    entries = []
    for name, port in zip(names, free_ports(len(names)), strict=True):
        _, public, _ = make_keys(name, folder, address=f"127.0.0.1:{port}")
        entries.append(public.read_text(encoding="utf-8"))
    path = folder / "session.toml"
    head = f"timeout = {timeout}\nconnect_timeout = {timeout}\n"
    path.write_text(head + "".join(entries) + protocol_text(protocol, parameters), encoding="utf-8")
    return path


def protocol_text(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the [protocol] table of a session file.

    >>> print(protocol_text("rules", {"min_support": 0.01, "items": ("beer", "milk")}))
    [protocol]
    name = "rules"
    min_support = 0.01
    items = ["beer", "milk"]
    <BLANKLINE>
    """
    scalars = {key: value for key, value in parameters.items() if not isinstance(value, Mapping)}
    lines = [
        "[protocol]",
        f"name = {json.dumps(name)}",
        *(f"{key} = {_toml(entry)}" for key, entry in scalars.items()),
    ]
    for key, value in parameters.items():
        if isinstance(value, Mapping):
            lines += [
                f"[protocol.{key}]",
                *(f"{json.dumps(entry)} = {_toml(content)}" for entry, content in value.items()),
            ]
    return "\n".join(lines) + "\n"


def run_locally(session: Path, data: Mapping[str, Path | None], *, timeout: float = 600.0) -> LocalRun:
    """Run every party of a session as a process of its own; results are written beside the session file.

    Raises
    ------
    PartyError
        With the line that a party ended with, if one of them fails.
    """
    folders = {name: session.parent / f"result-{name}" for name in data}
    existing = [str(folder) for folder in folders.values() if folder.exists()]
    if existing:
        raise OutputError(f"{existing[0]} is there already; name a new folder.")
    started = time.perf_counter()
    processes = {name: _start(session, name, data[name], folders[name]) for name in data}
    try:
        ended = {name: process.communicate(timeout=timeout)[1] for name, process in processes.items()}
    except subprocess.TimeoutExpired:
        raise PartyError(f"The parties were not done after {timeout:g} seconds.") from None
    finally:
        for process in processes.values():
            if process.poll() is None:
                process.kill()
                process.communicate()
    for name, process in processes.items():
        if process.returncode:
            lines = [line for line in ended[name].splitlines() if line.startswith("error: ")]
            raise PartyError(
                f"Party '{name}' failed: {(lines or ['it ended early'])[0].removeprefix('error: ')}"
            )
    return LocalRun(folders, time.perf_counter() - started)


def _start(session: Path, name: str, data: Path | None, out: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "discreet",
        "party",
        "run",
        str(session),
        "--as",
        name,
        "--out",
        str(out),
    ]
    command += ["--quiet"] if data is None else ["--quiet", "--data", str(data)]
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )


def free_ports(n: int) -> list[int]:
    """Return ports of the loopback that nobody listens on; they are held open together, so they differ."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(n)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def _toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
