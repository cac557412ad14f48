"""The pictures of the documentation are those of recorded runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.parties.inspector import assert_declared

from discreet.parties import (
    CandidateUnion,
    Comparison,
    IntersectionSize,
    KOfNTransfer,
    ObliviousTransfer,
    Protocol,
    ScalarProduct,
    SecureSum,
    SetIntersection,
    SetUnion,
    simulate,
)
from discreet.parties.mining import AssociationRules, VerticalRules
from discreet.parties.transcript import FrameShape
from discreet.report.party_run import merged, message_chart

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CLINICS = ("clinic", "hospital", "practice")
RUNS: dict[str, tuple[Protocol, dict[str, Any]]] = {
    "secure-sum-masks": (SecureSum(length=1000), dict.fromkeys(CLINICS, [1] * 1000)),
    "secure-sum-ring": (SecureSum(length=1000, method="ring"), dict.fromkeys(CLINICS, [1] * 1000)),
    "set-union": (SetUnion(max_items=10), {key: ["flu"] for key in CLINICS}),
    "candidate-union": (
        CandidateUnion(candidates=("cold", "flu", "measles")),
        {"clinic": (), "hospital": ["flu"], "practice": ["cold"], "surgery": []},
    ),
}
PEOPLE = [f"person {number}" for number in range(100)]
TWO: dict[str, tuple[Protocol, dict[str, Any]]] = {
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
    "comparison": (Comparison(n=100, of="values"), {"first": list(range(100)), "second": [50] * 100}),
    "set-intersection": (
        SetIntersection(max_first=100, max_second=100, output="both"),
        {"first": PEOPLE[:60], "second": PEOPLE[40:]},
    ),
    "intersection-size": (
        IntersectionSize(max_first=100, max_second=100),
        {"first": PEOPLE[:60], "second": PEOPLE[40:]},
    ),
}


SHOPS = {name: [["beer", "chips"], ["bread"]] * 2 for name in ("north", "south", "west")}
MINING: dict[str, tuple[Any, dict[str, Any]]] = {
    "association-rules": (AssociationRules(0.4, items=("beer", "bread", "chips")), SHOPS),
    "vertical-rules": (
        VerticalRules(
            {"hospital": ["asthma"], "insurer": ["inhaler"]}, key="id", max_people=1000, min_support=0.4
        ),
        {
            "hospital": {"id": list(range(1000)), "asthma": [0, 1] * 500},
            "insurer": {"id": list(range(1000)), "inhaler": [0, 1] * 500},
        },
    ),
}


@pytest.mark.parametrize("name", MINING)
def test_the_picture_of_mining_is_that_of_the_frames_a_run_declares(name: str) -> None:
    """Frames of one kind between the same two parties are one arrow; the order is that of the declared ones."""
    protocol, inputs = MINING[name]
    names = tuple(inputs)
    run = simulate(protocol, inputs)
    declared = list(protocol.frames(names, revealed=run.revealed[names[0]]))
    assert_declared(run, declared, names)
    _require_drawn(name, message_chart(merged(declared), names, in_order=True))


@pytest.mark.parametrize("name", RUNS)
def test_the_picture_of_each_protocol_is_that_of_a_recorded_run(name: str) -> None:
    protocol, inputs = RUNS[name]
    drawn = message_chart(simulate(protocol, inputs).transcript.shapes(), tuple(inputs))
    _require_drawn(name, drawn)


@pytest.mark.parametrize("name", TWO)
def test_the_picture_of_two_parties_is_in_the_order_of_a_recorded_run(name: str) -> None:
    """Both may send at once, so the order of the declared frames is drawn; each sender's own is the recorded one."""
    protocol, inputs = TWO[name]
    names = tuple(inputs)
    declared = list(protocol.frames(names))
    assert_declared(simulate(protocol, inputs), declared, names)
    _require_drawn(name, message_chart(declared, names, in_order=True))


def _require_drawn(name: str, drawn: str) -> None:
    path = PICTURES / f"{name}.svg"
    if "DISCREET_DRAW" in os.environ:
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawn


def test_names_are_escaped_and_every_frame_has_an_arrow() -> None:
    frames = [FrameShape("a&b", "<c>", "keys", 64)] * 3
    drawn = message_chart(frames, ("a&b", "<c>"))
    assert drawn.count("marker-end") == 3
    assert "<c>" not in drawn
    assert "a&amp;b" in drawn
