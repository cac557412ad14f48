"""Judging several releases of overlapping people together: what is left of their guarantees for whoever is in all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.hierarchy.specs import spec_from_dict
from discreet.core.schema import quasi, sensitive
from discreet.core.tables.table import Table
from discreet.core.verdict import BROKEN
from discreet.engines.folders import RECORD, described_file
from discreet.guarantees import DistinctDiversity, KAnonymity, MInvariance, PerUnit, guarantee_from_dict
from discreet.job.descriptions import read_record
from discreet.job.release_checking import ReleaseJudgment, _private, judge_release
from discreet.kinds.grouped_tables import GroupedTableKind
from discreet.kinds.kind import Line
from discreet.kinds.tables import TableKind
from discreet.kinds.written import Written
from discreet.measure.tables.composition import Composition, Difference, composition
from discreet.measure.tables.label_overlaps import common_tree


@dataclass(frozen=True)
class LeftOver:
    """What is left of one stated guarantee: ``holds`` is None where intersections and differences do not say."""

    release: int
    guarantee: str
    left: int | None
    holds: bool | None


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
        What is left of every stated guarantee for whoever is in all releases.
    tied
        How many pseudonyms all releases have: they tie people's rows without any matching.
    """

    judgments: tuple[ReleaseJudgment, ...]
    composition: Composition
    kept: tuple[LeftOver, ...]
    tied: int = 0

    @property
    def ok(self) -> bool:
        """Whether every release is as it was written, and nothing that was judged is lost together."""
        lost = any(each.holds is False for each in self.kept) or self.tied
        return not lost and all(each.word != BROKEN for each in self.judgments)

    def to_dict(self) -> dict[str, Any]:
        """Return the judgment as plain data for JSON."""
        return {
            "verdicts": [each.word for each in self.judgments],
            "together": self.composition.to_dict(),
            "kept": [asdict(each) for each in self.kept],
            "pseudonyms_in_all": self.tied,
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
    tables = [_table(each, number) for number, each in enumerate(written, 1)]
    guarantees = [guarantee_from_dict(each.record["guarantee"]) for each in written]
    specs = [_hierarchies(each) for each in written]
    names = [name for name in tables[0].schema.quasi if all(name in table.schema.quasi for table in tables)]
    trees = {name: common_tree(name, [spec.get(name) for spec in specs]) for name in names}
    same = all(isinstance(guarantee, MInvariance) for guarantee in guarantees) and _is_chain(written)
    found = composition(
        tables,
        {name: spec_from_dict(tree) for name, tree in trees.items() if tree is not None},
        same_values=same,
    )
    kept = tuple(
        _kept(number, part, found)
        for number, guarantee in enumerate(guarantees, 1)
        for part in (guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,))
    )
    return RepeatedJudgment(judgments, found, kept, _tied(tables))


def _is_chain(written: Sequence[Written]) -> bool:
    """Return whether every release says that it follows the one before, so that the same people keep their values."""
    return all(
        later.record.get("follows") == described_file(earlier.folder / RECORD).get("sha256")
        for earlier, later in pairwise(written)
    )


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


def _hierarchies(written: Written) -> dict[str, Any]:
    """Return the hierarchy of each column, True where only the owner has it."""
    hidden = written.owners.get("columns", {})
    return {
        entry["name"]: hidden.get(entry["name"], {}).get("hierarchy", entry.get("hierarchy"))
        for entry in written.record["columns"]
    }


def _kept(number: int, part: Guarantee, found: Composition) -> LeftOver:
    inner = part.guarantee if isinstance(part, PerUnit) else part
    left: int | None = None
    if isinstance(inner, KAnonymity):
        left = found.smallest
    elif isinstance(inner, DistinctDiversity | MInvariance):
        columns = [name for name in inner.columns(tuple(found.values)) if name in found.values]
        left = min((found.values[name] for name in columns), default=None)
    if not found.n_combinations or left is None:
        return LeftOver(number, repr(part), None, True if not found.n_combinations else None)
    return LeftOver(number, repr(part), left, left >= part.bound)


def _tied(tables: Sequence[Table]) -> int:
    """Count the pseudonyms that all releases have."""
    keys = [table.schema.person for table in tables]
    if None in keys:
        return 0
    shown = [set(table.encoded[str(key)].values.to_pylist()) for table, key in zip(tables, keys, strict=True)]
    return len(set.intersection(*shown))


def repeated_lines(judgment: RepeatedJudgment) -> list[Line]:
    """Return what several releases show together, as lines for the terminal."""
    found = judgment.composition
    lines = [
        (each.word, f"release {number} by itself: {each.verdict.guarantee}")
        for number, each in enumerate(judgment.judgments, 1)
    ]
    lines.append(
        (
            "together",
            f"{found.n_combinations:,} combinations of classes can hold somebody who is in all releases",
        )
    )
    if not found.n_combinations:
        lines.append(("", "so nobody is in all of them, if sensitive values do not change"))
    for each in judgment.kept if found.n_combinations else ():
        word = {True: "kept", False: BROKEN, None: "unsure"}[each.holds]
        left = "intersections do not say" if each.left is None else f"{each.left:,} left in the worst of them"
        lines.append((word, f"{each.guarantee} of release {each.release}, for people in all: {left}"))
    for name, n_disclosed in found.disclosed.items():
        if n_disclosed:
            rows = found.rows_at_risk[name]
            lines.append(
                (
                    "disclosed",
                    f"'{name}' is certain in {n_disclosed:,} of them: of up to {rows:,} rows of release 1",
                )
            )
    for number, each_difference in enumerate(found.differences, 2):
        lines += _difference_lines(each_difference, number)
    if judgment.tied:
        lines.append(
            (BROKEN, f"{judgment.tied:,} pseudonyms are in all releases, and tie their rows for certain")
        )
    return [
        *lines,
        (
            "",
            "sensitive values are taken not to change; other columns that stay the same may tie rows as well",
        ),
    ]


def _difference_lines(difference: Difference, number: int) -> Iterator[Line]:
    """Return what the counts of a release add to those of the one before."""
    if difference.fewest is None:
        yield (
            "counts",
            f"in every region, release {number} has both more and fewer than the one before, or the same",
        )
        return
    yield (
        "counts",
        f"from release {number - 1} to {number}, {difference.grown:,} of {difference.regions:,} regions only grew and "
        f"{difference.shrunk:,} only shrank, one by {difference.fewest:,} "
        + ("row" if difference.fewest == 1 else "rows"),
    )
    if difference.disclosed:
        yield (
            "",
            f"in {difference.disclosed:,} of these all rows that came or went have one value: theirs, if no others did",
        )
