"""Slow definitions of disclosure, by exact arithmetic over single records."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def echelon(vectors: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """The reduced row echelon form over the rationals."""
    rows = [
        [one if isinstance(one, Fraction) else Fraction(int(one)) for one in vector] for vector in vectors
    ]
    done: list[list[Fraction]] = []
    width = len(rows[0]) if rows else 0
    for column in range(width):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        pivot = [one / pivot[column] for one in pivot]
        rows = [[a - row[column] * b for a, b in zip(row, pivot, strict=True)] for row in rows]
        done = [[a - row[column] * b for a, b in zip(row, pivot, strict=True)] for row in done]
        done.append(pivot)
    return done


def determined(vectors: Sequence[Sequence[int]]) -> set[int]:
    """The records whose values the sums over these sets determine: those whose unit vector is in the row space."""
    return {
        next(place for place, one in enumerate(row) if one)
        for row in echelon(vectors)
        if sum(bool(one) for one in row) == 1
    }


def involves_fewer(vectors: Sequence[Sequence[int]], group: int) -> bool:
    """Whether some combination of the sums involves fewer than ``group`` records, by trying every set of records."""
    from itertools import combinations

    n = len(vectors[0]) if len(vectors) else 0
    rank = len(echelon(vectors)) if len(vectors) else 0
    for size in range(1, group):
        for chosen in combinations(range(n), size):
            left = [[one for place, one in enumerate(vector) if place not in chosen] for vector in vectors]
            if len(echelon(left)) < rank:
                return True
    return False


def sets_of(rng: np.random.Generator, n: int, count: int) -> list[np.ndarray]:
    """Random query sets over n records."""
    return [rng.random(n) < rng.uniform(0.1, 0.9) for _ in range(count)]
