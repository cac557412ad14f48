"""SketchRelease: published sketches, with the promise, the verdict, the evidence and the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from discreet.core.arrays import IntArray
from discreet.core.release import Promise, shown, write_kept
from discreet.core.sketches import Sketches
from discreet.core.verdict import Verdict


@dataclass(frozen=True, repr=False)
class SketchEvidence:
    """What is kept of how sketches were made, and never published.

    ``n_rows`` counts the records that came in and ``suppressed`` those left out. ``arrays`` holds what a promise is
    judged by, such as a number for each published record; ``details`` holds whatever else a method wants to show.
    """

    n_rows: int
    suppressed: int
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def share_suppressed(self) -> float:
        """The share of the records that were left out."""
        return self.suppressed / self.n_rows if self.n_rows else 0.0

    def __repr__(self) -> str:
        return f"SketchEvidence({self.n_rows} records, {self.suppressed} suppressed)"


@dataclass(frozen=True, repr=False, eq=False)
class SketchRelease:
    """What leaves the building when records are published as sketches.

    ``sketches`` is all that is published: no suppressed record is in it. ``kept`` gives the place of each among the
    records that came in, so that labels can follow. ``verdict`` is by construction: sketches alone cannot show what
    they hide, so the promise is judged by their lengths and the evidence.
    """

    sketches: Sketches
    guarantee: Promise
    evidence: SketchEvidence
    recipe: Mapping[str, Any]
    kept: IntArray

    @cached_property
    def verdict(self) -> Verdict:
        """The judgment of the published lengths by the evidence that was kept."""
        return self.guarantee.check(self)

    def write(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the sketches and the recipe into a new folder, all or nothing; the evidence stays.

        A release whose verdict is not ok is refused.
        """
        return write_kept(self, "write sketch release", folder, overwrite=overwrite)

    def __repr__(self) -> str:
        return shown("SketchRelease", self, self.evidence)
