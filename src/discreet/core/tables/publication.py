"""Publication: the one way out for rows in memory. What leaves is what was judged, and nothing lies around it.

Values are cleaned as they were for the judgment, dictionaries hold what occurs and are sorted, nothing lies under nulls
or beyond the rows, and no metadata is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import BoolArray
from discreet.core.engine import SMALLEST_NUMBER, Facts, engine_of
from discreet.core.errors import SchemaError
from discreet.core.tables.encoding import (
    decimal_of_128_bits,
    number_cleaned,
    type_name,
    value_codes,
    whole_array,
)
from discreet.core.tables.labels import value_kind
from discreet.kernels.ragged import bounds

# Arrow pads buffers to multiples of 64 bytes; more than that behind the cells is something else's.
_PADDING = 64
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def publishable(rows: pa.Table) -> pa.Table:
    """Return rows that hold their cells and nothing else.

    >>> rows = pa.table({"city": pa.array(["Rome", "Oslo"]).dictionary_encode()}).slice(1)
    >>> publishable(rows.replace_schema_metadata({"of": "Rome"}))["city"].chunk(0).dictionary.to_pylist()
    ['Oslo']
    """
    columns = [published(rows.column(at), name) for at, name in enumerate(rows.column_names)]
    return pa.Table.from_arrays(columns, names=rows.column_names)


def published(column: pa.ChunkedArray | pa.Array, name: str) -> pa.ChunkedArray:
    """Return one column as it may leave; a type that cannot be published is refused by name."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    try:
        if pa.types.is_dictionary(column.type):
            chunks = [dictionary_of_used(column, name)]
        return pa.chunked_array([scrubbed(chunk) for chunk in chunks], None if chunks else column.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise SchemaError(
            f"Column '{name}' has the type {type_name(column.type)}, which cannot be published; make it text first."
        ) from None


def dictionary_of_used(column: pa.ChunkedArray | pa.Array, name: str = "") -> pa.DictionaryArray:
    """Encode a dictionary column anew: only values that occur, sorted, or in the declared order where there is one."""
    declared = whole_array(column)
    if _is_clean(declared):
        return declared
    values, places = value_codes(declared, name, judged=False)
    used = pc.drop_null(pc.unique(values))
    if declared.type.ordered:
        order = pc.index_in(used, value_set=number_cleaned(declared.dictionary))
        domain = used.take(pc.sort_indices(order))
    else:
        domain = used.take(pc.sort_indices(used))
    indices = pc.index_in(values, value_set=domain).take(pa.array(places))
    if domain.type != declared.type.value_type:
        domain = domain.cast(declared.type.value_type)
    return pa.DictionaryArray.from_arrays(
        indices.cast(declared.type.index_type), domain, ordered=declared.type.ordered
    )


def _is_clean(coded: pa.DictionaryArray) -> bool:
    """Whether a dictionary of texts is as it is to be: all of them occur, sorted, and nothing is null."""
    texts = coded.dictionary
    if coded.null_count or texts.null_count or coded.type.ordered or not pa.types.is_string(texts.type):
        return False
    return bool(
        np.bincount(np.asarray(coded.indices), minlength=len(texts)).all()
        and pc.all(pc.less(texts[:-1], texts[1:])).as_py() is not False
    )


def scrubbed(array: pa.Array) -> pa.Array:
    """Return an array in buffers that hold its cells alone: nothing under nulls, nothing before or after the rows."""
    kind = array.type
    if pa.types.is_null(kind):
        return array
    if pa.types.is_floating(kind):
        array = number_cleaned(array)
    if pa.types.is_decimal256(kind):
        array = decimal_of_128_bits(array)
    # Milliseconds may hold a time of day that no date shows.
    if pa.types.is_date64(kind):
        array = array.cast(pa.date32(), safe=False).cast(kind)
    if isinstance(array, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(kind, scrubbed(array.storage))
    if isinstance(array, pa.DictionaryArray):
        fresh = dictionary_of_used(array)
        return pa.DictionaryArray.from_arrays(
            scrubbed(fresh.indices), scrubbed(fresh.dictionary), ordered=kind.ordered
        )
    if isinstance(array, pa.StructArray):
        children = [scrubbed(child) for child in array.flatten()]
        fields = [pa.field(kind.field(at).name, child.type) for at, child in enumerate(children)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists(array)
    if _is_text(kind):
        return _texts(array)
    if _is_fixed(kind):
        return _fixed(array)
    # Slow, but nothing except the cells comes along.
    return pa.array(array.to_pylist(), _bare(kind))


def _is_text(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_one(kind) for is_one in kinds)


def _is_fixed(kind: pa.DataType) -> bool:
    kinds = (
        pa.types.is_primitive,
        pa.types.is_decimal,
        pa.types.is_fixed_size_binary,
        pa.types.is_interval,
    )
    return any(is_one(kind) for is_one in kinds)


def _valid(array: pa.Array) -> BoolArray:
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.bool_)


def _validity(valid: BoolArray) -> pa.Buffer | None:
    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


def _fixed(array: pa.Array) -> pa.Array:
    """Write zeros under the nulls of numbers, dates and truth values."""
    n, kind = len(array), array.type
    data = array.buffers()[-1]
    bits = kind.bit_width
    if data is None or n == 0:
        return array
    if bits % 8 == 0 and not array.null_count and data.size - n * bits // 8 < _PADDING:
        return array
    valid = _valid(array)
    cells: Any
    if bits == 1:
        cells = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[
            array.offset : array.offset + n
        ]
        cells = np.packbits(cells & valid, bitorder="little")
    else:
        width = bits // 8
        raw = np.frombuffer(data, np.uint8)[array.offset * width : (array.offset + n) * width]
        cells = raw.view(_WORDS[width]) if width in _WORDS else raw.reshape(n, width)
        cells = cells.copy()
        cells[~valid] = 0
    return pa.Array.from_buffers(kind, n, [_validity(valid), pa.py_buffer(cells)], array.null_count)


def _texts(array: pa.Array) -> pa.Array:
    """Join the texts or bytes that are not null."""
    n, kind = len(array), array.type
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if n == 0:
        return pa.array([], kind)
    offset_type: Any = np.int64 if wide else np.int32
    ends = np.frombuffer(array.buffers()[1], offset_type)[array.offset : array.offset + n + 1]
    data = array.buffers()[2]
    size = 0 if data is None else data.size
    if not array.null_count and ends[0] == 0 and size - int(ends[-1]) < _PADDING:
        return array
    valid = _valid(array)
    if data is None:
        return pa.array([None if not is_valid else "" for is_valid in valid], kind)
    present = array.filter(pa.array(valid))
    # Joining copies, so that the offset is 0.
    present = present if present.offset == 0 else pa.concat_arrays([present, pa.array([], kind)])
    lengths = np.where(valid, np.diff(ends), 0)
    offsets = bounds(lengths).astype(offset_type)
    from_, to = (
        (0, 0)
        if not len(present)
        else np.frombuffer(present.buffers()[1], offset_type)[[0, len(present)]].tolist()
    )
    cells = present.buffers()[2]
    cells = pa.py_buffer(b"") if cells is None else pa.py_buffer(cells.slice(from_, to - from_).to_pybytes())
    return pa.Array.from_buffers(kind, n, [_validity(valid), pa.py_buffer(offsets), cells], array.null_count)


def _lists(array: pa.ListArray | pa.LargeListArray) -> pa.Array:
    """Join the lists that are not null."""
    items = scrubbed(array.flatten())
    lengths = np.asarray(pc.list_value_length(array).fill_null(0))
    wide = isinstance(array, pa.LargeListArray)
    ends = bounds(lengths).astype(np.int64 if wide else np.int32)
    mask = array.is_null() if array.null_count else None
    return type(array).from_arrays(pa.array(ends), items, mask=mask)


def _bare(kind: pa.DataType) -> pa.DataType:
    """Return a nested type without the metadata of its fields."""
    if pa.types.is_map(kind):
        return pa.map_(_bare(kind.key_type), _bare(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_bare(kind.value_type), kind.list_size)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _bare(field.type)) for field in kind.fields])
    if pa.types.is_large_list(kind):
        return pa.large_list(_bare(kind.value_type))
    if pa.types.is_list(kind):
        return pa.list_(_bare(kind.value_type))
    return kind


_SKIPPED = r"[\pZ\p{Cc}\p{Cf}]*"
"""White space and invisible characters at the start, which many readers trim."""
FORMULA = "^" + _SKIPPED + r"[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
"""How a cell starts that a spreadsheet would run; the last four are the full-width forms."""
QUOTED = "^'*" + FORMULA[1:]
NUMBER = r"^'*[\pZ\p{Cf}]*[+\-]?(\d+(\.\d*)?|\.\d+)([eE][+\-]?\d+)?$"


def defused(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Put an apostrophe before texts that a spreadsheet would run; numbers are harmless and stay.

    Different texts stay different: one that already has apostrophes before its formula gets one more.

    >>> defused(pa.array(["=1+1", " =1+1", "'=1+1", "-5", "plain", None])).to_pylist()
    ["'=1+1", "' =1+1", "''=1+1", '-5', 'plain', None]
    """
    if pa.types.is_dictionary(column.type):
        return defused(column.cast(column.type.value_type)).dictionary_encode()
    if value_kind(column.type) != "text":
        return column
    wide = column.cast(pa.large_string())
    quoted = pc.binary_join_element_wise(
        pa.scalar("'", pa.large_string()), wide, pa.scalar("", pa.large_string())
    )
    return pc.if_else(_runs(wide, QUOTED), quoted, wide).cast(column.type)


def defused_text(text: Any) -> Any:
    """Put an apostrophe before one text that a spreadsheet would run; whatever else it is stays.

    >>> defused_text("@sum"), defused_text("milk"), defused_text(-5)
    ("'@sum", 'milk', -5)
    """
    return defused(pa.array([text], pa.string()))[0].as_py() if isinstance(text, str) else text


def matching_values(
    name: str, values: pa.Array, counts: Any, n_missing: int, expression: str
) -> tuple[Facts, pa.Array]:
    """Return facts of a column by its different values, and the texts among them with an expression in them.

    ``counts`` says how many rows have each text. Whole numbers match where they are long enough for any identifier.
    """
    if pa.types.is_integer(values.type):
        is_wide = values.type.bit_width == 64
        # The bound has the type of the column: unsigned numbers need not fit into signed ones.
        least = pa.scalar(SMALLEST_NUMBER if is_wide else 0, values.type)
        likely = values.filter(pc.greater_equal(values, least)) if is_wide else values.slice(0, 0)
        return Facts(name, "whole", len(values) + n_missing, n_missing, 0), likely.cast(pa.string())
    rows = np.asarray(counts, np.int64)
    values, rows = values.filter(pa.array(rows > 0)).cast(pa.large_string()), rows[rows > 0]
    n_known = int(rows.sum())
    length, words = (
        float(np.asarray(each) @ rows) / max(n_known, 1)
        for each in (pc.utf8_length(values), pc.count_substring(values, " "))
    )
    facts = Facts(name, "text", n_known + n_missing, n_missing, len(values), length, words)
    return facts, values.filter(pc.match_substring_regex(values, expression))


def formula_cells(frame: Any, judged: Mapping[str, tuple[pa.Array, Any]] = MappingProxyType({})) -> int:
    """Count the cells and column names of a published frame that a spreadsheet would run.

    ``judged`` holds values and counts of columns that need not be read again, null first.
    """
    counted = sum(
        int(np.asarray(counts)[1:] @ np.asarray(_runs(values.cast(pa.large_string()), FORMULA)))
        for values, counts in judged.values()
        if value_kind(values.type) == "text"
    )
    return counted + engine_of(frame).formula_cells(frame, judged)


def formulas_in(names: list[str], texts: pa.Table) -> int:
    """Count the names and the cells of some columns of text that a spreadsheet would run."""
    return formula_names(pa.array(names, pa.string())) + sum(_count(column) for column in texts.columns)


def formula_names(names: pa.Array) -> int:
    """Count the names of columns that a spreadsheet would run: they are cells of the first line."""
    return _count(pa.chunked_array([names]))


def _count(column: pa.ChunkedArray) -> int:
    is_coded = pa.types.is_dictionary(column.type)
    if value_kind(column.type.value_type if is_coded else column.type) != "text":
        return 0
    coded = whole_array(column if is_coded else column.dictionary_encode())
    runs = np.asarray(_runs(coded.dictionary.cast(pa.large_string()), FORMULA))
    return int(np.count_nonzero(runs[np.asarray(coded.indices.drop_null())]))


def _runs(texts: Any, pattern: str) -> Any:
    """Return which texts a spreadsheet would run."""
    formula = pc.match_substring_regex(texts, pattern)
    return pc.fill_null(pc.and_not(formula, pc.match_substring_regex(texts, NUMBER)), False)
