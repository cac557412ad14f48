"""Ragged rows: where the entries of chosen rows stand, and where these rows end when laid one behind the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def entries_of(indptr: Numbers, rows: Numbers, lengths: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """Return the new row pointers of some rows, and the places of their entries; of each so many of the first, if told.

    >>> bounds, places = entries_of(np.array([0, 2, 5, 6]), np.array([2, 0]))
    >>> bounds.tolist(), places.tolist()
    ([0, 1, 3], [5, 0, 1])
    """
    begin = indptr[:-1][rows]
    sizes = indptr[1:][rows] - begin if lengths is None else lengths
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    return bounds, np.arange(bounds[-1]) - np.repeat(bounds[:-1] - begin, sizes)
