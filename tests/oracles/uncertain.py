"""Slow definitions for uncertain records: anonymity added up record by record, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = Sequence[float]


def chance(own: Point, other: Point, spread: float, shape: str) -> float:
    """Return the probability that another record explains a draw of a record at least as well as itself."""
    if shape == "gaussian":
        return math.erfc(math.dist(own, other) / (2 * spread) / math.sqrt(2)) / 2
    overlap = 1.0
    for x, y in zip(own, other, strict=True):
        overlap *= max(spread - abs(x - y), 0.0) / spread
    return overlap


def anonymity(points: Sequence[Point], at: int, spread: float, shape: str, among: Sequence[int]) -> float:
    """Return the expected anonymity of a record among others: itself, and the chance of each other one."""
    return 1.0 + sum(chance(points[at], points[j], spread, shape) for j in among if j != at)


def keeps_levels(
    points: Sequence[Point],
    spreads: Sequence[float],
    classes: Sequence[object],
    levels: Sequence[int],
    shape: str,
) -> bool:
    """Return whether every record reaches its level among those with the same spread and class."""
    keys = list(zip(spreads, classes, strict=True))
    for at, key in enumerate(keys):
        among = [j for j, another in enumerate(keys) if another == key]
        if anonymity(points, at, spreads[at], shape, among) < levels[at] - 1e-6:
            return False
    return True


def range_count(
    centers: Sequence[Point], spreads: Sequence[Point], low: Point, high: Point, shape: str
) -> float:
    """Return the expected number of records in a box."""

    def below(x: float) -> float:
        return (1 + math.erf(x / math.sqrt(2))) / 2 if shape == "gaussian" else min(max(x + 0.5, 0.0), 1.0)

    total = 0.0
    for center, spread in zip(centers, spreads, strict=True):
        inside = 1.0
        for z, s, a, b in zip(center, spread, low, high, strict=True):
            inside *= below((b - z) / s) - below((a - z) / s)
        total += inside
    return total
