"""Writing results: a file whose content decides its form, or a folder with the record that marks it; all or nothing."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import DiscreetError
from discreet.engines.atomic import atomic_file, atomic_folder
from discreet.engines.folder_kinds import FolderKind

if TYPE_CHECKING:
    import pyarrow as pa


def write_file(content: Any, path: str | os.PathLike[str]) -> None:
    """Write one file of a result, complete or not at all.

    A function is called with the path. Text is written as it is, plain data as JSON where the name ends so, and record
    batches, columns or a frame as a table in the format of the ending.
    """
    import pyarrow as pa

    from discreet.engines.writing import write_frame

    target = Path(path)
    if callable(content):
        content(target)
    elif isinstance(content, str):
        _write_text(content, target)
    elif isinstance(content, pa.RecordBatchReader):
        _write_stream(content, target)
    elif target.suffix == ".json" and isinstance(content, Mapping | list | tuple):
        _write_text(json_text(content), target)
    else:
        write_frame(pa.table(content) if isinstance(content, Mapping) else content, target)


def write_folder(
    folder: str | os.PathLike[str],
    kind: FolderKind,
    files: Mapping[str, Any],
    record: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> Path:
    """Write a folder of files, and last the record that marks its kind and lists them; return the folder.

    Only an earlier folder of the same kind is replaced, and only where that is allowed.
    """
    with atomic_folder(folder, kind, overwrite=overwrite) as temporary:
        for name, content in files.items():
            write_file(content, temporary / name)
        names = sorted(path.name for path in temporary.iterdir())
        write_file({**record, "files": names}, temporary / kind.mark)
    return Path(folder)


def json_text(record: Any) -> str:
    """Return plain data as JSON text, indented by one."""
    return json.dumps(json_ready(record), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def json_ready(record: Any) -> Any:
    """Return plain data for JSON, which has no infinity: a number that is not finite becomes None.

    >>> json_ready({"epsilon": float("inf"), "shares": (0.5, 0.5)})
    {'epsilon': None, 'shares': [0.5, 0.5]}
    """
    if isinstance(record, Mapping):
        return {str(name): json_ready(value) for name, value in record.items()}
    if isinstance(record, list | tuple):
        return [json_ready(value) for value in record]
    return None if isinstance(record, float) and not math.isfinite(record) else record


def _write_text(text: str, target: Path) -> None:
    with atomic_file(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _write_stream(reader: pa.RecordBatchReader, target: Path) -> None:
    """Write batches as they come; an error of ours in whatever makes them is raised as it was.

    The engine that pulls the batches would wrap it in an error of its own.
    """
    import pyarrow as pa

    from discreet.engines.duckdb.connection import connect
    from discreet.engines.writing import write_frame

    failures: list[DiscreetError] = []

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            yield from reader
        except DiscreetError as error:
            failures.append(error)
            raise

    try:
        write_frame(connect().from_arrow(pa.RecordBatchReader.from_batches(reader.schema, batches())), target)
    except DiscreetError:
        if failures:
            raise failures[0] from None
        raise
