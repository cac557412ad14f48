"""Drawing pseudo-records: steps along the eigenvectors of each record's group."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.kernels.compiled import compiled


def stepped(mean: Any, vectors: Any, widths: Any, scale: Any, groups: Any, steps: Any) -> Any:
    """Return each record's place: its group's mean, and a step along each eigenvector, scaled back."""
    return _stepped(
        np.ascontiguousarray(mean),
        np.ascontiguousarray(vectors),
        np.ascontiguousarray(widths),
        np.ascontiguousarray(scale),
        groups,
        steps,
    )


# Multiply by the group's matrix of eigenvectors, one record at a time: O(n d^2), without a copy of it for
# each record.
@compiled
def _stepped(mean, vectors, widths, scale, groups, steps):
    n, d = steps.shape
    places = np.empty((n, d))
    for i in range(n):
        g = groups[i]
        for j in range(d):
            moved = 0.0
            for k in range(d):
                moved += vectors[g, j, k] * (widths[g, k] * steps[i, k])
            places[i, j] = mean[g, j] + scale[j] * moved
    return places
