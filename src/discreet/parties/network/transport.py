"""Transport: a party's end of a session over the network. Protocols block; asyncio runs in a thread behind them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any, TypeVar

from discreet.parties.errors import PartyError, PeerLostError, SessionError
from discreet.parties.network.handshake import make_hello, session_identifier
from discreet.parties.network.keys import check_key, check_validity
from discreet.parties.network.mesh import Mesh, PeerConnection
from discreet.parties.network.network_channel import NetworkChannel
from discreet.parties.network.session import Member, PartySession
from discreet.parties.protocol import Party
from discreet.parties.transcript import Transcript

T = TypeVar("T")
_END_SECONDS = 5.0


@contextlib.contextmanager
def open_session(
    session: PartySession,
    name: str,
    key: Path,
    *,
    listen: tuple[str, int] | None = None,
    transcript: Transcript | None = None,
) -> Iterator[Party]:
    """Connect to all parties of a session; on leaving, end the session or say why this party stops.

    Parameters
    ----------
    session : PartySession
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
            _end(party, channels)
        finally:
            for channel in channels.values():
                channel.close()


def check_identity(session: PartySession, name: str, key: Path) -> None:
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
    session: PartySession,
    name: str,
    key: Path,
    listen: tuple[str, int] | None,
    loop: asyncio.AbstractEventLoop,
) -> tuple[dict[str, NetworkChannel], bytes]:
    # Every party's nonce enters the identifier, so that none of them alone can make a session repeat.
    hello = make_hello(session)
    mesh = Mesh(session, name, key, hello, listen)
    connections = _result(_connect_all(mesh, session.connect_timeout), loop)
    nonces = {peer: connection.hello.nonce for peer, connection in connections.items()} | {name: hello.nonce}
    identifier = session_identifier(session, nonces)
    channels = {
        peer: NetworkChannel(
            connections[peer],
            loop,
            session=identifier,
            timeout=session.timeout,
            compute_timeout=session.compute_timeout,
        )
        for peer in session.names
        if peer != name
    }
    return channels, identifier


async def _connect_all(mesh: Mesh, seconds: float) -> dict[str, PeerConnection]:
    """Return a connection to every peer, or close all of them again and raise what went wrong."""
    deadline = time.monotonic() + seconds
    server = await mesh.listen() if mesh.later else None
    waits: dict[str, asyncio.Future[PeerConnection]] = {
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
    waits: dict[str, asyncio.Future[PeerConnection]], later: Sequence[Member], seconds: float
) -> None:
    failures = [wait.exception() for wait in waits.values() if wait.done() and wait.exception() is not None]
    # An error of the session file says what to mend, and other failures may follow from it.
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
        for peer, identifier in party.gather("ready", 32).items():
            if identifier != party.session:
                raise PartyError(f"Party '{peer}' is in another run of the session.")


def _abort(channels: Sequence[NetworkChannel], error: BaseException) -> None:
    about, reason = "", "failed" if isinstance(error, Exception) else "interrupted"
    if isinstance(error, PeerLostError):
        reason, about = "lost", error.cause or error.peer
    for channel in channels:
        channel.abort(reason, about)


def _end(party: Party, channels: Mapping[str, NetworkChannel]) -> None:
    """End a session that went well, and note which parties did not confirm that they have its result."""
    deadline = time.monotonic() + _END_SECONDS
    for channel in channels.values():
        channel.end()
    for peer, channel in channels.items():
        if not channel.wait_for_end(deadline - time.monotonic()):
            party.lost.setdefault(peer, "unconfirmed")


def _result(steps: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
    """Return what a coroutine returns, run by the loop's thread."""
    return asyncio.run_coroutine_threadsafe(steps, loop).result()
