"""The reference job: fixed work in NumPy, measured in the same run; seconds are judged as multiples of it."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np

SECONDS = 0.12
"""CPU seconds of the job on the machine for which the limits of the benchmarks are stated."""
_LASTS = 30.0
_N = 1_000_000


@dataclass(frozen=True)
class Reference:
    """What the job took: CPU seconds and seconds by the clock, each the median of three, and when that was."""

    cpu: float
    wall: float
    at: float


_latest: list[Reference] = []


def reference() -> Reference:
    """Return what the reference job takes now; measured again when the last time is more than half a minute ago."""
    if not _latest or time.monotonic() - _latest[-1].at > _LASTS:
        taken = [_once() for _ in range(3)]
        cpu, wall = (statistics.median(each) for each in zip(*taken, strict=True))
        _latest[:] = [Reference(cpu, wall, time.monotonic())]
    return _latest[-1]


def _once() -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    job()
    return time.process_time() - cpu, time.perf_counter() - wall


def job() -> int:
    """Draw, sort, count, gather and add up a million numbers on one core; gives a number that depends on all of it."""
    values = np.random.default_rng(1).integers(0, 1 << 40, _N)
    order = np.argsort(values, kind="stable")
    counts = np.bincount(values & 0xFFFF, minlength=1 << 16)
    gathered = counts[values[order] >> 24]
    return int(np.cumsum(gathered)[-1] % 1_000_003)
