"""Private set intersection by oblivious transfer (Kolesnikov, Kumaresan, Rosulek & Trieu, 2016).

Elements are compared by tags: an oblivious function of one input per bin. The receiver lays its elements out in bins,
at most one in each, and learns the tag of each at its bin. The sender can compute the tag of any element at any bin.
Other tags look random to the receiver.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.kernels.parties.bit_matrix import transposed
from discreet.kernels.parties.cuckoo import cuckoo_table
from discreet.parties.crypto.aes import SEED, KeyStream
from discreet.parties.errors import PartyError
from discreet.parties.ot.base import ReceiverColumns, SenderColumns, column_frames
from discreet.parties.protocol import Party
from discreet.parties.sets.private_sets import TwoSets, in_random_order, padded, parts
from discreet.parties.transcript import FrameShape

N_PLACES = 3
"""The bins in which an element may lie."""
WIDTH = 512
"""The bits of the code of an element; codes of two elements differ in fewer than 128 with a probability of 2^-96."""
STATISTICAL = 40
"""An error of the protocol has a probability of 2^-40 at most."""
_CHUNK = 1 << 10
_WORDS = 2 + N_PLACES


_COLUMNS, _TAGS, _MATCHES = "psi.columns", "psi.tags", "psi.matches"


@public
@dataclass(frozen=True)
class SetIntersection(TwoSets):
    """The elements that two sets have in common, and nothing about the others.

    The first party of the session learns the intersection, and the second one where ``output="both"``. Sets are padded
    to the agreed sizes, so not even their true sizes show. Elements are texts, bytes or integers; text is compared
    byte for byte in UTF-8, and an integer equals its decimal digits as text. The output is the list of a party's own
    elements that are common, in the order of their bytes, or None at a party that learns nothing.

    Parameters
    ----------
    max_first, max_second : int
        The most elements that each party's set may have.
    output : {"first", "both"}
        Who learns the intersection.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = SetIntersection(max_first=10, max_second=10)
    >>> run = simulate(protocol, {"clinic": ["ada", "bob", "eve"], "insurer": ["bob", "eve", "joe"]})
    >>> run.outputs["clinic"]
    ['bob', 'eve']

    References
    ----------
    V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu. Efficient batched oblivious PRF with applications to private set
    intersection. CCS 2016.
    """

    name: ClassVar[str] = "set-intersection"

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        n = self.max_first if self.output == "first" else max(self.max_first, self.max_second)
        return (
            (
                f"A party that learns the intersection can put in up to {n:,} elements that it guessed, and "
                "learns which of them the other party holds."
            ),
        )

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        first, second = names
        frames = tag_frames(second, first, self.max_first)
        for _ in range(N_PLACES):
            for start, stop in parts(self.max_second):
                frames.append(FrameShape(second, first, _TAGS, (stop - start) * self._tag))
        if self.output == "both":
            frames.append(FrameShape(first, second, _MATCHES, -(-self.max_second // 8)))
        return frames

    def _run(self, party: Party, elements: dict[bytes, Any]) -> list[Any] | None:
        half = self._send if party.index else self._receive
        common = half(party, list(elements))
        return None if common is None else [elements[element] for element in common]

    def result_files(self, output: Any) -> dict[str, Any]:
        """Return the intersection as one column."""
        return {"result.csv": {"element": output or []}}

    @property
    def _tag(self) -> int:
        return tag_bytes(self.max_first, self.max_second)

    def _receive(self, party: Party, elements: list[bytes]) -> list[bytes]:
        coins = KeyStream(party.random(SEED))
        receiver = TagReceiver(party, padded(elements, self.max_first, coins), size=self._tag)
        with party.step("tags"):
            return self._matched(party, elements, receiver)

    def _matched(self, party: Party, elements: list[bytes], receiver: TagReceiver) -> list[bytes]:
        common, matches = [], np.zeros(self.max_second, np.bool_)
        # An element is looked up among the tags of its place
        # alone: there the sender computed its tag at the same bin.
        position = [self._received_tags(party) for _ in range(N_PLACES)]
        for number, (tag, which) in enumerate(zip(receiver.tags, receiver.place.tolist(), strict=True)):
            at = position[which].get(tag.tobytes())
            # Elements beyond the own ones are padding.
            if at is not None and number < len(elements):
                common.append(elements[number])
                matches[at] = True
        if self.output == "both":
            party.send(party.peer, _MATCHES, np.packbits(matches).data)
        return common

    def _received_tags(self, party: Party) -> dict[bytes, int]:
        """Return the place of each of the sender's tags."""
        data = b"".join(
            party.recv(party.peer, _TAGS, (stop - start) * self._tag)
            for start, stop in parts(self.max_second)
        )
        return {data[at * self._tag : (at + 1) * self._tag]: at for at in range(self.max_second)}

    def _send(self, party: Party, elements: list[bytes]) -> list[bytes] | None:
        sender = TagSender(party, max_receiver=self.max_first, size=self._tag)
        with party.step("tags"):
            return self._answered(party, elements, sender)

    def _answered(self, party: Party, elements: list[bytes], sender: TagSender) -> list[bytes] | None:
        coins = KeyStream(party.random(SEED))
        order = np.array(in_random_order(range(self.max_second), party.random))
        for tags in sender.tags(padded(elements, self.max_second, coins)):
            # One order for all three places, so that the position of a match names the element to the sender.
            # It is random, so that the receiver does not learn which place in the sorted set it has.
            placed = np.empty_like(tags)
            placed[order] = tags
            for start, stop in parts(self.max_second):
                party.send(party.peer, _TAGS, placed[start:stop].reshape(-1).data)
        if self.output == "first":
            return None
        payload = party.recv(party.peer, _MATCHES, -(-self.max_second // 8))
        matches = np.unpackbits(np.frombuffer(payload, np.uint8), count=self.max_second)[order]
        return [element for element, match in zip(elements, matches, strict=False) if match]


def n_bins(max_size: int) -> int:
    """Return the bins for a set of at most this size, a multiple of 192.

    With 1.3 bins an element a large set has no place with negligible probability. A small one has none where four
    elements share all three places, so its bins are many enough that this happens with a probability below 2^-40.

    >>> n_bins(1), n_bins(1000), n_bins(100_000)
    (192, 1344, 130176)
    """
    # Four of n elements share all places with a probability of at most n^4/24 · (3/bins)^9, as each place is
    # one of bins/3. This is below 2^-40 where bins^9 ≥ n^4 · 2^40 · 3^9/24, and log2(3^9/24) is below 10.
    shared = 2 ** ((4 * math.log2(max_size) + STATISTICAL + 10) / 9)
    return 64 * N_PLACES * math.ceil(max(1.3 * max_size, shared) / (64 * N_PLACES))


def tag_bytes(max_receiver: int, max_sender: int) -> int:
    """Return the bytes of a tag: two different elements have the same one with a probability of 2^-40 at most.

    >>> tag_bytes(100_000, 100_000)
    10
    """
    return math.ceil((STATISTICAL + math.log2(max_receiver) + math.log2(max_sender)) / 8)


def tag_frames(sender: str, receiver: str, max_receiver: int) -> list[FrameShape]:
    """Return the frames by which the receiver learns its tags."""
    frames = column_frames(sender, receiver, WIDTH)
    for start, stop in _chunks(max_receiver):
        frames.append(FrameShape(receiver, sender, _COLUMNS, (stop - start) * WIDTH * 8))
    return frames


class TagReceiver:
    """The end that lays its elements out in bins.

    ``tags`` holds the tag of each element, and ``place`` which of its three places the element has.
    """

    def __init__(self, party: Party, elements: Sequence[bytes], *, size: int) -> None:
        bins = n_bins(len(elements))
        words = _hashed(party, elements)
        table = cuckoo_table(_places(words, bins), bins, int.from_bytes(party.random(8), "little"))
        if table is None:
            raise PartyError(
                "The elements found no place in the table; run the protocol again in a new session."
            )
        rows = _received_rows(party, words, table)
        filled = np.flatnonzero(table >= 0)
        # In the order of the elements rather than of the bins.
        filled = filled[np.argsort(table[filled])]
        self.tags = _tags(filled, rows[filled], size)
        self.place = filled // (bins // N_PLACES)


class TagSender:
    """The end that can compute every tag."""

    def __init__(self, party: Party, *, max_receiver: int, size: int) -> None:
        self._party, self._size = party, size
        self._n_bins = n_bins(max_receiver)
        columns = SenderColumns(party, party.peer, width=WIDTH, label="set intersection")
        rows = []
        with party.step("codes"):
            for start, stop in _chunks(max_receiver):
                payload = party.recv(party.peer, _COLUMNS, (stop - start) * WIDTH * 8)
                received = np.frombuffer(payload, np.uint64).reshape(WIDTH, stop - start)
                rows.append(transposed(columns.extend(received)))
        self._rows = np.concatenate(rows)
        self._secret = columns.secret

    def tags(self, elements: Sequence[bytes]) -> list[NDArray[np.uint8]]:
        """Return the tags of the elements at each of their places, one array of rows a place."""
        words = _hashed(self._party, elements)
        codes = _codes(self._party, words[:, :2])
        # The row of a bin is T ⊕ (code of the receiver's element ∧ secret). XOR the own element's code ∧
        # secret it is T where the elements are equal, and differs from it in many unknown bits elsewhere.
        codes &= self._secret
        places = _places(words, self._n_bins)
        return [_tags(bins, self._rows[bins] ^ codes, self._size) for bins in places.T]


def _received_rows(party: Party, words: NDArray[np.uint64], table: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Send the codes of the elements in their bins, masked, and return the row of each bin; empty bins are random."""
    columns = ReceiverColumns(party, party.peer, width=WIDTH, label="set intersection")
    codes = KeyStream(party.random(SEED)).words(table.size * WIDTH // 64).reshape(table.size, -1)
    filled = table >= 0
    # Bins without an element keep random bits, from which pseudorandom codes cannot be told apart.
    codes[filled] = _codes(party, words[table[filled], :2])
    rows = []
    with party.step("codes"):
        for start, stop in _chunks(len(words)):
            masks, sent = columns.extend(transposed(codes[64 * start : 64 * stop]))
            party.send(party.peer, _COLUMNS, sent.view(np.uint8).reshape(-1).data)
            rows.append(transposed(masks))
    return np.concatenate(rows)


def _chunks(max_receiver: int) -> Iterator[tuple[int, int]]:
    """Return the ranges of 64 bins that travel in one frame."""
    n_words = n_bins(max_receiver) // 64
    for start in range(0, n_words, _CHUNK):
        yield start, min(start + _CHUNK, n_words)


def _hashed(party: Party, elements: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return five words an element: two that stand for it, and one for each place."""
    key = hashlib.sha256(b"discreet set elements" + party.session).digest()
    digests = [hashlib.blake2b(element, key=key, digest_size=8 * _WORDS).digest() for element in elements]
    return np.frombuffer(b"".join(digests), np.uint64).reshape(-1, _WORDS)


def _places(words: NDArray[np.uint64], bins: int) -> NDArray[np.int64]:
    """Return the three bins of each element, one in each third of the table."""
    third = bins // N_PLACES
    return (words[:, 2:] % np.uint64(third)).astype(np.int64) + third * np.arange(N_PLACES)


def _codes(party: Party, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the pseudorandom codes of elements: AES of their hashes under four keys of the session."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    source = np.ascontiguousarray(words).tobytes()
    parts = []
    for part in range(WIDTH // 128):
        key = hashlib.sha256(b"discreet set codes" + bytes([part]) + party.session).digest()[:SEED]
        # Independent blocks are wanted here: the cipher is a function of an element's hash.
        cipher = Cipher(algorithms.AES128(key), modes.ECB()).encryptor()  # noqa: S305
        parts.append(np.frombuffer(cipher.update(source), np.uint64).reshape(-1, 2))
    return np.concatenate(parts, axis=1)


def _tags(bins: NDArray[np.int64], rows: NDArray[np.uint64], size: int) -> NDArray[np.uint8]:
    """Return the hash of each row, keyed by its bin."""
    data, keys = rows.tobytes(), bins.astype("<u8").tobytes()
    step = WIDTH // 8
    digests = [
        hashlib.blake2b(data[at : at + step], digest_size=size, key=keys[at // 8 : at // 8 + 8]).digest()
        for at in range(0, len(data), step)
    ]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, size)
