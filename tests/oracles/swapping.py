"""Rank swapping and post-randomization by definition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any


def is_rank_swap(before: Sequence[Any], after: Sequence[Any], window: float) -> bool:
    """Whether values changed places in pairs at most a share of the ranks apart; null is the lowest, ties any way.

    A value may have moved from any of the ranks that equal values share to any of those of the value it met.
    """
    if Counter(before) != Counter(after):
        return False
    order = sorted(before, key=lambda value: (value is not None, value))
    first, last = {}, {}
    for rank, value in enumerate(order):
        first.setdefault(value, rank)
        last[value] = rank
    width = math.floor(window * len(order) + 1e-9)
    return all(
        max(first[old] - last[new], first[new] - last[old]) <= width
        for old, new in zip(before, after, strict=True)
    )


def invariant_matrix(shares: Sequence[float], redraw: float) -> list[list[float]]:
    """How likely each category becomes each other: kept, or drawn anew by the shares."""
    return [
        [(1 - redraw) * (i == j) + redraw * shares[j] for j in range(len(shares))] for i in range(len(shares))
    ]


def matrix_epsilon(matrix: Sequence[Sequence[float]]) -> float:
    """The largest log-ratio of two probabilities of the same report."""
    return max(
        math.log(row[j] / other[j]) if other[j] else math.inf
        for j in range(len(matrix))
        for row in matrix
        for other in matrix
        if row[j]
    )
