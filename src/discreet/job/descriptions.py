"""Descriptions: what a job file, or the folder of a release, says of a table, so that roles are typed once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from discreet.core.adapters import KINDS
from discreet.core.boundary import public, reads
from discreet.core.errors import InputError
from discreet.core.schema import DROPPED, Column, Role
from discreet.engines.folders import RECORD, read_json
from discreet.guarantees import Guarantee
from discreet.job.model import Job
from discreet.job.parse import read_job
from discreet.kinds.kind import current_name, kind_named
from discreet.kinds.tables import TableKind
from discreet.kinds.written import roles_of_record, without_hidden_trees

_FORMAT = 1
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Description:
    """The roles of a table's columns, how its file is read, and the guarantee.

    Attributes
    ----------
    columns, rest
        The roles of the columns, and of those that are not named.
    reading
        How the file is read.
    guarantee
        The guarantee; None where that needs more than the description holds.
    data
        The file that the description is about.
    job
        The job, where it is one.
    """

    columns: Mapping[str, Column]
    rest: Role | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    guarantee: Guarantee | None = None
    data: Path | None = None
    job: Job | None = None

    def judged(self, names: Sequence[str]) -> dict[str, Column]:
        """Return the roles of a file that may be released already: labels need no tree, and what is gone no role."""
        roles: dict[str, Column] = {}
        for name, column in self.columns.items():
            if name not in names and column.role in DROPPED:
                continue
            roles[name] = (
                replace(column, hierarchy=None, ordered=None) if column.role is Role.QUASI else column
            )
        return roles


@public
def roles_of(place: str | Path, *, keys: Mapping[str, bytes] | None = None) -> dict[str, Column]:
    """Return the roles of a table's columns, as a job file or the folder of a release names them.

    Parameters
    ----------
    place
        The path of a job file, or of the folder of a release.
    keys
        The keys of pseudonyms by column, for a release: it never holds them.
    """
    path = Path(place)
    if is_release(path):
        folder = release_folder(path)
        return roles_of_record(folder, read_record(folder), keys)
    return dict(describe(path).columns)


def is_job(path: Path) -> bool:
    """Return whether a path is that of a job file."""
    return path.suffix == ".toml"


def is_release(path: Path) -> bool:
    """Return whether a path is that of a release: its folder, or its release.json."""
    return (path / RECORD).is_file() if path.is_dir() else path.name == RECORD


def release_folder(path: Path) -> Path:
    """Return the folder of a release."""
    return path if path.is_dir() else path.parent


def describe(path: Path, *, judged: bool = False) -> Description:
    """Read what a job file or a release says of a table.

    What is only ``judged`` needs no hierarchy, so that the public folder of a release is enough.
    """
    if is_job(path):
        job = read_job(path)
        if not isinstance(job.kind, TableKind):
            raise InputError(f"{path} describes {job.kind.noun}, and no columns of a table.")
        return Description(job.columns or {}, job.rest, job.reading, job.guarantee, Path(job.data), job)
    if is_release(path):
        folder = release_folder(path)
        return _of_release(folder, read_record(folder), judged=judged)
    raise InputError("The place of the roles is neither a job file (.toml) nor the folder of a release.")


@reads("The release")
def read_record(folder: Path) -> dict[str, Any]:
    """Read the release.json of a folder."""
    try:
        record = read_json(folder / RECORD)
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{folder / RECORD} cannot be read, or has a key twice.") from None
    if (
        not isinstance(record, dict)
        or record.get("format") != _FORMAT
        or not isinstance(record.get("kind"), str)
        or current_name(record["kind"]) not in KINDS
    ):
        raise InputError(f"{folder / RECORD} is not one this version can read (format {_FORMAT}).")
    if not _is_whole(record):
        raise InputError(f"{folder / RECORD} is damaged: it does not have the shape that was written.")
    return {**record, "kind": current_name(record["kind"])}


def _is_whole(record: Mapping[str, Any]) -> bool:
    """Return whether the verdict, the files and the counts of a record have the shape that was written."""
    files = record["files"]
    # Cells are counted in tables of counts alone: in the recipe of another table the published cells have that name.
    counted = {kind_named(name).records_name for name in KINDS} - {"cells"}
    counted |= {kind_named(current_name(record["kind"])).records_name}
    return (
        _is_verdict(record["verdict"])
        and isinstance(files, dict)
        and all(_is_file(name, entry) for name, entry in files.items())
        and all(_are_counts(record[name]) for name in counted if name in record)
    )


def _is_verdict(stated: Any) -> bool:
    """Return whether plain data is a verdict: yes or no, about a guarantee that reads as one line."""
    return (
        isinstance(stated, dict)
        and isinstance(stated.get("ok"), bool)
        and _is_line(stated.get("guarantee"))
        and isinstance(stated.get("parts", []), list)
        and all(map(_is_verdict, stated.get("parts", [])))
    )


def _is_file(name: str, entry: Any) -> bool:
    """Return whether an entry has the plain name of a file in the folder itself, and its digest."""
    return (
        _is_line(name)
        and name == PurePosixPath(name).name == PureWindowsPath(name).name
        and name != ".."
        and isinstance(entry, dict)
        and isinstance(entry.get("sha256"), str)
        and _DIGEST.fullmatch(entry["sha256"]) is not None
    )


def _are_counts(counts: Any) -> bool:
    return (
        isinstance(counts, dict)
        and set(counts) == {"in", "out", "suppressed"}
        and all(type(number) is int and number >= 0 for number in counts.values())
    )


def _is_line(text: Any) -> bool:
    """Return whether a text is one line of characters that can be shown."""
    return isinstance(text, str) and text != "" and text.isprintable()


def _of_release(folder: Path, record: Mapping[str, Any], *, judged: bool) -> Description:
    if not isinstance(kind_named(record["kind"]), TableKind):
        raise InputError(f"{folder} is a release of {record['kind']}, and has no columns with roles.")
    return Description(roles_of_record(folder, without_hidden_trees(record) if judged else record))
