"""Judging several releases of overlapping people together: what is left for whoever is in several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.hierarchy.specs import spec_from_dict
from discreet.core.schema import Role, quasi, sensitive
from discreet.core.tables.table import Table
from discreet.core.verdict import BROKEN, Basis
from discreet.engines.folders import RECORD, described_file
from discreet.guarantees import (
    AlphaKAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    MaxRisk,
    MInvariance,
    PerUnit,
    RecursiveDiversity,
    guarantee_from_dict,
)
from discreet.job.descriptions import read_record
from discreet.job.release_checking import ReleaseJudgment, _private, judge_release
from discreet.kinds.grouped_tables import GroupedTableKind
from discreet.kinds.tables import TableKind
from discreet.kinds.written import Written
from discreet.measure.tables.composition import Composition, Difference, composition
from discreet.measure.tables.label_overlaps import common_tree

CLAIMED, UNSURE = Basis.CLAIMED.value, "unsure"
_DIVERSE = (DistinctDiversity, MInvariance)


@dataclass(frozen=True)
class LeftOver:
    """What is left of one stated guarantee, in the worst choice of releases; ``word`` is what the terminal says.

    ``word`` is unsure where intersections do not say whether it is kept, and claimed where they rest on what the
    releases say themselves. ``left`` counts rows, or values where the guarantee is about these.
    """

    release: int
    guarantee: str
    left: int | None
    word: str
    among: tuple[int, ...] = ()
    """The releases of that choice, by number."""


@dataclass(frozen=True)
class RepeatedJudgment:
    """What several releases show together.

    Attributes
    ----------
    judgments
        The judgment of each release by itself.
    composition
        The figures of intersections and differences.
    kept
        What is left of every stated guarantee for whoever is in several releases.
    exposed
        The differences that show the values of fewer newcomers, or leavers, than the guarantees allow.
    forks, gaps
        The m-invariant releases that follow the same one as another release, and the others that do not follow the one
        before, by number: m-invariance says nothing about people who are in these.
    tied
        How many pseudonyms two releases or more have: they tie people's rows without any matching.
    retaken
        The columns of the role other that were taken as what they are in another release.
    """

    judgments: tuple[ReleaseJudgment, ...]
    composition: Composition
    kept: tuple[LeftOver, ...]
    exposed: tuple[Difference, ...] = ()
    forks: tuple[int, ...] = ()
    gaps: tuple[int, ...] = ()
    tied: int = 0
    retaken: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """Verified; claimed, where something rests on what releases say, or is unsure; or broken, alone or together."""
        words = {each.word for each in self.judgments} | {each.word for each in self.kept}
        if BROKEN in words or self.exposed or self.forks or self.tied:
            return BROKEN
        return CLAIMED if words & {CLAIMED, UNSURE} or self.gaps else Basis.VERIFIED.value

    @property
    def ok(self) -> bool:
        """Whether every release is as it was written, and nothing that was judged is lost together, or only claimed."""
        return self.word == Basis.VERIFIED.value

    def to_dict(self) -> dict[str, Any]:
        """Return the judgment as plain data for JSON."""
        return {
            "verdict": self.word,
            "verdicts": [each.word for each in self.judgments],
            "together": self.composition.to_dict(),
            "kept": [asdict(each) for each in self.kept],
            "exposed": [asdict(each) for each in self.exposed],
            "forks": list(self.forks),
            "gaps": list(self.gaps),
            "pseudonyms_in_several": self.tied,
            "retaken": list(self.retaken),
        }


@reads("The releases")
def judge_repeated(folders: Sequence[Path]) -> RepeatedJudgment:
    """Judge several releases of tables by themselves and together."""
    judgments = tuple(judge_release(folder) for folder in folders)
    written = [Written(folder, read_record(folder), _private(folder)) for folder in folders]
    for each in written:
        if type(each.kind) not in (TableKind, GroupedTableKind):
            raise InputError(
                f"{each.folder} is a release of {each.kind.name}; only tables are compared with others."
            )
    alone = [_table(each, number) for number, each in enumerate(written, 1)]
    tables = _with_common_roles(alone)
    retaken = {
        name
        for before, table in zip(alone, tables, strict=True)
        for name, column in before.schema.items()
        if table.schema[name].role is not column.role
    }
    _refuse_means(written, tables)
    guarantees = [guarantee_from_dict(each.record["guarantee"]) for each in written]
    specs = [_hierarchies(each) for each in written]
    trees = {}
    for name in dict.fromkeys(chain.from_iterable(table.schema.quasi for table in tables)):
        of_name = [
            spec.get(name) for spec, table in zip(specs, tables, strict=True) if name in table.schema.quasi
        ]
        trees[name] = common_tree(name, of_name) if len(of_name) > 1 else None
    invariant = [number for number, each in enumerate(guarantees) if isinstance(each, MInvariance)]
    forks, gaps = _unchained(written, invariant)
    linked = [number in invariant and not forks and not gaps for number in range(len(written))]
    found = composition(
        tables,
        {name: spec_from_dict(tree) for name, tree in trees.items() if tree is not None},
        same_values=linked,
    )
    shared = {each for part in (found, *found.parts) if part.n_combinations for each in part.releases}
    kept = tuple(
        _kept(number, part, found, is_claimed=linked[number - 1])
        for number, guarantee in enumerate(guarantees, 1)
        for part in (guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,))
    )
    exposed = tuple(
        each
        for each in found.differences
        if _exposes(each, [guarantees[number - 1] for number in each.releases])
    )
    return RepeatedJudgment(
        judgments,
        found,
        kept,
        exposed,
        tuple(each for each in forks if each in shared),
        tuple(each for each in gaps if each in shared),
        _tied([_pseudonyms(each) for each in written]),
        tuple(sorted(retaken)),
    )


def _parts(guarantee: Guarantee) -> tuple[Guarantee, ...]:
    """Return the parts of a guarantee, without the units that they are about."""
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    return tuple(part.guarantee if isinstance(part, PerUnit) else part for part in parts)


def _unchained(written: Sequence[Written], invariant: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the numbers of the m-invariant releases that fork from the same one, and of those with a gap before."""
    digests = [described_file(written[each].folder / RECORD).get("sha256") for each in invariant]
    follows = [written[each].record.get("follows") for each in invariant]
    forks: list[int] = []
    gaps: list[int] = []
    for at, number in enumerate(invariant[1:], 1):
        if follows[at] == digests[at - 1]:
            continue
        is_fork = follows[at] is not None and follows[at] in follows[:at]
        (forks if is_fork else gaps).append(number + 1)
    return forks, gaps


def _exposes(difference: Difference, guarantees: Sequence[Guarantee]) -> bool:
    """Whether rows that came or went show their value, and are fewer than a class may have, or promised to differ.

    Without a promise of sizes, two rows hide each other.
    """
    if difference.fewest_disclosed is None:
        return False
    parts = [_parts(each) for each in guarantees]
    fewest = max((part.bound for part in chain(*parts) if isinstance(part, KAnonymity)), default=2)
    are_diverse = all(any(isinstance(part, _DIVERSE) for part in each) for each in parts)
    return difference.fewest_disclosed < fewest or are_diverse


def _table(written: Written, number: int) -> Table:
    """Return the rows of a release as a table; in groups, every row may have each of its group's values.

    The group is a quasi-identifier that no other release has, so that groups with the same boxes stay apart.
    """
    data = written.kind.read_released(written, texts=True)
    if isinstance(data, Table):
        return data
    rows, name = arrow_table(data.frame), f"group of release {number}"
    roles = {entry["name"]: entry["role"] for entry in written.record["columns"]}
    known = [column for column in rows.column_names if roles.get(column) == "quasi"]
    distinct = rows.select([data.group, *known]).group_by([data.group, *known]).aggregate([])
    key, value, _ = data.counts.column_names
    values = data.counts.select([key, value]).rename_columns([data.group, value])
    joined = distinct.join(values, data.group, join_type="inner")
    renamed = joined.rename_columns([name if each == data.group else each for each in joined.column_names])
    return Table(renamed, {column: quasi() for column in (name, *known)} | {value: sensitive()})


def _with_common_roles(tables: Sequence[Table]) -> list[Table]:
    """Take columns of the role other as what they are in another release: others know them, or must not learn them."""
    roles = {name: sensitive() for table in tables for name in table.schema.sensitive}
    roles |= {name: quasi() for table in tables for name in table.schema.quasi}
    made = []
    for table in tables:
        changed = {
            name: roles[name]
            for name, column in table.schema.items()
            if column.role is Role.OTHER and name in roles
        }
        made.append(Table(table.frame, {**table.schema, **changed}) if changed else table)
    return made


def _refuse_means(written: Sequence[Written], tables: Sequence[Table]) -> None:
    """Refuse numbers that are means of their classes: whose class it is, a mean does not say."""
    for number, (each, table) in enumerate(zip(written, tables, strict=True), 1):
        is_mean = (each.record.get("parameters") or {}).get("summary") == "mean"
        others = {name for other in tables if other is not table for name in other.schema.quasi}
        shown = {*table.schema.quasi} - {*(each.record.get("cells") or {})}
        if (is_mean or each.record.get("method") == "Microaggregation") and (means := sorted(shown & others)):
            raise InputError(
                f"Release {number} shows means of '{means[0]}', which do not say whom a class may hold, so nobody can "
                "say which classes overlap: publish boxes (--summary box) where a table is published again."
            )


def _hierarchies(written: Written) -> dict[str, Any]:
    """Return the hierarchy of each column, True where only the owner has it."""
    hidden = written.owners.get("columns", {})
    return {
        entry["name"]: hidden.get(entry["name"], {}).get("hierarchy", entry.get("hierarchy"))
        for entry in written.record["columns"]
    }


def _kept(number: int, part: Guarantee, found: Composition, *, is_claimed: bool) -> LeftOver:
    """Return what is left of a guarantee of a release, in the worst choice of releases with it."""
    choices = [each for each in (found, *found.parts) if number in each.releases and each.n_combinations]
    word = CLAIMED if is_claimed else "kept"
    if not choices:
        return LeftOver(number, repr(part), None, word)
    rests = [(left >= least, left, each.releases) for each in choices for left, least in _left(part, each)]
    if not rests:
        return LeftOver(number, repr(part), None, UNSURE)
    is_enough, left, among = min(rests, key=lambda rest: (rest[0], rest[1], -len(rest[2])))
    if is_enough and not _is_counted(part):
        return LeftOver(number, repr(part), None, UNSURE)
    return LeftOver(number, repr(part), left, word if is_enough else BROKEN, among)


def _is_counted(part: Guarantee) -> bool:
    """Whether rows and values say all that a guarantee is about: where it is about people, rows may be one person's."""
    if isinstance(part, MaxRisk):
        return part.mean == part.unique == 1
    return isinstance(part, (KAnonymity, *_DIVERSE))


def _left(part: Guarantee, found: Composition) -> Iterator[tuple[int, float]]:
    """Return the rows and the values that are left for people who are in all of some releases, and those it needs."""
    if isinstance(part, PerUnit):  # A class has no more units than rows.
        yield from _left(part.guarantee, found)
        return
    if not isinstance(part, _DIVERSE):
        yield found.smallest, part.smallest
    of = getattr(part, "of", None) or ()
    named = (of,) if isinstance(of, str) else tuple(of)
    columns = named or part.columns(tuple(found.values))
    values = [found.values[name] for name in columns if name in found.values]
    if values and isinstance(part, AlphaKAnonymity):
        yield min(values), 1 / part.alpha - 1e-9
    elif values and isinstance(part, (EntropyDiversity, RecursiveDiversity, *_DIVERSE)):
        yield min(values), part.m if isinstance(part, MInvariance) else part.l


def _pseudonyms(written: Written) -> set[str]:
    """Return the pseudonyms of a release, of people and of other identifiers."""
    data = written.kind.read_released(written, texts=True)
    rows = arrow_table(data.frame)
    names = [entry["name"] for entry in written.record["columns"] if entry.get("pseudonym")]
    columns = [rows[name].to_pylist() for name in names if name in rows.column_names]
    return {str(each) for each in chain.from_iterable(columns) if each is not None}


def _tied(shown: Sequence[set[str]]) -> int:
    """Count the pseudonyms that two releases or more have."""
    return len(set().union(*(first & second for first, second in combinations(shown, 2))))
