"""File formats: every ending, compression and optional package declared once; packed files, opened by their bytes."""

from __future__ import annotations

import gzip
import importlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal

from discreet.core.errors import DiscreetError, InputError, OutputError

DateOrder = Literal["dmy", "mdy", "ymd"]
DEFAULT_NULLS = ("", "NA", "N/A", "NULL", "null", "NaN", "nan", "?", "#N/A")
"""The cells of text files and spreadsheets that are read as null."""
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class FileFormat:
    """One format: its name, the endings of its files, how it is read, and whether it can be written.

    ``reader`` names the kind of reader: text, json, parquet, arrow, sheets or statistics. ``text`` formats may be
    packed. ``reads`` and ``writes`` name the optional packages, ``extra`` the extra of Discreet that installs them.
    """

    name: str
    endings: tuple[str, ...]
    reader: str
    written: bool = True
    text: bool = False
    reads: str | None = None
    writes: str | None = None
    extra: str | None = None


@dataclass(frozen=True)
class ReadOptions:
    """The options of `discreet.read`."""

    delimiter: str | None
    encoding: str | None
    quote: str
    header: bool
    decimal: str | None
    thousands: str | None
    nulls: tuple[str, ...]
    dates: DateOrder | None
    text: tuple[str, ...]
    sheet: str | int | None
    labels: bool


_EXCEL: dict[str, Any] = {"reader": "sheets", "reads": "python_calamine", "extra": "excel"}
_STATISTICS: dict[str, Any] = {"reader": "statistics", "reads": "pyreadstat", "extra": "statistics"}

ALL = (
    FileFormat("csv", (".csv", ".txt"), "text", text=True),
    FileFormat("tsv", (".tsv", ".tab"), "text", text=True),
    FileFormat("parquet", (".parquet", ".pq", ".parq"), "parquet"),
    FileFormat("arrow", (".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
    FileFormat("jsonl", (".jsonl", ".ndjson", ".json"), "json", text=True),
    FileFormat("xlsx", (".xlsx", ".xlsm"), writes="xlsxwriter", **_EXCEL),
    FileFormat("xls", (".xls", ".xlsb", ".ods"), written=False, **_EXCEL),
    FileFormat("sav", (".sav", ".zsav", ".por"), writes="pyreadstat", **_STATISTICS),
    FileFormat("dta", (".dta",), writes="pyreadstat", **_STATISTICS),
    FileFormat("sas", (".sas7bdat", ".xpt"), written=False, **_STATISTICS),
)
"""Every format, in the order in which they are listed."""

WRITTEN = tuple(file_format.name for file_format in ALL if file_format.written)
"""The names of the formats that can be written."""
PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
"""The endings of packed files, and how they are packed."""
PARQUET_COMPRESSION = "snappy"
"""How columns of Parquet files are packed."""


def format_named(name: str) -> FileFormat:
    """Return a format by its name."""
    return next(file_format for file_format in ALL if file_format.name == name)


TABS = format_named("tsv").endings
"""The endings of text between tabs."""


def format_of(path: PurePath) -> FileFormat | None:
    """Return the format of the ending of a file's name; None for an unknown ending.

    >>> format_of(Path("visits.tsv.gz")).name, format_of(Path("visits.SAV")).name, format_of(Path("visits"))
    ('tsv', 'sav', None)
    """
    last = ending(path)
    return next((file_format for file_format in ALL if last in file_format.endings), None)


def output_format(path: Path) -> str:
    """Return the name of the format in which data read from a file is written: its own, or CSV.

    >>> output_format(Path("visits.parquet")), output_format(Path("visits.ods")), output_format(Path("visits.sav"))
    ('parquet', 'xlsx', 'sav')
    """
    file_format = format_of(path)
    if file_format is None:
        return "csv"
    if file_format.written:
        return file_format.name
    return {"sheets": "xlsx", "statistics": "sav"}.get(file_format.reader, "csv")


def package(name: str, extra: str, purpose: str, *, error: type[DiscreetError] = InputError) -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        distribution = name.replace("_", "-")
        raise error(f"{purpose} needs the package {distribution}: pip install 'discreet[{extra}]'.") from None


def is_packed(path: Path) -> bool:
    """Return whether a file is packed, or calls itself so."""
    return _starts(path, _GZIP) or _starts(path, _ZSTD) or path.suffix.lower() in PACKED


def ending(path: PurePath) -> str:
    """Return the ending of a file's name, in small letters, without that of its packing."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def stem(path: Path) -> str:
    """Return a file's name without its endings.

    >>> stem(Path("adult.csv.gz")), stem(Path("visits.2024.csv"))
    ('adult', 'visits.2024')
    """
    name = path.name.removesuffix(path.suffix) if path.suffix.lower() in PACKED else path.name
    return Path(name).stem


def separator(path: Path) -> str:
    """Return what separates the cells of delimited text, as the ending of its name has it."""
    return "\t" if ending(path) in TABS else ","


@contextmanager
def open_unpacked(path: Path) -> Iterator[Any]:
    """Open a file to read its bytes, unpacked; a damaged archive is an InputError."""
    import pyarrow as pa

    packing = "gzip" if _starts(path, _GZIP) else "zstd" if _starts(path, _ZSTD) else None
    try:
        with pa.input_stream(os.fspath(path), compression=packing) as stream:
            yield stream
    except (OSError, pa.ArrowException):
        if packing is None:
            raise
        raise InputError(f"{path} is a {packing} file that is cut short or damaged.") from None


def write_bytes(path: Path, data: Any, *, display_path: Path) -> None:
    """Write bytes, packed as the ending of the shown name says."""
    suffix = display_path.suffix.lower()
    if suffix == ".gz":
        # Without a name and a time, so that the same rows have the same bytes.
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


def without_lists(table: Any) -> Any:
    """Return an Arrow table with its columns of lists as JSON, for formats that have no lists."""
    import pyarrow as pa

    for number, field in enumerate(table.schema):
        if pa.types.is_list(field.type) or pa.types.is_large_list(field.type):
            cells = [json.dumps(items, ensure_ascii=False) for items in table.column(number).to_pylist()]
            table = table.set_column(number, field.name, pa.array(cells, pa.string()))
    return table


def refuse_alike_names(names: Sequence[str]) -> None:
    """Refuse names that differ in case alone: an engine that ignores case would change one."""
    folded: dict[str, str] = {}
    for name in names:
        alike = folded.setdefault(name.casefold(), name)
        if alike is not name:
            raise OutputError(
                f"Columns '{alike}' and '{name}' differ only in upper and lower case; rename one."
            )
