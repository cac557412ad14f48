"""A channel over the network: protocols block on queues, and a thread with an event loop moves the frames.

While a party computes, or waits for another one, the loop sends empty frames "alive", so that silence means that a
party is lost and not that it is slow. They have no number, are not data and never reach a protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import ssl
import threading
import time
from concurrent.futures import TimeoutError as FutureTimeoutError

from discreet.parties.channel import FrameChannel, Payload, decode_header, encode_header
from discreet.parties.errors import FrameError, PartyError, PeerLostError
from discreet.parties.network.frame_stream import Arrived
from discreet.parties.network.mesh import PeerConnection

_END, _ALIVE = "end", "alive"
_BEATS = 8
"""How often a party shows that it is alive within the time-out."""
_MAX_INTERVAL = 15.0
_ALIVE_BURST = 16
_FRAME_COST = 256
"""The bytes that a frame counts beside its payload, about what it occupies: empty frames fill an inbox too."""
_HIGH_WATER = 1 << 25
_MAX_INBOX = 1 << 30
_CLOSE_SECONDS = 2.0


class NetworkChannel(FrameChannel):
    """One end of a channel over TLS.

    Parameters
    ----------
    connection : PeerConnection
        A connection that passed the handshake.
    loop : event loop
        The loop of the connection, which runs in another thread.
    session : bytes
        The identifier of the session.
    timeout : float
        The seconds of silence after which a party is lost.
    compute_timeout : float
        The most seconds to wait for a frame of a party that shows that it is alive.
    """

    def __init__(
        self,
        connection: PeerConnection,
        loop: asyncio.AbstractEventLoop,
        *,
        session: bytes,
        timeout: float,
        compute_timeout: float,
    ) -> None:
        super().__init__(connection.peer, session, timeout)
        self._compute_timeout = compute_timeout
        self._interval = min(timeout / _BEATS, _MAX_INTERVAL)
        self._opened_at, self._n_alive = time.monotonic(), 0
        self._beating: asyncio.Task[None] | None = None
        self._stream, self._loop = connection.stream, loop
        self._inbox: queue.SimpleQueue[tuple[bytes, bytes | memoryview] | PartyError] = queue.SimpleQueue()
        self._outbox: asyncio.Queue[tuple[bytes, bytes] | None] = asyncio.Queue()
        self._waiting_bytes = self._unsent_bytes = 0
        self._lock = threading.Lock()
        self._room = threading.Event()
        self._ended, self._confirmed = threading.Event(), False
        self._sender = asyncio.run_coroutine_threadsafe(self._transmit(), loop)
        loop.call_soon_threadsafe(self._stream.deliver_to, self._arrived)

    def _write(self, header: bytes, payload: Payload) -> None:
        if self._sender.done() or self._stream.transport.is_closing():
            raise PeerLostError(self.peer, "closed the connection")
        # Copied, as the caller may write over its memory before the loop has sent it.
        frame = header, bytes(payload)
        # Cleared before the bytes are counted: room that the loop makes from here on is not missed.
        self._room.clear()
        full = self._count_unsent(len(frame[1]) + _FRAME_COST) > _HIGH_WATER
        self._loop.call_soon_threadsafe(self._outbox.put_nowait, frame)
        if full:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        """Wait while the network takes something now and then."""
        started = time.monotonic()
        while not self._room.wait(self.timeout):
            now = time.monotonic()
            if now - self._stream.moved > self.timeout or now - started > self._compute_timeout:
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
                if self._count_unsent(-len(frame[1]) - _FRAME_COST) <= _HIGH_WATER:
                    self._room.set()
        except OSError:
            return
        finally:
            self._room.set()

    async def _beat(self) -> None:
        """Show the peer that this party is alive whenever there is nothing else to send."""
        header = encode_header(_ALIVE, 0, 0, self.session)
        while not self._sender.done():
            await asyncio.sleep(self._interval)
            # A frame that waits to be sent shows as much as "alive" does, and a full outbox must not grow.
            if self._unsent_bytes == 0:
                self._count_unsent(_FRAME_COST)
                self._outbox.put_nowait((header, b""))

    def _read(self, timeout: float) -> tuple[bytes, bytes | memoryview]:
        item = self._await_item(timeout)
        if isinstance(item, PartyError):
            self._inbox.put(item)
            raise item
        with self._lock:
            self._waiting_bytes -= len(item[1]) + _FRAME_COST
        return item

    def _await_item(self, timeout: float) -> tuple[bytes, bytes | memoryview] | PartyError:
        """Return the next item of the inbox; a party that shows that it is alive has more time, up to a limit."""
        started = now = time.monotonic()
        last = started + max(timeout, self._compute_timeout)
        deadline = started + max(timeout, 0.0)
        while now <= deadline:
            with contextlib.suppress(queue.Empty):
                return self._inbox.get(timeout=deadline - now)
            now = time.monotonic()
            # Half of the time-out since the last byte: four beats may be lost before a party that computes is.
            deadline = min(max(started + timeout, self._stream.heard + self.timeout / 2), last)
        if now < last:
            raise PeerLostError(
                self.peer,
                f"did not answer within {max(timeout, 0.0):.3g} seconds (it may itself wait for another party)",
                late=True,
            )
        raise PeerLostError(
            self.peer, f"has computed for {last - started:.3g} seconds and sent nothing", late=True
        )

    def _arrived(self, arrived: Arrived) -> None:
        """Put a frame into the inbox, or why no more will come."""
        if isinstance(arrived, Exception):
            self._inbox.put(self._reason(arrived))
            self._ended.set()
            return
        if self._beating is None:  # the peer's channel is open now, so what is sent to it does not wait
            self._beating = self._loop.create_task(self._beat())
        _, tag, kind, _ = decode_header(arrived[0])
        if kind in (_ALIVE, _END) and (tag != self.session[:8] or len(arrived[1])):
            self._refuse(f"A frame '{kind}' was not expected.")
        elif kind == _ALIVE:
            self._note_alive()
        elif kind == _END:
            self._confirmed = True
            self._ended.set()
        else:
            with self._lock:
                self._waiting_bytes += len(arrived[1]) + _FRAME_COST
            self._inbox.put(arrived)
            if self._waiting_bytes > _MAX_INBOX:
                self._refuse("More frames came than may wait.")

    def _note_alive(self) -> None:
        """Count a sign of life; more than twice as many as the session's time-out calls for are refused."""
        # They are not data and fill no inbox, so a flood of them is not bounded otherwise.
        self._n_alive += 1
        if self._n_alive > _ALIVE_BURST + 2 * (time.monotonic() - self._opened_at) / self._interval:
            self._refuse(f"A frame '{_ALIVE}' was not expected.")

    def _refuse(self, words: str) -> None:
        self._stream.transport.abort()
        self._arrived(FrameError(words))

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

    def wait_for_end(self, seconds: float) -> bool:
        """Wait until the peer has ended too, so that nothing sent to it is lost; return whether it says so."""
        self._ended.wait(max(0.0, seconds))
        return self._confirmed

    def close(self) -> None:
        """Send what is still to be sent, and close the connection."""

        async def closed() -> None:
            if self._beating is not None:
                self._beating.cancel()
            self._outbox.put_nowait(None)
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(asyncio.wrap_future(self._sender), _CLOSE_SECONDS)
            await self._stream.close()

        with contextlib.suppress(FutureTimeoutError):
            asyncio.run_coroutine_threadsafe(closed(), self._loop).result(2 * _CLOSE_SECONDS)
