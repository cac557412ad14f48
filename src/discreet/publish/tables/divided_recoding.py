"""Divided recoding: Mondrian's groups, each published at the lowest levels of the trees that hold it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.guarantees import Guarantee
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.mondrian import MOST_COLUMNS, Mondrian
from discreet.publish.tables.recoding_rounds import Recoded


def partitioned(
    lattice: Lattice, guarantee: Guarantee, weights: Mapping[str, float] | None, *, cells: bool
) -> Recoded | None:
    """Return Mondrian's partition as a recoding, or None where it has none or leaves the limits of the lattice."""
    if len(lattice.names) > MOST_COLUMNS:
        return None
    try:
        segments, tuples = Mondrian(guarantee, weights=weights).partition(lattice.table)
    except InfeasibleError:
        return None
    group_of = np.empty(tuples.size, np.int32)
    group_of[tuples] = np.repeat(np.arange(segments.low.size, dtype=np.int32), segments.high - segments.low)
    levels = np.empty((segments.low.size, len(lattice.names)), np.int64)
    for column, tree in enumerate(lattice.trees):
        codes = segments.codes[:, column]
        low, high = np.minimum.reduceat(codes, segments.low), np.maximum.reduceat(codes, segments.low)
        level = np.maximum(tree.lowest_common(low, high)[0], lattice.bottom[column])
        above = level > lattice.top[column]
        if above.any() and not cells:
            return None
        levels[:, column] = np.where(above, tree.height, level)
    return Recoded(group_of, levels)
