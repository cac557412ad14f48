"""Exact nearest neighbors of sparse rows by cosine: dot products added up from an inverted index, block by block.

Only one block of the corpus is indexed at a time, so that the memory does not grow with the number of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled
from discreet.kernels.sketches.sliced_neighbors import keep
from discreet.kernels.threads import in_threads

_ROWS = 8192
_LANES = 64
# The product with a bound and the quotient round differently; without this slack a tie could be missed.
_ROUNDING = 1e-12


def nearest_rows(corpus: Any, queries: Any, k: int, *, same: bool, signed: bool) -> tuple[Any, Any]:
    """Find the k rows nearest to every query; return their numbers and the keys they are ordered by.

    ``corpus`` and ``queries`` are (indptr, items, values, n_items); the key of a row is its dot product with the query,
    squared, with its sign, over its squared length. ``same`` says that both are the same rows, so that none is its own
    neighbor. Where rows are equally near, the one with the lower number goes first. Where no value is negative
    (``signed`` is false), rows that share no item with the query are left out, and what is missing is -1.
    """
    indptr, items, values, n_items = corpus
    n, n_queries = indptr.size - 1, queries[0].size - 1
    squares = squared_lengths(indptr, values)
    neighbors = np.full((n_queries, k), -1, np.int32)
    keys = np.full((n_queries, k), -np.inf)
    for first in range(0, n, _ROWS):
        index = _index(indptr, items, values, n_items, first, min(first + _ROWS, n))
        block = (index, squares[first : first + _ROWS], first)
        in_threads(
            lambda start, stop, block=block: _search(  # type: ignore[misc]
                queries[0], queries[1], queries[2], block, same, signed, neighbors, keys, start, stop
            ),
            n_queries,
        )
    return neighbors, keys


def squared_lengths(indptr: Any, values: Any) -> Any:
    """Return the squared length of every row."""
    return _squared_lengths(indptr, values)


@compiled
def _squared_lengths(indptr, values):
    squares = np.zeros(indptr.size - 1)
    for row in range(squares.size):
        for entry in range(indptr[row], indptr[row + 1]):
            squares[row] += values[entry] * values[entry]
    return squares


# A counting sort of the block's entries by item: O(entries + items). Row numbers within a block fit 16 bits,
# which keeps the lists short that every query reads.
@compiled
def _index(indptr, items, values, n_items, first, last):
    """Return, for every item, the rows of a block that hold it and their values."""
    begin = np.zeros(n_items + 1, np.int64)
    for entry in range(indptr[first], indptr[last]):
        begin[items[entry] + 1] += 1
    for item in range(n_items):
        begin[item + 1] += begin[item]
    position = begin[:-1].copy()
    rows = np.empty(begin[n_items], np.uint16)
    weights = np.empty(begin[n_items])
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            item = items[entry]
            rows[position[item]] = row - first
            weights[position[item]] = values[entry]
            position[item] += 1
    return begin, rows, weights


# Score accumulation over inverted lists ("term at a time" in information retrieval): a query costs the
# lengths of the lists of its items, and one pass over the block. ``tau`` is the k-th best key so far and
# only rises, so that a bound taken from it earlier never drops a row that belongs.
@compiled
def _search(indptr, items, values, block, same, signed, neighbors, keys, start, stop):
    (begin, rows, weights), squares, first = block
    n, last = squares.size, keys.shape[1] - 1
    dots, key = np.zeros(n), np.empty(_LANES)
    for query in range(start, stop):
        for entry in range(indptr[query], indptr[query + 1]):
            item, value = items[entry], values[entry]
            for position in range(begin[item], begin[item + 1]):
                dots[rows[position]] += value * weights[position]
        query_row = query - first if same else -1
        tau = keys[query, last]
        for low in range(0, n, _LANES):
            high = min(low + _LANES, n)
            # A finite start: -inf times a row of length 0 is NaN, which would hide the row.
            bound = (tau - _ROUNDING * abs(tau)) if tau > -np.inf else -1e300
            near = False
            for row in range(low, high):
                key[row - low] = dots[row] * abs(dots[row])
                # 64 rows are tested by products in one vectorized loop; divisions follow only where one may
                # be near.
                near |= key[row - low] >= bound * squares[row]
                dots[row] = 0.0
            if not near:
                continue
            for row in range(low, high):
                dot = key[row - low]
                if row == query_row or not (signed or dot > 0):
                    continue
                exact = dot / squares[row] if squares[row] > 0 else 0.0
                if (
                    exact > tau
                    or (exact == tau and row + first < neighbors[query, last])
                    or neighbors[query, last] < 0
                ):
                    keep(keys[query], neighbors[query], exact, row + first)
                    tau = keys[query, last]
