"""k-variance: no sketch tells a record from its k nearest neighbors (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.guarantee import compare
from discreet.core.params import Constraints, IntIn, OneOf
from discreet.core.release import Release
from discreet.core.verdict import Verdict
from discreet.guarantees.constructed import SketchGuarantee

NEIGHBORS, CAPS = "neighbors", "caps"
"""Where the evidence of a release keeps every record's neighbors, and the cap of each of these pairs."""
GAP = "gap"
"""Where the details of a release say what the caps are made for."""
Gap = Literal["whole", "root"]
_WORDS = {"whole": "what it lacks", "root": "the square root of what it lacks"}


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
    components has the standard deviation √(c/m) times its gap.

    Parameters
    ----------
    k
        How many nearest neighbors, by cosine.
    gap
        What the deviation must reach: the ``whole`` gap, which does not depend on the unit of the values; or its square
        ``root``, as the paper's formula is printed, which asks less where values are large (a gap above 1) and more
        where they are small.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> from discreet.publish import KVarianceSketch
    >>> shop = [{"tea": 1, "milk": 1}, {"tea": 1, "milk": 1, "bread": 1}, {"bread": 1, "milk": 1}]
    >>> release = KVarianceSketch(2, family=SketchFamily("shared key")).release(shop)
    >>> print(release.verdict)
    KVariance(k=2): by construction (standard deviation over gap 1, required >= 1)
    """

    k: int
    gap: Gap = "whole"

    measured: ClassVar[str] = "standard deviation over gap"
    constraints: ClassVar[Constraints] = {"k": IntIn(1), "gap": OneOf(("whole", "root"))}

    @property
    def bound(self) -> float:
        """The deviation must reach the gap."""
        return 1.0

    def measure_release(self, release: Release) -> FloatArray:
        """Return the standard deviation over the gap for every pair of neighbors that are both published."""
        first, second, caps, lengths = self._kept(release)
        return np.asarray(np.sqrt(caps / np.minimum(lengths[first], lengths[second])))

    def holds_in(self, release: Release) -> BoolArray:
        """Return for every pair of published neighbors whether the deviation reaches the gap."""
        first, second, caps, lengths = self._kept(release)
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
        return (
            f"The estimate of a record's similarity to each of its {self.k} nearest neighbors from their sketches has "
            f"a standard deviation of at least {_WORDS[self.gap]} of the greatest similarity there is."
        )

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
