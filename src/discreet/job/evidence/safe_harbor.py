"""Safe Harbor on files: a table with or without roles, or the folder of a release of any kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.engines.files import read
from discreet.job.descriptions import is_release, read_record, release_folder
from discreet.kinds.written import Written
from discreet.measure.safe_harbor import SafeHarbor, safe_harbor
from discreet.publish.recipes.recipe import private_part


@reads("The data")
def safe_harbor_of(
    data: Path,
    *,
    zip3_populations: Path | None = None,
    allow: Collection[str] = (),
    reading: Mapping[str, Any] | None = None,
) -> SafeHarbor:
    """Look for the eighteen identifiers in a file of a table, or in the data of a release."""
    people = None if zip3_populations is None else read(zip3_populations)
    if not is_release(data):
        return safe_harbor(read(data, **(reading or {})), zip3_populations=people, allow=allow)
    folder = release_folder(data)
    record = read_record(folder)
    written = Written(folder, record, private_part(folder / "release.json") or {})
    entries = record.get("columns", [])
    return safe_harbor(
        written.kind.read_released(written, texts=False),
        zip3_populations=people,
        allow=allow,
        pseudonyms=[entry["name"] for entry in entries if entry.get("pseudonym")],
    )
