"""Judging written releases in which rules are hidden: with the owner's folder beside them fully, without it in part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.row_items import row_items
from discreet.core.boundary import reads
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, require
from discreet.core.tables.table import Table
from discreet.engines.formats import WRITTEN
from discreet.guarantees import RulesHidden, guarantee_from_dict
from discreet.job.kinds import column_from
from discreet.report.folder import PRIVATE_RECORD, RECORD, described_file, private_folder

_KINDS = ("sanitized-baskets", "sanitized-table")


@dataclass(frozen=True)
class SanitizedFolder:
    """A written release in which rules are hidden.

    Attributes
    ----------
    data
        The released baskets or table.
    guarantee
        The rules and their thresholds, where the owner's folder lies beside the release.
    changed
        The files that are missing, or are not what ``release.json`` says was written.
    """

    data: Baskets | Table
    guarantee: RulesHidden | None
    changed: tuple[str, ...]


def is_sanitized(path: Path) -> bool:
    """Return whether a path is the folder of a release in which rules are hidden."""
    try:
        return json.loads((path / RECORD).read_text(encoding="utf-8"))["kind"] in _KINDS
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read_sanitized(folder: Path) -> SanitizedFolder:
    """Read a release in which rules are hidden, and the owner's folder if it lies beside it."""
    record, kept = _record(folder / RECORD), _private(private_folder(folder) / PRIVATE_RECORD)
    guarantee = _guarantee(kept)
    data: Baskets | Table
    if record.get("kind") == "sanitized-baskets":
        from discreet.engines.baskets.published import read_published

        found = read_published(folder)
        require("check", "data", found, InstanceOf((Baskets,), "a release of plain baskets"))
        data = found  # type: ignore[assignment]
    else:
        data = _table(folder, record, kept)
    return SanitizedFolder(data, guarantee, _changed(folder, record))


def with_reading(guarantee: RulesHidden, data: Baskets | Table) -> RulesHidden:
    """Return a guarantee that reads the rows of a table on the levels that its rules name."""
    if not isinstance(data, Table):
        return guarantee
    named = [str(name) for rule in guarantee.rules for name in rule.items]
    return replace(guarantee, reading=row_items(data, None, named, owner="check"))


@reads("The record of the release")
def _record(path: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    require("check", RECORD, found, InstanceOf((Mapping,), "a JSON object"))
    return found


def _private(path: Path) -> Mapping[str, Any]:
    return _record(path) if path.is_file() else {}


def _guarantee(kept: Mapping[str, Any]) -> RulesHidden | None:
    plain = kept.get("guarantee")
    if plain is None:
        return None
    found = guarantee_from_dict(plain)
    if not isinstance(found, RulesHidden):
        raise InputError(f"{PRIVATE_RECORD} holds another guarantee than hidden rules.")
    return found


@reads("The record of the release")
def _table(folder: Path, record: Mapping[str, Any], kept: Mapping[str, Any]) -> Table:
    """Read the released rows with the roles in ``release.json``; the owner's folder tells which columns are text."""
    from discreet.engines.files import read

    path = next((path for kind in WRITTEN if (path := folder / f"data.{kind}").is_file()), None)
    if path is None:
        raise InputError(f"'{folder}' holds no released table.")
    roles = {
        one["name"]: column_from(one["name"], {"role": one["role"]}, folder) for one in record["columns"]
    }
    frame = read(path, nulls=("",), text=[name for name in kept.get("text", ()) if name in roles])
    return Table(frame, {name: roles[name] for name in frame.columns})


@reads("The record of the release")
def _changed(folder: Path, record: Mapping[str, Any]) -> tuple[str, ...]:
    files: Mapping[str, Any] = record.get("files", {})
    return tuple(
        name
        for name, told in files.items()
        if Path(name).name != name
        or not (folder / name).is_file()
        or described_file(folder / name)["sha256"] != told["sha256"]
    )
