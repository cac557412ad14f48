"""One adapter per kind of released data: its files, how they are read back, its summary and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from discreet.core.adapters import KINDS, load
from discreet.core.release import Release

if TYPE_CHECKING:
    from discreet.report.blocks import Block


class Kind(Protocol):
    """What differs between kinds of released data."""

    formats: ClassVar[tuple[str, ...]]
    """The formats the data can be written in, the usual one first."""

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

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the blocks of a report, the verdict first; only an internal one may read the original or evidence."""
        ...


def kind_of(release: Release) -> Kind:
    """Return the adapter of a release."""
    kind: Kind = load(KINDS[release.kind])()
    return kind
