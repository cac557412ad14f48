"""Readers and writers of baskets: FIMI lines, SPMF sequences, comma lines, long and one-hot tables, bits, sparse."""

from __future__ import annotations

import csv
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import DiscreetError, InputError, OutputError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.engines.atomic import atomic_file, require_new_file
from discreet.engines.baskets.bits import is_bit_file, read_bits, write_bits
from discreet.engines.baskets.fimi import looks_like_spmf, read_fimi, read_spmf, write_fimi, write_spmf
from discreet.engines.baskets.lines import read_lines, write_lines
from discreet.engines.baskets.tables import (
    read_long,
    read_onehot,
    read_sparse,
    write_long,
    write_onehot,
    write_sparse,
)
from discreet.engines.files import reason, require_file
from discreet.engines.formats import ALL, TABS, ending, open_unpacked, separator

_NOTHING = OneOf((None,))
_NAME = InstanceOf((str,), "the name of a column")
_DELIMITED = ("lines", "long", "onehot")


@public
def read_baskets(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    basket: str | None = None,
    item: str | None = None,
    delimiter: str | None = None,
) -> Baskets:
    """Read baskets from a file.

    Parameters
    ----------
    path : path
        The file; text may be packed (.gz, .zst).
    format : {"fimi", "spmf", "lines", "long", "onehot", "bits", "sparse"}, optional
        By default it follows from the ending and the first bytes; where it does not, that is an error.

        - "fimi" (.dat): a basket per line, items between spaces or tabs. An empty line is an empty basket.
        - "spmf": a basket per line of whole numbers, -1 after each item, -2 at the end.
        - "lines": a basket per line, items between commas, quoted where needed. An empty line is an empty basket.
        - "long": a table (CSV, Parquet, Arrow, JSON lines) with a row per entry, columns ``basket`` and ``item``.
        - "onehot": a table with a column of 0 and 1, or false and true, for each item.
        - "bits" (.bits): the bit columns that `write_bits` writes.
        - "sparse" (.npz): a matrix of scipy; its columns are numbered from 0 unless the file names them.
    basket, item : str, optional
        The columns of a long table.
    delimiter : str, optional
        What separates cells of delimited text; by default a comma, or a tab in .tsv files.

    Notes
    -----
    In text, items are whole numbers if every one is written as a whole number (no plus, no leading zeros), otherwise
    they are all text.
    """
    require("read_baskets", "format", format, OneOf((None, *FORMATS)))
    require("read_baskets", "basket", basket, _NOTHING, _NAME)
    require("read_baskets", "item", item, _NOTHING, _NAME)
    require("read_baskets", "delimiter", delimiter, _NOTHING, Mark())
    source = Path(path)
    try:
        require_file(source)
        kind = format or format_from_content(
            source, long=basket is not None or item is not None, delimiter=delimiter
        )
        _require_fitting(kind, basket, item, delimiter)
        return _read(source, kind, basket, item, delimiter)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}.") from None
    except DiscreetError as error:
        raise error from None


@public
def write_baskets(
    baskets: Baskets,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    overwrite: bool = False,
    lossy: bool = False,
) -> Path:
    """Write baskets to a file, all or nothing, and return its path.

    Parameters
    ----------
    baskets : Baskets
        What to write.
    path : path
        The file; a second ending .gz or .zst packs text.
    format : {"fimi", "spmf", "lines", "long", "onehot", "bits", "sparse"}, optional
        As in `read_baskets`. By default it follows from the ending: .dat is "fimi", .bits "bits", .npz "sparse".
    overwrite : bool
        Whether a file that is there is replaced.
    lossy : bool
        Whether what the format cannot hold may be left out: items that no basket holds ("fimi", "spmf", "lines",
        "long"), and empty baskets ("long"). Otherwise they are refused. One-hot tables, bit files and sparse matrices
        hold both.
    """
    require("write_baskets", "format", format, OneOf((None, *FORMATS)))
    target = Path(path)
    kind = format or format_from_name(target)
    fitting = _fitting(baskets, kind, lossy=lossy)
    require_new_file(target, overwrite=overwrite)
    if kind == "bits":
        return write_bits(fitting.bits(), target, overwrite=overwrite)
    if kind == "long":
        return write_long(fitting, target)
    writers: dict[str, Callable[..., None]] = {
        "fimi": write_fimi,
        "spmf": write_spmf,
        "lines": write_lines,
        "onehot": write_onehot,
        "sparse": write_sparse,
    }
    try:
        with atomic_file(target) as temporary:
            writers[kind](fitting, temporary, target)
    except DiscreetError as error:
        raise error from None
    return target


def _read(source: Path, kind: str, basket: str | None, item: str | None, delimiter: str | None) -> Baskets:
    if kind == "long":
        return read_long(source, basket=str(basket), item=str(item), delimiter=delimiter)
    if kind == "bits":
        return read_bits(source).baskets()
    readers: dict[str, Callable[..., Baskets]] = {
        "fimi": read_fimi,
        "spmf": read_spmf,
        "lines": read_lines,
        "onehot": read_onehot,
        "sparse": read_sparse,
    }
    options: dict[str, Any] = {} if delimiter is None else {"delimiter": delimiter}
    return readers[kind](source, **options)


def _require_fitting(kind: str, basket: str | None, item: str | None, delimiter: str | None) -> None:
    """Refuse options that the format has no use for, and columns that it lacks."""
    for name, column in (("basket", basket), ("item", item)):
        require("read_baskets", name, column, _NAME if kind == "long" else _NOTHING)
    if kind not in _DELIMITED:
        require("read_baskets", "delimiter", delimiter, _NOTHING)


def _fitting(baskets: Baskets, kind: str, *, lossy: bool) -> Baskets:
    """Return what the format can store, or refuse what it cannot."""
    if kind in ("bits", "sparse"):
        return baskets
    if not len(baskets):
        raise OutputError("There are no baskets to write.")
    if kind == "onehot":
        return baskets
    unused = int(np.count_nonzero(baskets.counts == 0))
    empty = int(np.count_nonzero(baskets.lengths == 0)) if kind == "long" else 0
    if (unused or empty) and not lossy:
        what = [f"{unused} items that no basket holds"] * bool(unused) + [f"{empty} empty baskets"] * bool(
            empty
        )
        raise OutputError(
            f"The format '{kind}' cannot hold {' and '.join(what)}; pass lossy=True to leave them out, or use"
            " 'bits', 'onehot' or 'sparse'."
        )
    if empty:
        baskets = baskets.take(np.flatnonzero(baskets.lengths))
        if not len(baskets):
            raise OutputError("There are no baskets to write but empty ones.")
    return baskets.keep(baskets.counts > 0) if unused else baskets


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
