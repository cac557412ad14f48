"""Naive Bayes over columns of the same people: products of values and indicators of classes (Vaidya & Clifton 2004)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.params import IntIn, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import codes, in_ranges, require_ranges
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.naive_bayes import require_bayes
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
from discreet.parties.ot.extension import setup_frames
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.bit_products import pair_frames
from discreet.parties.shares.coarse_tables import CoarseTable, coarse_local, coarse_tables
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.transcript import FrameShape


@public
@dataclass(frozen=True, kw_only=True)
class VerticalNaiveBayes(VerticalClassifier):
    """Naive Bayes on columns of the same people at several parties, one of which holds the classes.

    The holder of the classes and each other party compute the scalar products of the indicators of the classes with
    the values and their squares, or with the indicators of the categories. These are the learned parameters, and
    nothing else is opened. The holder leaves out the rows of classes with fewer than ``min_count``, and neighboring
    categories are joined until no class has fewer rows of them, but for none at all. The output has a fitted
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
    ...     ranges={"age": (0, 128)}, min_count=2)
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
        return (
            "Every party learns the number of rows.",
            (
                f"The holder of the classes knows who is in which class; of a class with {self.min_count} rows "
                "the model "
                f"shows it {'that person' if self.min_count == 1 else 'the mean and the variance of these people'}'s "
                "values."
            ),
            *((joined,) if self.holds_back and self.categories else ()),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run over so many rows."""
        facts = {"rows": 1, "opened counts": {}, **(revealed or {})}
        n = facts["rows"]
        yield from row_frames(names)
        for name in self._featured(names):
            pair, product = (name, self.holder), self._product(name, n)
            if not self._joins:
                yield from product.frames(pair)
                continue
            yield from setup_frames(*pair) + shared_frames(pair, product) + pair_frames(pair)
            shapes = [(len(self.categories[column]), len(self.classes)) for column in self.columns[name]]
            yield from coarse_frames(pair, shapes, facts["opened counts"].get(name, 0), n)
        yield from broadcast_frames(names, "class sums", self._n_sent(names))

    def read(self, data: Any, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return what a party's columns add to sums, a column each, and the indicators of classes at their holder."""
        own = self.names_of(name)
        columns, labels = self.read_classes(data, name)
        indicators = None if labels is None else np.eye(len(self.classes), dtype=np.int64)[labels]
        if self.categories:
            parts = [
                np.eye(len(self.categories[one]), dtype=np.int64)[codes(column, one, self.categories[one])]
                for one, column in zip(own, columns, strict=True)
            ]
            n = columns[0].shape[0] if columns else len(indicators if indicators is not None else ())
            return np.concatenate([np.zeros((n, 0), np.int64), *parts], axis=1), indicators
        rows = in_ranges(columns, own, self.ranges, bits=self.bits, clip=False).rows
        if not own and indicators is not None:
            rows = np.zeros((len(indicators), 0), np.int64)
        return np.concatenate([rows, rows**2], axis=1), indicators

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its columns."""
        self.check_parties(party.names)
        added, indicators = self.read(data, party.name)
        agree_on_rows(party, added.shape[0], self.min_count)
        if indicators is not None and self.holds_back:
            indicators = indicators * (indicators.sum(axis=0) >= self.min_count)
        own: list[int] = []
        for name in self._featured(party.names):
            if party.name in (name, self.holder):
                values = added if party.name == name else indicators
                assert values is not None
                found = self._class_sums(party, name, values)
                own = found if party.name == name else own
        if indicators is not None:
            local = added.astype(object).T @ indicators.astype(object)
            sums = local.reshape(-1).tolist()
            if self._joins and added.shape[1]:
                tables = self._by_column(local.astype(np.int64), party.name)
                sums = _flat([coarse_local(table, self.min_count) for table in tables])
            own = [*indicators.sum(axis=0).tolist(), *sums]
        received = exchange(party, "class sums", own, self._n_sent(party.names))
        counts = received[self.holder][: len(self.classes)]
        if self._joins:
            return self._coarse_model(party, received)
        model = self._model(party.names, received)
        return Fitted(model, party.names, cautions=self.count_cautions(self.class_caution(counts)))

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
            return sum(len(self.categories[one]) for one in self.columns[name])
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
            found = [CoarseTable(*part) for part in parts if len(part[0])]
            opened[name] = n * sum(table.n_blocks for table in found)
            tables += found
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
            ends = np.cumsum([len(self.categories[one]) for one in listed])[:-1]
            tables = [part.T for part in np.split(rows, ends)]
            return fitted.categorical_bayes(counts, tables, self.classes, listed, self.alpha)
        grid = in_ranges([np.zeros(0)] * len(listed), listed, self.ranges, bits=self.bits, clip=False)
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
    return [*counts, *(place for table in tables for place in table.last.tolist())]
