"""Tables in groups: exact rows with a group each, and the sensitive values of each group in a file beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.figures import Caution
from discreet.core.guarantee import Guarantee
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.core.schema import Column, Role, Schema, other
from discreet.core.tables.grouped import GroupedTable
from discreet.core.verdict import claimed
from discreet.guarantees import MInvariance
from discreet.kinds.kind import Line
from discreet.kinds.tables import TableKind
from discreet.measure.spelling import twins_of_values
from discreet.measure.tables.table_cautions import other_columns

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.judging import Judgment
    from discreet.kinds.written import Written


_EARLIER_GROUPS = "the files cannot show it: which values a person's earlier groups had only the owner knows"
"""Why one release cannot show m-invariance; `discreet check` of all releases compares them."""


class GroupedTableKind(TableKind):
    """Tables whose sensitive values are counted per group; a job about a table may make one."""

    name = "grouped-table"
    groups_name = "groups"
    section = None

    def subject(self, release: Release) -> Any:
        """Return the rows with their groups and counts."""
        return release.data

    def frame(self, release: Release) -> Any:
        """Return the rows."""
        return release.data.frame

    def published_texts(self, release: Release) -> Sequence[Any]:
        """Return the rows and the sensitive counts."""
        return (release.data,)

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the rows, and the sensitive counts."""
        from discreet.kinds.written import COUNTS, write_table

        counts = write_table(release, release.data.counts, folder / f"{COUNTS}.{format}", format)
        return [*super().write(release, folder, format), counts]

    def judged_values(self, release: Release) -> Mapping[str, tuple[Any, Any]]:
        """Return none: sensitive values are in a table of their own."""
        del release
        return {}

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written rows with their groups and counts."""
        import pyarrow as pa

        from discreet.core.engine import arrow_table, engine_of
        from discreet.kinds.written import COUNTS, DATA, judged_columns, read_written

        data: GroupedTable = release.data
        group, value, count = data.counts.column_names
        rows = read_written(release, folder / f"{DATA}.{format}", format, release.table.source.names)
        if judged_columns(rows, release, format).n_rows != release.table.n_rows:
            return None
        counts = read_written(release, folder / f"{COUNTS}.{format}", format, data.counts.column_names)
        engine = engine_of(rows)
        types = {group: pa.int32(), value: engine.schema(counts).field(value).type, count: pa.int64()}
        counted = arrow_table(engine.typed(counts, types))
        return GroupedTable(engine.typed(rows, {group: pa.int32()}), counted, data.group)

    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the rows and counts of a folder."""
        del texts
        from discreet.core.engine import arrow_table

        rows, counts = written.frame("data"), arrow_table(written.frame("sensitive"))
        return GroupedTable(rows, counts, counts.column_names[0])

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Judge the sensitive values of each group."""
        from discreet.kinds.judging import Judgment

        del written, is_named
        require("check", "guarantee", guarantee, InstanceOf((Guarantee,), "a guarantee"))
        verdict = guarantee.check(data)  # type: ignore[union-attr]  # a guarantee, as required
        counts = {"rows": verdict.n_rows, "groups": verdict.n_groups}
        if isinstance(guarantee, MInvariance) and guarantee.release > 1 and verdict.ok:
            return Judgment(counts, claimed(repr(guarantee)), why=_EARLIER_GROUPS)
        return Judgment(counts, verdict)

    def released_parts(self, data: Any, record: Mapping[str, Any]) -> tuple[Any, Schema]:
        """Return the rows and counts, and the roles of the columns of rows."""
        roles = {entry["name"]: Role(entry["role"]) for entry in record["columns"]}
        columns = {name: replace(other(), role=roles.get(name, Role.OTHER)) for name in data.frame.columns}
        return data, Schema(columns)

    def added_columns(self, release: Release) -> Sequence[str]:
        """Return the column with the number of the group."""
        return (release.data.group,)

    def columns(self, data: Any) -> tuple[set[str], set[str]] | None:
        """Return the columns of the rows; the group and the counted value stand apart."""
        return set(data.frame.columns), {data.group, data.counts.column_names[1]}

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about exact rows, and about sensitive values that are spelled alike."""
        del private
        yield from _counterfeits(release) if _has_boxes(release) else _unique_classes(release)
        yield from twins_of_values(release)
        yield from other_columns(release, public.singling_out)

    def with_bounds(self, release: Release) -> Release:
        """Refuse: no cell is an interval."""
        # As of any kind but a table, whose way this passes over.
        return super(TableKind, self).with_bounds(release)

    def usefulness(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return nothing: no row has a sensitive value of its own."""
        del release, internal
        return []

    def cells(self, name: str, column: Column, release: Release, *, internal: bool) -> str:
        """Return what the cells of a column became: in groups of Anatomy, all but sensitive ones are exact."""
        if column.role is Role.QUASI and _has_boxes(release):
            return "generalized to the box of its group"
        if not internal:
            return "exact"
        if column.role is Role.SENSITIVE:
            return "counted per group, in a file of its own"
        return super().cells(name, column, release, internal=True)

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on tables in groups."""
        terms = super().terms(release)
        return {
            "Quasi-identifier": terms["Quasi-identifier"],
            "Group": "rows whose sensitive values are published together, and not row by row",
            "Sensitive": terms["Sensitive"],
        }

    def lines(self, release: Release) -> list[Line]:
        """Return the rows and groups; of m-invariance also what the verdict rests on, and the counterfeits."""
        lines = super().lines(release)
        guarantee = release.guarantee
        if not isinstance(guarantee, MInvariance):
            return lines
        n_fake, n_groups = release.recipe["counterfeits"], release.evidence.details["groups"]
        earlier = "by the released groups, and by those of earlier releases, which are private"
        return [
            ("", self.basis if guarantee.release == 1 else earlier),
            ("rows", f"{release.table.n_rows - n_fake:,} of people, {n_fake:,} counterfeits"),
            *_recognized(release),
            ("groups", f"{n_groups:,}, each with {guarantee.m:,} values or more, all different"),
            *(line for line in lines if line[0] == "loss"),
        ]


def _recognized(release: Release) -> Iterator[tuple[str, str]]:
    """Return how many people earlier releases had, by the same key: written otherwise, they count as new."""
    if "follows" in release.recipe and "recognized" in release.private:
        yield (
            "earlier",
            f"{release.private['recognized']:,} people were in earlier releases, by their key as written",
        )


def _has_boxes(release: Release) -> bool:
    """Whether rows have the boxes of their groups, as under m-invariance, and no values of their own."""
    return isinstance(release.guarantee, MInvariance)


def _counterfeits(release: Release) -> Iterator[Caution]:
    """Caution how many rows are nobody's, and what choosing groups by values shows."""
    n_fake = release.recipe.get("counterfeits", 0)
    if n_fake:
        yield Caution(
            "counterfeits",
            f"{n_fake:,} of {release.table.n_rows:,} rows are counterfeits, which nobody can distinguish from "
            "others; a column says how many each group has. Leave as many out of counts, and mention them beside "
            "the data.",
        )
    yield Caution(
        "minimality",
        "Who shares a group, and how many counterfeits it has, depend on sensitive values. Whoever knows the method "
        "and everybody's quasi-identifiers can rule out some ways to divide people, and may tie a person to a value "
        "with more than 1/m, or for certain.",
    )


def _unique_classes(release: Release) -> Iterator[Caution]:
    """Count the rows that can be found again by quasi-identifiers that are published as they are."""
    table = release.table
    alone = int((table.groups().sizes == 1).sum())
    if alone:
        yield Caution(
            "unique-quasi-identifiers",
            f"{alone:,} of {table.n_rows:,} rows ({alone / table.n_rows:.0%}) have quasi-identifiers that no other row "
            "has, and they are published exactly: whoever knows them finds the row, learns its other columns and that "
            "the person is in the data. Only sensitive values are hidden, in their group. Generalize the "
            "quasi-identifiers where that must not be.",
        )
