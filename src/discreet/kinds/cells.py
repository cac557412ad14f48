"""Cells: tables of counts or sums with margins, small cells suppressed or all cells rounded."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.core.boundary import public, reads
from discreet.core.errors import InputError, ParameterError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.guarantee import Guarantee
from discreet.core.params import NONE, Constraint, InstanceOf, require
from discreet.core.registry import Method
from discreet.core.release import Release
from discreet.core.schema import Role, person, quasi, sensitive
from discreet.core.tables.cell_table import CellTable, Dimension, read_cells
from discreet.core.tables.table import Table
from discreet.guarantees import CellProtection
from discreet.kinds.hierarchies import hierarchy_from
from discreet.kinds.kind import TEXT, TEXTS, Input, Kind, Line
from discreet.kinds.roles import complete
from discreet.kinds.tables import TableKind
from discreet.kinds.wording import refuse_unknown
from discreet.output.tabular import Tabulation

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.judging import Judgment
    from discreet.kinds.written import Written

_NAME = "cells"
_KEYS = ("by", "value", "person", "hierarchy", "total")


@public
@dataclass(frozen=True)
class CellsSection:
    """What a job says of a table of cells.

    Parameters
    ----------
    by
        The columns whose categories make the cells.
    value
        The column to sum; None counts rows.
    person
        The column that says whose row it is: then contributors are people.
    hierarchies
        The trees of columns, each of whose nodes gets a margin.
    total
        Where the data is a ready table of counts, a row for each cell: what its margins are called.
    """

    by: tuple[str, ...]
    value: str | None = None
    person: str | None = None
    hierarchies: Mapping[str, Any] | None = None
    total: str | None = None


class PublicCellFigures(PublicFigures):
    """What the published table shows."""

    @property
    def n_released(self) -> int:
        """The number of published cells."""
        return int(self.release.data.n_cells - self.release.data.n_suppressed)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of cells; how the table is laid out stands in the recipe, since no file shows it."""
        return {"cells": self.counts.to_dict()}


class PrivateCellFigures(PrivateFigures):
    """What the release cost, compared with the true table."""

    @cached_property
    def unpublished_share(self) -> float:
        """The share of the total of all cells that are no margins that is suppressed, or by which they were changed."""
        table, true = self.release.data, self.release.original.table
        inner = np.ix_(*(dimension.leaves for dimension in table.dimensions))
        lost = np.abs(np.where(table.suppressed, 0, table.values) - true.values)[inner].sum()
        return float(lost / max(int(true.values[inner].sum()), 1))

    def to_dict(self) -> dict[str, Any]:
        """Return what the search reports, and what share of the total is lost."""
        return {**self.release.evidence.details, "unpublished_share": self.unpublished_share}


class CellsKind(Kind):
    """Tables of counts or sums by some columns, with all margins."""

    name = "cells"
    formats = ("csv",)
    title = "A table of counts or sums"
    public_half = PublicCellFigures
    private_half = PrivateCellFigures
    not_for_rows = "a table of counts or sums, which is made anew of new data"
    groups_name = "cells"
    records_name = "cells"
    section = "cells"
    takes = "cells"
    noun = "tables of cells"
    reading: ClassVar[Mapping[str, Constraint]] = TableKind.reading

    def parse(self, section: Mapping[str, Any], folder: Path) -> CellsSection:
        """Read by which columns to count, and what."""
        refuse_unknown("[cells]", section, _KEYS)
        require("cells", "by", section.get("by"), TEXTS)
        by = tuple(section["by"])
        for name in ("value", "person", "total"):
            require("cells", name, section.get(name), NONE, TEXT)
        trees = section.get("hierarchy", {})
        require("cells", "hierarchy", trees, InstanceOf((Mapping,), "a table of columns"))
        for column in trees:
            if column not in by:
                raise ParameterError(
                    f"A hierarchy is named for column '{column}', which the cells are not by."
                )
        specs = {name: hierarchy_from(tree, column=name, folder=folder) for name, tree in trees.items()}
        rest = {name: section.get(name) for name in ("value", "person", "total")}
        return CellsSection(by, hierarchies=specs, **rest)

    def check(self, job: Input, method: Method) -> None:
        """Refuse columns that are named twice, and a base for sums."""
        about: CellsSection = job.section
        names = [*about.by, *filter(None, (about.value, about.person))]
        if not about.by or len(names) != len(set(names)):
            raise ParameterError("A table of cells is by one or more columns, and names each column once.")
        if about.value is not None and about.total is None and method.name == "controlled-rounding":
            raise ParameterError("Controlled rounding is for counts; sums are protected by cell suppression.")
        if about.total is not None and (about.value is None or about.person or about.hierarchies):
            raise ParameterError(
                "A ready table has a column of counts, which 'value' names, and neither people nor hierarchies."
            )

    def read(self, job: Input) -> Any:
        """Read the data and count or sum it."""
        from discreet.core.tables.source import source_of
        from discreet.engines.files import read

        about: CellsSection = job.section
        frame = read(job.data, **job.reading) if job.is_file else job.data
        source = source_of(frame)
        columns = {name: quasi((about.hierarchies or {}).get(name)) for name in about.by}
        if about.value is not None:
            columns[about.value] = sensitive()
        if about.person is not None:
            columns[about.person] = person()
        table = Table(source, complete(columns, source.names, rest=Role.IDENTIFIER))
        if about.total is None:
            return Tabulation.of(table, about.value)
        return Tabulation.of_cells(ready_table(source, about))

    def published_texts(self, release: Release) -> Sequence[Any]:
        """Return the labels of the categories."""
        import pyarrow as pa

        labels = [label for dimension in release.data.dimensions for label in dimension.labels]
        return (pa.table({"label": labels}),)

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write a row for each cell; the value of a suppressed one is empty."""
        path = folder / f"{_NAME}.{format}"
        table: CellTable = release.data
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow([*(dimension.name for dimension in table.dimensions), table.value_name])
            rows.writerows(table.texts())
        return [path]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written table; None where it is another."""
        table: CellTable = release.data
        written = _read(folder / f"{_NAME}.{format}", table.layout())
        same = (written.values == table.values).all() and (written.suppressed == table.suppressed).all()
        return written if same else None

    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the table of a folder, laid out as release.json says."""
        del texts
        return _read(written.file(_NAME), written.record["layout"])

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Judge the published cells by themselves."""
        from discreet.kinds.judging import Judgment

        del written, is_named
        require("check", "guarantee", guarantee, InstanceOf((CellProtection,), "a CellProtection"))
        verdict = guarantee.check(data)  # type: ignore[union-attr]  # a guarantee, as required
        return Judgment({"cells": data.n_cells, "suppressed": data.n_suppressed}, verdict)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about how cells were chosen, about sums, and about rows without a value."""
        del public, private
        table: CellTable = release.data
        if table.suppressed.any():
            yield Caution(
                "minimality",
                "The cells were chosen so that least is lost. Whoever knows the method can rule out tables for which "
                "it would have chosen others, and may bound a suppressed cell of a small table more closely, or find "
                "it. A larger threshold or width leaves more to guess.",
            )
        if table.base:
            yield Caution(
                "minimality",
                "Cells were rounded to the nearest multiples where that adds up. Whoever knows the method can rule out "
                "some values of a small table that are less than the base away, and finds others more likely. "
                "A larger base leaves more to guess.",
            )
        if table.measure is not None or table.people:
            yield Caution(
                "rule-not-shown",
                "Which cells few contributors make up or dominate follows from rows that are not published: "
                "whoever has the table alone can judge the suppressed cells, not that all cells of few are among them. "
                "Sign the release (sign), so that readers know who judged that.",
            )
        if "missing_values" in release.evidence.details:
            yield Caution(
                "missing-values",
                f"{release.evidence.details['missing_values']:,} rows have no value to be summed and are left out. "
                "Say so beside the table, or fill them in first.",
                public=False,
            )

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report."""
        from discreet.kinds.sections import cells as cell_sections
        from discreet.kinds.sections import provenance
        from discreet.kinds.sections.risk import guarantee

        table = release.data
        return [
            guarantee(release.guarantee, release.verdict, checked=f"{table.n_cells:,} cells were checked."),
            cell_sections.cell_summary(release, internal=internal),
            cell_sections.published_cells(table),
            cell_sections.attacker_intervals(release),
            cell_sections.contributors(release) if internal else None,
            provenance.method(release, internal=internal, shuffled=False),
        ]

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on tables of cells."""
        del release
        return {
            "Cell": "a count or a sum for one combination of categories; margins are cells too",
            "Suppressed": "a cell that is not published: it is small, or one that is could be worked out from it",
            "Rounded": "published as a multiple of the base next to the true value",
        }

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the numbers of cells, and what the owner may know of the search."""
        figures = release.figures
        return {"cells": figures.public.counts.to_dict(), "details": figures.private.to_dict()}

    def lines(self, release: Release) -> list[Line]:
        """Return the numbers of cells, and what was lost."""
        counts, private = release.figures.public.counts, release.figures.private.to_dict()
        lines = [("", self.basis), ("cells", f"{counts.n_in:,}, {counts.suppressed:,} suppressed")]
        if "primary" in private:
            words = f"{private['primary']:,} primary and {private['complementary']:,} complementary"
            lines.append(("", f"{words}; the files do not say which are which"))
            lines.append(
                (
                    "cost",
                    f"{private['cost']:,.0f}, and no choice costs less than {private['lower_bound']:,.0f}",
                )
            )
        else:
            lines.append(("rounded", f"to multiples of {private['base']:,}"))
        return [
            *lines,
            ("lost", f"{private['unpublished_share']:.1%} of the total of the cells that are no margins"),
        ]


def ready_table(source: Any, about: CellsSection) -> CellTable:
    """Return the table of counts that a frame holds, a row for each cell, margins among them."""
    from discreet.core.tables.labels import texts

    columns = source.columns([*about.by, str(about.value)])
    labels = [texts(columns[name]).to_pylist() for name in about.by]
    if any(None in column for column in labels):
        raise InputError("A ready table has a label for each cell in every column; some are missing.")
    dimensions = []
    for name, column in zip(about.by, labels, strict=True):
        if about.total not in column:
            raise InputError(
                f"Column '{name}' of the ready table has no margin of the name that 'total' says."
            )
        others = [label for label in dict.fromkeys(column) if label != about.total]
        dimensions.append(Dimension(name, (str(about.total), *others), (-1, *[0] * len(others))))
    counts = ["" if count is None else count for count in texts(columns[str(about.value)]).to_pylist()]
    unfit = sum(not count.isdecimal() for count in counts)
    if unfit:
        raise InputError(
            f"Column '{about.value}' of a ready table must hold a count, a whole number of zero or more, in every row; "
            f"{unfit} rows do not."
        )
    blank = CellTable(tuple(dimensions), np.zeros(0, np.int64), np.zeros(0, np.bool_))
    return read_cells(blank.layout(), zip(*labels, counts, strict=True))


@reads("The table of cells")
def _read(path: Path, layout: Mapping[str, Any]) -> CellTable:
    with path.open(encoding="utf-8", newline="") as file:
        rows = iter(list(csv.reader(file)))
    header, table = next(rows), read_cells(layout, rows)
    if header != [*(dimension.name for dimension in table.dimensions), table.value_name]:
        raise InputError("The table of cells has other columns than release.json says.")
    return table
