"""Stars in single cells by plain enumeration: the fewest that make classes large enough, and readings of a star."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

Row = tuple[object, ...]
STAR = "*"


def starred(row: Row, pattern: Sequence[bool]) -> Row:
    """Return a row with stars where the pattern says so."""
    return tuple(STAR if hide else value for value, hide in zip(row, pattern, strict=True))


def fewest_stars(rows: Sequence[Row], k: int, weights: Sequence[float]) -> float | None:
    """Return the least weight of stars with which every row has k - 1 others like it; equal rows are written alike."""
    different, counts = list(Counter(rows)), Counter(rows)
    patterns = list(product([False, True], repeat=len(weights)))
    best: float | None = None
    for choice in product(patterns, repeat=len(different)):
        written: Counter[Row] = Counter()
        for row, pattern in zip(different, choice, strict=True):
            written[starred(row, pattern)] += counts[row]
        if min(written.values()) < k:
            continue
        cost = sum(
            counts[row] * sum(weight for weight, hide in zip(weights, pattern, strict=True) if hide)
            for row, pattern in zip(different, choice, strict=True)
        )
        best = cost if best is None else min(best, cost)
    return best


def by_value(rows: Sequence[Row]) -> list[int]:
    """Return how many rows read like each: a star is a value of its own."""
    counts = Counter(rows)
    return [counts[row] for row in rows]


def by_match(rows: Sequence[Row]) -> list[int]:
    """Return how many rows may be like each, a star matching anything, as sdcMicro counts missing values."""
    return [
        sum(all(a == b or STAR in (a, b) for a, b in zip(row, other, strict=True)) for other in rows)
        for row in rows
    ]
