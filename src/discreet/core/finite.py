"""Finite numbers: arrays as people give them, read without a word about what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.errors import InputError


def array_of(given: Any, *, shown: str = "data") -> np.ndarray[Any, Any]:
    """Read a list or an array; what a mask hides is null, and rows of several lengths are refused.

    >>> array_of([[1, 2], [3]])
    Traceback (most recent call last):
    discreet.core.errors.InputError: The rows of 'data' are not of the same length.
    """
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        _refuse(int(np.ma.getmaskarray(given).sum()), f"values of '{shown}'", "drop or fill them first")
    try:
        return np.asarray(given)
    except ValueError:
        raise InputError(f"The rows of '{shown}' are not of the same length.") from None


def finite(values: np.ndarray[Any, Any], shown: str, *, then: str = "drop or fill them first") -> FloatArray:
    """Return numbers as floats of 64 bits; nulls, NaN and infinite ones are refused by their count.

    >>> finite(np.array([1.0, np.nan]), "values of 'age'")
    Traceback (most recent call last):
    discreet.core.errors.InputError: 1 values of 'age' are null, NaN or infinite; drop or fill them first.
    """
    numbers = values.astype(np.float64, copy=False)
    _refuse(int(numbers.size - np.isfinite(numbers).sum()), shown, then)
    return numbers


def _refuse(strange: int, shown: str, then: str) -> None:
    if strange:
        raise InputError(f"{strange} {shown} are null, NaN or infinite; {then}.")
