"""MASK as the paper describes it, and Apriori in the same code: candidates counted basket by basket.

A candidate of n items has n + 1 counters, by how many of its items a distorted basket has. The one for none of them,
expected to be the largest, is implicit: it is what the others leave. Nothing is worked out from subsets here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.collect import EMask
from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.kernels.compiled import compiled
from discreet.kernels.itemsets.candidates import join


@dataclass(frozen=True)
class CountedSets:
    """The frequent itemsets of one length, one a row, by the codes of their items, and their (estimated) counts."""

    sets: CodeArray
    counts: FloatArray


def by_classes(baskets: Baskets, channel: EMask, min_support: float) -> Iterator[CountedSets]:
    """Mine distorted baskets as MASK does: n counters for a candidate, the last one implicit."""
    return _mined(baskets, min_support, channel)


def by_apriori(baskets: Baskets, min_support: float) -> Iterator[CountedSets]:
    """Mine true baskets by Apriori, with a prefix tree of candidates that only items of the basket descend."""
    return _mined(baskets, min_support, None)


def class_matrix(n: int, p: float, q: float) -> FloatArray:
    """Return the paper's M: the probability that a basket with j of n items comes out with i of them.

    >>> class_matrix(1, 0.9, 0.8).round(2).tolist()
    [[0.8, 0.1], [0.2, 0.9]]
    """

    def chance(i: int, j: int) -> float:
        stay = range(max(0, i + j - n), min(i, j) + 1)
        return math.fsum(
            math.comb(j, k) * p**k * (1 - p) ** (j - k)
            * math.comb(n - j, i - k) * (1 - q) ** (i - k) * q ** (n - j - i + k)
            for k in stay
        )  # fmt: skip

    return np.array([[chance(i, j) for j in range(n + 1)] for i in range(n + 1)])


def _mined(baskets: Baskets, min_support: float, channel: EMask | None) -> Iterator[CountedSets]:
    least = min_support * len(baskets) * (1 - 1e-12)
    counts = _estimated(baskets.counts[:, None].astype(np.int64), len(baskets), channel)
    codes = np.flatnonzero(counts >= least).astype(np.int32)
    kept = baskets.keep(_member(baskets.n_items, codes))
    indptr, items = kept.indptr, kept.items
    yield CountedSets(codes[:, None], counts[codes])
    first, second = np.triu_indices(codes.size, 1)
    candidates = np.stack([first, second], axis=1).astype(np.int32)
    while len(candidates):
        if channel is None:
            counters = _whole_sets(indptr, items, *_tree(candidates), len(candidates))[:, None]
        else:
            counters = _classes(indptr, items, *_lists(candidates, codes.size), *candidates.shape)
        counts = _estimated(counters, len(baskets), channel)
        frequent = counts >= least
        candidates = candidates[frequent]
        if len(candidates):
            yield CountedSets(codes[candidates], counts[frequent])
            candidates = join(candidates)[0]


def _member(n_items: int, codes: CodeArray) -> BoolArray:
    member = np.zeros(n_items, np.bool_)
    member[codes] = True
    return member


def _estimated(counters: IntArray, n_baskets: int, channel: EMask | None) -> FloatArray:
    """Return the true count of every candidate: the last entry of the inverse of M times its counters."""
    if channel is None:
        return counters[:, -1].astype(np.float64)
    n = counters.shape[1]
    weights = np.linalg.inv(class_matrix(n, channel.p, channel.q))[-1]
    none = n_baskets - counters.sum(axis=1)
    return np.asarray(none * weights[0] + counters @ weights[1:])


def _lists(candidates: CodeArray, n_items: int) -> tuple[IntArray, IntArray]:
    """Return for every item the candidates that hold it."""
    order = np.argsort(candidates.ravel(), kind="stable")
    start = np.searchsorted(candidates.ravel()[order], np.arange(n_items + 1))
    return start, order // candidates.shape[1]


def _tree(candidates: CodeArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return a prefix tree of candidates in lexicographic order: the item of each node and the range of its children.

    Node 0 is the root; the children of a node of the last depth are its candidate's row, and lie behind all nodes.
    """
    n, length = candidates.shape
    new = np.ones((n, length), np.bool_)
    new[1:] = np.logical_or.accumulate(candidates[1:] != candidates[:-1], axis=1)
    sizes = new.sum(axis=0)
    begin = 1 + np.concatenate([[0], np.cumsum(sizes)])
    item, start, stop = [np.array([-1])], [np.array([1])], [np.array([begin[1]])]
    for depth in range(length):
        rows = np.flatnonzero(new[:, depth])
        item.append(candidates[rows, depth])
        below = np.cumsum(new[:, depth + 1]) - 1 if depth + 1 < length else np.arange(n)
        ends = np.append(rows[1:], n)
        start.append(begin[depth + 1] + below[rows])
        stop.append(begin[depth + 1] + below[ends - 1] + 1)
    return np.concatenate(item), np.concatenate(start), np.concatenate(stop)


# Basket by basket: every item touches the candidates that hold it. O(sum over baskets and their items of the
# candidates that hold the item). Invariant between baskets: nothing is touched.
@compiled
def _classes(indptr: Any, items: Any, start: Any, holders: Any, n_candidates: int, length: int) -> Any:
    counters = np.zeros((n_candidates, length), np.int64)
    present, touched = np.zeros(n_candidates, np.uint8), np.empty(n_candidates, np.int64)
    for basket in range(indptr.size - 1):
        n_touched = 0
        for entry in range(indptr[basket], indptr[basket + 1]):
            for at in range(start[items[entry]], start[items[entry] + 1]):
                candidate = holders[at]
                if present[candidate] == 0:
                    touched[n_touched] = candidate
                    n_touched += 1
                present[candidate] += 1
        for at in range(n_touched):
            candidate = touched[at]
            counters[candidate, present[candidate] - 1] += 1
            present[candidate] = 0
    return counters


# Basket by basket, down the tree by the basket's items in order: a stack of nodes and of how far the basket
# is used up. O(nodes that the basket holds x items x log children).
@compiled
def _whole_sets(indptr: Any, items: Any, item: Any, start: Any, stop: Any, n_candidates: int) -> Any:
    counts = np.zeros(n_candidates, np.int64)
    leaves = item.size
    nodes, places = np.empty(leaves, np.int64), np.empty(leaves, np.int64)
    for basket in range(indptr.size - 1):
        last = indptr[basket + 1]
        nodes[0], places[0], waiting = 0, indptr[basket], 1
        while waiting:
            waiting -= 1
            low, high = start[nodes[waiting]], stop[nodes[waiting]]
            if low >= leaves:
                counts[low - leaves] += 1
                continue
            for entry in range(places[waiting], last):
                found = low + np.searchsorted(item[low:high], items[entry])
                if found < high and item[found] == items[entry]:
                    low = found
                    nodes[waiting], places[waiting] = found, entry + 1
                    waiting += 1
    return counts
