"""Protocols of two parties under faults: a peer that dies, frames of wrong size, elements that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.parties import (
    Comparison,
    FrameError,
    IntersectionSize,
    KOfNTransfer,
    ObliviousTransfer,
    Party,
    PartyError,
    PeerLostError,
    ScalarProduct,
    SetIntersection,
    simulate,
)
from discreet.parties.network.session import make_protocol
from discreet.parties.protocol import Protocol

RUNS: dict[str, tuple[Protocol, Any, Any]] = {
    "chosen": (ObliviousTransfer(n=3, malicious=True), [[b"0123456789abcdef"] * 2] * 3, [0, 1, 1]),
    "correlated": (ObliviousTransfer(n=3, form="correlated"), [1, 2, 3], [0, 1, 1]),
    "k of n": (KOfNTransfer(n=3, k=2, message_bytes=2), [b"ab", b"cd", b"ef"], [2, 0]),
    "product": (ScalarProduct(n=3, second_bits=2), [4, 5, 6], [1, 0, -2]),
    "comparison": (Comparison(n=3, of="values"), [4, 5, 6], [6, 5, 4]),
    "intersection": (SetIntersection(3, 3, output="both"), ["a", "b"], ["b", "c"]),
    "size": (IntersectionSize(3, 3, output="both"), ["a", "b"], ["b", "c"]),
}
POINTS = {
    "ot.base.point",
    "ot.base.choices",
    "ot.blinded",
    "ot.evaluated",
    "psi.first",
    "psi.second",
}
CASES = [
    (name, sender, kind)
    for name, (protocol, _, _) in RUNS.items()
    for sender, kind in sorted({(frame.sender, frame.kind) for frame in protocol.frames(("a", "b"))})
]


@pytest.mark.parametrize(("name", "sender", "kind"), CASES)
def test_a_peer_that_dies_stops_the_other(name: str, sender: str, kind: str) -> None:
    protocol, first, second = RUNS[name]
    with pytest.raises(PeerLostError, match=f"Party '{sender}' closed the connection"):
        simulate(protocol, {"a": first, "b": second}, drop={sender: kind}, timeout=5)


@pytest.mark.parametrize(("name", "sender", "kind"), CASES)
def test_frames_of_wrong_size_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, sender: str, kind: str
) -> None:
    protocol, first, second = RUNS[name]
    send = Party.send

    def longer(party: Party, peer: str, sent: str, payload: Any = b"") -> None:
        send(party, peer, sent, bytes(payload) + b"!" if (party.name, sent) == (sender, kind) else payload)

    monkeypatch.setattr(Party, "send", longer)
    with pytest.raises(FrameError, match=f"Party '{sender}' sent .* bytes in a frame '{kind}'"):
        simulate(protocol, {"a": first, "b": second}, timeout=5)


@pytest.mark.parametrize(("name", "sender", "kind"), [case for case in CASES if case[2] in POINTS])
@pytest.mark.parametrize(
    "replace",
    [
        lambda element: bytes(32),
        lambda element: b"\xec" + b"\xff" * 30 + b"\x7f",
        lambda element: element[:-1] + bytes([element[-1] | 0x80]),
    ],
    ids=["identity", "no element", "top bit"],
)
def test_elements_that_are_none_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, sender: str, kind: str, replace: Callable[[bytes], bytes]
) -> None:
    protocol, first, second = RUNS[name]
    send = Party.send

    def changed(party: Party, peer: str, sent: str, payload: Any = b"") -> None:
        data = bytes(payload)
        send(
            party,
            peer,
            sent,
            data[:-32] + replace(data[-32:]) if (party.name, sent) == (sender, kind) else data,
        )

    monkeypatch.setattr(Party, "send", changed)
    with pytest.raises(PartyError, match="invalid group element"):
        simulate(protocol, {"a": first, "b": second}, timeout=5)


@pytest.mark.parametrize("name", RUNS)
def test_changed_bytes_never_crash_and_never_show_a_value(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What a peer makes up leads to an error of the protocol or to a wrong result, and to nothing else."""
    protocol, first, second = RUNS[name]
    kinds = sorted({frame.kind for frame in protocol.frames(("a", "b"))} - POINTS)
    send, errors = Party.send, []
    for kind in kinds:

        def changed(party: Party, peer: str, sent: str, payload: Any = b"", kind: str = kind) -> None:
            data = bytes(payload)
            send(party, peer, sent, bytes(255 - one for one in data) if sent == kind else data)

        monkeypatch.setattr(Party, "send", changed)
        try:
            simulate(protocol, {"a": first, "b": second}, timeout=5)
        except PartyError as error:
            errors.append(error)
    assert all(error.__cause__ is None for error in errors)
    assert not any("0123456789abcdef" in str(error) for error in errors)


@pytest.mark.parametrize("name", RUNS)
def test_protocols_are_made_from_session_files(name: str) -> None:
    protocol = RUNS[name][0]
    assert make_protocol(protocol.name, protocol.parameters()) == protocol
    assert all(sentence.endswith(".") for sentence in protocol.leaks)
    assert protocol.verdict(("a", "b")).ok
    assert "assumed" in str(protocol.verdict(("a", "b")))


def test_inputs_are_checked_before_a_session_opens() -> None:
    for protocol, good, bad in (
        (ScalarProduct(n=2), [1, 2], [1]),
        (Comparison(n=2), np.zeros(2, np.uint64), [0.5, 1]),
        (SetIntersection(2, 2), ["a"], ["a", "b", "c"]),
        (IntersectionSize(2, 2), ["a"], [None]),
    ):
        protocol.check_input(good, ("a", "b"), "a")
        with pytest.raises(Exception, match=r"must|more elements"):
            protocol.check_input(bad, ("a", "b"), "b")


def test_the_meter_counts_by_steps() -> None:
    expected = {
        "chosen": ["base transfers", "transfers"],
        "product": ["base transfers", "transfers", "opening"],
        "comparison": ["base transfers", "base transfers", "triples", "circuit", "opening"],
        "intersection": ["base transfers", "codes", "tags"],
    }
    for name, steps in expected.items():
        protocol, first, second = RUNS[name]
        run = simulate(protocol, {"a": first, "b": second})
        for party in ("a", "b"):
            assert [step.name for step in run.meters[party].steps] == steps
            declared = [frame for frame in protocol.frames(("a", "b")) if frame.sender == party]
            assert sum(step.frames_sent for step in run.meters[party].steps) == len(declared)
