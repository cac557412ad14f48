"""Hierarchy files beside a data file, found by their names: ARX's, or the column's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from discreet.core.errors import DiscreetError
from discreet.core.hierarchy.trees import read_hierarchy
from discreet.engines.formats import stem

_FOLDER = "hierarchies"
_ENDINGS = (".csv", ".csv.gz")


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


def _places(data: Path) -> Iterator[tuple[Path, str]]:
    arx = f"{stem(data)}_hierarchy_".casefold()
    yield data.parent, arx
    yield data.parent / _FOLDER, arx
    yield data.parent / _FOLDER, ""
    yield data.parent, ""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
