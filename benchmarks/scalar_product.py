"""Scalar products of two parties over TLS, beside MPyC with three parties."""

from __future__ import annotations

from typing import Any

import numpy as np

from measuring import PeerMissingError, peer
from rows import Row, amount, failed, faster, within
from sides import Taken, both

MILLION, LIMIT = 1_000_000, 1.0
BESIDE, FLOOR = 100_000, 3.0


def run() -> list[Row]:
    """Measure integers times bits, and integers times integers of 16 bits."""
    million = _product({"n": MILLION, "first_bits": 32, "second_bits": 1})
    bits = _product({"n": BESIDE, "first_bits": 32, "second_bits": 1})
    integers = _product({"n": BESIDE, "first_bits": 16, "second_bits": 16})
    rows = [
        within(
            "10⁶ integers · bits, by the clock", million.wall, LIMIT, "s", note=_costs(million), clock=True
        ),
        Row("10⁵ integers · integers of 16 bits, by the clock", integers.wall, "s", note=_costs(integers)),
    ]
    try:
        theirs = peer("mpyc_dot", BESIDE)
    except PeerMissingError as error:
        return [*rows, failed("beside MPyC", f"the peer cannot be run: {error}")]
    note = "by the clock; MPyC: three processes, from private inputs to the opened product"
    return [*rows, faster("10⁵ integers · bits, beside MPyC", bits.wall, theirs["wall"], FLOOR, note=note)]


def inputs(protocol: Any, index: int) -> Any:
    """Make the vector of one side."""
    bits = (protocol.first_bits, protocol.second_bits)[index]
    return np.random.default_rng(index).integers(0, 1 << max(1, bits - 1), protocol.n)


def shown(output: Any) -> Any:
    """Return the product."""
    return int(output[0, 0])


def _product(parameters: dict[str, Any]) -> Taken:
    from discreet.parties import ScalarProduct

    taken = both("scalar_product", "scalar-product", parameters)
    vectors = [inputs(ScalarProduct(**parameters), index) for index in (0, 1)]
    if set(taken.outputs) != {int(np.dot(*vectors))}:
        raise RuntimeError("the product is wrong")
    return taken


def _costs(taken: Taken) -> str:
    sent = sum(taken.bytes_sent)
    return f"CPU {amount(taken.cpu[0], 's')} + {amount(taken.cpu[1], 's')}, {amount(sent, 'B')} sent"
