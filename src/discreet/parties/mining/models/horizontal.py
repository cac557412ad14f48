"""Rows that are split between parties: what all protocols over them declare and reveal, and the sums they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError, InternalError, ParameterError
from discreet.core.params import FloatIn, IntIn, OneOf, require
from discreet.parties.mining.models.columns import MAX_ROWS, Placed, placed_in_ranges, placed_on_grid
from discreet.parties.mining.models.model_protocol import Fitted, RowsProtocol, least_rows
from discreet.parties.protocol import Party, own_rows_leak, several_runs_leak
from discreet.parties.shares.coarse_tables import CoarseTable, coarse_tables, cut_groups
from discreet.parties.sums.noise_shares import noise_shares
from discreet.parties.sums.secure_sum import SecureSum, Sum
from discreet.parties.sums.shared_sums import SharedFrames, SharedSums
from discreet.parties.sums.sum_rounds import SumRounds
from discreet.parties.transcript import FrameShape

MAX_PARTIES = 64
MOST_ROWS = MAX_PARTIES * MAX_ROWS
"""The most rows of all parties together, which bounds counts."""
_NOISY_BITS = 13
"""The bits of a value to which noise is added."""
_LEAST_EPSILON = 1e-3
"""Less would be noise alone, and take long to draw."""


@dataclass(frozen=True, kw_only=True)
class HorizontalProtocol(RowsProtocol):
    """A protocol over rows that are split between parties, made of secure sums.

    Parameters
    ----------
    columns : tuple of str
        The columns that every party has.
    epsilon : float
        Where above 0, all that is opened is ε-private together, for rows added or removed.
    min_honest : int
        How many parties' shares of noise suffice for ε. The default 1 keeps the guarantee although all others collude
        or drop out; a larger number needs less noise, and ε then holds while as many parties that do not collude
        remain. A party can subtract its own noise, so it is at most one less than the number of parties.
    threshold : int
        How many parties must remain; 0 stands for more than half of them, and at least 3. With ``epsilon`` one more
        than ``min_honest`` must remain, so that toward each of them the noise of as many others is there.
    min_count : int
        Smaller counts than this one are not opened, but for zero: the first two parties compare shares of them. 1 opens
        all of them. With ``epsilon`` noise protects counts, and nothing is compared.
    two_parties_see_each_other : bool
        Whether two parties may run it, each of whom learns the other's part of every sum.
    """

    two_parties_reveal: ClassVar[bool] = True
    two_parties_learn: ClassVar[str] = (
        "Of two parties each learns the other's part of every sum, which the sum reveals."
    )
    private_sums: ClassVar[bool] = True
    """Whether the protocol can add noise."""
    max_parties: ClassVar[int | None] = MAX_PARTIES

    epsilon: float = 0.0
    min_honest: int = 1
    threshold: int = 0
    two_parties_see_each_other: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "epsilon", self.epsilon, OneOf((0, 0.0)), FloatIn(_LEAST_EPSILON))
        require(self, "min_honest", self.min_honest, IntIn(1))
        require(self, "threshold", self.threshold, IntIn(0))
        if self.epsilon and not self.private_sums:
            raise ParameterError(f"The protocol '{self.name}' adds no noise; leave out 'epsilon'.")

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless the protocol can run among these parties."""
        super().check_parties(names)
        if self.threshold:
            require(self, "threshold", self.threshold, IntIn(min(3, len(names)), len(names)))
        require(self, "min_honest", self.min_honest, IntIn(1, len(names) - 1))

    def needed(self, n_parties: int) -> int:
        """Return how many parties must remain: as many as for a secure sum, and enough for the noise.

        A party can subtract its own noise, so one more than ``min_honest`` must be there.
        """
        least = SecureSum(length=1, threshold=self.threshold).needed(n_parties)
        return max(least, self.min_honest + 1) if self.epsilon else least

    @property
    def holds_back(self) -> bool:
        """Whether counts are held back because they are small; with ε they have noise instead."""
        return self.min_count > 1 and not self.epsilon

    def withstands(self, n_parties: int) -> int:
        """Return how many parties may pool what they saw without learning more than ``leaks`` says.

        Of those that must remain, two others are left in a sum, as in :class:`SecureSum`; with ε as many as must not
        collude, since those that do know their own noise.
        """
        if self.holds_back:
            return 1
        if self.epsilon:
            return self.needed(n_parties) - self.min_honest
        return SecureSum(length=1, threshold=self.threshold).withstands(n_parties)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return self._sum_leaks

    @property
    def _sum_leaks(self) -> tuple[str, ...]:
        """What every protocol of secure sums shows."""
        noisy = ", with its noise" if self.epsilon else ""
        every_sum = (
            (
                "Every party learns which parties dropped out, in which round, and whether they were late. A run that "
                "stops leaves behind the sums that were opened until then; run it again with the same parties only."
            ),
            "The first party together with enough parties to reach the threshold learns every party's sums.",
            (
                "A party can subtract its own part of every sum, and parties that pool what they saw all of theirs: "
                f"they learn the sum of the others, and all but one of those in it that one's part{noisy}."
            ),
            *self.consent_leaks,
        )
        if self.epsilon:
            return (
                *every_sum,
                (
                    f"Each party that colludes takes its noise with it, and a party can subtract its own; the noise of "
                    f"{self.min_honest} others must remain for ε."
                ),
                "What several runs on the same rows open is private for the sum of their ε, and not for less.",
            )
        subtracted = (own_rows_leak(self.min_count), several_runs_leak(self.min_count))
        if self.min_count == 1:
            return (
                *every_sum,
                *subtracted,
                "Every count is opened, however small; a count of one points to a person.",
            )
        return (
            *every_sum,
            *subtracted,
            f"Every party learns which counts lie below {self.min_count}; of these no more is opened.",
            f"The first two parties together learn the counts below {self.min_count} as well.",
        )


@dataclass(frozen=True, kw_only=True)
class NumbersProtocol(HorizontalProtocol):
    """A protocol of sums over columns of numbers.

    Parameters
    ----------
    ranges : mapping of str to pair of float
        The public range of columns.
    fraction_bits : int
        The bits after the binary point of values; without ``epsilon``.
    """

    ranges: Mapping[str, Any] = field(default_factory=dict)
    fraction_bits: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "fraction_bits", self.fraction_bits, IntIn(0, 30))

    def placed(
        self, columns: Sequence[NDArray[Any]], names: Sequence[str], *, same_step: bool = False
    ) -> Placed:
        """Return columns on a grid, clipped to their ranges where noise is added."""
        if self.epsilon:
            return placed_in_ranges(
                columns, names, self.ranges, bits=_NOISY_BITS, clip=True, same_step=same_step
            )
        return placed_on_grid(columns, names, fraction_bits=self.fraction_bits)


WIDE = 8
"""The words of an integer of up to 128 bits; one of a single word must stay within 63 bits over all parties."""
_LIMB = 16
"""The bits of an integer that each of several words holds."""
_HIDING = 40
"""The random bits that hide the carries between words."""
_UNITS = 256
"""What is summed with noise is rounded to units, of which the sensitivity has this many, and more where a row changes
many values: finer ones would only take longer to draw."""


class Totals:
    """One party's end of the sums of a protocol.

    Parameters
    ----------
    party : Party
        This end.
    protocol : HorizontalProtocol
        Where ε and the threshold are set.
    """

    def __init__(self, party: Party, protocol: HorizontalProtocol) -> None:
        self._party, self._protocol = party, protocol
        threshold = protocol.needed(len(party.names))
        self._rounds = SumRounds(party, label="totals", threshold=threshold)
        self._shared = SharedSums(party, self._rounds)
        self.parties = party.names

    @property
    def noisy(self) -> bool:
        """Whether noise is added."""
        return bool(self._protocol.epsilon)

    def fitted(self, model: Any, cautions: Sequence[str] = ()) -> Fitted:
        """Return the output: the model, the parties that are in all sums, and those that were late."""
        return Fitted(model, self.parties, self._party.late, tuple(cautions))

    def counts(
        self,
        values: Sequence[int] | np.ndarray[Any, Any],
        *,
        share: Fraction | None = None,
        sensitivity: int = 0,
        touched: int = 0,
    ) -> list[int]:
        """Return the totals of counts over the parties, and 0 for those below ``min_count``, which stay shared."""
        if not self._protocol.holds_back:
            return self.add(values, share=share, sensitivity=sensitivity, touched=touched)
        total = self._summed(values)
        large: list[int] = self._shared.large(total, self._protocol.min_count, largest=MOST_ROWS).tolist()
        return large

    def reached(self, values: Sequence[int] | np.ndarray[Any, Any], *, least: int = 0) -> NDArray[np.bool_]:
        """Return which totals of counts reach ``min_count``, or a larger number; all counts stay shared."""
        threshold = max(self._protocol.min_count, least)
        return self._shared.at_least(self._summed(values), threshold, largest=MOST_ROWS)

    def enough_rows(self, n_rows: int, n_columns: int) -> None:
        """Raise an InputError at all parties unless they have rows enough for sums of products; fewer stay shared."""
        least = max(self._protocol.min_count, least_rows(n_columns))
        if self._protocol.holds_back and not self.reached([n_rows], least=least)[0]:
            raise InputError(
                f"The parties have fewer than {least} rows together, which may follow from the sums of {n_columns} "
                "columns and of their products; nothing was opened."
            )

    def tables(
        self, tables: Sequence[NDArray[np.int64]], *, within: Sequence[CoarseTable] | None = None
    ) -> list[CoarseTable]:
        """Return tables of counts, by place and column, with places joined until no count is below ``min_count``.

        The columns of a table as a whole must not have such counts: leave their rows out before. ``within`` are the
        tables of more rows, of which these are a part.
        """
        shapes = [table.shape for table in tables]
        total = self._summed(np.concatenate([table.reshape(-1) for table in tables]))
        ends = np.cumsum([n * d for n, d in shapes])[:-1]
        shared = [part.reshape(shape) for part, shape in zip(np.split(total, ends), shapes, strict=True)]
        least = self._protocol.min_count
        return coarse_tables(self._shared, shared, least, largest=MOST_ROWS, within=within)

    def _summed(self, values: Sequence[int] | np.ndarray[Any, Any]) -> NDArray[np.uint64]:
        total = self._shared.add(np.asarray(values, np.int64))
        self.parties = total.parties
        return total.share

    def add(
        self,
        values: Sequence[int] | np.ndarray[Any, Any],
        *,
        words: int = 1,
        share: Fraction | None = None,
        sensitivity: int = 0,
        touched: int = 0,
    ) -> list[int]:
        """Return the totals of integers over the parties.

        Parameters
        ----------
        values : sequence of int
            This party's integers.
        words : int
            The words of each integer; all parties use the same.
        share : Fraction, optional
            The share of ε that this sum takes, where ε is set; a sum without one is refused then.
        sensitivity : int
            By how much a row changes the values, absolutely and all together.
        touched : int
            The number of values that a row may change.
        """
        summands = [int(value) for value in values]
        unit = 1
        if self._protocol.epsilon:
            if share is None:
                raise InternalError("A sum without noise was to be opened although ε is set.")
            # With 64 units for each value that a row changes,
            # rounding them adds at most a 64th to the sensitivity.
            unit = max(1, sensitivity // max(_UNITS, 64 * touched))
            summands = self._noisy(summands, unit, share, sensitivity, touched)
        total = self._rounds.add(np.array(_split(summands, words, self._party.random), np.int64))
        self.parties = total.parties
        return [unit * value for value in _joined(_opened(total).tolist(), words)]

    def coins(self) -> bytes:
        """Return 32 random bytes that all parties share: words of which every party drew a summand."""
        # A sum modulo 2^64 is uniform as soon as one summand is, so no single party chooses the coins.
        total = self._rounds.add(np.frombuffer(self._party.random(32), np.uint64), kind="modular")
        self.parties = total.parties
        drawn: bytes = _opened(total).tobytes()
        return drawn

    def _noisy(
        self, values: list[int], unit: int, share: Fraction, sensitivity: int, touched: int
    ) -> list[int]:
        """Return the values in units, with this party's noise; rounding may add a unit to each value that changes."""
        rounded = [(2 * value + unit) // (2 * unit) for value in values]
        # One unit more where the sensitivity is no multiple, and one for each value that rounding may move.
        steps = sensitivity if unit == 1 else sensitivity // unit + 1 + touched
        noise = noise_shares(
            len(values),
            scale=steps / (Fraction(repr(float(self._protocol.epsilon))) * share),
            min_honest=self._protocol.min_honest,
            random_bytes=self._party.random,
        )
        return [value + int(drawn) for value, drawn in zip(rounded, noise, strict=True)]


class TotalFrames:
    """The frames of the sums of a protocol, step by step as :class:`Totals` takes them."""

    def __init__(self, names: Sequence[str], protocol: HorizontalProtocol) -> None:
        self._frames, self._protocol = SharedFrames(names), protocol

    def add(self, length: int) -> list[FrameShape]:
        """Return the frames of one sum of this many words."""
        return self._frames.open(length)

    def enough_rows(self) -> list[FrameShape]:
        """Return the frames that show whether there are enough rows."""
        return self.reached(1) if self._protocol.holds_back else []

    def counts(self, n: int) -> list[FrameShape]:
        """Return the frames of n counts."""
        if not self._protocol.holds_back:
            return self._frames.open(n)
        large = self._frames.add(n)
        return large + self._frames.large(n, self._protocol.min_count, largest=MOST_ROWS)

    def reached(self, n: int) -> list[FrameShape]:
        """Return the frames that show which of n counts reach ``min_count``."""
        return self._frames.add(n) + self._frames.at_least(n, self._protocol.min_count, largest=MOST_ROWS)

    def tables(self, shapes: Sequence[tuple[int, int]], n_opened: int) -> list[FrameShape]:
        """Return the frames of tables of which ``n_opened`` counts are opened."""
        frames = self._frames.add(sum(n * d for n, d in shapes))
        frames += self._frames.none_small(cut_groups(shapes), largest=MOST_ROWS)
        return frames + self._frames.opened(n_opened)


def _opened(total: Sum) -> np.ndarray[Any, Any]:
    """Return the values of a sum that is opened to all."""
    if total.values is None:
        raise InternalError("A sum was not opened.")
    return total.values


def _split(values: Sequence[int], words: int, random_bytes: Callable[[int], bytes]) -> list[int]:
    """Return integers in words of 16 bits, the last one signed, with random carries between them.

    The sums of plain words would show more than the sum of the integers: how often parties carry, and how many of them
    hold a negative one. So a party moves a random number of 40 bits from each word to the next. What the sums of words
    show beyond the sum of the integers is then within 2^−40, times the number of parties, of being random.
    """
    if words == 1:
        return list(values)
    mask, n = (1 << _LIMB) - 1, len(values) * (words - 1)
    drawn = np.frombuffer(random_bytes(8 * n), np.uint64) >> np.uint64(64 - _HIDING)
    carries = iter(drawn.tolist())
    limbs = []
    for value in values:
        moved = 0
        for _ in range(words - 1):
            carry = next(carries)
            # 40 bits of carry above 16 bits of limb are 56, and
            # the sum over 64 parties has 6 more: within 63.
            limbs.append((value & mask) - moved + (carry << _LIMB))
            value, moved = value >> _LIMB, carry
        limbs.append(value - moved)
    return limbs


def _joined(limbs: list[int], words: int) -> list[int]:
    return [
        sum(limb << _LIMB * at for at, limb in enumerate(limbs[start : start + words]))
        for start in range(0, len(limbs), words)
    ]
