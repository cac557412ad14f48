"""Parties as separate processes through the command line, and how they ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.parties.inspector import assert_absent

CANARY = 4711471147
SIGNALS = {"killed": signal.SIGKILL, "interrupted": signal.SIGINT}
SECONDS = 20
HEAD = f"timeout = {SECONDS}\nconnect_timeout = 60\n"


class Ended:
    """How a party's process ended."""

    def __init__(self, process: subprocess.Popen[str], out: Path) -> None:
        self.stdout, self.stderr = process.communicate(timeout=120)
        self.code, self.out, self.at = process.returncode, out, time.monotonic()

    @property
    def wrote(self) -> bool:
        return self.out.exists() or any(self.out.parent.glob(f".{self.out.name}*"))


def run_all(
    path: Path, data: Mapping[str, Path | None], *, end: tuple[str, str, str] | None = None
) -> dict[str, Ended]:
    """Start every party; ``end`` names one, the kind of the frame before which it ends itself, and how."""
    processes, outs = {}, {}
    for name, file in data.items():
        outs[name] = path.parent / f"out-{name}"
        given = ["party", "run", str(path), "--as", name, "--out", str(outs[name])]
        given += [] if file is None else ["--data", str(file)]
        command = [sys.executable, "-m", "discreet", *given]
        if end is not None and end[0] == name:
            driver = Path(__file__).with_name("process.py")
            command = [sys.executable, str(driver), end[1], name, str(int(SIGNALS[end[2]])), *given]
        processes[name] = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
    with ThreadPoolExecutor(len(processes)) as pool:
        ended = pool.map(Ended, processes.values(), outs.values())
        return dict(zip(processes, ended, strict=True))


def numbers(folder: Path, name: str, values: list[int]) -> Path:
    path = folder / f"{name}.csv"
    path.write_text("value\n" + "".join(f"{value}\n" for value in values))
    return path


def items(folder: Path, name: str, values: list[str]) -> Path:
    path = folder / f"{name}.csv"
    path.write_text("item\n" + "".join(f"{value}\n" for value in values))
    return path


def assert_one_line(ended: Ended, *, code: int = 8) -> None:
    """Judge a party that ended early; 8 is the exit code of the network and of parties that were lost."""
    assert ended.code == code, ended.stderr
    assert len([line for line in ended.stderr.splitlines() if line.startswith("error: ")]) == 1
    assert "Traceback" not in ended.stderr
    assert not ended.wrote
    assert_absent(CANARY, (ended.stdout + ended.stderr).encode())
