"""Encoding: a column's values become integer codes once, when a frame is read; code 0 is the null."""

from __future__ import annotations

import enum
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.hierarchy.bound import Hierarchy, safely_cast

# January 1 of the year 1 and December 31 of the year 9999, in days from the beginning of 1970.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_AT_ONCE = 1 << 20
"""How many codes are counted at a time; counting takes many times their memory."""
_KNOWN_EXTENSIONS = ("arrow.bool8", "arrow.json", "arrow.uuid")
_BYTES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
    pa.types.is_binary_view,
)


class ColumnType(enum.Enum):
    """How a column's values relate to one another."""

    NUMBER = "number"
    DATE = "date"
    ORDERED = "ordered"
    CATEGORY = "category"


@dataclass(frozen=True, repr=False)
class Codebook:
    """One column's code book: the value of each code, and how often each code occurs in the table."""

    name: str
    kind: ColumnType
    type: pa.DataType
    values: pa.Array
    hierarchy: Hierarchy | None = None
    retyped: bool = False
    """Whether the frame holds the values in another type."""
    coarse: CodeArray | None = None
    """The code that stands for each code where values are told apart at a level only."""

    @property
    def n_codes(self) -> int:
        """The number of codes, the null's included."""
        return len(self.values) + 1

    @cached_property
    def positions(self) -> FloatArray:
        """Where each code lies on the column's line, scaled to [0, 1]; the null is not on it (NaN)."""
        if self.kind in (ColumnType.NUMBER, ColumnType.DATE) and self.hierarchy is None:
            line = as_line(self.values)
        else:
            line = np.arange(len(self.values), dtype=np.float64)
        span = line.max() - line.min() if line.size else 0.0
        scaled = (line - line.min()) / span if span > 0 else np.zeros(line.size)
        return np.concatenate([[np.nan], scaled])

    def encode(self, array: pa.Array) -> CodeArray:
        """Return the code of every value; the values are cleaned ones of this column."""
        codes = self._codes(array)
        return codes if self.coarse is None else self.coarse[codes]

    def _codes(self, array: pa.Array) -> CodeArray:
        if self.hierarchy is not None:
            return self.hierarchy.encode(array, column=self.name)
        fitting = array if array.type == self.values.type else safely_cast(array, self.values.type)
        codes = pc.index_in(array if fitting is None else fitting, value_set=self.values)
        return np.asarray(pc.fill_null(codes, -1).to_numpy(zero_copy_only=False), dtype=np.int32) + np.int32(
            1
        )

    def __repr__(self) -> str:
        return f"Codebook({self.name!r}, {self.kind.value}, {len(self.values)} values)"


def column_type(type_: pa.DataType, column: str) -> ColumnType:
    """Return how a column of this type is generalized; nested and binary types cannot be."""
    texts = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    if texts or pa.types.is_boolean(type_) or pa.types.is_null(type_):
        return ColumnType.CATEGORY
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return ColumnType.NUMBER
    if pa.types.is_temporal(type_) and not pa.types.is_interval(type_):
        return ColumnType.DATE
    raise SchemaError(
        f"Column '{column}' has the type {type_name(type_)}, which has no order and no categories; make it text."
    )


def type_name(type_: object) -> str:
    """Return the name of an Arrow, NumPy or Narwhals type for a message, without what it is made of.

    The fields of a struct and the categories of an enumeration may be data.

    >>> type_name(pa.struct([("Ann", pa.int64())])), type_name(pa.timestamp("us")), type_name(np.dtype("f8"))
    ('struct', 'timestamp', 'float64')
    """
    word = re.match(r"\w+", str(type_))
    return type(type_).__name__ if word is None else word[0]


def refuse_unpublishable(type_: pa.DataType, column: str) -> None:
    """Refuse what is neither judged nor published: nested values, bytes, and extensions whose meaning is not known."""
    wrapped = pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_)
    inner = type_.value_type if wrapped else type_
    if isinstance(inner, pa.BaseExtensionType):
        unknown = inner.extension_name not in _KNOWN_EXTENSIONS
    else:
        unknown = pa.types.is_nested(inner) or any(is_one(inner) for is_one in _BYTES)
    if unknown:
        raise unpublishable(column)


def require_flat(rows: pa.Table) -> pa.Table:
    """Return a table; one with a column of nested values or bytes is refused."""
    for field in rows.schema:
        refuse_unpublishable(field.type, field.name)
    return rows


def unpublishable(column: str) -> SchemaError:
    """Return the one error for columns that hold neither texts nor numbers nor dates; it names no type and no value.

    The type of nested values has names of fields, which may be data.
    """
    return SchemaError(
        f"Column '{column}' holds nested values or bytes, which are neither judged nor published: drop it as an "
        "identifier, or make it text first.",
        fix={"identifier": column},
    )


def cleaned(array: pa.Array | pa.ChunkedArray, column: str) -> pa.Array:
    """Bring a column into one plain chunk of what can be judged: no dictionary, one type of text, NaN as null.

    Infinite numbers and dates have no place among others and are refused.
    """
    array = whole_array(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    array = _in_one_type(array)
    _refuse_infinite(array, column)
    return array


def _in_one_type(array: pa.Array) -> pa.Array:
    """Bring values of types that say the same into one type, and floats into one form of zero and of nothing."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        array = _stored(array)
    elif pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        array = array.cast(pa.string()) if array.nbytes < 2**31 else array.cast(pa.large_string())
    elif pa.types.is_null(kind):
        array = array.cast(pa.string())
    elif pa.types.is_float16(kind):
        array = array.cast(pa.float32())
    elif pa.types.is_date64(kind):
        array = array.cast(pa.date32(), safe=False)
    return number_cleaned(decimal_of_128_bits(array))


def decimal_of_128_bits(array: pa.Array) -> pa.Array:
    """Turn decimals of other widths into those that every engine knows, where they fit; others stay as they are."""
    kind = array.type
    if not pa.types.is_decimal(kind) or pa.types.is_decimal128(kind):
        return array
    try:
        return array.cast(pa.decimal128(min(kind.precision, 38), kind.scale))
    except (pa.ArrowInvalid, ValueError):
        return array


def number_cleaned(array: pa.Array) -> pa.Array:
    """Turn the NaN of floats into null and -0.0 into 0.0; other arrays stay as they are."""
    kind = array.type
    if not pa.types.is_floating(kind):
        return array
    if pa.types.is_float16(kind):
        return number_cleaned(array.cast(pa.float32())).cast(kind)
    return pc.add(pc.if_else(pc.is_nan(array), pa.scalar(None, kind), array), pa.scalar(0.0, kind))


def _stored(array: pa.ExtensionArray) -> pa.Array:
    """Return what an extension array holds, where its meaning is plain."""
    name, storage = array.type.extension_name, array.storage
    if name == "arrow.json":
        return storage.cast(pa.string())
    if name == "arrow.bool8":
        return storage.cast(pa.bool_())
    if name == "arrow.uuid":
        return pa.array(
            [
                None if identifier is None else str(uuid.UUID(bytes=identifier))
                for identifier in storage.to_pylist()
            ]
        )
    return array


def _refuse_infinite(array: pa.Array, column: str) -> None:
    """Refuse infinite numbers, and dates that are the end of time or have no year from 1 to 9999."""
    kind = array.type
    if pa.types.is_floating(kind):
        infinite, what = pc.is_inf(array), "infinite values"
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        low, high = _calendar(kind)
        moments = array.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
        infinite = pc.or_(pc.less(moments, low), pc.greater(moments, high))
        what = "dates that are infinite or outside the years 1 to 9999"
    else:
        return
    count = int(pc.sum(infinite).as_py() or 0)
    if count:
        raise SchemaError(f"Column '{column}' holds {what} ({count} rows); clean or drop them first.")


def _calendar(kind: pa.DataType) -> tuple[int, int]:
    """Return the first and the last moment of the years 1 to 9999, as far as the type reaches."""
    unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit] if pa.types.is_timestamp(kind) else 0
    bits = 31 if pa.types.is_date32(kind) else 63
    ends = (
        (_FIRST_DAY, _LAST_DAY)
        if not unit
        else (_FIRST_DAY * 86_400 * unit, (_LAST_DAY + 1) * 86_400 * unit - 1)
    )
    # The outermost numbers of a type are infinite dates in engines such as DuckDB.
    return max(ends[0], 1 - 2**bits + 1), min(ends[1], 2**bits - 2)


def value_codes(
    array: pa.Array | pa.ChunkedArray, column: str, *, judged: bool = True
) -> tuple[pa.Array, CodeArray]:
    """Return a column's distinct values, cleaned, and the place of each row's value among them.

    What is not judged may be of any type and infinite.
    """
    array = whole_array(array)
    if not pa.types.is_dictionary(array.type):
        array = cleaned(array, column) if judged else _in_one_type(array)
        if judged:
            column_type(array.type, column)
        array = array.dictionary_encode()
        # Every value of a dictionary made here occurs, so that none needs to be looked for.
        places = np.asarray(array.indices.fill_null(-1))
        if not array.indices.null_count:
            return array.dictionary, places
        return pa.concat_arrays([pa.nulls(1, array.type.value_type), array.dictionary]), places + np.int32(1)
    values = cleaned(array.dictionary, column) if judged else _in_one_type(array.dictionary)
    if judged:
        column_type(values.type, column)
    indices = array.indices.cast(pa.int32())
    if not indices.null_count and np.bincount(np.asarray(indices), minlength=len(values)).all():
        return values, np.asarray(indices)
    places = pc.fill_null(indices, -1).to_numpy(zero_copy_only=False).astype(np.int32) + np.int32(1)
    # A dictionary keeps values that no row has any more.
    used = np.bincount(places, minlength=len(values) + 1) > 0
    values = pa.concat_arrays([pa.nulls(1, values.type), values]).filter(pa.array(used))
    return values, (np.cumsum(used, dtype=np.int32) - np.int32(1))[places]


def whole_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Bring a column into one chunk; dictionaries of several chunks become one, and runs are written out."""
    if isinstance(array, pa.ChunkedArray) and pa.types.is_dictionary(array.type):
        array = array.unify_dictionaries()
    array = combined(array)
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    return array


def combined(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Bring a column into one chunk."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def sorted_domain(array: pa.Array) -> pa.Array:
    """Return the distinct values of a cleaned column, ascending, without the null."""
    values = pc.drop_null(pc.unique(array))
    return values.take(pc.sort_indices(values))


def in_stated_order(domain: pa.Array, ordered: Sequence[object], column: str) -> pa.Array:
    """Put a column's values in the user's order, which must name every one of them once."""
    try:
        order = pa.array(list(ordered), type=domain.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise SchemaError(
            f"The order given for column '{column}' is not of the column's type ({type_name(domain.type)})."
        ) from None
    if len(pc.unique(order)) < len(order):
        raise SchemaError(f"The order given for column '{column}' names a value twice.")
    uncovered = len(domain) - (pc.sum(pc.is_in(domain, value_set=order)).as_py() or 0)
    if uncovered:
        raise SchemaError(f"The order given for column '{column}' leaves out {uncovered} of its values.")
    return order


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
    total = np.zeros(n_codes, np.int64)
    for start in range(0, len(codes), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        # Weights are added up as floats, which is exact up to 2^53 rows.
        total += np.bincount(codes[part], weights=counts[part], minlength=n_codes).astype(np.int64)
    return total
