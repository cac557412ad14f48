"""The pictures of messages in the documentation: recorded runs, drawn again by ``python tests/parties_pictures.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.parties import (
    Comparison,
    IntersectionSize,
    KOfNTransfer,
    ObliviousTransfer,
    Protocol,
    ScalarProduct,
    SetIntersection,
    simulate,
)
from discreet.parties.picture import message_picture

FOLDER = Path(__file__).parents[1] / "docs" / "images"
PEOPLE = [f"person {number}" for number in range(100)]
RUNS: dict[str, tuple[Protocol, dict[str, Any]]] = {
    "oblivious-transfer": (
        ObliviousTransfer(n=1000, malicious=True),
        {"sender": [[bytes(16)] * 2] * 1000, "receiver": [0, 1] * 500},
    ),
    "k-of-n-transfer": (
        KOfNTransfer(n=100, k=3),
        {"sender": [bytes(32)] * 100, "receiver": [4, 50, 99]},
    ),
    "scalar-product": (
        ScalarProduct(n=1000, output="second"),
        {"first": [7] * 1000, "second": [0, 1] * 500},
    ),
    "comparison": (
        Comparison(n=100, of="values"),
        {"first": list(range(100)), "second": [50] * 100},
    ),
    "set-intersection": (
        SetIntersection(max_first=100, max_second=100, output="both"),
        {"first": PEOPLE[:60], "second": PEOPLE[40:]},
    ),
    "intersection-size": (
        IntersectionSize(max_first=100, max_second=100),
        {"first": PEOPLE[:60], "second": PEOPLE[40:]},
    ),
}


def drawn(name: str) -> str:
    """Run a protocol and draw its messages, in an order in which they may be received."""
    protocol, inputs = RUNS[name]
    run = simulate(protocol, inputs)
    declared = list(protocol.frames(tuple(inputs)))
    assert sorted(map(str, declared)) == sorted(map(str, run.transcript.shapes()))
    return message_picture(declared, tuple(inputs))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in RUNS:
        (FOLDER / f"{name}.svg").write_text(drawn(name), encoding="utf-8")
