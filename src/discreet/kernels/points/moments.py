"""Moments of groups of rows: means and sums of squares about them, kept stable by working from a row of each group."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled


def moments(values: Any, weights: Any, labels: Any, n_groups: int) -> Any:
    """Return each group's weight, mean, and sum of squares and products about the mean.

    Every row is taken relative to the first row of its group, so that no digits are lost where the mean is large
    against the spread. A group without rows has the mean 0.
    """
    values, weights = np.ascontiguousarray(values, np.float64), np.ascontiguousarray(weights, np.int64)
    order, start = _in_groups(np.ascontiguousarray(labels, np.int64), n_groups)
    return _moments(values, weights, order, start, True)


def means(values: Any, labels: Any, n_groups: int) -> Any:
    """Return each group's size and mean."""
    values = np.ascontiguousarray(values, np.float64)
    order, start = _in_groups(np.ascontiguousarray(labels, np.int64), n_groups)
    total, mean, _ = _moments(values, np.ones(len(values), np.int64), order, start, False)
    return total, mean


def added(parts: Any, labels: Any, n_groups: int) -> Any:
    """Add up the matrices of each group."""
    return _added(np.ascontiguousarray(parts, np.float64), np.ascontiguousarray(labels, np.int64), n_groups)


# Counting sort: O(n + groups). Groups become contiguous, so that one set of sums is in use at a time.
@compiled
def _in_groups(labels, n_groups):
    """Return the rows group by group, each group's in order, and where each group begins."""
    start = np.zeros(n_groups + 1, np.int64)
    for label in labels:
        start[label + 1] += 1
    for g in range(n_groups):
        start[g + 1] += start[g]
    position = start[:-1].copy()
    order = np.empty(labels.size, np.int64)
    for i in range(labels.size):
        order[position[labels[i]]] = i
        position[labels[i]] += 1
    return order, start


# Two passes, both about the group's first row: O(n d^2). The one-pass formula, squares less the squared
# mean, can lose all digits where the mean is large against the spread.
@compiled
def _moments(values, weights, order, start, squares):
    n_groups, d = start.size - 1, values.shape[1]
    total = np.zeros(n_groups, np.int64)
    mean = np.zeros((n_groups, d))
    scatter = np.zeros((n_groups if squares else 0, d, d))
    shift, apart = np.empty(d), np.empty(d)
    for g in range(n_groups):
        if start[g] == start[g + 1]:
            continue
        origin = values[order[start[g]]]
        shift[:] = 0.0
        for position in range(start[g], start[g + 1]):
            i = order[position]
            total[g] += weights[i]
            for j in range(d):
                shift[j] += weights[i] * (values[i, j] - origin[j])
        for j in range(d):
            shift[j] /= max(total[g], 1)
            mean[g, j] = origin[j] + shift[j]
        if not squares:
            continue
        for position in range(start[g], start[g + 1]):
            i = order[position]
            for j in range(d):
                apart[j] = values[i, j] - origin[j] - shift[j]
            for j in range(d):
                scaled = weights[i] * apart[j]
                # The lower triangle only; it is mirrored afterwards, which also makes the matrix exactly
                # symmetric.
                for k in range(j + 1):
                    scatter[g, j, k] += scaled * apart[k]
        for j in range(d):
            for k in range(j):
                scatter[g, k, j] = scatter[g, j, k]
    return total, mean, scatter


@compiled
def _added(parts, labels, n_groups):
    d = parts.shape[1]
    total = np.zeros((n_groups, d, d))
    for i in range(parts.shape[0]):
        g = labels[i]
        for j in range(d):
            for k in range(d):
                total[g, j, k] += parts[i, j, k]
    return total
