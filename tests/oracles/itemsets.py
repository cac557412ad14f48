"""Slow definitions: itemsets by looking at every subset, the channel's matrix, and the estimate by all 2^n subsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pyarrow as pa

from discreet.core.baskets.baskets import Baskets

Sets = dict[frozenset[int], int]


def baskets_of(rows: Sequence[Iterable[int]], n_items: int = 0) -> Baskets:
    """Make baskets of lists of small numbers; item i is called i."""
    sets = [sorted(set(row)) for row in rows]
    size = max([n_items, *(max(row, default=-1) + 1 for row in sets)])
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in sets], dtype=np.int64)])
    items = np.array([item for row in sets for item in row], np.int32)
    return Baskets(indptr, items, pa.array(range(size), pa.int64()))


def frequent(rows: Sequence[Iterable[int]], least: int) -> Sets:
    """Count every subset of every basket."""
    counts: Counter[frozenset[int]] = Counter()
    for row in rows:
        members = sorted(set(row))
        for size in range(1, len(members) + 1):
            counts.update(map(frozenset, combinations(members, size)))
    return {items: count for items, count in counts.items() if count >= least}


def closed(sets: Sets) -> Sets:
    """Keep the sets without a larger one of the same count."""
    return {a: n for a, n in sets.items() if not any(a < b and n == m for b, m in sets.items())}


def maximal(sets: Sets) -> Sets:
    """Keep the sets without a larger one."""
    return {a: n for a, n in sets.items() if not any(a < b for b in sets)}


def channel_matrix(n: int, p: float, q: float) -> np.ndarray:
    """Return M[i, j]: the chance of i ones observed where j of n are true, as the paper writes it."""
    matrix = np.zeros((n + 1, n + 1))
    for i, j in product(range(n + 1), repeat=2):
        for k in range(max(0, i + j - n), min(i, j) + 1):
            of_ones = comb(j, k) * p**k * (1 - p) ** (j - k)
            of_zeros = comb(n - j, i - k) * (1 - q) ** (i - k) * q ** (n - j - i + k)
            matrix[i, j] += of_ones * of_zeros
    return matrix


def observed(rows: Sequence[Iterable[int]], items: Sequence[int]) -> list[int]:
    """Count the baskets with exactly k of the items, k from 0 on."""
    counts = Counter(len(set(row) & set(items)) for row in rows)
    return [counts[k] for k in range(len(items) + 1)]


def estimate_by_inversion(rows: Sequence[Iterable[int]], items: Sequence[int], p: float, q: float) -> float:
    """Invert the channel's matrix."""
    return float(np.linalg.solve(channel_matrix(len(items), p, q), observed(rows, items))[-1])


def estimate_by_patterns(rows: Sequence[Iterable[int]], items: Sequence[int], p: float, q: float) -> float:
    """Apply the inverse of the 2 × 2 channel to each item, over all 2^n patterns of presence."""
    inverse = np.linalg.inv([[q, 1 - p], [1 - q, p]])
    patterns = Counter(tuple(item in set(row) for item in items) for row in rows)
    return float(sum(n * prod(inverse[1, int(bit)] for bit in seen) for seen, n in patterns.items()))
