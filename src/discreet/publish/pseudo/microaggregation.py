"""Segment: divide the records of one privacy level into groups of near ones, none smaller than the level."""

from __future__ import annotations

from typing import Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray

SegmentMethod = Literal["auto", "nearest", "mdav", "blocked"]
METHODS: tuple[SegmentMethod, ...] = ("auto", "nearest", "mdav", "blocked")

MOST_EXACT = 50_000
"""Above this many rows of one level ``"auto"`` cuts them into blocks first."""
_BLOCK = 12_000
"""The target size of a block; blocks have fewer than twice as many rows."""
_BLOCK_GROUPS, _FEWEST_GROUPS = 600, 20
"""The target number of groups in a block, and the least when they are large."""


def segment(values: FloatArray, p: int, *, method: SegmentMethod, rng: np.random.Generator) -> IntArray:
    """Return a group for every record: groups of at least p, or one deficient group where there are fewer than p.

    ``"nearest"`` is the paper's way: a random record and its p − 1 nearest, until fewer than p are left, which join
    the nearest groups. ``"mdav"`` starts from the records farthest out. ``"blocked"`` does so inside blocks of some
    thousand near records, which takes time in proportion to the records. ``"auto"`` is the one or the other of these
    two, by the number of records.
    """
    n = len(values)
    if n < 2 * p:
        return np.zeros(n, np.int64)
    if method == "nearest":
        return _nearest(values, p, rng)
    from discreet.kernels.points.condensing import blocked_mdav, mdav

    if method == "blocked" or (method == "auto" and n > MOST_EXACT):
        labels: IntArray = blocked_mdav(values, p, max(min(_BLOCK_GROUPS * p, _BLOCK), _FEWEST_GROUPS * p))
    else:
        labels = mdav(values, p)
    return labels


def _nearest(values: FloatArray, p: int, rng: np.random.Generator) -> IntArray:
    from discreet.kernels.points.moments import means
    from discreet.kernels.points.neighbors import groups_by_distance, nearest

    labels: IntArray = groups_by_distance(values, rng.permutation(len(values)), p)
    left = np.flatnonzero(labels < 0)
    if left.size:
        placed = labels >= 0
        _, centers = means(values[placed], labels[placed], int(labels.max()) + 1)
        labels[left], _ = nearest(centers, values[left])
    return labels
