"""Rows and their nearest centers: labels, sums and counts in one pass, exact in integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled


def sums_by_center(
    rows: NDArray[np.int64], centers: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the nearest center of each row, the first of equals, and the sum and number of the rows of each center.

    >>> labels, sums, counts = sums_by_center(np.array([[0], [1], [9]]), np.array([[0.0], [8.0]]))
    >>> labels.tolist(), sums.tolist(), counts.tolist()
    ([0, 0, 1], [[1], [9]], [2, 1])
    """
    labels = np.empty(rows.shape[0], np.int32)
    sums, counts = np.zeros(centers.shape, np.int64), np.zeros(centers.shape[0], np.int64)
    _add(np.ascontiguousarray(rows), np.ascontiguousarray(centers), labels, sums, counts)
    return labels, sums, counts


# The assignment step of Lloyd's k-means: O(n k d). Sums are of whole numbers, so that no order of rows
# changes them.
@compiled
def _add(rows, centers, labels, sums, counts):
    n, d = rows.shape
    for i in range(n):
        best, least = 0, np.inf
        for j in range(centers.shape[0]):
            distance = 0.0
            for c in range(d):
                gap = rows[i, c] - centers[j, c]
                distance += gap * gap
            if distance < least:
                best, least = j, distance
        labels[i] = best
        counts[best] += 1
        for c in range(d):
            sums[best, c] += rows[i, c]
