"""The k nearest neighbors of sparse rows by cosine: exact, or exact inside partitions of like rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.ragged import entries_of
from discreet.kernels.sketches.indexed_neighbors import nearest_rows, squared_lengths
from discreet.kernels.sketches.row_partitions import similar_rows
from discreet.kernels.sketches.sliced_neighbors import bytes_of_blocks, nearest_sets

_MOST_BYTES = 512_000_000
"""Bit columns larger than this are not made; the rows are indexed instead."""


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
        squares: NDArray[np.float64] = squared_lengths(self.indptr, self.values)
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


def nearest(corpus: Compressed, k: int, *, queries: Compressed | None = None) -> Neighbors:
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
        return nearest(rows, k), 1
    neighbors = np.empty((rows.n, k), np.int32)
    cosines = np.empty((rows.n, k))
    for part in similar_rows(rows.indptr, rows.items, rows.weights(), rows.n_items, n_parts):
        inside = nearest(rows.take(part), k)
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
