"""Microaggregation as released: classes are means, judged by plain counting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

Row = Sequence[Any]


def smallest_class(rows: Sequence[Row]) -> int:
    """The fewest rows that share all of these cells."""
    sizes: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in rows:
        sizes[tuple(row)] += 1
    return min(sizes.values())


def squared_error(points: Sequence[Sequence[float]], groups: Sequence[int]) -> float:
    """The sum of squared distances of points to the means of their groups."""
    members: dict[int, list[Sequence[float]]] = defaultdict(list)
    for point, group in zip(points, groups, strict=True):
        members[group].append(point)
    total = 0.0
    for group in members.values():
        middle = [sum(column) / len(group) for column in zip(*group, strict=True)]
        total += sum((x - m) ** 2 for point in group for x, m in zip(point, middle, strict=True))
    return total


def best_line_error(values: Sequence[float], k: int) -> float:
    """The least squared error of groups of at least k numbers, which are neighbors on the line (Hansen & Mukherjee)."""
    line = sorted(values)
    best = [0.0] + [float("inf")] * len(line)
    for end in range(k, len(line) + 1):
        for start in range(max(end - 2 * k + 1, 0), end - k + 1):
            group = line[start:end]
            middle = sum(group) / len(group)
            best[end] = min(best[end], best[start] + sum((value - middle) ** 2 for value in group))
    return best[-1]
