"""Totals over parties: exact sums of integers of any size, with each party's share of noise where ε is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InternalError, ParameterError
from discreet.core.params import FloatIn, IntIn, OneOf, require
from discreet.parties.mining.models.columns import Placed, in_ranges, on_grid
from discreet.parties.mining.models.model_protocol import RowsProtocol
from discreet.parties.protocol import Party
from discreet.parties.sums.noise_shares import noise_shares
from discreet.parties.sums.secure_sum import SecureSum, Sum
from discreet.parties.sums.sum_rounds import SumRounds

WIDE = 8
"""The words of an integer of up to 128 bits; one of a single word must stay within 63 bits over all parties."""
_LIMB = 16
"""The bits of an integer that each of several words holds."""
_HIDING = 40
"""The random bits that hide the carries between words."""
_NOISY_BITS = 13
"""The bits of a value to which noise is added."""
_LEAST_EPSILON = 1e-3
"""Less would be noise alone, and take long to draw."""
_UNITS = 256
"""What is summed with noise is rounded to units, of which the sensitivity has this many, and more where a row changes
many values: finer ones would only take longer to draw."""


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
        How many parties' shares of noise suffice for ε. The default 1 keeps the promise although all others collude or
        drop out; a larger number needs less noise. A party can subtract its own noise, so toward the parties themselves
        ε holds up to one less than their number.
    threshold : int
        How many parties must remain; 0 stands for more than half of them.
    """

    private_sums: ClassVar[bool] = True
    """Whether the protocol can add noise."""
    max_parties: ClassVar[int | None] = 64

    epsilon: float = 0.0
    min_honest: int = 1
    threshold: int = 0

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
            require(self, "threshold", self.threshold, IntIn(2, len(names)))
        require(self, "min_honest", self.min_honest, IntIn(1, len(names)))

    def withstands(self, n_parties: int) -> int:
        """Return how many parties may pool what they saw without learning more than ``leaks`` says."""
        return SecureSum(length=1, threshold=self.threshold).needed(n_parties) - 1

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return self._sum_leaks

    @property
    def _sum_leaks(self) -> tuple[str, ...]:
        """What every protocol of secure sums shows."""
        found = (
            "Every party learns which parties dropped out, and in which round.",
            "The first party together with enough parties to reach the threshold learns every party's sums.",
        )
        if self.epsilon:
            return (
                *found,
                (
                    f"Each party that colludes or drops out takes its noise with it, and a party can subtract its own; "
                    f"the noise of {self.min_honest} others must remain for ε."
                ),
            )
        return (
            *found,
            "Of two parties each learns the other's part of every sum, which the sum reveals.",
            "If a party drops out between two sums, the others can see in the difference what it added to the first.",
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
            return in_ranges(columns, names, self.ranges, bits=_NOISY_BITS, clip=True, same_step=same_step)
        return on_grid(columns, names, fraction_bits=self.fraction_bits)


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
        self._rounds = SumRounds(party, label="totals", threshold=protocol.threshold)
        self._covered = set(party.names)

    @property
    def noisy(self) -> bool:
        """Whether noise is added."""
        return bool(self._protocol.epsilon)

    @property
    def parties(self) -> tuple[str, ...]:
        """The parties that are in all sums so far."""
        return tuple(name for name in self._party.names if name in self._covered)

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
        own = [int(value) for value in values]
        unit = 1
        if self._protocol.epsilon:
            if share is None:
                raise InternalError("A sum without noise was to be opened although ε is set.")
            unit = max(1, sensitivity // max(_UNITS, 64 * touched))
            own = self._noisy(own, unit, share, sensitivity, touched)
        found = self._rounds.add(np.array(_split(own, words, self._party.random), np.int64))
        self._covered &= set(found.parties)
        return [unit * value for value in _joined(_opened(found).tolist(), words)]

    def coins(self) -> bytes:
        """Return 32 random bytes that all parties share: words of which every party drew a summand."""
        own = np.frombuffer(self._party.random(32), np.uint64)
        found = self._rounds.add(own, kind="modular")
        drawn: bytes = _opened(found).tobytes()
        return drawn

    def _noisy(self, own: list[int], unit: int, share: Fraction, sensitivity: int, touched: int) -> list[int]:
        """Return the values in units, with this party's noise; rounding may add a unit to each value that changes."""
        rounded = [(2 * value + unit) // (2 * unit) for value in own]
        steps = sensitivity if unit == 1 else sensitivity // unit + 1 + touched
        noise = noise_shares(
            len(own),
            scale=steps / (Fraction(repr(float(self._protocol.epsilon))) * share),
            min_honest=self._protocol.min_honest,
            random_bytes=self._party.random,
        )
        return [value + int(one) for value, one in zip(rounded, noise, strict=True)]


def _opened(found: Sum) -> np.ndarray[Any, Any]:
    """Return the values of a sum that is opened to all."""
    if found.values is None:
        raise InternalError("A sum was not opened.")
    return found.values


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
    found = []
    for value in values:
        moved = 0
        for _ in range(words - 1):
            carry = next(carries)
            found.append((value & mask) - moved + (carry << _LIMB))
            value, moved = value >> _LIMB, carry
        found.append(value - moved)
    return found


def _joined(limbs: list[int], words: int) -> list[int]:
    return [
        sum(limb << _LIMB * at for at, limb in enumerate(limbs[start : start + words]))
        for start in range(0, len(limbs), words)
    ]
