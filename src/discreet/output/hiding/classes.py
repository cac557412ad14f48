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
    place = column[baskets.items]
    wanted = place >= 0
    held = np.zeros((len(baskets), used.size), np.bool_)
    held[baskets.rows()[wanted], place[wanted]] = True
    return np.asarray(contained(held, sets.indptr, codes.astype(np.int32)))
