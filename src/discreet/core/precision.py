"""Precision: with how many decimals a column's numbers are written, so that made-up ones look the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray

_MOST_DECIMALS = 12
_LARGEST_EXACT = 2.0**53


def decimals_of(values: NDArray[Any]) -> int | None:
    """Return the fewest decimals that write every number exactly; None where that takes more than twelve.

    NaN and infinite numbers do not count. The type matters: 28.1 in single precision has one decimal as well.

    >>> import numpy as np
    >>> decimals_of(np.array([28.1, 30.0])), decimals_of(np.array([3.0])), decimals_of(np.array([2 / 3]))
    (1, 0, None)
    """
    seen = np.unique(values[np.isfinite(values)])
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = seen.astype(np.float64) * 10.0**decimals
        if scaled.size and np.abs(scaled).max() >= _LARGEST_EXACT:
            return 0 if not decimals else None
        if (np.rint(scaled) / 10.0**decimals).astype(seen.dtype).tolist() == seen.tolist():
            return decimals
    return None


def rounded(values: FloatArray, decimals: int | None) -> FloatArray:
    """Round numbers to so many decimals; None leaves them as they are."""
    return values if decimals is None else np.round(values, decimals)
