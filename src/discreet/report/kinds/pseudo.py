"""Pseudo-data: rows drawn from statistics of groups; files, reading back, figures and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.core.release import Release
from discreet.measure import closeness, copies, fidelity
from discreet.report.blocks import Block, Tiles
from discreet.report.kinds.tables import TableKind
from discreet.report.sections import distributions, provenance, pseudo
from discreet.report.sections.guarantee import guarantee


class PseudoKind(TableKind):
    """Released rows that are drawn: there are no classes of people to be judged, but groups that were kept."""

    def read_back(self, release: Release, place: Path, format: str) -> Any:  # noqa: A002
        """Return the release itself, where all rows were written: only its evidence can judge them."""
        return None if super().read_back(release, place, format) is None else release

    def summary(self, release: Release) -> dict[str, Any]:
        """Return the number of rows."""
        evidence = release.evidence
        rows = {"in": evidence.n_rows, "out": release.table.n_rows, "suppressed": evidence.suppressed}
        return {"rows": rows}

    def measures(self, release: Release) -> dict[str, Any]:
        """Return how like the original the rows are, how near they come to people, and how many are copies."""
        return {
            "fidelity": fidelity(release).to_dict(),
            "closeness": closeness(release).to_dict(),
            "copies": copies(release).to_dict(),
        }

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
