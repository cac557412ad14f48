"""Files beside a data file: hierarchies, found by their names, and lists of what codes mean, by what they hold."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from discreet.core.errors import DiscreetError
from discreet.core.hierarchy.trees import read_hierarchy
from discreet.engines.formats import stem

HIERARCHIES = "hierarchies"
_ENDINGS = (".csv", ".csv.gz")
_MOST_FILES, _LARGEST_LIST = 40, 1 << 20


def hierarchy_file(data: Path, column: str) -> Path | None:
    """Return the hierarchy file of a column that lies beside a data file, if there is one.

    Looked for are ``<data>_hierarchy_<column>.csv`` as ARX names them, ``hierarchies/<column>.csv`` and
    ``<column>.csv``; letter case and marks in the column's name do not matter.
    """
    words = _plain(column)
    for folder, prefix in _places(data):
        for path in sorted(folder.glob("*.csv*")) if folder.is_dir() else ():
            ending = next(
                (candidate for candidate in _ENDINGS if path.name.casefold().endswith(candidate)), None
            )
            if ending is None or path.resolve() == data.resolve():
                continue
            name = path.name[: -len(ending)]
            if name.casefold().startswith(prefix) and _plain(name[len(prefix) :]) == words:
                return path
    return None


def n_uncovered(path: Path, values: pa.Array) -> int | None:
    """Return how many distinct values a hierarchy file leaves out; None for a file that is no hierarchy."""
    from discreet.core.tables.labels import texts

    try:
        spec = read_hierarchy(path)
        leaves = set(spec.columns[0])
        left = [value for value in texts(values).to_pylist() if value is not None and value not in leaves]
        if not left:
            spec.bind(values, column="")
    except DiscreetError:
        return None
    return len(left)


def meanings(data: Path, columns: Sequence[str]) -> dict[str, tuple[Path, dict[str, str]]]:
    """Return what the codes of columns mean, and the file that says so, from lists of codes beside a data file.

    A list begins with a line that names the column; each line after it has a code and its meaning, and an empty line
    ends it. A file may hold several.
    """
    names = {name.casefold(): name for name in columns}
    lists: dict[str, tuple[Path, dict[str, str]]] = {}
    paths = sorted(data.parent.glob("*.csv"))[:_MOST_FILES]
    for path in paths:
        if path.resolve() == data.resolve() or path.stat().st_size > _LARGEST_LIST:
            continue
        name = None
        for first, second in _pairs(path):
            if first.casefold() in names and second:
                name = names[first.casefold()]
            elif not first:
                name = None
            elif name is not None:
                lists.setdefault(name, (path, {}))[1].setdefault(first, second)
    return lists


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Return the first two cells of each line; nothing of a file that has other lines."""
    try:
        written = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return
    delimiter = ";" if written.partition("\n")[0].count(";") else ","
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(written), delimiter=delimiter)]
    if any(len(row) > 2 for row in rows):
        return
    for row in rows:
        first, second = (*row, "", "")[:2]
        yield first, second


def _places(data: Path) -> Iterator[tuple[Path, str]]:
    arx = f"{stem(data)}_hierarchy_".casefold()
    yield data.parent, arx
    yield data.parent / HIERARCHIES, arx
    yield data.parent / HIERARCHIES, ""
    yield data.parent, ""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
