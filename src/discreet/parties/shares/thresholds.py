"""Thresholds over shared counts: two parties learn which counts reach one, and open the counts they may know."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.parties.protocol import Party
from discreet.parties.shares.bit_products import BitProducts, pair_frames
from discreet.parties.shares.comparison import Comparison
from discreet.parties.shares.opening import opening_frames, other_share
from discreet.parties.transcript import FrameShape

Words = NDArray[np.uint64]


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
        words = comparison.checked(self._pair.index, shares)
        packed = np.packbits(comparison.share(self._products, words))
        found = packed ^ _other(self._pair, packed)
        return np.unpackbits(found, count=shares.size).view(np.bool_)

    def opened(self, shares: Words) -> NDArray[np.int64]:
        """Return the counts at both parties."""
        return opened(self._pair, shares)


def opened(pair: Party, shares: Words) -> NDArray[np.int64]:
    """Return, at both of two parties, what their shares stand for."""
    if not shares.size:
        return np.zeros(0, np.int64)
    other = _other(pair, np.ascontiguousarray(shares).view(np.uint8))
    return (shares + other.view(np.uint64)).view(np.int64)


def setup_frames(names: tuple[str, str]) -> list[FrameShape]:
    """Return the frames that set up thresholds."""
    return pair_frames(names)


def threshold_frames(names: tuple[str, str], n: int, threshold: int, largest: int) -> list[FrameShape]:
    """Return the frames of n counts held against a threshold."""
    if not n:
        return []
    frames = _comparison(n, threshold, largest).share_frames(names)
    return frames + opening_frames(names, -(-n // 8), "both")


def opened_frames(names: tuple[str, str], n: int) -> list[FrameShape]:
    """Return the frames that open n counts."""
    return opening_frames(names, 8 * n, "both") if n else []


def _comparison(n: int, threshold: int, largest: int) -> Comparison:
    """Return the comparison whose bits hold every count, and its difference to the threshold."""
    bits = max(2, (max(largest, threshold) + 1).bit_length() + 1)
    return Comparison(n=n, threshold=threshold, bits=bits)


def _other(pair: Party, share: Any) -> NDArray[np.uint8]:
    other = other_share(pair, share, "both")
    assert other is not None
    return other
