"""Precision: with how many decimals a column's numbers are written, so that made-up ones look the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray

_MOST_DECIMALS = 12
_LARGEST_EXACT = 2.0**53
_SAMPLE = 1_000


def decimals_of(values: NDArray[Any]) -> int | None:
    """Return the fewest decimals that write every number exactly; None where that takes more than twelve.

    NaN and infinite numbers do not count. The type matters: 28.1 in single precision has one decimal as well.

    >>> import numpy as np
    >>> decimals_of(np.array([28.1, 30.0])), decimals_of(np.array([3.0])), decimals_of(np.array([2 / 3]))
    (1, 0, None)
    """
    numbers = values[np.isfinite(values)]
    largest = float(np.abs(numbers).max(initial=0))
    if largest >= _LARGEST_EXACT:
        return 0
    # A number with more than twelve decimals is usually among the first ones; the others need not be tried then.
    at_least = _fewest(numbers[:_SAMPLE], largest, 0)
    return None if at_least is None else _fewest(numbers, largest, at_least)


def _fewest(numbers: NDArray[Any], largest: float, at_least: int) -> int | None:
    """Try one decimal after the other, on the numbers that the ones before did not write."""
    for decimals in range(at_least, _MOST_DECIMALS + 1):
        power = 10.0**decimals
        if largest * power >= _LARGEST_EXACT:
            return None
        numbers = numbers[
            (np.rint(numbers.astype(np.float64) * power) / power).astype(numbers.dtype) != numbers
        ]
        if not numbers.size:
            return decimals
    return None


def rounded(values: FloatArray, decimals: int | None) -> FloatArray:
    """Round numbers to a number of decimals; None leaves them as they are."""
    return values if decimals is None else np.round(values, decimals)
