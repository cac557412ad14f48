"""Sketch files: sketches of unequal lengths in an Arrow file, with the fingerprint of their key and a checksum."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.records.sketches import Sketches
from discreet.engines.atomic import atomic_file, require_new_file
from discreet.engines.files import reason, require_file

VERSION = 1
_MARK = b"discreet.sketches"
_FAMILY = b"discreet.family"
_SUM = b"discreet.checksum"


@public
def write_sketches(sketches: Sketches, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write sketches to an Arrow file, all or nothing, and return its path.

    Any reader of Arrow files shows a column ``sketch`` of lists. The metadata has the version, the fingerprint
    of the key (not the key) and a checksum.
    """
    target = Path(path)
    require_new_file(target, overwrite=overwrite)
    table = sketches.to_arrow()
    metadata = {_MARK: str(VERSION), _FAMILY: sketches.family, _SUM: str(_checksum(sketches))}
    table = table.replace_schema_metadata(metadata)
    with (
        atomic_file(target) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    return target


@public
def read_sketches(path: str | os.PathLike[str]) -> Sketches:
    """Read sketches from a file; one that is cut short, damaged or of another version is refused."""
    source = Path(path)
    table = _table(source)
    metadata = table.schema.metadata or {}
    if _MARK not in metadata or table.column_names != ["sketch"] or not _is_ragged(table.column(0).type):
        raise InputError(f"{source} is an Arrow file, but none of sketches.")
    if metadata[_MARK] != str(VERSION).encode():
        version = metadata[_MARK].decode(errors="replace")
        raise InputError(f"{source} holds sketches of version {version}; only version {VERSION} can be read.")
    return _sketches(table, metadata, source)


def _table(source: Path) -> pa.Table:
    """Read an Arrow file; it is validated before anything is done with it, since a wrong offset could end the process.

    Arrow's own errors about a file's content are OSErrors too, without a number.
    """
    try:
        require_file(source)
        with pa.OSFile(str(source), "rb") as stream:
            table = pa.ipc.open_file(stream).read_all()
        table.validate(full=True)
        return table
    except OSError as error:
        cause = reason(error) if error.errno else None
    except (pa.ArrowException, ValueError):
        cause = None
    if cause:
        raise InputError(f"{source} cannot be read: {cause}.")
    raise InputError(f"{source} is no file of sketches, or one that is cut short or damaged.")


def _sketches(table: pa.Table, metadata: dict[bytes, bytes], source: Path) -> Sketches:
    column = table.column("sketch")
    lists = column.chunks if column.num_chunks else [pa.array([], column.type)]
    try:
        parts = [
            Sketches(
                chunk.flatten().to_numpy(zero_copy_only=False),
                np.asarray(chunk.offsets) - chunk.offsets[0].as_py(),
                metadata.get(_FAMILY, b"").decode(),
            )
            for chunk in lists
        ]
        sketches = Sketches.concat(parts)
        fits = str(_checksum(sketches)).encode() == metadata.get(_SUM)
    except (InputError, ValueError, pa.ArrowException):
        fits = False
    if not fits:
        raise InputError(f"{source} is a file of sketches that is damaged: its checksum does not fit.")
    return sketches


def _is_ragged(kind: pa.DataType) -> bool:
    return pa.types.is_large_list(kind) and kind.value_type in (pa.float64(), pa.int16(), pa.int8())


def _checksum(sketches: Sketches) -> int:
    lengths = np.ascontiguousarray(sketches.lengths, "<i8")
    values = np.ascontiguousarray(sketches.values, sketches.values.dtype.newbyteorder("<"))
    return zlib.crc32(values.data, zlib.crc32(lengths.data, zlib.crc32(sketches.family.encode())))
