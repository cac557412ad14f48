"""The pictures of the documentation are those of recorded runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from discreet.parties import CandidateUnion, Protocol, SecureSum, SetUnion, simulate
from discreet.parties.picture import message_chart
from discreet.parties.transcript import FrameShape

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CLINICS = ("clinic", "hospital", "practice")
RUNS: dict[str, tuple[Protocol, dict[str, Any]]] = {
    "secure-sum-masks": (SecureSum(length=1000), dict.fromkeys(CLINICS, [1] * 1000)),
    "secure-sum-ring": (SecureSum(length=1000, method="ring"), dict.fromkeys(CLINICS, [1] * 1000)),
    "set-union": (SetUnion(max_items=10), {key: ["flu"] for key in CLINICS}),
    "candidate-union": (
        CandidateUnion(candidates=("cold", "flu", "measles")),
        {"clinic": (), "hospital": ["flu"], "practice": ["cold"]},
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_picture_of_each_protocol_is_that_of_a_recorded_run(name: str) -> None:
    protocol, inputs = RUNS[name]
    drawn = message_chart(simulate(protocol, inputs).transcript.shapes(), CLINICS)
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
