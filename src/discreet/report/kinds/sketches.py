"""Published sketches: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.core.release import Release
from discreet.core.sketches import Sketches
from discreet.engines.sketches import read_sketches, write_sketches
from discreet.measure import distance_error
from discreet.report import charts, provenance, sections
from discreet.report.figures import Figures, number, percent, table
from discreet.report.markup import Markup, tag

_NAME = "sketches.arrow"
_BINS = 10


class SketchKind:
    """Released sketches of unequal lengths."""

    formats: ClassVar[tuple[str, ...]] = ("arrow",)
    sections: ClassVar[Sequence[tuple[str, str]]] = (
        ("promise", "Guarantee"),
        ("cautions", "Cautions"),
        ("lengths", "Lengths"),
        ("details", "Details"),
        ("method", "Method"),
    )

    def write(self, release: Release, place: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the sketches."""
        del format
        return [write_sketches(release.data, place / _NAME)]

    def read_back(self, release: Release, place: Path, format: str) -> Any:  # noqa: A002
        """Return the release itself, where the written sketches are its own: only its evidence can judge them."""
        del format
        return release if read_sketches(place / _NAME).equals(release.data) else None

    def summary(self, release: Release) -> dict[str, Any]:
        """Return the fingerprint of the key and the number of records."""
        evidence = release.evidence
        counts = {"in": evidence.n_rows, "out": len(release.data), "suppressed": evidence.suppressed}
        return {"family": release.data.family, "records": counts}

    def measures(self, release: Release) -> dict[str, Any]:
        """Return what the method reports."""
        return dict(release.evidence.details)

    def content(self, release: Release, figures: Figures, *, internal: bool) -> list[Markup]:
        """Return the sections of the report."""
        seen = f"{len(release.data):,} sketches were judged."
        return [
            sections.promise(release.guarantee, release.verdict, seen=seen),
            _summary(release),
            _lengths(release.data, figures),
            *([_details(release)] if internal else []),
            provenance.method(release, internal=internal),
        ]


def _summary(release: Release) -> Markup:
    lengths, evidence = release.data.lengths, release.evidence
    left_out = f"{evidence.suppressed:,} left out" if evidence.suppressed else "none left out"
    records = ("Records", f"{len(release.data):,}", left_out)
    if not lengths.size:
        return tag("dl", sections.tile(*records), class_="tiles")
    error = distance_error(lengths)
    tiles = (
        records,
        ("Median length", number(float(np.median(lengths))), "components of a sketch"),
        ("Shortest", f"{int(lengths.min()):,}", "components"),
        ("Longest", f"{int(lengths.max()):,}", "components"),
        (
            "Distance error",
            percent(error.relative),
            f"{error.shared:,} components shared by half of the pairs",
        ),
    )
    return tag("dl", *(sections.tile(*one) for one in tiles), class_="tiles")


def _lengths(data: Sketches, figures: Figures) -> Markup:
    """Show how long the sketches are; the error of an estimated distance falls with the root of the length."""
    if not len(data):
        return Markup()
    edges = np.unique(np.linspace(data.lengths.min(), data.lengths.max() + 1, _BINS + 1).astype(np.int64))
    counts = np.histogram(data.lengths, edges)[0]
    labels = [
        str(low) if high - low == 1 else f"{low} to {high - 1}"
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    share = counts / counts.sum()
    return sections.section(
        "lengths",
        "Lengths of the sketches",
        "Two sketches that share m components estimate a squared distance with a relative error of about √(2/m), so "
        "longer is better.",
        figures.figure(
            "Records by the length of their sketch",
            charts.shares(labels, share, name="components", share="records"),
            "",
            ("Components", "Records"),
            zip(labels, map(percent, share), strict=True),
        ),
    )


def _details(release: Release) -> Markup:
    rows = [
        (name.replace("_", " ").capitalize(), str(value)) for name, value in release.evidence.details.items()
    ]
    worst = [
        (part.measure.capitalize(), number(part.worst))
        for part in release.verdict.parts or (release.verdict,)
    ]
    return sections.section(
        "details",
        "How the lengths were found",
        "What the method kept while it worked. These figures come from the true values.",
        table(
            ("What", "Value"),
            [*(("Worst " + name, value) for name, value in worst), *rows],
            caption="Details",
        ),
    )
