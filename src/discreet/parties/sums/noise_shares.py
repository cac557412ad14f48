"""Noise shares: what each party adds inside a secure sum so that the opened sum is ε-private.

The discrete Laplace distribution is the difference of two geometric variables, and a geometric variable is the sum of m
independent Pólya (negative binomial) variables of order 1/m. Each party draws the difference of two of these. All draws
are exact: rational chances, integers, and coins that are cryptographic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 12


def noise_shares(
    n: int, *, scale: Fraction, min_honest: int, random_bytes: Callable[[int], bytes]
) -> NDArray[np.int64]:
    """Return one party's share of n discrete Laplace variables.

    Parameters
    ----------
    n : int
        The number of values.
    scale : Fraction
        The sensitivity over ε: a variable x has a chance proportional to exp(−|x| / scale).
    min_honest : int
        How many shares add up to the whole noise; more shares than that add more noise.
    random_bytes : callable
        The source of coins.

    Examples
    --------
    >>> import os
    >>> bool(abs(noise_shares(1000, scale=Fraction(10), min_honest=1, random_bytes=os.urandom).mean()) < 5)
    True

    References
    ----------
    C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
    S. Goryczka, L. Xiong. A comprehensive comparison of multiparty secure additions with differential privacy.
    IEEE TDSC 14(5), 2017.
    """
    coins = _Coins(random_bytes)
    drawn = [_polya(coins, scale, min_honest) - _polya(coins, scale, min_honest) for _ in range(n)]
    return np.array(drawn, np.int64)


class _Coins:
    """Uniform integers from random bytes, which are drawn in blocks."""

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        self._block, self._at = b"", 0

    def below(self, end: int) -> int:
        """Return a uniform integer in [0, end)."""
        bits = (end - 1).bit_length()
        size = -(-bits // 8)
        # Rejection keeps the integer uniform, where a remainder
        # would favor small ones. More than half of the draws fit.
        while True:
            drawn = int.from_bytes(self._take(size), "little") >> (8 * size - bits)
            if drawn < end:
                return drawn

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return n random words."""
        return np.frombuffer(self._random_bytes(8 * n), np.uint64)

    def _take(self, size: int) -> bytes:
        if self._at + size > len(self._block):
            self._block, self._at = self._random_bytes(max(_BLOCK, size)), 0
        self._at += size
        return self._block[self._at - size : self._at]


def _polya(coins: _Coins, scale: Fraction, parts: int) -> int:
    """Return a Pólya variable of order 1/parts: what one of that many parts draws of a geometric variable's balls."""
    total = _geometric(coins, scale)
    if parts == 1 or total == 0:
        return total
    from discreet.kernels.parties.polya import urn_steps

    drawn, step = 0, 0
    # Words come in parts of at most 2^16, and a word that the
    # urn refuses leaves a step to be done, hence the loop.
    while step < total:
        drawn, step = urn_steps(drawn, step, total, parts, coins.words(min(total - step, 1 << 16)))
    return int(drawn)


def _geometric(coins: _Coins, scale: Fraction) -> int:
    """Return x ≥ 0 with a chance proportional to exp(−x / scale)."""
    numerator, part = scale.numerator, scale.denominator
    # x = low + numerator · high, divided by the denominator: exp(−x / numerator) splits into a factor for each.
    low = coins.below(numerator)
    while not _exp_chance(coins, low, numerator):
        low = coins.below(numerator)
    high = 0
    while _exp_chance(coins, 1, 1):
        high += 1
    return (low + numerator * high) // part


def _exp_chance(coins: _Coins, numerator: int, denominator: int) -> bool:
    """Return True with the chance exp(−numerator / denominator), which must lie in [0, 1]."""
    # The alternating series of exp(−γ) as coins (Canonne, Kamath & Steinke, algorithm 1): the number of successes of
    # chances γ/1, γ/2, … is even with the chance exp(−γ).
    k = 1
    while coins.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
