"""delta-disclosure privacy: no value is much likelier or rarer in a class (Brickell, Shmatikov 2008)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.guarantee import ColumnNames, Guarantee, Relation
from discreet.core.params import POSITIVE, Constraints, OneOf
from discreet.core.relative_guarantee import REFERENCE, RelativeGuarantee
from discreet.core.tables.groups import SensitiveCounts

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook


@public
@dataclass(frozen=True, repr=False)
class DeltaDisclosure(RelativeGuarantee):
    """The share of a value in a class and in the table differ by less than a factor of 2 to the ``delta``.

    The measure is the largest absolute log2(p / q) of the shares p in the class and q in the table. The published
    condition is for all values of the table: one that is absent from a class has log 0, which no delta bounds, so that
    every class must hold every value. That is the reading ``absent="counted"``. ARX looks only at the values that occur
    in a class, with binary logarithms: ``absent="ignored"``, the default. It does not keep anyone from learning which
    values a person does not have. The comparison is strict.

    Parameters
    ----------
    delta
        The bound on the absolute binary logarithm of the ratio, above 0.
    of
        The sensitive column or columns; None means all. Null is a value like any other.
    absent
        Whether a value that is missing from a class breaks the guarantee: ``"ignored"`` as in ARX, or ``"counted"`` as
        published.
    reference
        The table that classes are compared with: as ``"released"``, which everybody can recompute, or the
        ``"original"`` before rows were left out, as in ARX, which rests on the releaser's word.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> frame = pa.table({"age": [1, 1, 1, 2, 2, 2], "ill": list("aababc")})
    >>> table = Table(frame, {"age": quasi(), "ill": sensitive()})
    >>> DeltaDisclosure(1.1).check(table).ok, DeltaDisclosure(1.1, absent="counted").check(table).ok
    (True, False)

    References
    ----------
    J. Brickell, V. Shmatikov: The cost of privacy: destruction of data-mining utility in anonymized data
    publishing. KDD 2008.
    """

    delta: float
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)
    absent: Literal["ignored", "counted"] = field(default="ignored", kw_only=True)
    reference: Literal["released", "original"] = field(default="released", kw_only=True)

    relation: ClassVar[Relation] = "<"
    constraints: ClassVar[Constraints] = {
        "delta": POSITIVE,
        "of": ColumnNames(),
        "absent": OneOf(("ignored", "counted")),
        "reference": REFERENCE,
    }

    @property
    def measured(self) -> str:  # type: ignore[override]  # as absent values are read
        """What is measured, in words that name the reading."""
        return f"log2 ratio of shares, values absent from a class {self.absent}"

    @property
    def joinable(self) -> bool:  # type: ignore[override]  # as absent values are read
        """Whether classes that keep the guarantee keep it when they are joined: a value of one may become too rare."""
        return self.absent == "counted"

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Measure in both readings of values that are absent from a class."""
        del population
        if column is not None:
            yield " (absent ignored)", cls(1, of=column.name)
            yield " (absent counted)", cls(1, of=column.name, absent="counted")

    @property
    def bound(self) -> float:
        """The bound delta."""
        return float(self.delta)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        which = "that occur in a class" if self.absent == "ignored" else "all occur in every class, and"
        return (
            f"The values of {self._where()} {which} are less than {2**self.delta:.4g} times "
            f"more or less frequent there than in {self._whole}."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        apart = np.abs(np.log2(counts.prevalence / counts.overall_prevalence))
        largest = np.asarray(np.maximum.reduceat(apart, counts.indptr[:-1]), np.float64)
        if self.absent == "ignored":
            return largest
        present = np.add.reduceat(np.asarray(counts.counts > 0, np.int64), counts.indptr[:-1])
        return np.where(present < np.count_nonzero(counts.overall), np.inf, largest)
