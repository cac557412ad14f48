"""Random oblivious transfers by the million: IKNP extension with hashing by AES of a fixed key."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.parties.bit_matrix import shifted, transposed
from discreet.parties.crypto.aes import SEED, KeyStream, RowHash
from discreet.parties.ot.columns import ReceiverColumns, SenderColumns, column_frames
from discreet.parties.ot.consistency import MASK_WORDS, answer_check, check_frames, require_consistent
from discreet.parties.protocol import Party
from discreet.parties.transcript import FrameShape

WIDTH = 128
"""The columns, which are the bits of security."""
CHUNK = 1 << 10
"""The words of one frame: 65,536 transfers."""
BATCH = 1 << 20
"""The transfers that are checked at once, and whose corrections travel at once."""
WINDOW = 16
"""The batches a receiver may be ahead of the sender, so that what waits to be read stays bounded."""
_COLUMNS, _NEXT = "ot.columns", "ot.next"


def setup_frames(sender: str, receiver: str) -> list[FrameShape]:
    """Return the frames that set up an extension."""
    return column_frames(sender, receiver, WIDTH)


def random_frames(sender: str, receiver: str, n: int, *, malicious: bool) -> list[FrameShape]:
    """Return the frames of n random transfers."""
    frames = []
    for number, (start, stop) in enumerate(batches(n)):
        if _paused(number):
            frames.append(FrameShape(sender, receiver, _NEXT, 0))
        frames += [
            FrameShape(receiver, sender, _COLUMNS, words * WIDTH * 8)
            for words in _chunk_words(stop - start, malicious=malicious)
        ]
        if malicious:
            frames += check_frames(sender, receiver, WIDTH)
    return frames


def batches(n: int, *, blocks: int = 1) -> Iterator[tuple[int, int]]:
    """Return the ranges of transfers that travel together; fewer where each needs several blocks.

    >>> list(batches(3_000_000, blocks=1))
    [(0, 1048576), (1048576, 2097152), (2097152, 3000000)]
    """
    size = max(64, BATCH // blocks // 64 * 64)
    for start in range(0, n, size):
        yield start, min(start + size, n)


class TransferReceiver:
    """The end that chooses.

    Parameters
    ----------
    party, peer
        This end and the name of the other one.
    label : str
        The use of these transfers, which the other end must share; no two extensions of a session have the same.
    malicious : bool
        Whether the other end checks that the choices are consistent.
    """

    def __init__(self, party: Party, peer: str, *, label: str, malicious: bool = False) -> None:
        self.party, self.peer, self.malicious = party, peer, malicious
        self._columns = ReceiverColumns(party, peer, width=WIDTH, label=label)
        self._hash = RowHash(party.session, label)
        self._coins = KeyStream(party.random(SEED))
        self._used = 0

    def random_bits(self, n: int) -> NDArray[np.bool_]:
        """Return fresh random bits to choose by."""
        return np.unpackbits(self._coins.take(-(-n // 8)), count=n).view(np.bool_)

    def random(self, choices: NDArray[np.bool_], *, blocks: int = 1) -> NDArray[np.uint64]:
        """Return for each choice the random message it names, of ``blocks`` · 128 bits."""
        found = np.empty((choices.size, 2 * blocks), np.uint64)
        for number, (start, stop) in enumerate(batches(choices.size)):
            if _paused(number):
                self.party.recv(self.peer, _NEXT, 0)
            self._batch(choices[start:stop], found[start:stop])
        return found

    def _batch(self, choices: NDArray[np.bool_], target: NDArray[np.uint64]) -> None:
        chosen = self._packed(choices)
        kept, done = [], 0
        for words in _chunk_words(choices.size, malicious=self.malicious):
            columns, sent = self._columns.extend(chosen[done : done + words])
            self.party.send(self.peer, _COLUMNS, sent.view(np.uint8).reshape(-1).data)
            if self.malicious:
                kept.append(columns)
            else:
                self._hashed(columns, target, 64 * done)
            done += words
        if self.malicious:
            answer_check(self.party, self.peer, chosen, kept)
            done = 0
            for columns in kept:
                self._hashed(columns, target, 64 * done)
                done += columns.shape[1]
        self._used += 64 * done

    def _packed(self, choices: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return the choices as words, with a block of random ones behind them where they are checked."""
        words = np.zeros(batch_words(choices.size, malicious=self.malicious), np.uint64)
        packed = np.packbits(choices, bitorder="little")
        words.view(np.uint8)[: packed.size] = packed
        if self.malicious:
            words[-MASK_WORDS:] = self._coins.words(MASK_WORDS)
        return words

    def _hashed(self, columns: NDArray[np.uint64], target: NDArray[np.uint64], start: int) -> None:
        rows = transposed(columns)[: max(0, target.shape[0] - start)]
        self._hash.write(target[start : start + rows.shape[0]], rows, self._used + start)


class TransferSender:
    """The end that holds both messages; the parameters are those of :class:`TransferReceiver`."""

    def __init__(self, party: Party, peer: str, *, label: str, malicious: bool = False) -> None:
        self.party, self.peer, self.malicious = party, peer, malicious
        self._columns = SenderColumns(party, peer, width=WIDTH, label=label)
        self._hash = RowHash(party.session, label)
        self._used = 0

    def random(self, n: int, *, blocks: int = 1) -> NDArray[np.uint64]:
        """Return n pairs of random messages of ``blocks`` · 128 bits, of the shape (n, 2, words)."""
        pairs = np.empty((n, 2, 2 * blocks), np.uint64)
        for number, (start, stop) in enumerate(batches(n)):
            if _paused(number):
                self.party.send(self.peer, _NEXT)
            self._batch(pairs[start:stop])
        return pairs

    def _batch(self, pairs: NDArray[np.uint64]) -> None:
        kept, done = [], 0
        for words in _chunk_words(pairs.shape[0], malicious=self.malicious):
            payload = self.party.recv(self.peer, _COLUMNS, words * WIDTH * 8)
            columns = self._columns.extend(np.frombuffer(payload, np.uint64).reshape(WIDTH, words))
            if self.malicious:
                kept.append(columns)
            else:
                self._hashed(columns, pairs, 64 * done)
            done += words
        if self.malicious:
            require_consistent(self.party, self.peer, self._columns.mask, kept)
            done = 0
            for columns in kept:
                self._hashed(columns, pairs, 64 * done)
                done += columns.shape[1]
        self._used += 64 * done

    def _hashed(self, columns: NDArray[np.uint64], pairs: NDArray[np.uint64], start: int) -> None:
        rows = transposed(columns)[: max(0, pairs.shape[0] - start)]
        for which, source in enumerate((rows, shifted(rows, self._columns.secret))):
            self._hash.write(pairs[start : start + rows.shape[0], which], source, self._used + start)


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
