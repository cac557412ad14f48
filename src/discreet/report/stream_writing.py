"""Writing the release of a stream: pseudo-records and the recipe; there is no original, and so no report."""

from __future__ import annotations

from pathlib import Path

from discreet import __version__
from discreet.core.release import Release
from discreet.core.rng import without_seed
from discreet.engines.writing import atomic_folder, write_frame
from discreet.report.folder import write_record


def write_stream_release(release: Release, folder: Path, *, format: str, overwrite: bool) -> Path:  # noqa: A002
    """Write ``data.<format>`` and ``release.json`` into a new folder, all or nothing."""
    with atomic_folder(folder, overwrite=overwrite) as place:
        data = write_frame(release.frame, place / f"data.{format}", format)
        told = without_seed(release.recipe) | {
            "discreet": __version__,
            "rows": {"in": release.evidence.n_rows, "out": release.frame.num_rows, "suppressed": 0},
            "verdict": release.verdict.to_dict(),
        }
        write_record(place, told, [data])
    return folder
