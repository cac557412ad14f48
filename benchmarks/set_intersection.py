"""Private set intersection and its size over TLS, beside openmined-psi."""

from __future__ import annotations

from typing import Any

from measuring import PeerMissingError, peer
from rows import Row, amount, failed, faster
from sides import Taken, both

N, FLOOR = 100_000, 10.0


def run() -> list[Row]:
    """Measure the intersection of 10⁵ and 10⁵ elements, and its size alone."""
    found = both("set_intersection", "set-intersection", {"max_first": N, "max_second": N}, runs=3)
    size = both("set_intersection", "intersection-size", {"max_first": N, "max_second": N}, runs=2)
    if found.outputs[0] != N // 2 or size.outputs[0] != N // 2:
        raise RuntimeError("the intersection is wrong")
    rows = [
        Row("10⁵ × 10⁵, by the clock", found.wall, "s", note=_costs(found)),
        Row("its size alone, by the clock", size.wall, "s", note=_costs(size)),
    ]
    try:
        theirs = peer("openmined_psi", N)
    except PeerMissingError as error:
        return [*rows, failed("beside openmined-psi", f"the peer cannot be run: {error}")]
    if theirs["found"] != N // 2:
        return [*rows, failed("beside openmined-psi", "the peer finds another intersection")]
    note = "openmined-psi: both sides in one process, without a network"
    return [*rows, faster("10⁵ × 10⁵, beside openmined-psi", found.wall, theirs["wall"], FLOOR, note=note)]


def inputs(protocol: Any, index: int) -> Any:
    """Make the set of one side; half of the elements are common."""
    del protocol
    return [f"person-{number}" for number in range(index * N // 2, index * N // 2 + N)]


def shown(output: Any) -> Any:
    """Return the size."""
    return len(output) if isinstance(output, list) else output


def _costs(taken: Taken) -> str:
    sent = amount(sum(taken.bytes_sent), "B")
    return f"CPU {amount(taken.cpu[0], 's')} + {amount(taken.cpu[1], 's')}, {sent} sent"
