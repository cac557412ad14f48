"""Baskets in tables and matrices on disk: long tables, one-hot tables, scipy's sparse matrices."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.forms import with_numbers
from discreet.core.baskets.names import spoken
from discreet.core.errors import InputError, OutputError
from discreet.engines.atomic import scratch_folder
from discreet.engines.baskets.lines import count_names
from discreet.engines.files import read
from discreet.engines.formats import ending, format_named, separator, write_bytes
from discreet.engines.text.dialect import EDGES, sniff, utf8_copy
from discreet.engines.writing import write_frame

_PARQUET = format_named("parquet").endings
_JSON = format_named("jsonl").endings
_TYPED = (*_PARQUET, *format_named("arrow").endings, *_JSON)
_NAMES = "discreet_names"


def read_long(path: Path, *, basket: str, item: str, delimiter: str | None = None) -> Baskets:
    """Read a table with a row per entry; in delimited text the columns are taken as they are written."""
    if ending(path) in _TYPED:
        return Baskets.from_long(read(path), basket=basket, item=item)
    folder = scratch_folder()
    try:
        chosen = delimiter or ("\t" if separator(path) == "\t" else None)
        dialect = sniff(
            utf8_copy(path, None, folder), delimiter=chosen, quote='"', header=True, display_path=path
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name in (basket, item):
        if name not in dialect.names:
            raise InputError(f"{path} has no column '{name}'.")
    frame = read(path, delimiter=dialect.delimiter, nulls=("",), text=(basket, item))
    return with_numbers(Baskets.from_long(frame, basket=basket, item=item))


def write_long(baskets: Baskets, path: Path) -> Path:
    """Write a table with the columns basket and item; the baskets are numbered from 0."""
    if ending(path) not in _TYPED:
        spoken(baskets.names, form="items of delimited text")
        edge = "[" + "".join(f"\\x{{{ord(char):X}}}" for char in EDGES) + "]"
        bad = count_names(baskets.names, f"^{edge}|{edge}$|^$|\\x00")
        if bad:
            raise OutputError(
                f"{bad} item names are empty or have white space at an end, which delimited text cannot hold;"
                " write Parquet or Arrow."
            )
    return write_frame(baskets.to_long(), path)


def read_onehot(path: Path, *, delimiter: str | None = None) -> Baskets:
    """Read a table with a column of truth values for each item."""
    from pyarrow import csv

    if ending(path) in _TYPED:
        return Baskets.from_onehot(_table(path))
    folder = scratch_folder()
    try:
        table = csv.read_csv(
            utf8_copy(path, None, folder),
            parse_options=csv.ParseOptions(delimiter=delimiter or separator(path), newlines_in_values=True),
        )
    except pa.ArrowInvalid:
        raise InputError(
            f"{path} has no columns, or lines of different lengths; is the delimiter right?"
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Baskets.from_onehot(table)


def write_onehot(baskets: Baskets, path: Path, display_path: Path) -> None:
    """Write a table with a column for each item: of 0 and 1 in delimited text, else of false and true."""
    from pyarrow import csv

    if ending(display_path) in _TYPED:
        if ending(display_path) in _JSON:
            raise OutputError("One-hot tables are written as CSV, TSV, Parquet or Arrow, not as JSON.")
        write_frame(baskets.to_onehot(), path, "parquet" if ending(display_path) in _PARQUET else "arrow")
        return
    if count_names(baskets.names, "\\x00"):
        raise OutputError("Some item names hold NUL characters, which text cannot hold; use another format.")
    table = baskets.to_onehot()
    numbers = pa.table([column.cast(pa.uint8()) for column in table.columns], names=table.column_names)
    sink = pa.BufferOutputStream()
    csv.write_csv(numbers, sink, csv.WriteOptions(delimiter=separator(display_path)))
    write_bytes(path, sink.getvalue(), display_path=display_path)


def read_sparse(path: Path) -> Baskets:
    """Read a sparse matrix that scipy or `write_sparse` wrote."""
    from scipy import sparse

    try:
        with path.open("rb") as stream:
            matrix: Any = sparse.load_npz(stream)
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as arrays:
                spelled = arrays[_NAMES].tobytes() if _NAMES in arrays else None
        names = None if spelled is None else pa.ipc.open_stream(spelled).read_all().column(0).to_pylist()
        return Baskets.from_sparse(matrix, names=names)
    except (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, pa.ArrowException):
        raise InputError(f"{path} is no sparse matrix of scipy, or is damaged.") from None


def write_sparse(baskets: Baskets, path: Path, display_path: Path) -> None:
    """Write a sparse matrix that scipy can load, with the items' names beside it."""
    sink = pa.BufferOutputStream()
    table = pa.table({"item": baskets.names})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    matrix = baskets.to_sparse()
    arrays: dict[str, Any] = {
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "_is_array": np.array(True),
        _NAMES: np.frombuffer(sink.getvalue(), np.uint8),
    }
    with path.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _table(path: Path) -> Any:
    """Read a whole table; the names of columns may differ in nothing but their capitals, and one may be empty."""
    from pyarrow import parquet

    if ending(path) in _JSON:
        return read(path)
    try:
        if ending(path) in _PARQUET:
            return parquet.ParquetFile(path).read()
        with pa.memory_map(str(path)) as source:
            if source.read(6) == b"ARROW1":
                return pa.ipc.open_file(source).read_all()
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()
    except (OSError, pa.ArrowException):
        kind = "a Parquet" if ending(path) in _PARQUET else "an Arrow"
        raise InputError(f"{path} is not {kind} file, or is cut short.") from None
