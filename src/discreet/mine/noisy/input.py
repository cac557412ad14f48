"""Learning from columns: rows of any kind become one array per column, as scikit-learn's estimators take them."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from discreet.core.arrays import CodeArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.validation import matrix_of, validated

Columns = list[np.ndarray[Any, Any]]


def feature_columns(estimator: Any, X: Any, *, reset: bool) -> tuple[Columns, list[str]]:
    """Return the columns of numbers or categories, and their names; remember or compare what was fitted."""
    frame = _frame_of_columns(X)
    if frame is None:
        numbers = matrix_of(estimator, X, reset=reset, advice="pass a frame where columns hold categories")
        names = getattr(estimator, "feature_names_in_", None)
        labels = [str(number) for number in range(numbers.shape[1])] if names is None else list(names)
        return list(numbers.T), labels
    if reset:
        estimator.feature_names_in_ = np.array(frame.columns, dtype=object)
        estimator.n_features_in_ = len(frame.columns)
    else:
        _require_the_same(list(getattr(estimator, "feature_names_in_", [])), frame.columns)
    if not len(frame) or not frame.columns:
        raise InputError("There is nothing to learn from: the frame has no rows or no columns.")
    return [_array(frame.get_column(name)) for name in frame.columns], list(frame.columns)


def classes_of(y: Any, columns: Columns) -> tuple[np.ndarray[Any, Any], CodeArray]:
    """Return the classes in order, and the number of each row's."""
    if y is None:
        raise SchemaError("The fit requires y to be passed, but the target y is None.")
    series = nw.from_native(y, series_only=True, pass_through=True)
    target = series.to_numpy() if isinstance(series, nw.Series) else y
    labels = validated(column_or_1d, target, warn=True)
    missing = (
        # NaN alone differs from itself.
        sum(label is None or label != label for label in labels.tolist()) if labels.dtype.kind == "O" else 0
    )
    if missing:
        raise InputError(f"{missing} rows have no class; drop them first.")
    if labels.dtype.kind == "f":
        validated(assert_all_finite, labels, input_name="y")
    validated(check_consistent_length, columns[0], labels)
    validated(check_classification_targets, labels)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise InputError("The classes must be of one kind: all texts, or all numbers.") from None
    return classes, codes.astype(np.int32)


def _frame_of_columns(X: Any) -> nw.DataFrame[Any] | None:
    """Take a frame whose columns are read one by one: Arrow's, or one that holds something other than numbers."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    has_matrix = frame.implementation.is_pandas() or frame.implementation.is_polars()
    numbers = all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values())
    nulls = numbers and any(frame.get_column(name).null_count() for name in frame.columns)
    return None if has_matrix and numbers and not nulls else frame


def _require_the_same(fitted: list[str], present: list[str]) -> None:
    if fitted == present:
        return
    missing = [name for name in fitted if name not in present]
    if missing:
        raise SchemaError(f"The frame has no column '{missing[0]}', which the classifier was fitted to.")
    extra = [name for name in present if name not in fitted]
    if extra:
        raise SchemaError(f"The classifier was not fitted to column '{extra[0]}'.")
    raise SchemaError("The columns are not in the order in which the classifier was fitted to them.")


def _array(column: nw.Series[Any]) -> np.ndarray[Any, Any]:
    if column.null_count():
        raise InputError(
            f"{column.null_count()} values of column '{column.name}' are null; fill or drop them first."
        )
    if column.dtype.is_numeric():
        numbers = column.to_numpy().astype(np.float64)
        strange = int(numbers.size - np.isfinite(numbers).sum())
        if strange:
            raise InputError(
                f"{strange} values of column '{column.name}' are NaN or infinite; fill or drop them first."
            )
        return numbers
    objects = np.empty(len(column), dtype=object)
    objects[:] = column.to_list()
    return objects
