"""What the endings of file names say, and packed files: told by their first bytes when they are read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core.errors import InputError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
TABS = (".tsv", ".tab")
PACKED = (".gz", ".zst", ".zstd")


def is_packed(path: Path) -> bool:
    """Return whether a file is packed, or calls itself so."""
    return _starts(path, _GZIP) or _starts(path, _ZSTD) or path.suffix.lower() in PACKED


def ending(path: Path) -> str:
    """Return the ending of a file's name, in small letters, without that of its packing."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def separator(path: Path) -> str:
    """Return what separates the cells of delimited text, as the ending of its name has it."""
    return "\t" if ending(path) in TABS else ","


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file to read its bytes, unpacked; a damaged archive is an InputError."""
    import pyarrow as pa

    packing = "gzip" if _starts(path, _GZIP) else "zstd" if _starts(path, _ZSTD) else None
    try:
        with pa.input_stream(str(path), compression=packing) as stream:
            yield stream
    except (OSError, pa.ArrowException):
        if packing is None:
            raise
        raise InputError(f"{path} is a {packing} file that is cut short or damaged.") from None


def write_bytes(path: Path, data: Any, *, shown: Path) -> None:
    """Write bytes, packed as the ending of the shown name says."""
    suffix = shown.suffix.lower()
    if suffix == ".gz":
        with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
            stream.write(data)
    elif suffix in PACKED:
        import pyarrow as pa

        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(data)
    else:
        path.write_bytes(data)


def _starts(path: Path, magic: bytes) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic
