"""What miners are asked for: the least support, the longest set, and the items looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.names import codes_among
from discreet.core.params import NONE, Constraints, FloatIn, InstanceOf, IntIn, check_parameters, require

Names = Iterable[Any]


@dataclass(frozen=True)
class ItemNames:
    """Several names that can be gone through more than once, since a miner may be used again."""

    def admits(self, value: object) -> bool:
        """Return whether the value is a collection that is no text."""
        return isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, str | bytes)

    def __str__(self) -> str:
        return "a list of item names"


@dataclass(frozen=True)
class Support:
    """A number of baskets, or a share of them."""

    def admits(self, value: object) -> bool:
        """Return whether the value is an int of at least 1, or a number in (0, 1] that is no int."""
        return IntIn(1).admits(value) or (not is_count(value) and FloatIn(0, 1, closed="right").admits(value))

    def __str__(self) -> str:
        return f"{IntIn(1)} or {FloatIn(0, 1, closed='right')}"


MINING: Constraints = {
    "min_support": Support(),
    "max_length": (IntIn(1), NONE),
    "include": (ItemNames(), NONE),
    "exclude": (ItemNames(), NONE),
}
"""What every miner of itemsets has in common."""


class Asked(Protocol):
    """What every miner of itemsets was asked for."""

    min_support: float
    max_length: int | None
    include: Names | None
    exclude: Names | None


def check_asked(miner: Asked, data: object) -> None:
    """Refuse parameters outside their constraints."""
    check_parameters(miner)
    require(miner, "baskets", data, InstanceOf((Baskets, ItemBits), "Baskets or ItemBits"))


def is_count(min_support: object) -> bool:
    """Return whether a support is a number of baskets; a float is a share."""
    return isinstance(min_support, Integral)


def share_of(min_support: float, n: int) -> Fraction:
    """Return a share of n baskets, exactly as it is written, in whatever precision it comes.

    >>> share_of(0.3, 10), share_of(np.float32(0.3), 10), share_of(Fraction(1, 3), 10)
    (Fraction(3, 1), Fraction(3, 1), Fraction(10, 3))
    """
    return Fraction(str(min_support)) * n


def least_count(min_support: float, n: int) -> int:
    """Return the least number of baskets: an int is a count, a float a share, taken as it is written.

    >>> least_count(0.3, 10), least_count(0.07, 100), least_count(0.1 + 0.2, 10), least_count(0.25, 10)
    (3, 7, 3, 3)
    >>> least_count(1, 10), least_count(1.0, 10)
    (1, 10)
    """
    if is_count(min_support):
        return int(min_support)
    exact = share_of(min_support, n)
    near = round(exact)
    least = near if abs(exact - near) <= Fraction(n, 2**50) else -(-exact.numerator // exact.denominator)
    return max(least, 1)


def items_asked(names: pa.Array, include: Names | None, exclude: Names | None) -> BoolArray:
    """Return for each item whether it is looked at; a name that no item bears is refused."""
    asked = np.ones(len(names), np.bool_)
    if include is not None:
        asked[:] = False
        asked[codes_among(names, include, parameter="include")] = True
    if exclude is not None:
        asked[codes_among(names, exclude, parameter="exclude")] = False
    return asked
