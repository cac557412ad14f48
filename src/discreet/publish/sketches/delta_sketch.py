"""δ-anonymous sketches: each as long as its own record allows (Aggarwal & Yu, SDM 2007)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import POSITIVE, Constraints, InstanceOf
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.release import Release
from discreet.guarantees.sketches import SPARE, DeltaAnonymity
from discreet.publish.recipes.recipe_parts import recipe_header
from discreet.publish.sketches import client as sketch_client
from discreet.publish.sketches.family import SketchPublisher

_UNIT = 2.0**-53


@public
@dataclass(frozen=True)
class DeltaSketch(SketchPublisher):
    """Publish every record as the longest sketch that keeps δ-anonymity; suppress it where there is none.

    The longest admissible sketch has ⌊(‖X‖² − max x²)/δ⌋ components, or as many as the family has. A record with less
    than one is suppressed: one of zeros, of a single item, or of one value that outweighs all others. Lengths that
    rounding could make one too long are computed in fractions, δ being the decimal number that it is written as. Values
    so small beside the largest that sketches round them off hide nothing, and are computed as rounded.

    A record needs no other, so each person can do it alone (:func:`discreet.publish.sketches.client.sketch_by_delta` is
    that step in plain Python; it makes the same sketch). The length of a sketch is published with it, and reveals ‖X‖²
    − max x² to within δ.

    Parameters
    ----------
    delta
        The least variance of an estimated value: a number, or a `DeltaAnonymity`.
    family
        The key's signs.
    random_state
        Seeds the order of the published records, which is all that is random.

    References
    ----------
    C. Aggarwal, P. Yu: On privacy-preservation of text and sparse binary data with sketches. SDM 2007.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> method = DeltaSketch(0.5, family=SketchFamily("shared key", components=100))
    >>> release = method.release([{"tea": 1, "milk": 1, "bread": 1}, {"tea": 1}, {"tea": 3, "milk": 1, "bread": 1}])
    >>> release
    Release(sketches, DeltaAnonymity(delta=0.5), by construction, Evidence(3 records, 1 suppressed))
    >>> release.data.lengths.tolist(), sorted(release.order.tolist())
    ([4, 4], [0, 2])
    """

    delta: float | DeltaAnonymity

    constraints: ClassVar[Constraints] = {
        "delta": (POSITIVE, InstanceOf((DeltaAnonymity,), "a DeltaAnonymity")),
        **SketchPublisher.constraints,
    }

    def release(self, rows: Any, *, names: Iterable[Any] | None = None) -> Release:
        """Publish records, in any form that :meth:`SketchFamily.sketch` takes."""
        records = SparseRows.of(rows, names=names)
        lengths = self.lengths(records)
        order = self._order(lengths, "take a smaller delta, or records of more than one item")
        arrays = self.evidence_of(records, order)
        return self._published(
            records, lengths, order, arrays=arrays, details={}, parameters=self.recipe["parameters"]
        )

    @property
    def guarantee(self) -> DeltaAnonymity:
        """What sketches of these lengths, or of shorter ones, keep."""
        return self.delta if isinstance(self.delta, DeltaAnonymity) else DeltaAnonymity(self.delta)

    @property
    def recipe(self) -> dict[str, Any]:
        """What may be published about how lengths are found."""
        parameters = {"delta": float(self.guarantee.delta), "components": int(self.family.components)}
        return recipe_header(self, parameters)

    def evidence_of(self, records: SparseRows, published: IntArray) -> dict[str, FloatArray]:
        """Return what the guarantee is judged by, for the records that are published."""
        return {SPARE: records.spare[published]}

    def lengths(self, rows: Any, *, names: Iterable[Any] | None = None) -> IntArray:
        """Return the length of the longest admissible sketch of every record; 0 where it is suppressed."""
        records = SparseRows.of(rows, names=names)
        most = self.family.components
        # Beyond the longest sketch a ratio need not be exact, and may overflow.
        with np.errstate(over="ignore"):
            ratio = np.minimum(records.spare / self.guarantee.delta, most + 2.0)
        doubt = ratio * (2 * _UNIT) * (records.lengths + 8)
        low = np.clip(np.floor(ratio - doubt), 0, most).astype(np.int64)
        high = np.clip(np.floor(ratio + doubt), 0, most).astype(np.int64)
        self._settle(records, np.flatnonzero(low != high), low)
        return low

    def _settle(self, records: SparseRows, doubtful: IntArray, lengths: IntArray) -> None:
        """Compute the lengths that rounding leaves in doubt; records of equal values once for each kind."""
        computed: dict[tuple[float, int], int] = {}
        for row in doubtful.tolist():
            first, stop = int(records.indptr[row]), int(records.indptr[row + 1])
            values = (
                [1.0] * (stop - first) if records.weights is None else records.weights[first:stop].tolist()
            )
            alike = (abs(values[0]), len(values)) if min(values) == max(values) else None
            length = computed.get(alike) if alike else None
            if length is None:
                length = sketch_client.longest(values, self.guarantee.delta, self.family.components)
                if alike:
                    computed[alike] = length
            lengths[row] = length
