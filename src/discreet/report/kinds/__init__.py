"""One adapter per kind of released data: its files, how they are read back, its figures and report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.adapters import KINDS, load
from discreet.core.figures import Caution, Figures, PrivateFigures, PublicFigures
from discreet.core.release import Release
from discreet.measure.formulas import formula_cautions

if TYPE_CHECKING:
    from discreet.report.blocks import Block


class Kind(ABC):
    """What differs between kinds of released data."""

    formats: ClassVar[tuple[str, ...]]
    """The formats the data can be written in, the usual one first."""

    @abstractmethod
    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the data into a folder; return the files."""

    @abstractmethod
    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return what the guarantee judges, read from the written files; None where they do not hold the data."""

    @abstractmethod
    def public_figures(self, release: Release) -> PublicFigures:
        """Return the public half of the figures."""

    @abstractmethod
    def private_figures(self, release: Release, public: Any) -> PrivateFigures:
        """Return the private half of the figures; it may take over figures of the public one."""

    @abstractmethod
    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return what to know before the release is handed on; ``private`` is None where the original is gone."""

    def figures(self, release: Release) -> Figures[Any, Any]:
        """Return the figures of a release."""
        public = self.public_figures(release)
        private = None if release.original is None else self.private_figures(release, public)
        cautions = self.cautions(release, public, private)
        return Figures(public, private, (*cautions, *formula_cautions(release)))

    @abstractmethod
    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the blocks of a report, the verdict first; only an internal one may show the private figures."""


def kind_of(release: Release) -> Kind:
    """Return the adapter of a release."""
    kind: Kind = load(KINDS[release.kind])()
    return kind
