"""δ-anonymity: no attribute can be read off a sketch with a variance below δ (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import POSITIVE, Constraints
from discreet.core.records.sketches import Sketches
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.release import Release
from discreet.guarantees.constructed import SketchGuarantee

SPARE = "spare"
"""Where the evidence of a release keeps ‖X‖² − max x² of every published record."""
_ROUNDING = 1e-12


@public
@dataclass(frozen=True, repr=False)
class DeltaAnonymity(SketchGuarantee):
    """Every attribute of every published record is estimated with a variance of at least delta.

    The best unbiased estimate of the value x of an item, by one who knows the key, has the variance (‖X‖² − x²)/m
    where the sketch of the record X has m components. The item of the largest value is the one best estimated, so the
    guarantee is about it. The formula is exact for values of either sign.

    It is a guarantee about one way to guess, not about every one: someone who knows that values are 0 or 1, or knows
    most of a record already, does better (:func:`discreet.measure.guess_attributes` measures that).

    Sketches do not show the largest value of a record nor its exact length, so nobody can verify the guarantee from
    them alone. It is judged by construction: the published lengths m, beside ‖X‖² − max x² of each record, kept by
    the maker.

    Parameters
    ----------
    delta
        The least variance; in the unit of the values, squared.

    Examples
    --------
    >>> from discreet.publish import DeltaSketch, SketchFamily
    >>> shop = [{"tea": 1, "milk": 1, "bread": 1}, {"tea": 1}]
    >>> release = DeltaSketch(0.5, family=SketchFamily("shared key")).release(shop)
    >>> print(release.verdict)
    DeltaAnonymity(delta=0.5): by construction (variance of the estimate 0.5, required >= 0.5)
    """

    delta: float

    measured: ClassVar[str] = "variance of the estimate"
    constraints: ClassVar[Constraints] = {"delta": POSITIVE}

    @property
    def bound(self) -> float:
        """The least variance."""
        return float(self.delta)

    def measure_release(self, release: Release) -> FloatArray:
        """Return the least variance of an attribute's estimate for every published record."""
        spare = release.evidence.arrays.get(SPARE)
        if spare is None or spare.size != len(release.data):
            raise InputError("The evidence of the release does not hold what δ-anonymity is judged by.")
        return self.measure_lengths(spare, release.data.lengths)

    def holds_in(self, release: Release) -> BoolArray:
        """Return for every published record whether its variance reaches delta."""
        return np.asarray(self.measure_release(release) >= self.delta * (1 - _ROUNDING))

    def measure_rows(self, rows: Any, sketches: Sketches) -> FloatArray:
        """Return the least variance for sketches that anyone made of these records, in the same order.

        Infinite where a record has no component at all.
        """
        records = SparseRows.of(rows)
        if len(records) != len(sketches):
            raise InputError(f"There are {len(sketches)} sketches, but {len(records)} records.")
        return self.measure_lengths(records.spare, sketches.lengths)

    @staticmethod
    def measure_lengths(spare: FloatArray, lengths: IntArray) -> FloatArray:
        """Return ``spare / lengths``: ‖X‖² − max x² of each record over the length of its sketch."""
        return np.where(lengths > 0, spare / np.maximum(lengths, 1), np.inf)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"The estimate of any value of a record from its sketch and the key has a variance of at least "
            f"{self.delta:g}. Who knows more about the values may guess better."
        )
