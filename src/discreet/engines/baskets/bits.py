"""Bit files: the bit columns of baskets on disk, mapped into memory when they are read."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.baskets.bits import ItemBits
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.engines.atomic import atomic_file, require_new_file
from discreet.engines.files import reason, require_file

MAGIC = b"discbits"
VERSION = 1
_HEADER = struct.Struct("<8sIIQQQI4x")
"""Magic, version, words per block, baskets, items, bytes of the names, checksum of all these and the names."""
_PAGE = 4096
_DISTORTED = b"distorted"


@public
def write_bits(bits: ItemBits, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write bit columns to a file, all or nothing, and return its path.

    A header (sizes, names, the public probabilities of distorted bits, a checksum of all) is followed by the words as
    they are in memory, block-major and little-endian, from a whole page on.

    Parameters
    ----------
    bits : ItemBits
        What to write.
    path : path
        The file, by custom ending in .bits.
    overwrite : bool
        Whether a file that is there is replaced.
    """
    target = Path(path)
    require_new_file(target, overwrite=overwrite)
    names = _spelled(bits)
    header = _sealed(bits.n, bits.n_items, names) + names
    with atomic_file(target) as temporary, temporary.open("wb") as stream:
        stream.write(header.ljust(_start(len(names)), b"\0"))
        stream.write(np.ascontiguousarray(bits.blocks, "<u8").data)
    return target


@public
def read_bits(path: str | os.PathLike[str]) -> ItemBits:
    """Read bit columns from a file; the words stay on disk, mapped into memory, until they are used.

    The checksum guards the header and the names; the words are only counted.
    """
    source = Path(path)
    try:
        require_file(source)
        n, names, distorted, start = _header(source)
        blocks = _mapped(source, n, len(names), start)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {reason(error)}.") from None
    try:
        return ItemBits(blocks, n, names, distorted)
    except InputError:
        raise InputError(f"{source} has bits set beyond its last basket; it is damaged.") from None


def is_bit_file(path: Path) -> bool:
    """Determine by its first bytes whether a file is a bit file."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def _header(source: Path) -> tuple[int, pa.Array, tuple[float, float] | None, int]:
    with source.open("rb") as stream:
        head = stream.read(_HEADER.size)
        if head[: len(MAGIC)] != MAGIC:
            raise InputError(f"{source} is no bit file: it does not begin as one.")
        if len(head) < _HEADER.size:
            raise InputError(f"{source} is a bit file that is cut short.")
        _, version, words, n, n_items, size, _ = _HEADER.unpack(head)
        if version != VERSION:
            raise InputError(
                f"{source} is a bit file of version {version}; only version {VERSION} can be read."
            )
        if size > source.stat().st_size:
            raise InputError(f"{source} is a bit file that is cut short, or its header is damaged.")
        spelled = stream.read(size)
    if head != _sealed(n, n_items, spelled) or words != _words():
        raise InputError(f"{source} is a bit file whose header is damaged: its checksum does not fit.")
    table = pa.ipc.open_stream(spelled).read_all()
    names = table.column(0).combine_chunks()
    stated = (table.schema.metadata or {}).get(_DISTORTED)
    if len(names) != n_items:
        raise InputError(
            f"{source} is a bit file whose header does not fit: {n_items} items, {len(names)} names."
        )
    distorted = None if stated is None else _probabilities(stated)
    return n, names, distorted, _start(size)


def _mapped(source: Path, n: int, n_items: int, start: int) -> NDArray[np.uint64]:
    shape = (-(-n // (64 * _words())), n_items, _words())
    size = shape[0] * shape[1] * shape[2] * 8
    there = source.stat().st_size - start
    if there != size:
        how = "cut short" if there < size else "too long"
        raise InputError(
            f"{source} is a bit file that is {how}: {size} bytes of bits are announced, {there} there."
        )
    if not size:
        return np.zeros(shape, np.uint64)
    return np.asarray(np.memmap(source, "<u8", "r", start, shape))


def _sealed(n: int, n_items: int, names: bytes) -> bytes:
    fields = (MAGIC, VERSION, _words(), n, n_items, len(names))
    # The checksum is that of the header with 0 in the checksum's own place, and of the names.
    return _HEADER.pack(*fields, zlib.crc32(names, zlib.crc32(_HEADER.pack(*fields, 0))))


def _probabilities(stated: bytes) -> tuple[float, float]:
    p, q = map(float, stated.split())
    return p, q


def _spelled(bits: ItemBits) -> bytes:
    """Return the names, with the probabilities of distorted bits beside them, which are public."""
    sink = pa.BufferOutputStream()
    table = pa.table({"item": bits.names})
    if bits.distorted is not None:
        p, q = bits.distorted
        table = table.replace_schema_metadata({_DISTORTED: f"{p!r} {q!r}"})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    spelled: bytes = sink.getvalue().to_pybytes()
    return spelled


def _start(size: int) -> int:
    return -(-(_HEADER.size + size) // _PAGE) * _PAGE


def _words() -> int:
    from discreet.kernels.itemsets.bits import WORDS

    return WORDS
