"""Judging a written release: its files, from the folder alone, by the guarantee that release.json states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.errors import DiscreetError, InputError, ParameterError
from discreet.core.params import InstanceOf, require
from discreet.core.verdict import BROKEN, Verdict
from discreet.engines.folders import RECORD, SIGNATURE, altered, described_file, has_files
from discreet.guarantees import Guarantee, RulesHidden, guarantee_from_dict
from discreet.job.descriptions import read_record
from discreet.job.record_checking import RecordJudgment, judge_record
from discreet.kinds.hidden_rules import HiddenRules
from discreet.kinds.judging import Judgment
from discreet.kinds.kind import KEPT_EVIDENCE
from discreet.kinds.written import Written
from discreet.publish.recipes.recipe import PRIVATE, private_part, private_place
from discreet.report.signature import is_signed_by, signature_bytes

_UNREADABLE = "the released data cannot be read from its files"


@dataclass(frozen=True)
class ReleaseJudgment(Judgment):
    """What the files of a release show, beside what they show of the guarantee.

    The verdict is verified as far as the files show it, and claimed as far as only release.json says it.

    Attributes
    ----------
    kind
        The kind of released data.
    changed
        The names of files that are missing, or are not what was written.
    added
        The names of files and folders that were not written with the release.
    record
        What the files show of release.json itself.
    vouched
        Whether release.json is surely the one that was written: by the digest in the owner's folder, or its signature.
    signature
        ``"verified"``, ``"missing"`` or ``"wrong"`` where a signer was named, else ``"present"`` or ``"absent"``.
    """

    verdict: Verdict
    kind: str = ""
    changed: tuple[str, ...] = ()
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
    measured: bool = False,
    reading: Mapping[str, Any] | None = None,
) -> ReleaseJudgment:
    """Judge the files of a release of any kind.

    Which rules are hidden no public file says. They are read from the owner's folder, if it lies beside the release and
    belongs to it: it holds the digest of release.json.

    Parameters
    ----------
    folder
        The folder of the release.
    guarantee
        What to judge it by; the guarantee that release.json states by default.
    population
        The population that the guarantee compares with, which no release holds.
    signed_by
        The public key of whoever must have signed release.json; None verifies no signature.
    measured
        Whether to measure the data by all other guarantees as well.
    reading
        The engine and the cluster that Parquet files are read on; None reads files here.
    """
    owners_record = private_place(folder.resolve())
    has_owners = has_files(owners_record.parent)
    untied = altered(folder / RECORD, owners_record.parent) if has_owners else ()
    record = read_record(folder)
    owners = _private(folder) if has_owners and not untied else {}
    changed = (*_changed(folder, record), *untied)
    signature = _signature(folder, signed_by)
    written = Written(folder, record, owners, population, bool(changed), measured, reading or {})
    judgment = _judged(written, guarantee)
    return replace(
        judgment,
        changed=tuple(dict.fromkeys(changed)),
        added=_added(folder, record, signature),
        vouched=(has_owners and not untied) or signature == "verified",
        signature=signature,
    )


def stated_guarantee(written: Written) -> Guarantee | None:
    """Return the guarantee that release.json states; None where only the owner knows it."""
    if isinstance(written.kind, HiddenRules):
        return _rules(written.owners)
    return guarantee_from_dict(written.record["guarantee"], population=written.population)


def _judged(written: Written, guarantee: Guarantee | None) -> ReleaseJudgment:
    """Judge the guarantee, and release.json by what the data shows of it.

    A text file does not say whether a sensitive 1 and 1.0 were numbers or texts, so where the figures of release.json
    are not found with the types that the cells suggest, they may be found with texts.
    """
    if written.kind.by_evidence and guarantee is not None:
        raise ParameterError(
            f"A release of {written.kind.name} is not judged by another guarantee: {KEPT_EVIDENCE}."
        )
    first = _judged_as(written, guarantee, texts=False)
    if not first.record.wrong or not written.is_text:
        return first
    second = _judged_as(written, guarantee, texts=True)
    return second if not second.record.wrong else first


def _judged_as(written: Written, guarantee: Guarantee | None, *, texts: bool) -> ReleaseJudgment:
    stated = stated_guarantee(written)
    is_named = guarantee is not None
    try:
        data = written.kind.read_released(written, texts=texts)
        judgment = written.kind.judge_written(
            written, data, stated if guarantee is None else guarantee, is_named=is_named
        )
    except DiscreetError:
        if not written.is_changed:
            raise
        data, judgment = None, Judgment({}, written.claims(), why=_UNREADABLE)
    record = judge_record(written, data, None if is_named else judgment.verdict, stated)
    return ReleaseJudgment(
        judgment.counts,
        # A verdict is false where the guarantee is broken, so it is compared with None.
        written.claims() if judgment.verdict is None else judgment.verdict,
        judgment.measures,
        judgment.why,
        kind=written.kind.name,
        record=record,
    )


def hidden_rules(folder: Path) -> RulesHidden | None:
    """Return the rules that are hidden in a release, where the owner's folder lies beside it."""
    return _rules(_private(folder))


def _rules(owners: Mapping[str, Any]) -> RulesHidden | None:
    stated = owners.get("guarantee")
    if stated is None:
        return None
    rules = guarantee_from_dict(stated)
    if not isinstance(rules, RulesHidden):
        raise InputError("The owner's folder holds another guarantee than hidden rules.")
    return rules


@reads("The owner's folder")
def _private(folder: Path) -> Mapping[str, Any]:
    owners = private_part(folder / RECORD)
    if owners is None:
        return {}
    require("check", PRIVATE, owners, InstanceOf((Mapping,), "a JSON object"))
    record: Mapping[str, Any] = owners
    return record


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
