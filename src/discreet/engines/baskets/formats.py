"""The format of a file of baskets, detected from its ending and its first bytes."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import InputError, OutputError
from discreet.engines.baskets.bits import is_bit_file
from discreet.engines.baskets.fimi import looks_like_spmf
from discreet.engines.formats import ALL, TABS, ending, open_unpacked, separator

FORMATS = ("fimi", "spmf", "lines", "long", "onehot", "bits", "sparse")
ENDINGS = (".dat", ".bits", ".npz", ".spmf")
"""The endings that only files of baskets have."""
_TABLES = tuple(
    suffix for file_format in ALL if file_format.reader != "text" for suffix in file_format.endings
)
_SAMPLE = 1 << 16
_RAGGED = 0.8
"""The largest share of lines with the same length for which lines are read as baskets, not as a table."""
_TRUTH = {"0", "1", "true", "false", "True", "False", "TRUE", "FALSE"}


@dataclass(frozen=True)
class Mark:
    """One character that can separate cells."""

    def admits(self, value: object) -> bool:
        """Return whether the value is such a character."""
        return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in '\r\n\0"'

    def __str__(self) -> str:
        return "one ASCII character"


def format_from_name(path: Path) -> str:
    """Return the format to write, by the ending of the file's name."""
    kind = {".dat": "fimi", ".bits": "bits", ".npz": "sparse"}.get(ending(path))
    if kind is None:
        raise OutputError(
            f"{path}: the ending names no format of baskets; pass format, one of {', '.join(FORMATS)}."
        )
    return kind


def format_from_content(path: Path, *, long: bool, delimiter: str | None) -> str:
    """Return the format of a file to read, by its ending and its beginning; what is not clear is refused."""
    if long:
        return "long"
    if is_bit_file(path) or ending(path) == ".bits":
        return "bits"
    if ending(path) == ".npz":
        return "sparse"
    kind = None
    if ending(path) not in _TABLES:
        head = _head(path)
        kind = _spaced(head, ending(path)) if delimiter is None else None
        if ending(path) != ".dat":
            kind = kind or _delimited(head, delimiter or separator(path))
    if kind is None:
        raise InputError(
            f"{path}: the format of the baskets is not recognized; pass format, one of {', '.join(FORMATS)}, or"
            " for a long table the names of its columns, basket and item.",
            fix={"format": "lines"},
        )
    return kind


def _head(path: Path) -> str:
    """Return the beginning of a text, up to its last whole line."""
    with open_unpacked(path) as stream:
        head: bytes = stream.read(_SAMPLE)
    if len(head) == _SAMPLE and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]
    return head.decode("utf-8-sig", "replace")


def _spaced(head: str, suffix: str) -> str | None:
    """Return the format of items between spaces: whole numbers, or in a .dat file anything without delimiters."""
    if suffix in (".csv", *TABS) or any(mark in head for mark in ",;|"):
        return None
    if looks_like_spmf(head):
        return "spmf"
    numbers = all(token.lstrip("-").isdigit() for token in head.split())
    return "fimi" if suffix == ".dat" or (numbers and head.split()) else None


def _delimited(head: str, delimiter: str) -> str | None:
    """Return "onehot" for a header above nothing but truth values, else the format of lines, or None."""
    try:
        records = list(_records(head, delimiter))
    except csv.Error:
        return None
    if len(records) < 2 or delimiter not in head:
        return None
    cells = {cell.strip() for record in records[1:] for cell in record}
    same = len({len(record) for record in records}) == 1
    if same and cells <= _TRUTH and not {cell.strip() for cell in records[0]} <= _TRUTH:
        return "onehot"
    lengths = Counter(len(record) for record in records if record)
    ragged = max(lengths.values()) <= _RAGGED * lengths.total()
    return "lines" if ragged else None


def _records(head: str, delimiter: str) -> Iterator[list[str]]:
    lines = head.splitlines(keepends=True)
    return itertools.islice(csv.reader(lines, delimiter=delimiter, strict=False), 10_000)
