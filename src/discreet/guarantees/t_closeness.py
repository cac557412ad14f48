"""t-closeness: sensitive values are spread in every class as in the whole table (Li et al. 2007)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InternalError, SchemaError
from discreet.core.guarantee import (
    ClassRule,
    ColumnNames,
    Guarantee,
    Relation,
    expected,
    failing_share,
)
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.params import Constraints, FloatIn, OneOf, require
from discreet.core.relative_guarantee import REFERENCE, RelativeGuarantee
from discreet.core.tables.groups import Groups, SensitiveCounts

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook

DISTANCES = ("equal", "variational", "kl", "ordered", "hierarchical")

Matrix = Sequence[Sequence[float]]


class GroundDistance:
    """A square matrix of distances between values."""

    def admits(self, value: object) -> bool:
        """Return whether the value is a square matrix, nowhere negative, with a diagonal of zeros."""
        if isinstance(value, str):
            return False
        try:
            ground = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            return False
        if ground.ndim != 2 or ground.shape[0] != ground.shape[1] or not ground.size:
            return False
        return bool(np.isfinite(ground).all() and (ground >= 0.0).all() and not np.diagonal(ground).any())

    def __str__(self) -> str:
        return "a square matrix of numbers, none negative, with a diagonal of zeros"


@public
@dataclass(frozen=True, repr=False)
class TCloseness(RelativeGuarantee):
    """The distance between the sensitive values of every class and those of the whole table is at most ``t``.

    Parameters
    ----------
    t
        The largest distance: in [0, 1] for the equal, variational, ordered and hierarchical distance.
    distance
        How far apart two distributions are.

        ``"equal"``
            earth mover's distance where all values are equally far apart; the same as ``"variational"``,
            half the sum of the absolute differences.
        ``"kl"``
            Kullback-Leibler divergence from the whole table, in nats.
        ``"ordered"``
            earth mover's distance along the values that occur in the table, in the column's order; null
            comes first.
        ``"hierarchical"``
            earth mover's distance in the column's hierarchy; null hangs directly under the root.
        a square matrix
            earth mover's distance over these ground distances, from a value of the class (row) to a value
            of the whole table (column), by a linear program per class. Rows and columns are the column's
            values in order, all leaves of the hierarchy where it has one; one row and column more, and null
            is the first. It has no negative entry and a diagonal of zeros. Meant for some hundreds of
            values at most.
    of
        The sensitive column or columns; None means all.
    reference
        The table that classes are compared with: as ``"released"``, which everybody can recompute, or the
        ``"original"`` before rows were left out, as in ARX, which rests on the releaser's word.

    References
    ----------
    N. Li, T. Li, S. Venkatasubramanian: t-Closeness: privacy beyond k-anonymity and l-diversity. ICDE 2007.

    Examples
    --------
    The paper's salaries 3k to 11k, in the classes {3k, 4k, 5k}, {6k, 8k, 11k} and {7k, 9k, 10k}:

    >>> import numpy as np
    >>> from discreet.core.tables.groups import Groups
    >>> classes = np.repeat(np.arange(3, dtype=np.int32), 3)
    >>> salary = np.array([1, 2, 3, 4, 6, 9, 5, 7, 8], np.int32)
    >>> overall = np.array([0] + [1] * 9)
    >>> groups = Groups.of(classes, np.ones(9, np.int64), 3, {"salary": (salary, overall, None)})
    >>> TCloseness(0.2, "ordered").measure(groups).round(3).tolist()
    [0.375, 0.167, 0.236]
    """

    t: float
    distance: str | Matrix = "equal"
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)
    reference: Literal["released", "original"] = field(default="released", kw_only=True)
    _farthest: dict[tuple[Hierarchy | None, bytes], float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    relation: ClassVar[Relation] = "<="
    measured: ClassVar[str] = "distance to the whole table"

    constraints: ClassVar[Constraints] = {
        "t": FloatIn(0.0),
        "distance": (OneOf(DISTANCES), GroundDistance()),
        "of": ColumnNames(),
        "reference": REFERENCE,
    }

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Measure by every distance; ordered and hierarchical only where the column has an order or a tree."""
        del population
        if column is None:
            return
        yield " (equal)", cls(1, of=column.name)
        if column.kind.value != "category":
            yield " (ordered)", cls(1, "ordered", of=column.name)
        if column.hierarchy is not None:
            yield " (hierarchical)", cls(1, "hierarchical", of=column.name)
        yield " (Kullback-Leibler)", cls(1, "kl", of=column.name)

    def __post_init__(self) -> None:
        """Check the parameters: a distance with a largest value of 1 bounds t as well."""
        super().__post_init__()
        if not isinstance(self.distance, str):
            rows = np.asarray(self.distance, np.float64).tolist()
            object.__setattr__(self, "distance", tuple(tuple(row) for row in rows))
        elif self.distance != "kl":
            require(self, "t", self.t, FloatIn(0.0, 1.0))

    @property
    def bound(self) -> float:
        """The bound t."""
        return float(self.t)

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail, however it is divided: every distance is convex.

        Leaving out a share of the rows moves the whole table, and so every distance, by that share of the largest, and
        a divergence by the logarithm of what is left; but the ordered distance is scaled by the number of values,
        which may change.
        """
        moved = 0.0 if self.needs_original else moved
        if moved >= 1.0 or (self.distance == "ordered" and moved > 0):
            return super().failing_at_least(groups, moved=moved)
        slack = -math.log1p(-moved) if self.distance == "kl" else moved
        if not isinstance(self.distance, str):
            slack *= float(np.max(self.distance))
        least = np.zeros(groups.n_groups)
        for counts in self._counts(groups):
            score, highest = self._tangent(counts, slack)
            least = np.maximum(least, failing_share(score, self.t + slack, highest) * groups.sizes)
        return least

    def _tangent(self, counts: SensitiveCounts, slack: float) -> tuple[FloatArray, float | FloatArray]:
        """Measure every class, and return the highest value over its own values of the tangent at the class.

        A tangent of a convex distance is nowhere above it. That of the earth mover's distance is its optimal
        potential; where no tangent is worked out, no class is further away than a value alone.
        """
        from discreet.kernels.tables import earth_mover

        start = counts.indptr[:-1]
        if self.distance == "hierarchical":
            return earth_mover.hierarchical(*self._arrays(counts), self._tree(counts).levels)
        if self.distance == "kl":
            slopes = np.log(counts.share / expected(counts))
            return self._score(counts), np.maximum.reduceat(slopes, start)
        if self.distance in ("equal", "variational"):
            share = expected(counts)
            surplus = np.where(counts.share > share, share, 0.0)
            return self._score(counts), 1.0 - np.add.reduceat(surplus, start)
        return self._score(counts), self._highest(counts) + slack

    def _highest(self, counts: SensitiveCounts) -> float:
        """Return the largest distance any class can have: that of a class with one value alone."""
        # A search judges classes of the same table again and again.
        key = (counts.hierarchy, counts.overall.tobytes())
        if key not in self._farthest:
            self._farthest[key] = float(self._score(_alone(counts)).max())
        return self._farthest[key]

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...] | None:
        """Return the guarantee as a rule for each column; over given ground distances it is none."""
        columns = self.columns(sensitive)
        if not isinstance(self.distance, str):
            return None
        kind = {"variational": "equal", "kl": "divergence"}.get(self.distance, self.distance)
        return tuple(ClassRule(kind, name, self.t) for name in columns)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        named = self.distance if isinstance(self.distance, str) else "given"
        named = {"kl": "Kullback-Leibler"}.get(named, named)
        return (
            f"The values of {self._where()} in every class are spread as in {self._whole}, "
            f"up to a distance of {self.t:g} ({named})."
        )

    def __repr__(self) -> str:
        if isinstance(self.distance, str):
            return super().__repr__()
        of = "" if self.of is None else f", of={self.of!r}"
        reference = ", reference='original'" if self.needs_original else ""
        size = len(self.distance)
        return f"TCloseness(t={self.t!r}, distance=<{size} x {size} matrix>{of}{reference})"

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        from discreet.kernels.tables import earth_mover

        arrays = self._arrays(counts)
        if not isinstance(self.distance, str):
            try:
                return earth_mover.transported(*arrays, self._ground(counts))
            except ArithmeticError as error:
                raise InternalError(f"TCloseness on the column {counts.name!r}: {error}.") from None
        if self.distance == "ordered":
            return earth_mover.ordered(*arrays)
        if self.distance == "hierarchical":
            return earth_mover.hierarchical(*arrays, self._tree(counts).levels)[0]
        if self.distance == "kl":
            return _divergence(counts)
        return _variation(counts)

    def _arrays(self, counts: SensitiveCounts) -> tuple[IntArray, CodeArray, IntArray, IntArray]:
        return counts.indptr, counts.values, counts.counts, counts.overall

    def _tree(self, counts: SensitiveCounts) -> Hierarchy:
        if counts.hierarchy is None:
            raise SchemaError(
                f"The hierarchical TCloseness needs a hierarchy for the column {counts.name!r}."
            )
        return counts.hierarchy

    def _ground(self, counts: SensitiveCounts) -> FloatArray:
        """Return the ground distances between codes, null included."""
        ground = np.asarray(self.distance, np.float64)
        n_codes = counts.overall.size
        if len(ground) == n_codes:
            return ground
        if len(ground) != n_codes - 1 or counts.overall[0]:
            n_rows = f"{n_codes}" if counts.overall[0] else f"{n_codes - 1} (or {n_codes}, null first)"
            nulls = " and null" if counts.overall[0] else ""
            raise SchemaError(
                f"The ground distance of TCloseness has {len(ground)} rows, but the column {counts.name!r} "
                f"has {n_codes - 1} values{nulls}: give a square matrix of {n_rows} rows."
            )
        # No null occurs, so that its distances are never looked at.
        return np.pad(ground, ((1, 0), (1, 0)))


def _alone(counts: SensitiveCounts) -> SensitiveCounts:
    """Return every value that occurs a group of its own: nothing is further from the whole than one of these."""
    values = np.flatnonzero(counts.overall).astype(np.int32)
    indptr = np.arange(values.size + 1)
    return SensitiveCounts(
        counts.name, indptr, values, np.ones(values.size, np.int64), counts.overall, counts.hierarchy
    )


def _variation(counts: SensitiveCounts) -> FloatArray:
    """Sum what the class has more of than the whole: half the sum of the absolute differences."""
    surplus = np.maximum(counts.share - expected(counts), 0.0)
    return np.asarray(np.add.reduceat(surplus, counts.indptr[:-1]))


def _divergence(counts: SensitiveCounts) -> FloatArray:
    share = counts.share
    summed = np.add.reduceat(share * np.log(share / expected(counts)), counts.indptr[:-1])
    return np.asarray(np.maximum(summed, 0.0))
