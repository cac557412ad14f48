"""Baskets in other forms: lists, long frames, one-hot frames and sparse matrices, each way there and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.baskets.names import (
    names_of,
    numbers_or_text,
    sorted_items,
    sorted_names,
    spoken,
    whole_or_text,
)
from discreet.core.boundary import admitted, in_memory, refuse_lazy
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import InstanceOf, require
from discreet.core.tables.encoding import combined, type_name

if TYPE_CHECKING:
    from discreet.core.baskets.baskets import Baskets

_MIXED = "The items mix types; make them all whole numbers or all text first."
_REPEATED = "The frame has several columns of the same name."


def from_lists(lists: Any) -> Baskets:
    """Make baskets of a column of lists, or of nested Python sequences."""
    column = _list_column(lists)
    if not isinstance(column, pa.Array):
        flat, lengths = _flattened(column)
    else:
        flat = combined(pc.list_flatten(column))
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return _of_rows(flat, np.asarray(lengths, np.int64))


def from_long(frame: Any, *, basket: str, item: str) -> Baskets:
    """Make baskets of a frame with one row per entry; the baskets stand in the order in which they appear."""
    columns = _columns(frame, [basket, item])
    ids = columns[basket]
    if pa.types.is_floating(ids.type):
        ids = pc.if_else(pc.is_nan(ids), pa.scalar(None, ids.type), ids)
    if ids.null_count:
        raise InputError(f"{ids.null_count} of the {len(ids)} rows have no basket (column '{basket}').")
    try:
        encoded = (ids.dictionary_decode() if pa.types.is_dictionary(ids.type) else ids).dictionary_encode()
    except pa.ArrowException:
        raise SchemaError(
            f"Column '{basket}' has the type {type_name(ids.type)}, which names no basket."
        ) from None
    names, codes = sorted_names(columns[item], where=f"of column '{item}'")
    rows = encoded.indices.to_numpy(zero_copy_only=False)
    return _baskets().from_entries(rows, codes, names, n=len(encoded.dictionary))


def from_onehot(frame: Any) -> Baskets:
    """Make baskets of a frame with one column of truth values for each item."""
    labels, columns = _all_columns(frame)
    bad = [column for column in columns if not _is_onehot(column)]
    if bad:
        raise InputError(
            f"{len(bad)} of the {len(columns)} columns hold something other than 0 and 1, or false and true;"
            " leave out what is no item."
        )
    rows_by_item = [np.flatnonzero(column.to_numpy(zero_copy_only=False)) for column in columns]
    names, code_of_label = sorted_items(names_of(labels))
    sizes = np.array([rows.size for rows in rows_by_item], np.int64)
    rows = np.concatenate(rows_by_item) if rows_by_item else np.zeros(0, np.int64)
    n = len(columns[0]) if columns else 0
    return _baskets().from_entries(rows, np.repeat(code_of_label, sizes), names, n=n)


def from_sparse(matrix: Any, *, names: Sequence[Any] | None = None) -> Baskets:
    """Make baskets of a sparse matrix: an item is held where an entry is not zero."""
    from scipy import sparse

    is_sparse: bool = sparse.issparse(matrix)
    if not is_sparse or matrix.ndim != 2:
        raise InputError(f"A {type(matrix).__name__} is no sparse matrix; give one of scipy.sparse.")
    entries = _entries(matrix)
    missing = int(np.count_nonzero(entries.data != entries.data))
    if missing:
        raise InputError(f"{missing} entries of the sparse matrix are no numbers (NaN).")
    labels = range(matrix.shape[1]) if names is None else names
    if len(labels) != matrix.shape[1]:
        raise InputError(
            f"The sparse matrix has {matrix.shape[1]} columns, but {len(labels)} names are given."
        )
    ordered, code_of_column = sorted_items(whole_or_text(_array(list(labels)), where="given as names"))
    nonzero = entries.data != 0
    rows = entries.coords[0][nonzero].astype(np.int64)
    return _baskets().from_entries(
        rows, code_of_column[entries.coords[1][nonzero]], ordered, n=matrix.shape[0]
    )


def with_numbers(baskets: Baskets) -> Baskets:
    """Read the names as whole numbers if all are written as such, and put the items in the order of the numbers."""
    numbers = numbers_or_text(baskets.names)
    if numbers is baskets.names:
        return baskets
    names, new_code = sorted_items(numbers)
    return _baskets().from_entries(baskets.rows(), new_code[baskets.items], names, n=len(baskets))


def to_long(baskets: Baskets, *, basket: str, item: str, drop_empty: bool) -> pa.Table:
    """Return one row per entry."""
    empty = int(np.count_nonzero(baskets.lengths == 0))
    if empty and not drop_empty:
        raise InputError(
            f"{empty} of the {len(baskets)} baskets are empty, and a long table cannot hold them; pass"
            " drop_empty=True to leave them out, or use another form."
        )
    return pa.table({basket: baskets.rows(), item: baskets.names.take(pa.array(baskets.items))})


def to_onehot(baskets: Baskets) -> pa.Table:
    """Return one column of truth values for each item."""
    if len(baskets) and not baskets.n_items:
        raise InputError("There are no items, and a table without columns has no rows for the baskets.")
    labels = spoken(baskets.names, form="the names of columns")
    order = np.argsort(baskets.items, kind="stable")
    rows_by_item = np.split(baskets.rows()[order], np.cumsum(baskets.counts)[:-1])
    columns = {}
    for label, rows in zip(labels, rows_by_item, strict=False):
        column = np.zeros(len(baskets), np.bool_)
        column[rows] = True
        columns[label] = pa.array(column)
    return pa.table(columns)


def to_sparse(baskets: Baskets) -> Any:
    """Return a sparse matrix of ones."""
    from scipy.sparse import csr_array

    entries = (np.ones(baskets.items.size, np.int32), baskets.items, baskets.indptr)
    return csr_array(entries, shape=(len(baskets), baskets.n_items))


def to_arrow(baskets: Baskets) -> pa.Array:
    """Return a column of lists of names."""
    values = baskets.names.take(pa.array(baskets.items))
    if baskets.items.size < 2**31:
        return pa.ListArray.from_arrays(pa.array(baskets.indptr.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(baskets.indptr), values)


def _baskets() -> type[Baskets]:
    from discreet.core.baskets.baskets import Baskets

    return Baskets


def _entries(matrix: Any) -> Any:
    """Return the entries of a sparse matrix; one whose arrays do not fit together is refused."""
    try:
        if (np.diff(getattr(matrix, "indptr", ())) < 0).any():
            raise ValueError
        return matrix.tocoo()
    except ValueError:
        raise InputError("The arrays of the sparse matrix do not fit together.") from None


def _of_rows(flat: pa.Array, lengths: IntArray) -> Baskets:
    names, codes = sorted_names(flat, where="in the lists")
    rows = np.repeat(np.arange(lengths.size), lengths)
    return _baskets().from_entries(rows, codes, names, n=lengths.size)


def _list_column(lists: Any) -> Any:
    """Return a column of lists as Arrow's, or as a Python sequence where it is one or holds Python objects."""
    if isinstance(lists, list | tuple | np.ndarray):
        return lists
    column = lists
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        refuse_lazy(lists)
        wrapped = nw.from_native(lists, allow_series=True, pass_through=True)
        if isinstance(wrapped, nw.LazyFrame):
            wrapped = wrapped.collect()
        if isinstance(wrapped, nw.DataFrame):
            if len(wrapped.columns) != 1:
                raise InputError(
                    f"The frame has {len(wrapped.columns)} columns; give the one column of lists alone."
                )
            wrapped = wrapped.get_column(wrapped.columns[0])
        if not isinstance(wrapped, nw.Series):
            return lists
        if wrapped.dtype == nw.Object:
            return wrapped.to_list()
        column = wrapped.to_arrow()
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view)
    if not any(is_kind(column.type) for is_kind in (*kinds, pa.types.is_null)):
        raise InputError(f"The column holds {type_name(column.type)}, not lists of items.")
    column = combined(column)
    return column.cast(pa.large_list(pa.null())) if pa.types.is_null(column.type) else column


def _flattened(lists: Iterable[Any]) -> tuple[pa.Array, list[int]]:
    if isinstance(lists, str | bytes | Mapping) or not isinstance(lists, Iterable):
        raise InputError(f"A {type(lists).__name__} is no sequence of baskets.")
    flat: list[Any] = []
    lengths = []
    for number, basket in enumerate(lists):
        before = len(flat)
        if isinstance(basket, str | bytes | Mapping) or not isinstance(basket, Iterable):
            if not _is_missing(basket):
                raise InputError(
                    f"Basket {number}, counted from 0, is a {type(basket).__name__}, no list of items."
                )
        else:
            flat.extend(basket)
        lengths.append(len(flat) - before)
    return _array(flat), lengths


def _array(items: list[Any]) -> pa.Array:
    """Return Python items as one Arrow array of whole numbers or text; nulls stay nulls."""
    types = {kind: _type_of(kind) for kind in set(map(type, items))}
    if None in types.values() and not all(_is_missing(item) for item in items if types[type(item)] is None):
        raise InputError("The items must be whole numbers or text; some are neither.")
    kinds = set(types.values()) - {None}
    if len(kinds) > 1:
        raise InputError(_MIXED)
    if None in types.values():
        items = [None if types[type(item)] is None else item for item in items]
    try:
        return pa.array(items, kinds.pop() if kinds else pa.null())
    except (OverflowError, pa.ArrowInvalid):
        raise InputError("Some items are whole numbers beyond the 64 bits there are for them.") from None
    except UnicodeEncodeError:
        raise InputError("Some items are no valid text (they hold surrogates).") from None


def _type_of(kind: type) -> pa.DataType | None:
    if issubclass(kind, str):
        return pa.string()
    return pa.int64() if kind is not bool and issubclass(kind, Integral) else None


def _is_missing(value: Any) -> bool:
    """Return whether a value is one of Python's and pandas' ways to say nothing."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _columns(frame: Any, names: Sequence[str]) -> dict[str, pa.Array]:
    wrapped = _wrapped(frame)
    there = wrapped.collect_schema().names()
    for name in names:
        require("from_long", "column", name, InstanceOf((str,), "the name of a column"))
        if name not in there:
            raise SchemaError(f"The frame has no column '{name}'.")
    collected = in_memory(wrapped.select(*dict.fromkeys(names)))
    return {name: _to_arrow(collected.get_column(name)) for name in names}


def _all_columns(frame: Any) -> tuple[list[Any], list[pa.Array]]:
    """Return the labels and the columns of a whole frame; pandas may label with numbers."""
    if type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns"):
        labels = list(frame.columns)
        frame = frame.set_axis(range(len(labels)), axis=1)
    else:
        labels = []
    collected = in_memory(_wrapped(frame))
    labels = labels or list(collected.columns)
    return labels, [_to_arrow(column) for column in collected.iter_columns()]


def _wrapped(frame: Any) -> Any:
    if isinstance(frame, pa.Table) and len(set(frame.column_names)) < frame.num_columns:
        raise SchemaError(_REPEATED)
    try:
        return admitted(frame)
    except nw.exceptions.DuplicateError:
        raise SchemaError(_REPEATED) from None


def _to_arrow(column: nw.Series[Any]) -> pa.Array:
    try:
        return combined(column.to_arrow())
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError):
        raise InputError(_MIXED) from None


def _is_onehot(column: pa.Array) -> bool:
    if column.null_count:
        return False
    if pa.types.is_boolean(column.type):
        return True
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return False
    values = column.to_numpy(zero_copy_only=False)
    return bool(((values == 0) | (values == 1)).all())
