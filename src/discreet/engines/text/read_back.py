"""Delimited text read back as it was written: columns of known types, as dictionaries of the different cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.engine import TextLayout
from discreet.core.tables.encoding import whole_array
from discreet.engines.text.dialect import EDGES

_ENDINGS = (".csv", ".tsv")
_ALTERED = r"^[ \x{A0}]|[ \x{A0}]$|[\x00-\x1f]"
"""White space at the ends of a cell, and control characters, which are white space in part."""
_EXACT = (
    pa.types.is_string,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_date32,
)


def written_cells(path: Path, layout: TextLayout, types: Mapping[str, pa.DataType]) -> pa.Table | None:
    """Return columns of a text file in the types they had; None where only `read` says how a cell is read.

    Every byte of the file is parsed, and nothing is looked up in what it was written from. Cells that readers change,
    by taking white space off their ends or by reading their control characters in another way, are left to `read`, as
    are packed files and types that Arrow and the engine may write in different ways.
    """
    from pyarrow import csv

    cells = dict.fromkeys(types, pa.dictionary(pa.int32(), pa.string()))
    simple = all(
        name == name.strip(EDGES) and any(is_one(type_) for is_one in _EXACT) for name, type_ in types.items()
    )
    if path.suffix not in _ENDINGS or not types or not simple:
        return None
    parsing = csv.ParseOptions(
        delimiter=layout.delimiter, quote_char=layout.quote or False, newlines_in_values=True
    )
    converting = csv.ConvertOptions(
        column_types=cells, include_columns=list(types), null_values=[""], strings_can_be_null=True
    )
    try:
        rows = csv.read_csv(path, parse_options=parsing, convert_options=converting)
        columns = {name: _typed(rows.column(name), type_, layout) for name, type_ in types.items()}
    except (pa.ArrowException, OSError, KeyError):
        return None
    typed = {name: column for name, column in columns.items() if column is not None}
    return pa.table(typed) if len(typed) == len(columns) else None


def _typed(column: pa.ChunkedArray, type_: pa.DataType, layout: TextLayout) -> pa.DictionaryArray | None:
    """Cast the different cells of a column; None where one of them may be read in another way."""
    coded = whole_array(column)
    if pc.any(pc.match_substring_regex(coded.dictionary, _ALTERED)).as_py():
        return None
    texts = coded.dictionary
    if pa.types.is_floating(type_) and layout.decimal != ".":
        texts = pc.replace_substring(texts, layout.decimal, ".")
    return pa.DictionaryArray.from_arrays(coded.indices, texts.cast(type_))
