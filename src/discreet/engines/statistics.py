"""Files of statistics packages: SPSS, Stata and SAS tables with their labels, read, and written but for SAS."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import InputError, OutputError
from discreet.core.tables.labels import text as written
from discreet.engines.formats import package
from discreet.engines.sheets import typed_column
from discreet.engines.text.dialect import EDGES, check_names

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_WITHOUT_ENCODING = (".por",)
_NAME = re.compile(r"[^\W\d_]\w*")
_LONGEST = {"sav": 64, "dta": 32}
"""The longest name of a column that a format has."""
_LARGEST_EXACT = 2**53


def read_statistics(
    path: Path, *, encoding: str | None, labels: bool, nulls: Sequence[str], text: Sequence[str]
) -> tuple[pa.Table, dict[str, dict[str, Any]]]:
    """Read a table, and the labels of its columns and values.

    With ``labels`` a column shows its value labels where they cover every value that occurs. A column with labels for a
    few codes only, such as those for refused answers, keeps its numbers. Missing values that the file's author defined
    are nulls.
    """
    columns, value_labels, column_labels = _parsed(path, encoding)
    if not columns:
        raise InputError(f"{path} has no columns.")
    check_names(list(columns), path)
    empty = {"", *nulls}
    arrays = {}
    labels_of: dict[str, dict[str, Any]] = {
        name: {"label": label, "codes": {}} for name, label in column_labels.items() if label
    }
    for name, values in columns.items():
        cells = [_cell(value, empty) for value in values]
        label_of_code = value_labels.get(name)
        if label_of_code:
            cells = _labeled(cells, label_of_code) if labels else cells
            codes = {label.strip(EDGES): code for code, label in label_of_code.items()}
            labels_of.setdefault(name, {"label": None})["codes"] = codes
        arrays[name] = typed_column(
            [None if cell is None else written(cell) for cell in cells] if name in text else cells
        )
    table = pa.table(arrays)
    if not table.num_rows:
        raise InputError(f"{path} has columns but no rows.")
    return table, labels_of


def write_statistics(
    table: pa.Table, path: Path, format_: str, labels: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write a table as an SPSS or Stata file, with the labels that the columns had where it comes from such a file.

    Values whose codes are known are written as codes with their labels, those of released values alone. No file says at
    what time of the day it was written.
    """
    pyreadstat = package("pyreadstat", "statistics", f"Writing a .{format_} file", error=OutputError)
    pandas = package("pandas", "statistics", f"Writing a .{format_} file", error=OutputError)
    wrong = [
        name for name in table.column_names if not _NAME.fullmatch(name) or len(name) > _LONGEST[format_]
    ]
    if wrong:
        quoted = ", ".join(repr(name) for name in wrong[:5]) + (" …" if len(wrong) > 5 else "")
        raise OutputError(
            f"A .{format_} file names columns by at most {_LONGEST[format_]} letters, digits and _, the first a "
            f"letter: rename {quoted}, or choose another format, such as csv."
        )
    columns, value_labels = {}, {}
    for name in table.column_names:
        cells = table.column(name).to_pylist()
        codes = labels.get(name, {}).get("codes") or {}
        used = {cell for cell in cells if cell is not None}
        if pa.types.is_boolean(table.schema.field(name).type):
            codes = {False: 0, True: 1}
        if used and used <= set(codes):
            value_labels[name] = {_code(codes[cell]): written(cell) for cell in sorted(used, key=str)}
            cells = [None if cell is None else _code(codes[cell]) for cell in cells]
        elif not used & set(codes):
            value_labels[name] = {_code(code): label for label, code in codes.items() if code in used}
        columns[name] = _series(pandas, cells)
    column_labels = {name: str(entry["label"]) for name, entry in labels.items() if entry.get("label")}
    options = {
        "column_labels": {name: column_labels.get(name) for name in table.column_names},
        "variable_value_labels": {name: coded for name, coded in value_labels.items() if coded},
    }
    try:
        getattr(pyreadstat, f"write_{format_}")(pandas.DataFrame(columns), str(path), **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError, TypeError):
        raise OutputError(
            f"These values cannot be written into a .{format_} file; choose another format, such as csv."
        ) from None
    _without_time(path, format_)


def _series(pandas: Any, cells: list[Any]) -> Any:
    """Return cells as a column that keeps whole numbers whole."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int}:
        if any(abs(cell) > _LARGEST_EXACT for cell in cells if cell is not None):
            raise OutputError(
                "Files of statistics packages hold whole numbers below 2^53; choose another format."
            )
        return pandas.Series(cells, dtype="Int64" if None in cells else "int64")
    if kinds == {float} or kinds == {int, float}:
        return pandas.Series(cells, dtype="float64")
    if kinds and kinds <= {dt.datetime}:
        return pandas.Series(pandas.to_datetime(cells))
    if kinds and kinds <= {dt.date}:
        return pandas.Series(cells, dtype="object")
    return pandas.Series([None if cell is None else written(cell) for cell in cells], dtype="object")


def _code(code: Any) -> Any:
    """Return the code of a value, a whole number as one."""
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _without_time(path: Path, format_: str) -> None:
    """Replace the time of writing in the head of a file by a fixed one."""
    content = path.read_bytes()
    # Bytes 92 to 108 of an SPSS header are the date and the time of its making.
    if format_ == "sav":
        path.write_bytes(content[:92] + b"01 Jan 2600:00:00" + content[109:])
        return
    at = content.find(b"<timestamp>", 0, 4096)
    if at >= 0:
        path.write_bytes(content[: at + 12] + b"01 Jan 2026 00:00" + content[at + 29 :])


def _parsed(
    path: Path, encoding: str | None
) -> tuple[dict[str, Any], Mapping[str, Mapping[Any, str]], Mapping[str, str | None]]:
    """Return the columns by name, the labels of their values, and their own."""
    pyreadstat = package("pyreadstat", "statistics", f"{path} is a file of a statistics package; reading it")
    suffix = path.suffix.lower()
    options = {} if encoding is None or suffix in _WITHOUT_ENCODING else {"encoding": encoding}
    try:
        columns, about = getattr(pyreadstat, _READERS[suffix])(
            os.fspath(path), output_format="dict", **options
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError, OSError):
        raise InputError(f"{path} is not a {suffix} file that can be read, or is damaged.") from None
    return columns, about.variable_value_labels, about.column_names_to_labels


def _cell(value: Any, empty: set[str]) -> Any:
    """Return a plain Python value; NaN and nulls are None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:
        return None
    if isinstance(value, str):
        bare = value.strip(EDGES)
        return None if bare in empty else bare
    return value


def _labeled(cells: list[Any], labels: Mapping[Any, str]) -> list[Any]:
    """Replace codes by their labels, unless a code that occurs has none or two codes have the same one."""
    label_of_code = {code: label.strip(EDGES) for code, label in labels.items() if label.strip(EDGES)}
    distinct = {cell for cell in cells if cell is not None}
    used = [label_of_code.get(cell) for cell in distinct]
    if not distinct or None in used or len(set(used)) < len(used):
        return cells
    return [None if cell is None else label_of_code[cell] for cell in cells]
