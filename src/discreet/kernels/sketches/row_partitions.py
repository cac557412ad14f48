"""Partitions of like rows: sparse rows cut in two, again and again, across the direction in which they vary most."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled

_SAMPLE = 4096
"""How many rows of a partition decide the direction to cut across."""
_STEPS = 12
"""Steps of the power method; the direction need not be exact."""


# Principal direction divisive partitioning (Boley 1998), cut at a rank and not at the mean, so that parts
# are equally large. O(log parts x entries), and for each cut the power method on a sample.
def similar_rows(indptr: Any, items: Any, values: Any, n_items: int, n_parts: int) -> list[Any]:
    """Cut rows into ``n_parts`` parts of nearly equal size; return the row numbers of each part, ascending.

    Rows count with the length 1. The same rows produce the same parts.
    """
    scale = _scales(indptr, values)
    parts: list[Any] = []
    waiting = [(np.arange(indptr.size - 1), n_parts)]
    while waiting:
        rows, count = waiting.pop()
        if count == 1:
            parts.append(np.sort(rows))
            continue
        sample = rows[:: max(1, rows.size // _SAMPLE)]
        direction = _direction(indptr, items, values, scale, sample, n_items)
        projections = _project(indptr, items, values, scale, rows, direction)
        left = count // 2
        order = np.argsort(projections, kind="stable")
        cut = rows.size * left // count
        waiting += [(rows[order[cut:]], count - left), (rows[order[:cut]], left)]
    return parts


@compiled
def _scales(indptr, values):
    scale = np.zeros(indptr.size - 1)
    for row in range(scale.size):
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += values[entry] * values[entry]
        if total > 0:
            scale[row] = 1 / np.sqrt(total)
    return scale


@compiled
def _project(indptr, items, values, scale, rows, direction):
    projections = np.zeros(rows.size)
    for position in range(rows.size):
        row = rows[position]
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += values[entry] * direction[items[entry]]
        projections[position] = total * scale[row]
    return projections


# Power iteration on the covariance, which is never formed: (X - 1m')'(X - 1m')d from sparse rows alone, the
# mean m taken off the two products afterwards. O(steps x (entries of the sample + items)).
@compiled
def _direction(indptr, items, values, scale, rows, n_items):
    """Find the direction of the largest variance of some rows, by the power method."""
    mean = np.zeros(n_items)
    for row in rows:
        for entry in range(indptr[row], indptr[row + 1]):
            mean[items[entry]] += values[entry] * scale[row] / rows.size
    direction = np.empty(n_items)
    for item in range(n_items):
        # A fixed start, so that the same rows produce the same parts. Frequent items weigh more; the signs
        # alternate to keep away from the mean, which is taken off.
        direction[item] = np.sqrt(abs(mean[item])) * (1.0 if item & 1 else -1.0)
    for _ in range(_STEPS):
        middle = 0.0
        for item in range(n_items):
            middle += mean[item] * direction[item]
        following = np.zeros(n_items)
        away = 0.0
        for row in rows:
            total = 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                total += values[entry] * direction[items[entry]]
            total = total * scale[row] - middle
            away += total
            for entry in range(indptr[row], indptr[row + 1]):
                following[items[entry]] += total * scale[row] * values[entry]
        length = 0.0
        for item in range(n_items):
            following[item] -= away * mean[item]
            length += following[item] * following[item]
        if length <= 0.0:
            break
        direction = following / np.sqrt(length)
    return direction
