"""Naive Bayes over rows that are split between parties: one secure sum of counts, sums and sums of squares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import POSITIVE, FloatIn, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import (
    Placed,
    codes,
    own_columns,
    require_categories,
    require_ranges,
    sort_classes,
)
from discreet.parties.mining.models.horizontal import NumbersProtocol
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.totals import WIDE, TotalFrames, Totals
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.coarse_tables import n_opened
from discreet.parties.transcript import FrameShape


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalNaiveBayes(NumbersProtocol):
    """Naive Bayes learned from the rows of all parties.

    Columns of numbers make a ``GaussianNB``: the sums and sums of squares of each class are exact, of values rounded to
    multiples of 2^−``fraction_bits``. Columns whose ``categories`` are named make a ``CategoricalNB`` that codes each
    category by its place. Classes that no row has, or fewer than ``min_count``, are left out with their rows.
    Neighboring categories are joined until no class has fewer rows of them, but for none at all; joined categories
    count alike.

    Parameters
    ----------
    columns : tuple of str
        The columns to learn from: all of numbers, or all of categories.
    target : str
        The column of classes.
    classes : tuple of str or int
        The public list of classes.
    categories : mapping of str to list
        The public categories of every column; leave it out for columns of numbers.
    alpha : float
        The smoothing of counts of categories.
    var_smoothing : float
        The share of the largest variance that is added to all variances.
    ranges : mapping of str to pair of float
        The public range of every column of numbers, which ``epsilon`` needs; values are clipped to it.
    fraction_bits : int
        The bits after the binary point of numbers; without ``epsilon``.
    epsilon, min_honest, threshold, min_count, two_parties_see_each_other
        As in every protocol of sums.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalNaiveBayes(columns=("age",), target="ill", classes=(0, 1), min_count=2)
    >>> run = simulate(protocol, {
    ...     "clinic": {"age": [20, 40], "ill": [0, 1]}, "practice": {"age": [30, 50], "ill": [0, 1]},
    ...     "surgery": {"age": [], "ill": []}})
    >>> run.outputs["clinic"].model.theta_.tolist()
    [[25.0], [45.0]]
    """

    name: ClassVar[str] = "naive-bayes"

    target: str
    classes: tuple[Any, ...]
    categories: Mapping[str, Any] = field(default_factory=dict)
    alpha: float = 1.0
    var_smoothing: float = 1e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bayes(self, self.columns)
        all_of = bool(self.epsilon) and not self.categories
        require_ranges(self, self.ranges, self.columns, all_of=all_of)

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a complete run."""
        n, d, frames = len(self.classes), len(self.columns), TotalFrames(names, self)
        sizes = [len(self.categories[name]) for name in self.columns] if self.categories else []
        if self.categories and not self.holds_back:
            yield from frames.add(n * (1 + sum(sizes)))
            return
        yield from frames.counts(n)
        if self.categories:
            yield from frames.tables([(size, n) for size in sizes], (revealed or {}).get("opened counts", 0))
        else:
            yield from frames.add(WIDE * n * d) + frames.add(WIDE * n * d)

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its rows."""
        self.check_parties(party.names)
        labels, held = self.read(data)
        totals = Totals(party, self)
        if isinstance(held, Placed):
            model, counts = self._gaussian(totals, labels, held)
        elif self.holds_back:
            return self._coarse(party, totals, labels, held)
        else:
            model, counts = self._categorical(totals, labels, held)
        return totals.fitted(model, self.count_cautions(self.class_caution(counts)))

    def read(self, data: Any) -> tuple[Any, Placed | list[Any]]:
        """Return the classes of the own rows, and their numbers on a grid or the codes of their categories."""
        *columns, target = own_columns(data, self.names_read)
        labels = codes(target, self.target, self.classes)
        if self.categories:
            pairs = zip(columns, self.columns, strict=True)
            return labels, [codes(column, name, self.categories[name]) for column, name in pairs]
        return labels, self.placed(columns, self.columns)

    def _coarse(self, party: Party, totals: Totals, labels: Any, held: list[Any]) -> Fitted:
        """Count classes, and in those with rows enough the categories, joined until no count is small."""
        n = len(self.classes)
        counts = totals.counts(np.bincount(labels, minlength=n))
        here = np.array(counts)[labels] > 0
        tables = []
        for coded, name in zip(held, self.columns, strict=True):
            size = len(self.categories[name])
            cells = np.bincount(coded[here] * n + labels[here], minlength=size * n)
            tables.append(cells.reshape(size, n))
        found = totals.tables(tables)
        party.reveal("opened counts", n_opened(found))
        model = fitted.categorical_bayes(
            np.array(counts, np.float64),
            [table.spread.T for table in found],
            self.classes,
            self.columns,
            self.alpha,
        )
        cautions = self.count_cautions(self.class_caution(counts), self.joined_caution(found, "categories"))
        return totals.fitted(model, cautions)

    def _categorical(self, totals: Totals, labels: Any, held: list[Any]) -> tuple[Any, list[int]]:
        n, sizes = len(self.classes), [len(self.categories[name]) for name in self.columns]
        own = [np.bincount(labels, minlength=n)]
        for coded, size in zip(held, sizes, strict=True):
            own.append(np.bincount(labels * size + coded, minlength=n * size))
        touched = 1 + len(self.columns)
        found = totals.add(np.concatenate(own), share=Fraction(1), sensitivity=touched, touched=touched)
        counts = np.maximum(np.array(found, np.float64), 0)
        ends = np.cumsum([n, *(n * size for size in sizes)]).tolist()
        tables = [counts[start:end].reshape(n, -1) for start, end in pairwise(ends)]
        model = fitted.categorical_bayes(counts[:n], tables, self.classes, self.columns, self.alpha)
        return model, found[:n]

    def _gaussian(self, totals: Totals, labels: Any, placed: Placed) -> tuple[Any, list[int]]:
        """Sum counts, values and squares, each with a third of ε."""
        from discreet.kernels.parties.class_sums import class_sums

        third, d = Fraction(1, 3), len(self.columns)
        most, most_squares = sum(placed.limits), sum(limit * limit for limit in placed.limits)
        own = np.bincount(labels, minlength=len(self.classes))
        counts = totals.counts(own, share=third, sensitivity=1, touched=1)
        here = np.array(counts)[labels] > 0 if self.holds_back else np.ones(len(labels), np.bool_)
        _, sums, squares = class_sums(placed.rows[here], labels[here], len(self.classes))
        found = [
            totals.add(own, words=WIDE, share=third, sensitivity=change, touched=d)
            for own, change in ((sums.reshape(-1), most), (squares, most_squares))
        ]
        n = np.maximum(np.array(counts, np.float64), 0)
        values, squared = (np.array(one, np.float64).reshape(-1, d) for one in found)
        model = fitted.gaussian_bayes(
            n, values * placed.step, squared * placed.step**2, self.classes, self.columns, self.var_smoothing
        )
        if self.epsilon:
            ends = np.array(placed.limits) * placed.step
            model.theta_ = np.clip(model.theta_, -ends, ends) + placed.middle
            model.var_ = np.maximum(model.var_, placed.step**2)
        return model, counts


def require_bayes(protocol: Any, columns: Sequence[str]) -> None:
    """Raise a ParameterError unless the parameters of naive Bayes fit together."""
    sort_classes(protocol)
    require(protocol, "alpha", protocol.alpha, POSITIVE)
    require(protocol, "var_smoothing", protocol.var_smoothing, FloatIn(0))
    if protocol.categories and set(protocol.categories) != set(columns):
        raise ParameterError("The 'categories' parameter must have all columns, or be left out for numbers.")
    for listed in protocol.categories.values():
        require_categories(protocol, "categories", listed)
