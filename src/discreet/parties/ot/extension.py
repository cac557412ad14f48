"""Random oblivious transfers by the million: IKNP extension with hashing by AES of a fixed key.

Where the receiver may deviate, its choices are checked (Keller, Orsini & Scholl, 2015; on columns as in Roy, 2022).
Both sides hash every column by a linear universal hash whose key the sender draws once it holds all of U. A receiver
whose choices differ between columns is caught, unless it guesses the sender's secret bits. The hash is GMAC, which is
linear up to a constant: the tag of a zero column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.parties.bit_matrix import shifted, transposed
from discreet.parties.crypto.aes import SEED, KeyStream, RowHash
from discreet.parties.errors import PartyError
from discreet.parties.ot.base import ReceiverColumns, SenderColumns, column_frames
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

Words = NDArray[np.uint64]
WIDTH = 128
"""The columns, which are the bits of security."""
CHUNK = 1 << 10
"""The words of one frame: 65,536 transfers."""
BATCH = 1 << 20
"""The transfers that are checked at once, and whose corrections travel at once."""
WINDOW = 16
"""The batches a receiver may be ahead of the sender, so that what waits to be read stays bounded."""
MASK_WORDS = 2
"""The words of random choices at the end of a batch, so that the hash of the choices reveals nothing.

They must fill a block of the hash: a block times a nonzero element of the field is uniform, two halves need not be.
"""
_TAG = 16
_COLUMNS, _NEXT, _KEY, _TAGS = "ot.columns", "ot.next", "ot.check.key", "ot.check.tags"


def transfer_setup_frames(sender: str, receiver: str) -> list[FrameShape]:
    """Return the frames that set up an extension."""
    return column_frames(sender, receiver, WIDTH)


def random_frames(sender: str, receiver: str, n: int, *, malicious: bool) -> list[FrameShape]:
    """Return the frames of n random transfers."""
    frames = []
    for number, (start, stop) in enumerate(transfer_batches(n)):
        if _paused(number):
            frames.append(FrameShape(sender, receiver, _NEXT, 0))
        frames += [
            FrameShape(receiver, sender, _COLUMNS, words * WIDTH * 8)
            for words in _chunk_words(stop - start, malicious=malicious)
        ]
        if malicious:
            frames += check_frames(sender, receiver, WIDTH)
    return frames


def transfer_batches(n: int, *, blocks: int = 1) -> Iterator[tuple[int, int]]:
    """Return the ranges of transfers that travel together; fewer where each needs several blocks.

    >>> list(transfer_batches(3_000_000, blocks=1))
    [(0, 1048576), (1048576, 2097152), (2097152, 3000000)]
    """
    size = max(64, BATCH // blocks // 64 * 64)
    for start in range(0, n, size):
        yield start, min(start + size, n)


class _TransferEnd:
    """What both ends share: how columns become messages."""

    def __init__(self, party: Party, peer: str, *, label: str, malicious: bool) -> None:
        self.party, self.peer, self.malicious = party, peer, malicious
        self._hash = RowHash(party.session, label)
        self._used = 0

    def _take(self, parts: Iterable[Words], target: Words, check: Callable[[Sequence[Words]], None]) -> None:
        """Hash the columns of a batch, part by part as they come; where choices are checked, after the check.

        A failed check must not leave messages behind.
        """
        if self.malicious:
            parts = list(parts)
            check(parts)
        start = 0
        for columns in parts:
            # Rows beyond the target are padding and the masks of the check, which become no messages.
            rows = transposed(columns)[: max(0, target.shape[0] - start)]
            self._write(target[start : start + rows.shape[0]], rows, self._used + start)
            start += 64 * columns.shape[1]
        # Tweaks of the hash go on from batch to batch: no two rows of this set-up are hashed under the same one.
        self._used += start

    def _write(self, target: Words, rows: Words, tweak: int) -> None:
        """Write the messages of some rows, which are hashed under this tweak and those that follow."""
        self._hash.write(target, rows, tweak)


class TransferReceiver(_TransferEnd):
    """The end that chooses.

    Parameters
    ----------
    party, peer
        This end and the name of the other one.
    label : str
        The use of these transfers, which the other end must share; it keeps uses apart.
    malicious : bool
        Whether the other end checks that the choices are consistent.
    """

    def __init__(self, party: Party, peer: str, *, label: str, malicious: bool = False) -> None:
        super().__init__(party, peer, label=label, malicious=malicious)
        self._columns = ReceiverColumns(party, peer, width=WIDTH, label=label)
        self._coins = KeyStream(party.random(SEED))

    def random_bits(self, n: int) -> NDArray[np.bool_]:
        """Return fresh random bits to choose by."""
        return np.unpackbits(self._coins.take(-(-n // 8)), count=n).view(np.bool_)

    def random(self, choices: NDArray[np.bool_], *, blocks: int = 1) -> Words:
        """Return for each choice the random message it names, of ``blocks`` · 128 bits."""
        messages = np.empty((choices.size, 2 * blocks), np.uint64)
        for number, (start, stop) in enumerate(transfer_batches(choices.size)):
            if _paused(number):
                self.party.recv(self.peer, _NEXT, 0)
            chosen = self._packed(choices[start:stop])
            check = partial(answer_check, self.party, self.peer, chosen)
            self._take(self._sent(chosen), messages[start:stop], check)
        return messages

    def _sent(self, chosen: Words) -> Iterator[Words]:
        """Send U for the choices of a batch, frame by frame, and return T."""
        for start in range(0, chosen.size, CHUNK):
            columns, sent = self._columns.extend(chosen[start : start + CHUNK])
            self.party.send(self.peer, _COLUMNS, sent.view(np.uint8).reshape(-1).data)
            yield columns

    def _packed(self, choices: NDArray[np.bool_]) -> Words:
        """Return the choices as words, with a block of random ones behind them where they are checked."""
        words = np.zeros(batch_words(choices.size, malicious=self.malicious), np.uint64)
        packed = np.packbits(choices, bitorder="little")
        words.view(np.uint8)[: packed.size] = packed
        if self.malicious:
            words[-MASK_WORDS:] = self._coins.words(MASK_WORDS)
        return words


class TransferSender(_TransferEnd):
    """The end that holds both messages; the parameters are those of :class:`TransferReceiver`."""

    def __init__(self, party: Party, peer: str, *, label: str, malicious: bool = False) -> None:
        super().__init__(party, peer, label=label, malicious=malicious)
        self._columns = SenderColumns(party, peer, width=WIDTH, label=label)

    def random(self, n: int, *, blocks: int = 1) -> Words:
        """Return n pairs of random messages of ``blocks`` · 128 bits, of the shape (n, 2, words)."""
        pairs = np.empty((n, 2, 2 * blocks), np.uint64)
        for number, (start, stop) in enumerate(transfer_batches(n)):
            if _paused(number):
                self.party.send(self.peer, _NEXT)
            check = partial(require_consistent, self.party, self.peer, self._columns.mask)
            self._take(self._received(stop - start), pairs[start:stop], check)
        return pairs

    def _received(self, n: int) -> Iterator[Words]:
        """Receive U of a batch, frame by frame, and return Q."""
        for words in _chunk_words(n, malicious=self.malicious):
            payload = self.party.recv(self.peer, _COLUMNS, words * WIDTH * 8)
            yield self._columns.extend(np.frombuffer(payload, np.uint64).reshape(WIDTH, words))

    def _write(self, target: Words, rows: Words, tweak: int) -> None:
        # A row is that of the receiver where the choice is 0, and that of the receiver XOR the secret where
        # it is 1: of the two hashes the receiver can compute the one it chose.
        for which, source in enumerate((rows, shifted(rows, self._columns.secret))):
            self._hash.write(target[:, which], source, tweak)


def batch_words(n: int, *, malicious: bool) -> int:
    """Return the words of a batch; the mask of a checked one is a whole block of the hash, which is 128 bits.

    >>> batch_words(64, malicious=False), batch_words(64, malicious=True)
    (1, 4)
    """
    return 2 * -(-n // 128) + MASK_WORDS if malicious else -(-n // 64)


def _paused(number: int) -> bool:
    """Whether the receiver waits for the sender before this batch."""
    return number > 0 and number % WINDOW == 0


def _chunk_words(n: int, *, malicious: bool) -> Iterator[int]:
    """Return the words of each frame of a batch."""
    words = batch_words(n, malicious=malicious)
    for start in range(0, words, CHUNK):
        yield min(CHUNK, words - start)


def check_frames(sender: str, receiver: str, width: int) -> list[FrameShape]:
    """Return the frames of one check."""
    return [
        FrameShape(sender, receiver, _KEY, SEED),
        FrameShape(receiver, sender, _TAGS, (width + 1) * _TAG),
    ]


def answer_check(party: Party, peer: str, chosen: Words, parts: Sequence[Words]) -> None:
    """Send the hashes of the choices and of the columns T, which come in parts."""
    key = party.recv(peer, _KEY, SEED)
    columns = _tags(key, parts)
    party.send(peer, _TAGS, columns.tobytes() + _tags(key, [chosen[None, :]]).tobytes())


def require_consistent(party: Party, peer: str, mask: Words, rows: Sequence[Words]) -> None:
    """Raise a PartyError unless the columns Q fit one vector of choices."""
    width = mask.shape[0]
    key = party.random(SEED)
    party.send(peer, _KEY, key)
    received = np.frombuffer(party.recv(peer, _TAGS, (width + 1) * _TAG), np.uint64).reshape(width + 1, 2)
    zero = _tags(key, [np.zeros((1, sum(part.shape[1] for part in rows)), np.uint64)])
    # Q = T ⊕ (R ∧ secret bit), column by column, and the tag is linear but for the tag of zero, so the tags
    # must satisfy the same equation.
    expected = received[:width] ^ ((received[width] ^ zero[0]) & mask)
    if not np.array_equal(_tags(key, rows), expected):
        raise PartyError(f"Party '{peer}' failed the consistency check of the oblivious transfers.")


def _tags(key: bytes, parts: Sequence[Words]) -> Words:
    """Return the GMAC of every row, which comes in parts, as two words."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    tags = []
    for row in range(parts[0].shape[0]):
        # One key and one nonce for all rows, on purpose: tags are linear in the rows only under the same key.
        mac = Cipher(algorithms.AES128(key), modes.GCM(bytes(12))).encryptor()
        for part in parts:
            mac.authenticate_additional_data(part[row].tobytes())
        mac.finalize()
        tags.append(mac.tag)
    return np.frombuffer(b"".join(tags), np.uint64).reshape(-1, 2)
