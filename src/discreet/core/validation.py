"""Validation of what users give: arrays of finite numbers, covariance matrices, matrices for scikit-learn's estimators.

What is refused is named by its count and its kind, never by what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.errors import InputError, SchemaError

LEAST = 1e-9
"""Columns of variance 1 whose least variance in any direction is not above this count as having none there."""
_SYMMETRIC = 1e-9
_SAFE = re.compile(
    r"Input \w+ contains (NaN|infinity)|Found array with|X has \d+ features, but|Found input variables with|"
    r"(The )?[Ff]eature names|Sparse |.*[Ss]parse (matrix|data|array)|y should be a 1d array, got an array of shape|"
    r"Unknown label type: \w+\.|Expected a \d-dimensional container"
)
"""How scikit-learn's messages begin that hold no cell, but counts, shapes, types and names of columns."""


class WrongTypeError(SchemaError, TypeError):
    """Cells that no number can be made of, such as lists and mappings."""


def array_of(values: Any, *, shown: str = "data") -> np.ndarray[Any, Any]:
    """Read a list or an array; what a mask hides is null, and rows of several lengths are refused.

    >>> array_of([[1, 2], [3]])
    Traceback (most recent call last):
    discreet.core.errors.InputError: The rows of 'data' are not of the same length.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        refuse_not_finite(int(np.ma.getmaskarray(values).sum()), f"values of '{shown}'")
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError(f"The rows of '{shown}' are not of the same length.") from None


def finite(values: np.ndarray[Any, Any], shown: str, *, then: str = "drop or fill them first") -> FloatArray:
    """Return numbers as floats of 64 bits; nulls, NaN and infinite ones are refused by their count.

    >>> finite(np.array([1.0, np.nan]), "values of 'age'")
    Traceback (most recent call last):
    discreet.core.errors.InputError: 1 values of 'age' are null, NaN or infinite; drop or fill them first.
    """
    try:
        numbers = values.astype(np.float64, copy=False)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"Some {shown} are no numbers.") from None
    refuse_not_finite(int(numbers.size - np.isfinite(numbers).sum()), shown, then)
    return numbers


def matrix_of(estimator: Any, X: Any, *, advice: str = "", **options: Any) -> FloatArray:
    """Return the rows as numbers, by scikit-learn's ``validate_data``; its errors are reworded where they hold a cell.

    ``advice`` says what to give instead of cells that are no numbers.
    """
    from sklearn.utils.validation import validate_data

    return np.asarray(validated(validate_data, estimator, X, advice=advice, dtype=np.float64, **options))


def validated(check: Callable[..., Any], *args: Any, advice: str = "", **options: Any) -> Any:
    """Call one of scikit-learn's checks; what it raises becomes an error of ours that holds no cell."""
    try:
        return check(*args, **options)
    except (ValueError, TypeError) as error:
        if type(error).__name__ == "NotFittedError":
            raise
        failure = _reworded(error, advice)
    # Outside of the handler: the original, which may hold a cell, is not even the context.
    raise failure


def _reworded(error: Exception, advice: str) -> Exception:
    text = str(error)
    if _SAFE.match(text):
        return SchemaError(text)
    if "Unknown label type" in text:
        return SchemaError("Unknown label type: y must hold classes or numbers.")
    if "Complex data not supported" in text:
        return SchemaError("Complex data not supported.")
    if match := re.match(r"Expected 2D array, got (1D|scalar) array instead", text):
        return SchemaError(f"{match[0]}. Reshape your data to one row per record and one column per value.")
    if isinstance(error, TypeError):
        return WrongTypeError("A cell is no number: the argument must be a string or a real number.")
    return SchemaError(f"X holds cells that are no numbers{advice and '; '}{advice}.")


def refuse_not_finite(n: int, shown: str, then: str = "drop or fill them first") -> None:
    """Refuse values of which a number are null, NaN or infinite."""
    if n:
        raise InputError(f"{n} {shown} are null, NaN or infinite; {then}.")


def symmetric_matrix(values: Any) -> FloatArray | None:
    """Read a symmetric matrix of finite numbers; None where it is not one.

    >>> symmetric_matrix([[2, 1], [1, 3]]).tolist()
    [[2.0, 1.0], [1.0, 3.0]]
    >>> symmetric_matrix([[2e-12, 1e-12], [0, 3e-12]]) is None
    True
    """
    try:
        matrix = np.asarray(values)
    except ValueError:
        return None
    if matrix.dtype.kind not in "iuf" or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return None
    if not matrix.size or not np.isfinite(matrix).all():
        return None
    # Halves, since the sum of two large numbers may overflow.
    half = matrix.astype(np.float64) / 2
    if np.abs(half - half.T).max() > _SYMMETRIC * np.abs(half).max():
        return None
    return np.asarray(half + half.T)


def least_variance(covariance: FloatArray) -> float:
    """Return the least variance in any direction, once every column that varies is brought to variance 1.

    >>> least_variance(np.array([[4.0, 0.0], [0.0, 1e-30]]))
    1.0
    >>> least_variance(np.array([[1.0, 0.0], [0.0, 0.0]]))
    0.0
    """
    variances = np.diag(covariance)
    if (variances < 0).any():
        return float("-inf")
    spreads = np.sqrt(np.where(variances > 0, variances, 1.0))
    return float(np.linalg.eigvalsh(covariance / spreads / spreads[:, None])[0])
