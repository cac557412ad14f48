"""Encoding: a column's values become integer codes once, at the door; code 0 is the null."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.errors import SchemaError

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy


class Kind(enum.Enum):
    """How a column's values relate to one another."""

    NUMBER = "number"
    DATE = "date"
    ORDERED = "ordered"
    CATEGORY = "category"


@dataclass(frozen=True, repr=False)
class Codebook:
    """One column's code book: the value of each code, and how often each code occurs in the table."""

    name: str
    kind: Kind
    type: pa.DataType
    values: pa.Array
    hierarchy: Hierarchy | None = None

    @property
    def n_codes(self) -> int:
        """The number of codes, the null's included."""
        return len(self.values) + 1

    @cached_property
    def positions(self) -> FloatArray:
        """Where each code lies on the column's line, scaled to [0, 1]; the null is not on it (NaN)."""
        if self.kind in (Kind.NUMBER, Kind.DATE) and self.hierarchy is None:
            line = as_line(self.values)
        else:
            line = np.arange(len(self.values), dtype=np.float64)
        span = line.max() - line.min() if line.size else 0.0
        scaled = (line - line.min()) / span if span > 0 else np.zeros(line.size)
        return np.concatenate([[np.nan], scaled])

    def encode(self, array: pa.Array) -> CodeArray:
        """Return the code of every value; the values are cleaned ones of this column."""
        if self.hierarchy is not None:
            return self.hierarchy.encode(array, column=self.name)
        codes = pc.index_in(array, value_set=self.values)
        return np.asarray(pc.fill_null(codes, -1).to_numpy(zero_copy_only=False), dtype=np.int32) + np.int32(
            1
        )

    def __repr__(self) -> str:
        return f"Codebook({self.name!r}, {self.kind.value}, {len(self.values)} values)"


def kind_of(type_: pa.DataType, column: str) -> Kind:
    """Return how a column of this type is generalized; nested and binary types cannot be."""
    if pa.types.is_boolean(type_) or pa.types.is_string(type_) or pa.types.is_null(type_):
        return Kind.CATEGORY
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return Kind.NUMBER
    if pa.types.is_temporal(type_) and not pa.types.is_interval(type_):
        return Kind.DATE
    raise SchemaError(
        f"Column '{column}' has the type {type_}, which has no order and no categories; make it text."
    )


def cleaned(array: pa.Array | pa.ChunkedArray, column: str) -> pa.Array:
    """Bring a column into one plain chunk: dictionaries decoded, one type of text, NaN as null, no infinity."""
    array = combined(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string()) if array.nbytes < 2**31 else array.cast(pa.large_string())
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_floating(array.type):
        array = pc.add(
            pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array), pa.scalar(0.0, array.type)
        )
        infinite = pc.sum(pc.is_inf(array)).as_py() or 0
        if infinite:
            raise SchemaError(
                f"Column '{column}' holds infinite values ({infinite} rows); clean or drop them first."
            )
    return array


def spell(array: pa.Array | pa.ChunkedArray, column: str) -> tuple[pa.Array, CodeArray]:
    """Return a column's distinct values, cleaned, and the place of each row's value among them."""
    if isinstance(array, pa.ChunkedArray) and pa.types.is_dictionary(array.type):
        array = array.unify_dictionaries()
    array = combined(array)
    if not pa.types.is_dictionary(array.type):
        array = cleaned(array, column)
        kind_of(array.type, column)
        array = array.dictionary_encode()
    values = cleaned(array.dictionary, column)
    places = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False).astype(np.int32) + np.int32(1)
    used = np.bincount(places, minlength=len(values) + 1) > 0
    values = pa.concat_arrays([pa.nulls(1, values.type), values]).filter(pa.array(used))
    return values, (np.cumsum(used, dtype=np.int32) - np.int32(1))[places]


def combined(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Bring a column into one chunk."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def domain_of(array: pa.Array) -> pa.Array:
    """Return the distinct values of a cleaned column, ascending, without the null."""
    values = pc.drop_null(pc.unique(array))
    return values.take(pc.sort_indices(values))


def in_order(domain: pa.Array, ordered: Sequence[object], column: str) -> pa.Array:
    """Put a column's values in the user's order, which must name every one of them once."""
    try:
        given = pa.array(list(ordered), type=domain.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise SchemaError(
            f"The order given for column '{column}' is not of the column's type ({domain.type})."
        ) from None
    if len(pc.unique(given)) < len(given):
        raise SchemaError(f"The order given for column '{column}' names a value twice.")
    uncovered = len(domain) - (pc.sum(pc.is_in(domain, value_set=given)).as_py() or 0)
    if uncovered:
        raise SchemaError(f"The order given for column '{column}' leaves out {uncovered} of its values.")
    return given


def as_line(values: pa.Array) -> FloatArray:
    """Return numbers or dates as floats, for distances between them."""
    if pa.types.is_temporal(values.type):
        if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
            values = values.cast(pa.int32())
        else:
            values = values.cast(pa.int64())
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def overall(codes: CodeArray, counts: IntArray, n_codes: int) -> IntArray:
    """Count each code of a column in the whole table."""
    return np.bincount(codes, weights=counts, minlength=n_codes).astype(np.int64)
