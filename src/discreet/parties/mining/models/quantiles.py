"""Quantiles of rows that are split between parties: halving the range by comparisons that open nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, require
from discreet.parties.mining.models.columns import numbers, own_columns, require_ranges
from discreet.parties.mining.models.model_protocol import Fitted, RowsProtocol
from discreet.parties.protocol import Facts, Party
from discreet.parties.shares.pair import PairFrames, PairShares
from discreet.parties.transcript import FrameShape


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalQuantiles(RowsProtocol):
    """Quantiles of columns over the rows of all parties.

    The quantile q of a column is the least step of its grid that at least a share q of all rows does not exceed, but at
    least one row. It is found by halving the range: whether enough rows lie at or below the middle is compared on
    shares of the counts, so that no count is opened. The comparisons that are opened follow from the quantile itself.

    The output is a mapping from columns to the quantiles, in the order of ``q``.

    Parameters
    ----------
    columns : tuple of str
        The columns of numbers.
    q : tuple of float
        The shares of rows, from 0 to 1.
    ranges : mapping of str to pair of float
        The public range of every column; values beyond it count as its ends.
    bits : int
        The bits of the grid: a range has 2^bits − 1 steps, of which a quantile is one.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalQuantiles(columns=("age",), q=(0.5,), ranges={"age": (0, 127)}, bits=7)
    >>> run = simulate(protocol, {"a": {"age": [20, 30, 90]}, "b": {"age": [40, 50]}})
    >>> run.outputs["a"].model["age"].tolist()
    [40.0]
    """

    name: ClassVar[str] = "quantiles"

    q: tuple[float, ...] = (0.25, 0.5, 0.75)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    bits: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        require_ranges(self, self.ranges, self.columns, all_of=True)
        require(self, "bits", self.bits, IntIn(2, 32))
        if not self.q or not all(isinstance(one, int | float) and 0 <= one <= 1 for one in self.q):
            raise ParameterError("The 'q' parameter of HorizontalQuantiles must have numbers in [0, 1].")

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the quantiles."""
        return (
            "Every party learns whether there are any rows.",
            "The first two parties together learn the counts of every other party at the steps that were compared.",
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a complete run."""
        del revealed
        n, pair = len(self.columns) * len(self.q), PairFrames(names)
        yield from pair.setup() + pair.gathered(1) + pair.at_least_zero(1) + pair.opened(1)
        for _ in range(self.bits):
            yield from pair.gathered(n) + pair.at_least_zero(n) + pair.opened(-(-n // 8))

    def run(self, party: Party, data: Any) -> Fitted:
        """Run one party's half with its rows."""
        self.check_parties(party.names)
        rows = np.sort(self.read(data), axis=0)
        shares = PairShares(party, label="counts")
        first = np.uint64(1 if party.index == 0 else 0)
        held = shares.gathered(np.array([len(rows)], np.uint64)) - first
        if not shares.opened_bits(shares.at_least_zero(held))[0]:
            raise InputError("No party has a row; there are no quantiles.")
        low = np.zeros((len(self.columns), len(self.q)), np.int64)
        high = np.full(low.shape, (1 << self.bits) - 1)
        for _ in range(self.bits):
            middle = (low + high) // 2
            enough = self._enough(shares, rows, middle)
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return Fitted(self._values(low), party.names)

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return a row for each share."""
        return {"result.csv": {"q": list(self.q), **output.model}}

    def read(self, data: Any) -> NDArray[np.int64]:
        """Return the own values as steps of the grid, from 0."""
        columns = own_columns(data, self.columns)
        steps = np.empty((columns[0].shape[0], len(columns)), np.int64)
        for at, name in enumerate(self.columns):
            low, high = self.ranges[name]
            clipped = np.clip(numbers(columns[at], name), low, high)
            steps[:, at] = np.rint((clipped - low) / (high - low) * ((1 << self.bits) - 1))
        return steps

    def _enough(
        self, shares: PairShares, rows: NDArray[np.int64], middle: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return whether at least a share q of all rows, and at least one, lies at or below each step."""
        wanted = [Fraction(repr(float(one))).limit_denominator(1 << 30) for one in self.q]
        one = int(shares.party.index == 0)
        own = [
            [
                int(np.searchsorted(rows[:, at], step, side="right")) * share.denominator
                - (share.numerator * len(rows) if share else one)
                for step, share in zip(middle[at].tolist(), wanted, strict=True)
            ]
            for at in range(len(self.columns))
        ]
        total = shares.gathered(np.array(own, np.int64).reshape(-1).view(np.uint64))
        return shares.opened_bits(shares.at_least_zero(total)).reshape(middle.shape)

    def _values(self, steps: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        most = (1 << self.bits) - 1
        return {
            name: self.ranges[name][0] + steps[at] / most * (self.ranges[name][1] - self.ranges[name][0])
            for at, name in enumerate(self.columns)
        }
