"""Linked tables: several tables about the same people in one release, judged by what all of them show together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.core.engine import engine_of
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraint, InstanceOf, OneOf, require
from discreet.core.registry import Method
from discreet.core.release import Evidence, Release
from discreet.core.schema import Column, Role, Schema
from discreet.core.tables.table import Table
from discreet.engines.formats import output_format
from discreet.guarantees import KAnonymity
from discreet.kinds.kind import TEXT, TEXTS, Input, Kind, Line
from discreet.kinds.roles import column_from, complete
from discreet.kinds.tables import TableKind
from discreet.kinds.wording import percent, refuse_unknown, span
from discreet.measure import Risk, loss, singling_out
from discreet.measure.tables.risk import risk_of
from discreet.measure.tables.table_cautions import table_cautions

if TYPE_CHECKING:
    from discreet.core.tables.linked_tables import LinkedTables
    from discreet.kinds.blocks import Block
    from discreet.kinds.judging import Judgment
    from discreet.kinds.written import Written

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TAKEN = "report, release, codebook or data"


@dataclass(frozen=True, repr=False)
class LinkedSection:
    """One table of a job about linked tables: its file, the roles of its columns, and the dates to shift."""

    path: Path
    columns: Mapping[str, Column]
    rest: Role | None = None
    shift: tuple[str, ...] = ()


def part_of(release: Release, name: str) -> Release:
    """Return one released table as a release of its own, with what the recipe says of it."""
    table: Table = release.data.tables[name]
    return Release(
        table.frame,
        KAnonymity(max(release.guarantee.smallest, 1)),
        Evidence(table.n_rows),
        release.recipe["tables"][name],
        schema=table.schema,
        original=None if release.original is None else release.original.tables[name],
    )


def _without_shifted(part: Release) -> Release:
    """Return a table without its shifted dates, which are not published as they are."""
    shifted = part.recipe.get("shifted", ())
    if not shifted:
        return part
    names = [name for name in part.schema if name not in shifted]
    frame = engine_of(part.data).select(part.data, names)
    return replace(part, data=frame, schema=Schema({name: part.schema[name] for name in names}))


class PublicLinkedFigures(PublicFigures):
    """What all released tables show together."""

    @property
    def n_released(self) -> int:
        """The number of released people."""
        return int(self.release.data.n_people)

    @cached_property
    def risk(self) -> Risk:
        """The risk that is left, by the joined view."""
        return risk_of(self.release.data.counted, self.release.data.n_rows)

    @cached_property
    def parts(self) -> Mapping[str, Release]:
        """The released tables, each as a release of its own."""
        return {name: part_of(self.release, name) for name in self.release.data.tables}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of people and rows, and the risk in the joined view."""
        rows = {name: table.n_rows for name, table in self.release.data.tables.items()}
        return {"people": self.counts.to_dict(), "table_rows": rows, "joined_risk": self.risk.to_dict()}


class PrivateLinkedFigures(PrivateFigures):
    """What the release cost, and the risk before."""

    @cached_property
    def risk_before(self) -> Risk:
        """The risk in the joined view of the originals."""
        return risk_of(self.release.original.counted, self.release.original.n_rows)

    @cached_property
    def losses(self) -> dict[str, float]:
        """The loss of detail of each table."""
        parts: Any = self.release.evidence.details["parts"]
        return {name: loss(part).total for name, part in parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the losses, the levels, and the risk before."""
        levels = dict(self.release.evidence.levels or {})
        return {"loss": self.losses, "levels": levels, "risk_before": self.risk_before.to_dict()}


class LinkedTablesKind(Kind):
    """Several tables about the same people."""

    name = "linked-tables"
    formats = TableKind.formats
    title = "Linked tables"
    public_half = PublicLinkedFigures
    private_half = PrivateLinkedFigures
    not_for_rows = "linked tables, which are released together or not at all"
    records_name = "people"
    basis = "recomputed from the released tables, joined by their pseudonyms"
    section = "tables"
    takes = "linked-tables"
    noun = "linked tables"
    names_files = True
    reading: ClassVar[Mapping[str, Constraint]] = TableKind.reading

    def parse(self, section: Mapping[str, Any], folder: Path) -> dict[str, LinkedSection]:
        """Read where the tables are, and the roles of their columns."""
        tables = {}
        for name, entry in section.items():
            where = f"tables.{name}"
            if not _NAME.fullmatch(name) or name in re.split(r", | or ", _TAKEN):
                raise ParameterError(
                    f"[{where}] cannot be the name of a file: use letters, digits, - and _, and no name of {_TAKEN}."
                )
            require("tables", name, entry, InstanceOf((Mapping,), "a table of keys"))
            refuse_unknown(f"[{where}]", entry, ("path", "columns", "rest", "shift"))
            require(where, "path", entry.get("path"), TEXT)
            require(where, "rest", entry.get("rest"), OneOf((None, "other", "identifier", "drop")))
            require(where, "shift", entry.get("shift", []), TEXTS)
            require(where, "columns", entry.get("columns"), InstanceOf((Mapping,), "a table of columns"))
            columns = {column: column_from(column, role, folder) for column, role in entry["columns"].items()}
            shift = tuple(entry.get("shift", ()))
            rest = None if entry.get("rest") is None else Role(entry["rest"])
            tables[name] = LinkedSection(folder / entry["path"], columns, rest, shift)
        return tables

    def read(self, job: Input) -> LinkedTables:
        """Read all tables, with a role for every column."""
        from discreet.core.tables.linked_tables import LinkedTables
        from discreet.core.tables.source import source_of
        from discreet.engines.files import read

        tables = {}
        for name, about in job.section.items():
            source = source_of(read(about.path, **job.reading))
            try:
                roles = complete(about.columns, source.names, rest=about.rest)
                tables[name] = Table(source, roles, spreadsheet_safe=job.spreadsheet_safe)
            except SchemaError as error:
                raise SchemaError(f"Table '{name}': {error}") from None
        return LinkedTables(tables)

    def arguments(self, job: Input, method: Method) -> dict[str, Any]:
        """Return which dates are shifted."""
        del method
        return {"shift": {name: about.shift for name, about in job.section.items() if about.shift}}

    def output_format(self, job: Input) -> str | None:
        """Return the format of the first table."""
        return output_format(next(iter(job.section.values())).path)

    def published_texts(self, release: Release) -> Sequence[Any]:
        """Return the rows of all tables."""
        return tuple(table.source.rows for table in release.data.tables.values())

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write every table into a file of its own."""
        from discreet.kinds.written import write_table

        parts = release.figures.public.parts
        return [
            write_table(part, part.frame, folder / f"{name}.{format}", format) for name, part in parts.items()
        ]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written tables, text in the types the release has."""
        from discreet.core.tables.linked_tables import LinkedTables
        from discreet.kinds.written import read_table

        parts = release.figures.public.parts
        tables = {name: read_table(part, folder / f"{name}.{format}", format) for name, part in parts.items()}
        if any(table.n_rows != parts[name].table.n_rows for name, table in tables.items()):
            return None
        return LinkedTables(tables, release.data.row_counts)

    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the tables of a folder; quasi-identifiers and keys hold labels, which are text."""
        from discreet.core.tables.linked_tables import LinkedTables

        tables = {}
        for name, entry in written.record["tables"].items():
            columns = replace(written, record={**written.record, "columns": entry["columns"]}).columns()
            schema = Schema(columns)
            labels = (*schema.quasi, *((schema.person,) if schema.person else ()))
            frame = written.frame(name, tuple(columns) if texts else labels)
            tables[name] = Table(frame, columns)
        return LinkedTables(tables, written.record["parameters"]["row_counts"])

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Judge the joined view by a guarantee."""
        from discreet.kinds.judging import Judgment
        from discreet.publish.linked.linked_generalization import by_linked_people

        del written
        require("check", "guarantee", guarantee, InstanceOf((Guarantee,), "a guarantee"))
        judged = by_linked_people(guarantee, data) if is_named else guarantee  # type: ignore[arg-type]
        verdict = judged.check(data)  # type: ignore[union-attr]  # a guarantee, as required
        counts = {"people": data.n_people, "rows": data.n_rows, "classes": data.counted.n_groups}
        return Judgment(counts, verdict)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about each table, numbers of rows, gaps between dates, and choices by values."""
        from discreet.measure.tables.date_gaps import date_gaps

        del private
        for name, part in public.parts.items():
            exact = _without_shifted(part)
            for caution in table_cautions(exact, singling_out(exact), None):
                yield replace(caution, text=f"Table '{name}': {caution.text}")
        yield from _row_counts(release)
        yield from date_gaps(release)
        if release.guarantee.judged_values(release.data.schema.sensitive):
            yield Caution(
                "minimality",
                "Columns are as fine, and people left out, as their sensitive values allow. Whoever knows the method "
                "and everybody's quasi-identifiers learns something from each level that is not finer, and from who "
                "is missing.",
            )

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report."""
        from discreet.kinds.blocks import Section, TableBlock, Tiles
        from discreet.kinds.sections import provenance
        from discreet.kinds.sections.risk import guarantee

        public = release.figures.public
        found, counts, data = public.risk, public.counts, release.data
        tiles = [
            ("People released", f"{counts.n_out:,}", f"of {counts.n_in:,}; {counts.suppressed:,} left out"),
            ("Classes", f"{found.n_classes:,}", "of people with the same view over all tables"),
            ("Smallest class", f"{found.smallest_class:,}", "people"),
            ("Highest risk", percent(found.prosecutor.highest), "of being found by everything in the view"),
        ]
        rows = [
            (
                name,
                f"{table.n_rows:,}",
                column,
                role.role.value,
                _became(release, name, column, internal=internal),
            )
            for name, table in data.tables.items()
            for column, role in table.schema.items()
        ]
        head = ("Table", "Rows", "Column", "Role", "In the release")
        costs: list[Block] = []
        if internal:
            private = release.figures.private
            before = percent(private.risk_before.prosecutor.mean)
            lost = [(name, percent(share)) for name, share in private.losses.items()]
            text = f"The mean risk in the joined view was {before}, and is {percent(found.prosecutor.mean)}."
            table_block = TableBlock(("Table", "Loss of detail"), lost, "Loss")
            costs = [Section("cost", "What it cost", text, [table_block])]
        return [
            guarantee(release.guarantee, release.verdict, checked=f"{data.n_people:,} people were checked."),
            Tiles(tiles),
            *costs,
            Section(
                "columns",
                "Tables and columns",
                "People are judged by the quasi-identifying values of all tables together.",
                [TableBlock(head, rows, "Columns")],
            ),
            provenance.method(release, internal=internal),
        ]

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on linked tables."""
        del release
        return {
            "Joined view": "what all tables show of a person together, tied by the pseudonym",
            "Class": "the people with the same joined view; an attacker finds a person's class, not the person",
            "Left out": "people who are in none of the tables, because they would stand out",
        }

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the numbers of people and rows, the risk, and what it cost."""
        public, private = release.figures.public.to_dict(), release.figures.private.to_dict()
        return {**public, **private}

    def lines(self, release: Release) -> list[Line]:
        """Return the people, the tables, the classes, the loss and the risk."""
        public, private = release.figures.public, release.figures.private
        counts, found, before = public.counts, public.risk, private.risk_before.prosecutor
        rows = ", ".join(f"{name} {table.n_rows:,}" for name, table in release.data.tables.items())
        losses = ", ".join(f"{name} {percent(share)}" for name, share in private.losses.items())
        sizes = f"{span(found.smallest_class, found.largest_class)} people in each"
        return [
            ("", self.basis),
            ("people", f"{counts.n_out:,} released, {counts.suppressed:,} left out of every table"),
            ("rows", rows),
            ("classes", f"{found.n_classes:,} of the joined view, with {sizes}"),
            ("loss", losses),
            (
                "risk",
                f"highest in the joined view: {percent(before.highest)} → {percent(found.prosecutor.highest)}",
            ),
        ]


def _became(release: Release, name: str, column: str, *, internal: bool) -> str:
    """Return what the cells of a column became."""
    if column in release.recipe["tables"][name].get("shifted", ()):
        most = release.recipe["parameters"]["max_shift"]
        return f"shifted by up to {most} days, one number of days for each person"
    part = release.figures.public.parts[name]
    role = part.schema[column]
    if column == part.schema.person:
        return "a pseudonym, the same in every table"
    return TableKind().cells(column, role, part, internal=False)


def _row_counts(release: Release) -> Iterator[Caution]:
    """Count who is less well hidden from those who know numbers of rows, where these were not judged."""
    from discreet.core.tables.linked_tables import LinkedTables
    from discreet.publish.linked.linked_generalization import by_linked_people

    if release.data.row_counts == "known":
        return
    known = LinkedTables(release.data.tables, "known")
    groups = known.unit_groups()
    holds = by_linked_people(release.guarantee, known).holds(groups)
    people = np.diff(groups.sensitive[known.units.column].indptr)
    beyond = int(people[~holds].sum())
    if beyond:
        yield Caution(
            "known-row-counts",
            f"Anyone can count a person's rows in each table. From those who know these numbers, {beyond:,} of "
            f"{known.n_people:,} people are less well hidden than the guarantee says. Judge with known numbers of rows "
            '(row_counts = "known"), or keep as many rows of each person.',
        )
