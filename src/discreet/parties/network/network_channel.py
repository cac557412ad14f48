"""A channel over the network: protocols block on queues, and a thread with an event loop moves the frames."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import ssl
import threading
from concurrent.futures import TimeoutError as FutureTimeoutError

from discreet.parties.channel import Channel, Payload, decode_header
from discreet.parties.errors import FrameError, PartyError, PeerLostError
from discreet.parties.network.frame_stream import Arrived
from discreet.parties.network.mesh import Connection

_END = "end"
_HIGH_WATER = 1 << 25
_MAX_INBOX = 1 << 30
_CLOSE_SECONDS = 2.0


class NetworkChannel(Channel):
    """One end of a channel over TLS.

    Parameters
    ----------
    connection : Connection
        A connection that passed the handshake.
    loop : event loop
        The loop of the connection, which runs in another thread.
    session : bytes
        The identifier of the session.
    timeout : float
        The seconds to wait for a frame.
    """

    def __init__(
        self, connection: Connection, loop: asyncio.AbstractEventLoop, *, session: bytes, timeout: float
    ) -> None:
        super().__init__(connection.peer, session, timeout)
        self._stream, self._loop = connection.stream, loop
        self._inbox: queue.SimpleQueue[tuple[bytes, bytes | memoryview] | PartyError] = queue.SimpleQueue()
        self._outbox: asyncio.Queue[tuple[bytes, bytes] | None] = asyncio.Queue()
        self._waiting_bytes = self._unsent_bytes = 0
        self._lock = threading.Lock()
        self._room = threading.Event()
        self._ended = threading.Event()
        loop.call_soon_threadsafe(self._stream.deliver_to, self._arrived)
        self._sender = asyncio.run_coroutine_threadsafe(self._transmit(), loop)

    def _write(self, header: bytes, payload: Payload) -> None:
        if self._sender.done() or self._stream.transport.is_closing():
            raise PeerLostError(self.peer, "closed the connection")
        frame = header, bytes(payload)
        self._room.clear()
        full = self._count_unsent(len(frame[1])) > _HIGH_WATER
        self._loop.call_soon_threadsafe(self._outbox.put_nowait, frame)
        if full and not self._room.wait(self.timeout):
            raise PeerLostError(self.peer, f"took no frame within {self.timeout:g} seconds")

    def _count_unsent(self, n_bytes: int) -> int:
        with self._lock:
            self._unsent_bytes += n_bytes
            return self._unsent_bytes

    async def _transmit(self) -> None:
        """Move frames from the outbox to the network."""
        try:
            while (frame := await self._outbox.get()) is not None:
                await self._stream.write(*frame)
                if self._count_unsent(-len(frame[1])) <= _HIGH_WATER:
                    self._room.set()
        except OSError:
            return
        finally:
            self._room.set()

    def _read(self, timeout: float) -> tuple[bytes, bytes | memoryview]:
        try:
            item = self._inbox.get(timeout=max(timeout, 0.0))
        except queue.Empty:
            raise PeerLostError(self.peer, f"did not answer within {timeout:.3g} seconds") from None
        if isinstance(item, PartyError):
            self._inbox.put(item)
            raise item
        with self._lock:
            self._waiting_bytes -= len(item[1])
        return item

    def _arrived(self, arrived: Arrived) -> None:
        """Put a frame into the inbox, or why no more will come."""
        if isinstance(arrived, Exception):
            self._inbox.put(self._reason(arrived))
            self._ended.set()
        elif decode_header(arrived[0])[2] == _END:
            self._ended.set()
        else:
            with self._lock:
                self._waiting_bytes += len(arrived[1])
            self._inbox.put(arrived)
            if self._waiting_bytes > _MAX_INBOX:
                self._stream.transport.abort()

    def _reason(self, error: Exception) -> PartyError:
        if isinstance(error, FrameError):
            return FrameError(f"Party '{self.peer}' broke the protocol. {error}")
        if isinstance(error, ssl.SSLError):
            return PeerLostError(self.peer, "cannot be heard any more: a record was changed on its way")
        return PeerLostError(self.peer, "closed the connection")

    def end(self) -> None:
        """Send the last frame of a session that went well."""
        with contextlib.suppress(PeerLostError):
            self.send(_END)

    def wait_for_end(self, seconds: float) -> None:
        """Wait until the peer has ended too, so that nothing sent to it is lost."""
        self._ended.wait(max(0.0, seconds))

    def close(self) -> None:
        """Send what is still to be sent, and close the connection."""

        async def closed() -> None:
            self._outbox.put_nowait(None)
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(asyncio.wrap_future(self._sender), _CLOSE_SECONDS)
            await self._stream.close()

        with contextlib.suppress(FutureTimeoutError):
            asyncio.run_coroutine_threadsafe(closed(), self._loop).result(2 * _CLOSE_SECONDS)
