"""Base oblivious transfer of random keys on ristretto255 (Chou & Orlandi, 2015), and bit columns that extend them.

The columns are those of Ishai, Kilian, Nissim & Petrank (2003). For every column the receiver knows two seeds and the
sender one of them, by a secret bit. After the receiver sends U = T ⊕ G(second seeds) ⊕ R, the sender's rows are
Q = T ⊕ (R ∧ secret).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.parties.crypto.aes import SEED, KeyStream
from discreet.parties.crypto.ristretto import ELEMENT, UNIFORM, received_elements, ristretto, scalar_from
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

_POINT, _CHOICES = "ot.base.point", "ot.base.choices"


def base_frames(sender: str, receiver: str, n: int) -> list[FrameShape]:
    """Return the frames of n base transfers."""
    return [
        FrameShape(sender, receiver, _POINT, ELEMENT),
        FrameShape(receiver, sender, _CHOICES, n * ELEMENT),
    ]


def send_base(party: Party, peer: str, n: int, *, label: str) -> list[tuple[bytes, bytes]]:
    """Return n pairs of random keys, of which the peer receives one each and the sender learns not which.

    Parameters
    ----------
    label : str
        The use of these transfers; it enters the hash with the session and the index.
    """
    group = ristretto()
    secret = scalar_from(party.random(UNIFORM))
    point = group.multiply_base(secret)
    party.send(peer, _POINT, point)
    answers = received_elements(party.recv(peer, _CHOICES, n * ELEMENT), n, of="base transfer")
    shift = group.multiply(secret, point)
    pairs = []
    for index, answer in enumerate(answers):
        product = group.multiply(secret, answer)
        # secret · answer is the receiver's element where the choice was 0; where it was 1, less secret · point.
        elements = product, group.subtract(product, shift)
        first, second = (_key(party, label, index, point, answer, element) for element in elements)
        pairs.append((first, second))
    return pairs


def receive_base(party: Party, peer: str, choices: Sequence[int], *, label: str) -> list[bytes]:
    """Return the key of each pair that the choice bit names; the other one stays unknown."""
    group = ristretto()
    point = received_elements(party.recv(peer, _POINT, ELEMENT), 1, of="base transfer")[0]
    secrets = [scalar_from(party.random(UNIFORM)) for _ in choices]
    answers = []
    for secret, choice in zip(secrets, choices, strict=True):
        unshifted = group.multiply_base(secret)
        shifted = group.add(point, unshifted)
        # Both are computed for either choice, so that the time does not depend on it.
        answers.append(shifted if choice else unshifted)
    party.send(peer, _CHOICES, b"".join(answers))
    products = (group.multiply(secret, point) for secret in secrets)
    return [
        _key(party, label, index, point, answer, product)
        for index, (answer, product) in enumerate(zip(answers, products, strict=True))
    ]


def _key(party: Party, label: str, index: int, point: bytes, answer: bytes, element: bytes) -> bytes:
    """Return the hash of session, label, index and transcript that becomes a key; the label has a length of its own."""
    name = label.encode()
    parts = (
        party.session,
        len(name).to_bytes(2, "big"),
        name,
        index.to_bytes(4, "big"),
        point,
        answer,
        element,
    )
    return hashlib.sha512(b"discreet base transfer" + b"".join(parts)).digest()[:SEED]


def column_frames(sender: str, receiver: str, width: int) -> list[FrameShape]:
    """Return the frames that set up ``width`` columns; the base transfers go the other way."""
    return base_frames(receiver, sender, width)


class ReceiverColumns:
    """The columns of the party that chooses, which sends U."""

    def __init__(self, party: Party, peer: str, *, width: int, label: str) -> None:
        with party.step("base transfers"):
            pairs = send_base(party, peer, width, label=label)
        self._streams = [(KeyStream(first), KeyStream(second)) for first, second in pairs]

    def extend(self, chosen: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return T and U, a row for each column; ``chosen`` is R, or one row of bits for every column."""
        n_words = chosen.shape[-1]
        masks, sent = (np.empty((len(self._streams), n_words), np.uint64) for _ in range(2))
        for (first, second), mask, other in zip(
            self._streams, masks.view(np.uint8), sent.view(np.uint8), strict=True
        ):
            first.fill(mask)
            second.fill(other)
        sent ^= masks
        sent ^= chosen
        return masks, sent


class SenderColumns:
    """The columns of the party whose rows differ by its secret where the other one chose."""

    def __init__(self, party: Party, peer: str, *, width: int, label: str) -> None:
        drawn = np.frombuffer(party.random(width // 8), np.uint8)
        bits = np.unpackbits(drawn, bitorder="little")
        self.secret: NDArray[np.uint64] = drawn.view(np.uint64)
        """The secret, as words of a row."""
        self.mask: NDArray[np.uint64] = np.where(bits, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0))[:, None]
        """All ones in the columns where the secret bit is one."""
        with party.step("base transfers"):
            keys = receive_base(party, peer, bits.tolist(), label=label)
        self._streams = [KeyStream(key) for key in keys]

    def extend(self, received: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return Q from U, a row for each column."""
        rows = np.empty_like(received)
        for stream, row in zip(self._streams, rows.view(np.uint8), strict=True):
            stream.fill(row)
        rows ^= received & self.mask
        return rows
