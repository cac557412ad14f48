"""Folders of Parquet files: the workers write the rows of a frame, and the session reads them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.core.errors import OutputError
from discreet.engines.atomic import remove
from discreet.engines.formats import PARQUET_COMPRESSION, refuse_alike_names
from discreet.engines.spark.session import failures


def write(frame: Any, path: Path, format_: str) -> None:
    """Have the workers write the rows into a folder of Parquet files, and leave nothing else in it."""
    if format_ != "parquet":
        raise OutputError("Rows on a cluster are written as parquet, and in no other format; name that one.")
    refuse_alike_names(frame.columns)
    remove(path)
    with failures(f"{path.name} cannot be written", OutputError):
        frame.write.mode("error").option("compression", PARQUET_COMPRESSION).parquet(str(path.absolute()))
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else []
    if not parts:
        raise OutputError(
            "The workers wrote no file that is seen from here; name a folder on a file system that they share."
        )
    for entry in [*path.iterdir()]:
        if entry not in parts:
            remove(entry)
    for number, part in enumerate(parts):
        part.rename(path / f"part-{number:05d}.parquet")


def written(path: Path, frame: Any) -> Any:
    """Return what lies in a folder, as the session of a frame reads it."""
    with failures(f"{path.name} cannot be read"):
        return frame.sparkSession.read.parquet(str(path.absolute()))
