"""Transport: a party's end of a session over the network. Protocols block; asyncio runs in a thread behind them."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import ssl
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any, TypeVar

from discreet.parties.channel import HEADER_BYTES, Channel, Payload, decode_header, payload_size
from discreet.parties.errors import FrameError, PartyError, PeerLostError, SessionError
from discreet.parties.network.handshake import make_hello, session_identifier
from discreet.parties.network.keys import check_key, check_validity
from discreet.parties.network.mesh import Connection, Mesh
from discreet.parties.network.session import Member, Session
from discreet.parties.protocol import Party
from discreet.parties.transcript import Transcript

T = TypeVar("T")
_END = "end"
_CHUNK = 1 << 18
_HIGH_WATER = 1 << 25
_MAX_INBOX = 1 << 30
_END_SECONDS = 5.0
_CLOSE_SECONDS = 1.0


class NetworkChannel(Channel):
    """One end of a channel over TLS."""

    def __init__(
        self, connection: Connection, loop: asyncio.AbstractEventLoop, *, session: bytes, timeout: float
    ) -> None:
        super().__init__(connection.peer, session, timeout)
        self._reader, self._writer, self._loop = connection.reader, connection.writer, loop
        self._inbox: queue.SimpleQueue[tuple[bytes, bytes] | PartyError] = queue.SimpleQueue()
        self._outbox: asyncio.Queue[tuple[bytes, bytes] | None] = asyncio.Queue()
        self._waiting_bytes = 0
        self._unsent_bytes = 0
        self._lock = threading.Lock()
        self._room = threading.Event()
        self._ended = threading.Event()
        self._writer.transport.set_write_buffer_limits(high=2 * _CHUNK)
        self._receiver = asyncio.run_coroutine_threadsafe(self._receive(), loop)
        self._sender = asyncio.run_coroutine_threadsafe(self._transmit(), loop)

    def _write(self, header: bytes, payload: Payload) -> None:
        if self._sender.done() or self._writer.transport.is_closing():
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
        """Move frames from the outbox to the network, in pieces: a long buffer is slow to shorten."""
        try:
            while (frame := await self._outbox.get()) is not None:
                header, payload = frame
                self._writer.write(header + payload[:_CHUNK])
                for at in range(_CHUNK, len(payload), _CHUNK):
                    await self._writer.drain()
                    self._writer.write(memoryview(payload)[at : at + _CHUNK])
                await self._writer.drain()
                if self._count_unsent(-len(payload)) <= _HIGH_WATER:
                    self._room.set()
        except OSError:
            return
        finally:
            self._room.set()

    def _read(self, timeout: float) -> tuple[bytes, bytes]:
        try:
            item = self._inbox.get(timeout=max(timeout, 0.0))
        except queue.Empty:
            raise PeerLostError(self.peer, f"did not answer within {timeout:.3g} seconds") from None
        if isinstance(item, PartyError):
            self._inbox.put(item)
            raise item
        self._waiting_bytes -= len(item[1])
        return item

    async def _receive(self) -> None:
        """Move frames from the network to the inbox until the connection ends."""
        try:
            while True:
                start = await self._reader.readexactly(HEADER_BYTES)
                kind_size, size = payload_size(start)
                header = start + await self._reader.readexactly(kind_size)
                payload = await self._read_payload(size)
                if decode_header(header)[2] == _END:
                    self._ended.set()
                    continue
                self._waiting_bytes += size
                if self._waiting_bytes > _MAX_INBOX:
                    raise FrameError(f"Party '{self.peer}' sends more than it is expected to.")
                self._inbox.put((header, payload))
        except FrameError as error:
            self._inbox.put(FrameError(f"Party '{self.peer}' broke the protocol. {error}"))
            self._writer.transport.abort()
        except ssl.SSLError:
            self._inbox.put(
                PeerLostError(self.peer, "cannot be heard any more: a record was changed on its way")
            )
        except (asyncio.IncompleteReadError, OSError):
            self._inbox.put(PeerLostError(self.peer, "closed the connection"))
        finally:
            self._ended.set()

    async def _read_payload(self, size: int) -> bytes:
        """Read a payload in pieces: the reader's buffer stays short, which is faster than to let it grow."""
        pieces = []
        while size:
            piece = await self._reader.read(min(size, _CHUNK))
            if not piece:
                raise asyncio.IncompleteReadError(b"", size)
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

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
                self._writer.close()
                await asyncio.wait_for(self._writer.wait_closed(), _CLOSE_SECONDS)
            self._writer.transport.abort()

        with contextlib.suppress(FutureTimeoutError):
            asyncio.run_coroutine_threadsafe(closed(), self._loop).result(2 * _CLOSE_SECONDS)
        self._receiver.cancel()


@contextlib.contextmanager
def open_session(
    session: Session,
    name: str,
    key: Path,
    *,
    listen: tuple[str, int] | None = None,
    transcript: Transcript | None = None,
) -> Iterator[Party]:
    """Connect to all parties of a session; on leaving, end the session or say why this party stops.

    Parameters
    ----------
    session : Session
        What all parties agree on.
    name : str
        The own name.
    key : Path
        The file with the own private key and certificate.
    listen : tuple of str and int, optional
        Where to listen instead of the own address in the session.
    transcript : Transcript, optional
        Where frames are recorded before encryption.
    """
    check_identity(session, name, key)
    with _loop() as loop:
        channels, identifier = _open_channels(session, name, key, listen, loop)
        party = Party(name, channels, names=session.names, session=identifier, transcript=transcript)
        try:
            _confirm(party)
            yield party
        except BaseException as error:
            _abort(list(channels.values()), error)
            raise
        else:
            _end(list(channels.values()))
        finally:
            for channel in channels.values():
                channel.close()


def check_identity(session: Session, name: str, key: Path) -> None:
    """Raise a PartyError unless the key is the own one and all certificates are valid now."""
    check_key(name, key, session.member(name).certificate)
    for member in session.members:
        check_validity(member.name, member.certificate)


@contextlib.contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)
    thread = threading.Thread(target=loop.run_forever, name="discreet-network", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        _wait(asyncio.run_coroutine_threadsafe(_cancel_all(), loop), 2.0)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(2.0)
        if not thread.is_alive():
            loop.close()


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)


def _wait(future: Future[Any], seconds: float) -> None:
    with contextlib.suppress(FutureTimeoutError):
        future.result(seconds)


def _open_channels(
    session: Session,
    name: str,
    key: Path,
    listen: tuple[str, int] | None,
    loop: asyncio.AbstractEventLoop,
) -> tuple[dict[str, NetworkChannel], bytes]:
    hello = make_hello(session)
    mesh = Mesh(session, name, key, hello, listen)
    connections = _result(_connect_all(mesh, session.connect_timeout), loop)
    nonces = {peer: connection.hello.nonce for peer, connection in connections.items()} | {name: hello.nonce}
    identifier = session_identifier(session, nonces)
    channels = {
        peer: NetworkChannel(connections[peer], loop, session=identifier, timeout=session.timeout)
        for peer in session.names
        if peer != name
    }
    return channels, identifier


async def _connect_all(mesh: Mesh, seconds: float) -> dict[str, Connection]:
    """Return a connection to every peer, or close all of them again and raise what went wrong."""
    deadline = time.monotonic() + seconds
    server = await mesh.listen() if mesh.later else None
    waits: dict[str, asyncio.Future[Connection]] = {
        member.name: mesh.wait_for(member) for member in mesh.later
    }
    for member in mesh.earlier:
        waits[member.name] = asyncio.ensure_future(mesh.dial(member, deadline))
    try:
        await asyncio.wait(waits.values(), timeout=seconds + 0.5, return_when=asyncio.FIRST_EXCEPTION)
        _raise_first(waits, mesh.later, seconds)
        return {name: wait.result() for name, wait in waits.items()}
    except BaseException:
        for wait in waits.values():
            if wait.done() and not wait.cancelled() and wait.exception() is None:
                await wait.result().close()
            wait.cancel()
        raise
    finally:
        if server is not None:
            server.close()


def _raise_first(
    waits: dict[str, asyncio.Future[Connection]], later: Sequence[Member], seconds: float
) -> None:
    failures = [wait.exception() for wait in waits.values() if wait.done() and wait.exception() is not None]
    clear = [error for error in failures if isinstance(error, SessionError)] or failures
    if clear and clear[0] is not None:
        raise clear[0]
    missing = [name for name, wait in waits.items() if not wait.done()]
    if missing:
        how = "connected" if missing[0] in [member.name for member in later] else "answered"
        raise PartyError(f"Party '{missing[0]}' has not {how} within {seconds:g} seconds.")


def _confirm(party: Party) -> None:
    """Compare the session's identifier with every peer, so that all saw the same nonces."""
    with party.step("opening"):
        party.broadcast("ready", party.session)
        for peer, theirs in party.gather("ready", 32).items():
            if theirs != party.session:
                raise PartyError(f"Party '{peer}' is in another run of the session.")


def _abort(channels: Sequence[NetworkChannel], error: BaseException) -> None:
    about, reason = "", "failed" if isinstance(error, Exception) else "interrupted"
    if isinstance(error, PeerLostError):
        reason, about = "lost", error.cause or error.peer
    for channel in channels:
        channel.abort(reason, about)


def _end(channels: Sequence[NetworkChannel]) -> None:
    deadline = time.monotonic() + _END_SECONDS
    for channel in channels:
        channel.end()
    for channel in channels:
        channel.wait_for_end(deadline - time.monotonic())


def _result(steps: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
    """Return what a coroutine returns, run by the loop's thread."""
    return asyncio.run_coroutine_threadsafe(steps, loop).result()
