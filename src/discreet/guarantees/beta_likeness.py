"""beta-likeness: no sensitive value gains too much likelihood in a class (Cao and Karras 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.guarantee import ColumnNames, Guarantee, Relation
from discreet.core.params import POSITIVE, Constraints
from discreet.core.relative_guarantee import REFERENCE, RelativeGuarantee
from discreet.core.tables.groups import SensitiveCounts

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook


@dataclass(frozen=True, repr=False)
class _BetaLikeness(RelativeGuarantee):
    """A bound ``beta`` on the relative gain of a value."""

    beta: float
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)
    reference: Literal["released", "original"] = field(default="released", kw_only=True)

    relation: ClassVar[Relation] = "<="
    constraints: ClassVar[Constraints] = {"beta": POSITIVE, "of": ColumnNames(), "reference": REFERENCE}

    @property
    def bound(self) -> float:
        """The bound beta."""
        return float(self.beta)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"In no class is a value of {self._where()} more than {1 + self.beta:g} times "
            f"as frequent as in {self._whole}."
        )


@public
@dataclass(frozen=True, repr=False)
class BasicBetaLikeness(_BetaLikeness):
    """The share p of a value in a class exceeds its share q in the table by at most ``beta`` times q.

    The measure is the largest (p - q) / q over the values with p > q.

    Parameters
    ----------
    beta
        The largest relative gain, above 0.
    of
        The sensitive column or columns; None means all. Null is a value like any other.
    reference
        The table that classes are compared with: as ``"released"``, which everybody can recompute, or the
        ``"original"`` before rows were left out, as in ARX, which rests on the releaser's word.

    References
    ----------
    J. Cao, P. Karras: Publishing microdata with a robust privacy guarantee. PVLDB 5(11), 2012.
    """

    label: ClassVar[str] = "basic beta-likeness"
    measured: ClassVar[str] = "relative gain of a value"

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        # Every class has an entry; for an empty one reduceat would take the next class's.
        return np.asarray(np.maximum.reduceat(_gain(counts), counts.indptr[:-1]))


@public
@dataclass(frozen=True, repr=False)
class EnhancedBetaLikeness(_BetaLikeness):
    """The relative gain (p - q) / q of a value in a class is at most ``beta`` and at most -ln q.

    The second bound holds frequent values back, which a relative gain alone would let rise to certainty. So
    that one number can be compared with beta, the gain of a value with -ln q below beta is measured times
    beta / -ln q.

    Parameters
    ----------
    beta
        The largest relative gain, above 0.
    of
        The sensitive column or columns; None means all. Null is a value like any other.
    reference
        The table that classes are compared with: as ``"released"``, which everybody can recompute, or the
        ``"original"`` before rows were left out, as in ARX, which rests on the releaser's word.

    References
    ----------
    J. Cao, P. Karras: Publishing microdata with a robust privacy guarantee. PVLDB 5(11), 2012.
    """

    measured: ClassVar[str] = "relative gain of a value, scaled to its allowance"

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Iterate over nothing: what is measured depends on the bound."""
        del column, population
        yield from ()

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return f"{super().describe().removesuffix('.')}, and less still if the value is common."

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        gain = _gain(counts)
        allowed = -np.log(counts.overall_prevalence)
        scale = np.divide(
            self.beta, allowed, out=np.ones_like(gain), where=(allowed < self.beta) & (gain > 0.0)
        )
        return np.asarray(np.maximum.reduceat(gain * scale, counts.indptr[:-1]))


def _gain(counts: SensitiveCounts) -> FloatArray:
    """Return every entry's relative gain, 0 where the value is no more frequent than in the table."""
    return np.asarray(np.maximum(counts.prevalence / counts.overall_prevalence - 1.0, 0.0))
