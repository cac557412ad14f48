"""What a path names: a file, the files of a folder or a pattern, standard input; and partitions in names of folders."""

from __future__ import annotations

import datetime as dt
import glob
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PosixPath, PurePath, WindowsPath
from typing import TypeVar
from urllib.parse import unquote
from weakref import WeakKeyDictionary

import pyarrow as pa

from discreet.core.errors import InputError
from discreet.engines.atomic import scratch_folder
from discreet.engines.folders import RECORD
from discreet.engines.formats import format_of, open_unpacked

STANDARD = "-"
"""The name of standard input and output."""
PATTERN = re.compile(r"[*?[]")
"""What makes a name a pattern."""
DATABASES = (".db", ".sqlite", ".sqlite3", ".duckdb", ".ddb")
"""The endings of the files of databases."""
_PARTITION = re.compile(r"([^=]+)=(.*)", re.DOTALL)
_NULL = "__HIVE_DEFAULT_PARTITION__"
# A leading zero makes a code of a number; 18 digits always fit into 64 bits.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_DATE = re.compile(r"[12]\d{3}-\d\d-\d\d")
_HEAD = 4096

P = TypeVar("P", bound=PurePath)
if sys.platform == "win32":
    _Path = WindowsPath
else:
    _Path = PosixPath


class NamedFile(_Path):
    """A file that messages call by another name, since its own says nothing to who reads them."""

    alias: str

    @classmethod
    def of(cls, path: Path, alias: str) -> NamedFile:
        """Return a file under another name."""
        file = cls(path)
        file.alias = alias
        return file

    def __fspath__(self) -> str:
        return super().__str__()

    def __str__(self) -> str:
        return getattr(self, "alias", super().__str__())


@dataclass(frozen=True)
class Files:
    """Files of one format that hold the rows of one table, and the types of the columns in names of their folders."""

    paths: tuple[Path, ...]
    partitions: dict[str, pa.DataType]
    source: Path


def files_of(path: Path) -> Files:
    """Return the files that a path names; a folder holds files of one format, hidden ones left out."""
    if os.fspath(path) == STANDARD:
        copy = standard_input()
        return Files((copy,), {}, copy)
    if path.is_dir():
        if (path / RECORD).is_file():
            raise InputError(f"{path} is the folder of a release; name its file of data.")
        root, files = path, [file for file in path.rglob("*") if file.is_file()]
    elif not path.exists() and PATTERN.search(os.fspath(path)):
        root, files = _root(path), [Path(name) for name in glob.glob(os.fspath(path), recursive=True)]  # noqa: PTH207  # Path.glob takes no absolute pattern
    else:
        return Files((path,), {}, path)
    names = [file.relative_to(root) for file in files if file.is_file()]
    chosen = data_files(names, path)
    return Files(tuple(root / name for name in chosen), partition_types(chosen, path), path)


def database_file(path: str | os.PathLike[str]) -> tuple[Path, str | None] | None:
    """Return the file of a database and the table that is named in it, if any; None for other files.

    >>> database_file("clinic.db?table=ward.patients") == (Path("clinic.db"), "ward.patients")
    True
    >>> database_file("patients.csv") is None
    True
    """
    text = os.fspath(path)
    file, mark, table = text.partition("?table=")
    # A file may bear the whole name.
    if mark and not Path(text).exists():
        return Path(file), unquote(table)
    return (Path(text), None) if Path(text).suffix.lower() in DATABASES else None


def several(paths: Sequence[str | os.PathLike[str]]) -> Files:
    """Return files that are named one by one, which must be of one format."""
    if not paths:
        raise InputError("No file is named.")
    files = [Path(path) for path in paths]
    formats = {None if (of_file := format_of(file)) is None else of_file.name for file in files}
    if len(formats) > 1:
        raise InputError(f"{files[0]} and the files named with it are of several formats.")
    return Files(tuple(files), {}, files[0])


def data_files(names: Iterable[P], source: object) -> list[P]:
    """Return the files of data among the names in a folder, in order; they must be of one format."""
    chosen = sorted(
        name
        for name in names
        if format_of(name) is not None and not any(part.startswith((".", "_")) for part in name.parts)
    )
    if not chosen:
        raise InputError(f"{source} names no file of data.")
    formats = sorted({file_format.name for name in chosen if (file_format := format_of(name))})
    if len(formats) > 1:
        raise InputError(
            f"{source} holds files of several formats ({', '.join(formats)}); name those of one by a pattern, such as "
            f"'*.{formats[-1]}'."
        )
    return chosen


def partition_types(names: Sequence[PurePath], source: object) -> dict[str, pa.DataType]:
    """Return the columns that names of folders such as ``year=2024`` hold, and the type that all their values have.

    >>> partition_types([PurePath("zip=02139/day=2024-05-01/a.parquet")], "visits")
    {'zip': DataType(string), 'day': DataType(date32[day])}
    """
    values: dict[str, set[str]] = {}
    layouts = set()
    for name in names:
        pairs = [found.groups() for part in name.parts[:-1] if (found := _PARTITION.fullmatch(part))]
        layouts.add(tuple(key for key, _ in pairs))
        for key, value in pairs:
            values.setdefault(unquote(key), set()).add(unquote(value))
    if len(layouts) > 1:
        raise InputError(f"{source}: the folders of some files name other partitions than those of the rest.")
    return {key: _partition_type(kept - {_NULL}) for key, kept in values.items()}


def _partition_type(values: set[str]) -> pa.DataType:
    for is_of_type, type_ in ((_WHOLE.fullmatch, pa.int64()), (_is_day, pa.date32())):
        if values and all(map(is_of_type, values)):
            return type_
    return pa.string()


def _is_day(value: str) -> bool:
    if not _DATE.fullmatch(value):
        return False
    try:
        dt.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _root(pattern: Path) -> Path:
    """Return the folder above the first part of a pattern that stands for several names."""
    fixed = []
    for part in pattern.parts:
        if PATTERN.search(part):
            break
        fixed.append(part)
    return Path(*fixed)


_copies: WeakKeyDictionary[object, Path] = WeakKeyDictionary()


def standard_input() -> Path:
    """Return a private copy of standard input, which is read once, under an ending that fits its content."""
    stream = sys.stdin.buffer
    if stream not in _copies:
        copy = scratch_folder() / "input"
        with copy.open("wb") as target:
            shutil.copyfileobj(stream, target)
        named = copy.rename(copy.with_suffix(_ending(copy)))
        _copies[stream] = NamedFile.of(named, "Standard input")
    return _copies[stream]


def _ending(copy: Path) -> str:
    """Return the ending of the format that the first bytes of a file show; delimited text where they show none."""
    if not copy.stat().st_size:
        raise InputError("Standard input is empty.")
    with open_unpacked(NamedFile.of(copy, "Standard input")) as stream:
        head = bytes(stream.read(_HEAD))
    marks = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrows", b"PK\3\4": ".xlsx"}
    for mark, ending in marks.items():
        if head.startswith(mark):
            return ending
    return ".jsonl" if re.match(rb"(\xef\xbb\xbf)?\s*(\[\s*)?\{", head) else ".csv"
