"""The group ristretto255 as RFC 9496 defines it, over Python integers: slow, and obvious."""

from __future__ import annotations

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ORDER = 2**252 + 27742317777372353535851937790883648493
SQRT_M1 = pow(2, (P - 1) // 4, P)

Point = tuple[int, int]
"""A point of edwards25519 by its two coordinates."""
ZERO: Point = (0, 1)


def decode(element: bytes) -> Point | None:
    """Section 4.3.1: the point that 32 bytes encode, or None if they are no canonical encoding."""
    s = int.from_bytes(element, "little")
    if len(element) != 32 or s >= P or s & 1:
        return None
    u1, u2 = 1 - s * s, 1 + s * s
    v = -(D * u1 * u1) - u2 * u2
    square, root = _sqrt_ratio(1, v * u2 * u2 % P)
    x, y = _absolute(2 * s * root * u2), u1 * root * root * u2 * v % P
    return None if not square or x * y % P & 1 or y == 0 else (x, y)


def encode(point: Point) -> bytes:
    """Section 4.3.2, for a point whose third coordinate is one."""
    x, y = point
    t = x * y % P
    u1, u2 = (1 + y) * (1 - y) % P, t
    _, root = _sqrt_ratio(1, u1 * u2 * u2 % P)
    first, second = root * u1 % P, root * u2 % P
    inverse = first * second * t % P
    if t * inverse % P & 1:
        x, y = y * SQRT_M1 % P, x * SQRT_M1 % P
        second = first * _INVSQRT_A_MINUS_D % P
    if x * inverse % P & 1:
        y = -y
    return _absolute(second * (1 - y)).to_bytes(32, "little")


def from_uniform(uniform: bytes) -> bytes:
    """Section 4.3.4: the sum of the elements that both halves map to."""
    halves = [int.from_bytes(uniform[at : at + 32], "little") & (2**255 - 1) for at in (0, 32)]
    return encode(plus(_mapped(halves[0] % P), _mapped(halves[1] % P)))


def plus(first: Point, second: Point) -> Point:
    """The addition law of the curve -x² + y² = 1 + d x² y²."""
    (x1, y1), (x2, y2) = first, second
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x % P, y % P


def minus(point: Point) -> Point:
    return -point[0] % P, point[1]


def times(factor: int, point: Point) -> Point:
    total = ZERO
    for bit in f"{factor:b}":
        total = plus(total, total)
        if bit == "1":
            total = plus(total, point)
    return total


def _absolute(value: int) -> int:
    value %= P
    return P - value if value & 1 else value


def _sqrt_ratio(u: int, v: int) -> tuple[bool, int]:
    """Whether u/v is a square, and the nonnegative root of u/v or of √−1 · u/v."""
    cube = v * v * v % P
    root = u * cube * pow(u * cube * cube * v, (P - 5) // 8, P) % P
    check = v * root * root % P
    flipped = check == -u % P
    if flipped or check == -u * SQRT_M1 % P:
        root = root * SQRT_M1
    return check == u % P or flipped, _absolute(root)


_, _INVSQRT_A_MINUS_D = _sqrt_ratio(1, -1 - D)
_SQRT_AD_MINUS_ONE = P - _sqrt_ratio(-D - 1, 1)[1]


def _mapped(t: int) -> Point:
    """The Elligator map."""
    r = SQRT_M1 * t * t % P
    u = (r + 1) * (1 - D * D) % P
    v = (-1 - r * D) * (r + D) % P
    square, s = _sqrt_ratio(u, v)
    c = -1
    if not square:
        s, c = -_absolute(s * t), r
    n = (c * (r - 1) * (D - 1) * (D - 1) - v) % P
    w0, w1, w2, w3 = 2 * s * v, n * _SQRT_AD_MINUS_ONE, 1 - s * s, 1 + s * s
    z = pow(w1 * w3, -1, P)
    return w0 * w3 * z % P, w2 * w1 * z % P
