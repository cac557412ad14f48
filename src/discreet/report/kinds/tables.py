"""Tables, and tables whose sensitive values are counted per group: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from discreet.core.errors import OutputError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
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
from discreet.measure import Loss, Prediction, Risk, SinglingOut, loss, prediction, risk, singling_out
from discreet.measure.release_cautions import unique_classes
from discreet.measure.spelling import twins_of_values
from discreet.measure.tables.prediction import predictable
from discreet.measure.tables.table_cautions import other_columns, table_cautions
from discreet.report.kinds import Kind

if TYPE_CHECKING:
    from discreet.report.blocks import Block

DATA, COUNTS = "data", "sensitive"
_TABS = Layout("\t")
_SEARCHED = ("measure", "cost", "bound", "optimal", "n_nodes")
MOST_LABELS = 3
"""How many sensitive columns are predicted."""


class PublicTableFigures(PublicFigures):
    """What the released rows of a table show: their risk, whom columns single out, and what can be predicted."""

    @property
    def n_released(self) -> int:
        """The number of released rows."""
        return self.release.table.n_rows

    @cached_property
    def risk(self) -> Risk:
        """The risk that is left, by the released rows alone."""
        return risk(self.release.table)

    @cached_property
    def singling_out(self) -> SinglingOut:
        """The rows that columns published as they are single out."""
        return singling_out(self.release)

    @cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """How well the first sensitive columns are predicted from the released rows."""
        names = predictable(self.release.table)[:MOST_LABELS]
        return tuple(prediction(self.release, name) for name in names)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows and the risk that is left; where people are counted privately, only its bound."""
        rows = {"rows": self.counts.to_dict()}
        if is_counted_privately(self.release):
            return rows | {"risk": {"highest_at_most": 1 / max(self.release.guarantee.smallest, 1)}}
        return rows | {"risk": self.risk.to_dict()}


class PrivateTableFigures(PrivateFigures):
    """What a release cost, and the risk before and after."""

    def __init__(self, release: Release, public: PublicTableFigures) -> None:
        super().__init__(release)
        self._public = public

    @cached_property
    def risk_before(self) -> Risk:
        """The risk of the original."""
        return risk(self.release.original)

    @cached_property
    def risk(self) -> Risk:
        """The risk that is left, counted by people where it is known whose rows they are."""
        return risk(self.release) if is_counted_privately(self.release) else self._public.risk

    @cached_property
    def loss(self) -> Loss:
        """The loss of detail."""
        return loss(self.release)

    @cached_property
    def predictions_before(self) -> tuple[Prediction, ...]:
        """How well the same columns are predicted from the original."""
        return tuple(prediction(self.release.original, made.column) for made in self._public.predictions)

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each column, where whole columns were generalized."""
        levels = self.release.evidence.levels
        return None if levels is None else dict(levels)

    @property
    def search(self) -> dict[str, Any] | None:
        """What a search for levels found, if there was one."""
        details = self.release.evidence.details
        if not all(name in details for name in _SEARCHED):
            return None
        return {name: details[name] for name in _SEARCHED}

    def to_dict(self) -> dict[str, Any]:
        """Return the loss and the risk of the original."""
        return {"loss": self.loss.to_dict(), "risk_before": self.risk_before.to_dict()}


class TableKind(Kind):
    """Released tables of people's own rows."""

    formats: ClassVar[tuple[str, ...]] = WRITTEN

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the rows."""
        return [
            write_frame(release.frame, folder / f"{DATA}.{format}", format, layout=_layout(release, format))
        ]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written rows as a table, text in the types the release has."""
        table = read_table(release, folder / f"{DATA}.{format}", format)
        return table if table.n_rows == release.table.n_rows else None

    def public_figures(self, release: Release) -> PublicFigures:
        """Return what the released rows show."""
        return PublicTableFigures(release)

    def private_figures(self, release: Release, public: Any) -> PrivateFigures:
        """Return what compares with the original."""
        return PrivateTableFigures(release, public)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about generalized rows, and about sensitive values that are spelled alike."""
        is_measured = private is not None and bool(release.evidence.cells)
        yield from table_cautions(release, public.singling_out, private.loss.total if is_measured else None)
        yield from twins_of_values(release)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report."""
        from discreet.report.sections import cost as costs
        from discreet.report.sections import distributions, provenance
        from discreet.report.sections import risk as risks
        from discreet.report.sections.guarantee import guarantee

        figures = release.figures
        verdict = guarantee(release.guarantee, release.verdict)
        last = [provenance.columns(release, internal=internal), provenance.method(release, internal=internal)]
        useful = self._useful(release, internal=internal)
        sensitive = distributions.sensitive(release)
        if not internal:
            tiles, left = risks.released(release, figures.public.risk)
            examples, shares = distributions.examples(release), distributions.released(release)
            return [verdict, tiles, examples, left, shares, sensitive, *useful, *last]
        private = figures.private
        return [
            verdict,
            risks.summary(release, private.risk_before, private.risk, private.loss),
            risks.before_and_after(release, private.risk_before, private.risk),
            costs.cost(private.loss),
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

        figures = release.figures
        before = figures.private.predictions_before if internal else None
        return [
            usefulness.predictions(figures.public.predictions, before),
            usefulness.pairs(release, min_people(release), internal=internal),
        ]


class GroupedTableKind(TableKind):
    """Released tables of exact rows with a group each, and the sensitive values of each group in a file beside them."""

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about exact rows, and about sensitive values that are spelled alike."""
        del private
        yield from unique_classes(release)
        yield from twins_of_values(release)
        yield from other_columns(release, public.singling_out)

    def _useful(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return nothing: no row has a sensitive value of its own."""
        del release, internal
        return []

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the rows, and the sensitive counts."""
        layout = _layout(release, format)
        counts = write_frame(release.data.counts, folder / f"{COUNTS}.{format}", format, layout=layout)
        return [*super().write(release, folder, format), counts]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written rows with their groups and counts."""
        data: GroupedTable = release.data
        group, value, count = map(identifier, data.counts.column_names)
        number = f"CAST({group} AS INTEGER) AS {group}"
        layout, names = _layout(release, format), release.table.source.names
        rows = _relation(folder / f"{DATA}.{format}", format, names, layout)
        if _judged(rows, release, format).n_rows != release.table.n_rows:
            return None
        counts = _relation(folder / f"{COUNTS}.{format}", format, data.counts.column_names, layout)
        counted = counts.project(f"{number}, {value}, CAST({count} AS BIGINT) AS {count}")
        return GroupedTable(rows.project(number), counted.to_arrow_table(), data.group)


def read_table(release: Release, data: Path, format: str) -> Table:  # noqa: A002
    """Return the judged columns of a written file, text in the types the release has."""
    names = release.table.source.names
    return _judged(_relation(data, format, names, _layout(release, format)), release, format)


def _judged(rows: Any, release: Release, format: str) -> Table:  # noqa: A002
    """Return the judged columns of rows that were read back, in the types the release has."""
    decimal = _layout(release, format).decimal if format == "csv" else "."
    schema = Schema({name: release.schema[name] for name in release.table.judged})
    return Table(_typed(rows, release, decimal), schema)


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
