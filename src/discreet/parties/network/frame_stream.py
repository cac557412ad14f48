"""Frame stream: frames over one connection, parsed where they arrive and copied once."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from discreet.parties.channel import (
    HEADER_BYTES,
    MAX_FRAME,
    MAX_KIND,
    decode_header,
    encode_header,
    payload_size,
)
from discreet.parties.errors import FrameError

CHUNK = 1 << 18
"""The bytes that are written at once; a long buffer of the transport is slow to shorten."""
MAX_HELLO = 1 << 20
"""The most bytes of a frame before the session is open."""
Arrived = tuple[bytes, bytes | memoryview] | Exception
"""A header with its payload, or why no more will come."""
_MAX_EARLY = 8
"""The most frames that wait before the session is open: a party sends two or three and then waits for an answer."""
_STAGE = 1 << 16
_CLOSE_SECONDS = 1.0
_NO_SESSION = bytes(32)


class FrameStream(asyncio.BufferedProtocol):
    """The frames of a connection, in the thread of its event loop.

    Small frames are parsed from a stage that many of them share; the payload of a large one is read in its place, and
    handed over as a view. Its memory serves the next large one as soon as nobody holds the view any more. ``heard`` and
    ``moved`` are the times at which bytes last arrived and were last handed to the network.
    """

    def __init__(self, opened: Callable[[FrameStream], None] | None = None) -> None:
        self._opened = opened
        self._stage, self._end = bytearray(_STAGE), 0
        self._large, self._header, self._size, self._filled = bytearray(), b"", 0, 0
        self._limit = MAX_HELLO
        self._early: asyncio.Queue[Arrived] = asyncio.Queue()
        self._sink: Callable[[Arrived], None] = self._queue_early
        self.heard = self.moved = time.monotonic()
        self._writable = asyncio.Event()
        self._writable.set()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # What asyncio calls.

    def connection_made(self, transport: Any) -> None:
        """Begin to be used."""
        self.transport = transport
        transport.set_write_buffer_limits(high=2 * CHUNK)
        if self._opened is not None:
            self._opened(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next bytes belong: the large payload under way, or the stage."""
        del sizehint
        if self._header:
            return memoryview(self._large)[self._filled : self._size]
        return memoryview(self._stage)[self._end :]

    def buffer_updated(self, nbytes: int) -> None:
        """Take the bytes that were written where ``get_buffer`` said."""
        self.heard = time.monotonic()
        try:
            if self._header:
                self._fill_large(nbytes)
            else:
                self._end += nbytes
                self._parse_stage()
        except FrameError as error:
            self._end = 0
            self.transport.abort()
            self._sink(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """Say that no more frames will come."""
        self._sink(exc or EOFError())
        self._writable.set()
        if not self.closed.done():
            self.closed.set_result(None)

    def pause_writing(self) -> None:
        """Hold back writers."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let writers go on."""
        self._writable.set()

    # What the handshake and the channel call.

    def deliver_to(self, sink: Callable[[Arrived], None]) -> None:
        """Hand over all frames from now on, and those that came early; they may be as large as a session allows."""
        self._limit = MAX_FRAME
        while not self._early.empty():
            sink(self._early.get_nowait())
        self._sink = sink

    async def read(self, kind: str) -> bytes:
        """Return the payload of the next frame of the handshake."""
        arrived = await self._early.get()
        if isinstance(arrived, Exception):
            raise arrived
        if decode_header(arrived[0])[2] != kind:
            raise FrameError(f"A frame '{kind}' was expected first.")
        return bytes(arrived[1])

    async def write(self, header: bytes, payload: bytes) -> None:
        """Write a frame in pieces, as fast as the peer takes them."""
        await self._piece(header + payload[:CHUNK])
        for at in range(CHUNK, len(payload), CHUNK):
            await self._piece(memoryview(payload)[at : at + CHUNK])

    async def write_early(self, kind: str, payload: bytes) -> None:
        """Write a frame of the handshake, which belongs to no session yet."""
        await self.write(encode_header(kind, len(payload), 0, _NO_SESSION), payload)

    async def close(self) -> None:
        """Close the connection after what was written, or at once if the peer does not agree."""
        self.transport.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self.closed), _CLOSE_SECONDS)
        self.transport.abort()
        await asyncio.sleep(0)

    async def _piece(self, piece: bytes | memoryview) -> None:
        await self._writable.wait()
        if self.transport.is_closing():
            raise ConnectionResetError
        self.transport.write(piece)
        self.moved = time.monotonic()

    def _queue_early(self, arrived: Arrived) -> None:
        if self._early.qsize() >= _MAX_EARLY and not isinstance(arrived, Exception):
            raise FrameError("Too many frames came before the session was open.")
        self._early.put_nowait(arrived)

    def _parse_stage(self) -> None:
        """Hand over the frames on the stage; keep the beginning of the next one."""
        at = 0
        while self._end - at > HEADER_BYTES and not self._header:
            start = bytes(memoryview(self._stage)[at : at + HEADER_BYTES])
            kind_size, size = payload_size(start)
            if size > self._limit:
                raise FrameError(f"A frame of {size} bytes is larger than the limit of {self._limit} bytes.")
            body = at + HEADER_BYTES + kind_size
            if self._end < body:
                break
            header = bytes(memoryview(self._stage)[at:body])
            there = min(size, self._end - body)
            payload = memoryview(self._stage)[body : body + there]
            if there == size:
                self._sink((header, bytes(payload)))
            elif HEADER_BYTES + MAX_KIND + size <= _STAGE:
                break  # the rest of the frame fits on the stage, behind its beginning
            else:
                self._begin_large(header, size, payload)
            at = body + there
        self._stage[: self._end - at] = self._stage[at : self._end]
        self._end -= at

    def _fill_large(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._filled == self._size:
            header, self._header = self._header, b""
            self._sink((header, memoryview(self._large)[: self._size].toreadonly()))

    def _begin_large(self, header: bytes, size: int, first: memoryview) -> None:
        # Memory that a receiver still looks at must not be written over.
        if len(self._large) < size or _is_held(self._large):
            self._large = bytearray(size)
        self._header, self._size, self._filled = header, size, len(first)
        self._large[: len(first)] = first


def _is_held(buffer: bytearray) -> bool:
    """Whether somebody still holds a view of a buffer: its size cannot change then."""
    # Python refuses to resize a bytearray while a memoryview of it exists; the pair leaves it as it was.
    try:
        buffer.append(buffer.pop())
    except BufferError:
        return True
    return False
