"""Shared integers between two parties of a session: others hand them shares, and both compute with these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.parties.protocol import Party
from discreet.parties.shares.bit_products import BitProducts, Bits, pair_frames, word_frames
from discreet.parties.shares.comparison import Comparison
from discreet.parties.transcript import FrameShape

Words = NDArray[np.uint64]
_SHARES, _OPENED, _RESULT = "pair.shares", "pair.opened", "pair.result"


class PairShares:
    """One party's end of a computation by the first two parties of a session on shares of everybody's integers.

    Every party puts in a vector. The first two hold shares of the sum of all vectors modulo 2^64: their own vector,
    plus a share of every other party's. Neither learns anything but what is opened. The two together would learn every
    vector.

    Parameters
    ----------
    party : Party
        This end, of any party.
    label : str
        The use, once in a session.
    """

    def __init__(self, party: Party, *, label: str) -> None:
        self.party = party
        self.computes = party.index < 2
        self._pair = party.within(label, party.names[:2]) if self.computes else party
        self._products = BitProducts(self._pair, label=label) if self.computes else None

    def gathered(self, values: Words) -> Words:
        """Return this party's share of the sum of all parties' vectors; zeros at a party that does not compute."""
        names, size = self.party.names, values.nbytes
        if not self.computes:
            # One share is random and the other the difference: each alone is uniform, whatever the values are.
            mask = np.frombuffer(self.party.random(size), np.uint64)
            for name, share in zip(names[:2], (mask, values - mask), strict=True):
                self.party.send(name, _SHARES, share.tobytes())
            return np.zeros(values.size, np.uint64)
        total = values.copy()
        for name in names[2:]:
            total += np.frombuffer(self.party.recv(name, _SHARES, size), np.uint64)
        return total

    def at_least_zero(self, words: Words) -> Bits:
        """Return shares, by XOR, of whether each shared integer is at least zero."""
        if self._products is None:
            return np.zeros(words.size, np.uint8)
        return Comparison(n=words.size, output="shares").share(self._products, words)

    def judged(self, values: Words) -> NDArray[np.bool_]:
        """Return, at all parties, whether the sum of all parties' integers is at least zero, for each of them."""
        return self.opened_bits(self.at_least_zero(self.gathered(values)))

    def negated(self, bits: Bits) -> Bits:
        """Return shares of the opposite bits."""
        # The XOR of both shares flips when one of them does.
        return bits ^ np.uint8(self.party.index == 0)

    def chosen(self, bits: Bits, words: Words) -> Words:
        """Return shares of bit times words, a row of words for each bit."""
        return words if self._products is None else self._products.word_products(bits, words)

    def opened_bits(self, bits: Bits) -> NDArray[np.bool_]:
        """Return shared bits, which every party of the session learns."""
        opened = self._opened(np.packbits(bits), np.bitwise_xor)
        return np.unpackbits(opened, count=bits.size).view(np.bool_)

    def opened_words(self, words: Words) -> Words:
        """Return shared integers modulo 2^64, which every party of the session learns."""
        opened = self._opened(
            words.view(np.uint8), lambda a, b: (a.view(np.uint64) + b.view(np.uint64)).view(np.uint8)
        )
        return opened.view(np.uint64)

    def coins(self, n_bytes: int) -> bytes:
        """Return random bytes that every party of the session learns, and each of the two drew."""
        drawn = np.frombuffer(self.party.random(n_bytes), np.uint8)
        return self._opened(drawn, np.bitwise_xor).tobytes()

    def _opened(
        self, share: NDArray[np.uint8], joined: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
    ) -> NDArray[np.uint8]:
        """Return what both shares stand for: the two exchange them, and the first sends the result to the others."""
        names = self.party.names
        if not self.computes:
            return np.frombuffer(self.party.recv(names[0], _RESULT, share.size), np.uint8).copy()
        # Both send before they receive, so neither waits for the other and it is a single round.
        self._pair.send(self._pair.peer, _OPENED, share.tobytes())
        other = np.frombuffer(self._pair.recv(self._pair.peer, _OPENED, share.size), np.uint8)
        result: NDArray[np.uint8] = joined(share, other)
        if self.party.index == 0:
            for name in names[2:]:
                self.party.send(name, _RESULT, result.tobytes())
        return result


class PairFrames:
    """The frames of a computation by the first two parties, step by step, as :class:`PairShares` sends them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._pair = (names[0], names[1])

    def setup(self) -> list[FrameShape]:
        """Return the frames that set it up."""
        return pair_frames(self._pair)

    def gathered(self, n: int) -> list[FrameShape]:
        """Return the frames that hand over shares of n integers."""
        return [FrameShape(name, to, _SHARES, 8 * n) for name in self._names[2:] for to in self._pair]

    def at_least_zero(self, n: int) -> list[FrameShape]:
        """Return the frames of n comparisons."""
        return Comparison(n=n, output="shares").share_frames(self._pair)

    def judged(self, n: int) -> list[FrameShape]:
        """Return the frames of n integers that are gathered, compared with zero, and of which the bits are opened."""
        return self.gathered(n) + self.at_least_zero(n) + self.opened(-(-n // 8))

    def chosen(self, n: int, n_words: int) -> list[FrameShape]:
        """Return the frames of n products of a bit and words."""
        return word_frames(self._pair, n, n_words)

    def opened(self, n_bytes: int) -> list[FrameShape]:
        """Return the frames that open this many bytes."""
        first, second = self._pair
        frames = [FrameShape(first, second, _OPENED, n_bytes), FrameShape(second, first, _OPENED, n_bytes)]
        return frames + [FrameShape(first, name, _RESULT, n_bytes) for name in self._names[2:]]
