"""Slow definitions for classifiers: a tree grown by trying every cut, and naive Bayes by counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

Row = Sequence[Any]


def impurity(labels: Sequence[int], n_classes: int) -> float:
    """Return the gini index times the number of rows."""
    counts = [float(labels.count(label)) for label in range(n_classes)]
    total = sum(counts)
    return total - sum(count**2 for count in counts) / max(total, 1.0)


def grown(
    rows: list[Row],
    labels: list[int],
    n_classes: int,
    *,
    min_leaf: int,
    max_depth: int | None,
    depth: int = 0,
) -> Any:
    """Grow a tree of numbers: a leaf is its counts, a node its column, its threshold and its two sides."""
    counts = [labels.count(label) for label in range(n_classes)]
    pure = sum(count > 0 for count in counts) < 2
    if pure or len(rows) < 2 * min_leaf or (max_depth is not None and depth >= max_depth):
        return counts
    best = impurity(labels, n_classes) * (1 - 1e-9) - 1e-9
    chosen = None
    for column in range(len(rows[0])):
        for below, above in pairwise(sorted({row[column] for row in rows})):
            left = [label for row, label in zip(rows, labels, strict=True) if row[column] <= below]
            right = [label for row, label in zip(rows, labels, strict=True) if row[column] > below]
            cost = impurity(left, n_classes) + impurity(right, n_classes)
            if min(len(left), len(right)) >= min_leaf and cost < best:
                best, chosen = cost, (column, (below + above) / 2)
    if chosen is None:
        return counts
    sides = []
    for left in (True, False):
        here = [at for at, row in enumerate(rows) if (row[chosen[0]] < chosen[1]) == left]
        sides.append(
            grown(
                [rows[at] for at in here],
                [labels[at] for at in here],
                n_classes,
                min_leaf=min_leaf,
                max_depth=max_depth,
                depth=depth + 1,
            )
        )
    return (*chosen, *sides)


def leaf_shares(tree: Any, row: Row) -> list[float]:
    """Send one row down a tree; gives the shares of the classes in its leaf."""
    while isinstance(tree, tuple):
        column, threshold, left, right = tree
        tree = left if row[column] < threshold else right
    return [count / sum(tree) for count in tree]


def naive_bayes(
    rows: list[Row], labels: list[Any], asked: Row, *, smoothing: float = 1.0
) -> dict[Any, float]:
    """Return the probability of each class by counting values within classes."""
    scores = {}
    for label in sorted(set(labels)):
        own = [row for row, one in zip(rows, labels, strict=True) if one == label]
        score = len(own) / len(rows)
        for column, value in enumerate(asked):
            kinds = {row[column] for row in rows}
            if value in kinds:
                count = Counter(row[column] for row in own)[value]
                score *= (count + smoothing / len(kinds)) / (len(own) + smoothing)
            else:
                score *= 1 / len(kinds)
        scores[label] = score
    return {label: score / sum(scores.values()) for label, score in scores.items()}
