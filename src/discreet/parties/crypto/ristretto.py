"""The group ristretto255 (RFC 9496): by libsodium through rbcl, or through the ed25519 functions of PyNaCl.

Both backends compute the same bytes, so a party with one can talk to a party with the other.
"""

from __future__ import annotations

import functools
from typing import Protocol

from discreet.parties.errors import PartyError

ELEMENT = 32
"""The bytes of an encoded element, and of a scalar."""
UNIFORM = 64
"""The bytes that are mapped to an element."""
ORDER = 2**252 + 27742317777372353535851937790883648493
IDENTITY = bytes(ELEMENT)


class GroupError(PartyError):
    """Bytes that encode no element, or a product that is the identity."""


class Ristretto(Protocol):
    """The operations of the group; elements and scalars are strings of 32 bytes, checked by the caller."""

    def multiply(self, scalar: bytes, element: bytes) -> bytes:
        """Return the multiple of an element; a zero scalar and the identity raise a GroupError."""
        ...

    def multiply_base(self, scalar: bytes) -> bytes:
        """Return the multiple of the generator; a zero scalar raises a GroupError."""
        ...

    def add(self, one: bytes, other: bytes) -> bytes:
        """Return the sum of two valid elements."""
        ...

    def subtract(self, one: bytes, other: bytes) -> bytes:
        """Return the difference of two valid elements."""
        ...

    def invert(self, scalar: bytes) -> bytes:
        """Return the multiplicative inverse of a scalar; zero raises a GroupError."""
        ...

    def from_uniform(self, uniform: bytes) -> bytes:
        """Return the element that 64 uniform bytes map to."""
        ...

    def is_valid(self, element: bytes) -> bool:
        """Whether 32 bytes are the canonical encoding of an element."""
        ...


@functools.cache
def ristretto() -> Ristretto:
    """Return the group by rbcl where it is installed, else by PyNaCl."""
    try:
        return _Sodium()
    except ImportError:
        from discreet.parties.crypto.ristretto_edwards import Edwards

        return Edwards()


def scalar_from(uniform: bytes) -> bytes:
    """Return the scalar that 64 uniform bytes reduce to.

    >>> scalar_from(bytes([5]) + bytes(63))[0]
    5
    """
    return (int.from_bytes(uniform, "little") % ORDER).to_bytes(ELEMENT, "little")


def received_elements(data: bytes, n: int, *, of: str) -> list[bytes]:
    """Return the n elements another party sent; a wrong length, a bad encoding or the identity is refused.

    >>> received_elements(bytes(32), 1, of="base transfer")
    Traceback (most recent call last):
    discreet.parties.errors.PartyError: The other party sent an invalid group element in the base transfer.
    """
    if len(data) != n * ELEMENT:
        raise PartyError(f"The other party sent a message of the wrong length in the {of}.")
    group = ristretto()
    elements = [bytes(data[start : start + ELEMENT]) for start in range(0, len(data), ELEMENT)]
    if not all(one != IDENTITY and group.is_valid(one) for one in elements):
        raise PartyError(f"The other party sent an invalid group element in the {of}.")
    return elements


class _Sodium:
    """The group by libsodium, in constant time; rbcl checks no lengths, so they are checked here."""

    def __init__(self) -> None:
        import rbcl

        self._sodium = rbcl

    def multiply(self, scalar: bytes, element: bytes) -> bytes:
        _check(scalar, element)
        try:
            return bytes(self._sodium.crypto_scalarmult_ristretto255(scalar, element))
        except RuntimeError:
            raise GroupError("The product is the identity, or its factor is no group element.") from None

    def multiply_base(self, scalar: bytes) -> bytes:
        _check(scalar)
        try:
            return bytes(self._sodium.crypto_scalarmult_ristretto255_base(scalar))
        except RuntimeError:
            raise GroupError("A scalar must not be zero.") from None

    def add(self, one: bytes, other: bytes) -> bytes:
        _check(one, other)
        return bytes(self._sodium.crypto_core_ristretto255_add(one, other))

    def subtract(self, one: bytes, other: bytes) -> bytes:
        _check(one, other)
        return bytes(self._sodium.crypto_core_ristretto255_sub(one, other))

    def invert(self, scalar: bytes) -> bytes:
        _check(scalar)
        try:
            return bytes(self._sodium.crypto_core_ristretto255_scalar_invert(scalar))
        except ValueError:
            raise GroupError("A scalar must not be zero.") from None

    def from_uniform(self, uniform: bytes) -> bytes:
        _check(uniform, length=UNIFORM)
        return bytes(self._sodium.crypto_core_ristretto255_from_hash(uniform))

    def is_valid(self, element: bytes) -> bool:
        return len(element) == ELEMENT and bool(self._sodium.crypto_core_ristretto255_is_valid_point(element))


def _check(*strings: bytes, length: int = ELEMENT) -> None:
    if any(type(one) is not bytes or len(one) != length for one in strings):
        raise GroupError(f"Elements and scalars of the group have {length} bytes.")
