"""Delimited text: its encoding checked, its delimiter found by trying, its column names."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import itertools
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from discreet.core.errors import InputError
from discreet.core.params import unknown

EDGES = " \t\r\n\f\v\u00a0"
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 16
_NUMBER = re.compile(r"[-+]?\d+([., ]\d+)*([eE][-+]?\d+)?|\d{4}-\d\d-\d\d")
_LONGEST_NAME = 255


@dataclass(frozen=True)
class Dialect:
    """How a file separates its cells, the blank lines it starts with, and the names of its columns."""

    delimiter: str
    quote: str
    skip: int
    header: bool
    names: tuple[str, ...]


def sniff(
    utf8_file: Path,
    *,
    delimiter: str | None,
    quote: str,
    header: bool,
    display_path: Path,
    named: Collection[str] = (),
) -> Dialect:
    """Find the delimiter, by the share of records as long as the first, and the column names.

    Where the caller has named every column, the first line is the header, whatever it looks like.
    """
    with utf8_file.open("rb") as stream:
        head = stream.read(_SAMPLE)
    # The last character of the sample may be cut.
    sample = head.decode("utf-8", "ignore")
    delimiter = delimiter or _best_delimiter(sample, quote, cut=len(head) == _SAMPLE)
    with utf8_file.open(encoding="utf-8", newline="") as lines:
        skip = sum(1 for _ in itertools.takewhile(lambda line: not line.strip(EDGES), lines))
        lines.seek(0)
        for _ in range(skip):
            next(lines)
        try:
            first = next(reader(lines, delimiter, quote, strict=False), None)
        except csv.Error:
            raise InputError(f"{display_path} has no readable first line; is a quote never closed?") from None
    if first is None:
        raise InputError(f"{display_path} is empty.")
    if not header:
        names = tuple(f"column{number}" for number in range(1, len(first) + 1))
    else:
        names = tuple(name.strip(EDGES) for name in first)
        check_names(names, display_path)
        if not set(names) <= set(named):
            refuse_data(names, display_path)
            _refuse_repeated(names, sample, delimiter, quote, display_path)
    return Dialect(delimiter, quote, skip, header, names)


def check_names(names: Sequence[str], display_path: object) -> None:
    """Refuse empty and repeated names, by position: a first line may be data."""
    empty = [number for number, name in enumerate(names, 1) if not name]
    if empty:
        raise InputError(f"{display_path}: {_columns(empty)} no name; name every column.")
    places: dict[str, list[int]] = {}
    for number, name in enumerate(names, 1):
        places.setdefault(name.casefold(), []).append(number)
    repeated = [where for where in places.values() if len(where) > 1]
    if repeated:
        where = " and ".join(str(number) for number in repeated[0][:2])
        raise InputError(
            f"{display_path}: columns {where} have the same name but for letter case ({len(repeated)} such"
            f" name{'s' * (len(repeated) > 1)}); rename them, or pass header=False if there is no header.",
            fix={"header": False},
        )


def _columns(numbers: Sequence[int]) -> str:
    listed = ", ".join(str(number) for number in numbers[:5]) + (", …" if len(numbers) > 5 else "")
    return f"column {listed} has" if len(numbers) == 1 else f"columns {listed} have"


def refuse_data(names: Sequence[str], display_path: Path) -> None:
    """Refuse a first line that holds numbers, unless they count evenly (0, 1, 2 or 2019, 2020, 2021)."""
    if any(len(name) > _LONGEST_NAME for name in names):
        raise InputError(
            f"{display_path}: the first line looks like data, not like column names (one has more than"
            f" {_LONGEST_NAME} characters); pass header=False, or name the columns.",
            fix={"header": False},
        )
    numbers = [name for name in names if _NUMBER.fullmatch(name)]
    if not numbers:
        return
    if len(numbers) > 1 and all(re.fullmatch(r"\d{1,9}", name) for name in numbers):
        steps = {int(later) - int(name) for name, later in itertools.pairwise(numbers)}
        if steps == {1}:
            return
    raise InputError(
        f"{display_path}: the first line looks like data, not like column names ({len(numbers)} of {len(names)} are"
        " numbers); pass header=False, or name the columns.",
        fix={"header": False},
    )


def _refuse_repeated(
    names: Sequence[str], sample: str, delimiter: str, quote: str, display_path: Path
) -> None:
    """Refuse a first line whose cells come again in their own columns, beside other values: it is a record.

    A column that holds nothing but its own name or nothing is one of several answers; a line that repeats all names is
    a repeated header.
    """
    values_by_column: list[set[str]] = [set() for _ in names]
    with contextlib.suppress(csv.Error):
        records = reader(io.StringIO(sample, newline=""), delimiter, quote, strict=False)
        for record in itertools.islice((record for record in records if any(record)), 1, None):
            cells = [cell.strip(EDGES) for cell in record]
            if len(cells) == len(names) and tuple(cells) != tuple(names):
                for values, cell in zip(values_by_column, cells, strict=True):
                    values.add(cell)
    again = sum(
        name in values and len(values - {"", name}) > 0
        for name, values in zip(names, values_by_column, strict=True)
    )
    if again:
        raise InputError(
            f"{display_path}: the first line looks like data, not like column names ({again} of {len(names)} occur"
            " as values in their own columns); pass header=False, or name the columns.",
            fix={"header": False},
        )


def _best_delimiter(sample: str, quote: str, *, cut: bool) -> str:
    best, best_score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            lines = io.StringIO(sample, newline="")
            lengths = [len(record) for record in reader(lines, delimiter, quote, strict=False) if any(record)]
        except csv.Error:
            continue
        if cut and len(lengths) > 1:
            # The last record of the sample may be cut.
            lengths.pop()
        if lengths and lengths[0] > 1:
            # Of delimiters that divide as evenly, the one that makes more cells.
            score = (lengths.count(lengths[0]) / len(lengths), lengths[0])
            if score > best_score:
                best, best_score = delimiter, score
    return best


def reader(lines: Iterable[str], delimiter: str, quote: str, *, strict: bool) -> Iterator[list[str]]:
    """Read records the way DuckDB does: spaces before a quote do not count."""
    if not quote:
        return csv.reader(
            lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, skipinitialspace=delimiter != " "
        )
    return csv.reader(
        lines, delimiter=delimiter, quotechar=quote, skipinitialspace=delimiter != " ", strict=strict
    )


_CHUNK = 1 << 22
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ARCHIVES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
# The little-endian mark of UTF-32 begins with that of UTF-16, and so comes before it.
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
            # Read to the end only to see that all of it can be decoded.
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

    with pa.OSFile(os.fspath(path), "rb") as packed:
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
        # A codec that is named with its order of bytes leaves the mark in the text.
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
