"""k-variance sketches: each short enough to be mistaken for its nearest neighbors' (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.guarantee import TOLERANCE, Guarantee
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.core.release import Evidence, Release
from discreet.core.rng import RandomState, generator, seed_of
from discreet.core.sketches import Sketches
from discreet.core.sparse_rows import SparseRows
from discreet.guarantees.k_variance import CAPS, GAP, NEIGHBORS, Gap, KVariance
from discreet.publish.recipes.recipe import FORMAT

if TYPE_CHECKING:
    from discreet.kernels.sketches.exact_neighbors import Compressed

PARTITION = 200_000
"""The rows of a partition at the most, unless told otherwise."""


@runtime_checkable
class Sketcher(Protocol):
    """What makes sketches, such as a SketchFamily."""

    @property
    def components(self) -> int:
        """The longest sketch there is."""
        ...

    def sketch(self, rows: Any, *, lengths: Any = None) -> Sketches:
        """Sketch records."""
        ...


@runtime_checkable
class RecordRule(Protocol):
    """What bounds the length of each sketch by its record alone, such as a DeltaSketch."""

    @property
    def guarantee(self) -> Guarantee:
        """The promise that sketches of these lengths, or of shorter ones, keep."""
        ...

    @property
    def recipe(self) -> dict[str, Any]:
        """What may be told of how lengths are found."""
        ...

    def lengths(self, rows: Any) -> IntArray:
        """Return the longest length of every record; 0 where it is suppressed."""
        ...

    def kept_of(self, records: SparseRows, kept: IntArray) -> dict[str, FloatArray]:
        """Return what the promise is judged by, for the records that are published."""
        ...


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
class KVarianceSketch:
    """Publish every record as a sketch, so short that it cannot be told from those of its k nearest neighbors.

    A pair of neighbors X and Y may share at most c = V/(‖X‖‖Y‖ − |X·Y|)² components, where V = ‖X‖²‖Y‖² − (X·Y)² is
    the paper's variance of one component. On values that are not negative the exact variance is never smaller, so the
    promise holds all the more, and c = (1 + cos)/(1 − cos) is at least 1: no record is ever suppressed. On negative
    values the paper's V is no lower bound. A pair with a record that has one takes the exact variance, and where even a
    single component would tell too much, one of the two is suppressed. Parallel records have no cap.

    With ``gap="root"`` the deviation must reach the square root of the gap, as the paper's formula is printed. Then
    c = V/(‖X‖‖Y‖ − |X·Y|) = ‖X‖‖Y‖ + X·Y: it grows with the values, sketches of records of 20 items have 20 to 40
    components, and a record with values so small that c is below 1 is suppressed.

    Records are taken by the distance to their k-th neighbor, the largest first, pass after pass; each gets the largest
    length that its pairs allow, given the lengths of the others, until no length can be raised alone. A record looks
    at the pairs in which it is the neighbor too, so that every pair is kept at any time and nothing is to be repaired.

    Neighbors are exact up to ``partition`` records. More are cut into partitions of like records, and neighbors are
    looked for inside each: a stand-in for the true ones, which the evidence and the recipe say. The promise is then
    about these.

    k-variance lets a record whose neighbors are all short keep a long sketch, from which its values can be read.
    ``within`` bounds the length of each by its own values too, and both promises are kept.

    Parameters
    ----------
    family
        What makes the sketches: a `SketchFamily`.
    k
        How many nearest neighbors, by cosine; less than the number of records.
    partition
        The most records among which neighbors are looked for; None looks among all, however many.
    gap
        What the deviation must reach: the ``whole`` gap, or its square ``root``.
    within
        A `DeltaSketch`, whose lengths none exceeds; None for no other bound.
    random_state
        Seeds the order of the published records, which is all that is random.

    References
    ----------
    C. Aggarwal, P. Yu: On privacy-preservation of text and sparse binary data with sketches. SDM 2007.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> method = KVarianceSketch(SketchFamily("shared key", components=100), k=1)
    >>> release = method.release([{"tea": 1, "milk": 1}, {"tea": 1, "milk": 1, "bread": 1}, {"nuts": 1, "bread": 1}])
    >>> release
    Release(sketches, KVariance(k=1, gap='whole'), verdict ok, Evidence(3 records, 0 suppressed))
    >>> sorted(release.data.lengths.tolist())
    [2, 9, 100]

    Both promises, by a family that is shared:

    >>> from discreet.publish import DeltaSketch
    >>> both = KVarianceSketch(method.family, k=1, within=DeltaSketch(method.family, 0.25))
    >>> both.release([{"tea": 1, "milk": 1}, {"tea": 1, "milk": 1, "bread": 1}, {"nuts": 1, "bread": 1}]).guarantee
    KVariance(k=1, gap='whole') & DeltaAnonymity(delta=0.25)
    """

    family: Sketcher
    k: int
    partition: int | None = PARTITION
    gap: Gap = "whole"
    within: RecordRule | None = None
    random_state: RandomState = None

    def __post_init__(self) -> None:
        require(self, "family", self.family, InstanceOf((Sketcher,), "a SketchFamily"))
        require(self, "k", self.k, IntIn(1))
        require(self, "partition", self.partition, IntIn(2), InstanceOf((type(None),), "None"))
        require(self, "gap", self.gap, OneOf(("whole", "root")))
        require(self, "within", self.within, InstanceOf((RecordRule, type(None)), "a DeltaSketch, or None"))

    @property
    def guarantee(self) -> Guarantee:
        """The promise: k-variance, and that of ``within``."""
        alone = KVariance(int(self.k), self.gap)
        return alone if self.within is None else alone & self.within.guarantee

    def release(self, rows: Any, *, names: Iterable[Any] | None = None) -> Release:
        """Publish records, given as :meth:`SketchFamily.sketch` takes them; none may be all zeros."""
        records = SparseRows.of(rows, names=names)
        found = self.lengths(records)
        kept = generator(self.random_state, owner=self).permutation(np.flatnonzero(found.lengths))
        if not kept.size:
            raise InfeasibleError(
                f"Each of the {len(records)} records would be suppressed; ask for less, or take other values."
            )
        evidence = Evidence(
            n_rows=len(records),
            suppressed=len(records) - kept.size,
            arrays={
                NEIGHBORS: found.neighbors,
                CAPS: found.caps,
                **({} if self.within is None else self.within.kept_of(records, kept)),
            },
            details={
                GAP: self.gap,
                "neighbors": "exact" if found.partitions == 1 else "inside partitions",
                "partitions": found.partitions,
                "passes": found.passes,
                "pairs by the exact variance": found.exact_pairs,
                "capped": int((found.lengths == self.family.components).sum()),
            },
            order=kept,
        )
        recipe = {
            "format": FORMAT,
            "method": type(self).__name__,
            "parameters": {
                "k": int(self.k),
                "gap": self.gap,
                "components": int(self.family.components),
                "neighbors": evidence.details["neighbors"],
                "partitions": found.partitions,
                **({} if self.within is None else {"within": self.within.recipe["parameters"]}),
            },
            "guarantee": self.guarantee.to_dict(),
            "seed": seed_of(self.random_state),
        }
        sketches = self.family.sketch(records.take(kept), lengths=found.lengths[kept])
        return Release(sketches, self.guarantee, evidence, recipe, kind="sketches", original=records)

    def lengths(self, rows: Any, *, names: Iterable[Any] | None = None) -> Lengths:
        """Find the neighbors and the longest lengths, without making the sketches."""
        from discreet.kernels.sketches.exact_neighbors import nearest_inside
        from discreet.kernels.sketches.k_variance import caps_of, longest_lengths

        records = SparseRows.of(rows, names=names)
        _refuse_lonely(records, int(self.k))
        laid = _laid_out(records)
        near, partitions = nearest_inside(laid, int(self.k), self.partition or max(len(records), 2))
        signed = _signed(records)
        sizes = np.sqrt(records.squared_norms) if self.gap == "root" else None
        caps = caps_of(
            laid.indptr, laid.items, laid.weights(), laid.n_items, near.rows, signed=signed, sizes=sizes
        )
        most = int(self.family.components)
        limits = np.floor(np.minimum(caps * (1 + TOLERANCE), most)).astype(np.int32)
        order = np.argsort(near.cosines[:, -1], kind="stable")
        longest = most if self.within is None else np.minimum(self.within.lengths(records), most)
        lengths, passes = longest_lengths(near.rows, limits, order, longest)
        exact = int((signed[:, None] | signed[near.rows]).sum()) if signed.any() else 0
        return Lengths(lengths.astype(np.int64), near.rows, caps, partitions, passes, exact)


def _refuse_lonely(records: SparseRows, k: int) -> None:
    """Refuse records that have no k nearest neighbors."""
    n = len(records)
    if n <= k:
        most = f"ask for k={n - 1} at the most" if n > 1 else "two records are the least"
        raise InfeasibleError(f"None of the {n} records has {k} nearest neighbors; {most}.")
    empty = int((records.lengths == 0).sum())
    if empty:
        raise InputError(
            f"{empty} of the {n} records are all zeros and have no nearest neighbors; drop them first."
        )


def _laid_out(records: SparseRows) -> Compressed:
    """Return the rows to a kernel; a row's values are scaled by a power of two, so that no square overflows."""
    from discreet.kernels.sketches.exact_neighbors import Compressed

    if records.binary:
        return Compressed(records.indptr, records.items, None, len(records.names))
    exponents = np.frexp(records.largest)[1]
    weights = np.asarray(records.weights, np.float64)
    values = np.ldexp(weights, -np.repeat(exponents, records.lengths))
    return Compressed(records.indptr, records.items, values, len(records.names))


def _signed(records: SparseRows) -> BoolArray:
    """Return for every record whether it holds a negative value."""
    if records.weights is None or not (records.weights < 0).any():
        return np.zeros(len(records), np.bool_)
    found = np.zeros(len(records), np.int64)
    np.add.at(found, np.repeat(np.arange(len(records)), records.lengths), records.weights < 0)
    return np.asarray(found > 0)
