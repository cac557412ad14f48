"""Ridge regression between parties, from the products of all columns with each other and with the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import FloatIn, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import Placed, own_columns, require_ranges
from discreet.parties.mining.models.horizontal import WIDE, NumbersProtocol, TotalFrames, Totals
from discreet.parties.mining.models.model_protocol import VALUE_COUNTS, Fitted
from discreet.parties.mining.models.statistics import VerticalProducts, gram_length, summed_products
from discreet.parties.protocol import Facts, Party
from discreet.parties.transcript import FrameShape


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalRidge(NumbersProtocol):
    """Ridge regression on the rows of all parties; with ``alpha=0`` ordinary least squares.

    One secure sum has the products of all columns with each other and with the target. It is exact for values rounded
    to multiples of 2^−``fraction_bits``. The output has a fitted ``Ridge``.

    Parameters
    ----------
    columns : tuple of str
        The columns of numbers to learn from.
    target : str
        The column of numbers to predict.
    alpha : float
        The penalty of large coefficients.
    ranges : mapping of str to pair of float
        The public range of every column and of the target, which ``epsilon`` needs; values are clipped to it.
    fraction_bits : int
        The bits after the binary point of values; without ``epsilon``.
    epsilon, min_honest, threshold, min_count, two_parties_see_each_other
        As in every protocol of sums. The noise may make the products of few rows singular; ``alpha`` helps.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalRidge(columns=("x",), target="y", alpha=0.0, min_count=1)
    >>> run = simulate(protocol, {"a": {"x": [1], "y": [3]}, "b": {"x": [3], "y": [7]}, "c": {"x": [2], "y": [5]}})
    >>> model = run.outputs["b"].model
    >>> model.coef_.round(9).tolist(), round(model.intercept_, 9)
    ([2.0], 1.0)
    """

    name: ClassVar[str] = "ridge"

    target: str
    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "alpha", self.alpha, FloatIn(0))
        require_ranges(self, self.ranges, self.names_read, all_of=bool(self.epsilon))

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the model."""
        return (
            "Every party learns the number of rows, and the means and covariances of all columns and the target.",
            *(() if self.epsilon else (VALUE_COUNTS,)),
            *self._sum_leaks,
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a complete run."""
        del revealed
        frames = TotalFrames(names, self)
        yield from frames.enough_rows() + frames.add(WIDE * gram_length(len(self.names_read)))

    def _run(self, party: Party, placed: Placed) -> Fitted:
        totals = Totals(party, self)
        products = summed_products(totals, placed, share=Fraction(1))
        model = fitted.ridge(products.mean, products.centered, self.columns, alpha=self.alpha)
        few_values = self.few_values_caution(placed.rows, self.names_read) if self.holds_back else ""
        return totals.fitted(model, self.count_cautions(few_values))

    def read(self, data: Any) -> Placed:
        """Return the party's values on a grid, in their ranges where noise is added."""
        return self.placed(own_columns(data, self.names_read), self.names_read)


@public
@dataclass(frozen=True, kw_only=True)
class VerticalRidge(VerticalProducts):
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
    ...     ranges={"stay": (0, 10), "cost": (0, 100)}, min_count=1)
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

    def _run(self, party: Party, placed: Placed) -> Fitted:
        products = self.products(party, placed)
        names = self.all_names(party.names)
        order = [at for at, name in enumerate(names) if name != self.target] + [names.index(self.target)]
        centered = products.centered[np.ix_(order, order)]
        columns = [names[at] for at in order[:-1]]
        model = fitted.ridge(products.mean[order], centered, columns, alpha=self.alpha)
        return Fitted(model, party.names, cautions=self.product_cautions(party, placed))
