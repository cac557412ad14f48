"""What a solver has come to while it works: the best so far and its gap, on stderr, only on a terminal."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.cli._interruption import stop_if_asked

if TYPE_CHECKING:
    from discreet.job import Job

_UNKNOWN = 1e29
"""What a solver reports as its best while it has none."""


@contextmanager
def watched(job: Job, tell: Callable[[str], None], *, anytime: bool) -> Iterator[Job]:
    """Return the job so that a solver shows its gap; with ``anytime`` Ctrl-C takes the best so far."""
    from discreet.core.registry import METHODS

    if "progress" not in METHODS[job.method or ""].options():
        yield job
        return
    from discreet.output.hiding import Stop

    enough = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def watch(value: float, bound: float) -> None:
        stop_if_asked()
        if enough.is_set():
            raise Stop
        if math.isfinite(value) and value < _UNKNOWN:
            tell(gap_text(value, bound))

    if anytime:
        signal.signal(signal.SIGINT, lambda number, frame: enough.set())
    try:
        yield replace(job, options={**job.options, "progress": watch})
    finally:
        if anytime:
            signal.signal(signal.SIGINT, before)


def gap_text(value: float, bound: float) -> str:
    """Describe the best so far and how far it may be from the optimum.

    >>> gap_text(8.0, 6.0), gap_text(0.0, -1.0)
    ('Solving: best 8, at least 6, gap 25.0%', 'Solving: best 0, at least 0, gap 0.0%')
    """
    least = max(bound, 0.0)
    gap = 0.0 if value <= least else (value - least) / value
    return f"Solving: best {value:,.0f}, at least {least:,.0f}, gap {gap:.1%}"
