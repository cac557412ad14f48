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


def grid(n: int, values: Sequence[int]) -> np.ndarray:
    """Every table of n records with these values."""
    from itertools import product

    return np.array(list(product(values, repeat=n)))


def agreeing(tables: np.ndarray, transcript: Sequence[tuple[str, np.ndarray, object]]) -> np.ndarray:
    """The tables that agree with all released answers: (aggregate, members, number or inequality)."""
    left = np.ones(len(tables), np.bool_)
    for aggregate, members, released in transcript:
        extreme = getattr(tables[:, members], aggregate)(axis=1)
        if not hasattr(released, "relation"):
            left &= extreme == float(released)
        elif released.relation == "at most":
            left &= extreme <= released.value
        else:
            left &= extreme >= released.value
    return tables[left]


def continuum(
    n: int, transcript: Sequence[tuple[str, np.ndarray, Fraction]], *, distinct: bool
) -> tuple[np.ndarray, list[Fraction]]:
    """Every arrangement of n real numbers among the answered extremes that agrees with them.

    Position 2 k + 1 is the k-th answered value itself, the even positions are the gaps between them. Any number of
    records fits into a gap; where all values differ, one at most has an answered value.
    """
    values = sorted({value for _, _, value in transcript})
    low, high = [0] * n, [2 * len(values)] * n
    for aggregate, members, value in transcript:
        at = 2 * values.index(value) + 1
        for record in np.flatnonzero(members):
            if aggregate == "max":
                high[record] = min(high[record], at)
            else:
                low[record] = max(low[record], at)
    choices = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    tables = np.stack([one.ravel() for one in np.meshgrid(*choices, indexing="ij")], axis=1)
    for _, members, value in transcript:
        at = 2 * values.index(value) + 1
        tables = tables[(tables[:, members] == at).any(axis=1)]
    if distinct:
        for at in range(1, 2 * len(values), 2):
            tables = tables[(tables == at).sum(axis=1) <= 1]
    return tables, values


def realized(positions: np.ndarray, values: Sequence[Fraction], rng: np.random.Generator) -> list[Fraction]:
    """Real numbers, all different in the gaps, that have these positions."""
    ends = [*values, (values[-1] if values else Fraction(0)) + 8]
    table = []
    for position in positions.tolist():
        if position % 2:
            table.append(values[position // 2])
            continue
        high = ends[position // 2]
        low = ends[position // 2 - 1] if position else high - 8
        table.append(low + (high - low) * Fraction(int(rng.integers(1, 1 << 30)), 1 << 30))
    return table
