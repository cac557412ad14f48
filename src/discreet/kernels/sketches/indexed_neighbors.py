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
    found = np.full((n_queries, k), -1, np.int32)
    keys = np.full((n_queries, k), -np.inf)
    for first in range(0, n, _ROWS):
        index = _index(indptr, items, values, n_items, first, min(first + _ROWS, n))
        block = (index, squares[first : first + _ROWS], first)
        in_threads(
            lambda start, stop, block=block: _search(  # type: ignore[misc]
                queries[0], queries[1], queries[2], block, same, signed, found, keys, start, stop
            ),
            n_queries,
        )
    return found, keys


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


@compiled
def _index(indptr, items, values, n_items, first, last):
    """Return, for every item, the rows of a block that hold it and their values."""
    begin = np.zeros(n_items + 1, np.int64)
    for entry in range(indptr[first], indptr[last]):
        begin[items[entry] + 1] += 1
    for item in range(n_items):
        begin[item + 1] += begin[item]
    place = begin[:-1].copy()
    rows = np.empty(begin[n_items], np.uint16)
    held = np.empty(begin[n_items])
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            item = items[entry]
            rows[place[item]] = row - first
            held[place[item]] = values[entry]
            place[item] += 1
    return begin, rows, held


@compiled
def _search(indptr, items, values, block, same, signed, found, keys, start, stop):
    (begin, rows, held), squares, first = block
    n, last = squares.size, keys.shape[1] - 1
    dots, key = np.zeros(n), np.empty(_LANES)
    for query in range(start, stop):
        for entry in range(indptr[query], indptr[query + 1]):
            item, value = items[entry], values[entry]
            for place in range(begin[item], begin[item + 1]):
                dots[rows[place]] += value * held[place]
        own = query - first if same else -1
        tau = keys[query, last]
        for low in range(0, n, _LANES):
            high = min(low + _LANES, n)
            bound = (tau - _ROUNDING * abs(tau)) if tau > -np.inf else -1e300
            near = False
            for row in range(low, high):
                key[row - low] = dots[row] * abs(dots[row])
                near |= key[row - low] >= bound * squares[row]
                dots[row] = 0.0
            if not near:
                continue
            for row in range(low, high):
                dot = key[row - low]
                if row == own or not (signed or dot > 0):
                    continue
                exact = dot / squares[row] if squares[row] > 0 else 0.0
                if (
                    exact > tau
                    or (exact == tau and row + first < found[query, last])
                    or found[query, last] < 0
                ):
                    keep(keys[query], found[query], exact, row + first)
                    tau = keys[query, last]
