"""Release: what is published, with the guarantee, the verdict, the evidence and the recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.adapters import KIND_OF, PICTURE, WRITER, load
from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.boundary import public, takes_clusters
from discreet.core.errors import InputError, ParameterError, SchemaError, StrictError
from discreet.core.figures import Caution, Figures
from discreet.core.guarantee import Guarantee
from discreet.core.params import InstanceOf, require
from discreet.core.schema import Schema
from discreet.core.tables.groups import Groups
from discreet.core.tables.source import Recoding
from discreet.core.tables.table import UNITS, Table
from discreet.core.verdict import Verdict


@dataclass(frozen=True, repr=False)
class Cells:
    """What the cells of one column cost: for each group the number of its cell, for each cell its loss and cover.

    ``loss`` is the cell's generalized loss: 0 for an exact value, 1 for anything at all. ``covered`` counts the
    original rows whose value the cell may stand for.
    """

    index: CodeArray
    loss: FloatArray
    covered: IntArray


@public
@dataclass(frozen=True, repr=False)
class Evidence:
    """What a publisher knows of how a release was made. It is computed from the original and stays private.

    Attributes
    ----------
    n_rows
        The number of records that came in.
    sizes
        The number of records in each group the publisher made.
    cells
        What the cells of each column cost.
    suppressed
        The number of records left out.
    levels
        The level of each column, where whole columns were generalized.
    details
        Whatever else a method reports.
    arrays
        What a guarantee is judged by where the released data cannot show it, such as a number for each record.
    order
        The position of each released record among those that came in, where it is known.
    recoding
        How the rows of a table were published, where all of them come from the original.
    """

    n_rows: int
    sizes: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    cells: Mapping[str, Cells] = field(default_factory=dict)
    suppressed: int = 0
    levels: Mapping[str, int] | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    order: IntArray | None = None
    recoding: Recoding | None = None

    def __repr__(self) -> str:
        return f"Evidence({self.n_rows} records, {self.suppressed} suppressed)"


@public
@takes_clusters
@dataclass(frozen=True, repr=False, eq=False)
class Release:
    """What is published, whatever kind of data it is.

    Attributes
    ----------
    data
        All that is published: a frame, a `GroupedTable`, `Baskets`, `GroupedBaskets` or `Sketches`.
    guarantee
        The guarantee about the data.
    evidence
        How the release was made; private.
    recipe
        How to make it again, as plain data. It is published, so it holds nothing that the data does not show.
    kind
        The kind of data: ``"table"``, ``"grouped-table"``, ``"baskets"``, ``"pseudo-data"``, ``"uncertain-records"``
        or ``"sketches"``.
    schema
        The roles of the released columns; empty where there are none.
    original
        What came in; None where it is gone.
    private
        What the recipe needs beyond what may be published.
    """

    data: Any
    guarantee: Guarantee
    evidence: Evidence
    recipe: Mapping[str, Any]
    kind: str = "table"
    schema: Schema = field(default_factory=lambda: Schema({}))
    original: Any = None
    private: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _kind(self) -> Any:
        """The duties of the kind of data, with what the guarantee adds."""
        return load(KIND_OF)(self)

    @property
    def frame(self) -> Any:
        """The released rows, as the kind of frame that came in."""
        return self._kind.frame(self)

    @property
    def order(self) -> IntArray:
        """The position of each released record among those that came in, so that labels can follow; private."""
        if self.evidence.order is None:
            raise InputError("The order of the released records is not known.")
        return self.evidence.order

    @cached_property
    def table(self) -> Table:
        """The released rows as a table of its own, encoded afresh."""
        return Table(self.frame, self.schema)

    @cached_property
    def judged_table(self) -> Table:
        """The released rows as they are judged: with their units beside them, which stay private."""
        return self.with_units(self.table)

    def with_units(self, table: Table) -> Table:
        """Return released rows, read back perhaps, with the unit of each beside it, where units are counted."""
        units = self.evidence.arrays.get(UNITS)
        return table if units is None else table.with_units(units)

    def groups(self) -> Groups:
        """Return the equivalence classes of the released rows, or the groups of released baskets."""
        groups: Groups = self._kind.groups(self)
        return groups

    @property
    def counted(self) -> Groups:
        """The classes that people are counted in: of units, where the rows belong to some."""
        groups: Groups = self._kind.counted(self)
        return groups

    @cached_property
    def verdict(self) -> Verdict:
        """The judgment of the released data alone, or where it cannot show the guarantee, by the evidence."""
        verdict = self.guarantee.check(self._kind.subject(self))
        return verdict.by_construction() if is_counted_privately(self) else verdict

    @cached_property
    def figures(self) -> Figures[Any, Any]:
        """What is said about the release, computed once: a public half, a private half, and the cautions."""
        figures: Figures[Any, Any] = self._kind.figures(self)
        return figures

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a careful data officer would say about the release although its guarantee holds."""
        return self.figures.cautions

    def write(
        self,
        folder: str | Path,
        *,
        format: str | None = None,  # noqa: A002
        report: bool = True,
        overwrite: bool = False,
        strict: bool = False,
        name: str | None = None,
        source: str | None = None,
        pdf: bool = False,
        sign: str | Path | None = None,
        to: str | None = None,
        include: Sequence[str] = (),
        allow: Sequence[str] = (),
    ) -> Path:
        """Write the data, ``release.json`` and the report into a new folder, all or nothing; return its path.

        What compares with the original is written beside it, into ``<folder>.private``, for the owner alone. What was
        written is read back and judged again. A release whose verdict is not ok is refused.

        Parameters
        ----------
        folder
            The folder to hand on. Only an earlier release is ever replaced.
        format
            The format of the data; None takes the kind's own, which is CSV for tables and baskets.
        report
            Whether to write the reports.
        overwrite
            Whether an earlier release in the folder may be replaced.
        strict
            Whether to refuse a release about which there is any caution.
        name
            The data's name; it is published in the report and in ``release.json``. None publishes no name.
        source
            The name of the file that the data comes from; only what stays with the owner shows it.
        pdf
            Whether to print the report into ``report.pdf`` as well; that takes Chromium, Chrome or Edge.
        sign
            The file of an Ed25519 private key: ``release.json`` is signed with it, so that whoever receives the release
            knows who judged it. None signs nothing.
        to
            Where the rows of a table are written as well: a new file such as ``rows.csv.gz``, ``-`` for standard
            output, ``clinic.db?table=NAME``, ``postgresql://user@host/database?table=NAME`` or
            ``s3://bucket/rows.parquet``. They appear with the folder, or neither does.
        include
            What a release holds on request: ``"bounds"`` are the ends of intervals as columns of the data,
            ``"healthdcat"`` is a description for catalogues of health data.
        allow
            Columns that are published although they hold free text or direct identifiers, such as e-mail addresses.
        """
        if pdf and not report:
            raise ParameterError("A PDF is printed from the report, and no report is to be written.")
        for key, text in (("name", name), ("source", source)):
            require(self, key, text, InstanceOf((str, type(None)), "None or a text"))
        written: Path = load(WRITER)(
            self,
            Path(folder),
            format=format,
            report=report,
            overwrite=overwrite,
            strict=strict,
            name=name,
            source=source,
            pdf=pdf,
            sign=sign,
            to=to,
            include=tuple(include),
            allow=tuple(allow),
        )
        return written

    def refuse_unless_published(self, *, strict: bool = False, allow: Sequence[str] = ()) -> None:
        """Raise an error unless the guarantee is kept, nothing names people and, where ``strict``, there is no caution.

        Free text and direct identifiers are published in the columns of ``allow`` alone.
        """
        self.verdict.enforce()
        naming = [
            each
            for each in self.figures.identifiers
            if each.code != "named-identifier" and each.column not in allow
        ]
        if naming:
            words = "; ".join(map(str, naming))
            columns = ",".join(each.column for each in naming)
            raise SchemaError(
                f"{words}; nothing was written. Drop such columns (role identifier or drop), take out what names "
                "people, or publish them all the same (allow).",
                fix={"allow": columns},
            )
        if strict and self.cautions:
            words = " ".join(caution.text for caution in self.cautions)
            raise StrictError(f"There are cautions, so nothing was written. {words}")

    def _repr_html_(self) -> str:
        return str(load(PICTURE)(self))

    def __repr__(self) -> str:
        return f"Release({self.kind}, {self.guarantee}, {self.verdict.word}, {self.evidence!r})"


def is_counted_privately(release: Release) -> bool:
    """Return whether classes are counted by units that are not published, so that figures about them stay private."""
    return UNITS in release.evidence.arrays
