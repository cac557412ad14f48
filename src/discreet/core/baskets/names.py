"""The names of items: whole numbers or text, each once, in ascending order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.tables.encoding import combined, type_name

WHOLE = re.compile(r"0|-?[1-9][0-9]*")
"""A whole number as it is written, without a plus and without leading zeros."""
_MOST = 2**63 - 1


def whole_or_text(array: pa.Array, *, where: str) -> pa.Array:
    """Bring items to 64-bit whole numbers or text; nulls and everything else are refused, counted."""
    array = combined(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if array.null_count:
        raise InputError(f"{array.null_count} of the {len(array)} items {where} are null; leave them out.")
    type_ = array.type
    if pa.types.is_null(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        # A string column has 32-bit offsets, which 2 GB of text outgrow.
        return array.cast(pa.string() if array.nbytes < 2**31 else pa.large_string())
    if pa.types.is_string(type_) or pa.types.is_int64(type_):
        return array
    if pa.types.is_integer(type_) or (pa.types.is_decimal(type_) and type_.scale == 0):
        try:
            return array.cast(pa.int64())
        except pa.ArrowInvalid:
            raise InputError(
                f"Some items {where} are whole numbers beyond {_MOST}, the largest there may be."
            ) from None
    raise InputError(
        f"The items {where} are of the type {type_name(type_)}; make them whole numbers or text first."
    )


def sorted_names(array: pa.Array, *, where: str) -> tuple[pa.Array, CodeArray]:
    """Return the distinct items in ascending order, and the code of every item among them."""
    encoded = whole_or_text(array, where=where).dictionary_encode()
    values, rank = sorted_items(encoded.dictionary)
    return values, rank[encoded.indices.to_numpy(zero_copy_only=False)]


def sorted_items(values: pa.Array) -> tuple[pa.Array, CodeArray]:
    """Put distinct names in ascending order, and say where each has gone; a name given twice is refused."""
    if pa.types.is_large_string(values.type):
        values = values.cast(pa.string())
    if len(pc.unique(values)) < len(values):
        raise SchemaError("Several items have the same name.")
    order = pc.sort_indices(values).to_numpy(zero_copy_only=False)
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return values.take(pa.array(order)), rank


def codes_among(names: pa.Array, items: Iterable[Any], *, parameter: str) -> CodeArray:
    """Return the codes of wanted items; a name that no item bears is refused, without saying it."""
    listed = list(items)
    try:
        values = pa.array(listed, names.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        raise InputError(f"'{parameter}' names items that are not of the baskets' kind.") from None
    codes = pc.index_in(values, value_set=names)
    if codes.null_count:
        raise InputError(f"{codes.null_count} of the {len(listed)} items of '{parameter}' do not occur.")
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int32)


def names_of(labels: Sequence[Any]) -> pa.Array:
    """Make names of labels: whole numbers where all are, or where all texts are written as whole numbers."""
    kinds = {isinstance(label, str) for label in labels}
    if kinds == {True}:
        return numbers_or_text(pa.array(labels, pa.string()))
    if len(kinds) > 1:
        raise SchemaError("The columns' names mix types; make them all whole numbers or all text first.")
    try:
        return whole_or_text(pa.array(labels), where="named by columns")
    except (pa.ArrowException, OverflowError, TypeError):
        raise SchemaError("The columns must be named by whole numbers or text.") from None


def numbers_or_text(names: pa.Array) -> pa.Array:
    """Read names as whole numbers if every one of them is written as one; otherwise they stay text."""
    if not len(names) or not reads_as_numbers(names):
        return names
    try:
        return names.cast(pa.int64())
    except pa.ArrowInvalid:
        raise InputError("Some items are whole numbers beyond the 64 bits there are for them.") from None


def reads_as_numbers(names: pa.Array) -> bool:
    """Return whether every name is text that is written as a whole number."""
    return bool(
        pa.types.is_string(names.type)
        and pc.all(pc.match_substring_regex(names, "^(0|-?[1-9][0-9]*)$")).as_py()
    )


def spoken(names: pa.Array, *, form: str) -> list[str]:
    """Return names as text for a form that holds text only; text that would come back as numbers is refused."""
    if len(names) and reads_as_numbers(names):
        raise InputError(
            f"All item names are text that reads as whole numbers; as {form} they would come back as numbers."
        )
    labels: list[str] = names.cast(pa.string()).to_pylist()
    return labels
