"""The one way kernels are driven by threads: ranges of work, as many threads as there are processors to use."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def processors() -> int:
    """Count the processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(work: Callable[[int, int], Result], size: int, *, threads: int | None = None) -> list[Result]:
    """Call ``work(start, stop)`` on ranges that cover ``size`` pieces, one range for each thread, in order.

    >>> in_threads(lambda start, stop: sum(range(start, stop)), 10, threads=2)
    [10, 35]
    """
    count = max(1, min(threads or processors(), size))
    # The kernels release the interpreter's lock, so threads suffice; ranges depend on sizes alone, not on
    # timing.
    bounds = [size * part // count for part in range(count + 1)]
    if count == 1:
        return [work(0, size)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, bounds[:-1], bounds[1:]))
