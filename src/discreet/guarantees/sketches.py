"""Guarantees of sketches: k-variance and δ-anonymity (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.guarantee import compare
from discreet.core.params import POSITIVE, Constraints, IntIn, OneOf
from discreet.core.records.sketches import Sketches
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.release import Release
from discreet.core.verdict import Verdict
from discreet.guarantees.constructed import SketchGuarantee

NEIGHBORS, CAPS = "neighbors", "caps"
"""Where the evidence of a release keeps every record's neighbors, and the cap of each of these pairs."""
GAP = "gap"
"""Where the details of a release say what the caps are made for."""
Gap = Literal["whole", "root", "distance"]
GAPS = ("whole", "root", "distance")
_SIMILARITY = (
    "The estimate of a record's similarity to each of its {k} nearest neighbors from their sketches has "
    "a standard deviation of at least {gap} of the greatest similarity there is."
)
_WORDS = {
    "whole": _SIMILARITY.replace("{gap}", "what it lacks"),
    "root": _SIMILARITY.replace("{gap}", "the square root of what it lacks"),
    "distance": "The estimate of a record's squared distance to each of its {k} nearest neighbors from the components "
    "that both sketches have has a variance of at least that squared distance, in the unit of the values.",
}


@public
@dataclass(frozen=True, repr=False)
class KVariance(SketchGuarantee):
    """The similarity of a record to each of its k nearest neighbors is estimated no better than it differs from 1.

    For a record X and each Y of its k nearest neighbors, the standard deviation of the estimate of X·Y, from as many
    components as both sketches have, is at least ‖X‖‖Y‖ − |X·Y|: the gap to the greatest similarity there is. Whoever
    knows X and the key cannot well tell its sketch from those of its neighbors. Pairs with a suppressed record keep
    the guarantee: nothing of them is published.

    It is a guarantee about the components two sketches have in common, so one of a pair may be long where the other is
    short; and about estimates of dot products, not about everything that can be done with a sketch.

    Sketches show neither true dot products nor who is whose neighbor. The guarantee is judged by construction: the
    published lengths, beside the neighbors and the caps c of their pairs that the maker kept. A pair that shares m
    components has the standard deviation √(c/m) times its gap, or c/m times its squared distance as the variance.

    Parameters
    ----------
    k
        How many nearest neighbors, by cosine.
    gap
        What must be reached: the deviation the ``whole`` gap, which does not depend on the unit of the values; or its
        square ``root``, which is less where values are large (a gap above 1) and more where they are small; or the
        variance of an estimated squared distance the ``distance``, which depends on the unit in the same way.
        Equal records keep it at any length.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> from discreet.publish import KVarianceSketch
    >>> shop = [{"tea": 1, "milk": 1}, {"tea": 1, "milk": 1, "bread": 1}, {"bread": 1, "milk": 1}]
    >>> release = KVarianceSketch(2, family=SketchFamily("shared key")).release(shop)
    >>> print(release.verdict)
    KVariance(k=2): by construction (standard deviation over gap 1, required >= 1)
    >>> release = KVarianceSketch(1, family=SketchFamily("shared key"), gap="distance").release([{"a": 2}, {"b": 2}])
    >>> print(release.verdict)
    KVariance(k=1, gap='distance'): by construction (variance over distance 1, required >= 1)
    """

    k: int
    gap: Gap = "whole"

    constraints: ClassVar[Constraints] = {"k": IntIn(1), "gap": OneOf(GAPS)}

    @property
    def measured(self) -> str:  # type: ignore[override]
        """What is compared, which depends on the gap."""
        return "variance over distance" if self.gap == "distance" else "standard deviation over gap"

    @property
    def bound(self) -> float:
        """The deviation must reach the gap, or the variance the distance."""
        return 1.0

    def measure_release(self, release: Release) -> FloatArray:
        """Return the deviation over the gap, or the variance over the distance, for every pair that is published."""
        first, second, caps, lengths = self._kept(release)
        ratios = np.asarray(caps / np.minimum(lengths[first], lengths[second]))
        return ratios if self.gap == "distance" else np.sqrt(ratios)

    def holds_in(self, release: Release) -> BoolArray:
        """Return for every pair of published neighbors whether what is measured reaches 1."""
        first, second, caps, lengths = self._kept(release)
        # c >= m, without the rounding of a quotient.
        return compare(
            caps, ">=", np.minimum(lengths[first], lengths[second]).astype(np.float64), self.tolerance
        )

    def check(self, subject: Any, *, suppressed: Any = "judged") -> Verdict:
        """Judge a release of sketches, by construction: a class is a pair of neighbors, a row is a record."""
        verdict = super().check(subject, suppressed=suppressed)
        if verdict.ok:
            return verdict
        first, second, _, _ = self._kept(subject)
        failing = ~self.holds_in(subject)
        return replace(verdict, failing_rows=int(np.union1d(first[failing], second[failing]).size))

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return _WORDS[self.gap].format(k=self.k)

    def _kept(self, release: Release) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """Return the pairs of which both records are published, their caps, and the lengths of all records."""
        n = release.evidence.n_rows
        neighbors = release.evidence.arrays.get(NEIGHBORS)
        caps = release.evidence.arrays.get(CAPS)
        if neighbors is None or caps is None or neighbors.shape != caps.shape or len(neighbors) != n:
            raise InputError("The evidence of the release does not hold what k-variance is judged by.")
        if release.evidence.details.get(GAP) != self.gap:
            raise InputError("The evidence was kept for another gap than is asked about.")
        if neighbors.shape[1] < self.k:
            raise InputError(
                f"The evidence knows {neighbors.shape[1]} neighbors of each record, not {self.k}."
            )
        lengths = np.zeros(n, np.int64)
        lengths[release.order] = release.data.lengths
        first = np.repeat(np.arange(n), self.k)
        second = neighbors[:, : self.k].ravel()
        both = (lengths[first] > 0) & (lengths[second] > 0)
        if both.all():
            return first, second, caps[:, : self.k].ravel(), lengths
        return first[both], second[both], caps[:, : self.k].ravel()[both], lengths


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
