"""Pseudo-data: rows drawn from statistics of groups; files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from discreet.core.release import Release
from discreet.measure import closeness, copies, fidelity
from discreet.report import provenance, sections
from discreet.report.figures import Figures
from discreet.report.kinds import pseudo_sections as pseudo
from discreet.report.kinds.tables import TableKind
from discreet.report.markup import Markup, tag


class PseudoKind(TableKind):
    """Released rows that are drawn: there are no classes of people to be judged, but groups that were kept."""

    sections: ClassVar[Sequence[tuple[str, str]]] = (
        ("promise", "Guarantee"),
        ("cautions", "Cautions"),
        ("risk", "Closeness"),
        ("cost", "Cost"),
        ("groups", "Groups"),
        ("examples", "Examples"),
        ("shapes", "Distributions"),
        ("columns", "Columns"),
        ("method", "Method"),
    )

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

    def content(self, release: Release, figures: Figures, *, internal: bool) -> list[Markup]:
        """Return the sections of the report; a stream's original is gone, so nothing is compared with it."""
        seen = f"{release.table.n_rows:,} rows were drawn. {_about_copies(release)}"
        head = sections.promise(release.guarantee, release.verdict, seen=seen)
        tail = [provenance.columns(release), provenance.method(release, internal=internal)]
        if internal and release.original is not None:
            return [head, *pseudo.compared(release, figures), *tail]
        tiles = (
            ("Pseudo-records", f"{release.table.n_rows:,}", f"drawn for {release.evidence.n_rows:,} records"),
            ("Columns", f"{len(release.schema):,}", "drawn together, group by group"),
        )
        return [
            head,
            tag("dl", *(sections.tile(*one) for one in tiles), class_="tiles"),
            sections.examples(release),
            *tail,
        ]


def _about_copies(release: Release) -> str:
    """Describe what was done about rows that look like one person; a function of the parameters and counts alone."""
    parameters = release.recipe.get("parameters", {})
    if "avoid_copies" not in parameters:
        return "The records of a stream are gone, so whether a row equals one was not looked at."
    if not parameters["avoid_copies"]:
        return "Rows that equal a record were not avoided."
    left_out = release.evidence.suppressed
    also = f"; {left_out:,} that could not be were left out" if left_out else ""
    return f"Rows with the quasi-identifiers of one person alone were drawn again{also}."
