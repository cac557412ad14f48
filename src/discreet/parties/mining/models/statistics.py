"""Statistics of rows that are split between parties: means, covariances, histograms, principal components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import IntIn, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import (
    Placed,
    exact_gram,
    numbers,
    own_columns,
    require_ranges,
)
from discreet.parties.mining.models.horizontal import WIDE, NumbersProtocol, TotalFrames, Totals
from discreet.parties.mining.models.model_protocol import Fitted
from discreet.parties.mining.saved_models import model_to_dict
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.coarse_tables import CoarseTable, n_opened
from discreet.parties.transcript import FrameShape

Floats = NDArray[np.float64]
INDICATORS = (
    "The mean of a column of zeros and ones shows how many ones it has, and a covariance how many rows have both; such "
    "counts are opened, however small."
)
"""What sums of values show where these are indicators."""


@dataclass(frozen=True)
class Products:
    """The number of rows, the means of columns, and the sums of products about the means."""

    n: float
    mean: Floats
    centered: Floats

    @classmethod
    def of(cls, gram: list[list[int]], placed: Placed, weight: int = 1) -> Products:
        """Return them from the products of a constant ``weight`` and columns on a grid; exact until the division."""
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
                [None if one != one else one for one in row] for row in self.correlation.tolist()
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
    >>> protocol = HorizontalStatistics(columns=("x", "y"), min_count=3)
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
        return (INDICATORS, *self._sum_leaks)

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its rows."""
        self.check_parties(party.names)
        placed, counts = self.read(data)
        totals = Totals(party, self)
        half = Fraction(1, 2)
        products = summed_products(totals, placed, share=half if self.ranges else Fraction(1))
        histograms = {}
        if self.ranges and self.holds_back:
            tables = totals.tables([column[:, None] for column in counts.reshape(-1, self.bins)])
            party.reveal("opened counts", n_opened(tables))
            histograms = dict(zip(self.ranges, map(self._joined, self.ranges, tables), strict=True))
            cautions = self.count_cautions(self.joined_caution(tables, "intervals of histograms"))
        else:
            d = len(self.ranges)
            cells = totals.add(counts, share=half, sensitivity=d, touched=d) if d else []
            parts = np.maximum(np.array(cells, np.float64), 0).reshape(-1, self.bins)
            histograms = {
                name: (self._edges(name), part) for name, part in zip(self.ranges, parts, strict=True)
            }
            cautions = self.count_cautions()
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
        """Return the own values on a grid, and their histograms, one after the other."""
        columns = own_columns(data, self.columns)
        held = dict(zip(self.columns, columns, strict=True))
        counts = [np.zeros(0, np.int64)]
        for name, (low, high) in self.ranges.items():
            clipped = np.clip(numbers(held[name], name), low, high)
            counts.append(np.histogram(clipped, bins=self.bins, range=(low, high))[0])
        return self.placed(columns, self.columns), np.concatenate(counts)


def gram_length(d: int) -> int:
    """Return the number of products of a one and d columns with each other."""
    return (d + 1) * (d + 2) // 2


def summed_products(totals: Totals, placed: Placed, *, share: Fraction) -> Products:
    """Return the products of (1, columns) with each other, summed over all rows of all parties.

    Where noise is added the one counts as the largest number of the grid, so that its products need no noise of their
    own scale.
    """
    n, d = placed.rows.shape
    totals.enough_rows(n)
    weight = max(placed.limits) if totals.noisy else 1
    gram = exact_gram(np.concatenate([np.full((n, 1), weight, np.int64), placed.rows], axis=1))
    pairs = [(i, j) for i in range(d + 1) for j in range(i, d + 1)]
    limits = (weight, *placed.limits)
    found = totals.add(
        [gram[i][j] for i, j in pairs],
        words=WIDE,
        share=share,
        sensitivity=sum(limits[i] * limits[j] for i, j in pairs),
        touched=len(pairs),
    )
    for (i, j), value in zip(pairs, found, strict=True):
        gram[i][j] = gram[j][i] = value
    return Products.of(gram, placed, weight)


def statistics_of(
    products: Products, names: Sequence[str], histograms: Mapping[str, tuple[Floats, Floats]]
) -> Statistics:
    """Return the statistics that follow from the products."""
    covariance = products.centered / max(products.n - 1, 1.0)
    return Statistics(tuple(names), products.n, products.mean, covariance, histograms)
