"""delta-disclosure privacy: no value is much likelier or rarer in a class (Brickell, Shmatikov 2008)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.guarantee import ColumnNames, Relation, SensitiveGuarantee, expected
from discreet.core.params import POSITIVE, Constraints
from discreet.core.tables.groups import SensitiveCounts


@dataclass(frozen=True, repr=False)
class DeltaDisclosure(SensitiveGuarantee):
    """The share of a value in a class and in the table differ by less than a factor of 2 to the ``delta``.

    The measure is the largest absolute log2(p / q) over the values that occur in the class; values absent
    from it are not looked at. The comparison is strict.

    Parameters
    ----------
    delta
        The bound on the absolute binary logarithm of the ratio, above 0.
    of
        The sensitive column or columns; None means all. Null is a value like any other.

    References
    ----------
    J. Brickell, V. Shmatikov: The cost of privacy: destruction of data-mining utility in anonymized data
    publishing. KDD 2008.
    """

    delta: float
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    relation: ClassVar[Relation] = "<"
    relative: ClassVar[bool] = True
    measured: ClassVar[str] = "log2 ratio of shares"
    constraints: ClassVar[Constraints] = {"delta": POSITIVE, "of": ColumnNames()}

    @property
    def bound(self) -> float:
        """The bound delta."""
        return float(self.delta)

    def describe(self) -> str:
        """Describe the promise in one plain sentence."""
        return (
            f"The values of {self._where()} that occur in a class are less than {2**self.delta:.4g} times "
            "more or less frequent there than in the whole table."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        return np.asarray(
            np.maximum.reduceat(np.abs(np.log2(counts.share / expected(counts))), counts.indptr[:-1])
        )
