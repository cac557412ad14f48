"""Quantiles of rows that are split between parties: halving the range by comparisons that open nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, require
from discreet.parties.mining.models.columns import finite_numbers, own_columns, require_ranges
from discreet.parties.mining.models.model_protocol import Fitted, RowsProtocol
from discreet.parties.protocol import Facts, Party, several_runs_leak
from discreet.parties.shares.pair import PairFrames, PairShares
from discreet.parties.transcript import FrameShape

_MOST_DENOMINATOR = 1 << 30
"""The largest denominator of a share of rows, so that its multiples of counts fit into 64 bits."""
Rank = tuple[Fraction, int]
"""A rank among N rows: a share of N, and what is added to it."""


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalQuantiles(RowsProtocol):
    """Quantiles of columns over the rows of all parties.

    The quantile q of a column is the least step of its grid that at least a share q of all rows does not exceed, but
    at least ``min_count`` rows; and at least as many rows reach it. So the extremes are not opened, nor a quantile
    close to them: it is that of the ``min_count``-th row from the end. A quantile with fewer than ``min_count`` rows
    between it and the next lower one is that one. Still each is the value of a row. A quantile is found by halving the
    range: whether enough rows lie at or below the middle is compared on shares of the counts, so that no count is
    opened. The comparisons that are opened follow from the quantile itself.

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
    min_count : int
        The rows that must lie on each side of a quantile, itself included, and by which two quantiles must differ in
        rank; 1 admits the value of every row.
    two_parties_see_each_other : bool
        Whether two parties may run it, each of whom learns from the quantiles where the other's values lie.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalQuantiles(columns=("age",), q=(0.5,), ranges={"age": (0, 127)}, bits=7, min_count=2)
    >>> run = simulate(protocol, {"a": {"age": [20, 30, 90]}, "b": {"age": [40]}, "c": {"age": [50]}})
    >>> run.outputs["a"].model["age"].tolist()
    [40.0]
    """

    name: ClassVar[str] = "quantiles"
    two_parties_reveal: ClassVar[bool] = True
    two_parties_learn: ClassVar[str] = (
        "Of two parties each learns from the quantiles and its own rows where the other's values lie."
    )

    q: tuple[float, ...] = (0.25, 0.5, 0.75)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    bits: int = 16
    two_parties_see_each_other: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_ranges(self, self.ranges, self.columns, all_of=True)
        require(self, "bits", self.bits, IntIn(2, 32))
        if not self.q or not all(isinstance(share, int | float) and 0 <= share <= 1 for share in self.q):
            raise ParameterError("The 'q' parameter of HorizontalQuantiles must have numbers in [0, 1].")

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the quantiles."""
        extremes = (
            "The least and the largest value are quantiles as others are, each that of one row; as many quantiles as "
            "rows open all values."
        )
        sides = (
            f"Every party learns of each quantile whether fewer than {self.min_count} rows lie on a side of it, or "
            "between it and the one below."
        )
        return (
            f"Every party learns whether there are {self._least_rows} rows or more.",
            (
                "Every quantile is the value of a row, to the step of the grid; whose it is does not show, but a party "
                "that does not have it knows that another one does."
            ),
            sides if self.holds_back else extremes,
            "The first two parties together learn the counts of every other party at the steps that were compared.",
            *self.consent_leaks,
            (
                "Rows between two quantiles are a share of all, of which a party can subtract its own: of the others "
                f"fewer than {max(2, self.min_count)} may be left."
            ),
            several_runs_leak(self.min_count),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a complete run."""
        del revealed
        pair = PairFrames(names)
        yield from pair.setup() + pair.judged(1)
        if self.holds_back:
            yield from pair.judged(2 * len(self.q))
            for _ in range(len(self.q) - 1):
                yield from pair.judged(1)
        for _ in range(self.bits):
            yield from pair.judged(len(self.columns) * len(self.q))

    def _run(self, party: Party, rows: NDArray[np.int64]) -> Fitted:
        shares = PairShares(party, label="counts")
        first = np.uint64(self._least_rows if party.index == 0 else 0)
        if not shares.judged(np.array([len(rows)], np.uint64) - first)[0]:
            raise InputError(
                f"The parties have fewer than {self._least_rows} rows together; there are no quantiles."
            )
        inward = self._ranks(shares, len(rows))
        ranks = self._apart(shares, inward, len(rows))
        low = np.zeros((len(self.columns), len(self.q)), np.int64)
        high = np.full(low.shape, (1 << self.bits) - 1)
        for _ in range(self.bits):
            middle = (low + high) // 2
            reached = self._reached(shares, rows, middle, ranks)
            # The invariant: too few rows lie below ``low`` and enough lie at or below ``high``; after
            # ``bits`` halvings they meet.
            low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
        return Fitted(self._values(low), party.names, cautions=self._cautions(inward, ranks))

    def _cautions(self, inward: Sequence[Rank], apart: Sequence[Rank]) -> tuple[str, ...]:
        n, m = len(self.q), self.min_count
        n_moved = sum(rank != agreed for rank, agreed in zip(inward, self._shares, strict=True))
        n_joined = sum(rank != before for rank, before in zip(apart, inward, strict=True))
        moved = f"{n_moved} of {n} quantiles were moved inward, to the row {m} from the end."
        joined = (
            f"{n_joined} of {n} quantiles are those below them, as there are fewer than {m} rows between."
        )
        return self.count_cautions(moved if n_moved else "", joined if n_joined else "")

    @property
    def _least_rows(self) -> int:
        """The rows that are needed for as many on both sides of a quantile."""
        return 2 * self.min_count - 1

    @property
    def _shares(self) -> list[Rank]:
        """The rank of each quantile as a multiple of the number of rows; that of 0 is the first row."""
        listed = [Fraction(repr(float(share))).limit_denominator(_MOST_DENOMINATOR) for share in self.q]
        return [(share, 0) if share else (share, 1) for share in listed]

    def _ranks(self, shares: PairShares, n_rows: int) -> list[Rank]:
        """Return the rank of each quantile; one that has too few rows on a side is moved inward.

        The rank of the share q is ⌈qN⌉. It is at least m unless qN ≤ m − 1, and at most N − m + 1 if qN is.
        """
        if not self.holds_back:
            return self._shares
        m, first = self.min_count, int(shares.party.index == 0)
        sides = [
            side
            for share, _ in self._shares
            for side in (
                # qN > m − 1 in whole numbers, multiplied by the denominator of q: hence one more. The line
                # after it is qN ≤ N − m + 1.
                share.numerator * n_rows - first * (share.denominator * (m - 1) + 1),
                (share.denominator - share.numerator) * n_rows - first * share.denominator * (m - 1),
            )
        ]
        enough = shares.judged(np.array(sides, np.int64).view(np.uint64)).reshape(-1, 2).tolist()
        return [
            # A rank is a share of N plus a number: the m-th row from below, or the m-th from above.
            rank if below and above else (Fraction(0), m) if above else (Fraction(1), 1 - m)
            for rank, (below, above) in zip(self._shares, enough, strict=True)
        ]

    def _apart(self, shares: PairShares, ranks: Sequence[Rank], n_rows: int) -> list[Rank]:
        """Return the ranks, each at least m above the next lower one, or equal to it.

        Each comparison depends on those before, so they are taken one by one: which quantiles are equal is all that is
        opened. Where the difference of shares has no small denominator it is rounded down, which keeps ranks apart.
        """
        apart = list(ranks)
        if not self.holds_back:
            return apart
        first = int(shares.party.index == 0)
        order = sorted(range(len(apart)), key=lambda at: self._shares[at])
        for below, at in pairwise(order):
            (low, low_offset), (high, high_offset) = apart[below], apart[at]
            gap = high - low
            if gap.denominator > _MOST_DENOMINATOR:
                gap = Fraction(floor(gap * _MOST_DENOMINATOR), _MOST_DENOMINATOR)
            least = self.min_count + low_offset - high_offset
            difference = gap.numerator * n_rows - first * gap.denominator * least
            if not shares.judged(np.array([difference], np.int64).view(np.uint64))[0]:
                apart[at] = apart[below]
        return apart

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return a row for each share."""
        return {"result.csv": {"q": list(self.q), **output.model}}

    def read(self, data: Any) -> NDArray[np.int64]:
        """Return the party's values as steps of the grid, from 0, each column in order."""
        columns = own_columns(data, self.columns)
        steps = np.empty((columns[0].shape[0], len(columns)), np.int64)
        for at, name in enumerate(self.columns):
            low, high = self.ranges[name]
            clipped = np.clip(finite_numbers(columns[at], name), low, high)
            steps[:, at] = np.rint((clipped - low) / (high - low) * ((1 << self.bits) - 1))
        return np.sort(steps, axis=0)

    def _reached(
        self, shares: PairShares, rows: NDArray[np.int64], middle: NDArray[np.int64], ranks: Sequence[Rank]
    ) -> NDArray[np.bool_]:
        """Return whether as many rows as the rank of a quantile lie at or below each step."""
        first = int(shares.party.index == 0)
        differences = [
            [
                # Each party puts in its own part of count − share
                # · N; the constant of the rank is put in once.
                int(np.searchsorted(rows[:, at], step, side="right")) * share.denominator
                - share.numerator * len(rows)
                - first * offset * share.denominator
                for step, (share, offset) in zip(middle[at].tolist(), ranks, strict=True)
            ]
            for at in range(len(self.columns))
        ]
        return shares.judged(np.array(differences, np.int64).reshape(-1).view(np.uint64)).reshape(
            middle.shape
        )

    def _values(self, steps: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        most = (1 << self.bits) - 1
        return {
            name: self.ranges[name][0] + steps[at] / most * (self.ranges[name][1] - self.ranges[name][0])
            for at, name in enumerate(self.columns)
        }
