"""The group ristretto255 computed with the ed25519 functions of PyNaCl, where rbcl is not installed.

Elements are decoded to points of edwards25519 and encoded again as RFC 9496 says, so the bytes equal those of
libsodium's own functions. Field arithmetic is by Python integers: slower, and not in constant time.
"""

from __future__ import annotations

from discreet.parties.crypto.ristretto import ELEMENT, IDENTITY, ORDER, UNIFORM, GroupError

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_M1 = pow(2, (_P - 1) // 4, _P)
_EIGHTH = pow(8, -1, ORDER)

_Point = tuple[int, int]
"""A point of edwards25519 by its two coordinates."""


class Edwards:
    """The group by PyNaCl's ed25519."""

    def __init__(self) -> None:
        import nacl.bindings

        self._sodium = nacl.bindings

    def multiply(self, scalar: bytes, element: bytes) -> bytes:
        """Return the multiple of an element; its component of small order is removed by a factor of eight."""
        if element == IDENTITY or not any(scalar):
            raise GroupError("The product is the identity, or its factor is no group element.")
        point = _packed(_decoded(element))
        for _ in range(3):
            point = self._sodium.crypto_core_ed25519_add(point, point)
        eighth = int.from_bytes(scalar, "little") * _EIGHTH % ORDER
        factor = eighth.to_bytes(ELEMENT, "little")
        return _encoded(_unpacked(self._sodium.crypto_scalarmult_ed25519_noclamp(factor, point)))

    def multiply_base(self, scalar: bytes) -> bytes:
        """Return the multiple of the generator."""
        if not any(scalar):
            raise GroupError("A scalar must not be zero.")
        return _encoded(_unpacked(self._sodium.crypto_scalarmult_ed25519_base_noclamp(scalar)))

    def add(self, one: bytes, other: bytes) -> bytes:
        """Return the sum of two elements."""
        sum_ = self._sodium.crypto_core_ed25519_add(_packed(_decoded(one)), _packed(_decoded(other)))
        return _encoded(_unpacked(sum_))

    def subtract(self, one: bytes, other: bytes) -> bytes:
        """Return the difference of two elements."""
        difference = self._sodium.crypto_core_ed25519_sub(_packed(_decoded(one)), _packed(_decoded(other)))
        return _encoded(_unpacked(difference))

    def invert(self, scalar: bytes) -> bytes:
        """Return the multiplicative inverse of a scalar."""
        if not any(scalar):
            raise GroupError("A scalar must not be zero.")
        return bytes(self._sodium.crypto_core_ed25519_scalar_invert(scalar))

    def from_uniform(self, uniform: bytes) -> bytes:
        """Return the sum of the elements that both halves map to."""
        if len(uniform) != UNIFORM:
            raise GroupError(f"An element is made from {UNIFORM} bytes.")
        halves = (_mapped(_field(uniform[:ELEMENT])), _mapped(_field(uniform[ELEMENT:])))
        sum_ = self._sodium.crypto_core_ed25519_add(_packed(halves[0]), _packed(halves[1]))
        return _encoded(_unpacked(sum_))

    def is_valid(self, element: bytes) -> bool:
        """Whether the bytes are the canonical encoding of an element."""
        try:
            _decoded(element)
        except GroupError:
            return False
        return True


def _field(data: bytes) -> int:
    return (int.from_bytes(data, "little") & (2**255 - 1)) % _P


def _absolute(value: int) -> int:
    value %= _P
    return _P - value if value & 1 else value


def _sqrt_ratio(u: int, v: int) -> tuple[bool, int]:
    """Return whether u/v is a square, and the nonnegative root of u/v or of √−1 · u/v."""
    cube = v * v * v % _P
    root = u * cube * pow(u * cube * cube * v, (_P - 5) // 8, _P) % _P
    check = v * root * root % _P
    flipped = check == -u % _P
    if flipped or check == -u * _SQRT_M1 % _P:
        root = root * _SQRT_M1
    return check == u % _P or flipped, _absolute(root)


_, _INVSQRT_A_MINUS_D = _sqrt_ratio(1, -1 - _D)
_SQRT_AD_MINUS_ONE = _P - _sqrt_ratio(-_D - 1, 1)[1]


def _decoded(element: bytes) -> _Point:
    s = int.from_bytes(element, "little")
    if len(element) != ELEMENT or s >= _P or s & 1:
        raise GroupError("The bytes encode no group element.")
    u1, u2 = 1 - s * s, 1 + s * s
    v = -(_D * u1 * u1) - u2 * u2
    square, root = _sqrt_ratio(1, v * u2 * u2 % _P)
    x = _absolute(2 * s * root * u2)
    y = u1 * root * root * u2 * v % _P
    if not square or x * y % _P & 1 or y == 0:
        raise GroupError("The bytes encode no group element.")
    return x, y


def _encoded(point: _Point) -> bytes:
    x, y = point
    t = x * y % _P
    u1, u2 = (1 + y) * (1 - y) % _P, t
    _, root = _sqrt_ratio(1, u1 * u2 * u2 % _P)
    first, second = root * u1 % _P, root * u2 % _P
    inverse = first * second * t % _P
    if t * inverse % _P & 1:
        x, y = y * _SQRT_M1 % _P, x * _SQRT_M1 % _P
        second = first * _INVSQRT_A_MINUS_D % _P
    if x * inverse % _P & 1:
        y = -y
    return _absolute(second * (1 - y)).to_bytes(ELEMENT, "little")


def _mapped(t: int) -> _Point:
    """Return the point a field element maps to, by the Elligator map of RFC 9496."""
    r = _SQRT_M1 * t * t % _P
    u = (r + 1) * (1 - _D * _D) % _P
    v = (-1 - r * _D) * (r + _D) % _P
    square, s = _sqrt_ratio(u, v)
    c = -1
    if not square:
        s, c = -_absolute(s * t), r
    n = (c * (r - 1) * (_D - 1) * (_D - 1) - v) % _P
    w0, w1, w2, w3 = 2 * s * v, n * _SQRT_AD_MINUS_ONE, 1 - s * s, 1 + s * s
    z = pow(w1 * w3, -1, _P)
    return w0 * w3 * z % _P, w2 * w1 * z % _P


def _packed(point: _Point) -> bytes:
    """Return a point as ed25519 writes it: y, with the lowest bit of x in the highest."""
    x, y = point
    return (y | (x & 1) << 255).to_bytes(ELEMENT, "little")


def _unpacked(data: bytes) -> _Point:
    value = int.from_bytes(data, "little")
    y = value & (2**255 - 1)
    _, x = _sqrt_ratio(y * y - 1, _D * y * y + 1)
    return (-x % _P if value >> 255 else x), y
