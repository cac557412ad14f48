"""The exceptions of protocols between parties. No message ever holds a private value."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.core.errors import DiscreetError


class PartyError(DiscreetError):
    """A session that cannot go on; the message names the party and what to do."""


class SessionError(PartyError):
    """A session file that is not valid, or that the parties do not share."""


class FrameError(PartyError):
    """A frame that the protocol does not expect: wrong kind, size, order or session."""


class PeerLostError(PartyError):
    """A party that died, stopped or did not answer in time.

    ``peer`` is its name and ``cause`` the name of the party it stopped for, if it stopped for another one. ``late``
    says that it did not answer in time, and may still be running.
    """

    def __init__(self, peer: str, reason: str, *, cause: str | None = None, late: bool = False) -> None:
        super().__init__(f"Party '{peer}' {reason}.")
        self.peer = peer
        self.cause = cause
        self.late = late


class TooFewPartiesError(PartyError):
    """A sum that was not opened, as fewer parties remain than it needs."""


class LostPartyError(PartyError):
    """A sum that was not opened, as it lacks a party that must be in it; ``remaining`` are the others, by name."""

    def __init__(self, lost: Iterable[str], remaining: Iterable[str]) -> None:
        super().__init__(
            f"Lost: {', '.join(lost)}. The sums of this run need all who are in the first one, and nothing more was "
            "opened. Run again with the same parties and data only: from a result without those who were lost and from "
            "the sums that were opened, what they put in would follow."
        )
        self.remaining = tuple(remaining)


def require_libraries() -> None:
    """Raise a PartyError unless the libraries of the extra ``parties`` are installed."""
    try:
        import cryptography  # noqa: F401
        import rbcl  # noqa: F401
    except ImportError:
        raise PartyError(
            "Protocols between parties need cryptographic libraries: pip install 'discreet[parties]'."
        ) from None
