"""Judging a written release: its files, from the folder alone, by what release.json says was promised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.baskets.row_items import row_items
from discreet.core.boundary import reads
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import InstanceOf, require
from discreet.core.schema import Schema
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict
from discreet.engines.baskets.published import read_published
from discreet.engines.files import read
from discreet.engines.formats import format_named
from discreet.guarantees import (
    AllOf,
    DistinctDiversity,
    Guarantee,
    KAnonymity,
    PerUnit,
    RulesHidden,
    guarantee_from_dict,
)
from discreet.guarantees.constructed import together
from discreet.job.basket_checking import judge_baskets
from discreet.job.checking import Measure, judge
from discreet.job.descriptions import RECORD, read_record, released_columns
from discreet.publish.recipes.recipe import is_readable, private_place

_KEPT_EVIDENCE = "the files cannot show it: it rests on evidence kept while the release was made"
_OWNERS_RULES = "the files cannot show it: which rules are hidden only the owner knows"
_UNITS_GONE = "the files cannot show it: whose rows they are was not published"
_WHY_RECORDED = {
    "pseudo-data": _KEPT_EVIDENCE,
    "sketches": _KEPT_EVIDENCE,
}
"""The kinds of release whose guarantee cannot be judged from the released data alone, and why."""
_CHUNK = 1 << 20
_SANITIZED = ("sanitized-baskets", "sanitized-table")


@dataclass(frozen=True)
class ReleaseJudgment:
    """What the files of a release show.

    Attributes
    ----------
    kind
        The kind of released data.
    counts
        The numbers of rows, classes, baskets or groups that were judged, by name.
    verdict
        The verdict on the files as they are; None where they cannot show it.
    recorded
        The verdict that release.json holds, and why the files cannot show it, where they cannot.
    changed
        The names of files that are missing, or are not what was written.
    measures
        What the data reaches in every measure.
    added
        The names of files and folders that were not written with the release.
    """

    kind: str
    counts: Mapping[str, int]
    verdict: Verdict | None
    recorded: Mapping[str, Any]
    changed: tuple[str, ...]
    measures: tuple[Measure, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the folder holds all files that were written and no others, and the guarantee is kept."""
        kept = self.recorded["ok"] if self.verdict is None else self.verdict.ok
        return bool(kept) and not self.changed and not self.added


@reads("The release")
def judge_release(
    folder: Path, guarantee: Guarantee | None = None, *, population: Any = None
) -> ReleaseJudgment:
    """Judge the files of a release of any kind.

    Which rules are hidden no public file says. They are read from the owner's folder, if it lies beside the release.

    Parameters
    ----------
    folder
        The folder of the release.
    guarantee
        What to judge it by; what release.json says was promised by default.
    population
        The population of a k-map guarantee, which no release holds.
    """
    record = read_record(folder)
    judgment = _judged(folder, record, guarantee, population)
    return replace(judgment, added=_added(folder, record))


def _judged(
    folder: Path, record: Mapping[str, Any], guarantee: Guarantee | None, population: Any
) -> ReleaseJudgment:
    kind, changed = record["kind"], _changed(folder, record)
    recorded = {name: record["verdict"][name] for name in ("ok", "guarantee")}
    if kind in _WHY_RECORDED:
        if guarantee is not None:
            raise ParameterError(
                f"A release of {kind} is not judged by another guarantee: {_WHY_RECORDED[kind]}."
            )
        return ReleaseJudgment(kind, _counts(record), None, recorded | {"why": _WHY_RECORDED[kind]}, changed)
    data = read_released(folder, record)
    if kind in _SANITIZED:
        return _judge_sanitized(folder, data, guarantee, ReleaseJudgment(kind, {}, None, recorded, changed))
    if guarantee is None:
        guarantee = _promised(record, population)
        if isinstance(data, Table) and data.schema.person is None and _counts_units(guarantee):
            return _without_units(data, guarantee, recorded, changed)
    if kind == "baskets":
        baskets = judge_baskets(data, guarantee)
        counts = {"baskets": baskets.n_baskets} | (
            {} if baskets.n_groups is None else {"groups": baskets.n_groups}
        )
        return ReleaseJudgment(kind, counts, baskets.verdict, recorded, changed, baskets.measures)
    if kind == "grouped-table":
        verdict = guarantee.check(data)
        counts = {"rows": verdict.n_rows, "groups": verdict.n_groups}
        return ReleaseJudgment(kind, counts, verdict, recorded, changed)
    judged = judge(data, guarantee, population=population)
    counts = {"rows": judged.n_rows, "classes": judged.n_classes}
    return ReleaseJudgment(kind, counts, judged.verdict, recorded, changed, judged.measures)


def _judge_sanitized(
    folder: Path, data: Any, guarantee: Guarantee | None, judgment: ReleaseJudgment
) -> ReleaseJudgment:
    """Judge data in which rules are hidden, by the rules that are named or those that the owner's folder names."""
    promised = hidden_rules(folder) if guarantee is None else guarantee
    if isinstance(data, Table):
        if isinstance(guarantee, RulesHidden):
            promised = with_reading(guarantee, data)
        table = judge(data, promised)
        counts = {"rows": table.n_rows, "classes": table.n_classes}
        verdict, measures = table.verdict, table.measures
    else:
        baskets = judge_baskets(data, promised)
        counts = {"baskets": baskets.n_baskets}
        verdict, measures = baskets.verdict, baskets.measures
    recorded = judgment.recorded if verdict is not None else {**judgment.recorded, "why": _OWNERS_RULES}
    return replace(judgment, counts=counts, verdict=verdict, recorded=recorded, measures=measures)


def hidden_rules(folder: Path) -> RulesHidden | None:
    """Return the rules that are hidden in a release, where the owner's folder lies beside it."""
    kept = _private(folder).get("guarantee")
    if kept is None:
        return None
    found = guarantee_from_dict(kept)
    if not isinstance(found, RulesHidden):
        raise InputError("The owner's folder holds another guarantee than hidden rules.")
    return found


def with_reading(guarantee: RulesHidden, table: Table) -> RulesHidden:
    """Return a guarantee that reads the rows of a table on the levels that its rules name."""
    named = [str(name) for rule in guarantee.rules for name in rule.items]
    return replace(guarantee, reading=row_items(table, None, named, owner="check"))


@reads("The owner's folder")
def _private(folder: Path) -> Mapping[str, Any]:
    place = private_place(folder.resolve())
    if not is_readable(place):
        return {}
    record: Mapping[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    require("check", place.name, record, InstanceOf((Mapping,), "a JSON object"))
    return record


def read_released(folder: Path, record: Mapping[str, Any]) -> Any:
    """Return the released data of a folder as a guarantee judges it: a table, groups of rows, or baskets."""
    if record["kind"] in ("baskets", "sanitized-baskets"):
        return read_published(folder)
    columns = released_columns(folder, record)
    if record["kind"] == "grouped-table":
        rows, counts = (_frame(folder, name, record) for name in ("data", "sensitive"))
        return GroupedTable(rows, counts.to_arrow_table(), counts.columns[0])
    labels = Schema(columns).quasi
    if record["kind"] == "sanitized-table":
        labels = tuple(name for name in _private(folder).get("text", ()) if name in columns)
    frame = _frame(folder, "data", record, labels)
    return Table(frame, {name: column for name, column in columns.items() if name in frame.columns})


def _frame(folder: Path, name: str, record: Mapping[str, Any], labels: tuple[str, ...] = ()) -> Any:
    """Read a file of the folder, one that was written if there is one; labels stay text, whatever they look like."""
    files = (path for path in folder.glob(f"{name}.*") if path.suffix != ".html")
    found = sorted(files, key=lambda path: (path.name not in record.get("files", {}), path))
    if not found:
        raise InputError(f"{folder} holds no file of {name}.")
    form = format_named(found[0].suffix[1:])
    reading: dict[str, Any] = {"nulls": ("",)}
    if form.text and labels:
        reading["text"] = labels
    return read(found[0], **reading)


def _without_units(
    data: Table, guarantee: Guarantee, recorded: Mapping[str, Any], changed: tuple[str, ...]
) -> ReleaseJudgment:
    """Judge rows whose units were not published: a class of too few rows, or values, has too few units as well."""
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    plain = [part.guarantee for part in parts if isinstance(part, PerUnit)]
    needed = tuple(one for one in plain if isinstance(one, KAnonymity | DistinctDiversity))
    judged = judge(data, together(needed) if needed else None)
    counts = {"rows": judged.n_rows, "classes": judged.n_classes}
    verdict = None if judged.ok else judged.verdict
    why = {"why": _UNITS_GONE}
    return ReleaseJudgment("table", counts, verdict, {**recorded, **why}, changed, judged.measures)


def _counts_units(guarantee: Guarantee) -> bool:
    """Return whether a guarantee counts units, which only a table that names them shows."""
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    return any(isinstance(part, PerUnit) for part in parts)


def _promised(record: Mapping[str, Any], population: Any) -> Guarantee:
    return guarantee_from_dict(record["guarantee"], population=population)


def _counts(record: Mapping[str, Any]) -> dict[str, int]:
    for what in ("rows", "records", "baskets"):
        if what in record:
            return {what: record[what]["out"]}
    return {}


def _changed(folder: Path, record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that are missing or differ from what was written."""
    return tuple(name for name, entry in record["files"].items() if not _is_same(folder / name, entry))


def _added(folder: Path, record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files and folders that were not written with the release."""
    known = {RECORD, *record.get("files", {})}
    found = sorted(path for path in folder.iterdir() if path.name not in known)
    return tuple(f"{path.name}/" if path.is_dir() else path.name for path in found)


def _is_same(path: Path, entry: Mapping[str, Any]) -> bool:
    if not path.is_file():
        return False
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == entry.get("sha256")
