"""Spreadsheets: one sheet of an Excel or OpenDocument file as a typed table, and a table as an Excel file."""

from __future__ import annotations

import datetime as dt
import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.errors import InputError, OutputError
from discreet.core.tables.labels import text as written
from discreet.engines.formats import package
from discreet.engines.text.dialect import EDGES, check_names, refuse_data

MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384
_LONGEST_CELL = 32_767
_LARGEST_EXACT = 2**53
_FIXED_DATE = dt.datetime(2000, 1, 1)  # noqa: DTZ001  # every file carries the same one
_TOO_MUCH = "choose another format, such as parquet"


def read_sheet(
    path: Path, *, sheet: str | int | None, header: bool, nulls: Sequence[str], text: Sequence[str]
) -> pa.Table:
    """Read a sheet, by name or by number from 1; the first visible one by default.

    Cells keep the type they have in the file: text that looks like a number stays text. A column that mixes types
    is text.
    """
    rows = itertools.dropwhile(_is_blank, _rows(path, sheet))
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path}: the sheet is empty.")
    names = _names(first, path, header=header)
    body = [row for row in ([*([] if header else [first]), *rows]) if not _is_blank(row)]
    if not body:
        raise InputError(f"{path} has a header but no rows.")
    empty = {"", *nulls}
    columns = {}
    for number, name in enumerate(names):
        cells = [_cell(row[number], empty) for row in body]
        columns[name] = typed_column(
            [None if cell is None else written(cell) for cell in cells] if name in text else cells
        )
    return pa.table(columns)


def write_sheet(table: pa.Table, path: Path) -> None:
    """Write a table as the one sheet of an Excel file; text is never taken for a formula, a link or a number."""
    if table.num_rows >= MOST_ROWS or table.num_columns > _MOST_COLUMNS:
        raise OutputError(
            f"An Excel sheet holds {MOST_ROWS - 1:,} rows of {_MOST_COLUMNS:,} columns at most; {_TOO_MUCH}."
        )
    xlsxwriter = package("xlsxwriter", "excel", "Writing an Excel file", error=OutputError)
    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with path.open("wb") as stream, xlsxwriter.Workbook(stream, options) as book:
        book.set_properties({"created": _FIXED_DATE})
        sheet = book.add_worksheet("data")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for number, name in enumerate(table.column_names):
            sheet.write_string(0, number, name)
        row = 0
        for batch in table.to_batches(max_chunksize=10_000):
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                row += 1
                for number, cell in enumerate(cells):
                    _write(sheet, row, number, cell, day, moment)


def typed_column(cells: Sequence[Any]) -> pa.Array:
    """Bring cells to the one type they share: whole or decimal numbers, booleans, dates, moments, else text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds and kinds <= {int, float}:
        integral = all(
            cell is None or (float(cell).is_integer() and abs(cell) <= _LARGEST_EXACT) for cell in cells
        )
        if integral:
            return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds and kinds <= {dt.date, dt.datetime}:
        return _moments(cells)
    return pa.array([None if cell is None else written(cell) for cell in cells], pa.string())


def _moments(cells: Sequence[Any]) -> pa.Array:
    """Return dates where no cell has a time of day, else moments."""
    days_only = all(not isinstance(cell, dt.datetime) or cell.time() == dt.time() for cell in cells)
    if days_only:
        days = [cell.date() if isinstance(cell, dt.datetime) else cell for cell in cells]
        return pa.array(days, pa.date32())
    midnight = dt.time()
    full = [
        dt.datetime.combine(cell, midnight) if type(cell) is dt.date else cell  # local, as in the file
        for cell in cells
    ]
    return pa.array(full, pa.timestamp("us"))


def _rows(path: Path, sheet: str | int | None) -> Iterable[list[Any]]:
    calamine = package("python_calamine", "excel", f"{path} is a spreadsheet; reading it")
    try:
        with calamine.CalamineWorkbook.from_path(os.fspath(path)) as book:
            worksheet = book.get_sheet_by_name(_sheet_name(book, calamine, sheet, path))
            return list(worksheet.to_python(skip_empty_area=True))
    except InputError:
        raise
    except calamine.PasswordError:
        raise InputError(f"{path} is protected by a password; save it without one.") from None
    except (calamine.CalamineError, OSError, ValueError):
        raise InputError(f"{path} is not a spreadsheet that can be read, or is damaged.") from None


def _sheet_name(book: Any, calamine: Any, sheet: str | int | None, path: Path) -> str:
    """Find the sheet that is meant; the names of sheets are not repeated in messages."""
    names = list(book.sheet_names)
    if isinstance(sheet, str) and sheet not in names and sheet.isdigit():
        sheet = int(sheet)
    if isinstance(sheet, str):
        if sheet not in names:
            raise InputError(
                f"{path} has no sheet of that name; it has {len(names)}: name one by its number from 1."
            )
        return sheet
    if sheet is not None:
        if not 1 <= sheet <= len(names):
            raise InputError(f"{path} has no sheet {sheet}; it has {len(names)}.")
        return str(names[sheet - 1])
    visible = calamine.SheetVisibleEnum.Visible
    visible_names = [metadata.name for metadata in book.sheets_metadata if metadata.visible == visible]
    return str((visible_names or names)[0])


def _names(first: Sequence[Any], path: Path, *, header: bool) -> tuple[str, ...]:
    if not header:
        return tuple(f"column{number}" for number in range(1, len(first) + 1))
    names = tuple(written(cell).strip(EDGES) for cell in first)
    check_names(names, path)
    refuse_data(names, path)
    return names


def _is_blank(row: Sequence[Any]) -> bool:
    return all(isinstance(cell, str) and not cell.strip(EDGES) for cell in row)


def _cell(cell: Any, empty: set[str]) -> Any:
    """Return a cell without blanks around it; what is read as null is None."""
    if isinstance(cell, str):
        bare = cell.strip(EDGES)
        return None if bare in empty else bare
    if isinstance(cell, dt.timedelta):
        return str(cell)
    return cell


def _write(sheet: Any, row: int, number: int, cell: Any, day: Any, moment: Any) -> None:
    if cell is None or cell != cell:  # NaN is a null
        return
    if isinstance(cell, bool):
        sheet.write_boolean(row, number, cell)
    elif isinstance(cell, int | float) and abs(cell) <= _LARGEST_EXACT:
        sheet.write_number(row, number, cell)
    elif isinstance(cell, dt.datetime) and cell.tzinfo is None and cell.year >= 1900:
        sheet.write_datetime(row, number, cell, moment)
    elif isinstance(cell, dt.date) and not isinstance(cell, dt.datetime) and cell.year >= 1900:
        sheet.write_datetime(row, number, cell, day)
    else:
        label = written(cell)
        if len(label) > _LONGEST_CELL:
            raise OutputError(f"An Excel cell holds {_LONGEST_CELL:,} characters at most; {_TOO_MUCH}.")
        sheet.write_string(row, number, label)
