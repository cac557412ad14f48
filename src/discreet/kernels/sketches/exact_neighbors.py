"""The k nearest neighbors of sparse rows by cosine: exact, or exact inside partitions of like rows.

Sets small enough for bit columns are compared by those. Dot products of other rows are added up from an inverted index;
only one block of the corpus is indexed at a time, so that the memory does not grow with the number of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.ragged import entries_of
from discreet.kernels.sketches.row_partitions import similar_rows
from discreet.kernels.sketches.sliced_neighbors import bytes_of_blocks, keep, nearest_sets
from discreet.kernels.threads import in_threads

_MOST_BYTES = 512_000_000
"""Bit columns larger than this are not made; the rows are indexed instead."""
_ROWS = 8192
_LANES = 64
# The product with a bound and the quotient round differently; without this slack a tie could be missed.
_ROUNDING = 1e-12


class Compressed(NamedTuple):
    """Sparse rows in compressed form, each item once in a row; without values every item counts 1."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float64] | None
    n_items: int

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.indptr.size - 1)

    def weights(self) -> NDArray[np.float64]:
        """Return the value of every entry."""
        return np.ones(self.items.size) if self.values is None else self.values

    def squares(self) -> NDArray[np.float64]:
        """Return the squared length of every row."""
        if self.values is None:
            return np.diff(self.indptr).astype(np.float64)
        squares: NDArray[np.float64] = sketch_lengths(self.indptr, self.values)
        return squares

    def take(self, rows: NDArray[np.int64]) -> Compressed:
        """Keep some rows, in the given order."""
        indptr, positions = entries_of(self.indptr, rows)
        values = None if self.values is None else self.values[positions]
        return Compressed(indptr, self.items[positions], values, self.n_items)


class Neighbors(NamedTuple):
    """The nearest rows of every query, the nearest first, and their cosines."""

    rows: NDArray[np.int32]
    cosines: NDArray[np.float64]


def nearest_exactly(corpus: Compressed, k: int, *, queries: Compressed | None = None) -> Neighbors:
    """Find the k nearest rows by cosine: of other rows, or of every row among the others; k is less than their number.

    Rows that are equally near come in the order of their numbers; a row of zeros has the cosine 0 with all.
    """
    same = queries is None
    searched = corpus if queries is None else queries
    signed = any(rows.values is not None and bool((rows.values < 0).any()) for rows in (corpus, searched))
    sets = corpus.values is None and searched.values is None
    if sets and bytes_of_blocks(corpus.n, corpus.n_items) <= _MOST_BYTES:
        sides = [(side.indptr, side.items, side.n_items) for side in (corpus, searched)]
        neighbors, keys = nearest_sets(sides[0], sides[1], k, same=same)
    else:
        full = [(side.indptr, side.items, side.weights(), side.n_items) for side in (corpus, searched)]
        neighbors, keys = nearest_rows(full[0], full[1], k, same=same, signed=signed)
    if not signed:
        _fill(neighbors, keys, corpus.n, same)
    squares = searched.squares()[:, None]
    ratio = np.divide(keys, squares, out=np.zeros_like(keys), where=squares > 0)
    return Neighbors(neighbors, np.clip(np.sign(ratio) * np.sqrt(np.abs(ratio)), -1.0, 1.0))


def nearest_inside(rows: Compressed, k: int, most: int) -> tuple[Neighbors, int]:
    """Cut rows into partitions of similar rows, at most ``most`` in each, and find the neighbors inside each.

    Returns the neighbors and the number of partitions; with one partition the neighbors are exact. A partition has
    more than k rows in any case.
    """
    n_parts = max(1, min(-(-rows.n // most), rows.n // (k + 1)))
    if n_parts == 1:
        return nearest_exactly(rows, k), 1
    neighbors = np.empty((rows.n, k), np.int32)
    cosines = np.empty((rows.n, k))
    for part in similar_rows(rows.indptr, rows.items, rows.weights(), rows.n_items, n_parts):
        inside = nearest_exactly(rows.take(part), k)
        neighbors[part] = part[inside.rows]
        cosines[part] = inside.cosines
    return Neighbors(neighbors, cosines), n_parts


# Rows without a common item all have the cosine 0, so ties by number decide. Those taken here ascend and
# cannot repeat; only the ones with a common item are looked up. O(k squared) per query.
@compiled
def _fill(neighbors, keys, n, same):
    """Fill up with the rows that share nothing with the query, the lowest numbers first."""
    k = neighbors.shape[1]
    for query in range(neighbors.shape[0]):
        count = 0
        while count < k and neighbors[query, count] >= 0:
            count += 1
        row = 0
        n_sharing = count
        while count < k and row < n:
            is_neighbor = same and row == query
            for rank in range(n_sharing):
                is_neighbor |= neighbors[query, rank] == row
            if not is_neighbor:
                neighbors[query, count] = row
                keys[query, count] = 0.0
                count += 1
            row += 1


def nearest_rows(corpus: Any, queries: Any, k: int, *, same: bool, signed: bool) -> tuple[Any, Any]:
    """Find the k rows nearest to every query; return their numbers and the keys they are ordered by.

    ``corpus`` and ``queries`` are (indptr, items, values, n_items); the key of a row is its dot product with the query,
    squared, with its sign, over its squared length. ``same`` says that both are the same rows, so that none is its own
    neighbor. Where rows are equally near, the one with the lower number goes first. Where no value is negative
    (``signed`` is false), rows that share no item with the query are left out, and what is missing is -1.
    """
    indptr, items, values, n_items = corpus
    n, n_queries = indptr.size - 1, queries[0].size - 1
    squares = sketch_lengths(indptr, values)
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


def sketch_lengths(indptr: Any, values: Any) -> Any:
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
