"""How soon the command line answers: `discreet --help`, and `discreet demo` from start to report."""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measuring import process
from rows import Row, failed, within

HELP, HELP_BY_CLOCK, DEMO = 0.12, 0.3, 10.0
TIMES = 5


def run() -> list[Row]:
    """Start the commands as processes of their own, the first time unmeasured."""
    with tempfile.TemporaryDirectory() as folder:
        places = (Path(folder) / f"release{number}" for number in itertools.count())
        return [
            *_measured("--help", lambda: ["--help"], (HELP, HELP_BY_CLOCK), TIMES, Path(folder)),
            *_measured("demo", lambda: ["demo", "--out", str(next(places))], (DEMO, DEMO), 1, Path(folder)),
        ]


def _measured(
    shown: str, words: Callable[[], list[str]], limits: tuple[float, float], times: int, folder: Path
) -> list[Row]:
    what = f"discreet {shown}"
    # Python finds its bytecode from the second run on, as it does for users.
    bytecode = folder / "bytecode"
    taken = [process([*command(), *words()], bytecode=bytecode) for _ in range(times + 1)][1:]
    if any(code for _, _, code in taken):
        return [failed(what, f"left with exit code {taken[0][2]}")]
    cpu, wall = (statistics.median(each) for each in list(zip(*taken, strict=True))[:2])
    return [
        within(f"{what}, CPU", cpu, limits[0], "s"),
        within(f"{what}, wall clock", wall, limits[1], "s", clock=True),
    ]


def command() -> list[str]:
    """Return the words that start the command line."""
    installed = Path(sys.executable).parent / "discreet"
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "discreet"]
