"""The group ristretto255 (RFC 9496), by libsodium through rbcl."""

from __future__ import annotations

import functools

from discreet.parties.errors import PartyError, require_libraries

ELEMENT = 32
"""The bytes of an encoded element, and of a scalar."""
UNIFORM = 64
"""The bytes that are mapped to an element."""
ORDER = 2**252 + 27742317777372353535851937790883648493
IDENTITY = bytes(ELEMENT)
_TOP_BIT = 0x80


class GroupError(PartyError):
    """Bytes that encode no element, or a product that is the identity."""


@functools.cache
def ristretto() -> Ristretto:
    """Return the group; a PartyError says what to install where its library is missing."""
    require_libraries()
    return Ristretto()


def scalar_from(uniform: bytes) -> bytes:
    """Return the scalar that 64 uniform bytes reduce to.

    >>> scalar_from(bytes([5]) + bytes(63))[0]
    5
    """
    # 512 bits for an order of 253: the remainder is uniform up to 2**-259.
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
    if not all(element != IDENTITY and group.is_valid(element) for element in elements):
        raise PartyError(f"The other party sent an invalid group element in the {of}.")
    return elements


class Ristretto:
    """The operations of the group by libsodium; elements and scalars are strings of 32 bytes.

    rbcl checks no lengths, ignores the highest bit of an encoding and answers an invalid element with zeros, so all of
    that is refused here.
    """

    def __init__(self) -> None:
        import rbcl

        self._sodium = rbcl

    def multiply(self, scalar: bytes, element: bytes) -> bytes:
        """Return the multiple of an element; a zero scalar and the identity raise a GroupError."""
        _check(scalar, element)
        try:
            if element[-1] < _TOP_BIT:
                return bytes(self._sodium.crypto_scalarmult_ristretto255(scalar, element))
        except RuntimeError:
            pass
        raise GroupError("The product is the identity, or its factor is no group element.")

    def multiply_base(self, scalar: bytes) -> bytes:
        """Return the multiple of the generator; a zero scalar raises a GroupError."""
        _check(scalar)
        try:
            return bytes(self._sodium.crypto_scalarmult_ristretto255_base(scalar))
        except RuntimeError:
            raise GroupError("A scalar must not be zero.") from None

    def add(self, first: bytes, second: bytes) -> bytes:
        """Return the sum of two elements."""
        self._require_valid(first, second)
        return bytes(self._sodium.crypto_core_ristretto255_add(first, second))

    def subtract(self, first: bytes, second: bytes) -> bytes:
        """Return the difference of two elements."""
        self._require_valid(first, second)
        return bytes(self._sodium.crypto_core_ristretto255_sub(first, second))

    def invert(self, scalar: bytes) -> bytes:
        """Return the multiplicative inverse of a scalar; zero raises a GroupError."""
        _check(scalar)
        try:
            inverse = bytes(self._sodium.crypto_core_ristretto255_scalar_invert(scalar))
        except ValueError:
            inverse = IDENTITY
        if inverse == IDENTITY:
            raise GroupError("A scalar must not be zero.")
        return inverse

    def from_uniform(self, uniform: bytes) -> bytes:
        """Return the element that 64 uniform bytes map to."""
        _check(uniform, length=UNIFORM)
        return bytes(self._sodium.crypto_core_ristretto255_from_hash(uniform))

    def is_valid(self, element: bytes) -> bool:
        """Whether bytes are the canonical encoding of an element."""
        if len(element) != ELEMENT or element[-1] >= _TOP_BIT:
            return False
        return bool(self._sodium.crypto_core_ristretto255_is_valid_point(element))

    def _require_valid(self, *elements: bytes) -> None:
        _check(*elements)
        if not all(self.is_valid(element) for element in elements):
            raise GroupError("The bytes encode no group element.")


def _check(*strings: bytes, length: int = ELEMENT) -> None:
    if any(type(string) is not bytes or len(string) != length for string in strings):
        raise GroupError(f"Elements and scalars of the group have {length} bytes.")
