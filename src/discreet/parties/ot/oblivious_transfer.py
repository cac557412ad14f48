"""Oblivious transfer: the receiver learns one message of each pair, the sender not which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.inputs import private_bits, private_integers
from discreet.parties.ot.extension import (
    TransferReceiver,
    TransferSender,
    random_frames,
    transfer_setup_frames,
)
from discreet.parties.ot.forms import (
    BLOCK,
    chosen_frames,
    correlated_frames,
    receive_chosen,
    receive_correlated,
    send_chosen,
    send_correlated,
)
from discreet.parties.protocol import Party, Protocol
from discreet.parties.transcript import FrameShape

MAX_TRANSFERS = 1 << 32
MAX_MESSAGE = 1 << 16


@public
@dataclass(frozen=True)
class ObliviousTransfer(Protocol):
    """Transfer one message of each of n pairs, by 128 base transfers and their extension.

    The first party of the session is the sender, the second one the receiver.

    ========== ============================================ =============================== =======================
    form       sender's input                               sender's output                 receiver's output
    ========== ============================================ =============================== =======================
    chosen     messages, n × 2 × ``message_bytes``          None                            messages, n × bytes
    random     None                                         random messages, n × 2 × 16     messages, n × 16
    correlated differences d, n integers modulo 2^64        random words x                  x, or x + d by choice
    ========== ============================================ =============================== =======================

    The receiver's input is always n choice bits.

    Parameters
    ----------
    n : int
        The number of transfers.
    form : {"chosen", "random", "correlated"}
        What the two parties put in and get out.
    message_bytes : int
        The length of a chosen message.
    malicious : bool
        Whether a receiver that does not follow the protocol is caught (the check of Keller, Orsini and Scholl).

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> run = simulate(
    ...     ObliviousTransfer(n=2, message_bytes=4),
    ...     {"sender": [[b"left", b"rght"], [b"heat", b"cold"]], "receiver": [0, 1]},
    ... )
    >>> [bytes(message) for message in run.outputs["receiver"]]
    [b'left', b'cold']

    References
    ----------
    T. Chou, C. Orlandi. The simplest protocol for oblivious transfer. LATINCRYPT 2015.
    Y. Ishai, J. Kilian, K. Nissim, E. Petrank. Extending oblivious transfers efficiently. CRYPTO 2003.
    """

    name: ClassVar[str] = "oblivious-transfer"
    max_parties: ClassVar[int | None] = 2

    n: int
    form: Literal["chosen", "random", "correlated"] = "chosen"
    message_bytes: int = BLOCK
    malicious: bool = False

    def __post_init__(self) -> None:
        require(self, "n", self.n, IntIn(1, MAX_TRANSFERS))
        require(self, "form", self.form, OneOf(("chosen", "random", "correlated")))
        require(self, "message_bytes", self.message_bytes, IntIn(1, MAX_MESSAGE))
        require(self, "malicious", self.malicious, OneOf((False, True)))

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return ()

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        sender, receiver = names
        frames = transfer_setup_frames(sender, receiver)
        if self.form == "random":
            frames += random_frames(sender, receiver, self.n, malicious=self.malicious)
        elif self.form == "correlated":
            frames += correlated_frames(sender, receiver, self.n, n_words=1, malicious=self.malicious)
        else:
            frames += chosen_frames(
                sender, receiver, self.n, message_bytes=self.message_bytes, malicious=self.malicious
            )
        return frames

    def checked(self, data: Any, names: Sequence[str], name: str) -> Any:
        """Return the receiver's choices, or the sender's messages or differences; None where it puts in nothing."""
        if names.index(name) == 1:
            return private_bits(data, n=self.n, of="vector of choices")
        if self.form == "chosen":
            return _messages(data, self.n, self.message_bytes)
        if self.form == "random":
            return None
        of = "vector of differences"
        return private_integers(data, shape=(self.n,), low=-(1 << 63), high=(1 << 64) - 1, of=of)

    def _run(self, party: Party, data: Any) -> Any:
        return self._receive(party, data) if party.index else self._send(party, data)

    def _send(self, party: Party, data: Any) -> Any:
        sender = TransferSender(party, party.peer, label=self.name, malicious=self.malicious)
        with party.step("transfers"):
            if self.form == "chosen":
                return send_chosen(sender, data)
            if self.form == "correlated":
                return send_correlated(sender, data[:, None])[:, 0]
            return sender.random(self.n).view(np.uint8)

    def _receive(self, party: Party, choices: NDArray[np.bool_]) -> Any:
        receiver = TransferReceiver(party, party.peer, label=self.name, malicious=self.malicious)
        with party.step("transfers"):
            if self.form == "chosen":
                return receive_chosen(receiver, choices, message_bytes=self.message_bytes)
            if self.form == "correlated":
                return receive_correlated(receiver, choices, n_words=1)[:, 0]
            return receiver.random(choices).view(np.uint8)


def _messages(data: Any, n: int, size: int) -> NDArray[np.uint8]:
    """Return pairs of messages as an array of bytes of the shape (n, 2, size)."""
    refusal = f"The messages must be {n} pairs of {size} bytes each."
    if isinstance(data, np.ndarray):
        if data.shape != (n, 2, size) or data.dtype != np.uint8:
            raise InputError(refusal)
        return data
    pairs = [tuple(pair) for pair in data] if isinstance(data, Iterable) else []
    messages = [message for pair in pairs for message in pair]
    fits = all(isinstance(message, bytes) and len(message) == size for message in messages)
    if len(pairs) != n or any(len(pair) != 2 for pair in pairs) or not fits:
        raise InputError(refusal)
    return np.frombuffer(b"".join(messages), np.uint8).reshape(n, 2, size)
