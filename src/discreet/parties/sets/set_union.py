"""Secure set union by commutative encryption (Kantarcıoğlu & Clifton 2004) on ristretto255.

Texts travel as group elements that can be read back, and look like random ones. A text is padded to a fixed length and
scrambled by a Feistel network of four rounds, so that two texts have no block in common. Each block of 30 bytes becomes
the middle of an encoded element; the outer two bytes count up until it is valid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import IntIn, require
from discreet.parties.channel import MAX_PAYLOAD
from discreet.parties.crypto.ristretto import ELEMENT, UNIFORM, received_elements, ristretto, scalar_from
from discreet.parties.errors import PartyError
from discreet.parties.protocol import Party
from discreet.parties.sets.private_sets import UnionProtocol, UnitedItems, encoded_items, in_random_order
from discreet.parties.transcript import FrameShape

BLOCK = 30
"""The bytes of a text that one element holds."""
_MARK = bytes(8)
"""What distinguishes a text from a random element, which has it with a chance of 2**-64."""
_ROUNDS = 4
_TRIES = 1 << 14


@public
@dataclass(frozen=True)
class SetUnion(UnionProtocol):
    """The union of the parties' sets of texts; who holds what shows as far as ``leaks`` says, and no further.

    Every party fills its set with fakes up to ``max_items``, encrypts and shuffles it. The sets go around until every
    party has encrypted and shuffled each of them. Equal texts are then equal and nothing else shows, so two parties can
    replace repeated ones by fakes. At last every party removes its encryption and shuffles again.

    Parameters
    ----------
    max_items : int
        The most texts a party's set may have; every set travels at this size.
    max_item_bytes : int
        The most bytes a text may have in UTF-8.
    two_parties_see_each_other : bool
        Whether two parties may run it, each of whom learns from the union what only the other one holds.

    Examples
    --------
    >>> from discreet.parties import SetUnion, simulate
    >>> run = simulate(SetUnion(max_items=2), {"a": ["bread"], "b": ["beer", "bread"], "c": []})
    >>> run.outputs["c"].items
    ('beer', 'bread')

    References
    ----------
    Kantarcıoğlu & Clifton, "Privacy-preserving distributed mining of association rules on horizontally partitioned
    data", IEEE TKDE 16(9), 2004.
    """

    max_items: int
    max_item_bytes: int = 20
    two_parties_see_each_other: bool = False

    name: ClassVar[str] = "set-union"
    two_parties_reveal: ClassVar[bool] = True
    two_parties_learn: ClassVar[str] = (
        "Of two parties each learns which items only the other one has, which the union reveals."
    )

    def __post_init__(self) -> None:
        require(self, "max_items", self.max_items, IntIn(1, 1_000_000))
        require(self, "max_item_bytes", self.max_item_bytes, IntIn(1, 1000))

    @property
    def leaks(self) -> tuple[str, ...]:
        """What each party learns beyond the union."""
        return (
            (
                "The first party learns how many items any of the second, fourth … party have in common with each "
                "other and with the rest. Where that is none, all of the union, or the union is small, it follows "
                "which ones."
            ),
            (
                "The second party learns how many items any of the first, third … party have in common with each "
                "other. Where that is none, all of the union, or the union is small, it follows which ones."
            ),
            *self.consent_leaks,
        )

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless the protocol can run among these parties."""
        super().check_parties(names)
        largest = max(self._set_bytes, self.max_item_bytes + 2) * self.max_items * len(names)
        if largest > MAX_PAYLOAD:
            raise ParameterError(
                f"The sets are too large: {len(names)} of {self.max_items} items exceed {MAX_PAYLOAD} bytes."
            )

    def frames(self, names: Sequence[str]) -> Iterator[FrameShape]:
        """Return the frames of a run."""
        n, set_bytes = len(names), self.max_items * self._set_bytes
        for sender in range(n):
            for _ in range(n - 1):
                yield FrameShape(names[sender], names[(sender + 1) % n], "encrypted", set_bytes)
        for origin in range(n):
            holder, merger = (origin - 1) % n, _merger(origin)
            if holder != merger:
                yield FrameShape(names[holder], names[merger], "full", set_bytes)
        yield FrameShape(names[1], names[0], "merged", set_bytes * ((n + 1) // 2))
        for sender in range(n - 1):
            yield FrameShape(names[sender], names[sender + 1], "decrypted", set_bytes * n)
        for receiver in names[:-1]:
            yield FrameShape(names[-1], receiver, "union", n * self.max_items * (self.max_item_bytes + 2))

    def _run(self, party: Party, items: list[bytes]) -> UnitedItems:
        secret = scalar_from(party.random(UNIFORM))
        with party.step("encryption"):
            full = self._encrypt_around(party, items, secret)
        with party.step("merging"):
            merged = self._merge(party, full)
        with party.step("decryption"):
            return UnitedItems(self._decrypt_around(party, merged, ristretto().invert(secret)), party.names)

    def checked(self, data: Any, names: Sequence[str], name: str) -> list[bytes]:
        """Return the party's set in UTF-8; refuse what is no text, too long or too much."""
        del names, name
        return encoded_items(data, owner=self, max_items=self.max_items, max_bytes=self.max_item_bytes)

    @property
    def _set_bytes(self) -> int:
        return blocks_for(self.max_item_bytes) * ELEMENT

    def _encrypt_around(self, party: Party, items: list[bytes], secret: bytes) -> list[bytes]:
        """Return the set of the next party, encrypted by all: each set goes once around."""
        n = len(party.names)
        before, after = party.names[party.index - 1], party.names[(party.index + 1) % n]
        encrypted = in_random_order(_powers(secret, self._filled(party, items)), party.random)
        for _ in range(n - 1):
            party.send(after, "encrypted", b"".join(encrypted))
            received = self._receive(party, before, "encrypted", 1)
            # Shuffled again, so that the next party cannot follow an item from one set to the next.
            encrypted = in_random_order(_powers(secret, received), party.random)
        return encrypted

    def _merge(self, party: Party, full: list[bytes]) -> list[bytes]:
        """Return, at the first party, all sets together, each item once and fakes in the place of repetitions."""
        names, n = party.names, len(party.names)
        merger = _merger((party.index + 1) % n)
        if party.index != merger:
            party.send(names[merger], "full", b"".join(full))
        # Only the first two parties merge: the first one the sets
        # of the second, fourth … party, the second one the others.
        if party.index > 1:
            return []
        merged = list(full) if party.index == merger else []
        for origin in range(n):
            if _merger(origin) == party.index and (origin - 1) % n != party.index:
                merged += self._receive(party, names[origin - 1], "full", 1)
        merged = self._without_repetitions(party, merged)
        if party.index == 1:
            party.send(names[0], "merged", b"".join(in_random_order(merged, party.random)))
            return []
        merged += self._receive(party, names[1], "merged", (n + 1) // 2)
        return self._without_repetitions(party, merged)

    def _decrypt_around(self, party: Party, merged: list[bytes], inverse: bytes) -> tuple[str, ...]:
        """Remove every party's encryption in turn; the last party reads the items and sends them to all."""
        names, n = party.names, len(party.names)
        slot = self.max_item_bytes + 2
        if party.index > 0:
            merged = self._receive(party, names[party.index - 1], "decrypted", n)
        decrypted = in_random_order(_powers(inverse, merged), party.random)
        if party.index < n - 1:
            party.send(names[party.index + 1], "decrypted", b"".join(decrypted))
            payload = party.recv(names[-1], "union", n * self.max_items * slot)
        else:
            texts = (extract(element, max_bytes=self.max_item_bytes) for element in decrypted)
            items = sorted(text for text in texts if text is not None)
            # The length plus one, so that zeros stand for a slot that is not used.
            slots = [(len(item) + 1).to_bytes(2, "big") + item.ljust(slot - 2, b"\0") for item in items]
            payload = b"".join(slots).ljust(n * self.max_items * slot, b"\0")
            party.broadcast("union", payload)
        pieces = [payload[at : at + slot] for at in range(0, len(payload), slot)]
        sizes = [int.from_bytes(piece[:2], "big") for piece in pieces]
        return tuple(
            p[2 : size + 1].decode("utf-8", "replace") for p, size in zip(pieces, sizes, strict=True) if size
        )

    def _receive(self, party: Party, peer: str, kind: str, n_sets: int) -> list[bytes]:
        """Return received items, each of the same number of valid elements."""
        blocks = blocks_for(self.max_item_bytes)
        size = n_sets * self.max_items * self._set_bytes
        elements = received_elements(party.recv(peer, kind, size), size // ELEMENT, of="set union")
        return [b"".join(elements[at : at + blocks]) for at in range(0, len(elements), blocks)]

    def _filled(self, party: Party, items: list[bytes]) -> list[bytes]:
        """Return the embedded items and fakes; as many of both are computed for every size of the set."""
        texts = items + [party.random(8) for _ in range(self.max_items - len(items))]
        embedded = [embed(text[: self.max_item_bytes], max_bytes=self.max_item_bytes) for text in texts]
        fakes = self._fakes(party, self.max_items)
        return embedded[: len(items)] + fakes[len(items) :]

    def _fakes(self, party: Party, n: int) -> list[bytes]:
        """Return random elements, which look like encrypted items and hold no text."""
        group, blocks = ristretto(), blocks_for(self.max_item_bytes)
        return [b"".join(group.from_uniform(party.random(UNIFORM)) for _ in range(blocks)) for _ in range(n)]

    def _without_repetitions(self, party: Party, items: list[bytes]) -> list[bytes]:
        """Return every item once and fakes in the place of repetitions, in the same steps however many there are."""
        once = list(dict.fromkeys(items))
        return once + self._fakes(party, len(items))[len(once) :]


def _merger(origin: int) -> int:
    """Return the place of the party that merges a set: one that does not see the sets next to it."""
    return 1 - origin % 2


def _powers(scalar: bytes, items: Iterable[bytes]) -> list[bytes]:
    """Return items with every element multiplied by a scalar; the order of several scalars does not matter."""
    group = ristretto()
    return [
        b"".join(group.multiply(scalar, item[at : at + ELEMENT]) for at in range(0, len(item), ELEMENT))
        for item in items
    ]


def blocks_for(max_bytes: int) -> int:
    """Return the elements that hold a text of at most this many bytes.

    >>> blocks_for(20), blocks_for(21), blocks_for(200)
    (1, 2, 7)
    """
    return -(-(len(_MARK) + 2 + max_bytes) // BLOCK)


def embed(text: bytes, *, max_bytes: int) -> bytes:
    """Return a text as ``blocks_for(max_bytes)`` encoded elements.

    >>> extract(embed(b"bread", max_bytes=20), max_bytes=20)
    b'bread'
    """
    length = blocks_for(max_bytes) * BLOCK
    padded = (_MARK + len(text).to_bytes(2, "big") + text).ljust(length, b"\0")
    scrambled = _feistel(padded, range(_ROUNDS))
    return b"".join(_element(scrambled[at : at + BLOCK]) for at in range(0, length, BLOCK))


def extract(elements: bytes, *, max_bytes: int) -> bytes | None:
    """Return the text that elements hold, or None if they hold none."""
    blocks = [elements[at + 1 : at + 1 + BLOCK] for at in range(0, len(elements), ELEMENT)]
    padded = _feistel(b"".join(blocks), reversed(range(_ROUNDS)))
    start = len(_MARK) + 2
    size = int.from_bytes(padded[len(_MARK) : start], "big")
    if padded[: len(_MARK)] != _MARK or size > max_bytes or any(padded[start + size :]):
        return None
    return padded[start : start + size]


def _element(block: bytes) -> bytes:
    """Return the first valid element with this block in the middle; one in four is valid."""
    group = ristretto()
    for count in range(_TRIES):
        # In the encoding of an element the lowest bit (its sign)
        # and the highest bit are zero, so 14 bits can count.
        candidate = bytes([count << 1 & 0xFF]) + block + bytes([count >> 7])
        if group.is_valid(candidate):
            return candidate
    raise PartyError("A text cannot be embedded.")


def _feistel(data: bytes, rounds: Iterable[int]) -> bytes:
    """Apply the rounds of a Feistel network with public round functions; the reversed rounds invert it."""
    # A block has 30 bytes, so both halves have the same length.
    half = len(data) // 2
    left, right = data[:half], data[half:]
    for number in rounds:
        if number % 2 == 0:
            right = _xor(right, _round(number, left))
        else:
            left = _xor(left, _round(number, right))
    return left + right


def _round(number: int, data: bytes) -> bytes:
    return hashlib.shake_256(b"discreet embedding" + bytes([number]) + data).digest(len(data))


def _xor(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(len(left), "big")
