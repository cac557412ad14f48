"""The base of sketch publishers: checks, order, evidence, recipe and release; a method adds the lengths of sketches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.errors import InfeasibleError
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraints, InstanceOf, check_parameters
from discreet.core.records.sketches import SHORT_KEY
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.publish.recipes.recipe_parts import recipe_header
from discreet.publish.sketches.family import SketchFamily


@dataclass(frozen=True)
class SketchPublisher(ABC):
    """A publisher of sketches of different lengths; a record of length 0 is suppressed.

    Parameters
    ----------
    family
        The key's signs, which make the sketches.
    random_state
        Seeds the order of the published records, which is all that is random.
    """

    family: SketchFamily = field(kw_only=True)
    random_state: RandomState = field(default=None, kw_only=True)

    constraints: ClassVar[Constraints] = {
        "family": InstanceOf((SketchFamily,), "a SketchFamily"),
        "random_state": RANDOM_STATE,
    }

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_parameters(self)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What sketches of these lengths, or of shorter ones, keep."""

    def _order(self, lengths: IntArray, remedy: str) -> IntArray:
        """Return the records that are published, in random order; refuse to publish none of several."""
        order = generator(self.random_state, owner=self).permutation(np.flatnonzero(lengths))
        if lengths.size and not order.size:
            raise InfeasibleError(f"Each of the {lengths.size} records would be suppressed; {remedy}.")
        return order

    def _published(
        self,
        records: SparseRows,
        lengths: IntArray,
        order: IntArray,
        *,
        arrays: Mapping[str, Any],
        details: Mapping[str, object],
        parameters: Mapping[str, object],
    ) -> Release:
        """Sketch the records in an order, each to its length, and release the sketches."""
        n_capped = int((lengths == self.family.components).sum())
        return Release(
            self.family.publish(records.take(order), lengths=lengths[order]),
            self.guarantee,
            Evidence(
                n_rows=len(records),
                suppressed=len(records) - order.size,
                arrays=arrays,
                details={**details, "capped": n_capped, SHORT_KEY: self.family.has_short_key},
                order=order,
            ),
            recipe_header(self, parameters),
            kind="sketches",
            original=records,
        )
