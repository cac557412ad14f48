"""Released files as an attacker reads them: cells as text, and every byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

TEXT = ("csv", "tsv", "jsonl")
METADATA = ("codebook.csv", "croissant.json", "datapackage.json")
"""What stands beside the rows of every released table."""
_DELIMITERS = {"csv": ",", "tsv": "\t"}


def rows_of(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a file with every cell as it is written; a null is None, an empty text is not."""
    if kind in _DELIMITERS:
        lines = tokens(path.read_text(encoding="utf-8"), _DELIMITERS[kind])
        return [dict(zip(_unquoted(lines[0]), line, strict=True)) for line in lines[1:]]
    if kind == "jsonl":
        return [
            {
                name: None if cell is None else repr(cell)
                for name, cell in json.loads(line, parse_float=str).items()
            }
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
    table = parquet.read_table(path) if kind == "parquet" else arrow_table(path)
    columns = [
        [None if cell is None else repr(cell) for cell in column.to_pylist()] for column in table.columns
    ]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def cells_of(path: Path, kind: str, name: str) -> list[Any]:
    """Return one column of a file, every cell as it is written."""
    return [row[name] for row in rows_of(path, kind)]


def arrow_table(path: Path) -> pa.Table:
    """Read an Arrow file."""
    with pa.OSFile(str(path), "rb") as source:
        return pa.ipc.open_file(source).read_all()


def tokens(text: str, delimiter: str) -> list[list[str]]:
    """Split delimited text into cells, quotes and all, so that "" and nothing are told apart."""
    lines: list[list[str]] = [[""]]
    quoted = False
    for sign in text.removesuffix("\n"):
        quoted ^= sign == '"'
        if quoted or sign not in (delimiter, "\n"):
            lines[-1][-1] += sign
        elif sign == delimiter:
            lines[-1].append("")
        else:
            lines.append([""])
    return lines


def _unquoted(cells: list[str]) -> list[str]:
    return [cell[1:-1].replace('""', '"') if cell.startswith('"') else cell for cell in cells]


def bytes_of(folder: Path) -> bytes:
    """Return all bytes of all files of a folder, and their names."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return b"".join(path.name.encode() + path.read_bytes() for path in files)
