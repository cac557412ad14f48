"""Protocols over rows that are split between parties: what all of them declare, check and reveal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.params import FloatIn, IntIn, OneOf, require
from discreet.parties.mining.models.columns import MAX_ROWS, Placed, in_ranges, on_grid
from discreet.parties.mining.models.model_protocol import RowsProtocol
from discreet.parties.sums.secure_sum import SecureSum

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
        How many parties' shares of noise suffice for ε. The default 1 keeps the promise although all others collude or
        drop out; a larger number needs less noise. A party can subtract its own noise, so toward the parties themselves
        ε holds up to one less than their number.
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
        require(self, "min_honest", self.min_honest, IntIn(1, len(names)))

    def needed(self, n_parties: int) -> int:
        """Return how many parties must remain: as many as for a secure sum, and enough for the noise.

        A party can subtract its own noise, so one more than ``min_honest`` must be there; all of them at most.
        """
        least = SecureSum(length=1, threshold=self.threshold).needed(n_parties)
        return max(least, min(n_parties, self.min_honest + 1)) if self.epsilon else least

    @property
    def holds_back(self) -> bool:
        """Whether counts are held back because they are small; with ε they have noise instead."""
        return self.min_count > 1 and not self.epsilon

    def withstands(self, n_parties: int) -> int:
        """Return how many parties may pool what they saw without learning more than ``leaks`` says."""
        return 1 if self.holds_back else self.needed(n_parties) - 1

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return self._sum_leaks

    @property
    def _sum_leaks(self) -> tuple[str, ...]:
        """What every protocol of secure sums shows."""
        two = "Of two parties each learns the other's part of every sum, which the sum reveals."
        found = (
            (
                "Every party learns which parties dropped out, in which round, and whether they were late. A run that "
                "stops leaves behind the sums that were opened until then; run it again with the same parties only."
            ),
            "The first party together with enough parties to reach the threshold learns every party's sums.",
            *((two,) if self.two_parties_see_each_other else ()),
        )
        if self.epsilon:
            return (
                *found,
                (
                    f"Each party that colludes takes its noise with it, and a party can subtract its own; the noise of "
                    f"{self.min_honest} others must remain for ε."
                ),
            )
        if self.min_count == 1:
            return (*found, "Every count is opened, however small; a count of one points to a person.")
        return (
            *found,
            f"Every party learns which counts lie below {self.min_count}, and no more of them.",
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
            return in_ranges(columns, names, self.ranges, bits=_NOISY_BITS, clip=True, same_step=same_step)
        return on_grid(columns, names, fraction_bits=self.fraction_bits)
