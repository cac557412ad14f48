"""k-of-N oblivious transfer: the receiver learns k messages of N, the sender not which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import IntIn, require
from discreet.parties.crypto.aes import SEED, KeyStream
from discreet.parties.crypto.oprf import blind_input, evaluate, evaluate_blinded, finalize
from discreet.parties.crypto.ristretto import ELEMENT, UNIFORM, received_elements, scalar_from
from discreet.parties.inputs import private_integers
from discreet.parties.protocol import Party, Protocol
from discreet.parties.transcript import FrameShape

_MESSAGES, _BLINDED, _EVALUATED = "ot.messages", "ot.blinded", "ot.evaluated"
_MAX = 1 << 20


@public
@dataclass(frozen=True)
class KOfNTransfer(Protocol):
    """Transfer k of N messages by an oblivious pseudorandom function (RFC 9497, ristretto255).

    The sender encrypts each message by the function of its index, and evaluates the function for k hidden indices.
    The first party of the session is the sender, with N messages of ``message_bytes`` bytes. The second one is the
    receiver, with k different indices; its output is the list of those messages. ``k=1`` is 1-of-N transfer.

    Parameters
    ----------
    n : int
        The number of messages, N.
    k : int
        The number of messages that the receiver learns.
    message_bytes : int
        The length of a message.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> drugs = [b"aspirin ", b"insulin ", b"warfarin"]
    >>> run = simulate(KOfNTransfer(n=3, k=1, message_bytes=8), {"sender": drugs, "receiver": [1]})
    >>> run.outputs["receiver"]
    [b'insulin ']
    """

    name: ClassVar[str] = "k-of-n-transfer"
    max_parties: ClassVar[int | None] = 2

    n: int
    k: int = 1
    message_bytes: int = 32

    def __post_init__(self) -> None:
        require(self, "n", self.n, IntIn(1, _MAX))
        require(self, "k", self.k, IntIn(1, self.n))
        require(self, "message_bytes", self.message_bytes, IntIn(1, (1 << 26) // self.n))

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return ()

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        sender, receiver = names
        return [
            FrameShape(sender, receiver, _MESSAGES, self.n * self.message_bytes),
            FrameShape(receiver, sender, _BLINDED, self.k * ELEMENT),
            FrameShape(sender, receiver, _EVALUATED, self.k * ELEMENT),
        ]

    def checked(self, data: Any, names: Sequence[str], name: str) -> list[Any]:
        """Return the sender's messages, or the receiver's indices."""
        return self._indices(data) if names.index(name) else self._messages(data)

    def _run(self, party: Party, data: list[Any]) -> list[bytes] | None:
        if party.index:
            return self._receive(party, data)
        self._send(party, data)
        return None

    def _messages(self, data: Any) -> list[bytes]:
        messages = list(data) if isinstance(data, Iterable) else []
        fits = all(isinstance(message, bytes) and len(message) == self.message_bytes for message in messages)
        if len(messages) != self.n or not fits:
            raise InputError(f"The messages must be {self.n} strings of {self.message_bytes} bytes each.")
        return messages

    def _indices(self, data: Any) -> list[int]:
        of = "list of indices"
        indices: list[int] = private_integers(data, shape=(self.k,), low=0, high=self.n - 1, of=of).tolist()
        if len(set(indices)) < self.k:
            raise InputError("The list of indices must not hold an index twice.")
        return indices

    def _send(self, party: Party, messages: list[bytes]) -> None:
        key = scalar_from(party.random(UNIFORM))
        hidden = [
            _masked(message, evaluate(key, _indexed(party, index))) for index, message in enumerate(messages)
        ]
        party.send(party.peer, _MESSAGES, b"".join(hidden))
        payload = party.recv(party.peer, _BLINDED, self.k * ELEMENT)
        blinded = received_elements(payload, self.k, of="k-of-N transfer")
        party.send(party.peer, _EVALUATED, b"".join(evaluate_blinded(key, element) for element in blinded))

    def _receive(self, party: Party, indices: list[int]) -> list[bytes]:
        size = self.message_bytes
        hidden = party.recv(party.peer, _MESSAGES, self.n * size)
        scalars = [scalar_from(party.random(UNIFORM)) for _ in indices]
        inputs = [_indexed(party, index) for index in indices]
        party.send(party.peer, _BLINDED, b"".join(map(blind_input, inputs, scalars)))
        payload = party.recv(party.peer, _EVALUATED, self.k * ELEMENT)
        evaluated = received_elements(payload, self.k, of="k-of-N transfer")
        outputs = map(finalize, inputs, scalars, evaluated)
        return [
            _masked(hidden[index * size : (index + 1) * size], output)
            for index, output in zip(indices, outputs, strict=True)
        ]


def _indexed(party: Party, index: int) -> bytes:
    """Return the input of the function for an index, which holds for this session alone."""
    return b"discreet k-of-n" + party.session + index.to_bytes(4, "big")


def _masked(message: bytes, output: bytes) -> bytes:
    """Return a message XOR the stream of a function's output."""
    pad = KeyStream(output[:SEED]).take(len(message))
    return np.bitwise_xor(np.frombuffer(message, np.uint8), pad).tobytes()
