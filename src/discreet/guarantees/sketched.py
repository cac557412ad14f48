"""Promises of sketches: judged by the lengths that were published and the evidence that was kept."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.errors import ParameterError
from discreet.core.release import Release
from discreet.core.verdict import Basis, Verdict
from discreet.guarantees.constructed import ConstructedGuarantee


class SketchGuarantee(ConstructedGuarantee):
    """A promise about published sketches, which they cannot show by themselves."""

    about: ClassVar[str] = "sketches"

    @abstractmethod
    def measure_release(self, release: Release) -> FloatArray:
        """Measure every published record (or pair of records), unrounded."""

    @abstractmethod
    def holds_in(self, release: Release) -> BoolArray:
        """Describe for every published record (or pair of records) whether it keeps the promise."""

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge a release of sketches, by construction; sketches or tables without their evidence are refused."""
        del suppressed
        if not isinstance(subject, Release) or subject.kind != "sketches":
            self._refuse()
        measure, holds = self.measure_release(subject), self.holds_in(subject)
        failing = int((~holds).sum())
        return self._found(
            ok=not failing,
            worst=float(np.min(measure)) if measure.size else math.nan,
            n_groups=int(measure.size),
            n_rows=len(subject.data),
            failing_groups=failing,
            failing_rows=failing,
            basis=Basis.CONSTRUCTION,
        )

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"{type(self).__name__} is a promise about a release of sketches; neither a table nor sketches without "
            "the evidence kept by their maker can be judged by it."
        )
