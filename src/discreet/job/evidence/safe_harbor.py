"""Safe Harbor on files: a table with or without roles, or the folder of a release of any kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.release import Release
from discreet.engines.files import read
from discreet.engines.folders import RECORD
from discreet.job.descriptions import is_release, read_record, release_folder
from discreet.job.record_checking import as_release
from discreet.job.release_checking import stated_guarantee
from discreet.kinds.written import Written
from discreet.measure.hipaa import SafeHarbor, safe_harbor
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
    return safe_harbor(release_in(release_folder(data)), zip3_populations=people, allow=allow)


def release_in(folder: Path) -> Release:
    """Read a release as far as its files hold it."""
    written = Written(folder, read_record(folder), private_part(folder / RECORD) or {})
    return as_release(written, written.kind.read_released(written, texts=False), stated_guarantee(written))
