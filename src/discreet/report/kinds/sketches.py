"""Published sketches: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.percentages import percent
from discreet.core.release import Release
from discreet.core.sketches import Sketches
from discreet.engines.sketches import read_sketches, write_sketches
from discreet.measure import DistanceError, distance_error
from discreet.measure.release_cautions import sketch_cautions
from discreet.report import charts
from discreet.report.blocks import Block, Section, Table, Tiles
from discreet.report.formatting import number
from discreet.report.kinds import Kind
from discreet.report.sections import provenance
from discreet.report.sections.guarantee import guarantee

_NAME = "sketches.arrow"
_BINS = 10


class PublicSketchFigures(PublicFigures):
    """What sketches show: their number, their lengths, and how far off estimates are."""

    @property
    def n_released(self) -> int:
        """The number of sketches."""
        return len(self.release.data)

    @cached_property
    def distance_error(self) -> DistanceError:
        """How far off estimated distances are."""
        return distance_error(self.release.data.lengths)

    def to_dict(self) -> dict[str, Any]:
        """Return the fingerprint of the key and the number of records."""
        return {"family": self.release.data.family, "records": self.counts.to_dict()}


class PrivateSketchFigures(PrivateFigures):
    """What the method reports of how lengths were chosen."""

    def to_dict(self) -> dict[str, Any]:
        """Return what the method reports."""
        return dict(self.release.evidence.details)


class SketchKind(Kind):
    """Released sketches of unequal lengths."""

    formats: ClassVar[tuple[str, ...]] = ("arrow",)

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the sketches."""
        del format
        return [write_sketches(release.data, folder / _NAME)]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the release itself, where the written sketches are its own: only its evidence can judge them."""
        del format
        return release if read_sketches(folder / _NAME).equals(release.data) else None

    def public_figures(self, release: Release) -> PublicFigures:
        """Return what the sketches show."""
        return PublicSketchFigures(release)

    def private_figures(self, release: Release, public: Any) -> PrivateFigures:
        """Return what the method reports."""
        del public
        return PrivateSketchFigures(release)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about the key, short sketches and suppressed records."""
        del private
        yield from sketch_cautions(release, public.distance_error.relative if len(release.data) else 0.0)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report."""
        checked = f"{len(release.data):,} sketches were checked."
        return [
            guarantee(release.guarantee, release.verdict, checked=checked),
            _summary(release.figures.public),
            _lengths(release.data),
            *([_details(release)] if internal else []),
            provenance.method(release, internal=internal),
        ]


def _summary(figures: PublicSketchFigures) -> Tiles:
    lengths, counts = figures.release.data.lengths, figures.counts
    suppressed = f"{counts.suppressed:,} suppressed" if counts.suppressed else "none suppressed"
    records = ("Records", f"{counts.n_out:,}", suppressed)
    if not lengths.size:
        return Tiles([records])
    error = figures.distance_error
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
