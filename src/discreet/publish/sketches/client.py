"""One person's sketch, as it would be made on a phone: plain Python, nothing but the standard library.

This file can be copied as it is. It is also the definition of the signs: what is made here is, bit for bit, what
:class:`discreet.publish.SketchFamily` makes of the same record with the same key.

- The key (bytes, or text in UTF-8) is hashed to 32 bytes by BLAKE2b, personalised by ``discreet sketch1``; everything
  else is drawn from these by keyed BLAKE2b.
- An item is a point of the field of 2^61 − 1 elements: the hash of its name, in 16 bytes. Whole numbers, text and
  bytes of the same spelling are different names.
- Component j has a cubic polynomial: the hash of j in 64 bytes, taken as four numbers, the constant first. The sign
  of an item is +1 where the polynomial's value at its point is even, and −1 where it is odd.
- Before they are added up, the values of a record are rounded to multiples of a power of two so small that nothing is
  lost but what is some 14 digits below the largest, and so large that their sums are exact in any order. What is
  lost no longer hides the rest, so lengths are chosen for the values as they are and as rounded, whichever hide less.
- What is published is rounded once more, to a grid of about half the record's length, up or down by chance and right
  on average: sums of 0.31 and 0.48 would otherwise show without the key which values a record has. Counts, of which
  every whole sum can occur, stay as they are. Chance comes from the key and the record, so the sketch stays the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import operator
import struct
from collections.abc import Iterable, Mapping
from fractions import Fraction

PRIME = 2**61 - 1
SMALLEST, LARGEST = 2.0**-500, 2.0**500
"""The range of sizes that the largest value of a record may have, so that squares neither vanish nor overflow."""
_WORD = 2**64 - 1
_DIGITS = 15


def sketch_record(record: Mapping[object, float], key: bytes | str, length: int) -> list[float]:
    """Sketch one record: its first components.

    Parameters
    ----------
    record
        The value of each item that has one; the rest is zero.
    key
        What all who are to be compared share.
    length
        The number of components.

    Examples
    --------
    >>> sketch_record({"tea": 2, "milk": 1}, "shared key", 6)
    [1.0, 1.0, 1.0, 1.0, -3.0, -1.0]
    """
    secret = master(key)
    values = _rounded(_checked(_values(record)))
    places = [point(secret, name) for name in record]
    if len(set(places)) < len(values):
        raise ValueError("A record must name each item once.")
    return [
        math.fsum(
            -value if _value(coefficients(secret, j), x) & 1 else value
            for x, value in zip(places, values, strict=True)
        )
        for j in range(length)
    ]


def sketch_by_delta(
    record: Mapping[object, float], key: bytes | str, delta: float, components: int
) -> list[float]:
    """Sketch one record as long as δ-anonymity allows, at most to ``components``; empty if it must not be published.

    Examples
    --------
    >>> basket = {"tea": 1, "milk": 1, "bread": 1}
    >>> len(sketch_by_delta(basket, "shared key", 0.5, 100)), sketch_by_delta({"tea": 1}, "shared key", 0.5, 100)
    (4, [])
    """
    length = longest(_values(record), delta, components)
    return rounded_sketch(record, key, sketch_record(record, key, length))


def rounded_sketch(record: Mapping[object, float], key: bytes | str, sketch: list[float]) -> list[float]:
    """Round a record's sketch as it is published: to its grid, up or down by chance, and right on average.

    Examples
    --------
    >>> record = {"tea": 0.6, "milk": 0.8}
    >>> exact = sketch_record(record, "shared key", 6)
    >>> [round(one, 1) for one in exact], rounded_sketch(record, "shared key", exact)
    ([-0.2, -0.2, -0.2, -0.2, -1.4, 0.2], [0.0, 0.0, 0.0, -0.5, -1.5, 0.0])
    """
    secret = master(key)
    values = {name: value for name, value in zip(record, _checked(_values(record)), strict=True) if value}
    unit = grid(values.values())
    if unit is None:
        return sketch
    words = (struct.unpack("<Q", struct.pack("<d", value))[0] for value in values.values())
    # A sum, so that the order of the items does not matter.
    identity = sum(
        _mixed(point(secret, name) ^ _mixed(word)) for name, word in zip(values, words, strict=True)
    )
    # The upper 53 bits, as many as a float holds, are a number in [0, 1).
    chances = ((_mixed((identity + salt(secret, j)) & _WORD) >> 11) * 2.0**-53 for j in range(len(sketch)))
    return [math.floor(sum_ / unit + chance) * unit for sum_, chance in zip(sketch, chances, strict=True)]


def grid(values: Iterable[float]) -> float | None:
    """Return the grid of a record: the power of two u with 2u² ≤ ‖X‖² < 8u²; None where its values are counts.

    Counts are whole numbers, none larger than all smaller ones together and one more: whatever the signs, every whole
    number of the right parity up to their sum can come out, so a component shows no more than that.

    >>> grid([0.6, 0.8]), grid([1, 1, 2, 4]), grid([1017, 333])
    (0.5, None, 512.0)
    """
    sizes = sorted(map(abs, values))
    reach = 0.0
    for size in sizes:
        if size != math.floor(size) or size > reach + 1:
            break
        reach += size
    else:
        return None
    _, exponent = math.frexp(sizes[-1])
    # In whole numbers of 15 bits, so that every machine arrives at the same grid.
    squares = sum(math.floor(math.ldexp(size, _DIGITS - exponent)) ** 2 for size in sizes)
    return math.ldexp(1.0, (squares.bit_length() - 2) // 2 + exponent - _DIGITS)


def longest(values: Iterable[float], delta: float, components: int) -> int:
    """Return the longest sketch whose every attribute has a variance of at least delta; 0 if there is none.

    Computed in fractions, so that it is never one too long; delta is the decimal number that it is written as.

    >>> longest([1, 1, 1, 1], 0.3, 100), longest([1.0] * 20, 0.2, 100), longest([5], 0.2, 100)
    (10, 95, 0)
    """
    if not (math.isfinite(delta) and delta > 0):
        raise ValueError("delta must be a positive number.")
    numbers = _checked(values)
    spare = min(_spare(numbers), _spare(_rounded(numbers)))
    return min(components, math.floor(spare / Fraction(str(float(delta)))))


def master(key: bytes | str) -> bytes:
    """Hash a key to the 32 bytes that everything is drawn from."""
    if not isinstance(key, bytes | str) or not key:
        raise ValueError("The key must be bytes or text, and not empty.")
    secret = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key
    return hashlib.blake2b(secret, digest_size=32, person=b"discreet sketch1").digest()


def fingerprint(secret: bytes) -> str:
    """Identify a key without revealing it."""
    return hashlib.blake2b(b"fingerprint", digest_size=16, key=secret).hexdigest()


def coefficients(secret: bytes, component: int) -> tuple[int, int, int, int]:
    """Draw the polynomial of one component, the constant first."""
    drawn = hashlib.blake2b(b"component" + component.to_bytes(8, "little"), digest_size=64, key=secret)
    # The remainder of 128 bits is uniform but for a bias below 2^-66.
    four = [int.from_bytes(drawn.digest()[at : at + 16], "little") % PRIME for at in (0, 16, 32, 48)]
    return four[0], four[1], four[2], four[3]


def salt(secret: bytes, component: int) -> int:
    """Draw what chance in one component starts from."""
    drawn = hashlib.blake2b(b"chance" + component.to_bytes(8, "little"), digest_size=8, key=secret)
    return int.from_bytes(drawn.digest(), "little")


def point(secret: bytes, name: object) -> int:
    """Return the point of the field for an item."""
    drawn = hashlib.blake2b(b"item" + spelled(name), digest_size=16, key=secret).digest()
    return int.from_bytes(drawn, "little") % PRIME


def spelled(name: object) -> bytes:
    """Encode a name so that no two have the same code: text, bytes, numbers, None, or a tuple of these."""
    if isinstance(name, str):
        return b"s" + name.encode("utf-8", "surrogatepass")
    if isinstance(name, bytes):
        return b"b" + name
    if name is None:
        return b"n"
    if isinstance(name, tuple):
        parts = [spelled(part) for part in name]
        # With their lengths before them, parts of two tuples cannot run into one another.
        return b"t" + b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    with contextlib.suppress(TypeError):
        return b"i" + str(operator.index(name)).encode()  # type: ignore[arg-type]
    number = math.nan
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        number = float(name)  # type: ignore[arg-type]
    if math.isnan(number) or number != name:
        raise ValueError(
            "The name of an item must be text, bytes, a number (not NaN), None or a tuple of these."
        )
    # A whole float is named as the number that it equals.
    return b"i" + str(int(number)).encode() if number.is_integer() else b"f" + number.hex().encode()


def _value(polynomial: tuple[int, int, int, int], x: int) -> int:
    c0, c1, c2, c3 = polynomial
    return (((c3 * x + c2) * x + c1) * x + c0) % PRIME


def _mixed(word: int) -> int:
    """Mix the bits of a word of 64 bits, one to one."""
    # The finalizer of SplitMix64.
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


def _values(record: Mapping[object, float]) -> Iterable[float]:
    if not isinstance(record, Mapping):
        raise ValueError("A record must be a mapping from items to numbers.")
    return record.values()


def _checked(values: Iterable[float]) -> list[float]:
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise ValueError("The values of a record must be finite numbers.")
    if any(numbers) and not SMALLEST <= max(map(abs, numbers)) <= LARGEST:
        raise ValueError("The largest value of a record must be neither that small nor that large.")
    return numbers


def _spare(values: list[float]) -> Fraction:
    """Add up the squares of all values but the largest."""
    squares = [Fraction(value) ** 2 for value in values]
    return sum(squares, Fraction(0)) - max(squares, default=Fraction(0))


def _rounded(values: list[float]) -> list[float]:
    """Round to a power of two so large that sums of all values, with any signs, are exact."""
    numbers = [value for value in values if value]
    if not numbers:
        return values
    _, exponent = math.frexp(max(map(abs, numbers)))
    unit = math.ldexp(1.0, exponent + (len(numbers) - 1).bit_length() - 53)
    return [round(value / unit) * unit for value in values]
