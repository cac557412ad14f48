"""k-variance sketches: each short enough to be mistaken for its nearest neighbors' (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.guarantee import TOLERANCE, Guarantee
from discreet.core.params import NONE, Constraints, IntIn, OneOf, require
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.release import Release
from discreet.guarantees import AllOf, DeltaAnonymity
from discreet.guarantees.sketches import CAPS, GAP, GAPS, NEIGHBORS, Gap, KVariance
from discreet.publish.sketches.delta_sketch import DeltaSketch
from discreet.publish.sketches.family import SketchPublisher

if TYPE_CHECKING:
    from discreet.kernels.sketches.exact_neighbors import Compressed

PARTITION = 200_000
"""The default for the most rows of a partition."""


@dataclass(frozen=True)
class Lengths:
    """How long the sketch of every record may be, 0 where it is suppressed, and what that rests on."""

    lengths: IntArray
    neighbors: CodeArray
    caps: FloatArray
    partitions: int
    passes: int
    exact_pairs: int


@dataclass(frozen=True)
class Neighborhoods:
    """The nearest records of every record, the nearest first, with their cosines, and in how many partitions."""

    rows: CodeArray
    cosines: FloatArray
    partitions: int

    def nearest(self, k: int, n: int) -> Neighborhoods:
        """Keep the k nearest of each of n records."""
        if self.rows.shape[0] != n or self.rows.shape[1] < k:
            raise InputError(
                f"The neighbors are the {self.rows.shape[1]} nearest of {self.rows.shape[0]} records; "
                f"{k} of {n} are needed."
            )
        return Neighborhoods(
            np.ascontiguousarray(self.rows[:, :k]),
            np.ascontiguousarray(self.cosines[:, :k]),
            self.partitions,
        )


class _KVarianceGuarantee:
    """A KVariance, or one with a DeltaAnonymity beside it."""

    def admits(self, value: object) -> bool:
        """Return whether the value is such a guarantee."""
        parts = _parts(value)
        kinds = [type(part) for part in parts]
        return sorted(kind.__name__ for kind in kinds) in (["KVariance"], ["DeltaAnonymity", "KVariance"])

    def __str__(self) -> str:
        return "a KVariance, or a KVariance & DeltaAnonymity"


def _parts(guarantee: object) -> tuple[object, ...]:
    """Return the parts of a conjunction, or the guarantee itself."""
    return guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)


@public
@dataclass(frozen=True)
class KVarianceSketch(SketchPublisher):
    """Publish every record as a sketch, so short that it is indistinguishable from those of its k nearest neighbors.

    A pair of neighbors X and Y may share at most c = V/(‖X‖‖Y‖ − |X·Y|)² components, where V = ‖X‖²‖Y‖² − (X·Y)² is
    the paper's variance of one component. On values that are not negative the exact variance is never smaller, so the
    guarantee holds all the more, and c = (1 + cos)/(1 − cos) is at least 1: no record is ever suppressed. On negative
    values the paper's V is no lower bound. A pair with a record that has one takes the exact variance, and where even a
    single component would reveal too much, one of the two is suppressed. Parallel records have no cap.

    With ``gap="root"`` the deviation must reach the square root of the gap. Then
    c = V/(‖X‖‖Y‖ − |X·Y|) = ‖X‖‖Y‖ + X·Y: it grows with the values, sketches of records of 20 items have 20 to 40
    components, and a record with values so small that c is below 1 is suppressed.

    With ``gap="distance"`` the variance of the estimate of D = ‖X − Y‖² from m common components, which is
    2(D² − Σ(x_i − y_i)⁴)/m exactly, must reach D: c = 2(D² − Σ(x_i − y_i)⁴)/D. Sets that differ in D items may share
    2(D − 1) components; of two that differ in a single one, one is suppressed; equal records have no cap. It grows
    with the values as the root does.

    Records are taken by the distance to their k-th neighbor, the largest first, pass after pass; each gets the largest
    length that its pairs allow, given the lengths of the others, until no length can be raised alone. A record looks
    at the pairs in which it is the neighbor too, so that every pair is kept at any time and nothing is to be repaired.

    Neighbors are exact up to ``partition`` records. More are cut into partitions of like records, and neighbors are
    looked for inside each: a stand-in for the true ones, which the evidence and the recipe say. The guarantee is then
    about these.

    k-variance lets a record whose neighbors are all short keep a long sketch, from which its values can be read.
    A `DeltaAnonymity` beside it bounds the length of each by its own values too, and both guarantees are kept.

    Parameters
    ----------
    k
        How many nearest neighbors, by cosine; less than the number of records. A number, a `KVariance`, or
        ``KVariance(k) & DeltaAnonymity(delta)``.
    family
        What makes the sketches.
    partition
        The most records among which neighbors are looked for; by default all, however many.
    gap
        What must be reached, where ``k`` is a number: the ``whole`` gap, its square ``root``, or the ``distance``.
    random_state
        Seeds the order of the published records, which is all that is random.

    References
    ----------
    C. Aggarwal, P. Yu: On privacy-preservation of text and sparse binary data with sketches. SDM 2007.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> method = KVarianceSketch(1, family=SketchFamily("shared key", components=100))
    >>> release = method.release([{"tea": 1, "milk": 1}, {"tea": 1, "milk": 1, "bread": 1}, {"nuts": 1, "bread": 1}])
    >>> release
    Release(sketches, KVariance(k=1), by construction, Evidence(3 records, 0 suppressed))
    >>> sorted(release.data.lengths.tolist())
    [2, 9, 100]

    By distances two of these differ in a single item, and one of them is suppressed:

    >>> near = KVarianceSketch(1, family=method.family, gap="distance")
    >>> near.release([{"tea": 1, "milk": 1}, {"tea": 1, "milk": 1, "bread": 1}, {"nuts": 1, "bread": 1}])
    Release(sketches, KVariance(k=1, gap='distance'), by construction, Evidence(3 records, 1 suppressed))

    Both guarantees, by a family that is shared:

    >>> both = KVarianceSketch(KVariance(1) & DeltaAnonymity(0.25), family=method.family)
    >>> both.release([{"tea": 1, "milk": 1}, {"tea": 1, "milk": 1, "bread": 1}, {"nuts": 1, "bread": 1}]).guarantee
    KVariance(k=1) & DeltaAnonymity(delta=0.25)
    """

    k: int | KVariance | AllOf
    partition: int | None = field(default=PARTITION, kw_only=True)
    gap: Gap | None = field(default=None, kw_only=True)

    constraints: ClassVar[Constraints] = {
        "k": (IntIn(1), _KVarianceGuarantee()),
        **SketchPublisher.constraints,
        "partition": (IntIn(2), NONE),
        "gap": (OneOf(GAPS), NONE),
    }

    def __post_init__(self) -> None:
        """Check the parameters; a guarantee has its own gap."""
        super().__post_init__()
        if isinstance(self.k, Guarantee):
            require(self, "gap", self.gap, NONE, OneOf((self._variance.gap,)))

    @property
    def guarantee(self) -> Guarantee:
        """What is kept: k-variance, alone or with δ-anonymity."""
        return self.k if isinstance(self.k, Guarantee) else KVariance(int(self.k), self.gap or "whole")

    @property
    def _variance(self) -> KVariance:
        return next(part for part in _parts(self.guarantee) if isinstance(part, KVariance))

    @property
    def _alone(self) -> DeltaSketch | None:
        """What bounds each record's length by its own values."""
        parts = [part for part in _parts(self.guarantee) if isinstance(part, DeltaAnonymity)]
        return DeltaSketch(parts[0], family=self.family) if parts else None

    def release(self, rows: Any, *, names: Iterable[Any] | None = None) -> Release:
        """Publish records, in any form that :meth:`SketchFamily.sketch` takes; none may be all zeros."""
        records = SparseRows.of(rows, names=names)
        longest, alone, variance = self.lengths(records), self._alone, self._variance
        order = self._order(longest.lengths, "lower the level, or use other values")
        neighbors = "exact" if longest.partitions == 1 else "inside partitions"
        return self._published(
            records,
            longest.lengths,
            order,
            arrays={
                NEIGHBORS: longest.neighbors,
                CAPS: longest.caps,
                **({} if alone is None else alone.evidence_of(records, order)),
            },
            details={
                GAP: variance.gap,
                "neighbors": neighbors,
                "partitions": longest.partitions,
                "passes": longest.passes,
                "pairs by the exact variance": longest.exact_pairs,
            },
            parameters={
                "k": variance.k,
                "gap": variance.gap,
                "components": int(self.family.components),
                "neighbors": neighbors,
                "partitions": longest.partitions,
                **({} if alone is None else {"within": alone.recipe["parameters"]}),
            },
        )

    def neighbors(self, rows: Any, *, names: Iterable[Any] | None = None) -> Neighborhoods:
        """Find the k nearest records of every record; lengths for any smaller k can be made from them."""
        from discreet.kernels.sketches.exact_neighbors import nearest_inside

        records = SparseRows.of(rows, names=names)
        k = self._variance.k
        _refuse_lonely(records, k)
        matrix = _compressed(records, _exponents(records))
        near, partitions = nearest_inside(matrix, k, self.partition or max(len(records), 2))
        return Neighborhoods(near.rows, near.cosines, partitions)

    def lengths(
        self, rows: Any, *, names: Iterable[Any] | None = None, neighbors: Neighborhoods | None = None
    ) -> Lengths:
        """Find the longest lengths, without making the sketches; neighbors that are there are not looked for again."""
        from discreet.kernels.sketches.k_variance import longest_lengths

        records = SparseRows.of(rows, names=names)
        variance, alone = self._variance, self._alone
        near = (neighbors or self.neighbors(records)).nearest(variance.k, len(records))
        exponents = _exponents(records)
        caps, exact = _caps(records, _compressed(records, exponents), exponents, near.rows, variance.gap)
        most = int(self.family.components)
        # A cap that is whole but for rounding is that number.
        limits = np.floor(np.minimum(caps * (1 + TOLERANCE), most)).astype(np.int32)
        # By the cosine of the k-th neighbor: the smaller it is, the farther the neighbor.
        order = np.argsort(near.cosines[:, -1], kind="stable")
        longest = most if alone is None else np.minimum(alone.lengths(records), most)
        lengths, passes = longest_lengths(near.rows, limits, order, longest)
        return Lengths(lengths.astype(np.int64), near.rows, caps, near.partitions, passes, exact)


def _refuse_lonely(records: SparseRows, k: int) -> None:
    """Refuse records that have no k nearest neighbors."""
    n = len(records)
    if n <= k:
        most = f"use k={n - 1} at most" if n > 1 else "two records are the least"
        raise InfeasibleError(f"None of the {n} records has {k} nearest neighbors; {most}.")
    empty = int((records.lengths == 0).sum())
    if empty:
        raise InputError(
            f"{empty} of the {n} records are all zeros and have no nearest neighbors; drop them first."
        )


def _exponents(records: SparseRows) -> IntArray:
    """Return the powers of two that the values of each record are divided by, so that no square overflows."""
    return (
        np.zeros(len(records), np.int64) if records.binary else np.frexp(records.largest)[1].astype(np.int64)
    )


def _compressed(records: SparseRows, exponents: IntArray) -> Compressed:
    """Return the rows to a kernel, scaled."""
    from discreet.kernels.sketches.exact_neighbors import Compressed

    if records.binary:
        return Compressed(records.indptr, records.items, None, len(records.names))
    weights = np.asarray(records.weights, np.float64)
    values = np.ldexp(weights, -np.repeat(exponents, records.lengths))
    return Compressed(records.indptr, records.items, values, len(records.names))


def _caps(
    records: SparseRows, matrix: Compressed, exponents: IntArray, neighbors: CodeArray, gap: Gap
) -> tuple[FloatArray, int]:
    """Return how many components every pair may share, and how many pairs take the exact variance of products."""
    from discreet.kernels.sketches.k_variance import caps_by_distance, caps_of

    csr = (matrix.indptr, matrix.items, matrix.weights(), matrix.n_items)
    if gap == "distance":
        return caps_by_distance(*csr, neighbors, exponents=exponents), 0
    signed = _signed(records)
    sizes = np.sqrt(records.squared_norms) if gap == "root" else None
    exact = int((signed[:, None] | signed[neighbors]).sum()) if signed.any() else 0
    return caps_of(*csr, neighbors, signed=signed, sizes=sizes), exact


def _signed(records: SparseRows) -> BoolArray:
    """Return for every record whether it holds a negative value."""
    if records.weights is None or not (records.weights < 0).any():
        return np.zeros(len(records), np.bool_)
    n_negative = np.zeros(len(records), np.int64)
    np.add.at(n_negative, np.repeat(np.arange(len(records)), records.lengths), records.weights < 0)
    return np.asarray(n_negative > 0)
