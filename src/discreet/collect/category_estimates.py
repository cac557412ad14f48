"""Shares: what reconstruction finds of categories, and how reports are read as categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError


@public
@dataclass(frozen=True, repr=False, eq=False)
class Shares:
    """The shares of categories as reconstruction finds them, with their standard errors."""

    categories: tuple[Any, ...]
    shares: FloatArray
    standard_errors: FloatArray
    n: int
    converged: bool = True

    def __repr__(self) -> str:
        return f"Shares({len(self.categories)} categories, from {self.n} reports)"


class Categories:
    """Two or more categories, each named once and none of them None."""

    def admits(self, value: object) -> bool:
        """Return whether the value is such a sequence."""
        if not isinstance(value, Sequence) or len(value) < 2:
            return False
        try:
            return len(set(value)) == len(value) and all(category is not None for category in value)
        except TypeError:
            return False

    def __str__(self) -> str:
        return "two or more categories, each named once"


CATEGORIES = Categories()


def codes_of(values: Any, categories: Sequence[Any], *, column: str = "data") -> IntArray:
    """Return the place of every value among the categories; errors call the values by a name."""
    try:
        array = arrow_values(values)
        # Nulls alone have no type that can be looked up; cast, they are counted and refused like others.
        if pa.types.is_null(array.type):
            array = array.cast(pa.array(list(categories)).type)
        codes = pc.index_in(array, value_set=_value_set(categories, array.type))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InputError(f"The values of '{column}' are not of the categories' type.") from None
    if codes.null_count:
        raise InputError(
            f"{codes.null_count} values of '{column}' are null or none of the {len(categories)} categories."
        )
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)


def labeled(codes: IntArray, categories: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return the categories in the places of their codes, in an array of their own type."""
    same = len({type(category) for category in categories}) == 1
    labels = np.array(categories) if same else np.empty(len(categories), object)
    if not same or labels.ndim != 1:
        labels = np.empty(len(categories), object)
        labels[:] = categories
    return labels[codes]


def arrow_values(values: Any) -> pa.Array:
    """Return a list, an array or a column of any frame as an Arrow array, dictionaries decoded."""
    if hasattr(values, "to_arrow"):
        values = values.to_arrow()
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def _value_set(categories: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """Return the categories in the values' own type; a fraction is no whole number, which Arrow would make of it."""
    if pa.types.is_integer(type_) and any(category != int(category) for category in categories):
        raise ValueError
    return pa.array(list(categories), type_)
