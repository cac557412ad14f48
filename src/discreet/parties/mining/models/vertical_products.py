"""Statistics and ridge regression over columns of the same people: products of columns, two parties at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import FloatIn, IntIn, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import (
    Placed,
    exact_gram,
    in_ranges,
    own_columns,
    require_ranges,
)
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.models.statistics import INDICATORS, Products, gram_length, statistics_of
from discreet.parties.mining.models.vertical import (
    PairProducts,
    VerticalProtocol,
    agree_on_rows,
    broadcast_frames,
    exchange,
    row_frames,
)
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.transcript import FrameShape


@dataclass(frozen=True, kw_only=True)
class _ProductsTogether(VerticalProtocol):
    """The products of all columns with each other."""

    ranges: Mapping[str, Any] = field(default_factory=dict)
    bits: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "bits", self.bits, IntIn(2, 31))
        require_ranges(self, self.ranges, self.all_names(), all_of=True)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return (
            "Every party learns the number of rows.",
            (
                "Every party learns the means, variances and covariances of all columns; with them a party knows the "
                "part of another's column that its own columns determine, which is all of it where it has as many as "
                "rows."
            ),
            INDICATORS,
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run over so many rows."""
        n = (revealed or {"rows": 1})["rows"]
        yield from row_frames(names)
        for pair in combinations(names, 2):
            yield from self._product(pair, n).frames(pair)
        yield from broadcast_frames(names, "products", self._n_sent(names))

    def read(self, data: Any, name: str) -> Placed:
        """Return a party's columns on a grid."""
        own = self.names_of(name)
        return in_ranges(own_columns(data, own), own, self.ranges, bits=self.bits, clip=False)

    def products(self, party: Party, data: Any) -> Products:
        """Return the number of rows, the means and the products about the means of all columns of all parties."""
        self.check_parties(party.names)
        placed = self.read(data, party.name)
        n = placed.rows.shape[0]
        agree_on_rows(party, n, self.min_count)
        crossed = {}
        for pair in combinations(party.names, 2):
            if party.name in pair:
                ends = PairProducts(party, pair, label=f"products {pair[0]} {pair[1]}")
                crossed[pair] = ends.opened(self._product(pair, n), placed.rows)
        d = placed.rows.shape[1]
        own = exact_gram(np.concatenate([np.ones((n, 1), np.int64), placed.rows], axis=1))
        sent = [own[i][j] for i in range(d + 1) for j in range(i, d + 1)]
        for pair, found in crossed.items():
            sent += found.reshape(-1).tolist() if pair[0] == party.name else []
        received = exchange(party, "products", sent, self._n_sent(party.names))
        names = self.all_names(party.names)
        grid = in_ranges([np.zeros(0)] * len(names), names, self.ranges, bits=self.bits, clip=False)
        return Products.of(self._assembled(party.names, received), grid)

    def _product(self, pair: tuple[str, str], n: int) -> ScalarProduct:
        n_first, n_second = (len(self.columns[name]) for name in pair)
        if n << 2 * self.bits > 1 << 63:
            raise ParameterError(f"Products of {n} rows of {self.bits} bits do not fit; agree on fewer bits.")
        return ScalarProduct(
            n=n, first_bits=self.bits, second_bits=self.bits, n_first=n_first, n_second=n_second
        )

    def _n_sent(self, names: Sequence[str]) -> dict[str, int]:
        """Return the number of products that each party sends: of its own columns, and with those of later parties."""
        sizes = [len(self.columns[name]) for name in names]
        return {
            name: gram_length(size) + size * sum(sizes[at + 1 :])
            for at, (name, size) in enumerate(zip(names, sizes, strict=True))
        }

    def _assembled(self, names: Sequence[str], received: Mapping[str, list[int]]) -> list[list[int]]:
        """Return the products of (1, all columns) with each other from those that every party sent."""
        sizes = [len(self.columns[name]) for name in names]
        starts = np.cumsum([1, *sizes]).tolist()
        whole = [[0] * starts[-1] for _ in range(starts[-1])]
        for at, name in enumerate(names):
            values = iter(received[name])
            own = [0, *range(starts[at], starts[at + 1])]
            for i, row in enumerate(own):
                for column in own[i:]:
                    whole[row][column] = whole[column][row] = next(values)
            for later in range(at + 1, len(names)):
                for row in own[1:]:
                    for column in range(starts[later], starts[later + 1]):
                        whole[row][column] = whole[column][row] = next(values)
        return whole


@public
@dataclass(frozen=True, kw_only=True)
class VerticalStatistics(_ProductsTogether):
    """Means, covariances, correlations and principal components of columns of the same people at several parties.

    The products of two parties' columns come from oblivious transfers. They are exact for values rounded to
    2^(``bits`` − 1) − 1 steps on both sides of the middle of their range. The output has a :class:`Statistics`.

    Parameters
    ----------
    columns : mapping of str to list of str
        The columns of each party, by its name. The rows are the same people in the same order at every party.
    ranges : mapping of str to pair of float
        The public range of every column; values beyond it are refused.
    bits : int
        The bits of a value.
    min_count : int
        The least number of rows.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = VerticalStatistics(
    ...     columns={"hospital": ("stay",), "insurer": ("cost",)}, ranges={"stay": (0, 10), "cost": (0, 100)},
    ...     min_count=3)
    >>> run = simulate(protocol, {"hospital": {"stay": [1, 2, 3]}, "insurer": {"cost": [10, 20, 30]}})
    >>> run.outputs["insurer"].model.correlation.round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    name: ClassVar[str] = "vertical-statistics"

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its columns."""
        products = self.products(party, data)
        model = statistics_of(products, self.all_names(party.names), {})
        return Fitted(model, party.names, cautions=self.count_cautions())

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return the statistics as plain data."""
        return {"statistics.json": output.model.to_dict()}


@public
@dataclass(frozen=True, kw_only=True)
class VerticalRidge(_ProductsTogether):
    """Ridge regression on columns of the same people at several parties.

    The coefficients follow from the products of all columns, as in :class:`VerticalStatistics`. The output has a fitted
    ``Ridge``.

    Parameters
    ----------
    columns, ranges, bits, min_count
        As in :class:`VerticalStatistics`; the target is one of the columns.
    target : str
        The column to predict.
    alpha : float
        The penalty of large coefficients.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = VerticalRidge(
    ...     columns={"hospital": ("stay",), "insurer": ("cost",)}, target="cost", alpha=0.0,
    ...     ranges={"stay": (0, 10), "cost": (0, 100)}, min_count=3)
    >>> run = simulate(protocol, {"hospital": {"stay": [1, 2, 4]}, "insurer": {"cost": [10, 20, 40]}})
    >>> run.outputs["hospital"].model.coef_.round(3).tolist()
    [10.0]
    """

    name: ClassVar[str] = "vertical-ridge"

    target: str
    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "alpha", self.alpha, FloatIn(0))
        if self.target not in self.all_names() or len(self.ranges) < 2:
            raise ParameterError(
                "The 'target' parameter of VerticalRidge must be one of at least two columns."
            )

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its columns."""
        products = self.products(party, data)
        names = self.all_names(party.names)
        order = [at for at, name in enumerate(names) if name != self.target] + [names.index(self.target)]
        kept = [names[at] for at in order[:-1]]
        centered = products.centered[np.ix_(order, order)]
        model = fitted.ridge(products.mean[order], centered, kept, alpha=self.alpha)
        return Fitted(model, party.names, cautions=self.count_cautions())
