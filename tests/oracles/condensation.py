"""Slow definitions for condensation: groups judged record by record, statistics in exact fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np


def levels_are_kept(labels: Any, levels: Any) -> bool:
    """Return whether every record is in a group of at least as many records as it asks for."""
    sizes = Counter(int(label) for label in labels)
    return all(sizes[int(label)] >= int(level) for label, level in zip(labels, levels, strict=True))


def exact_sums(values: Any) -> list[Fraction]:
    """Add up the columns without rounding."""
    return [sum((Fraction(float(one)) for one in column), Fraction(0)) for column in np.asarray(values).T]


def exact_statistics(values: Any) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Return the mean and the sums of squares and products about it, without rounding."""
    rows = [[Fraction(float(one)) for one in row] for row in np.asarray(values)]
    d = len(rows[0])
    mean = [sum((row[j] for row in rows), Fraction(0)) / len(rows) for j in range(d)]
    scatter = [
        [sum(((row[i] - mean[i]) * (row[j] - mean[j]) for row in rows), Fraction(0)) for j in range(d)]
        for i in range(d)
    ]
    return mean, scatter


def squared_error(values: Any, labels: Any) -> float:
    """Sum the squared distances of records to the means of their groups."""
    values, labels = np.asarray(values, np.float64), np.asarray(labels)
    total = 0.0
    for label in np.unique(labels):
        members = values[labels == label]
        total += float(((members - members.mean(axis=0)) ** 2).sum())
    return total


def plain_mdav(values: Any, k: int) -> list[frozenset[int]]:
    """Group by MDAV as the literature writes it: both farthest records with their nearest, until few are left."""
    values = np.asarray(values, np.float64)
    left = list(range(len(values)))
    groups: list[frozenset[int]] = []

    def take(seed: int) -> None:
        nearest = sorted(left, key=lambda row: float(((values[row] - values[seed]) ** 2).sum()))[:k]
        groups.append(frozenset(nearest))
        for row in nearest:
            left.remove(row)

    def farthest(point: Any) -> int:
        return max(left, key=lambda row: float(((values[row] - point) ** 2).sum()))

    while len(left) >= 3 * k:
        outer = farthest(values[left].mean(axis=0))
        take(outer)
        take(farthest(values[outer]))
    if len(left) >= 2 * k:
        take(farthest(values[left].mean(axis=0)))
    groups.append(frozenset(left))
    return groups


def nearest_distance(points: Any, query: Any) -> float:
    """Look at every point."""
    return min(float(np.sqrt(((np.asarray(point) - np.asarray(query)) ** 2).sum())) for point in points)


def auc(members: list[float], others: list[float]) -> float:
    """Compare every member with every other: the share of pairs in which the member is nearer, ties half."""
    won = sum(
        1.0 if member < other else 0.5 if member == other else 0.0 for member in members for other in others
    )
    return won / (len(members) * len(others))


def counted_copies(original: list[dict[str, Any]], released: list[dict[str, Any]], known: list[str]) -> Any:
    """Count released rows equal to a record, to a unique one, unique ones equaled, and rows unique by ``known``."""
    names = list(released[0])
    records = [tuple(row[name] for name in names) for row in original]
    rows = [tuple(row[name] for name in names) for row in released]
    outside = [tuple(row[name] for name in known) for row in original]
    equal = [row for row in rows if row in records]
    unique = [row for row in equal if records.count(row) == 1]
    seen = [tuple(row[name] for name in known) for row in released]
    return len(rows), len(equal), len(unique), len(set(unique)), sum(outside.count(one) == 1 for one in seen)
