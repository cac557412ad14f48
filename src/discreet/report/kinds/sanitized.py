"""Data in which rules were hidden: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from discreet.core.release import Release
from discreet.report import sections
from discreet.report.figures import Figures
from discreet.report.kinds import hiding
from discreet.report.kinds.baskets import BasketKind
from discreet.report.kinds.tables import TableKind
from discreet.report.markup import Markup

_SECTIONS: Sequence[tuple[str, str]] = (
    ("promise", "Guarantee"),
    ("cautions", "Cautions"),
    ("rules", "Rules"),
    ("cost", "Cost"),
    ("effort", "Effort"),
    ("method", "Method"),
)


class SanitizedBasketKind(BasketKind):
    """Released baskets in which sensitive rules are hidden."""

    sections: ClassVar[Sequence[tuple[str, str]]] = _SECTIONS

    def measures(self, release: Release) -> dict[str, Any]:
        """Return the rules, what hiding them cost, and what the method reports."""
        return hiding.measures(release)

    def content(self, release: Release, figures: Figures, *, internal: bool) -> list[Markup]:
        """Return the sections of the report; only the internal one names the rules."""
        del figures
        return hiding.content(release, internal=internal)


class SanitizedTableKind(TableKind):
    """Released tables in which sensitive rules are hidden."""

    sections: ClassVar[Sequence[tuple[str, str]]] = _SECTIONS

    def summary(self, release: Release) -> dict[str, Any]:
        """Return the number of rows."""
        evidence = release.evidence
        rows = {"in": evidence.n_rows, "out": release.table.n_rows, "suppressed": evidence.suppressed}
        return {"rows": rows}

    def measures(self, release: Release) -> dict[str, Any]:
        """Return the rules, what hiding them cost, and what the method reports."""
        return hiding.measures(release)

    def content(self, release: Release, figures: Figures, *, internal: bool) -> list[Markup]:
        """Return the sections of the report; only the internal one names the rules."""
        del figures
        shown = hiding.content(release, internal=internal)
        return [*shown[:2], sections.examples(release), *shown[2:]]
