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
    exchange,
    row_frames,
)
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.transcript import FrameShape


@public
@dataclass(frozen=True, kw_only=True)
class VerticalNaiveBayes(VerticalClassifier):
    """Naive Bayes on columns of the same people at several parties, one of which holds the classes.

    The holder of the classes and each other party compute the scalar products of the indicators of the classes with
    the values and their squares, or with the indicators of the categories. These are the learned parameters, and
    nothing else is opened. The output has a fitted ``GaussianNB`` or ``CategoricalNB``.

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

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = VerticalNaiveBayes(
    ...     columns={"shop": ("age",), "bank": ()}, target="default", holder="bank", classes=(0, 1),
    ...     ranges={"age": (0, 128)})
    >>> run = simulate(protocol, {"shop": {"age": [20, 30, 60]}, "bank": {"default": [0, 0, 1]}})
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
        return (
            "Every party learns the number of rows.",
            (
                "The holder of the classes knows who is in which class; of a class with one row the model shows it "
                "that person's values."
            ),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run over so many rows."""
        n = (revealed or {"rows": 1})["rows"]
        yield from row_frames(names)
        for name in self._featured(names):
            yield from self._product(name, n).frames((name, self.holder))
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
        agree_on_rows(party, added.shape[0])
        own: list[int] = []
        for name in self._featured(party.names):
            if party.name in (name, self.holder):
                ends = PairProducts(party, (name, self.holder), label=f"class sums {name}")
                values = added if party.name == name else indicators
                assert values is not None
                found = ends.opened(self._product(name, added.shape[0]), values)
                own = found.reshape(-1).tolist() if party.name == name else own
        if indicators is not None:
            local = added.astype(object).T @ indicators.astype(object)
            own = [*indicators.sum(axis=0).tolist(), *local.reshape(-1).tolist()]
        received = exchange(party, "class sums", own, self._n_sent(party.names))
        return Fitted(self._model(party.names, received), party.names)

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
        return {name: n * (self._width(name) + (name == self.holder)) for name in names}

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
