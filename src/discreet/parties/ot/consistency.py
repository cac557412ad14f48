"""The consistency check of extended transfers (Keller, Orsini & Scholl, 2015), on columns as in Roy (2022).

Both sides hash every column by a linear universal hash whose key the sender draws once it holds all of U. A receiver
whose choices differ between columns is caught, unless it guesses the sender's secret bits. The hash is GMAC, which is
linear up to a constant: the tag of a zero column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.parties.crypto.aes import SEED
from discreet.parties.errors import PartyError
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

MASK_WORDS = 2
"""The words of random choices at the end of a batch, so that the hash of the choices reveals nothing.

They must fill a block of the hash: a block times a nonzero element of the field is uniform, two halves need not be.
"""
_KEY, _TAGS = "ot.check.key", "ot.check.tags"
_TAG = 16


def check_frames(sender: str, receiver: str, width: int) -> list[FrameShape]:
    """Return the frames of one check."""
    return [
        FrameShape(sender, receiver, _KEY, SEED),
        FrameShape(receiver, sender, _TAGS, (width + 1) * _TAG),
    ]


def answer_check(
    party: Party, peer: str, chosen: NDArray[np.uint64], kept: Sequence[NDArray[np.uint64]]
) -> None:
    """Send the hashes of the choices and of the columns T, which come in parts."""
    key = party.recv(peer, _KEY, SEED)
    columns = _tags(key, kept)
    party.send(peer, _TAGS, columns.tobytes() + _tags(key, [chosen[None, :]]).tobytes())


def require_consistent(
    party: Party, peer: str, mask: NDArray[np.uint64], rows: Sequence[NDArray[np.uint64]]
) -> None:
    """Raise a PartyError unless the columns Q fit one vector of choices."""
    width = mask.shape[0]
    key = party.random(SEED)
    party.send(peer, _KEY, key)
    received = np.frombuffer(party.recv(peer, _TAGS, (width + 1) * _TAG), np.uint64).reshape(width + 1, 2)
    zero = _tags(key, [np.zeros((1, sum(part.shape[1] for part in rows)), np.uint64)])
    expected = received[:width] ^ ((received[width] ^ zero[0]) & mask)
    if not np.array_equal(_tags(key, rows), expected):
        raise PartyError(f"Party '{peer}' failed the consistency check of the oblivious transfers.")


def _tags(key: bytes, parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the GMAC of every row, which comes in parts, as two words."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    tags = []
    for row in range(parts[0].shape[0]):
        mac = Cipher(algorithms.AES128(key), modes.GCM(bytes(12))).encryptor()
        for part in parts:
            mac.authenticate_additional_data(part[row].tobytes())
        mac.finalize()
        tags.append(mac.tag)
    return np.frombuffer(b"".join(tags), np.uint64).reshape(-1, 2)
