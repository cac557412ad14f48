"""Sections on sketches: their lengths, and how those were chosen."""

from __future__ import annotations

import numpy as np

from discreet.core.records.sketches import Sketches
from discreet.core.release import Release
from discreet.kinds.blocks import Section, TableBlock, Tiles, share_figure
from discreet.kinds.sketches import PublicSketchFigures
from discreet.kinds.wording import number, percent

_BINS = 10


def sketch_summary(figures: PublicSketchFigures) -> Tiles:
    """Return the number of sketches, their lengths, and how far off estimates are."""
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


def lengths(data: Sketches) -> Section | None:
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
        [share_figure("Records by sketch length", ("Components", "Share of records"), labels, share)],
    )


def details(release: Release) -> Section:
    """Return how the lengths were chosen."""
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
        [TableBlock(("Measure", "Value"), [*worst, *rows], "Details")],
    )
