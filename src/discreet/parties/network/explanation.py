"""Explanation: what a session computes and what each party learns from it, before anybody's data is touched."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from discreet.parties.channel import frame_bytes
from discreet.parties.network.keys import valid_until
from discreet.parties.network.session import PartySession
from discreet.parties.protocol import Protocol
from discreet.parties.sums.secure_sum import SecureSum


def explain(session: PartySession) -> dict[str, Any]:
    """Return what a session reveals, to whom, and what it rests on, as plain data from the protocol's declarations."""
    protocol, names = session.protocol, session.names
    return {
        "protocol": protocol.name,
        "summary": (inspect.getdoc(type(protocol)) or "").partition("\n")[0],
        "session": f"sha256:{session.digest().hex()}",
        "parties": [
            {
                "name": member.name,
                "address": member.address,
                "fingerprint": member.fingerprint,
                "valid_until": f"{valid_until(member.certificate):%Y-%m-%d}",
            }
            for member in session.members
        ],
        "parameters": protocol.parameters(),
        "leaks": list(protocol.leaks),
        "two_parties_see_each_other": sees_each_other(protocol),
        "collector": collector(protocol, names),
        "threshold": threshold(protocol, names),
        "assumption": protocol.assumption,
        "withstands": protocol.withstands(len(names)),
        "traffic": _traffic(protocol, names),
    }


def sees_each_other(protocol: Protocol) -> bool:
    """Whether the parties agreed that each of two may learn the other's input from the result."""
    return bool(getattr(protocol, "two_parties_see_each_other", False))


def collector(protocol: Protocol, names: Sequence[str]) -> str | None:
    """Return the party that receives the masked vectors of the others, or None where a protocol has no such party."""
    if getattr(protocol, "method", None) == "ring":
        return None
    if not hasattr(protocol, "collector") and not hasattr(protocol, "threshold"):
        return None
    return str(getattr(protocol, "collector", "") or names[0])


def threshold(protocol: Protocol, names: Sequence[str]) -> int:
    """Return how many parties must remain to the end; all of them where a protocol does not go on without one."""
    if not hasattr(protocol, "threshold"):
        return len(names)
    sums = protocol if hasattr(protocol, "needed") else SecureSum(length=1, threshold=protocol.threshold)
    return int(sums.needed(len(names)))


def _traffic(protocol: Protocol, names: Sequence[str]) -> dict[str, int] | None:
    """Return the frames and bytes of all parties; None where they depend on what a run reveals on its way."""
    if "revealed" in inspect.signature(protocol.frames).parameters:
        return None
    frames = list(protocol.frames(names))
    return {"frames": len(frames), "bytes": sum(frame_bytes(frame.kind, frame.size) for frame in frames)}
