"""Writing frames: a file in any format, complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet.core.engine import TextLayout, engine_of
from discreet.core.errors import DiscreetError, OutputError
from discreet.core.params import unknown
from discreet.engines.atomic import atomic_file, write_failure
from discreet.engines.formats import PACKED, WRITTEN, format_of


def write_frame(
    frame: Any,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002
    *,
    layout: TextLayout | None = None,
) -> Path:
    """Write a pandas, Polars, PyArrow or DuckDB frame to a file, all or nothing, and return the file's path.

    Parameters
    ----------
    frame : frame
        What to write; a DuckDB relation is streamed. Row labels of pandas are not written.
    path : path
        The file; missing folders above it are made, an old file is replaced.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "xlsx"}, optional
        By default it follows from the ending of the name. Text is UTF-8; nulls and NaN are empty cells, in JSON null. A
        second ending .gz or .zst packs text.
    layout : Layout, optional
        The delimiter, quote and decimal mark of CSV; by default those of the CSV file that the frame comes from.
    """
    import pyarrow as pa

    target = Path(path)
    format_ = _format(target, format)
    engine = engine_of(frame)
    packing = PACKED.get(target.suffix.lower(), "none")
    try:
        with atomic_file(target) as temporary:
            chosen = layout or engine.layout(frame) if format_ == "csv" else None
            engine.write(frame, temporary, format_, packing=packing, layout=(chosen or TextLayout()).safe())
    except DiscreetError as error:
        failure: DiscreetError = error
    except (*engine.errors, pa.ArrowException, UnicodeError, TypeError, ValueError, OverflowError) as error:
        failure = OutputError(f"{target} cannot be written: {write_failure(error)}.")
    else:
        return target
    failure.__cause__ = failure.__context__ = None
    raise failure


def _format(target: Path, name: str | None) -> str:
    if name is None:
        by_ending = format_of(target)
        if by_ending is None or not by_ending.written:
            endings = [f".{name}" for name in WRITTEN]
            raise OutputError(
                f"{target}: the ending names no format; use {', '.join(endings[:-1])} or {endings[-1]}."
            )
        name = by_ending.name
    if name not in WRITTEN:
        raise unknown("write_frame", "format", name, WRITTEN)
    return name
