"""k-map: every class describes at least k people of a population (Sweeney 2001)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraints, IntIn
from discreet.core.tables.groups import Groups

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

    @property
    def bound(self) -> float:
        """The bound k."""
        return float(self.k)

    def measure(self, groups: Groups) -> FloatArray:
        """Count for every class the people of the population its cells fit."""
        if groups.cover is None:
            raise SchemaError(
                "KMap needs to know what the classes describe: judge a table or a release with "
                "quasi-identifying columns, not bare classes."
            )
        return groups.cover.matches(self.population).astype(np.float64)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        people = "person" if self.k == 1 else "people"
        return f"The published values of every class fit at least {self.k} {people} of the population."

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as plain data for JSON, without the population."""
        return {"guarantee": "KMap", "k": self.k}

    def __repr__(self) -> str:
        return f"KMap(k={self.k}, population=<{type(self.population).__name__}>)"
