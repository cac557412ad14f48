"""Lines of items between white space: the FIMI form, and SPMF's form of sequences."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.core.arrays import IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.forms import with_numbers
from discreet.core.baskets.names import sorted_names, spoken
from discreet.core.errors import InputError, OutputError
from discreet.engines.atomic import scratch_folder
from discreet.engines.baskets.lines import count_names, write_rows
from discreet.engines.formats import is_packed
from discreet.engines.text.dialect import utf8_copy
from discreet.kernels import ragged

_SPACES = "[ \\t\\r\\n\\v\\f]"
_ROOM = 1 << 16
_BETWEEN, _END = -1, -2


def read_fimi(path: Path) -> Baskets:
    """Read one basket per line, its items between spaces or tabs; an empty line is an empty basket.

    Items are whole numbers where all of them are written as such (no plus, no leading zeros), otherwise text.
    """
    from discreet.kernels.baskets.fimi import FINE, parse

    if is_packed(path):
        return _read_plain(path)
    state, indptr, numbers = parse(_ended(np.memmap(path, np.uint8, "r")))
    return _of_numbers(indptr, numbers) if state == FINE else _read_plain(path)


def read_spmf(path: Path) -> Baskets:
    """Read SPMF's sequences: whole numbers, -1 after each set of items, -2 at the end of each basket."""
    from discreet.kernels.baskets.fimi import FINE, parse

    folder = scratch_folder()
    try:
        clear = utf8_copy(path, None, folder) if is_packed(path) else path
        state, indptr, numbers = parse(_ended(np.memmap(clear, np.uint8, "r")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if state != FINE:
        raise InputError(f"{path} holds something other than whole numbers of 64 bits; it is no SPMF file.")
    numbers = numbers.astype(np.int64)
    there = np.flatnonzero(np.diff(indptr))
    ended = np.zeros(numbers.size, np.bool_)
    ended[indptr[there + 1] - 1] = True
    if ((numbers == _END) != ended).any() or (numbers < _END).any():
        raise InputError(
            f"{path} has lines without one -2, which must end them, or negative items: no SPMF file."
        )
    n_items_before = ragged.bounds(numbers >= 0)
    return _of_numbers(n_items_before[np.append(indptr[there], indptr[-1])], numbers[numbers >= 0])


def looks_like_spmf(head: str) -> bool:
    """Return whether every line of a file's beginning ends as SPMF's do, with -1 and -2."""
    lines = [line.split() for line in head.splitlines() if line.strip()]
    ends = [line[-2:] for line in lines]
    return ["-1", "-2"] in ends and all(end in (["-1", "-2"], ["-2"]) for end in ends)


def write_fimi(baskets: Baskets, path: Path, display_path: Path) -> None:
    """Write one basket per line, its items separated by spaces."""
    names = spoken(baskets.names, form="items of FIMI lines")
    bad = count_names(baskets.names, f"{_SPACES}|^$|\\x00|^\\x{{FEFF}}")
    if bad:
        raise OutputError(
            f"{bad} item names are empty or hold white space, which FIMI lines cannot hold; use another format."
        )
    write_rows(
        baskets, [f"{name} " for name in names], close="\n", cut=1, path=path, display_path=display_path
    )


def write_spmf(baskets: Baskets, path: Path, display_path: Path) -> None:
    """Write SPMF's sequences, every item a set of its own."""
    if not pa.types.is_int64(baskets.names.type) and baskets.n_items:
        raise OutputError("SPMF files hold whole numbers only, and the items are text; use another format.")
    if baskets.n_items and pc.min(baskets.names).as_py() < 0:
        raise OutputError("SPMF files cannot hold negative items; use another format.")
    words = [f"{name} -1 " for name in baskets.names.to_pylist()]
    write_rows(baskets, words, close="-2\n", cut=0, path=path, display_path=display_path)


def _ended(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return bytes that end with a newline, not to be written to."""
    ended = np.asarray(data)
    if ended[-1] != ord("\n"):
        ended = np.append(ended, np.uint8(ord("\n")))
        ended.flags.writeable = False
    return ended


def _of_numbers(indptr: IntArray, numbers: NDArray[np.int32] | IntArray) -> Baskets:
    from discreet.kernels.baskets.fimi import encode

    # Coding by number needs room up to the largest; few large numbers are sorted instead.
    if numbers.dtype == np.int32 and (not numbers.size or numbers.max() < _ROOM + 8 * numbers.size):
        distinct, indptr, items = encode(indptr, numbers.astype(np.int32, copy=False))
        return Baskets(indptr, items, pa.array(distinct))
    names, codes = sorted_names(pa.array(numbers), where="in the file")
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    return Baskets.from_entries(rows, codes, names, n=indptr.size - 1)


def _read_plain(path: Path) -> Baskets:
    """Read what the fast way does not: packed files, byte order marks, text, other line ends."""
    from discreet.kernels.baskets.fimi import FINE, parse

    folder = scratch_folder()
    try:
        clear = utf8_copy(path, None, folder)
        data = clear.read_bytes()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    state, indptr, numbers = parse(_ended(np.frombuffer(data, np.uint8)))
    if state == FINE:
        return _of_numbers(indptr, numbers)
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n").split(b"\n")
    split = [line.split() for line in lines]
    names, codes = sorted_names(
        pa.array([item for line in split for item in line], pa.string()), where="in the file"
    )
    rows = np.repeat(np.arange(len(split)), [len(line) for line in split])
    return with_numbers(Baskets.from_entries(rows, codes, names, n=len(split)))
