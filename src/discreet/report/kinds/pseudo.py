"""Pseudo-data: rows drawn from statistics of groups; files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.release import Release
from discreet.measure import Closeness, Copies, Fidelity, closeness, copies, fidelity
from discreet.measure.release_cautions import copied_records, identifying_categories
from discreet.measure.tables.table_cautions import single_values
from discreet.report.blocks import Block, Tiles
from discreet.report.kinds.tables import PublicTableFigures, TableKind
from discreet.report.sections import distributions, provenance, pseudo
from discreet.report.sections.guarantee import guarantee


class PublicPseudoFigures(PublicTableFigures):
    """What drawn rows show: how many there are, and whom columns single out."""

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows."""
        return {"rows": self.counts.to_dict()}


class PrivatePseudoFigures(PrivateFigures):
    """How like the original the rows are, how near they come to people, and how many are copies."""

    @cached_property
    def fidelity(self) -> Fidelity:
        """How like the original the rows are."""
        return fidelity(self.release)

    @cached_property
    def closeness(self) -> Closeness:
        """How near the rows come to people."""
        return closeness(self.release)

    @cached_property
    def copies(self) -> Copies:
        """How many rows equal a record."""
        return copies(self.release)

    def to_dict(self) -> dict[str, Any]:
        """Return what compares with the original."""
        return {
            "fidelity": self.fidelity.to_dict(),
            "closeness": self.closeness.to_dict(),
            "copies": self.copies.to_dict(),
        }


class PseudoKind(TableKind):
    """Released rows that are drawn: there are no classes of people to be judged, but groups that were kept."""

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the release itself, where all rows were written: only its evidence can judge them."""
        return None if super().read_back(release, folder, format) is None else release

    def public_figures(self, release: Release) -> PublicFigures:
        """Return what the drawn rows show."""
        return PublicPseudoFigures(release)

    def private_figures(self, release: Release, public: Any) -> PrivateFigures:
        """Return what compares with the original."""
        del public
        return PrivatePseudoFigures(release)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about copies of people and about categories that reveal; a stream's records are gone."""
        del public
        if private is not None:
            yield from copied_records(private.copies)
        yield from single_values(release)
        yield from identifying_categories(release)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report; the original of a stream is gone, so nothing is compared with it."""
        n_rows = release.table.n_rows
        checked = f"{n_rows:,} rows were drawn. {_about_copies(release)}"
        verdict = guarantee(release.guarantee, release.verdict, checked=checked)
        last = [provenance.columns(release), provenance.method(release, internal=internal)]
        if internal and release.original is not None:
            return [verdict, *pseudo.compared(release), *last]
        tiles = Tiles([
            ("Pseudo-records", f"{n_rows:,}", f"drawn for {release.evidence.n_rows:,} records"),
            ("Columns", f"{len(release.schema):,}", "drawn together, group by group"),
        ])  # fmt: skip
        return [verdict, tiles, distributions.examples(release), *last]


def _about_copies(release: Release) -> str:
    """Return what was done about copies of single people; a function of the parameters and counts alone."""
    parameters = release.recipe.get("parameters", {})
    if "avoid_copies" not in parameters:
        return "The records of a stream are gone, so copies of them could not be counted."
    if not parameters["avoid_copies"]:
        return "Rows that equal a record were not avoided."
    suppressed = release.evidence.suppressed
    also = f"; {suppressed:,} of them were suppressed instead" if suppressed else ""
    return f"Rows with the quasi-identifiers of a single person were drawn again{also}."
