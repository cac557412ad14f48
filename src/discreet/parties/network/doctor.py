"""Doctor: whether a session could run, check by check, before anybody's data is touched."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from discreet.parties.errors import PartyError
from discreet.parties.network.handshake import make_hello
from discreet.parties.network.keys import check_key, check_validity
from discreet.parties.network.mesh import Mesh, PeerConnection
from discreet.parties.network.session import Member, PartySession

_PROBE_SECONDS = 3.0


@dataclass(frozen=True)
class Check:
    """One check of a session: what was checked, of which party, whether it is well, and a sentence."""

    what: str
    party: str
    ok: bool
    detail: str


def examine(
    session: PartySession,
    name: str | None = None,
    key: Path | None = None,
    *,
    wait: float = 10.0,
    listen: tuple[str, int] | None = None,
) -> list[Check]:
    """Return the checks of a session.

    Parameters
    ----------
    session : PartySession
        The session, which was read from its file already.
    name : str, optional
        The own name. With it the other parties are met as in a run: each must run the doctor, or wait in a run.
        Without it, it is checked only whether names resolve and ports can be reached.
    key : Path, optional
        The own private file.
    wait : float
        The seconds to wait for the others.
    listen : tuple of str and int, optional
        Where to listen instead of the own address in the session.
    """
    checks = [_certificate(member) for member in session.members]
    dialed, last = session.members[:-1], session.members[-1]
    checks += [_resolves(member) for member in dialed]
    if name is None or key is None:
        checks += [_reaches(member) for member in dialed]
        return [*checks, Check("port", last.name, True, "nobody dials the last party; it needs no open port")]
    key_check = _attempt(
        "key", name, lambda: check_key(name, key, session.member(name).certificate), "fits the certificate"
    )
    checks.append(key_check)
    if key_check.ok:
        checks += asyncio.run(_meet(session, name, key, wait, listen))
    return checks


def _certificate(member: Member) -> Check:
    return _attempt(
        "certificate", member.name, lambda: check_validity(member.name, member.certificate), "is valid now"
    )


def _resolves(member: Member) -> Check:
    try:
        socket.getaddrinfo(member.host, member.port, type=socket.SOCK_STREAM)
    except OSError:
        return Check(
            "name", member.name, False, f"The host '{member.host}' of party '{member.name}' is unknown."
        )
    return Check("name", member.name, True, f"{member.host} resolves")


def _reaches(member: Member) -> Check:
    try:
        socket.create_connection((member.host, member.port), _PROBE_SECONDS).close()
    except OSError:
        detail = f"Nothing answers at {member.address}: party '{member.name}' is not running, or a firewall is between."
        return Check("port", member.name, False, detail)
    return Check("port", member.name, True, f"{member.address} answers")


async def _meet(
    session: PartySession, name: str, key: Path, wait: float, listen: tuple[str, int] | None
) -> list[Check]:
    """Connect to every party as in a run, and return how that went."""
    mesh = Mesh(session, name, key, make_hello(session, purpose="doctor"), listen)
    try:
        server = await mesh.listen() if mesh.later else None
    except PartyError as error:
        return [Check("port", name, False, str(error))]
    deadline = time.monotonic() + wait
    waits: dict[str, asyncio.Future[PeerConnection]] = {
        member.name: mesh.wait_for(member) for member in mesh.later
    }
    waits |= {member.name: asyncio.ensure_future(mesh.dial(member, deadline)) for member in mesh.earlier}
    if waits:
        await asyncio.wait(waits.values(), timeout=wait + 0.5)
    listens = "this party can listen" if server else "nobody dials the last party; it needs no open port"
    checks = [Check("port", name, True, listens)]
    checks += [_met(peer, waits[peer], wait) for peer in session.names if peer != name]
    if server is not None:
        server.close()
    for future in waits.values():
        if future.done() and future.exception() is None:
            await future.result().close()
        future.cancel()
    return checks


def _met(peer: str, met: asyncio.Future[PeerConnection], wait: float) -> Check:
    if not met.done():
        return Check("meeting", peer, False, f"Party '{peer}' has not connected within {wait:g} seconds.")
    failure = met.exception()
    if failure is not None:
        return Check("meeting", peer, False, str(failure))
    off = met.result().hello.clock - time.time()
    return Check("meeting", peer, True, f"certificate, version, clock ({off:+.1f} s) and session agree")


def _attempt(what: str, party: str, step: Callable[[], None], good: str) -> Check:
    try:
        step()
    except PartyError as error:
        return Check(what, party, False, str(error))
    return Check(what, party, True, good)
