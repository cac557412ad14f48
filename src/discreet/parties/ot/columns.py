"""The pseudorandom bit columns that base transfers extend to (Ishai, Kilian, Nissim & Petrank, 2003).

For every column the receiver knows two seeds and the sender one of them, by a secret bit. After the receiver sends
U = T ⊕ G(second seeds) ⊕ R, the sender's rows are Q = T ⊕ (R ∧ secret).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.parties.crypto.aes import KeyStream
from discreet.parties.ot.base import base_frames, receive_base, send_base
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape


def column_frames(sender: str, receiver: str, width: int) -> list[FrameShape]:
    """Return the frames that set up ``width`` columns; the base transfers go the other way."""
    return base_frames(receiver, sender, width)


class ReceiverColumns:
    """The columns of the party that chooses, which sends U."""

    def __init__(self, party: Party, peer: str, *, width: int, label: str) -> None:
        pairs = send_base(party, peer, width, label=label)
        self._streams = [(KeyStream(first), KeyStream(second)) for first, second in pairs]

    def extend(self, chosen: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return T and U, a row for each column; ``chosen`` is R, or one row of bits for every column."""
        n_words = chosen.shape[-1]
        kept, sent = (np.empty((len(self._streams), n_words), np.uint64) for _ in range(2))
        for (first, second), one, other in zip(
            self._streams, kept.view(np.uint8), sent.view(np.uint8), strict=True
        ):
            first.fill(one)
            second.fill(other)
        sent ^= kept
        sent ^= chosen
        return kept, sent


class SenderColumns:
    """The columns of the party whose rows differ by its secret where the other one chose."""

    def __init__(self, party: Party, peer: str, *, width: int, label: str) -> None:
        drawn = np.frombuffer(party.random(width // 8), np.uint8)
        bits = np.unpackbits(drawn, bitorder="little")
        self.secret: NDArray[np.uint64] = drawn.view(np.uint64)
        """The secret, as words of a row."""
        self.mask: NDArray[np.uint64] = np.where(bits, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0))[:, None]
        """All ones in the columns where the secret bit is one."""
        keys = receive_base(party, peer, bits.tolist(), label=label)
        self._streams = [KeyStream(key) for key in keys]

    def extend(self, received: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return Q from U, a row for each column."""
        rows = np.empty_like(received)
        for stream, row in zip(self._streams, rows.view(np.uint8), strict=True):
            stream.fill(row)
        rows ^= received & self.mask
        return rows
