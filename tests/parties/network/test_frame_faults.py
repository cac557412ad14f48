"""Faults on the wire against real sessions: every party ends in time, with its result or one line without a value."""

from __future__ import annotations

import struct
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.parties.ot.test_two_party_faults import RUNS
from tests.parties.sessions import meet, sum_of, write_session

from discreet.core.errors import DiscreetError
from discreet.parties import FrameError
from discreet.parties.channel import HEADER_BYTES, MAX_FRAME, decode_header, encode_header
from discreet.parties.network import network_channel
from discreet.parties.network.local_run import protocol_text
from discreet.parties.network.network_channel import NetworkChannel

CANARY = 48_219_977
HEAD = "timeout = 1\nconnect_timeout = 20\ncompute_timeout = 4\n"
THREE = {"a": [CANARY, 2], "b": [CANARY, 20], "c": [CANARY, 200]}

Frame = tuple[bytes, bytes]
Fault = Callable[[bytes, bytes, list[Frame]], Iterator[Frame]]
"""What is sent in the place of a frame; the list holds what was sent before."""


def flipped(at: int) -> Fault:
    """A bit changed in the header: length, length of the kind, number, session, kind; or in the payload."""

    def fault(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
        frame = bytearray(header + payload)
        frame[at % len(frame)] ^= 1
        yield bytes(frame[: len(header)]), bytes(frame[len(header) :])

    return fault


def truncated(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    yield header, payload[: len(payload) // 2]


def lengthened(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    yield header, payload + bytes(50)


def oversized(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    yield struct.pack(">I", MAX_FRAME + 1) + header[4:], payload


def endless_kind(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    yield header[:4] + b"\x7f" + header[5:], payload


def replayed(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    yield header, payload
    yield header, payload


def replayed_first(header: bytes, payload: bytes, earlier: list[Frame]) -> Iterator[Frame]:
    yield earlier[0] if earlier else (header, payload)
    yield header, payload


def dropped(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    yield from ()


def early(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    """The next number comes before this one."""
    number, tag, kind, _more = decode_header(header)
    yield encode_header(kind, len(payload), number + 1, tag), payload
    yield header, payload


def more_announced(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    number, tag, kind, _more = decode_header(header)
    yield encode_header(kind, len(payload), number, tag, more=True), payload


def no_text(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    yield header[:HEADER_BYTES] + b"\xff" * (len(header) - HEADER_BYTES), payload


def early_end(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    _number, tag, _kind, _more = decode_header(header)
    yield encode_header("end", 0, 0, tag), b""


def alive_for_ever(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    """Signs of life, and nothing more."""
    _number, tag, _kind, _more = decode_header(header)
    for _ in range(2000):
        yield encode_header("alive", 0, 0, tag), b""


def alive_with_content(header: bytes, payload: bytes, _: list[Frame]) -> Iterator[Frame]:
    _number, tag, _kind, _more = decode_header(header)
    yield encode_header("alive", 4, 0, tag), b"data"


FAULTS: dict[str, Fault] = {
    **{f"bit of byte {at}": flipped(at) for at in (0, 2, 3, 4, 8, 12, HEADER_BYTES, 30, -1)},
    "truncated": truncated,
    "lengthened": lengthened,
    "oversized": oversized,
    "endless kind": endless_kind,
    "replayed": replayed,
    "replayed first": replayed_first,
    "dropped": dropped,
    "early": early,
    "more announced": more_announced,
    "no text": no_text,
    "early end": early_end,
    "alive for ever": alive_for_ever,
    "alive with content": alive_with_content,
}
IN_PAYLOAD = {"bit of byte 30", "bit of byte -1"}
"""Faults that a protocol need not notice: parties are semi-honest, and TLS lets nobody else change a byte."""


UNREAD = {"replayed", "replayed first"}
"""Faults that leave a frame after the last one that a union reads: whether it is met before the end is a race."""


def inject(fault: Fault, number: int) -> Callable[[Any], None]:
    """Replace the n-th frame that a party sends to its first peer by what a fault makes of it."""

    def before(party: Any) -> None:
        channel: NetworkChannel = party._channels[party.peers[0]]
        write, sent = channel._stream.write, list[Frame]()

        async def changed(header: bytes, payload: bytes) -> None:
            if decode_header(header)[2] == "alive":
                await write(header, payload)
                return
            frames = fault(header, payload, sent) if len(sent) == number else iter([(header, payload)])
            sent.append((header, payload))
            for frame in frames:
                await write(*frame)

        channel._stream.write = changed  # type: ignore[method-assign]

    return before


def judge(found: dict[str, Any], names: str, canary: object) -> None:
    """Every party has ended, with a result or an error of ours that holds no value."""
    assert set(found) == set(names)
    for outcome in found.values():
        if isinstance(outcome, Exception):
            assert isinstance(outcome, DiscreetError), repr(outcome)
            text = "".join(traceback.format_exception_only(outcome))
            assert "\n" not in str(outcome)
            assert str(canary) not in text
            assert outcome.__cause__ is None


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("number", [0, 2])
def test_a_sum_ends_in_words_whatever_arrives(tmp_path: Path, fault: str, number: int) -> None:
    path = write_session(tmp_path, ("a", "b", "c"), sum_of(2), head=HEAD)
    found = meet(path, THREE, before={"b": inject(FAULTS[fault], number)})
    judge(found, "abc", CANARY)
    if fault not in IN_PAYLOAD:
        assert any(isinstance(outcome, DiscreetError) for outcome in found.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_union_ends_in_words_whatever_arrives(tmp_path: Path, fault: str) -> None:
    path = write_session(tmp_path, ("a", "b", "c"), 'name = "set-union"\nmax_items = 2', head=HEAD)
    found = meet(path, {name: [str(CANARY)] for name in "abc"}, before={"b": inject(FAULTS[fault], 0)})
    judge(found, "abc", CANARY)
    if fault not in IN_PAYLOAD | UNREAD:
        assert any(isinstance(outcome, DiscreetError) for outcome in found.values())


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("fault", ["bit of byte 30", "replayed", "truncated", "more announced"])
def test_every_protocol_of_two_ends_in_words(tmp_path: Path, name: str, fault: str) -> None:
    protocol, first, second = RUNS[name]
    described = protocol_text(protocol.name, protocol.parameters()).removeprefix("[protocol]\n")
    path = write_session(tmp_path, ("a", "b"), described, head=HEAD)
    for sender in "ab":
        found = meet(path, {"a": first, "b": second}, before={sender: inject(FAULTS[fault], 0)})
        judge(found, "ab", "0123456789abcdef")


def test_empty_frames_fill_the_inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A party that sends empty frames to one that computes is stopped before they fill its memory."""
    monkeypatch.setattr(network_channel, "_MAX_INBOX", 100_000)
    path = write_session(tmp_path, ("a", "b", "c"), sum_of(2), head=HEAD)

    def flood(party: Any) -> None:
        for _ in range(1000):
            party.send("a", "nothing")

    found = meet(path, THREE, before={"b": flood, "a": lambda party: time.sleep(1)})
    judge(found, "abc", CANARY)
    assert isinstance(found["a"], FrameError)


def test_a_broken_promise_of_size_is_noticed_while_others_wait(tmp_path: Path) -> None:
    """Half of a frame and then silence: the receiver stops after its time-out, not never."""
    path = write_session(tmp_path, ("a", "b", "c"), sum_of(2, 'method = "ring"'), head=HEAD)

    def half(party: Any) -> None:
        channel: NetworkChannel = party._channels["a"]
        channel._loop.call_soon_threadsafe(channel._beating.cancel)  # type: ignore[union-attr]
        header = encode_header("running", 1 << 20, channel._n_sent, channel.session)
        channel._loop.call_soon_threadsafe(channel._stream.transport.write, header + bytes(1000))
        time.sleep(3)

    found = meet(path, THREE, before={"c": half})
    judge(found, "abc", CANARY)
    assert "did not answer within" in str(found["a"])
