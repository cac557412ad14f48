"""Slow definition of coarse tables: halves are cut apart only where none of their counts is small."""

from __future__ import annotations

from collections.abc import Sequence


def blocks(
    table: Sequence[Sequence[int]], least: int, low: int = 0, high: int | None = None
) -> list[tuple[int, int]]:
    """Return the first and the last place of each block, from left to right."""
    high = len(table) if high is None else high
    middle = (low + high) // 2
    halves = [table[low:middle], table[middle:high]]
    counts = [sum(row[column] for row in half) for half in halves for column in range(len(table[0]))]
    if high - low < 2 or any(0 < count < least for count in counts):
        return [(low, high - 1)]
    return blocks(table, least, low, middle) + blocks(table, least, middle, high)


def quantile_rank(q: float, n: int, least: int) -> int:
    """Return the rank of a quantile among n rows, with enough rows on both sides of it."""
    rank = max(1, -(-round(q * 1000) * n // 1000))
    return min(max(rank, least), n - least + 1)
