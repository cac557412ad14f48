"""Thresholds over shared counts: two parties learn which counts reach one, and open the counts they may know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.parties.errors import PartyError
from discreet.parties.protocol import Party
from discreet.parties.shares.bit_products import BitProducts, pair_frames, word_frames
from discreet.parties.shares.comparison import Comparison
from discreet.parties.shares.opening import opening_frames, other_share
from discreet.parties.transcript import FrameShape

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class NestedGroups:
    """Groups of counts, one inside the other: ``of`` has the group of each count, ``parent`` the group around each.

    A group has its own counts and those of all groups around it; −1 stands for no group around.
    """

    of: NDArray[np.int64]
    parent: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of groups."""
        return len(self.parent)

    @property
    def most(self) -> int:
        """The most counts that a group has."""
        return max(self.of.size, 1)

    def summed(self, words: Words) -> Words:
        """Return the sum of the words of each group; a group comes after the one around it."""
        total = np.zeros(self.n, np.uint64)
        np.add.at(total, self.of, words)
        for group, parent in enumerate(self.parent):
            if parent >= 0:
                # Slices of one word: arrays wrap around modulo 2^64,
                # where NumPy warns of a scalar that overflows.
                total[group : group + 1] += total[parent : parent + 1]
        return total


class Thresholds:
    """One of two parties that hold shares of counts, modulo 2^64.

    Parameters
    ----------
    pair : Party
        This party's end of a part of two parties.
    """

    def __init__(self, pair: Party) -> None:
        self._pair = pair
        self._products = BitProducts(pair, label="thresholds")

    def at_least(self, shares: Words, threshold: int, *, largest: int) -> NDArray[np.bool_]:
        """Return, at both parties, which counts in [0, largest] are at least the threshold."""
        if not shares.size:
            return np.zeros(0, np.bool_)
        comparison = _comparison(shares.size, threshold, largest)
        words = comparison.words(self._pair.index, shares)
        packed = np.packbits(comparison.share(self._products, words))
        opened_bits = packed ^ _other(self._pair, packed)
        return np.unpackbits(opened_bits, count=shares.size).view(np.bool_)

    def large(self, shares: Words, least: int, *, largest: int) -> NDArray[np.int64]:
        """Return, at both parties, the counts in [0, largest] that are at least the least one, and 0 for the others.

        A product of the count and the bit of its comparison is opened, so that a smaller count is never seen.
        """
        if not shares.size:
            return np.zeros(0, np.int64)
        comparison = _comparison(shares.size, least, largest)
        bits = comparison.share(self._products, comparison.words(self._pair.index, shares))
        return opened_counts(self._pair, self._products.word_products(bits, shares[:, None])[:, 0])

    def none_small(
        self, shares: Words, groups: NestedGroups, least: int, *, largest: int
    ) -> NDArray[np.bool_]:
        """Return, at both parties, in which groups no count lies between 1 and the least one; ``largest`` bounds all.

        How many small counts a group has stays shared: it is compared with zero without being opened.
        """
        if not shares.size:
            return np.zeros(groups.n, np.bool_)
        # The bits below hold a count less ``least`` only where this is no more than the counts can be.
        assert least <= max(largest, 1)
        # A count is small if it is at least 1 and not at least the least one: the XOR of two comparisons.
        # A constant is subtracted from one of the two shares only, since the shares add up.
        first = np.uint64(self._pair.index == 0)
        compared = np.concatenate([shares - first, shares - first * np.uint64(least)])
        bits = _comparison(2 * shares.size, 0, largest).share(self._products, compared)
        small = bits[: shares.size] ^ bits[shares.size :]
        ones = np.full((shares.size, 1), first, np.uint64)
        # Bits shared by XOR become words shared by sums, so that those of a group can be added.
        n_small = groups.summed(self._products.word_products(small, ones)[:, 0])
        # −n_small is at least zero where there is no small count. This one bit is opened, and n_small is not.
        return self.at_least(np.uint64(0) - n_small, 0, largest=groups.most)

    def opened(self, shares: Words) -> NDArray[np.int64]:
        """Return the counts at both parties."""
        return opened_counts(self._pair, shares)


def require_agreed(counts: NDArray[np.int64], least: int) -> None:
    """Raise a PartyError where a count was opened that the comparison with the least one should have kept shut.

    A party that flips its share of a comparison opens a count of its choice and sees it; the others stop.
    """
    if (counts < least).any():
        raise PartyError(
            f"A count below {least} was opened: a party did not follow the protocol. The run stops without a result; "
            "do not run again with the same parties."
        )


def opened_counts(pair: Party, shares: Words) -> NDArray[np.int64]:
    """Return, at both of two parties, what their shares stand for."""
    if not shares.size:
        return np.zeros(0, np.int64)
    other = _other(pair, np.ascontiguousarray(shares).view(np.uint8))
    return (shares + other.view(np.uint64)).view(np.int64)


class ThresholdFrames:
    """The frames of :class:`Thresholds`, step by step as two parties take them; the first step sets them up."""

    def __init__(self, names: tuple[str, str]) -> None:
        self._names, self._is_set_up = names, False

    def setup(self) -> list[FrameShape]:
        """Return the frames that set up thresholds, once."""
        frames = [] if self._is_set_up else pair_frames(self._names)
        self._is_set_up = True
        return frames

    def at_least(self, n: int, threshold: int, *, largest: int) -> list[FrameShape]:
        """Return the frames of n counts held against a threshold."""
        return self._compared(n, threshold, largest) + self._revealed(-(-n // 8))

    def large(self, n: int, least: int, *, largest: int) -> list[FrameShape]:
        """Return the frames that open those of n counts that are large."""
        return self._compared(n, least, largest) + word_frames(self._names, n, 1) + self.opened(n)

    def none_small(self, groups: NestedGroups, *, largest: int) -> list[FrameShape]:
        """Return the frames that show which groups of counts have no small one."""
        n = groups.of.size
        if not n:
            return []
        frames = self._compared(2 * n, 0, largest) + word_frames(self._names, n, 1)
        return frames + self.at_least(groups.n, 0, largest=groups.most)

    def opened(self, n: int) -> list[FrameShape]:
        """Return the frames that open n counts."""
        return self._revealed(8 * n)

    def _compared(self, n: int, threshold: int, largest: int) -> list[FrameShape]:
        return self.setup() + _comparison(n, threshold, largest).share_frames(self._names) if n else []

    def _revealed(self, n_bytes: int) -> list[FrameShape]:
        return opening_frames(self._names, n_bytes, "both") if n_bytes else []


def _comparison(n: int, threshold: int, largest: int) -> Comparison:
    """Return the comparison whose bits hold every count, and its difference to the threshold."""
    # One bit more than the difference needs: the threshold must lie below 2^(bits − 1).
    bits = max(2, (max(largest, threshold) + 1).bit_length() + 1)
    return Comparison(n=n, threshold=threshold, bits=bits)


def _other(pair: Party, share: Any) -> NDArray[np.uint8]:
    other = other_share(pair, share, "both")
    assert other is not None
    return other
