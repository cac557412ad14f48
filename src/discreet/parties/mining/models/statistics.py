"""Statistics between parties: means, covariances, histograms, principal components.

Over rows, secure sums have the products of columns; over columns, oblivious transfers of two parties at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import log2
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, require
from discreet.mine.saved_models import model_to_dict
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import (
    Placed,
    exact_gram,
    finite_numbers,
    own_columns,
    placed_in_ranges,
    require_ranges,
)
from discreet.parties.mining.models.horizontal import WIDE, NumbersProtocol, TotalFrames, Totals
from discreet.parties.mining.models.model_protocol import VALUE_COUNTS, Fitted, least_rows
from discreet.parties.mining.models.vertical import (
    PairProducts,
    VerticalProtocol,
    agree_on_rows,
    broadcast_frames,
    exchange,
    row_frames,
)
from discreet.parties.protocol import Facts, Party, several_runs_leak
from discreet.parties.shares.coarse_tables import CoarseTable, n_opened
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.transcript import FrameShape

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Products:
    """The number of rows, the means of columns, and the sums of products about the means."""

    n: float
    mean: Floats
    centered: Floats

    @classmethod
    def of(cls, gram: list[list[int]], placed: Placed, weight: int = 1) -> Products:
        """Return them from the products of a constant ``weight`` and columns on a grid; exact until the division."""
        # The constant column counts ``weight`` for each row: its square times the number of rows stands here,
        # and the weight cancels in what follows.
        rows = gram[0][0]
        if rows <= 0:
            raise InputError(
                "No party has a row, or too few for 'min_count' or the noise; there is nothing to describe."
            )
        d = range(1, len(gram))
        centered = [[(rows * gram[i][j] - gram[0][i] * gram[0][j]) / rows for j in d] for i in d]
        mean = placed.values(np.array([gram[0][j] * weight / rows for j in d]))
        return cls(rows / weight**2, mean, np.array(centered) * np.outer(placed.step, placed.step))


@public
@dataclass(frozen=True, repr=False, eq=False)
class Statistics:
    """What is known of the rows of all parties: their number, the mean of each column, and the covariances.

    ``covariance`` divides by n − 1. ``histograms`` holds the edges and counts of columns that have a public range.

    >>> found = Statistics(("x", "y"), 9.0, np.zeros(2), np.array([[4.0, 3.0], [3.0, 9.0]]))
    >>> found.deviation.tolist(), found.correlation.tolist()
    ([2.0, 3.0], [[1.0, 0.5], [0.5, 1.0]])
    """

    columns: tuple[str, ...]
    n: float
    mean: Floats
    covariance: Floats
    histograms: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each column."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    @property
    def correlation(self) -> Floats:
        """The correlations; NaN for a column that is constant."""
        scale = np.outer(self.deviation, self.deviation)
        return np.asarray(np.where(scale > 0, self.covariance / np.where(scale > 0, scale, 1), np.nan))

    def pca(self, n_components: int | None = None) -> Any:
        """Return the principal components as a fitted ``PCA``."""
        most = len(self.columns)
        require(
            "Statistics.pca", "n_components", most if n_components is None else n_components, IntIn(1, most)
        )
        return fitted.pca(self.n, self.mean, self.covariance, self.columns, n_components=n_components or most)

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as plain data for JSON."""
        return {
            "columns": list(self.columns),
            "n": self.n,
            "mean": self.mean.tolist(),
            "covariance": self.covariance.tolist(),
            "correlation": [
                [None if value != value else value for value in row] for row in self.correlation.tolist()
            ],
            "histograms": {
                name: {"edges": edges.tolist(), "counts": counts.tolist()}
                for name, (edges, counts) in self.histograms.items()
            },
            "pca": model_to_dict(self.pca()),
        }


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalStatistics(NumbersProtocol):
    """Means, covariances, correlations, histograms and principal components of the rows of all parties.

    Secure sums have the number of rows, the sums of values and of products of two, and the counts of histograms. They
    are exact for values rounded to multiples of 2^−``fraction_bits``. The output has a :class:`Statistics`. Neighboring
    intervals of a histogram are joined until none has fewer than ``min_count`` rows, but for those with none at all.
    The sums are opened all the same, and show smaller counts of a column with few distinct values; see ``leaks``.

    Parameters
    ----------
    columns : tuple of str
        The columns of numbers.
    ranges : mapping of str to pair of float
        The public range of columns of which a histogram is made; values beyond it count at its ends. ``epsilon`` needs
        that of every column, and clips values to it.
    bins : int
        The intervals of a histogram, before some are joined.
    fraction_bits : int
        The bits after the binary point of values; without ``epsilon``.
    epsilon, min_honest, threshold, min_count, two_parties_see_each_other
        As in every protocol of sums.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalStatistics(columns=("x", "y"), min_count=1)
    >>> run = simulate(protocol, {"a": {"x": [1], "y": [2]}, "b": {"x": [2], "y": [4]}, "c": {"x": [3], "y": [6]}})
    >>> found = run.outputs["a"].model
    >>> found.mean.tolist(), found.covariance.tolist()
    ([2.0, 4.0], [[1.0, 2.0], [2.0, 4.0]])
    """

    name: ClassVar[str] = "statistics"

    bins: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        require_ranges(self, self.ranges, self.columns, all_of=bool(self.epsilon))
        require(self, "bins", self.bins, IntIn(1, 1 << 16))

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a complete run."""
        frames, n = TotalFrames(names, self), (revealed or {}).get("opened counts", 0)
        yield from frames.enough_rows() + frames.add(WIDE * gram_length(len(self.columns)))
        if self.ranges and self.holds_back:
            yield from frames.tables([(self.bins, 1)] * len(self.ranges), n)
        elif self.ranges:
            yield from frames.add(len(self.ranges) * self.bins)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        exact = () if self.epsilon else (VALUE_COUNTS,)
        return (*exact, *self.joined_leaks(tuple(self.ranges)), *self._sum_leaks)

    def _run(self, party: Party, rows: tuple[Placed, NDArray[np.int64]]) -> Fitted:
        placed, counts = rows
        totals = Totals(party, self)
        half = Fraction(1, 2)
        products = summed_products(totals, placed, share=half if self.ranges else Fraction(1))
        histograms, joined = {}, ""
        if self.ranges and self.holds_back:
            tables = totals.tables([column[:, None] for column in counts.reshape(-1, self.bins)])
            party.reveal("opened counts", n_opened(tables))
            histograms = dict(zip(self.ranges, map(self._joined, self.ranges, tables), strict=True))
            joined = self.joined_caution(tables, "intervals of histograms")
        else:
            d = len(self.ranges)
            cells = totals.add(counts, share=half, sensitivity=d, touched=d) if d else []
            parts = np.maximum(np.array(cells, np.float64), 0).reshape(-1, self.bins)
            histograms = {
                name: (self._edges(name), part) for name, part in zip(self.ranges, parts, strict=True)
            }
        few_values = self.few_values_caution(placed.rows, self.columns) if self.holds_back else ""
        counted = [at for at, name in enumerate(self.columns) if name in self.ranges]
        dependent = self.dependent_caution(placed.rows[:, counted], [self.columns[at] for at in counted])
        cautions = self.count_cautions(joined, few_values, dependent)
        return totals.fitted(statistics_of(products, self.columns, histograms), cautions)

    def _edges(self, name: str) -> Floats:
        return np.linspace(self.ranges[name][0], self.ranges[name][1], self.bins + 1)

    def _joined(self, name: str, table: CoarseTable) -> tuple[Floats, Floats]:
        """Return the edges and counts of a histogram whose intervals are joined."""
        ends = np.unique(table.last)
        edges = self._edges(name)[np.concatenate([[0], ends + 1])]
        return edges, table.counts[ends, 0].astype(np.float64)

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return the statistics as plain data."""
        return {"statistics.json": output.model.to_dict()}

    def read(self, data: Any) -> tuple[Placed, NDArray[np.int64]]:
        """Return the party's values on a grid, and their histograms, one after the other."""
        columns = own_columns(data, self.columns)
        by_name = dict(zip(self.columns, columns, strict=True))
        counts = [np.zeros(0, np.int64)]
        for name, (low, high) in self.ranges.items():
            # Values beyond the range count at its ends: left out,
            # they would be the difference to the number of rows.
            clipped = np.clip(finite_numbers(by_name[name], name), low, high)
            counts.append(np.histogram(clipped, bins=self.bins, range=(low, high))[0])
        return self.placed(columns, self.columns), np.concatenate(counts)


@dataclass(frozen=True, kw_only=True)
class VerticalProducts(VerticalProtocol):
    """A protocol over columns that opens the products of all columns; see :class:`VerticalStatistics`."""

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
                "rows. Of a column with few values far fewer are enough, as few sets of rows add up to the products: "
                f"each column of its own has the information for about {self.bits} rows of zeros and ones."
            ),
            VALUE_COUNTS,
            several_runs_leak(self.min_count),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run over the rows that it revealed."""
        n = (revealed or {"rows": 1})["rows"]
        yield from row_frames(names)
        for pair in combinations(names, 2):
            yield from self._product(pair, n).frames(pair)
        yield from broadcast_frames(names, "products", self._n_sent(names))

    def read(self, data: Any, name: str) -> Placed:
        """Return a party's columns on a grid."""
        names = self.names_of(name)
        return placed_in_ranges(own_columns(data, names), names, self.ranges, bits=self.bits, clip=False)

    def products(self, party: Party, placed: Placed) -> Products:
        """Return the number of rows, the means and the products about the means of all columns of all parties."""
        n = placed.rows.shape[0]
        least = least_rows(len(self.all_names())) if self.holds_back else 1
        agree_on_rows(party, n, max(self.min_count, least))
        crossed = {}
        for pair in combinations(party.names, 2):
            if party.name in pair:
                ends = PairProducts(party, pair, label=f"products {pair[0]} {pair[1]}")
                crossed[pair] = ends.opened(self._product(pair, n), placed.rows)
        d = placed.rows.shape[1]
        gram = exact_gram(np.concatenate([np.ones((n, 1), np.int64), placed.rows], axis=1))
        sent = [gram[i][j] for i in range(d + 1) for j in range(i, d + 1)]
        for pair, products in crossed.items():
            sent += products.reshape(-1).tolist() if pair[0] == party.name else []
        received = exchange(party, "products", sent, self._n_sent(party.names))
        names = self.all_names(party.names)
        grid = placed_in_ranges([np.zeros(0)] * len(names), names, self.ranges, bits=self.bits, clip=False)
        return Products.of(self._assembled(party.names, received), grid)

    def product_cautions(self, party: Party, placed: Placed) -> tuple[str, ...]:
        """Return the cautions about what the opened products show of this party's columns."""
        few_values = self.few_values_caution(placed.rows, self.names_of(party.name))
        subsets = self._subset_caution(party, placed)
        return (*self.count_cautions(few_values), *((subsets,) if subsets else ()))

    def _subset_caution(self, party: Party, placed: Placed) -> str:
        """Return which columns of this party another one may find, row by row, by the rows that add up to products.

        A product of its column with one of another party has the bits of that column's values and of the number of
        rows. They are compared with the bits of all rows' values in a column with as many distinct ones.
        """
        n, others = placed.rows.shape[0], [len(self.columns[peer]) for peer in party.peers]
        most = max(others) * (self.bits + log2(n))
        distinct = [np.unique(column).size for column in placed.rows.T]
        pairs = zip(self.names_of(party.name), distinct, strict=True)
        exposed = [f"'{name}'" for name, size in pairs if 0 < n * log2(size) <= most]
        return (
            f"With {n} rows, the products that were opened can be enough for another party to find the value of every "
            f"row in {', '.join(exposed)}, by trying which rows add up to them."
            if exposed
            else ""
        )

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
        gram = [[0] * starts[-1] for _ in range(starts[-1])]
        for at, name in enumerate(names):
            values = iter(received[name])
            columns = [0, *range(starts[at], starts[at + 1])]
            # The order in which ``products`` lists them: of the
            # party's own columns, then with those of each later party.
            cells = [(row, column) for i, row in enumerate(columns) for column in columns[i:]]
            for later in range(at + 1, len(names)):
                cells += [(row, c) for row in columns[1:] for c in range(starts[later], starts[later + 1])]
            for row, column in cells:
                gram[row][column] = gram[column][row] = next(values)
        return gram


@public
@dataclass(frozen=True, kw_only=True)
class VerticalStatistics(VerticalProducts):
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
    ...     min_count=1)
    >>> run = simulate(protocol, {"hospital": {"stay": [1, 2, 3]}, "insurer": {"cost": [10, 20, 30]}})
    >>> run.outputs["insurer"].model.correlation.round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    name: ClassVar[str] = "vertical-statistics"

    def _run(self, party: Party, placed: Placed) -> Fitted:
        model = statistics_of(self.products(party, placed), self.all_names(party.names), {})
        return Fitted(model, party.names, cautions=self.product_cautions(party, placed))

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return the statistics as plain data."""
        return {"statistics.json": output.model.to_dict()}


def gram_length(d: int) -> int:
    """Return the number of products of a one and d columns with each other."""
    return (d + 1) * (d + 2) // 2


def summed_products(totals: Totals, placed: Placed, *, share: Fraction) -> Products:
    """Return the products of (1, columns) with each other, summed over all rows of all parties.

    Where noise is added the one counts as the largest number of the grid, so that its products need no noise of their
    own scale.
    """
    n, d = placed.rows.shape
    totals.enough_rows(n, d)
    weight = max(placed.limits) if totals.noisy else 1
    gram = exact_gram(np.concatenate([np.full((n, 1), weight, np.int64), placed.rows], axis=1))
    pairs = [(i, j) for i in range(d + 1) for j in range(i, d + 1)]
    limits = (weight, *placed.limits)
    sums = totals.add(
        [gram[i][j] for i, j in pairs],
        words=WIDE,
        share=share,
        sensitivity=sum(limits[i] * limits[j] for i, j in pairs),
        touched=len(pairs),
    )
    for (i, j), value in zip(pairs, sums, strict=True):
        gram[i][j] = gram[j][i] = value
    return Products.of(gram, placed, weight)


def statistics_of(
    products: Products, names: Sequence[str], histograms: Mapping[str, tuple[Floats, Floats]]
) -> Statistics:
    """Return the statistics that follow from the products."""
    # With noise the number of rows can come out below two.
    covariance = products.centered / max(products.n - 1, 1.0)
    return Statistics(tuple(names), products.n, products.mean, covariance, histograms)
