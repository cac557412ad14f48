"""Judging a written release: its files, from the folder alone, by what release.json says was promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.core.baskets.row_items import row_items
from discreet.core.boundary import reads
from discreet.core.errors import DiscreetError, InputError, ParameterError
from discreet.core.params import InstanceOf, require
from discreet.core.tables.table import Table
from discreet.core.verdict import BROKEN, Verdict, claimed, conjunction
from discreet.engines.digests import RECORD, SIGNATURE, altered, described_file, has_files
from discreet.guarantees import (
    AllOf,
    DistinctDiversity,
    Guarantee,
    KAnonymity,
    PerUnit,
    RulesHidden,
    TCloseness,
    guarantee_from_dict,
)
from discreet.job.basket_checking import judge_baskets
from discreet.job.checking import Measure, judge
from discreet.job.descriptions import read_record
from discreet.job.record_checking import RecordJudgment, judge_record
from discreet.job.released_data import hidden_columns, is_text, read_released
from discreet.publish.recipes.recipe import PRIVATE, private_part, private_place
from discreet.report.signature import is_signed_by, signature_bytes

_KEPT_EVIDENCE = "the files cannot show it: it rests on evidence kept while the release was made"
_OWNERS_RULES = "the files cannot show it: which rules are hidden only the owner knows"
_UNITS_GONE = "the files cannot show it: whose rows they are was not published"
_TREE_GONE = "the files cannot show it: the hierarchy or order it is judged by was not published"
_UNREADABLE = "the released data cannot be read from its files"
_BY_EVIDENCE = ("pseudo-data", "sketches")
"""The kinds of release whose guarantee cannot be judged from the released data alone."""
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
        The verdict on the guarantee: verified as far as the files show it, claimed as far as only release.json says it.
    why
        Why the files cannot show what is only claimed; empty where all of it was recomputed.
    changed
        The names of files that are missing, or are not what was written.
    measures
        What the data reaches in every measure.
    added
        The names of files and folders that were not written with the release.
    record
        What the files show of release.json itself.
    vouched
        Whether release.json is surely the one that was written: by the digest in the owner's folder, or its signature.
    signature
        ``"verified"``, ``"missing"`` or ``"wrong"`` where a signer was named, else ``"present"`` or ``"absent"``.
    """

    kind: str
    counts: Mapping[str, int]
    verdict: Verdict
    why: str = ""
    changed: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    added: tuple[str, ...] = ()
    record: RecordJudgment = field(default_factory=RecordJudgment)
    vouched: bool = False
    signature: str = "absent"

    @property
    def word(self) -> str:
        """The judgment in a word: verified, claimed or broken. A folder that is not as it was written is broken."""
        damaged = self.changed or self.added or self.record.wrong or self.signature in ("missing", "wrong")
        return BROKEN if damaged else self.verdict.word

    @property
    def ok(self) -> bool:
        """Whether all of the guarantee was recomputed, and the folder is as it was written."""
        return self.word != BROKEN and self.verdict.verified


@reads("The release")
def judge_release(
    folder: Path,
    guarantee: Guarantee | None = None,
    *,
    population: Any = None,
    signed_by: Path | None = None,
) -> ReleaseJudgment:
    """Judge the files of a release of any kind.

    Which rules are hidden no public file says. They are read from the owner's folder, if it lies beside the release and
    belongs to it: it holds the digest of release.json.

    Parameters
    ----------
    folder
        The folder of the release.
    guarantee
        What to judge it by; what release.json says was promised by default.
    population
        The population of a k-map guarantee, which no release holds.
    signed_by
        The public key of whoever must have signed release.json; None verifies no signature.
    """
    place = private_place(folder.resolve())
    has_owners = has_files(place.parent)
    untied = altered(folder / RECORD, place.parent) if has_owners else ()
    record = read_record(folder)
    owners = _private(folder) if has_owners and not untied else {}
    changed = (*_changed(folder, record), *untied)
    signature = _signature(folder, signed_by)
    judgment = _judged(_Subject(folder, record, owners, population, bool(changed)), guarantee)
    return replace(
        judgment,
        changed=tuple(dict.fromkeys(changed)),
        added=_added(folder, record, signature),
        vouched=(has_owners and not untied) or signature == "verified",
        signature=signature,
    )


@dataclass(frozen=True)
class _Subject:
    """The folder of a release, what its release.json says, and what its owner's folder does."""

    folder: Path
    record: Mapping[str, Any]
    owners: Mapping[str, Any]
    population: Any
    is_changed: bool

    @property
    def kind(self) -> str:
        return str(self.record["kind"])

    @property
    def promised(self) -> Guarantee | None:
        """What release.json says was promised; None where only the owner knows it."""
        if self.kind in _SANITIZED:
            return _rules(self.owners)
        return guarantee_from_dict(self.record["guarantee"], population=self.population)

    def claims(self) -> Verdict:
        """Return the verdict that release.json states."""
        stated = self.record["verdict"]
        parts = tuple(claimed(part["guarantee"], ok=part["ok"]) for part in stated.get("parts", ()))
        return replace(
            claimed(stated["guarantee"], ok=stated["ok"] and all(part.ok for part in parts)), parts=parts
        )


def _judged(subject: _Subject, guarantee: Guarantee | None) -> ReleaseJudgment:
    """Judge the guarantee, and release.json by what the data shows of it.

    A text file does not say whether a sensitive 1 and 1.0 were numbers or texts, so where the figures of release.json
    are not found with the types that the cells suggest, they may be found with texts.
    """
    if subject.kind in _BY_EVIDENCE and guarantee is not None:
        raise ParameterError(
            f"A release of {subject.kind} is not judged by another guarantee: {_KEPT_EVIDENCE}."
        )
    first = _judged_as(subject, guarantee, texts=False)
    if not first.record.wrong or not is_text(subject.folder, subject.record):
        return first
    second = _judged_as(subject, guarantee, texts=True)
    return second if not second.record.wrong else first


def _judged_as(subject: _Subject, guarantee: Guarantee | None, *, texts: bool) -> ReleaseJudgment:
    try:
        data = read_released(subject.folder, subject.record, subject.owners, texts=texts)
        judgment = _guaranteed(subject, data, guarantee)
    except DiscreetError:
        if not subject.is_changed:
            raise
        data, judgment = None, ReleaseJudgment(subject.kind, {}, subject.claims(), _UNREADABLE)
    verdict = judgment.verdict if guarantee is None else None
    record = judge_record(subject.folder, subject.record, data, verdict, subject.promised)
    return replace(judgment, record=record)


def _guaranteed(subject: _Subject, data: Any, guarantee: Guarantee | None) -> ReleaseJudgment:
    """Judge the guarantee by the released data, as far as that shows it."""
    kind, promised = subject.kind, subject.promised if guarantee is None else guarantee
    if kind in _BY_EVIDENCE:
        counts = {"records": len(data)} if kind == "sketches" else {"rows": data.n_rows}
        return ReleaseJudgment(kind, counts, subject.claims(), _KEPT_EVIDENCE)
    if isinstance(data, Table):
        return _of_table(subject, data, promised, is_named=guarantee is not None)
    if kind == "grouped-table":
        require("check", "guarantee", promised, InstanceOf((Guarantee,), "a guarantee"))
        verdict = promised.check(data)  # type: ignore[union-attr]  # a guarantee, as required
        return ReleaseJudgment(kind, {"rows": verdict.n_rows, "groups": verdict.n_groups}, verdict)
    baskets = judge_baskets(data, promised)
    counts = {"baskets": baskets.n_baskets}
    if baskets.n_groups is not None:
        counts["groups"] = baskets.n_groups
    # A verdict is false where the guarantee is broken, so it is compared with None.
    judged, why = (subject.claims(), _OWNERS_RULES) if baskets.verdict is None else (baskets.verdict, "")
    return ReleaseJudgment(kind, counts, judged, why, measures=baskets.measures)


def _of_table(
    subject: _Subject, data: Table, promised: Guarantee | None, *, is_named: bool
) -> ReleaseJudgment:
    if is_named and isinstance(promised, RulesHidden):
        promised = with_reading(promised, data)
    parts = promised.parts if isinstance(promised, AllOf) else (promised,)
    hidden = () if is_named else hidden_columns(subject.record, subject.owners)
    reasons = [_not_shown(part, data, hidden) for part in parts]
    shows_all = promised is not None and not any(reasons)
    table = judge(data, promised if shows_all else None, population=subject.population)
    counts = {"rows": table.n_rows, "classes": table.n_classes}
    if promised is None:
        verdict, why = subject.claims(), _OWNERS_RULES
    elif table.verdict is not None:
        verdict, why = table.verdict, ""
    else:
        verdicts = (
            verdict
            for part, reason in zip(parts, reasons, strict=True)
            for verdict in _partly(part, data, reason)
        )
        verdict, why = conjunction(tuple(verdicts)), next(filter(None, reasons))
    return ReleaseJudgment(subject.kind, counts, verdict, why, measures=table.measures)


def _not_shown(part: Guarantee | None, data: Table, hidden: tuple[str, ...]) -> str:
    """Return why the rows of a table cannot show a promise; empty where they can."""
    if isinstance(part, PerUnit) and data.schema.person is None:
        return _UNITS_GONE
    inner = part.guarantee if isinstance(part, PerUnit) else part
    if not isinstance(inner, TCloseness) or inner.distance not in ("ordered", "hierarchical"):
        return ""
    return _TREE_GONE if set(hidden) & set(inner.columns(data.schema.sensitive)) else ""


def _partly(part: Guarantee | None, data: Table, reason: str) -> Iterator[Verdict]:
    """Judge what rows show of a promise: a class of too few rows, or values, has too few units as well."""
    if part is None or not reason:
        if part is not None:
            yield part.check(data)
        return
    if isinstance(part, PerUnit) and isinstance(part.guarantee, KAnonymity | DistinctDiversity):
        by_rows = part.guarantee.check(data)
        yield replace(by_rows, guarantee=f"{part.guarantee!r} by rows")
    yield claimed(repr(part))


def hidden_rules(folder: Path) -> RulesHidden | None:
    """Return the rules that are hidden in a release, where the owner's folder lies beside it."""
    return _rules(_private(folder))


def _rules(owners: Mapping[str, Any]) -> RulesHidden | None:
    plain = owners.get("guarantee")
    if plain is None:
        return None
    rules = guarantee_from_dict(plain)
    if not isinstance(rules, RulesHidden):
        raise InputError("The owner's folder holds another guarantee than hidden rules.")
    return rules


def with_reading(guarantee: RulesHidden, table: Table) -> RulesHidden:
    """Return a guarantee that reads the rows of a table on the levels that its rules name."""
    named = [str(name) for rule in guarantee.rules for name in rule.items]
    return replace(guarantee, reading=row_items(table, None, named, owner="check"))


@reads("The owner's folder")
def _private(folder: Path) -> Mapping[str, Any]:
    owners = private_part(folder / RECORD)
    if owners is None:
        return {}
    require("check", PRIVATE, owners, InstanceOf((Mapping,), "a JSON object"))
    plain: Mapping[str, Any] = owners
    return plain


def _changed(folder: Path, record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that are missing, are links, or differ from what was written."""
    listed = record["files"].items()
    names = [name for name, entry in listed if described_file(folder / name).get("sha256") != entry["sha256"]]
    return (RECORD, *names) if (folder / RECORD).is_symlink() else tuple(names)


def _added(folder: Path, record: Mapping[str, Any], signature: str) -> tuple[str, ...]:
    """Return the files and folders that were not written with the release."""
    written = {RECORD, *record["files"]}
    if signature != "absent" and signature_bytes(folder / RECORD) is not None:
        written.add(SIGNATURE)
    paths = sorted(path for path in folder.iterdir() if path.name not in written)
    return tuple(f"{path.name}/" if path.is_dir() else path.name for path in paths)


def _signature(folder: Path, signed_by: Path | None) -> str:
    is_there = signature_bytes(folder / RECORD) is not None
    if signed_by is None:
        return "present" if is_there else "absent"
    if is_signed_by(folder, signed_by):
        return "verified"
    return "wrong" if is_there else "missing"
