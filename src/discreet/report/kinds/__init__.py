"""One adapter per kind of released data: how it is laid into files, read back, summarized and pictured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from discreet.core.adapters import KINDS, load
from discreet.core.release import Release
from discreet.report.figures import Figures
from discreet.report.markup import Markup


class Kind(Protocol):
    """What differs between kinds of released data."""

    formats: ClassVar[tuple[str, ...]]
    """The formats the data can be written in, the usual one first."""
    sections: ClassVar[Sequence[tuple[str, str]]]
    """The sections a report may have, by their place in the page and the name shown for it."""

    def write(self, release: Release, place: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the data into a folder; return the files."""
        ...

    def read_back(self, release: Release, place: Path, format: str) -> Any:  # noqa: A002
        """Return what the guarantee judges, read from the written files; None where they do not hold the data."""
        ...

    def summary(self, release: Release) -> dict[str, Any]:
        """Return facts for ``release.json``: functions of the released data and of counts that may be known."""
        ...

    def measures(self, release: Release) -> dict[str, Any]:
        """Return what compares with the original, for the owner alone."""
        ...

    def content(self, release: Release, figures: Figures, *, internal: bool) -> list[Markup]:
        """Return the sections of a report; only an internal one may look at the original or the evidence."""
        ...


def kind_of(release: Release) -> Kind:
    """Return the adapter of a release."""
    kind: Kind = load(KINDS[release.kind])()
    return kind
