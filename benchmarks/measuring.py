"""How things are measured: CPU seconds, memory at its highest, in this process or in a fresh one."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = "DISCREET_PEERS"
DATA = "DISCREET_DATA"
PEER_SECONDS = 300.0
"""The most a peer may take by the clock."""


class PeerMissingError(Exception):
    """The peer cannot be run; says why."""


class PeerSlowError(PeerMissingError):
    """The peer was stopped at its time limit; ``seconds`` is that limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it was stopped after {seconds:g} s")
        self.seconds = seconds


class DataMissingError(Exception):
    """The data is not there; says what is missing."""


def cpu(
    work: Callable[..., object],
    *,
    times: int = 5,
    warm: int = 1,
    prepare: Callable[[], object] | None = None,
) -> float:
    """Return the median CPU seconds of some work, all threads counted, after warming up.

    What ``prepare`` gives is made anew for every run, outside the measured time, and handed to the work.
    """
    taken = []
    for _ in range(warm + times):
        given = () if prepare is None else (prepare(),)
        gc.collect()
        began = time.process_time()
        work(*given)
        taken.append(time.process_time() - began)
    return statistics.median(taken[warm:])


@dataclass(frozen=True)
class Peak:
    """What some work cost: the memory it added at its highest, the process's highest in all, and CPU seconds."""

    added: int
    highest: int
    seconds: float


def peak(work: Callable[[], object]) -> Peak:
    """Measure the memory and CPU seconds of some work; meant for a fresh process, which has no free pages to reuse."""
    gc.collect()
    _give_back()
    _reset_highest()
    before = _memory("VmRSS")
    began = time.process_time()
    work()
    seconds = time.process_time() - began
    highest = _memory("VmHWM")
    return Peak(max(highest - before, 0), highest, seconds)


def highest_memory() -> int:
    """Return the most memory this process has held, in bytes."""
    return _memory("VmHWM")


def fresh(module: str, function: str, *arguments: object, environment: dict[str, str] | None = None) -> Any:
    """Call a function of a benchmark in a process of its own; arguments and answer are plain data."""
    return _call(sys.executable, module, function, arguments, environment or {})


def peer(function: str, *arguments: object) -> Any:
    """Call a function of peers.py with the interpreter that has the peers; it is stopped at its time limit."""
    return _call(_peers_python(), "peers", function, arguments, {}, limit=PEER_SECONDS)


def process(
    command: Sequence[str | Path], *, bytecode: Path | None = None, environment: dict[str, str] | None = None
) -> tuple[float, float, int]:
    """Run a command; gives its CPU seconds (its children counted), wall seconds and exit code.

    With ``bytecode``, Python writes its bytecode there and finds it the next time, whatever the environment says.
    """
    environment = os.environ | (environment or {})
    if bytecode is not None:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    began = time.perf_counter()
    child = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, wall, child.returncode


def shared_data(name: str) -> Path:
    """Find a data set that is not part of the repository."""
    home = Path(os.environ.get(DATA, HERE.parents[1] / "shared" / "data"))
    if not (home / name).is_dir():
        raise DataMissingError(f"{name} is not in {DATA} or ../shared/data")
    return home / name


def _peers_python() -> str:
    """Return the interpreter with the peers: named, in a folder of their own, or this one."""
    named = os.environ.get(PEERS)
    own = Path(sys.prefix) / "peers" / "bin" / "python"
    return named or (str(own) if own.exists() else sys.executable)


def _call(
    python: str,
    module: str,
    function: str,
    arguments: Sequence[object],
    extra: dict[str, str],
    *,
    limit: float | None = None,
) -> Any:
    words = [python, str(HERE / "measuring.py"), module, function, json.dumps(arguments)]
    done = _finished(words, os.environ | extra, limit)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        if "ModuleNotFoundError" in reason and module == "peers":
            raise PeerMissingError(
                f"{reason.partition(': ')[2]}; `make benchmarks` installs it, or set {PEERS}"
            )
        raise RuntimeError(f"{module}.{function} left with {done.returncode}: {reason}")
    return json.loads(done.stdout.splitlines()[-1])


def _finished(
    words: list[str], environment: dict[str, str], limit: float | None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process group of its own, so that its children are stopped with it at the limit."""
    child = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        out, err = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise PeerSlowError(limit or 0.0) from None
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
    return subprocess.CompletedProcess(words, child.returncode, out, err)


def _memory(field: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def _give_back() -> None:
    """Hand free pages back to the system, so that reusing them counts as memory too."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _reset_highest() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


if __name__ == "__main__":
    wanted, called, given = sys.argv[1:]
    answer = getattr(import_module(wanted), called)(*json.loads(given))
    print(json.dumps(answer))
