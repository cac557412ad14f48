"""Naive Bayes between parties: secure sums over rows; products with indicators of classes over columns.

The form over columns is that of Vaidya & Clifton (2004).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import log2
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import POSITIVE, FloatIn, IntIn, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import (
    Placed,
    codes,
    own_columns,
    placed_in_ranges,
    require_categories,
    require_ranges,
    sort_classes,
)
from discreet.parties.mining.models.horizontal import WIDE, NumbersProtocol, TotalFrames, Totals
from discreet.parties.mining.models.model_protocol import VALUE_COUNTS, Fitted, least_rows
from discreet.parties.mining.models.vertical import (
    PairProducts,
    VerticalClassifier,
    agree_on_rows,
    broadcast_frames,
    coarse_frames,
    exchange,
    row_frames,
    shared_frames,
)
from discreet.parties.ot.extension import transfer_setup_frames
from discreet.parties.protocol import Facts, Party, several_runs_leak
from discreet.parties.shares.coarse_tables import CoarseTable, coarse_local, coarse_tables, n_opened
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.shares.thresholds import ThresholdFrames
from discreet.parties.transcript import FrameShape

_IN_CLASSES = (
    "The model has the number of rows, the mean and the variance of each class, which show such counts in it."
)


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
    >>> protocol = HorizontalNaiveBayes(columns=("age",), target="ill", classes=(0, 1), min_count=1)
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

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        exact = not (self.categories or self.epsilon)
        joined = self.joined_leaks(self.columns) if self.categories else ()
        return (*((VALUE_COUNTS, _IN_CLASSES) if exact else ()), *joined, *self._sum_leaks)

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

    def _run(self, party: Party, rows: tuple[Any, Placed | list[Any]]) -> Fitted:
        labels, features = rows
        totals = Totals(party, self)
        few_values = ""
        if isinstance(features, Placed):
            model, counts = self._gaussian(totals, labels, features)
            few_values = self.few_values_caution(features.rows, self.columns) if self.holds_back else ""
        elif self.holds_back:
            return self._coarse(party, totals, labels, features)
        else:
            model, counts = self._categorical(totals, labels, features)
        return totals.fitted(model, self.count_cautions(self.class_caution(counts), few_values))

    def read(self, data: Any) -> tuple[Any, Placed | list[Any]]:
        """Return the classes of the party's rows, and their numbers on a grid or the codes of their categories."""
        *columns, target = own_columns(data, self.names_read)
        labels = codes(target, self.target, self.classes)
        if self.categories:
            pairs = zip(columns, self.columns, strict=True)
            return labels, [codes(column, name, self.categories[name]) for column, name in pairs]
        return labels, self.placed(columns, self.columns)

    def _coarse(self, party: Party, totals: Totals, labels: Any, features: list[Any]) -> Fitted:
        """Count classes, and in those with rows enough the categories, joined until no count is small."""
        n = len(self.classes)
        counts = totals.counts(np.bincount(labels, minlength=n))
        # The columns of a table must not be small as a whole, so rows of classes that are held back stay out.
        here = np.array(counts)[labels] > 0
        tables = []
        for coded, name in zip(features, self.columns, strict=True):
            size = len(self.categories[name])
            cells = np.bincount(coded[here] * n + labels[here], minlength=size * n)
            tables.append(cells.reshape(size, n))
        coarse = totals.tables(tables)
        party.reveal("opened counts", n_opened(coarse))
        model = fitted.categorical_bayes(
            np.array(counts, np.float64),
            [table.spread.T for table in coarse],
            self.classes,
            self.columns,
            self.alpha,
        )
        cautions = self.count_cautions(
            self.class_caution(counts),
            self.joined_caution(coarse, "categories"),
            self.dependent_caution(np.column_stack(features), self.columns),
        )
        return totals.fitted(model, cautions)

    def _categorical(self, totals: Totals, labels: Any, features: list[Any]) -> tuple[Any, list[int]]:
        n, sizes = len(self.classes), [len(self.categories[name]) for name in self.columns]
        cells = [np.bincount(labels, minlength=n)]
        for coded, size in zip(features, sizes, strict=True):
            cells.append(np.bincount(labels * size + coded, minlength=n * size))
        # A row is in one class, and in one cell of each column.
        touched = 1 + len(self.columns)
        sums = totals.add(np.concatenate(cells), share=Fraction(1), sensitivity=touched, touched=touched)
        counts = np.maximum(np.array(sums, np.float64), 0)
        ends = np.cumsum([n, *(n * size for size in sizes)]).tolist()
        tables = [counts[start:end].reshape(n, -1) for start, end in pairwise(ends)]
        model = fitted.categorical_bayes(counts[:n], tables, self.classes, self.columns, self.alpha)
        return model, sums[:n]

    def _gaussian(self, totals: Totals, labels: Any, placed: Placed) -> tuple[Any, list[int]]:
        """Sum counts, values and squares, each with a third of ε."""
        from discreet.kernels.parties.class_sums import class_sums

        # Counts, values and squares are three sums of the same rows, so their shares of ε add up to one.
        third, d = Fraction(1, 3), len(self.columns)
        most, most_squares = sum(placed.limits), sum(limit * limit for limit in placed.limits)
        class_counts = np.bincount(labels, minlength=len(self.classes))
        counts = totals.counts(class_counts, share=third, sensitivity=1, touched=1)
        here = np.array(counts)[labels] > 0 if self.holds_back else np.ones(len(labels), np.bool_)
        _, sums, squares = class_sums(placed.rows[here], labels[here], len(self.classes))
        opened = [
            totals.add(values, words=WIDE, share=third, sensitivity=change, touched=d)
            for values, change in ((sums.reshape(-1), most), (squares, most_squares))
        ]
        n = np.maximum(np.array(counts, np.float64), 0)
        values, squared = (np.array(total, np.float64).reshape(-1, d) for total in opened)
        model = fitted.gaussian_bayes(
            n, values * placed.step, squared * placed.step**2, self.classes, self.columns, self.var_smoothing
        )
        if self.epsilon:
            ends = np.array(placed.limits) * placed.step
            model.theta_ = np.clip(model.theta_, -ends, ends) + placed.middle
            # Noise can leave a variance of zero; a step of the grid is the least by which values differ.
            model.var_ = np.maximum(model.var_, placed.step**2)
        return model, counts


def require_bayes(protocol: Any, columns: Sequence[str]) -> None:
    """Raise a ParameterError unless the parameters of naive Bayes fit together."""
    sort_classes(protocol)
    least = least_rows(1)
    if protocol.holds_back and not protocol.categories and protocol.min_count < least:
        raise ParameterError(
            f"The 'min_count' parameter of {type(protocol).__name__} must be 1 or at least {least} for columns of "
            "numbers, as fewer values may follow from their mean and variance."
        )
    require(protocol, "alpha", protocol.alpha, POSITIVE)
    require(protocol, "var_smoothing", protocol.var_smoothing, FloatIn(0))
    if protocol.categories and set(protocol.categories) != set(columns):
        raise ParameterError("The 'categories' parameter must have all columns, or be left out for numbers.")
    for listed in protocol.categories.values():
        require_categories(protocol, "categories", listed)


@public
@dataclass(frozen=True, kw_only=True)
class VerticalNaiveBayes(VerticalClassifier):
    """Naive Bayes on columns of the same people at several parties, one of which holds the classes.

    The holder of the classes and each other party compute the scalar products of the indicators of the classes with
    the values and their squares, or with the indicators of the categories. These are the learned parameters, and
    nothing else is opened. The holder leaves out the rows of classes with fewer than ``min_count``, and where these are
    fewer together those of the smallest other class, as the number of rows is known. Neighboring categories are joined
    until no class has fewer rows of them, but for none at all. The output has a fitted
    ``GaussianNB`` or ``CategoricalNB``.

    Parameters
    ----------
    columns : mapping of str to list of str
        The columns of each party, by its name, without the target; a party that holds the target alone has none.
    target, holder : str
        The column of classes, and the party that has it.
    classes : tuple of str or int
        The public list of classes. Those that no row has are left out.
    categories : mapping of str to list
        The public categories of every column; leave it out for columns of numbers.
    ranges : mapping of str to pair of float
        The public range of every column of numbers; values beyond it are refused.
    bits : int
        The bits of a number.
    alpha, var_smoothing : float
        The smoothing, as in :class:`HorizontalNaiveBayes`.
    min_count : int
        Smaller counts than this one are not opened, but for zero; 1 opens all of them.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = VerticalNaiveBayes(
    ...     columns={"shop": ("age",), "bank": ()}, target="default", holder="bank", classes=(0, 1),
    ...     ranges={"age": (0, 128)}, min_count=1)
    >>> run = simulate(protocol, {"shop": {"age": [20, 30, 60, 60]}, "bank": {"default": [0, 0, 1, 1]}})
    >>> run.outputs["bank"].model.theta_.round(2).tolist()
    [[25.0], [60.0]]
    """

    name: ClassVar[str] = "vertical-naive-bayes"

    categories: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    bits: int = 20
    alpha: float = 1.0
    var_smoothing: float = 1e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bayes(self, self.all_names())
        require(self, "bits", self.bits, IntIn(2, 24))
        require_ranges(self, self.ranges, self.all_names(), all_of=not self.categories)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        joined = f"Every party learns which categories are joined because a count is below {self.min_count}."
        by_category = (
            "A party knows its own categories row by row: of a category whose rows are all in one class it learns the "
            "class of each, and it knows of rows that they are not in a class where a count is zero."
        )
        by_sums = (
            "A party knows its own columns row by row, and the model has their sums and sums of squares in each class: "
            "by trying which rows add up to these it may find the class of every row. Each column of its own has the "
            f"information for about {3 * self.bits} rows of two classes; 'min_count' does not prevent it."
        )
        return (
            "Every party learns the number of rows.",
            *self._class_leaks,
            (
                f"The holder of the classes knows who is in which class; of a class with {self.min_count} rows "
                "the model "
                f"shows it {'that person' if self.min_count == 1 else 'the mean and the variance of these people'}'s "
                "values."
            ),
            *((joined, *self.joined_leaks(self.all_names())) if self._joins else ()),
            *((by_category,) if self.categories else (by_sums, VALUE_COUNTS, _IN_CLASSES)),
            several_runs_leak(self.min_count),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run by its rows, and the counts that were opened."""
        facts = {"rows": 1, "opened counts": {}, **(revealed or {})}
        n = facts["rows"]
        yield from row_frames(names)
        for name in self._featured(names):
            pair, product = (name, self.holder), self._product(name, n)
            if not self._joins:
                yield from product.frames(pair)
                continue
            thresholds = ThresholdFrames(pair)
            yield from transfer_setup_frames(*pair) + shared_frames(pair, product) + thresholds.setup()
            shapes = [(len(self.categories[column]), len(self.classes)) for column in self.columns[name]]
            yield from coarse_frames(thresholds, shapes, facts["opened counts"].get(name, 0), n)
        yield from broadcast_frames(names, "class sums", self._n_sent(names))

    def read(self, data: Any, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return what a party's columns add to sums, a column each, and the indicators of classes at their holder."""
        names = self.names_of(name)
        columns, labels = self.read_classes(data, name)
        indicators = None if labels is None else np.eye(len(self.classes), dtype=np.int64)[labels]
        if self.categories:
            parts = [
                np.eye(len(self.categories[key]), dtype=np.int64)[codes(column, key, self.categories[key])]
                for key, column in zip(names, columns, strict=True)
            ]
            n = columns[0].shape[0] if columns else len(indicators if indicators is not None else ())
            return np.concatenate([np.zeros((n, 0), np.int64), *parts], axis=1), indicators
        rows = placed_in_ranges(columns, names, self.ranges, bits=self.bits, clip=False).rows
        if not names and indicators is not None:
            rows = np.zeros((len(indicators), 0), np.int64)
        return np.concatenate([rows, rows**2], axis=1), indicators

    def _run(self, party: Party, data: tuple[NDArray[np.int64], NDArray[np.int64] | None]) -> Fitted:
        added, indicators = data
        agree_on_rows(party, added.shape[0], self.min_count)
        if indicators is not None and self.holds_back:
            # The rows of classes that are left out become rows of zeros: they count nowhere.
            indicators = indicators * self.learned_classes(indicators.argmax(axis=1))
        sums: list[int] = []
        for name in self._featured(party.names):
            if party.name in (name, self.holder):
                values = added if party.name == name else indicators
                assert values is not None
                opened = self._class_sums(party, name, values)
                # Both parties learn these sums; the one whose columns they are of passes them on to the rest.
                sums = opened if party.name == name else sums
        if indicators is not None:
            local = added.astype(object).T @ indicators.astype(object)
            local_sums = local.reshape(-1).tolist()
            if self._joins and added.shape[1]:
                tables = self._by_column(local.astype(np.int64), party.name)
                local_sums = _flat([coarse_local(table, self.min_count) for table in tables])
            sums = [*indicators.sum(axis=0).tolist(), *local_sums]
        received = exchange(party, "class sums", sums, self._n_sent(party.names))
        counts = received[self.holder][: len(self.classes)]
        if self._joins:
            return self._coarse_model(party, received)
        model = self._model(party.names, received)
        own = self.names_of(party.name)
        few_values = "" if self.categories else self.few_values_caution(added[:, : len(own)], own)
        cautions = self.count_cautions(self.class_caution(counts), few_values)
        return Fitted(model, party.names, cautions=(*cautions, *self._subset_cautions(party, len(added))))

    def _subset_cautions(self, party: Party, n: int) -> tuple[str, ...]:
        """Return which parties may find the classes of all rows, by their own rows that add up to the opened sums.

        The sum and the sum of squares of a column have three times the bits of a value, in each class but the last,
        which follows. They are compared with the bits of all rows' classes.
        """
        if self.categories:
            return ()
        most, k = 3 * self.bits * (len(self.classes) - 1), len(self.classes)
        names = [
            name for name in self._featured(party.names) if n * log2(k) <= most * len(self.columns[name])
        ]
        return tuple(
            f"With {n} rows, the sums that were opened of the columns of '{name}' can be enough for it to find the "
            "class of every row, by trying which rows add up to them."
            for name in names
        )

    @property
    def _joins(self) -> bool:
        """Whether categories are joined."""
        return self.holds_back and bool(self.categories)

    def _class_sums(self, party: Party, name: str, values: NDArray[np.int64]) -> list[int]:
        """Return the sums of a party's columns by class, which it and the holder learn; of categories coarse tables."""
        ends = PairProducts(party, (name, self.holder), label=f"class sums {name}")
        product = self._product(name, values.shape[0])
        if not self._joins:
            return ends.opened(product, values).reshape(-1).tolist()
        tables = self._by_column(ends.shares(product, values), name)
        return _flat(coarse_tables(ends.judge(), tables, self.min_count, largest=values.shape[0]))

    def _by_column(self, rows: NDArray[Any], name: str) -> list[NDArray[Any]]:
        """Return the rows of sums, one for each category, split by the column they belong to."""
        sizes = [len(self.categories[column]) for column in self.columns[name]]
        return np.split(rows, np.cumsum(sizes)[:-1])

    def _featured(self, names: Sequence[str]) -> list[str]:
        """Return the parties with columns, without the holder of the classes."""
        return [name for name in names if name != self.holder and self.columns[name]]

    def _width(self, name: str) -> int:
        if self.categories:
            return sum(len(self.categories[column]) for column in self.columns[name])
        return 2 * len(self.columns[name])

    def _product(self, name: str, n: int) -> ScalarProduct:
        bits = 1 if self.categories else 2 * self.bits
        return ScalarProduct(
            n=n, first_bits=bits, second_bits=1, n_first=self._width(name), n_second=len(self.classes)
        )

    def _n_sent(self, names: Sequence[str]) -> dict[str, int]:
        """Return the number of sums that each party sends: its own, and the sizes of the classes from their holder."""
        n = len(self.classes)
        rows = {name: self._width(name) for name in names}
        # Of coarse tables the last place of the block travels with each row.
        return {name: n * (rows[name] + (name == self.holder)) + rows[name] * self._joins for name in names}

    def _coarse_model(self, party: Party, received: Mapping[str, list[int]]) -> Fitted:
        """Return the model from coarse tables: the sums that every party sent, and the last place of each block."""
        n, opened = len(self.classes), {}
        tables: list[CoarseTable] = []
        counts = np.array(received[self.holder][:n], np.float64)
        for name in party.names:
            width = self._width(name)
            sent = received[name][n if name == self.holder else 0 :]
            sums = np.array(sent[: width * n], np.int64).reshape(width, n)
            last = np.array(sent[width * n :], np.int64)
            parts = zip(self._by_column(sums, name), self._by_column(last, name), strict=True)
            coarse = [CoarseTable(*part) for part in parts if len(part[0])]
            opened[name] = n * sum(table.n_blocks for table in coarse)
            tables += coarse
        party.reveal("opened counts", opened)
        spread = [table.spread.T for table in tables]
        listed = self.all_names(party.names)
        model = fitted.categorical_bayes(counts, spread, self.classes, listed, self.alpha)
        cautions = (self.class_caution(counts.tolist()), self.joined_caution(tables, "categories"))
        return Fitted(model, party.names, cautions=self.count_cautions(*cautions))

    def _model(self, names: Sequence[str], received: Mapping[str, list[int]]) -> Any:
        """Return the model from what every party sent: a row for all that was summed, a column for each class."""
        n = len(self.classes)
        counts = np.array(received[self.holder][:n], np.float64)
        sums = {
            name: np.array(received[name][n if name == self.holder else 0 :], np.float64).reshape(-1, n)
            for name in names
        }
        listed = self.all_names(names)
        if self.categories:
            rows = np.concatenate([sums[name] for name in names])
            ends = np.cumsum([len(self.categories[column]) for column in listed])[:-1]
            tables = [part.T for part in np.split(rows, ends)]
            return fitted.categorical_bayes(counts, tables, self.classes, listed, self.alpha)
        grid = placed_in_ranges([np.zeros(0)] * len(listed), listed, self.ranges, bits=self.bits, clip=False)
        first, second = (
            np.concatenate([np.split(sums[name], 2)[which] for name in names]).T for which in (0, 1)
        )
        model = fitted.gaussian_bayes(
            counts, first * grid.step, second * grid.step**2, self.classes, listed, self.var_smoothing
        )
        model.theta_ = model.theta_ + grid.middle
        return model


def _flat(tables: Sequence[CoarseTable]) -> list[int]:
    """Return the counts of coarse tables, and the last places of their blocks, as integers one after the other."""
    counts = [value for table in tables for value in table.counts.reshape(-1).tolist()]
    return [*counts, *(last for table in tables for last in table.last.tolist())]
