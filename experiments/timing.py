"""Timing for the experiments: processor seconds, since other work on the machine does not count in them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def fastest(work: Callable[[], Result], *, times: int = 2) -> tuple[Result, float]:
    """Run ``work`` a few times; return its result and the processor seconds of the fastest run."""
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        result = work()
        best = min(best, time.process_time() - began)
    return result, best
