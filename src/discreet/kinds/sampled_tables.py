"""Sampled tables: true rows, drawn at random and generalized, of which nobody knows whose were drawn."""

from __future__ import annotations

from typing import ClassVar

from discreet.core.release import Release
from discreet.kinds.kind import Line
from discreet.kinds.tables import TableKind


class SampledTableKind(TableKind):
    """Rows of a random sample: judged by how it was drawn, which the releaser alone knows."""

    name = "sampled-table"
    title = "A sampled table"
    section: ClassVar[str | None] = None
    basis = "by how the rows were drawn and their levels chosen, which others cannot recompute"

    def why_not_for_rows(self) -> str | None:
        """Return that a sample is drawn from a whole table."""
        return "a sampled table, which is drawn from a whole table"

    def lines(self, release: Release) -> list[Line]:
        """Return what the verdict rests on, how rows were drawn, and what tables show."""
        details = release.evidence.details
        drawn = f"each row was drawn with a probability of {details['beta']:.4g}; classes have {details['k']} at least"
        return [*super().lines(release), ("sample", drawn)]
