"""Tables, and tables whose sensitive values are counted per group: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from discreet.core.engine import Layout, arrow_table, engine_of
from discreet.core.release import Release, is_counted_privately
from discreet.core.schema import Schema
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.table import Table
from discreet.engines.files import read
from discreet.engines.formats import WRITTEN, format_named
from discreet.engines.writing import write_frame
from discreet.measure import loss, risk

if TYPE_CHECKING:
    from discreet.report.blocks import Block

DATA, COUNTS = "data", "sensitive"
_TABS = Layout("\t")


class TableKind:
    """Released tables of people's own rows."""

    formats: ClassVar[tuple[str, ...]] = WRITTEN

    def write(self, release: Release, place: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the rows."""
        return [
            write_frame(release.frame, place / f"{DATA}.{format}", format, layout=_layout(release, format))
        ]

    def read_back(self, release: Release, place: Path, format: str) -> Any:  # noqa: A002
        """Return the written rows as a table, text in the types the release has."""
        table = read_table(release, place / f"{DATA}.{format}", format)
        return table if table.n_rows == release.table.n_rows else None

    def summary(self, release: Release) -> dict[str, Any]:
        """Return the number of rows and the risk that is left."""
        evidence = release.evidence
        rows = {"in": evidence.n_rows, "out": release.table.n_rows, "suppressed": evidence.suppressed}
        if is_counted_privately(release):
            return {"rows": rows, "risk": {"highest_at_most": 1 / max(release.guarantee.smallest, 1)}}
        return {"rows": rows, "risk": risk(release.judged_table).to_dict()}

    def measures(self, release: Release) -> dict[str, Any]:
        """Return the loss and the risk of the original."""
        return {"loss": loss(release).to_dict(), "risk_before": risk(release.original).to_dict()}

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report."""
        from discreet.report.sections import cost as costs
        from discreet.report.sections import distributions, provenance
        from discreet.report.sections import risk as risks
        from discreet.report.sections.guarantee import guarantee

        after = risk(release if internal else release.table)
        verdict = guarantee(release.guarantee, release.verdict)
        last = [provenance.columns(release, internal=internal), provenance.method(release, internal=internal)]
        useful = self._useful(release, internal=internal)
        sensitive = distributions.sensitive(release)
        if not internal:
            tiles, left = risks.released(release, after)
            examples, shares = distributions.examples(release), distributions.released(release)
            return [verdict, tiles, examples, left, shares, sensitive, *useful, *last]
        before, lost = risk(release.original), loss(release)
        return [
            verdict,
            risks.summary(release, before, after, lost),
            risks.before_and_after(release, before, after),
            costs.cost(lost),
            costs.lattice(release),
            distributions.compared(release, release.schema.quasi, risks.min_people(release)),
            sensitive,
            *useful,
            *last,
        ]

    def _useful(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return what can be done with the release."""
        from discreet.report.sections import usefulness
        from discreet.report.sections.risk import min_people

        return [
            usefulness.predictions(release, internal=internal),
            usefulness.pairs(release, min_people(release), internal=internal),
        ]


class GroupedTableKind(TableKind):
    """Released tables of exact rows with a group each, and the sensitive values of each group in a file beside them."""

    def _useful(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return nothing: no row has a sensitive value of its own."""
        del release, internal
        return []

    def write(self, release: Release, place: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the rows, and the sensitive counts."""
        layout = _layout(release, format)
        counts = write_frame(release.data.counts, place / f"{COUNTS}.{format}", format, layout=layout)
        return [*super().write(release, place, format), counts]

    def read_back(self, release: Release, place: Path, format: str) -> Any:  # noqa: A002
        """Return the written rows with their groups and counts."""
        if super().read_back(release, place, format) is None:
            return None
        data: GroupedTable = release.data
        group, value, count = data.counts.column_names
        layout, names = _layout(release, format), release.table.source.names
        rows = _relation(place / f"{DATA}.{format}", format, names, layout)
        counts = _relation(place / f"{COUNTS}.{format}", format, data.counts.column_names, layout)
        engine = engine_of(rows)
        groups = engine.typed(rows, {group: pa.int32()})
        counted = engine.typed(
            counts, {group: pa.int32(), value: engine.schema(counts).field(value).type, count: pa.int64()}
        )
        return GroupedTable(groups, arrow_table(counted), data.group)


def read_table(release: Release, data: Path, format: str) -> Table:  # noqa: A002
    """Return the judged columns of a written file, text in the types the release has."""
    schema = Schema({name: release.schema[name] for name in release.table.judged})
    layout = _layout(release, format)
    relation = _relation(data, format, release.table.source.names, layout)
    types = {name: release.table.encoded[name].type for name in release.table.judged}
    decimal = layout.decimal if format == "csv" else "."
    return Table(engine_of(relation).typed(relation, types, decimal=decimal), schema)


def _layout(release: Release, format: str) -> Layout:  # noqa: A002
    """Return how text is laid out: CSV as the file that it comes from, if there is one."""
    if format == "tsv":
        return _TABS
    native = None if release.original is None else release.original.source.native
    return (None if native is None else engine_of(native).layout(native)) or Layout()


def _relation(data: Path, format: str, names: Sequence[str], layout: Layout) -> Any:  # noqa: A002
    """Read a written file, text as it stands."""
    form = format_named(format)
    reading: dict[str, Any] = {"nulls": ("",)}
    if form.text:
        reading["text"] = tuple(names)
    if form.reader == "text":
        reading |= {"delimiter": layout.delimiter, "quote": layout.quote}
    return read(data, **reading)
