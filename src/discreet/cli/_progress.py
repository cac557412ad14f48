"""Progress: a bar over the stages of long work, and the gap of a solver, on stderr, only on a terminal."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.cli._interruption import stop_if_interrupted

if TYPE_CHECKING:
    from discreet.job import Job

_UNKNOWN = 1e29
"""What a solver reports as its best while it has none."""


@contextmanager
def stages(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a bar that moves one step with each new stage; after a colon a stage says how far it is."""
    if quiet or not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*console, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Starting", total=total, completed=-1)

        def advance(stage: str) -> None:
            stop_if_interrupted()
            bar.update(task, description=stage, advance=0 if ":" in stage else 1)

        yield advance


def _unseen(stage: str) -> None:
    del stage
    stop_if_interrupted()


@contextmanager
def watched(job: Job, progress: Callable[[str], None], *, anytime: bool) -> Iterator[Job]:
    """Return the job so that a solver shows its gap; with ``anytime`` Ctrl-C takes the best so far."""
    from discreet.core.registry import METHODS

    if "progress" not in METHODS[job.method or ""].options():
        yield job
        return
    from discreet.output.hiding import Stop

    enough = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def watch(value: float, bound: float) -> None:
        stop_if_interrupted()
        if enough.is_set():
            raise Stop
        if math.isfinite(value) and value < _UNKNOWN:
            progress(gap_text(value, bound))

    if anytime:
        signal.signal(signal.SIGINT, lambda number, frame: enough.set())
    try:
        yield replace(job, options={**job.options, "progress": watch})
    finally:
        if anytime:
            signal.signal(signal.SIGINT, before)


def gap_text(value: float, bound: float) -> str:
    """Return the best so far and how far it may be from the optimum.

    >>> gap_text(8.0, 6.0), gap_text(0.0, -1.0)
    ('Solving: best 8, at least 6, gap 25.0%', 'Solving: best 0, at least 0, gap 0.0%')
    """
    least = max(bound, 0.0)
    gap = 0.0 if value <= least else (value - least) / value
    return f"Solving: best {value:,.0f}, at least {least:,.0f}, gap {gap:.1%}"
