"""Tables on the command line: read with roles from options, from a job file or from the folder of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.core.schema import Column
    from discreet.core.tables.table import Table
    from discreet.guarantees import Guarantee
    from discreet.job import Job
    from discreet.job.descriptions import Description


def description(data: Path, given: Mapping[str, Any], *, judged: bool = False) -> Description | None:
    """Return what a job file or a release says of a table, where one is named as the data or by --roles."""
    from discreet.job.descriptions import describe, is_job, is_release

    if given.get("roles") is not None:
        return describe(given["roles"], judged=judged)
    return describe(data, judged=judged) if is_job(data) or is_release(data) else None


def data_file(data: Path, described: Description | None) -> Path:
    """Return the file of the data: the one that a job names, or a release holds."""
    from discreet.job.descriptions import is_job, is_release, release_folder

    if is_job(data) and described is not None and described.data is not None:
        return described.data
    if is_release(data):
        folder = release_folder(data)
        paths = sorted(folder.glob("data.*"))
        if not paths:
            raise gather.mistake(f"{folder} holds no table.")
        return paths[0]
    return data


def described_table(data: Path, given: Mapping[str, Any], *, judged: bool = True) -> Table:
    """Read a file as a table with the roles that the options, a job file or a release give.

    What is only judged may be released already, so that its labels fit no tree.
    """
    from discreet.core.tables.table import Table
    from discreet.job.parse import rest_from
    from discreet.kinds.roles import complete

    described = description(data, given, judged=judged)
    frame, reading_roles = described_frame(data, given, described, judged=judged)
    if not any(column.role.value == "quasi" for column in reading_roles.values()):
        raise gather.mistake("Say which columns others may know.", "--quasi age,zip")
    rest = rest_from(given["rest"]) if described is None or described.rest is None else described.rest
    return Table(frame, complete(reading_roles, frame.columns, rest=rest))


def with_roles(job: Job, source: Path) -> Job:
    """Add the roles of a job file or of a release; those of the options come before them."""
    from discreet.job.descriptions import describe

    described = describe(source)
    rest = described.rest if job.rest is None else job.rest
    reading = {**described.reading, **job.reading}
    return replace(job, columns={**described.columns, **(job.columns or {})}, rest=rest, reading=reading)


def described_frame(
    data: Path, options: Mapping[str, Any], described: Description | None, *, judged: bool
) -> tuple[Any, dict[str, Column]]:
    """Read a file, and the roles of its columns; those of the options come before those described."""
    from discreet.core.errors import InputError
    from discreet.engines.files import read
    from discreet.job.descriptions import is_release
    from discreet.job.parse import reading_from
    from discreet.kinds.roles import column_from

    columns = gather.columns(options)
    named = {name: column_from(name, column, Path()) for name, column in columns.items()}
    reading = dict(reading_from(gather.reading(options)))
    if described is None:
        if not any(column.role.value == "quasi" for column in named.values()):
            if not (data.exists() or str(data) == "-" or set(str(data)) & set("*?[:")):
                raise InputError(f"There is no file {data}.")
            raise gather.mistake("Say which columns others may know.", "--quasi age,zip")
        return read(data, **reading), named
    path = data_file(data, described)
    if is_release(data):
        labels = [name for name, column in described.columns.items() if column.role.value == "quasi"]
        reading = {"nulls": ("",), "text": labels} | reading if path.suffix in _TEXT else reading
    else:
        reading = {**described.reading, **reading}
    frame = read(path, **reading)
    return frame, (described.judged(frame.columns) if judged else dict(described.columns)) | named


_TEXT = (".csv", ".tsv")


def promised(data: Path, given: Mapping[str, Any]) -> Guarantee | None:
    """Return the guarantee of the job that is named as the data, None for other data."""
    from discreet.job.descriptions import is_job

    described = description(data, given, judged=True)
    return described.guarantee if described is not None and is_job(data) else None
