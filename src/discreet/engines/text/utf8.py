"""Text files made plain: decompressed, decoded to UTF-8 and checked, in place where nothing has to change."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from discreet.core.errors import InputError
from discreet.core.params import unknown

_CHUNK = 1 << 22
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ARCHIVES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def utf8_copy(path: Path, encoding: str | None, folder: Path) -> Path:
    """Return a UTF-8 file without byte order mark or NUL: the file itself, or a plain copy in the folder."""
    _require_codec(encoding)
    with _opened(path) as stream:
        start = stream.read(4)
        if not start:
            raise InputError(f"{path} is empty.")
        if start.startswith(_ARCHIVES):
            raise InputError(
                f"{path} is an archive or a spreadsheet, not text; name it by its ending, such as .xlsx, or unpack it."
            )
        mark = next((name for mark, name in _MARKS if start.startswith(mark)), None)
        codec = encoding or mark or "utf-8"
        utf8 = codecs.lookup(codec).name == "utf-8"
        if mark == "utf-8-sig" and utf8:
            codec = mark
        if utf8 and mark is None and not _is_packed(path):
            for _ in _decoded(stream, start, codec, path, stated=encoding is not None):
                pass
            return path
        copy = folder / "plain"
        with copy.open("wb") as target:
            for text in _decoded(stream, start, codec, path, stated=encoding is not None):
                target.write(text.encode("utf-8"))
        return copy


def _require_codec(encoding: str | None) -> None:
    if encoding is None:
        return
    try:
        "".encode(encoding)
    except (LookupError, UnicodeError):
        raise unknown(
            "read", "encoding", encoding, ["utf-8", "latin-1", "cp1252", "another Python codec"]
        ) from None


def _magic(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4)


def _is_packed(path: Path) -> bool:
    return _magic(path).startswith((_GZIP, _ZSTD))


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file, decompressed by what its first bytes say; a broken archive is an InputError."""
    magic = _magic(path)
    suffix = path.suffix.lower()
    if (suffix == ".gz" and not magic.startswith(_GZIP)) or (suffix in (".zst", ".zstd") and magic != _ZSTD):
        raise InputError(
            f"{path} is empty." if not magic else f"{path} is not a {suffix} file, whatever its name says."
        )
    if magic.startswith(_GZIP):
        try:
            with gzip.open(path, "rb") as stream:
                yield stream
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(f"{path} is a gzip file that is cut short or damaged.") from None
    elif magic == _ZSTD:
        yield from _unpacked(path)
    else:
        with path.open("rb") as stream:
            yield stream


def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    import pyarrow as pa

    with pa.OSFile(str(path), "rb") as packed:
        try:
            with pa.CompressedInputStream(packed, "zstd") as stream:
                yield stream
        except (OSError, pa.ArrowException):
            raise InputError(f"{path} is a zstd file that is cut short or damaged.") from None


def _decoded(
    stream: IO[bytes] | gzip.GzipFile, start: bytes, codec: str, path: Path, *, stated: bool
) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(codec)("strict")
    lines = 1
    first = True
    chunk = start + stream.read(_CHUNK)
    while True:
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            line = lines + error.object[: error.start].count(b"\n")
            raise _not_decodable(path, codec, line, stated=stated) from None
        if "\0" in text:
            line = lines + text[: text.index("\0")].count("\n")
            raise InputError(
                f"{path} holds a NUL byte on line {line}; it is not a text file, or not {codec}."
            )
        yield text.removeprefix("\ufeff") if first else text
        if not chunk:
            return
        first = first and not text
        lines += text.count("\n")
        chunk = stream.read(_CHUNK)


def _not_decodable(path: Path, codec: str, line: int, *, stated: bool) -> InputError:
    if stated or codec != "utf-8":
        message = f"{path} is not {codec} text (line {line}); pass another encoding."
    else:
        message = f'{path} is not UTF-8 text (line {line}); try encoding="cp1252" or encoding="latin-1".'
    return InputError(message, fix={"encoding": "latin-1"})
