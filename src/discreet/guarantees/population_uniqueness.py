"""A limit on the share of rows that are unique in the population, estimated from the class sizes of a sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.guarantee import ClassRule, Guarantee, Relation
from discreet.core.params import Constraints, FloatIn, OneOf
from discreet.core.tables.groups import Groups
from discreet.core.tables.population_models import (
    class_size_histogram,
    dankar_uniques,
    pitman_uniques,
    snb_uniques,
    zayatz_uniques,
)
from discreet.core.verdict import Verdict

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook

_MODELS = {"pitman": pitman_uniques, "zayatz": zayatz_uniques, "snb": snb_uniques}
_DUST = 1e-9
"""What rounding may add to a share, relative to it."""


@public
@dataclass(frozen=True, repr=False)
class PopulationUniqueness(Guarantee):
    """The share of rows that are unique in the population is estimated to be at most a limit.

    The released rows are taken for a simple random sample of a population, a share ``sampling`` of it. A model
    estimates from the sizes of their classes how many people of the population are alone with their values; a row that
    is not alone among those released is not, so that the estimate is never above their share. It is an estimate of a
    model, no bound: where rows are no random sample, or people are known to be in it, `MaxRisk` says more.

    It is about the whole table: searches for levels leave out classes of one row, as many as it takes. Searches that
    judge classes one by one keep it by leaving no row alone.

    Parameters
    ----------
    highest
        The largest estimated share of rows that are unique in the population; 1 limits nothing.
    sampling
        The share of the population that the released rows are.
    model : {"dankar", "pitman", "zayatz", "snb"}
        The model. Dankar's rule takes Pitman's for samples of up to a tenth of the population, and the lower one of
        Zayatz's and the shifted negative binomial for larger ones. Where a model has no solution, Zayatz's is taken.

    References
    ----------
    F. Dankar, K. El Emam, A. Neisa, T. Roffey: Estimating the re-identification risk of clinical data sets. BMC Medical
    Informatics and Decision Making 12, 2012.

    Examples
    --------
    Four of ten rows are alone. In a population of a hundred, Zayatz expects 17 % of the people to be.

    >>> from discreet.core.tables.groups import Groups
    >>> classes = Groups(sizes=np.array([1, 1, 1, 1, 2, 2, 2]))
    >>> print(PopulationUniqueness(0.1, sampling=0.1, model="zayatz").check(classes).worst.__round__(3))
    0.169
    >>> PopulationUniqueness(0.1, sampling=0.1, model="zayatz").together(classes)
    array([False, False,  True,  True,  True,  True,  True])
    """

    highest: float
    sampling: float = field(kw_only=True)
    model: Literal["dankar", "pitman", "zayatz", "snb"] = field(default="dankar", kw_only=True)

    relation: ClassVar[Relation] = "<="
    # Joining classes may raise an estimate, since all sizes have a part in it.
    monotone: ClassVar[bool] = False
    table_wide: ClassVar[bool] = True
    measured: ClassVar[str] = "estimated share of rows unique in the population"
    constraints: ClassVar[Constraints] = {
        "highest": FloatIn(0, 1),
        "sampling": FloatIn(0, 1, closed="right"),
        "model": OneOf(("dankar", "pitman", "zayatz", "snb")),
    }

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Measure nothing by itself: no table says which share of a population it is."""
        del column, population
        yield from ()

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...] | None:
        """Return None: the whole table decides."""
        del sensitive
        return None

    def measure(self, groups: Groups) -> FloatArray:
        """Return for every class how many of its rows may be unique in a population: all of one, or none."""
        return np.asarray(groups.sizes == 1, np.float64)

    def together(self, groups: Groups) -> BoolArray:
        """Return which classes of a whole table to keep so that they keep the guarantee together.

        Classes of one row go: the fewest with which the estimate is low enough, where it falls with each that goes.
        """
        kept = np.ones(groups.n_groups, np.bool_)
        if self._is_kept(groups):
            return kept
        alone = np.flatnonzero(groups.sizes == 1)
        if groups.repeats is not None:
            kept[alone] = False
            return kept
        # Without ``enough`` of them so few rows are alone that no model is needed; ``few`` are never enough.
        n_rows = groups.n_rows
        few, enough = 0, min(math.ceil((alone.size - self.highest * n_rows) / (1 - self.highest)), alone.size)
        while enough - few > 1:
            middle = (few + enough) // 2
            kept[alone] = np.arange(alone.size) >= middle
            few, enough = (few, middle) if self._is_kept(groups.only(kept)) else (middle, enough)
        kept[alone] = np.arange(alone.size) >= enough
        return kept

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        model = {"dankar": "Dankar's rule", "pitman": "Pitman's model", "zayatz": "Zayatz's model"}
        return (
            f"At most {self.highest:.4g} of the rows (as a share) are unique in the population, as "
            f"{model.get(self.model, 'the shifted negative binomial')} estimates it for rows that are a random "
            f"{self.sampling:.4g} of the population."
        )

    def estimate(self, groups: Groups) -> float:
        """Estimate the share of rows that are unique in the population."""
        sizes = class_size_histogram(groups)
        n_rows = int(sizes.rows.sum())
        alone = int(sizes.classes[sizes.sizes == 1].sum())
        population_size = max(round(n_rows / self.sampling), n_rows)
        if alone == 0 or population_size == n_rows:
            return alone / max(n_rows, 1)
        if self.model == "dankar":
            unique: float | None = dankar_uniques(sizes, population_size)[0]
        else:
            unique = _MODELS[self.model](sizes, population_size)
            unique = zayatz_uniques(sizes, population_size) if unique is None else unique
        return min(float(unique) / population_size, alone / n_rows)

    def _is_kept(self, groups: Groups) -> bool:
        limit, n_rows = self.highest * (1 + _DUST), groups.n_rows
        n_alone = int(groups.rows[groups.sizes == 1].sum())
        # The estimate is at most the share of rows that are alone, which is known without a model.
        return n_alone <= limit * n_rows or self.estimate(groups) <= limit

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        """Judge the whole table."""
        kept, whole = ~judged, groups.only(judged)
        kept[judged] = self.together(whole)
        verdict = self._verdict(self.measure(groups), kept, groups, judged)
        return replace(verdict, worst=self.estimate(whole) if judged.any() else math.nan), kept

    def _passes(self, measure: FloatArray, groups: Groups) -> BoolArray:
        return np.asarray((groups.sizes > 1) | (self.highest == 1))
