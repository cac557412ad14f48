"""Drawing pseudo-records: steps along the directions of each record's group."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled


def stepped(mean: Any, directions: Any, scale: Any, groups: Any, steps: Any) -> Any:
    """Return each record's place: its group's mean, and a step along each direction, scaled back.

    The directions are the columns of a matrix for each group. There may be more of them than dimensions.
    """
    return _stepped(
        np.ascontiguousarray(mean),
        np.ascontiguousarray(directions),
        np.ascontiguousarray(scale),
        groups,
        np.ascontiguousarray(steps),
    )


# Multiply by the group's matrix of directions, one record at a time: O(n d m) for m directions, without a copy of it
# for each record.
@compiled
def _stepped(mean, directions, scale, groups, steps):
    n, m = steps.shape
    d = mean.shape[1]
    places = np.empty((n, d))
    for i in range(n):
        g = groups[i]
        for j in range(d):
            moved = 0.0
            for k in range(m):
                moved += directions[g, j, k] * steps[i, k]
            places[i, j] = mean[g, j] + scale[j] * moved
    return places
