"""The exceptions of protocols between parties. No message ever holds a private value."""

from __future__ import annotations

from discreet.core.errors import DiscreetError


class PartyError(DiscreetError):
    """A session that cannot go on; the message names the party and what to do."""


class SessionError(PartyError):
    """A session file that is not valid, or that the parties do not share."""


class FrameError(PartyError):
    """A frame that the protocol does not expect: wrong kind, size, order or session."""


class PeerLostError(PartyError):
    """A party that died, stopped or did not answer in time.

    ``peer`` is its name and ``cause`` the name of the party it stopped for, if it stopped for another one.
    """

    def __init__(self, peer: str, reason: str, *, cause: str | None = None) -> None:
        super().__init__(f"Party '{peer}' {reason}.")
        self.peer = peer
        self.cause = cause


def require_libraries() -> None:
    """Raise a PartyError unless the libraries of the extra ``parties`` are installed."""
    try:
        import cryptography  # noqa: F401
        import rbcl  # noqa: F401
    except ImportError:
        raise PartyError(
            "Protocols between parties need cryptographic libraries: pip install 'discreet[parties]'."
        ) from None
