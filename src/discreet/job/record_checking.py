"""What release.json says of a release, recomputed from the released files: field by field, as far as they show it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.figures import Figures
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.release import Evidence, Release
from discreet.core.verdict import Verdict, is_near
from discreet.engines.folders import described_file
from discreet.guarantees import KAnonymity
from discreet.guarantees.per_unit import PerUnit
from discreet.kinds.hidden_rules import appends_baskets
from discreet.kinds.written import Written
from discreet.report.folder import public_verdict, record_text

Field = tuple[str | int, ...]
"""A leaf of release.json, by the names and positions that lead to it."""
_CLOSED = ("risk", "joined_risk", "table_rows", "verdict", "files")
"""Parts of release.json that are recomputed as a whole."""
_ONLY_CLAIMED = ("in", "suppressed")
"""Counts of the original, which no released file shows."""


@dataclass(frozen=True)
class RecordJudgment:
    """What the released files show of release.json.

    Attributes
    ----------
    verified
        The fields that were recomputed and are right, from the most general that is right as a whole.
    claimed
        The fields of which nothing was recomputed.
    wrong
        The fields that are not what was recomputed, or that contradict others.
    """

    verified: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def judge_record(
    written: Written, data: Any, verdict: Verdict | None, guarantee: Guarantee | None
) -> RecordJudgment:
    """Compare release.json with what the released files show.

    Parameters
    ----------
    written
        The folder of the release.
    data
        The released data, read from its files; None where it cannot be read.
    verdict
        The verdict by the guarantee that release.json states; None where it was judged by another.
    guarantee
        That guarantee; None where the public files do not hold all of it.
    """
    record = written.record
    figures = None if data is None else written.kind.figures(as_release(written, data, guarantee))
    recomputed = dict(_leaves(_plain(_recomputed(written, figures, verdict, guarantee))))
    stated = dict(_leaves(dict(record)))
    contradicted = {*_contradicted(written, guarantee), *_other_columns(written, data)}
    wrong = {
        path for path, value in recomputed.items() if path not in stated or not _is_same(stated[path], value)
    }
    # What was added inside of a part that was recomputed as a whole is as wrong as what was changed in it.
    closed = {path[:-1] for path in recomputed if path[0] in _CLOSED}
    wrong |= {path for path in stated if path[:-1] in closed and path not in recomputed}
    wrong |= _missing_cautions(record, figures)
    wrong |= contradicted
    right = {path for path in recomputed if path not in wrong}
    return RecordJudgment(
        verified=_joined(right, stated),
        claimed=_joined({path for path in stated if path not in right | wrong}, stated),
        wrong=tuple(sorted(map(_written, wrong))),
    )


def _recomputed(
    written: Written,
    figures: Figures[Any, Any] | None,
    verdict: Verdict | None,
    guarantee: Guarantee | None,
) -> dict[str, Any]:
    """Return the part of release.json that the files show."""
    names = written.record["files"]
    recomputed: dict[str, Any] = {"files": {name: described_file(written.folder / name) for name in names}}
    if figures is None:
        return recomputed
    if verdict is not None and verdict.verified:
        recomputed["verdict"] = public_verdict(written.kind, verdict)
    for name, value in figures.public.to_dict().items():
        if isinstance(value, dict) and "out" in value:
            recomputed[name] = {key: count for key, count in value.items() if key not in _ONLY_CLAIMED}
        elif name != "risk" or not _hides_units(record=written.record, guarantee=guarantee):
            recomputed[name] = value
    return recomputed


def as_release(written: Written, data: Any, guarantee: Guarantee | None) -> Release:
    """Return a release as far as the public files hold it: without original and without evidence."""
    record, kind = written.record, written.kind
    counts: Mapping[str, int] = record.get(kind.records_name, {})
    evidence = Evidence(n_rows=counts.get("in", 0), suppressed=counts.get("suppressed", 0))
    released, schema = kind.released_parts(data, record)
    return Release(released, guarantee or KAnonymity(1), evidence, record, kind.name, schema)


def _missing_cautions(record: Mapping[str, Any], figures: Figures[Any, Any] | None) -> set[Field]:
    """Find cautions that the released data calls for and release.json lacks; it may have others besides."""
    if figures is None:
        return set()
    if not isinstance(record["cautions"], list):
        return {("cautions",)}
    expected = [_plain(caution.to_dict()) for caution in figures.cautions if caution.public]
    return set() if all(caution in record["cautions"] for caution in expected) else {("cautions",)}


def _contradicted(written: Written, guarantee: Guarantee | None) -> Iterator[Field]:
    """Find fields that contradict others: sizes that do not add up, or another guarantee in another place."""
    record = written.record
    counts = record.get(written.kind.records_name)
    if counts is not None and not written.kind.draws_records:
        added = record.get("counterfeits", 0)
        n_left = counts["in"] - counts["suppressed"] + (added if type(added) is int else 0)
        if counts["out"] < n_left or (counts["out"] > n_left and not appends_baskets(record)):
            yield (written.kind.records_name,)
    if guarantee is None:
        return
    if record["verdict"]["guarantee"] != repr(guarantee):
        yield ("verdict", "guarantee")
    parts = guarantee.parts if isinstance(guarantee, AllOf) else ()
    stated = [part["guarantee"] for part in record["verdict"].get("parts", [])]
    if parts and stated and stated != [repr(part) for part in parts]:
        yield ("verdict", "parts")
    hidden = _hides_units(record=record, guarantee=guarantee)
    if hidden and record.get("risk") != {"highest_at_most": 1 / max(guarantee.smallest, 1)}:
        yield ("risk",)
    parameters = record.get("parameters", {})
    for name, value in guarantee.to_dict().items():
        # Methods and guarantees may have parameters of one name: OptimalLattice(highest={}) and MaxRisk(highest=0.2).
        if name in parameters and not isinstance(parameters[name], Mapping) and parameters[name] != value:
            yield ("parameters", name)


def _other_columns(written: Written, data: Any) -> Iterator[Field]:
    """Find columns that are not those of the data."""
    read = None if data is None else written.kind.columns(data)
    if read is None:
        return
    columns, added = read
    entries = written.record["columns"]
    named = [entry["name"] for entry in entries]
    released = {entry["name"] for entry in entries if entry["role"] not in _DROPPED or entry.get("pseudonym")}
    if len(named) != len(set(named)) or released - added != columns - added:
        yield ("columns",)


def _hides_units(*, record: Mapping[str, Any], guarantee: Guarantee | None) -> bool:
    """Return whether units are counted that no released column shows, not even by pseudonyms."""
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    shown = "tables" in record or any(
        entry["role"] == "person" and entry.get("pseudonym") for entry in record.get("columns", ())
    )
    return any(isinstance(part, PerUnit) for part in parts) and not shown


_DROPPED = ("identifier", "person", "drop")


def _plain(value: Any) -> Any:
    """Return data as it comes back from release.json."""
    return json.loads(record_text({"value": value}))["value"]


def _is_same(stated: Any, recomputed: Any) -> bool:
    """Return whether two values of JSON are the same: 1, 1.0 and true are not, and numbers may differ by rounding."""
    if type(stated) is float and type(recomputed) is float:
        return is_near(stated, recomputed)
    return bool(stated == recomputed) and type(stated) is type(recomputed)


def _leaves(tree: Any, path: Field = ()) -> Iterator[tuple[Field, Any]]:
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else None
    if not inner or not tree:
        yield path, tree
        return
    for key, value in inner:
        yield from _leaves(value, (*path, key))


def _joined(paths: set[Field], stated: Mapping[Field, Any]) -> tuple[str, ...]:
    """Write fields by the part of release.json they are all of, else one by one."""
    joined: set[Field] = set()
    for path in paths:
        for length in range(1, len(path) + 1):
            if all(leaf in paths for leaf in stated if leaf[:length] == path[:length]):
                joined.add(path[:length])
                break
    return tuple(sorted(map(_written, joined)))


def _written(path: Field) -> str:
    return ".".join(str(key) for key in path)
