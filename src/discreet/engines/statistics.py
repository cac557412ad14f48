"""Files of statistics packages: SPSS, Stata and SAS tables with their value labels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.errors import InputError
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


def read_statistics(
    path: Path, *, encoding: str | None, labels: bool, nulls: Sequence[str], text: Sequence[str]
) -> pa.Table:
    """Read a table; with ``labels`` a column shows its value labels where they cover every value that occurs.

    A column with labels for a few codes only, such as those for refused answers, keeps its numbers. Missing values
    that the file's author defined are nulls.
    """
    columns, value_labels = _parsed(path, encoding)
    if not columns:
        raise InputError(f"{path} has no columns.")
    check_names(list(columns), path)
    empty = {"", *nulls}
    arrays = {}
    for name, values in columns.items():
        cells = [_cell(value, empty) for value in values]
        label_of_code = value_labels.get(name)
        if labels and label_of_code:
            cells = _labeled(cells, label_of_code)
        arrays[name] = typed_column(
            [None if cell is None else written(cell) for cell in cells] if name in text else cells
        )
    table = pa.table(arrays)
    if not table.num_rows:
        raise InputError(f"{path} has columns but no rows.")
    return table


def _parsed(path: Path, encoding: str | None) -> tuple[dict[str, Any], Mapping[str, Mapping[Any, str]]]:
    """Return the columns by name, and the labels of their values."""
    pyreadstat = package("pyreadstat", "statistics", f"{path} is a file of a statistics package; reading it")
    suffix = path.suffix.lower()
    options = {} if encoding is None or suffix in _WITHOUT_ENCODING else {"encoding": encoding}
    try:
        columns, about = getattr(pyreadstat, _READERS[suffix])(
            os.fspath(path), output_format="dict", **options
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError, OSError):
        raise InputError(f"{path} is not a {suffix} file that can be read, or is damaged.") from None
    return columns, about.variable_value_labels


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
