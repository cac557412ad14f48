"""Slow definitions of sketches and what they promise, straight from the paper's words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

PRIME = 2**61 - 1


def sign(coefficients: Sequence[int], point: int, *, prime: int = PRIME) -> int:
    """The cubic polynomial, power by power: +1 where its value is even."""
    value = sum(coefficient * point**power for power, coefficient in enumerate(coefficients)) % prime
    return 1 if value % 2 == 0 else -1


def dot(s: Sequence[float], t: Sequence[float]) -> float:
    m = min(len(s), len(t))
    return math.fsum(s[j] * t[j] for j in range(m)) / m if m else math.nan


def squared_distance(s: Sequence[float], t: Sequence[float]) -> float:
    m = min(len(s), len(t))
    return math.fsum((s[j] - t[j]) ** 2 for j in range(m)) / m if m else math.nan


def cosine(s: Sequence[float], t: Sequence[float]) -> float:
    m = min(len(s), len(t))
    if not m:
        return math.nan
    size = math.sqrt(dot(s[:m], s[:m])) * math.sqrt(dot(t[:m], t[:m]))
    return dot(s, t) / size if size else 0.0


def centroid(sketches: Sequence[Sequence[float]]) -> list[float]:
    longest = max(map(len, sketches), default=0)
    columns = [[sketch[j] for sketch in sketches if len(sketch) > j] for j in range(longest)]
    return [math.fsum(column) / len(column) for column in columns]


def attribute_variance(record: Mapping[object, float | Fraction], item: object, m: int) -> Fraction:
    """The variance of the estimate of one item's value from m components."""
    squares = sum((Fraction(value) ** 2 for value in record.values()), Fraction(0))
    return (squares - Fraction(record.get(item, 0)) ** 2) / m


def dot_variance(x: Sequence[float], y: Sequence[float]) -> float:
    """The exact variance of one component's product, for 4-wise independent signs and values of either sign."""
    both = sum(a * b for a, b in zip(x, y, strict=True))
    return (
        sum(a * a for a in x) * sum(b * b for b in y)
        + both**2
        - 2 * sum(a * a * b * b for a, b in zip(x, y, strict=True))
    )


def as_sketched(record: Mapping[object, float]) -> dict[object, Fraction]:
    """The values as sketches round them: n values below 2^e to multiples of 2^(e + ⌈log2 n⌉ − 53)."""
    largest = max((abs(value) for value in record.values()), default=0)
    n = sum(value != 0 for value in record.values())
    unit = Fraction(2) ** (math.frexp(largest)[1] + math.ceil(math.log2(max(n, 1))) - 53)
    return {item: round(Fraction(value) / unit) * unit for item, value in record.items()}


def is_delta_anonymous(record: Mapping[object, float], m: int, delta: Fraction) -> bool:
    """Whether every attribute, held or not, has a variance of at least delta, as it is and as it is sketched."""
    return all(
        attribute_variance(values, item, m) >= delta
        for values in (record, as_sketched(record))
        for item in [*record, object()]
    )


def longest_admissible(record: Mapping[object, float], delta: Fraction, components: int) -> int:
    """The longest sketch that is δ-anonymous, tried one by one; 0 if there is none."""
    found = 0
    while found < components and is_delta_anonymous(record, found + 1, delta):
        found += 1
    return found
