"""Limits on the risk of a whole table: highest, mean, unique, and unique in the population, as ARX states them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.guarantee import ClassRule, Guarantee, Relation
from discreet.core.params import Constraints, FloatIn, OneOf
from discreet.core.tables.groups import Groups
from discreet.core.tables.population_models import (
    ClassSizes,
    class_size_histogram,
    dankar_uniques,
    pitman_uniques,
    snb_uniques,
    zayatz_uniques,
)
from discreet.core.verdict import Verdict

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook

_DUST = 1e-9
"""What rounding may add to a reciprocal or to a share of the rows."""
_MODELS: Mapping[str, Callable[[ClassSizes, int], float | None]] = {
    "pitman": pitman_uniques,
    "zayatz": zayatz_uniques,
    "snb": snb_uniques,
}


@public
@dataclass(frozen=True, repr=False)
class MaxRisk(Guarantee):
    """The risk of being found again is limited: the highest, the mean, and the share of rows alone in their class.

    The risk of a row is 1 / class size, which is that of a prosecutor. The mean over the rows is the number of classes
    by the number of rows. The last two are about the whole table: searches for levels leave out the smallest classes
    until the rest keeps them, as ARX does. Searches that judge classes one by one keep them by the size that every
    class may have with certainty, which costs as much as k-anonymity.

    Parameters
    ----------
    highest
        The highest risk of any row; 0.2 is 5-anonymity.
    mean
        The highest mean risk of the rows; 1 limits nothing.
    unique
        The largest share of rows that are alone in their class; 1 limits nothing.

    References
    ----------
    K. El Emam: Guide to the De-Identification of Personal Health Information. CRC Press 2013.

    Examples
    --------
    A class of one row and a class of five: a third of the rows is found again on average.

    >>> from discreet.core.tables.groups import Groups
    >>> classes = Groups(sizes=np.array([1, 5]))
    >>> MaxRisk(1, mean=0.34).check(classes).ok, MaxRisk(1, mean=0.3).check(classes).ok
    (True, False)
    >>> MaxRisk(1, mean=0.3).together(classes)
    array([False,  True])
    """

    highest: float
    mean: float = field(default=1.0, kw_only=True)
    unique: float = field(default=1.0, kw_only=True)

    relation: ClassVar[Relation] = "<="
    monotone: ClassVar[bool] = True
    measured: ClassVar[str] = "risk of a row"
    constraints: ClassVar[Constraints] = {
        "highest": FloatIn(0, 1, closed="right"),
        "mean": FloatIn(0, 1, closed="right"),
        "unique": FloatIn(0, 1),
    }

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Measure nothing by itself: the highest risk is that of k-anonymity."""
        del column, population
        yield from ()

    @property
    def smallest(self) -> int:
        """The least size of a class by the highest risk."""
        return _size(self.highest)

    @property
    def by_size(self) -> bool:  # type: ignore[override]  # as far as classes are judged one by one
        """Whether the size of a class decides: where the mean and uniques follow from the highest risk."""
        return self._certain_size == self.smallest

    @property
    def table_wide(self) -> bool:  # type: ignore[override]  # where the mean or uniques ask for more
        """Whether the mean or the uniques, which all classes make together, do not follow from the highest risk."""
        return not self.by_size

    @property
    def _certain_size(self) -> int:
        """The least size of all classes with which the mean and the uniques are certain as well."""
        return max(self.smallest, _size(self.mean), 2 if self.unique < 1 else 1)

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...] | None:
        """Return no rules where sizes decide; None where the whole table does."""
        del sensitive
        return () if self.by_size else None

    def measure(self, groups: Groups) -> FloatArray:
        """Return the risk of the rows of every class."""
        return np.asarray(1 / groups.sizes)

    def together(self, groups: Groups) -> BoolArray:
        """Return which classes of a whole table to keep so that they keep the guarantee together; the smallest go."""
        kept = groups.sizes >= self.smallest
        n_singletons = int(np.count_nonzero(groups.sizes[kept] == 1))
        order = np.flatnonzero(kept)[np.argsort(groups.sizes[kept], kind="stable")]
        kept[order[: self._n_over(groups.sizes[order], n_singletons)]] = False
        return kept

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail: those of classes that are too small in any table."""
        del moved
        return np.where(groups.sizes < self.smallest, groups.sizes, 0).astype(np.float64)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        mean = f", and of at most {self.mean:.4g} on average" if self.mean < 1 else ""
        alone = f" At most {self.unique:.4g} of the rows (as a share) are alone in their class."
        highest = f"By its quasi-identifiers, each row is found again with a risk of at most {self.highest:.4g}{mean}."
        return highest + (alone if self.unique < 1 else "")

    def _n_over(self, sizes: IntArray, n_singletons: int) -> int:
        """Return how many of the smallest classes must go, given their sizes in ascending order."""
        # Without the j smallest classes, n - j classes of the rows after them are left. The mean falls with each class
        # that goes as long as it is smaller than the average, so the first j that does is the least.
        n, left = sizes.size, np.append(np.cumsum(sizes[::-1])[::-1], 0)
        gone = np.arange(n + 1)
        over = (n - gone) > left * (self.mean + _DUST)
        over |= np.maximum(n_singletons - gone, 0) > left * (self.unique + _DUST)
        return int(np.flatnonzero(~over)[0])

    def _passes(self, measure: FloatArray, groups: Groups) -> BoolArray:
        return np.asarray(groups.sizes >= self._certain_size)

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        """Judge the whole table, with a part for each limit."""
        measure, kept = self.measure(groups), ~judged
        if judged.any():
            kept[judged] = self.together(groups.only(judged))
        verdict = self._verdict(measure, kept, groups, judged)
        parts = [self._part(name, groups, judged) for name in ("highest", "mean", "unique")]
        return replace(verdict, parts=tuple(part for part in parts if part is not None)), kept

    def _part(self, name: str, groups: Groups, judged: BoolArray) -> Verdict | None:
        """Return the verdict on one limit alone; None for one that limits nothing."""
        bound: float = getattr(self, name)
        if name != "highest" and bound == 1:
            return None
        only = MaxRisk(**{"highest": 1.0, name: bound})
        sizes, kept = groups.sizes[judged], ~judged
        if judged.any():
            kept[judged] = only.together(groups.only(judged))
        verdict = only._verdict(self.measure(groups), kept, groups, judged)
        worst, total = verdict.worst, max(int(sizes.sum()), 1)
        if name == "mean" and sizes.size:
            worst = sizes.size / total
        elif name == "unique" and sizes.size:
            worst = int(np.count_nonzero(sizes == 1)) / total
        words = {"mean": "mean risk of the rows", "unique": "share of rows alone in their class"}
        return replace(verdict, measure=words.get(name, self.measured), worst=worst, bound=bound)


def _size(risk: float) -> int:
    """Return the least size of a class whose rows have at most some risk."""
    # A reciprocal that is whole but for rounding is that size.
    return max(math.ceil(1 / risk - _DUST / risk), 1)


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
            unique = dankar_uniques(sizes, population_size)[0]
        else:
            solved = _MODELS[self.model](sizes, population_size)
            unique = zayatz_uniques(sizes, population_size) if solved is None else solved
        return min(unique / population_size, alone / n_rows)

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
