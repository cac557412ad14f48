"""Slow definition of coarse tables: halves are cut apart only where none of their counts is small."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil


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


def quantile_ranks(shares: Sequence[float], n: int, least: int) -> list[int]:
    """Return the ranks of quantiles among n rows: with enough rows on both sides, and between any two of them.

    One that has fewer rows between it and the next lower one is that one.
    """
    places = {share: Fraction(repr(share)) * n for share in shares}
    for share, place in places.items():
        # The rank is the next whole number, so a place just below the least one has rows enough below it.
        places[share] = Fraction(least) if place <= least - 1 else min(place, Fraction(n - least + 1))
    below = None
    ranks = {}
    for share in sorted(places):
        place = places[share]
        if below is None or place - below >= least:
            below = place
        ranks[share] = ceil(below)
    return [ranks[share] for share in shares]
