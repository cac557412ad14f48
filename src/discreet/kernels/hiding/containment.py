"""Containment: which itemsets baskets hold."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


@compiled
def contained(held, indptr, codes):
    """Return, for each row of truth values and each set of columns, whether the row is true in all of them."""
    n_rows, n_sets = held.shape[0], indptr.size - 1
    inside = np.empty((n_rows, n_sets), np.bool_)
    for row in range(n_rows):
        here = held[row]
        for number in range(n_sets):
            whole = True
            for place in range(indptr[number], indptr[number + 1]):
                if not here[codes[place]]:
                    whole = False
                    break
            inside[row, number] = whole
    return inside
