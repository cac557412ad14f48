"""Handshake: two parties compare versions, clocks and the hash of the session before anything else."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from discreet import __version__
from discreet.parties.errors import FrameError, PartyError, SessionError
from discreet.parties.network.frame_stream import FrameStream
from discreet.parties.network.session import PartySession, differing_keys

WIRE = 2
"""The version of the frames and of the handshake."""
MAX_CLOCK_SECONDS = 300.0
"""How far the clocks of two parties may differ."""
_TYPES = {"wire": int, "version": str, "digest": str, "nonce": str, "clock": float, "purpose": str}


@dataclass(frozen=True)
class Hello:
    """What a party says first."""

    digest: str
    nonce: str
    purpose: str = "run"
    wire: int = WIRE
    version: str = __version__
    clock: float = field(default_factory=time.time)


def make_hello(session: PartySession, *, purpose: str = "run") -> Hello:
    """Return a party's first words, with a nonce that makes the session's identifier fresh."""
    return Hello(session.digest().hex(), os.urandom(32).hex(), purpose)


def session_identifier(session: PartySession, nonces: dict[str, str]) -> bytes:
    """Return the identifier of a run: the hash of the session and of every party's nonce, in order."""
    fresh = b"".join(bytes.fromhex(nonces[name]) for name in session.names)
    return hashlib.sha256(b"discreet session" + session.digest() + fresh).digest()


async def exchange_hello(stream: FrameStream, hello: Hello) -> Hello:
    """Send the own hello and return the peer's."""
    await stream.write_early("hello", json.dumps(asdict(hello)).encode())
    fields = _json(await stream.read("hello"))
    if any(not isinstance(fields.get(key), kind) for key, kind in _TYPES.items()):
        raise FrameError("The first frame of a party is not a valid hello.")
    if len(fields["nonce"]) != 64 or len(fields["digest"]) != 64:
        raise FrameError("The first frame of a party is not a valid hello.")
    try:
        bytes.fromhex(fields["nonce"] + fields["digest"])
    except ValueError:
        raise FrameError("The first frame of a party is not a valid hello.") from None
    return Hello(**{key: fields[key] for key in _TYPES})


def check_versions(peer: str, hello: Hello) -> None:
    """Raise a PartyError unless both parties run the same version."""
    if hello.wire != WIRE or hello.version != __version__:
        version = hello.version[:20] if hello.version.isprintable() else "?"
        raise PartyError(
            f"Party '{peer}' runs discreet {version}, this party {__version__}; install the same version."
        )


def check_clocks(peer: str, hello: Hello, now: float) -> None:
    """Raise a PartyError if the clocks of two parties differ by minutes."""
    off = hello.clock - now
    # Negated, so that NaN is refused as well.
    if not abs(off) <= MAX_CLOCK_SECONDS:
        way = "ahead of" if off > 0 else "behind"
        raise PartyError(
            f"The clock of party '{peer}' is {abs(off):.0f} seconds {way} this one; set the clocks."
        )


async def check_sessions(stream: FrameStream, peer: str, session: PartySession, hello: Hello) -> None:
    """Raise a SessionError that names the differing keys unless both parties hold the same session."""
    if hello.digest == session.digest().hex():
        return
    local = session.entries()
    await stream.write_early("entries", json.dumps(local).encode())
    entries = _json(await stream.read("entries"))
    keys = differing_keys(local, {key: str(value) for key, value in entries.items()})
    named = ", ".join(f"'{key[:60]}'" for key in keys[:5] if key.isprintable()) or "an unknown key"
    raise SessionError(f"The session file of party '{peer}' differs from this one in {named}.")


def _json(payload: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError):
        raise FrameError("A frame of the handshake is not valid JSON.") from None
    if not isinstance(fields, dict):
        raise FrameError("A frame of the handshake is not an object.")
    return fields
