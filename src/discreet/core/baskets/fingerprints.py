"""Fingerprints of baskets: alike baskets have the same, in whatever order they come."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.baskets.baskets import Baskets


def fingerprints(baskets: Baskets) -> np.ndarray:
    """Return a number of 64 bits for each basket; two that hold the same items have the same, others hardly ever.

    >>> one, two, other = fingerprints(Baskets.from_lists([["a", "b"], ["b", "a"], ["a"]]))
    >>> bool(one == two), bool(one == other)
    (True, False)
    """
    marks = np.random.default_rng(0).integers(0, 2**64, max(baskets.n_items, 1), np.uint64)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(marks[baskets.items], dtype=np.uint64)])
    totals: np.ndarray = sums[baskets.indptr[1:]] - sums[baskets.indptr[:-1]]
    return totals


def drawn_order(baskets: Baskets, rng: np.random.Generator) -> IntArray:
    """Return the baskets' positions in an order that is drawn, and does not depend on the order in which they came."""
    return np.argsort(fingerprints(baskets), kind="stable")[rng.permutation(len(baskets))]
