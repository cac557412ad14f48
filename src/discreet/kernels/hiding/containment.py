"""Containment: which itemsets baskets hold."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled


# O(rows x items of all sets) at worst; a set is left at its first missing item.
@compiled
def contained(baskets, indptr, codes):
    """Return, for each row of truth values and each set of columns, whether the row is true in all of them."""
    n_rows, n_sets = baskets.shape[0], indptr.size - 1
    inside = np.empty((n_rows, n_sets), np.bool_)
    for row in range(n_rows):
        here = baskets[row]
        for number in range(n_sets):
            complete = True
            for entry in range(indptr[number], indptr[number + 1]):
                if not here[codes[entry]]:
                    complete = False
                    break
            inside[row, number] = complete
    return inside
