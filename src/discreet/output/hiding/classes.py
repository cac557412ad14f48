"""Classes: supporters of sensitive rules that hold the same sensitive items and the same itemsets worth keeping."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import BoolArray
from discreet.core.baskets.baskets import Baskets
from discreet.mine import FoundItemsets


def memberships(baskets: Baskets, sets: FoundItemsets) -> BoolArray:
    """Return which itemsets each basket holds, a row per basket; items of both must have the same codes."""
    from discreet.kernels.hiding.containment import contained

    used, codes = np.unique(sets.codes, return_inverse=True)
    column = np.full(max(baskets.n_items, 1), -1, np.int32)
    column[used] = np.arange(used.size, dtype=np.int32)
    position = column[baskets.items]
    inside = position >= 0
    incidence = np.zeros((len(baskets), used.size), np.bool_)
    incidence[baskets.rows()[inside], position[inside]] = True
    return np.asarray(contained(incidence, sets.indptr, codes.astype(np.int32)))
