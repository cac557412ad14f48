"""k-map and δ-presence: a release judged by a population (Sweeney 2002; Nergiz et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.guarantee import Guarantee, Relation, compare
from discreet.core.params import Constraints, FloatIn, IntIn
from discreet.core.tables.groups import Groups, NestedCover, SharedCover
from discreet.core.verdict import Verdict

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook


class Given:
    """Anything but None."""

    def admits(self, value: object) -> bool:
        """Return whether the value is not None."""
        return value is not None

    def __str__(self) -> str:
        return "a table"


@public
@dataclass(frozen=True, repr=False)
class KMap(Guarantee):
    """The published cells of every class fit at least ``k`` people of a population.

    Parameters
    ----------
    k
        The least number of people a class may describe.
    population
        The table of the population, with the quasi-identifying columns of the judged table.

    References
    ----------
    L. Sweeney: Computational disclosure control. PhD thesis, MIT 2001.
    """

    k: int
    population: object

    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "matching people of the population"
    constraints: ClassVar[Constraints] = {"k": IntIn(1), "population": Given()}

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Measure against the population, where there is one."""
        if column is None and population is not None:
            yield "", cls(1, population)

    def measure(self, groups: Groups) -> FloatArray:
        """Count for every class the people of the population its cells fit."""
        if groups.cover is None:
            raise SchemaError(
                "KMap needs to know what the classes describe: judge a table or a release with "
                "quasi-identifying columns, not bare classes."
            )
        return groups.cover.matches(self.population).astype(np.float64)

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail: all of it, where finer labels describe fewer people.

        They need not: a population that lacks a hierarchy cannot read its labels, which describe nobody then.
        """
        if isinstance(groups.cover, NestedCover) and groups.cover.is_nested(self.population):
            return np.where(self.holds(groups), 0.0, groups.sizes)
        return super().failing_at_least(groups, moved=moved)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        people = "person" if self.k == 1 else "people"
        return f"The published values of every class fit at least {self.k} {people} of the population."

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as plain data for JSON, without the population."""
        return {"guarantee": "KMap", "k": self.k}

    def __repr__(self) -> str:
        return f"KMap(k={self.k}, population=<{type(self.population).__name__}>)"


@public
@dataclass(frozen=True, repr=False)
class DeltaPresence(Guarantee):
    """Of the people of a population whom a class describes, a share between two bounds is in the release.

    That share is the probability with which somebody who has the population's table believes that a person is in the
    release, where the released rows are rows of the population and no person fits two classes. Classes that share
    people count as certain (1). With ``delta_min`` above 0, people of the population whom no class describes break the
    guarantee as well: they are known not to be in the release.

    It is not monotone: a class that takes in more released rows describes more of them. Without suppression, joining
    classes that keep the upper bound keeps it.

    Parameters
    ----------
    delta_min
        The least share; 0 where it may be known that a person is not in the release.
    delta_max
        The largest share.
    population
        The table of the population, with the quasi-identifying columns of the judged table.

    References
    ----------
    M. E. Nergiz, M. Atzori, C. Clifton: Hiding the presence of individuals from shared databases. SIGMOD 2007.

    Examples
    --------
    Of the four people in their twenties two are in the release, of the three in their thirties all:

    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> population = Table(pa.table({"age": [21, 23, 25, 28, 31, 33, 36]}), {"age": quasi()})
    >>> released = Table(pa.table({"age": ["[20, 30)"] * 2 + ["[30, 40)"] * 3}), {"age": quasi()})
    >>> DeltaPresence(0.1, 0.5, population).measure(released.groups())
    array([0.5, 1. ])
    """

    delta_min: float
    delta_max: float
    population: object

    letter: ClassVar[str] = "delta_max"
    relation: ClassVar[Relation] = "<="
    measured: ClassVar[str] = "share of the population's matching people"
    constraints: ClassVar[Constraints] = {
        "delta_min": FloatIn(0, 1),
        "delta_max": FloatIn(0, 1, closed="right"),
        "population": Given(),
    }

    def __post_init__(self) -> None:
        """Check the parameters, and that the bounds lie in order."""
        super().__post_init__()
        if self.delta_min > self.delta_max:
            raise ParameterError("The 'delta_min' parameter of DeltaPresence must be at most delta_max.")

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Measure against the population, where there is one."""
        if column is None and population is not None:
            yield "", cls(0.0, 1.0, population)

    @property
    def joinable(self) -> bool:  # type: ignore[override]  # joined cells may describe people that no class did
        """Whether only the upper bound matters, which joined classes keep."""
        return self.delta_min == 0

    @property
    def bound(self) -> float:
        """The upper bound."""
        return self.delta_max

    def measure(self, groups: Groups) -> FloatArray:
        """Compute for every class its rows as a share of the people of the population its cells fit."""
        if groups.cover is None:
            raise SchemaError(
                "DeltaPresence needs to know what the classes describe: judge a table or a release with "
                "quasi-identifying columns, not bare classes."
            )
        matches = groups.cover.matches(self.population)
        # Rows that nobody in the population fits are not drawn from it, so nothing can be said of them.
        share = np.divide(groups.sizes, matches, out=np.full(matches.size, np.inf), where=matches > 0)
        return np.asarray(np.where(self._shared(groups)[0], np.maximum(share, 1.0), share))

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"Of the people of the population whom a class describes, between {self.delta_min:g} and "
            f"{self.delta_max:g} are in the release."
        )

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as plain data for JSON, without the population."""
        return {"guarantee": "DeltaPresence", "delta_min": self.delta_min, "delta_max": self.delta_max}

    def __repr__(self) -> str:
        people = f"population=<{type(self.population).__name__}>"
        return f"DeltaPresence(delta_min={self.delta_min!r}, delta_max={self.delta_max!r}, {people})"

    def _shared(self, groups: Groups) -> tuple[BoolArray, int]:
        """Return which classes share people with others, and how many people no class describes, where that shows."""
        if isinstance(groups.cover, SharedCover):
            return groups.cover.shared(self.population)
        return np.zeros(groups.n_groups, np.bool_), 0

    def _passes(self, measure: FloatArray, groups: Groups) -> BoolArray:
        passes = compare(measure, "<=", self.delta_max, self.tolerance)
        if self.delta_min == 0:
            return passes
        shared, n_missed = self._shared(groups)
        passes &= compare(measure, ">=", self.delta_min, self.tolerance) & ~shared
        return passes if n_missed == 0 else np.zeros_like(passes)

    def _verdict(self, measure: FloatArray, holds: BoolArray, groups: Groups, judged: BoolArray) -> Verdict:
        """Return the verdict; where the upper bound holds and the lower does not, by the lower one."""
        verdict = super()._verdict(measure, holds, groups, judged)
        if verdict.ok or not compare(measure[judged], "<=", self.delta_max, self.tolerance).all():
            return verdict
        _, n_missed = self._shared(groups)
        least = 0.0 if n_missed else float(measure[judged].min())
        return replace(verdict, worst=least, relation=">=", bound=self.delta_min)
