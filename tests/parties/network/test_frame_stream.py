"""Frames are parsed alike however the network cuts them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.parties import FrameError
from discreet.parties.channel import MAX_FRAME, decode_header, encode_header
from discreet.parties.network.frame_stream import MAX_HELLO, FrameStream

SIZES = st.sampled_from([0, 1, 100, 65_400, 65_500, 65_536, 70_000, 200_000])


class Wire:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.written, self.aborted = bytearray(), False

    def set_write_buffer_limits(self, high: int) -> None:
        assert high > 0

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


def feed(stream: FrameStream, data: bytes, cuts: list[int]) -> None:
    """Hand over bytes in pieces, as an event loop does: into the stream's own buffer, as far as it reaches."""
    at = 0
    while at < len(data):
        view = stream.get_buffer(-1)
        assert len(view) > 0
        size = min(len(view), len(data) - at, cuts[at % len(cuts)] if cuts else len(data))
        view[:size] = data[at : at + size]
        stream.buffer_updated(size)
        at += size


def opened() -> tuple[FrameStream, Wire, list[Any]]:
    stream, wire, found = FrameStream(), Wire(), []
    stream.connection_made(wire)
    stream.deliver_to(found.append)
    return stream, wire, found


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["k", "keys", "a" * 40]), SIZES), max_size=8),
    st.lists(st.integers(1, 100_000), min_size=1, max_size=5),
)
def test_frames_are_the_same_however_they_are_cut(frames: list[tuple[str, int]], cuts: list[int]) -> None:
    async def steps() -> None:
        stream, _, found = opened()
        payloads = [bytes([at + 1]) * size for at, (_, size) in enumerate(frames)]
        data = b"".join(
            encode_header(kind, len(payload), at, bytes(8)) + payload
            for at, ((kind, _), payload) in enumerate(zip(frames, payloads, strict=True))
        )
        feed(stream, data, cuts)
        assert [decode_header(header)[2] for header, _ in found] == [kind for kind, _ in frames]
        assert [decode_header(header)[0] for header, _ in found] == list(range(len(frames)))
        assert [payload for _, payload in found] == payloads

    asyncio.run(steps())


@pytest.mark.parametrize("size", [0, 10, 1 << 18, (1 << 18) + 1, 1_000_000])
def test_what_is_written_is_what_is_read(size: int) -> None:
    async def steps() -> None:
        stream, wire, _ = opened()
        await stream.write(encode_header("keys", size, 0, bytes(8)), bytes(size))
        other, _, found = opened()
        feed(other, bytes(wire.written), [])
        assert [len(payload) for _, payload in found] == [size]

    asyncio.run(steps())


def test_frames_that_come_before_the_session_is_open_are_kept_and_small() -> None:
    async def steps() -> None:
        stream, wire = FrameStream(), Wire()
        stream.connection_made(wire)
        feed(
            stream,
            encode_header("hello", 2, 0, bytes(8)) + b"hi" + encode_header("ready", 0, 0, bytes(8)),
            [],
        )
        assert await stream.read("hello") == b"hi"
        found: list[Any] = []
        stream.deliver_to(found.append)
        assert [decode_header(header)[2] for header, _ in found] == ["ready"]
        other = FrameStream()
        other.connection_made(wire)
        feed(other, encode_header("hello", MAX_HELLO + 1, 0, bytes(8)), [])
        with pytest.raises(FrameError, match="larger than the limit of 1048576 bytes"):
            await other.read("hello")
        assert wire.aborted

    asyncio.run(steps())


def test_a_frame_above_the_limit_ends_the_connection_at_its_header() -> None:
    async def steps() -> None:
        stream, wire, found = opened()
        header = encode_header("keys", MAX_FRAME, 0, bytes(8))
        feed(stream, (MAX_FRAME + 1).to_bytes(4, "big") + header[4:], [])
        assert isinstance(found[0], FrameError)
        assert wire.aborted
        with pytest.raises(ConnectionResetError):
            await stream.write(header, b"")

    asyncio.run(steps())


def test_a_writer_waits_while_the_peer_takes_nothing() -> None:
    async def steps() -> None:
        stream, wire, _ = opened()
        stream.pause_writing()
        writing = asyncio.ensure_future(stream.write(b"header", b"payload"))
        await asyncio.sleep(0.01)
        assert not wire.written
        stream.resume_writing()
        await writing
        assert wire.written == b"headerpayload"

    asyncio.run(steps())


def test_the_memory_of_a_large_frame_is_used_again_only_when_nobody_holds_it() -> None:
    async def run() -> None:
        stream, _, found = opened()
        size = 200_000
        frames = [bytes([number]) * size for number in range(3)]
        for number, payload in enumerate(frames):
            feed(stream, encode_header("k", size, number, bytes(32)) + payload, [])
            if number == 0:
                first = found.pop()[1]
        assert bytes(first) == frames[0]
        assert [bytes(payload) for _, payload in found] == frames[1:]
        del first
        found.clear()
        place = id(stream._large)
        feed(stream, encode_header("k", size, 3, bytes(32)) + frames[0], [])
        assert id(stream._large) == place
        with pytest.raises(TypeError):
            found[0][1][0] = 1

    asyncio.run(run())
