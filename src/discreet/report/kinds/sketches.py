"""Published sketches: files, reading back, figures and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.core.percentages import percent
from discreet.core.release import Release
from discreet.core.sketches import Sketches
from discreet.engines.sketches import read_sketches, write_sketches
from discreet.measure import distance_error
from discreet.report import charts
from discreet.report.blocks import Block, Section, Table, Tiles
from discreet.report.formatting import number
from discreet.report.sections import provenance
from discreet.report.sections.guarantee import guarantee

_NAME = "sketches.arrow"
_BINS = 10


class SketchKind:
    """Released sketches of unequal lengths."""

    formats: ClassVar[tuple[str, ...]] = ("arrow",)

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

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report."""
        checked = f"{len(release.data):,} sketches were checked."
        return [
            guarantee(release.guarantee, release.verdict, checked=checked),
            _summary(release),
            _lengths(release.data),
            *([_details(release)] if internal else []),
            provenance.method(release, internal=internal),
        ]


def _summary(release: Release) -> Tiles:
    lengths, evidence = release.data.lengths, release.evidence
    suppressed = f"{evidence.suppressed:,} suppressed" if evidence.suppressed else "none suppressed"
    records = ("Records", f"{len(release.data):,}", suppressed)
    if not lengths.size:
        return Tiles([records])
    error = distance_error(lengths)
    tiles = (
        records,
        ("Median length", number(float(np.median(lengths))), "components of a sketch"),
        ("Shortest", f"{int(lengths.min()):,}", "components"),
        ("Longest", f"{int(lengths.max()):,}", "components"),
        (
            "Distance error",
            percent(error.relative),
            f"half of the pairs share {error.shared:,} components",
        ),
    )
    return Tiles(tiles)


def _lengths(data: Sketches) -> Section | None:
    """Return the lengths of the sketches; the error of an estimated distance falls with the root of the length."""
    if not len(data):
        return None
    edges = np.unique(np.linspace(data.lengths.min(), data.lengths.max() + 1, _BINS + 1).astype(np.int64))
    counts = np.histogram(data.lengths, edges)[0]
    labels = [
        str(low) if high - low == 1 else f"{low} to {high - 1}"
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    share = counts / counts.sum()
    return Section(
        "lengths",
        "Lengths of the sketches",
        "Two sketches that share m components estimate a squared distance with a relative error of about √(2/m): "
        "longer sketches are more accurate.",
        [charts.share_figure("Records by sketch length", ("Components", "Share of records"), labels, share)],
    )


def _details(release: Release) -> Section:
    rows = [
        (name.replace("_", " ").capitalize(), str(value)) for name, value in release.evidence.details.items()
    ]
    worst = [
        (f"Worst {part.measure}", number(part.worst)) for part in release.verdict.parts or (release.verdict,)
    ]
    return Section(
        "details",
        "How the lengths were chosen",
        "Recorded by the method. These figures depend on the true values.",
        [Table(("Measure", "Value"), [*worst, *rows], "Details")],
    )
