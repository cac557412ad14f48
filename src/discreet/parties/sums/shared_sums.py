"""Sums that nobody opens: two parties, the keepers, hold shares of them, compare them, and open what all may know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.parties.protocol import Party
from discreet.parties.shares.thresholds import (
    NestedGroups,
    ThresholdFrames,
    Thresholds,
    Words,
    opened_counts,
    require_agreed,
)
from discreet.parties.sums.sum_rounds import RoundFrames, SumRounds
from discreet.parties.transcript import FrameShape

_REACHED, _OPENED = "reached", "opened"


@dataclass(frozen=True)
class SharedSum:
    """A party's share of a sum, zeros but at the keepers; the values opened to all; and the parties in the sum."""

    share: Words
    opened: NDArray[np.int64]
    parties: tuple[str, ...]


class SharedSums:
    """One party's end of sums whose values stay shared between the first two parties, the keepers.

    The second party adds random words to what it puts in, and the sum is opened to the first party alone: what it
    learns and the negative random words add up to the true sum. No sum is opened without the second party's words. The
    keepers hold these shares against thresholds by a circuit of bits. Both together can compute every value; none of
    them alone can.

    Parameters
    ----------
    party : Party
        This end.
    rounds : SumRounds
        The sums of the session, of which some are shared.
    """

    def __init__(self, party: Party, rounds: SumRounds) -> None:
        self._party, self._rounds = party, rounds
        self._keepers = party.within("keepers", party.names[:2]) if party.index < 2 else None
        self._thresholds: Thresholds | None = None

    def add(self, values: NDArray[np.int64], *, n_opened: int = 0) -> SharedSum:
        """Add a vector of integers; the first ``n_opened`` values of the sum are opened, the others shared."""
        words = np.array(values, np.int64).view(np.uint64)
        # The second keeper's random words hide the sum from the first; less them, it is the second keeper's share.
        mask = np.zeros(words.size, np.uint64)
        if self._party.index == 1:
            mask[n_opened:] = np.frombuffer(self._party.random(8 * (words.size - n_opened)), "<u8")
        # Without the second keeper's mask the first keeper
        # would see the sum in the clear, so both are required.
        total = self._rounds.add(words + mask, kind="modular", to_all=False, required=self._party.names[:2])
        share = np.zeros(words.size, np.uint64) - mask if total.values is None else total.values
        # The first values carry no mask, so what the first keeper holds of them is the sum itself.
        opened = self._spread(_OPENED, share[:n_opened], known_to=1).view(np.int64)
        return SharedSum(share[n_opened:], opened, total.parties)

    def at_least(self, share: Words, threshold: int, *, largest: int) -> NDArray[np.bool_]:
        """Return, at all parties, which values of a sum, in [0, largest], are at least the threshold."""
        reached = np.zeros(share.size, np.bool_)
        if share.size and (judge := self._judge()):
            reached = judge.at_least(share, threshold, largest=largest)
        return self._spread_bits(reached)

    def large(self, share: Words, least: int, *, largest: int) -> NDArray[np.int64]:
        """Return, at all parties, the values in [0, largest] that are at least the least one, and 0 for the others."""
        values = np.zeros(share.size, np.int64)
        if share.size and (judge := self._judge()):
            values = judge.large(share, least, largest=largest)
        counts = self._spread(_OPENED, values, known_to=2)
        # Every party checks, since the keepers are the ones that could have opened a small count.
        require_agreed(counts[counts != 0], least)
        return counts

    def none_small(
        self, share: Words, groups: NestedGroups, least: int, *, largest: int
    ) -> NDArray[np.bool_]:
        """Return, at all parties, in which groups no value lies between 1 and the least one."""
        bits = np.zeros(groups.n, np.bool_)
        if share.size and (judge := self._judge()):
            bits = judge.none_small(share, groups, least, largest=largest)
        return self._spread_bits(bits)

    def opened(self, share: Words) -> NDArray[np.int64]:
        """Return the values of a sum at all parties."""
        values = share if self._keepers is None else opened_counts(self._keepers, share).view(np.uint64)
        return self._spread(_OPENED, values, known_to=2).view(np.int64)

    def _judge(self) -> Thresholds | None:
        """Return the comparisons of the keepers, which are set up when they are first used; None at the others."""
        if self._thresholds is None and self._keepers is not None:
            self._thresholds = Thresholds(self._keepers)
        return self._thresholds

    def _spread_bits(self, bits: NDArray[np.bool_]) -> NDArray[np.bool_]:
        packed = self._spread(_REACHED, np.packbits(bits), known_to=2)
        return np.unpackbits(packed, count=bits.size).view(np.bool_)

    def _spread(self, kind: str, values: NDArray[Any], *, known_to: int) -> NDArray[Any]:
        """Return what the first parties know, as the first one sends it to those behind them."""
        party = self._party
        if not values.size:
            return values
        if party.index == 0:
            for peer in party.names[known_to:]:
                party.try_send(peer, kind, np.ascontiguousarray(values).view(np.uint8).data)
        elif party.index >= known_to:
            return np.frombuffer(party.recv(party.names[0], kind, values.nbytes), values.dtype)
        return values


class SharedFrames:
    """The frames of shared sums, step by step as a run takes them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._sums, self._thresholds = RoundFrames(names), ThresholdFrames((names[0], names[1]))

    def open(self, length: int) -> list[FrameShape]:
        """Return the frames of one sum that is opened to all."""
        return self._sums.add(length)

    def add(self, length: int, *, n_opened: int = 0) -> list[FrameShape]:
        """Return the frames of one shared sum."""
        return self._sums.add(length, to_all=False) + self._spread(_OPENED, 8 * n_opened, known_to=1)

    def at_least(self, n: int, threshold: int, *, largest: int) -> list[FrameShape]:
        """Return the frames of n values held against a threshold."""
        frames = self._thresholds.at_least(n, threshold, largest=largest)
        return frames + self._spread(_REACHED, -(-n // 8), known_to=2)

    def large(self, n: int, least: int, *, largest: int) -> list[FrameShape]:
        """Return the frames that open those of n values that are large."""
        frames = self._thresholds.large(n, least, largest=largest)
        return frames + self._spread(_OPENED, 8 * n, known_to=2)

    def none_small(self, groups: NestedGroups, *, largest: int) -> list[FrameShape]:
        """Return the frames that show which groups of values have no small one."""
        frames = self._thresholds.none_small(groups, largest=largest)
        return frames + self._spread(_REACHED, -(-groups.n // 8), known_to=2)

    def opened(self, n: int) -> list[FrameShape]:
        """Return the frames that open n values."""
        return self._thresholds.opened(n) + self._spread(_OPENED, 8 * n, known_to=2)

    def _spread(self, kind: str, size: int, *, known_to: int) -> list[FrameShape]:
        receivers = self._names[known_to:] if size else ()
        return [FrameShape(self._names[0], receiver, kind, size) for receiver in receivers]
