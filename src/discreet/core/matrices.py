"""Matrices for scikit-learn's estimators: checked as scikit-learn does, without its words that show a cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.errors import SchemaError


def matrix_of(estimator: Any, X: Any, *, advice: str = "", **options: Any) -> FloatArray:
    """Return the rows as numbers, by ``validate_data``; an error of its own that holds a cell is said in other words.

    ``advice`` says what to give instead of cells that are no numbers.
    """
    from sklearn.utils.validation import validate_data

    try:
        return np.asarray(validate_data(estimator, X, dtype=np.float64, **options))
    except ValueError as error:
        failure = _discreet(error, advice)
    raise failure


def _discreet(error: ValueError, advice: str) -> ValueError:
    if "Complex data not supported" in str(error):
        return SchemaError("Complex data not supported.")
    if "could not convert" in str(error):
        return SchemaError(f"X holds cells that are no numbers{advice and '; '}{advice}.")
    return error
