"""One basket per line, its items between commas, quoted where they need it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.forms import with_numbers
from discreet.core.baskets.names import WHOLE, sorted_names
from discreet.core.errors import InputError, OutputError
from discreet.engines.atomic import scratch_folder
from discreet.engines.formats import separator, write_bytes
from discreet.engines.text.dialect import utf8_copy
from discreet.kernels import ragged


def read_lines(path: Path, *, delimiter: str | None = None) -> Baskets:
    """Read one basket per line; an empty line is an empty basket, and an empty cell no item.

    Spaces around a cell do not count unless it is quoted. Items are whole numbers where every cell is written as one
    and none is quoted, otherwise text.
    """
    folder = scratch_folder()
    try:
        text = utf8_copy(path, None, folder).read_bytes().decode()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    delimiter = delimiter or separator(path)
    quoted = '"' in text
    flat, lengths = _quoted(text, delimiter, path) if quoted else _unquoted(text, delimiter)
    names, codes = sorted_names(flat, where="in the file")
    rows = np.repeat(np.arange(lengths.size), lengths)
    baskets = Baskets.from_entries(rows, codes, names, n=lengths.size)
    return baskets if quoted else with_numbers(baskets)


def write_lines(baskets: Baskets, path: Path, display_path: Path) -> None:
    """Write one basket per line, the items that need it in quotes."""
    if count_names(baskets.names, "\\x00"):
        raise OutputError("Some item names hold NUL characters, which text cannot hold; use another format.")
    delimiter = separator(display_path)
    text = pa.types.is_string(baskets.names.type)
    names = baskets.names.cast(pa.string()).to_pylist()
    words = [_spelled(name, delimiter) + delimiter if text else name + delimiter for name in names]
    write_rows(baskets, words, close="\n", cut=1, path=path, display_path=display_path)


def _unquoted(text: str, delimiter: str) -> tuple[pa.Array, IntArray]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    cells = pc.split_pattern(pa.array(lines, pa.large_string()), delimiter)
    flat = pc.utf8_trim(cells.flatten(), _blanks(delimiter))
    filled = pc.not_equal(flat, "")
    before = ragged.bounds(filled.to_numpy(zero_copy_only=False))
    ends = ragged.bounds(pc.list_value_length(cells).to_numpy(zero_copy_only=False))
    return flat.filter(filled), np.diff(before[ends])


def _quoted(text: str, delimiter: str, path: Path) -> tuple[pa.Array, IntArray]:
    blank = f"[{_blanks(delimiter)}]*"
    end = f"(?:{re.escape(delimiter)}|\r\n|\n|\r|\\Z)"
    # The group is possessive, so that a quote that is never closed is found without backtracking.
    cell = re.compile(
        f'{blank}"((?:[^"]+|"")*+)"{blank}({end})|{blank}(?!")([^{re.escape(delimiter)}\r\n]*)({end})'
    )
    flat: list[str] = []
    lengths = []
    position = before = 0
    while position < len(text):
        match = cell.match(text, position)
        if match is None:
            line = 1 + len(re.findall("\r\n|\n|\r", text[:position]))
            raise InputError(
                f"{path}, line {line}: a quoted item is never closed, or goes on after its closing quote."
            )
        within, close, bare, stop = match.groups()
        if within is not None:
            flat.append(within.replace('""', '"'))
        elif bare.strip(_blanks(delimiter)):
            flat.append(bare.strip(_blanks(delimiter)))
        position = match.end()
        if (close or stop or "") != delimiter or position == len(text):
            lengths.append(len(flat) - before)
            before = len(flat)
    return pa.array(flat, pa.string()), np.array(lengths, np.int64)


def _spelled(name: str, delimiter: str) -> str:
    """Spell a name, in quotes if it could be taken for something else."""
    special = set(f'{delimiter}"\r\n') & set(name)
    if special or not name or name != name.strip(" \t\ufeff") or WHOLE.fullmatch(name):
        return '"' + name.replace('"', '""') + '"'
    return name


def _blanks(delimiter: str) -> str:
    return " \t".replace(delimiter, "")


def write_rows(
    baskets: Baskets, words: Sequence[str], *, close: str, cut: int, path: Path, display_path: Path
) -> None:
    """Write a line per basket: the words of its items, less the last ``cut`` bytes, and what closes the line."""
    from discreet.kernels.baskets.fimi import spell

    spelled = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, spelled)])
    letters = np.frombuffer(b"".join(spelled), np.uint8)
    closing = np.frombuffer(close.encode(), np.uint8)
    write_bytes(
        path, spell(baskets.indptr, baskets.items, ends, letters, closing, cut=cut), display_path=display_path
    )


def count_names(names: pa.Array, pattern: str) -> int:
    """Count the names in which a pattern is found; numbers are taken as they are written."""
    matching = pc.match_substring_regex(names.cast(pa.string()), pattern)
    return int(pc.sum(matching).as_py() or 0)
