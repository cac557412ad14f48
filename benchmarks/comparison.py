"""Comparisons of shared integers with a threshold, both sides as processes over TLS."""

from __future__ import annotations

from typing import Any

import numpy as np

from rows import Row, amount, within
from sides import both, digest

N, THRESHOLD, LIMIT = 10_000, 500_000, 3.0


def run() -> list[Row]:
    """Measure 10⁴ comparisons of 64 bits."""
    taken = both("comparison", "comparison", {"n": N, "threshold": THRESHOLD})
    total = sum(inputs(None, index) for index in (0, 1)).view(np.int64)
    if set(taken.outputs) != {shown(total >= THRESHOLD)}:
        raise RuntimeError("the results are wrong")
    sent = amount(sum(taken.bytes_sent), "B")
    note = f"CPU {amount(taken.cpu[0], 's')} + {amount(taken.cpu[1], 's')}, {sent} sent"
    return [within("10⁴ comparisons, by the clock", taken.wall, LIMIT, "s", note=note, clock=True)]


def inputs(protocol: Any, index: int) -> Any:
    """Make the shares of one side."""
    del protocol
    values = np.random.default_rng(2).integers(0, 1_000_000, N).astype(np.uint64)
    first = np.random.default_rng(3).integers(0, 1 << 64, N, np.uint64)
    return values - first if index else first


def shown(output: Any) -> Any:
    """Return the results in short."""
    return digest(np.packbits(output).tobytes())
