"""Data in which rules were hidden: files, reading back, figures and reports."""

from __future__ import annotations

from typing import Any

from discreet.core.release import Release
from discreet.report.blocks import Block
from discreet.report.kinds.baskets import BasketKind
from discreet.report.kinds.tables import TableKind
from discreet.report.sections import hiding
from discreet.report.sections.distributions import examples


class SanitizedBasketKind(BasketKind):
    """Released baskets in which sensitive rules are hidden."""

    def measures(self, release: Release) -> dict[str, Any]:
        """Return the rules, what hiding them cost, and what the method reports."""
        return hiding.measures(release)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report; only the internal one names the rules."""
        return [*hiding.content(release, internal=internal)]


class SanitizedTableKind(TableKind):
    """Released tables in which sensitive rules are hidden."""

    def summary(self, release: Release) -> dict[str, Any]:
        """Return the number of rows."""
        evidence = release.evidence
        rows = {"in": evidence.n_rows, "out": release.table.n_rows, "suppressed": evidence.suppressed}
        return {"rows": rows}

    def measures(self, release: Release) -> dict[str, Any]:
        """Return the rules, what hiding them cost, and what the method reports."""
        return hiding.measures(release)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report; only the internal one names the rules."""
        shown = hiding.content(release, internal=internal)
        return [*shown[:2], examples(release), *shown[2:]]
