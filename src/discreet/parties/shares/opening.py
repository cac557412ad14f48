"""Who learns an output of two parties: nobody but in shares, one of them, or both."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.params import OneOf, require
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

Output = Literal["shares", "first", "second", "both"]
_SHARE = "share"


def require_output(owner: object, output: str) -> None:
    """Raise a ParameterError unless the output is one of the words."""
    require(owner, "output", output, OneOf(("shares", "first", "second", "both")))


def opened_to(output: str, index: int) -> bool:
    """Whether the party at this place of the session learns the output."""
    return output in ("both", ("first", "second")[index])


def opening_frames(names: tuple[str, str], n_bytes: int, output: str) -> list[FrameShape]:
    """Return the frames that open an output."""
    return [
        FrameShape(names[1 - index], names[index], _SHARE, n_bytes)
        for index in (0, 1)
        if opened_to(output, index)
    ]


def other_share(party: Party, share: NDArray[np.uint8], output: str) -> NDArray[np.uint8] | None:
    """Send this party's share where the other one learns the output; return the other share, or None."""
    mine, theirs = (opened_to(output, index) for index in (party.index, 1 - party.index))
    if mine and theirs:
        return exchanged(party, _SHARE, share)
    if theirs:
        party.send(party.peer, _SHARE, share.data)
    if mine:
        return np.frombuffer(party.recv(party.peer, _SHARE, share.size), np.uint8)
    return None


def exchanged(party: Party, kind: str, payload: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Send bytes and receive as many; channels take frames in while they send, so neither end waits on the other."""
    party.send(party.peer, kind, payload.data)
    return np.frombuffer(party.recv(party.peer, kind, payload.size), np.uint8)
