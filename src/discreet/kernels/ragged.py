"""Ragged rows: their boundaries when stored one after the other, and the positions of the entries of chosen rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.int64]


def bounds(lengths: ArrayLike) -> Numbers:
    """Return where rows of these lengths begin and end: row i has the entries from ``bounds[i]`` to ``bounds[i + 1]``.

    >>> bounds([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), ends])


def entries_of(indptr: Numbers, rows: Numbers, lengths: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """Return the bounds of some rows, and the positions of their entries; with ``lengths``, only the first of each.

    >>> chosen, positions = entries_of(np.array([0, 2, 5, 6]), np.array([2, 0]))
    >>> chosen.tolist(), positions.tolist()
    ([0, 1, 3], [5, 0, 1])
    """
    begin = indptr[:-1][rows]
    sizes = indptr[1:][rows] - begin if lengths is None else lengths
    chosen = bounds(sizes)
    # Entry e of a chosen row lies at begin + (e - its bound): one arange, less what each row is shifted by.
    # No loop.
    return chosen, np.arange(chosen[-1]) - np.repeat(chosen[:-1] - begin, sizes)
