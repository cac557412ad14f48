"""Mesh: a TLS connection between every two parties; the later one in the session's order dials the earlier one.

TLS 1.3 has certificates on both sides, which must be exactly those that the session file pins.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.parties.errors import FrameError, PartyError, SessionError
from discreet.parties.network.frame_stream import FrameStream
from discreet.parties.network.handshake import (
    Hello,
    check_clocks,
    check_sessions,
    check_versions,
    exchange_hello,
)
from discreet.parties.network.keys import certificate_fingerprint
from discreet.parties.network.session import Member, PartySession


def tls_context(session: PartySession, name: str, key: Path, *, server: bool) -> ssl.SSLContext:
    """Return the context of one side: it trusts the certificates of the other parties and nothing else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # The certificates are pinned in the session file, which binds a party closer than a host name could.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    # No resumption: each connection shows its certificate.
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_COMPRESSION
    if server:
        context.num_tickets = 0
    for member in session.members:
        if member.name != name:
            context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(member.certificate))
    try:
        context.load_cert_chain(key)
    except (ssl.SSLError, OSError):
        raise SessionError(f"The key file {key} does not hold a key and its certificate.") from None
    return context


def shown_by(transport: Any) -> str:
    """Return the fingerprint of the certificate that the other side of a connection showed."""
    certificate = transport.get_extra_info("ssl_object").getpeercert(True)
    return certificate_fingerprint(certificate or b"")


_AGAIN_SECONDS = 0.1
_HANDSHAKE_SECONDS = 10.0


@dataclass(frozen=True)
class PeerConnection:
    """A connection to a peer that passed the handshake."""

    peer: str
    stream: FrameStream
    hello: Hello

    async def close(self) -> None:
        """Close the connection."""
        await self.stream.close()


class Mesh:
    """The connections of one party while they are made.

    Parameters
    ----------
    session : PartySession
        What all parties agree on.
    name : str
        The own name.
    key : Path
        The file with the own private key and certificate.
    hello : Hello
        The own first words.
    listen : tuple of str and int, optional
        Where to listen instead of the own address in the session.
    """

    def __init__(
        self, session: PartySession, name: str, key: Path, hello: Hello, listen: tuple[str, int] | None = None
    ) -> None:
        self.session, self.name, self.hello = session, name, hello
        self._client = tls_context(session, name, key, server=False)
        self._server = tls_context(session, name, key, server=True)
        member = session.member(name)
        self._listen = listen or (member.host, member.port)
        at = session.names.index(name)
        self.earlier, self.later = session.members[:at], session.members[at + 1 :]
        self._awaited: dict[str, asyncio.Future[PeerConnection]] = {}
        self._accepting: set[asyncio.Task[None]] = set()

    async def listen(self) -> asyncio.Server:
        """Start to accept connections of the later parties."""
        loop = asyncio.get_running_loop()
        self._awaited = {member.fingerprint: loop.create_future() for member in self.later}
        host, port = self._listen
        try:
            return await loop.create_server(
                lambda: FrameStream(self._opened),
                host,
                port,
                ssl=self._server,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS,
            )
        except socket.gaierror:
            raise PartyError(
                f"The own host '{host}' is unknown; listen elsewhere with --listen HOST:PORT."
            ) from None
        except OSError as error:
            raise _cannot_listen(error, host, port) from None

    def wait_for(self, member: Member) -> asyncio.Future[PeerConnection]:
        """Return the future connection of a later party."""
        return self._awaited[member.fingerprint]

    async def dial(self, member: Member, deadline: float) -> PeerConnection:
        """Connect to an earlier party; try again until the deadline while nobody answers there to the same purpose."""
        while True:
            connection = await self._dial_once(member, deadline)
            if connection is not None and (self.hello.purpose != "run" or connection.hello.purpose == "run"):
                return connection
            if connection is not None:
                await connection.close()
            if time.monotonic() + _AGAIN_SECONDS > deadline:
                raise PartyError(f"Party '{member.name}' was not reached at {member.address} in time.")
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _dial_once(self, member: Member, deadline: float) -> PeerConnection | None:
        """Return a connection that passed the handshake, or None if nobody listens."""
        loop = asyncio.get_running_loop()
        try:
            transport, stream = await asyncio.wait_for(
                loop.create_connection(FrameStream, member.host, member.port, ssl=self._client),
                max(0.05, deadline - time.monotonic()),
            )
        except socket.gaierror:
            raise PartyError(f"The host '{member.host}' of party '{member.name}' is unknown.") from None
        except ssl.SSLCertVerificationError:
            raise _wrong_certificate(member) from None
        except ssl.SSLError:
            raise PartyError(f"What answers at {member.address} speaks no TLS 1.3.") from None
        except (TimeoutError, OSError):
            return None
        # The context trusts all parties of the session; this must be the one that was dialed.
        if shown_by(transport) != member.fingerprint:
            transport.abort()
            raise _wrong_certificate(member)
        return await self._greet(member, stream, [])

    def _opened(self, stream: FrameStream) -> None:
        task = asyncio.ensure_future(self._accept(stream))
        self._accepting.add(task)
        task.add_done_callback(self._accepting.discard)

    async def _accept(self, stream: FrameStream) -> None:
        """Take the first connection of each later party; refuse strangers and second connections.

        A doctor is answered while a run waits, and leaves no trace in it.
        """
        fingerprint = shown_by(stream.transport)
        member = next((later for later in self.later if later.fingerprint == fingerprint), None)
        waiting = self._awaited.get(fingerprint)
        # Only the first connection of a party counts: a second
        # one must not take the place of one that is in use.
        if member is None or waiting is None or waiting.done():
            stream.transport.abort()
            return
        purposes: list[str] = []
        try:
            connection = await self._greet(member, stream, purposes)
        except PartyError as error:
            if not waiting.done() and (self.hello.purpose != "run" or purposes != ["doctor"]):
                waiting.set_exception(error)
            return
        if waiting.done() or (self.hello.purpose == "run" and purposes != ["run"]):
            await connection.close()
        else:
            waiting.set_result(connection)

    async def _greet(self, member: Member, stream: FrameStream, purposes: list[str]) -> PeerConnection:
        """Run the handshake, noting the peer's purpose; on any failure the connection is closed."""

        async def steps() -> Hello:
            hello = await exchange_hello(stream, self.hello)
            purposes.append(hello.purpose)
            check_versions(member.name, hello)
            check_clocks(member.name, hello, time.time())
            await check_sessions(stream, member.name, self.session, hello)
            return hello

        return PeerConnection(member.name, stream, await _guarded(member.name, stream, steps))


async def _guarded(peer: str, stream: FrameStream, steps: Callable[[], Awaitable[Hello]]) -> Hello:
    """Return what the steps of a handshake return; name the peer in whatever goes wrong."""
    try:
        return await asyncio.wait_for(steps(), _HANDSHAKE_SECONDS)
    except FrameError as error:
        failure = PartyError(f"Party '{peer}' broke the handshake. {error}")
    except PartyError as error:
        failure = error
    except TimeoutError:
        failure = PartyError(
            f"Party '{peer}' did not complete the handshake within {_HANDSHAKE_SECONDS:g} seconds."
        )
    except (EOFError, OSError):
        failure = PartyError(
            f"Party '{peer}' closed the connection while the session was opened: it refuses the certificate of this "
            "party, or it stopped; see its message."
        )
    await stream.close()
    raise failure from None


def _wrong_certificate(member: Member) -> PartyError:
    return PartyError(
        f"What answers at {member.address} does not hold the certificate of party '{member.name}'."
    )


def _cannot_listen(error: OSError, host: str, port: int) -> PartyError:
    if error.errno == errno.EADDRINUSE:
        return PartyError(
            f"The port {port} is taken by another program; end it, or change the session's address."
        )
    if error.errno == errno.EACCES:
        return PartyError(f"The port {port} may not be used; choose one above 1023.")
    return PartyError(
        f"This machine cannot listen at {host}:{port}; listen elsewhere with --listen HOST:PORT."
    )
