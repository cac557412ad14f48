"""Release: what leaves the building, with the promise, the verdict, the evidence and the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.late import late
from discreet.core.tables.table import Table

if TYPE_CHECKING:
    from discreet.core.schema import Schema
    from discreet.core.tables.groups import Groups
    from discreet.core.verdict import Verdict

Suppressed = Literal["judged", "exempt"]


class Promise(Protocol):
    """What a release asks of a guarantee."""

    def check(self, subject: Any, *, suppressed: Suppressed = "judged") -> Verdict:
        """Judge a table or a release."""
        ...

    def describe(self) -> str:
        """Describe the promise in one sentence."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Return the promise as plain data."""
        ...


@dataclass(frozen=True, repr=False)
class Cells:
    """What the cells of one column cost: for each group the number of its cell, for each cell its loss and cover.

    ``loss`` is the cell's generalized loss: 0 for an exact value, 1 for anything at all. ``covered`` counts the
    original rows whose value the cell may stand for.
    """

    index: CodeArray
    loss: FloatArray
    covered: IntArray


@dataclass(frozen=True, repr=False)
class Evidence:
    """What a publisher tells about how a release was made; no record in it.

    ``n_rows`` counts the rows that came in and ``suppressed`` those left out; ``sizes`` gives the rows of each group
    the publisher made, ``cells`` what each column's cells cost, ``levels`` the chosen level per column where whole
    columns were generalized, ``details`` whatever else a method wants to show. ``pseudo`` tells that the released rows
    are drawn from statistics and are nobody's, so that there are no classes of people to be judged.
    """

    n_rows: int
    sizes: IntArray
    cells: Mapping[str, Cells]
    suppressed: int = 0
    levels: Mapping[str, int] | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    pseudo: bool = False

    def __repr__(self) -> str:
        return f"Evidence({self.n_rows} rows, {self.sizes.size} groups, {self.suppressed} suppressed)"


class Judged(Protocol):
    """What every release has, whatever it holds."""

    @property
    def guarantee(self) -> Promise:
        """What is promised."""
        ...

    @property
    def verdict(self) -> Verdict:
        """The judgment."""
        ...


def write_kept(release: Judged, writer: str, folder: str | Path, **options: Any) -> Path:
    """Write a release by a late-bound writer; one whose verdict is not ok is refused."""
    release.verdict.enforce()
    written: Path = late(writer)(release, Path(folder), **options)
    return written


def shown(kind: str, release: Judged, held: object) -> str:
    """Write a release in one line: the promise, whether it is kept, and what it holds."""
    verdict = "ok" if release.verdict.ok else "NOT ok"
    return f"{kind}({release.guarantee}, verdict {verdict}, {held!r})"


@dataclass(frozen=True, repr=False)
class Release:
    """What leaves the building.

    ``frame`` is the kind of frame that came in. ``schema`` gives the roles of its columns. ``verdict`` is recomputed
    from the frame alone, not from what the publisher believes. ``recipe`` rebuilds the release from the same data and
    protects new rows the same way; it holds no record.
    """

    frame: Any
    schema: Schema
    guarantee: Promise
    evidence: Evidence
    recipe: Mapping[str, Any]
    original: Table

    @cached_property
    def table(self) -> Table:
        """The released data as a table of its own, encoded afresh."""
        return Table(self.frame, self.schema)

    def groups(self) -> Groups:
        """Return the classes of the released data."""
        return self.table.groups()

    @cached_property
    def verdict(self) -> Verdict:
        """The judgment of the released data alone."""
        return self.guarantee.check(self)

    def write(
        self,
        folder: str | Path,
        *,
        format: Literal["csv", "tsv", "parquet", "arrow", "jsonl"] = "csv",  # noqa: A002
        report: bool = True,
        overwrite: bool = False,
    ) -> Path:
        """Write the data, the recipe and the report into a new folder, all or nothing.

        A release whose verdict is not ok is refused.
        """
        return write_kept(self, "write release", folder, format=format, report=report, overwrite=overwrite)

    def __repr__(self) -> str:
        return shown("Release", self, self.evidence)
