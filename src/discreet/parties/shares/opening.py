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
    with party.step("opening"):
        if opened_to(output, 1 - party.index):
            party.send(party.peer, _SHARE, share.data)
        if opened_to(output, party.index):
            return np.frombuffer(party.recv(party.peer, _SHARE, share.size), np.uint8)
    return None
