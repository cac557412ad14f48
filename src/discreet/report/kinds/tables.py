"""Tables, and tables whose sensitive values are counted per group: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from discreet.core.errors import OutputError
from discreet.core.release import Release, is_counted_privately
from discreet.core.schema import Schema
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.table import Table
from discreet.engines.duckdb.connection import identifier
from discreet.engines.duckdb.queries import run
from discreet.engines.files import read
from discreet.engines.formats import WRITTEN, format_named
from discreet.engines.text.layout import Layout, layout_of
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
        group, value, count = map(identifier, data.counts.column_names)
        number = f"CAST({group} AS INTEGER) AS {group}"
        layout, names = _layout(release, format), release.table.source.names
        rows = _relation(place / f"{DATA}.{format}", format, names, layout).project(number)
        counts = _relation(place / f"{COUNTS}.{format}", format, data.counts.column_names, layout)
        counted = counts.project(f"{number}, {value}, CAST({count} AS BIGINT) AS {count}")
        return GroupedTable(rows, counted.to_arrow_table(), data.group)


def read_table(release: Release, data: Path, format: str) -> Table:  # noqa: A002
    """Return the judged columns of a written file, text in the types the release has."""
    schema = Schema({name: release.schema[name] for name in release.table.judged})
    layout = _layout(release, format)
    relation = _relation(data, format, release.table.source.names, layout)
    return Table(_typed(relation, release, layout.decimal if format == "csv" else "."), schema)


def _layout(release: Release, format: str) -> Layout:  # noqa: A002
    """Return how text is laid out: CSV as the file that it comes from, if there is one."""
    if format == "tsv":
        return _TABS
    return (None if release.original is None else layout_of(release.original.source.native)) or Layout()


def _relation(data: Path, format: str, names: Sequence[str], layout: Layout) -> Any:  # noqa: A002
    """Read a written file, text as it stands."""
    form = format_named(format)
    reading: dict[str, Any] = {"nulls": ("",)}
    if form.text:
        reading["text"] = tuple(names)
    if form.reader == "text":
        reading |= {"delimiter": layout.delimiter, "quote": layout.quote}
    return read(data, **reading)


def _typed(relation: Any, release: Release, decimal: str) -> Any:
    """Choose the judged columns, and cast those that were read as text to the types they had."""
    import duckdb

    books = {name: release.table.encoded[name] for name in release.table.judged}
    empty = pa.table({name: pa.array([], book.type) for name, book in books.items()})
    wanted = [str(type_) for type_ in run(relation, "SELECT * FROM mapping", empty).types]
    found = {name: str(type_) for name, type_ in zip(relation.columns, relation.types, strict=True)}
    try:
        return relation.project(
            ", ".join(
                _cell(name, found[name], type_, decimal) for name, type_ in zip(books, wanted, strict=True)
            )
        )
    except (duckdb.Error, KeyError) as error:
        raise OutputError(f"The written columns cannot be typed again ({type(error).__name__}).") from None


def _cell(name: str, found: str, wanted: str, decimal: str) -> str:
    """Write one column as SQL; durations become numbers, since only those have an order."""
    column = identifier(name)
    text = column if wanted == "VARCHAR" or decimal == "." else f"replace({column}, '{decimal}', '.')"
    cell = f"CAST({text} AS {wanted})" if found == "VARCHAR" else column
    interval = "INTERVAL" in (found, wanted if found == "VARCHAR" else "")
    return f"{f'epoch_us({cell})' if interval else cell} AS {column}"
