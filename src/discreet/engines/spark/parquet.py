"""Parquet files as workers see them: read into a frame, written from one, and read back."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from discreet.core.errors import InputError, OutputError
from discreet.engines.atomic import remove
from discreet.engines.folders import RECORD
from discreet.engines.formats import PARQUET_COMPRESSION, format_of, refuse_alike_names
from discreet.engines.spark.session import failures, spark_session


def read_parquet(
    path: str | os.PathLike[str], *, master: str | None = None, remote: str | None = None
) -> Any:
    """Return the rows of a Parquet file, or of all in a folder, as a frame on a cluster.

    An address, such as ``hdfs://…`` or ``s3a://…``, is read as it is; the workers must see what any other path names.
    """
    address = os.fspath(path)
    if "://" not in address:
        local = Path(path)
        if not local.exists():
            raise InputError(f"There is no file {path}.")
        if (local / RECORD).is_file():
            raise InputError(f"{path} is the folder of a release; name its file of data.")
        file_format = None if local.is_dir() else format_of(local)
        if file_format is not None and file_format.name != "parquet":
            raise InputError(
                f"{path} is no Parquet: the engine spark reads that alone, whose columns have types. Write it as "
                "Parquet first, or read it with the engine of this machine."
            )
        address = str(local.absolute())
    session = spark_session(master, remote)
    with failures(f"{path} cannot be read"):
        frame = session.read.parquet(address)
        if not frame.columns:
            raise InputError(f"{path} has no columns.")
        return frame


def write_parts(frame: Any, path: Path, format_: str) -> None:
    """Have the workers write the rows into a folder of Parquet files, and leave nothing else in it."""
    if format_ != "parquet":
        raise OutputError("Rows on a cluster are written as parquet, and in no other format; name that one.")
    refuse_alike_names(frame.columns)
    remove(path)
    with failures("The rows cannot be written", OutputError):
        try:
            frame.write.mode("error").option("compression", PARQUET_COMPRESSION).parquet(str(path.absolute()))
        except BaseException:
            # What is still running would write into a folder that is being removed.
            with contextlib.suppress(Exception):
                frame.sparkSession.interruptAll()
            raise
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


def read_parts(path: Path, frame: Any) -> Any:
    """Return what lies in a folder, as the session of a frame reads it."""
    with failures("The written rows cannot be read"):
        return frame.sparkSession.read.parquet(str(path.absolute()))
