"""Oblivious transfers by the million, both sides as processes over TLS."""

from __future__ import annotations

from typing import Any

import numpy as np

from rows import Row, amount, rate
from sides import Taken, both, digest

N = 1 << 21
RATE = 8e6
K_OF_N = {"n": 10_000, "k": 10, "message_bytes": 32}


def run() -> list[Row]:
    """Measure random transfers, checked ones, chosen messages, and k of N."""
    random = both("oblivious_transfer", "oblivious-transfer", {"n": N, "form": "random"})
    rows = [
        rate(f"random transfers, {side}", N / random.cpu[index], RATE, note=_clock(N, random))
        for index, side in enumerate(("sender", "receiver"))
    ]
    checked = both("oblivious_transfer", "oblivious-transfer", {"n": N, "form": "random", "malicious": True})
    chosen = both("oblivious_transfer", "oblivious-transfer", {"n": 1 << 20})
    k_of_n = both("oblivious_transfer", "k-of-n-transfer", K_OF_N)
    return [
        *rows,
        Row(
            "random transfers, malicious=True", checked.wall, "s", ours=_cpu(checked), note=_clock(N, checked)
        ),
        Row("a million chosen messages of 16 bytes", chosen.wall, "s", ours=_cpu(chosen)),
        Row("10 of 10,000 messages", k_of_n.wall, "s", ours=_cpu(k_of_n)),
    ]


def inputs(protocol: Any, index: int) -> Any:
    """Make the data of one side."""
    if protocol.name == "k-of-n-transfer":
        return [bytes(protocol.message_bytes)] * protocol.n if index == 0 else list(range(protocol.k))
    if index:
        return np.arange(protocol.n) % 3 == 0
    return None if protocol.form == "random" else np.zeros((protocol.n, 2, protocol.message_bytes), np.uint8)


def shown(output: Any) -> Any:
    """Return an output as plain data."""
    return digest(output.tobytes()) if isinstance(output, np.ndarray) else None


def _clock(n: int, taken: Taken) -> str:
    sent = sum(taken.bytes_sent) / n
    return f"{n / taken.wall / 1e6:.1f} M/s by the clock, both sides on this machine; {sent:.1f} bytes each"


def _cpu(taken: Taken) -> str:
    return f"CPU {amount(taken.cpu[0], 's')} + {amount(taken.cpu[1], 's')}"
