"""Support as a number or a share of baskets, taken as it is written; and fingerprints of baskets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.params import FloatIn, IntIn


@dataclass(frozen=True)
class Support:
    """A number of baskets, or a share of them."""

    def admits(self, value: object) -> bool:
        """Return whether the value is an int of at least 1, or a number in (0, 1] that is no int."""
        return IntIn(1).admits(value) or (not is_count(value) and FloatIn(0, 1, closed="right").admits(value))

    def __str__(self) -> str:
        return f"{IntIn(1)} or {FloatIn(0, 1, closed='right')}"


def is_count(min_support: object) -> bool:
    """Whether a support is a number of baskets; a float is a share."""
    return isinstance(min_support, Integral)


def share_of(min_support: float, n: int) -> Fraction:
    """Return a share of n baskets, exactly as it is written, in whatever precision it comes.

    >>> import numpy as np
    >>> share_of(0.3, 10), share_of(np.float32(0.3), 10), share_of(Fraction(1, 3), 10)
    (Fraction(3, 1), Fraction(3, 1), Fraction(10, 3))
    """
    return Fraction(str(min_support)) * n


def least_count(min_support: float, n: int, *, margin: float = 0.0) -> int:
    """Return the least number of baskets: an int is a count, a float a share, taken as it is written.

    A margin lowers it by that share of itself.

    >>> least_count(0.3, 10), least_count(0.07, 100), least_count(0.1 + 0.2, 10), least_count(0.25, 10)
    (3, 7, 3, 3)
    >>> least_count(1, 10), least_count(1.0, 10), least_count(10, 50, margin=0.25)
    (1, 10, 8)
    """
    if is_count(min_support) and not margin:
        return int(min_support)
    exact = Fraction(int(min_support)) if is_count(min_support) else share_of(min_support, n)
    exact *= 1 - Fraction(str(margin))
    # A share that was computed is off by some bits: 0.1 + 0.2 is meant to be 0.3.
    near = round(exact)
    least = near if abs(exact - near) <= Fraction(n, 2**50) else -(-exact.numerator // exact.denominator)
    return max(least, 1)


def fingerprints(baskets: Baskets) -> np.ndarray:
    """Return a number of 64 bits for each basket; two that hold the same items have the same, others hardly ever.

    >>> one, two, other = fingerprints(Baskets.from_lists([["a", "b"], ["b", "a"], ["a"]]))
    >>> bool(one == two), bool(one == other)
    (True, False)
    """
    marks = np.random.default_rng(0).integers(0, 2**64, max(baskets.n_items, 1), np.uint64)
    # Sums wrap around; their differences are right all the same.
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(marks[baskets.items], dtype=np.uint64)])
    totals: np.ndarray = sums[baskets.indptr[1:]] - sums[baskets.indptr[:-1]]
    return totals


def drawn_order(baskets: Baskets, rng: np.random.Generator) -> IntArray:
    """Return the baskets' positions in an order that is drawn, and does not depend on the order in which they came."""
    return np.argsort(fingerprints(baskets), kind="stable")[rng.permutation(len(baskets))]
