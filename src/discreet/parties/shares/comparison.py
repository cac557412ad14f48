"""Comparison of shared integers with a threshold, by a circuit of bits (Goldreich, Micali & Wigderson, 1987)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.inputs import private_integers
from discreet.parties.protocol import Party, Protocol
from discreet.parties.shares.bit_products import (
    BitProducts,
    Bits,
    Triples,
    cross_frames,
    pair_frames,
    product_frames,
    triple_frames,
)
from discreet.parties.shares.opening import Output, opening_frames, other_share, require_output
from discreet.parties.transcript import FrameShape

Words = NDArray[np.uint64]
_AT_ONCE = 1 << 14
"""The comparisons that run through the circuit together."""


@public
@dataclass(frozen=True)
class Comparison(Protocol):
    """Whether each of n shared integers is at least a public threshold.

    With ``of="shares"`` both parties hold shares of the integers: two arrays of uint64 that add up to them modulo
    2^64, such as :class:`ScalarProduct` returns. An integer and its difference to the threshold must lie in
    [−2^63, 2^63). With ``of="values"`` each party holds n integers in [−2^61, 2^61), and those of the first party less
    those of the second are compared; with threshold 0, whether the first ones are at least the second ones. Fewer
    ``bits`` mean smaller integers and less work: [−2^bits, 2^bits) and [−2^(bits − 2), 2^(bits − 2)).

    The output is n truth values where it is opened, and otherwise n bits whose XOR with the other party's are the
    truth values, or None at a party that learns nothing.

    Parameters
    ----------
    n : int
        The number of comparisons.
    threshold : int
        The public threshold.
    of : {"shares", "values"}
        What the parties hold.
    output : {"both", "first", "second", "shares"}
        Who learns the results.
    bits : int
        The bits of the integers, without their sign.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> richer = Comparison(n=3, of="values")
    >>> run = simulate(richer, {"first": [10, 20, 30], "second": [11, 20, 29]})
    >>> run.outputs["first"]
    array([False,  True,  True])

    References
    ----------
    O. Goldreich, S. Micali, A. Wigderson. How to play any mental game. STOC 1987.
    """

    name: ClassVar[str] = "comparison"
    max_parties: ClassVar[int | None] = 2

    n: int
    threshold: int = 0
    of: Literal["shares", "values"] = "shares"
    output: Output = "both"
    bits: int = 63

    def __post_init__(self) -> None:
        require(self, "n", self.n, IntIn(1, 1 << 28))
        require(self, "of", self.of, OneOf(("shares", "values")))
        require(self, "bits", self.bits, IntIn(2, 63))
        # Values are four times as small as the range of the circuit: it
        # must hold the difference of two of them less the threshold.
        limit = 1 << self.bits - (2 if self.of == "values" else 1)
        require(self, "threshold", self.threshold, IntIn(-limit, limit - 1))
        require_output(self, self.output)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        if self.output == "shares":
            return ()
        return ("A party that compares again with values of its choice finds the other's by bisection.",)

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        pair = (names[0], names[1])
        opening = opening_frames(pair, -(-self.n // 8), self.output)
        return pair_frames(pair) + self.share_frames(pair) + opening

    def share_frames(self, names: tuple[str, str]) -> list[FrameShape]:
        """Return the frames of ``share``."""
        frames = []
        for start, stop in _parts(self.n):
            frames += _circuit_frames(names, stop - start, self.bits)
        return frames

    def _run(self, party: Party, words: Words) -> NDArray[np.bool_] | Bits | None:
        share = self.share(BitProducts(party, label=self.name), words)
        if self.output == "shares":
            return share
        packed = np.packbits(share)
        other = other_share(party, packed, self.output)
        return None if other is None else np.unpackbits(packed ^ other, count=self.n).view(np.bool_)

    def checked(self, data: Any, names: Sequence[str], name: str) -> Words:
        """Return shares of the integers less the threshold."""
        return self.words(names.index(name), data)

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the shares or values: a file of one column of numbers."""
        from discreet.parties.inputs import labelled_numbers

        return labelled_numbers(path, ())

    def result_files(self, output: Any) -> dict[str, Any]:
        """Return the results as one column."""
        return {"result.csv": {"result": [] if output is None else output}}

    def share(self, products: BitProducts, words: Words) -> Bits:
        """Return this party's share of the results, over transfers that are set up already."""
        shares = []
        for start, stop in _parts(self.n):
            with products.party.step("triples"):
                triples = products.triples((stop - start) * sum(_layers(self.bits)), width=2)
            with products.party.step("circuit"):
                shares.append(_at_least_zero(products, triples, words[start:stop], self.bits))
        return np.concatenate(shares)

    def words(self, index: int, data: Any) -> Words:
        """Return shares of the integers less the threshold; refuse what the session does not admit."""
        limit = 1 << self.bits - 2
        # A share is a residue modulo 2^64, which may come as int64 or as uint64.
        low, high = (-limit, limit - 1) if self.of == "values" else (-(1 << 63), (1 << 64) - 1)
        words = private_integers(data, shape=(self.n,), low=low, high=high, of=f"vector of {self.of}")
        if index == 0:
            return words - np.uint64(self.threshold % (1 << 64))
        return np.uint64(0) - words if self.of == "values" else words


def _parts(n: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, _AT_ONCE):
        yield start, min(start + _AT_ONCE, n)


def _layers(bits: int) -> Iterator[int]:
    """Return the number of products of each layer of the tree that joins the digits, pair by pair."""
    width = bits
    while width > 1:
        yield width // 2
        width -= width // 2


def _circuit_frames(names: tuple[str, str], n: int, bits: int) -> list[FrameShape]:
    frames = triple_frames(names, n * sum(_layers(bits))) + cross_frames(names, n * bits)
    for joined in _layers(bits):
        frames += product_frames(names, n * joined, 2)
    return frames


def _at_least_zero(products: BitProducts, triples: Triples, words: Words, bits: int) -> Bits:
    """Return shares of whether the sum of both parties' words, as a signed integer, is at least zero.

    The sign of the sum is the XOR of both signs and of the carry into them. The carry is one where the low bits of the
    first party exceed the complement of those of the second. In the tree a pair of bits stands for a group of digits:
    bit 0 whether the first party's are greater, bit 1 whether they are equal.
    """
    n, first = words.size, products.party.index == 0
    low = words if first else ~words
    digits = (low[None, :] >> np.arange(bits, dtype=np.uint64)[:, None] & np.uint64(1)).astype(np.uint8)
    # A digit of the first party is greater where it is one and the other's is zero: a product of one bit of
    # each party. Digits are equal where their XOR is zero, which the parties share without any work.
    greater = products.cross_products((digits if first else 1 - digits).reshape(-1))
    equal = 1 - digits if first else digits
    groups = (greater.reshape(bits, n) | equal << np.uint8(1)).astype(np.uint8)
    # greater = upper.greater ⊕ upper.equal · lower.greater, equal = upper.equal · lower.equal: one product of the lower
    # pair and a bit, for all pairs of a layer in one round.
    for joined in _layers(bits):
        lower, upper = groups[0 : 2 * joined : 2], groups[1 : 2 * joined : 2]
        both = products.products(triples, lower.reshape(-1), (upper >> np.uint8(1)).reshape(-1), width=2)
        merged = both.reshape(joined, n) ^ (upper & np.uint8(1))
        # A group without a partner is the uppermost one; it stays last, so the order of the digits is kept.
        groups = np.concatenate([merged, groups[2 * joined :]])
    sign = (words >> np.uint64(bits) & np.uint64(1)).astype(np.uint8)
    sign ^= groups[0] & np.uint8(1)
    # The sign bit says that the sum is negative. One party flips its share, which negates the bit.
    return sign ^ np.uint8(first)
