"""A decision tree's loops: mix rows, count classes by interval, deal rows out to intervals, part a node's rows."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


# The multipliers of SplitMix64, chained over the columns. Sorted by these keys, the order depends on the
# rows alone, and the rows of a bin still come as if by chance: not sorted by another column.
@compiled
def mixed_keys(bins, labels):
    """Return every row a key that looks like chance but is made of its bins and class alone."""
    keys = np.empty(labels.size, np.uint64)
    for row in range(labels.size):
        key = (np.uint64(labels[row]) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
        for column in range(bins.shape[1]):
            key = (key ^ np.uint64(bins[row, column])) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
            key ^= key >> np.uint64(29)
        keys[row] = key
    return keys


@compiled
def class_counts(codes, labels, rows, n_places, n_classes):
    """Count the rows of each class in each place of each column."""
    counts = np.zeros((codes.shape[1], n_places, n_classes), np.int64)
    for at in range(rows.size):
        row = rows[at]
        label = labels[row]
        for column in range(codes.shape[1]):
            counts[column, codes[row, column], label] += 1
    return counts


@compiled
def bin_counts(bins, labels, rows, column, n_bins, n_classes):
    """Count the rows of each class in each bin of one column."""
    counts = np.zeros((n_bins, n_classes), np.int64)
    for at in range(rows.size):
        row = rows[at]
        counts[bins[row, column], labels[row]] += 1
    return counts


# ``upto`` is cumulative, so the interval of a cell only moves forward while its rows go by:
# O(rows + cells x intervals).
@compiled
def deal(bins, labels, rows, column, upto, codes):
    """Assign a place to every row: the rows of a bin and class, in order, up to ``upto[bin, class, place]``."""
    n_dealt = np.zeros(upto.shape[:2], np.int64)
    interval = np.zeros(upto.shape[:2], np.int64)
    last = upto.shape[2] - 1
    for at in range(rows.size):
        row = rows[at]
        cell = bins[row, column]
        label = labels[row]
        here = interval[cell, label]
        while here < last and n_dealt[cell, label] >= upto[cell, label, here]:
            here += 1
        interval[cell, label] = here
        n_dealt[cell, label] += 1
        codes[row, column] = here


# A stable partition, O(rows): only the right side needs room aside, since the left never overtakes what is
# read.
@compiled
def part(rows, codes, column, left):
    """Bring the rows whose place goes left before the others, each side in its order; return how many go left."""
    right_rows = np.empty(rows.size, rows.dtype)
    n_left = 0
    n_right = 0
    for at in range(rows.size):
        row = rows[at]
        if left[codes[row, column]]:
            rows[n_left] = row
            n_left += 1
        else:
            right_rows[n_right] = row
            n_right += 1
    for at in range(n_right):
        rows[n_left + at] = right_rows[at]
    return n_left
