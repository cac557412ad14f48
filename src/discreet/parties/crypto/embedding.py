"""Embedding: texts as elements of ristretto255 that can be read back, and look like random ones.

A text is padded to a fixed length and scrambled by a Feistel network of four rounds, so that two texts have no block in
common. Each block of 30 bytes becomes the middle of an encoded element; the outer two bytes count up until it is valid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from discreet.parties.crypto.ristretto import ELEMENT, ristretto
from discreet.parties.errors import PartyError

BLOCK = 30
"""The bytes of a text that one element holds."""
_MARK = bytes(8)
"""What tells a text from a random element, which shows it with a chance of 2**-64."""
_ROUNDS = 4
_TRIES = 1 << 14


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
        candidate = bytes([count << 1 & 0xFF]) + block + bytes([count >> 7])
        if group.is_valid(candidate):
            return candidate
    raise PartyError("A text cannot be embedded.")


def _feistel(data: bytes, rounds: Iterable[int]) -> bytes:
    """Apply the rounds of a Feistel network with public round functions; the reversed rounds invert it."""
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


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).to_bytes(len(one), "big")
